//! `firearrow copy`

use crate::command::{argument, demo, finish, firearrow, prepare};
use crate::readers::{self, assert_same, shown, without_empty_texts};
use firearrow_testkit::{Generation, Target, matrix};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

matrix!(
    all,
    fn standard_output_by_its_path_goes_on_where_it_is(target: &Target) {
        let url = demo(target, "1");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        for stdout in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
            let mut log = fs::File::create(&path).unwrap();
            writeln!(log, "before").unwrap();
            let arguments =
                ["copy", &url, "SELECT ID FROM T_WIDE", stdout, "--format", "csv", "--force", "--quiet"];
            let copied = prepare(Some(target), &arguments).stdout(log.try_clone().unwrap()).status().unwrap();
            assert!(copied.success(), "{stdout}");
            writeln!(log, "after").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "before\nID\r\n1\r\nafter\n", "{stdout}");
        }
    },
    fn files_read_back_equal(target: &Target) {
        let url = demo(target, "3000");
        let folder = tempfile::tempdir().unwrap();
        let copy = |name: &str, more: &[&str]| {
            let path = folder.path().join(name);
            let arguments =
                [&["copy", &url, "t_wide", argument(&path), "--batch-rows", "700", "--json"], more];
            let summary = firearrow(target, &arguments.concat()).success().json();
            assert_eq!(summary["rows"], 3000);
            assert_eq!(summary["bytes"], fs::metadata(&path).unwrap().len());
            path
        };
        let arrow = readers::arrow_file(&copy("x.arrow", &[]));
        assert_eq!((arrow.num_rows(), arrow.num_columns()), (3000, 22));
        let stream = copy("x.arrows", &[]);
        assert!(readers::arrow_stream(&fs::read(stream).unwrap()) == arrow);
        let sizes = ["none", "snappy", "zstd"].map(|compression| {
            let path = copy(&format!("{compression}.parquet"), &["--compression", compression]);
            assert!(readers::parquet_file(&path).columns() == arrow.columns());
            fs::metadata(path).unwrap().len()
        });
        assert!(sizes[0] > sizes[1] && sizes[1] > sizes[2], "{sizes:?}");
        firearrow(target, &["copy", &url, "t_wide", "-", "--format", "csv", "--compression", "zstd"])
            .failure(2, &["--compression is for Parquet"]);
        let shown = shown(&arrow);
        let json = fs::read(copy("x.data", &["--format", "json"])).unwrap();
        assert_same(&readers::json(&json), &shown);
        let csv = fs::read(copy("x.csv", &[])).unwrap();
        assert_same(&readers::csv(&csv), &(shown.0, without_empty_texts(shown.1)));
        assert_eq!(files(folder.path()).len(), 7, "nothing is left over");
    },
    fn parameters_select_rows(target: &Target) {
        let url = demo(target, "3000");
        let sql = "SELECT ID FROM T_WIDE WHERE MOD(ID, ?) = ?";
        let copy = |sql: &str, more: &[&str]| {
            firearrow(target, &[&["copy", &url, sql, "-", "--format", "csv"], more].concat())
        };
        let expected: Vec<u32> = (1..=3000).filter(|id| id % 7 == 3).collect();
        for more in [&[][..], &["--readers", "2"], &["--partitions", "2"]] {
            let outcome = copy(sql, &[&["--param", "7", "--param", "3"], more].concat()).success();
            let mut ids: Vec<u32> =
                outcome.text().lines().skip(1).map(|line| line.parse().unwrap()).collect();
            ids.sort_unstable();
            assert_eq!(ids, expected, "{more:?}");
        }
        let named = "SELECT ID FROM T_WIDE WHERE ID = :id OR ID = :id + 1";
        assert_eq!(copy(named, &["--param", "id=5"]).success().text(), "ID\r\n5\r\n6\r\n");
        assert_eq!(copy(sql, &["--param", "7", "--null-param"]).success().text(), "ID\r\n");
        copy(named, &["--param", "other=5"]).failure(2, &["the statement has no :other"]);
        copy(sql, &["--param", "7"]).failure(1, &["2 parameters"]);
        copy("T_WIDE", &["--param", "7"]).failure(1, &["parameter"]);
    },
    fn tables_have_names_in_dialect_1_too(target: &Target) {
        let url = format!("{}?dialect=1", demo(target, "1"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        firearrow(target, &["copy", &url, "rdb$database", argument(&path)]).success();
        assert_eq!(readers::parquet_file(&path).num_rows(), 1);
        let outcome = firearrow(target, &["copy", &url, "\"rdb\"", argument(&path), "--force"]);
        outcome.failure(2, &["'rdb' is not a valid name", "dialect 1"]);
    },
    fn partitions_come_to_the_whole(target: &Target) {
        let url = demo(target, "3000");
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let copy = |name: &str, more: &[&str]| {
            let path = path(name);
            let arguments = [&["copy", &url, "t_wide", argument(&path)], more].concat();
            firearrow(target, &arguments).success()
        };
        let rows = |name: &str| shown(&readers::parquet_file(&path(name))).1;
        copy("whole.parquet", &[]);
        let sorted = |mut rows: Vec<_>| {
            rows.sort_by_key(|row| format!("{row:?}"));
            rows
        };
        let whole = sorted(rows("whole.parquet"));
        let outcome = copy("merged.parquet", &["--partitions", "3", "--without-snapshot"]);
        assert!(outcome.stderr.contains("3,000 rows, ") && !outcome.stderr.contains("one partition"));
        assert!(sorted(rows("merged.parquet")) == whole);
        copy(
            "parts.parquet",
            &["--partitions", "3", "--without-snapshot", "--separate", "--batch-rows", "100"],
        );
        let parts = ["parts-1.parquet", "parts-2.parquet", "parts-3.parquet"].map(rows);
        assert!(parts.iter().all(|part| part.len() > 300));
        assert!(sorted(parts.concat()) == whole);
        assert_eq!(files(folder.path()).len(), 5, "nothing is left over");

        let outcome = copy("again.csv", &["--partitions", "2"]);
        let is_whole = outcome
            .stderr
            .contains("one partition: sharing a snapshot needs Firebird 4 or later; see --without-snapshot");
        assert_eq!(is_whole, target.generation() < Generation::V4_0, "{}", outcome.stderr);
        let sorted_path = path("x.csv");
        let sorting =
            ["copy", &url, "SELECT ID FROM T_WIDE ORDER BY ID", argument(&sorted_path), "--partitions", "2"];
        let sorting = [&sorting[..], &["--without-snapshot"]].concat();
        let outcome = firearrow(target, &sorting).success();
        assert!(outcome.stderr.contains("one partition: its rows are sorted"), "{}", outcome.stderr);
    },
    fn large_tables_are_read_by_several_and_keep_their_order(target: &Target) {
        let url = demo(target, "50000");
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let copy = |name: &str, more: &[&str]| {
            let path = path(name);
            let arguments = [&["copy", &url, "t_wide", argument(&path)], more].concat();
            firearrow(target, &arguments).success().stderr
        };
        let plain = copy("plain.csv", &["--readers", "1"]);
        assert!(plain.contains("one reader: parallel reading was not requested"), "{plain}");
        let read = copy("several.csv", &[]);
        let expected = match std::thread::available_parallelism().map_or(1, |count| count.get()) {
            _ if target.generation() < Generation::V4_0 => "one reader: sharing a snapshot needs",
            1 => "one reader: parallel reading was not requested",
            _ => " readers, ",
        };
        assert!(read.contains(expected), "{read}");
        if target.generation() >= Generation::V4_0 {
            let read = copy("three.csv", &["--readers", "3"]);
            assert!(read.contains("3 readers, 4 connections"), "{read}");
            assert!(fs::read(path("plain.csv")).unwrap() == fs::read(path("three.csv")).unwrap());
        }
        let outcome = firearrow(target, &["copy", &url, "t_wide", "-", "--format", "csv"]).success();
        assert!(outcome.stdout == fs::read(path("plain.csv")).unwrap());
        assert!(outcome.stderr.contains("50,000 rows"), "{}", outcome.stderr);
        assert!(fs::read(path("plain.csv")).unwrap() == fs::read(path("several.csv")).unwrap());
    },
    fn a_file_that_is_replaced_keeps_its_mode_and_the_links_to_it(target: &Target) {
        let url = demo(target, "10");
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.csv"), folder.path().join("link.csv"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink("real.csv", &link).unwrap();
        // The second has what a umask takes away.
        for mode in [0o600, 0o666] {
            fs::set_permissions(&real, fs::Permissions::from_mode(mode)).unwrap();
            firearrow(target, &["copy", &url, "T_INT10", argument(&link), "--force", "--quiet"]).success();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&real).unwrap().lines().count(), 11);
            assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, mode);
        }
        // A link to standard output is not a file to replace.
        let stdout = folder.path().join("stdout");
        std::os::unix::fs::symlink("/proc/self/fd/1", &stdout).unwrap();
        let arguments =
            ["query", &url, "SELECT COUNT(*) FROM T_INT10", "-o", argument(&stdout), "--format", "csv"];
        let outcome = firearrow(target, &arguments).success();
        assert!(outcome.text().contains("10"), "{}", outcome.text());
        assert!(fs::symlink_metadata(&stdout).unwrap().is_symlink());
    },
    fn a_failing_partition_leaves_no_file(target: &Target) {
        let url = demo(target, "3000");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        // The last rows only.
        let sql = "SELECT 1 / IIF(ID = 2999, 0, 1) FROM T_WIDE";
        for more in [&[][..], &["--separate"]] {
            let arguments = ["copy", &url, sql, argument(&path), "--partitions", "3", "--without-snapshot"];
            firearrow(target, &[&arguments[..], more].concat()).failure(1, &["zero"]);
            assert!(files(folder.path()).is_empty());
        }
    },
    fn nothing_is_overwritten_or_left_behind(target: &Target) {
        let url = demo(target, "10");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        let copy = |source: &str, more: &[&str]| {
            firearrow(target, &[&["copy", &url, source, argument(&path)], more].concat())
        };
        copy("NO_SUCH_TABLE", &[]).failure(1, &["NO_SUCH_TABLE"]);
        copy("DELETE FROM T_VC5", &[]).failure(1, &["no rows"]);
        copy("SELECT 1 / (C1 - 5) FROM T_INT10", &[]).failure(1, &[]);
        assert!(files(folder.path()).is_empty());

        let outcome = copy("SELECT C1 FROM T_INT10 ORDER BY 1", &[]).success();
        assert!(outcome.stderr.contains("10 rows, "), "{}", outcome.stderr);
        let before = fs::read(&path).unwrap();
        copy("T_VC5", &[]).failure(1, &["--force"]);
        assert_eq!(fs::read(&path).unwrap(), before);
        assert!(copy("\"T_VC5\"", &["--force", "--quiet"]).success().stderr.is_empty());
        assert_ne!(fs::read(&path).unwrap(), before);
        let unknown = folder.path().join("x.xlsx");
        firearrow(target, &["copy", &url, "T_VC5", argument(&unknown)]).failure(2, &[".ndjson", "--format"]);
        let text = folder.path().join("x.txt");
        firearrow(target, &["copy", &url, "T_VC5", argument(&text)]).failure(2, &["--format table"]);
        firearrow(target, &["copy", &url, "T_VC5", "-"]).failure(2, &["standard output needs --format"]);
        assert_eq!(files(folder.path()), ["x.csv"]);
    },
    fn an_interrupted_copy_leaves_no_file(target: &Target) {
        let url = demo(target, "1000");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("endless.csv");
        let sql = "SELECT A.C1 FROM T_INT10 A CROSS JOIN T_INT10 B CROSS JOIN T_INT10 C";
        let start = || {
            let mut command =
                prepare(Some(target), &["copy", &url, sql, argument(&path), "--batch-rows", "5000"]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            wait_until_written(folder.path(), child)
        };
        let child = start();
        let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        finish(child.wait_with_output().unwrap()).failure(130, &["interrupted"]);
        assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));

        let mut child = start();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!path.exists(), "what was not finished does not look so");
    }
);

/// Waits until the copy has written something.
fn wait_until_written(folder: &Path, mut child: Child) -> Child {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let mut entries = fs::read_dir(folder).unwrap().flatten();
        if entries.any(|entry| entry.metadata().is_ok_and(|metadata| metadata.len() > 0)) {
            return child;
        }
        if let Some(status) = child.try_wait().unwrap() {
            panic!("the copy ended with {status}: {:?}", child.wait_with_output());
        }
        assert!(Instant::now() < deadline, "nothing was written");
        thread::sleep(Duration::from_millis(5));
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

matrix!(
    all,
    fn decimals_are_of_their_declared_precision(target: &Target) {
        let url = demo(target, "1");
        let run = |arguments: &[&str]| firearrow(target, arguments).success();
        run(&["query", &url, "CREATE TABLE D (A DECIMAL(5, 2), B NUMERIC(15, 3), C INTEGER)"]);
        run(&["query", &url, "INSERT INTO D VALUES (123.45, 1.5, 7)"]);
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (whole, parts, asked) = (path("whole.arrow"), path("parts.arrow"), path("asked.parquet"));
        run(&["copy", &url, "D", argument(&whole)]);
        run(&["copy", &url, "D", argument(&parts), "--partitions", "2"]);
        run(&["query", &url, "SELECT * FROM D", "-o", argument(&asked)]);
        for batch in [readers::arrow_file(&whole), readers::arrow_file(&parts), readers::parquet_file(&asked)]
        {
            let types: Vec<String> =
                batch.schema().fields().iter().map(|field| field.data_type().to_string()).collect();
            assert_eq!(types, ["Decimal128(5, 2)", "Decimal128(15, 3)", "Int32"]);
        }
    }
);

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn time_zones_that_are_not_kept_are_told(target: &Target) {
        let url = demo(target, "1");
        let sql = "SELECT CAST('2024-06-01 10:00:00 Europe/Berlin' AS TIMESTAMP WITH TIME ZONE) TZ FROM RDB$DATABASE";
        let copy = |url: &str, to: &str, more: &[&str]| {
            firearrow(target, &[&["copy", url, sql, to, "--format", "csv"], more].concat()).success()
        };
        let told = "of TZ the moments are kept, in UTC";
        let outcome = copy(&url, "-", &[]);
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
        assert!(outcome.text().contains("08:00:00"), "{}", outcome.text());
        assert!(!copy(&url, "-", &["--quiet"]).stderr.contains(told));
        let folder = tempfile::tempdir().unwrap();
        let parts = folder.path().join("parts/");
        let outcome = firearrow(target, &["copy", &url, sql, argument(&parts)]).success();
        assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
        let kept = format!("{url}{}timestamptz=utf8", if url.contains('?') { '&' } else { '?' });
        let outcome = copy(&kept, "-", &[]);
        assert!(!outcome.stderr.contains(told) && outcome.text().contains("Europe/Berlin"));
    }
);

matrix!(
    [embedded_5_0],
    fn a_database_that_another_process_has_says_how_to_share_it(target: &Target) {
        let url = demo(target, "1000");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("endless.csv");
        let sql = "SELECT A.C1 FROM T_INT10 A CROSS JOIN T_INT10 B CROSS JOIN T_INT10 C";
        for (mode, shared) in [("", false), ("?server_mode=classic", true)] {
            let url = format!("{url}{mode}");
            let mut command = prepare(Some(target), &["copy", &url, sql, argument(&path), "--force"]);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut child = wait_until_written(folder.path(), child);
            let second = firearrow(target, &["query", &url, "SELECT 1 FROM RDB$DATABASE"]);
            child.kill().unwrap();
            child.wait().unwrap();
            match shared {
                true => assert_eq!(second.code, 0, "{}", second.stderr),
                false => assert!(second.stderr.contains("server_mode=classic"), "{}", second.stderr),
            }
            for left in files(folder.path()) {
                fs::remove_file(folder.path().join(left)).unwrap();
            }
        }
    },
    fn what_a_file_cannot_hold_is_refused(target: &Target) {
        let url = demo(target, "1");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ids.parquet");
        let lazy = format!("{url}{}blobs=lazy", if url.contains('?') { '&' } else { '?' });
        firearrow(target, &["copy", &lazy, "T_WIDE", argument(&path)]).failure(2, &["ids of BLOBs"]);
        let many = ["copy", &url, "T_WIDE", argument(&path), "--partitions", "99999"];
        firearrow(target, &many).failure(2, &["0..=64"]);
        let query = ["query", &lazy, "SELECT * FROM T_BLOB", "-o", argument(&path)];
        firearrow(target, &query).failure(2, &["ids of BLOBs"]);
        let query = ["query", &lazy, "SELECT * FROM T_BLOB", "--format", "arrow"];
        firearrow(target, &query).failure(2, &["ids of BLOBs"]);
        firearrow(target, &["query", &lazy, "SELECT ID FROM T_BLOB"]).success();
        let wrong = lazy.replace("lazy", "many");
        firearrow(target, &["info", &wrong]).failure(2, &["blobs='many' is not possible; it must be one of"]);
        let both = ["copy", &url, "T_WIDE", argument(&path), "--partitions", "2", "--readers", "2"];
        firearrow(target, &both).failure(2, &["--readers"]);
        assert!(!path.exists());
    }
);
