//! `firearrow copy` to a folder: parts, folders of values, and going on after a failure.

use crate::command::{Outcome, argument, demo, finish, firearrow, plain, prepare};
use crate::readers::{self, Rows, shown};
use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use firearrow_testkit::{Generation, Server, Target, matrix};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A database, and a folder to copy to.
pub(crate) struct Setup<'a> {
    pub(crate) target: &'a Target,
    pub(crate) url: String,
    outer: tempfile::TempDir,
}

impl<'a> Setup<'a> {
    pub(crate) fn new(target: &'a Target, rows: &str) -> Self {
        Self { target, url: demo(target, rows), outer: tempfile::tempdir().unwrap() }
    }

    fn is_modern(&self) -> bool {
        self.target.generation() >= Generation::V4_0
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.outer.path().join("folder")
    }

    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.outer.path().join(name)
    }

    pub(crate) fn run(&self, sql: &str) {
        firearrow(self.target, &["query", &self.url, sql]).success();
    }

    pub(crate) fn rows(&self, sql: &str) -> String {
        let outcome = firearrow(self.target, &["query", &self.url, sql, "--format", "csv"]).success();
        let text = outcome.text().split_once("\r\n").unwrap().1.to_owned();
        text.replace("\r\n", "\n").trim_end_matches('\n').to_owned()
    }

    fn arguments<'b>(&'b self, source: &'b str, path: &'b str, more: &[&'b str]) -> Vec<&'b str> {
        [&["copy", &self.url, source, path], more].concat()
    }

    pub(crate) fn copy(&self, source: &str, more: &[&str]) -> Outcome {
        let path = format!("{}/", self.folder().display());
        firearrow(self.target, &self.arguments(source, &path, more))
    }

    /// A copy that is killed once some files are whole.
    fn killed(&self, source: &str, more: &[&str]) {
        let path = format!("{}/", self.folder().display());
        let more = [SMALL, more].concat();
        let mut command = prepare(Some(self.target), &self.arguments(source, &path, &more));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut child = wait_for_parts(&self.folder(), child, self.is_modern());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!self.folder().join("_SUCCESS").exists());
        assert_eq!(manifest(&self.folder())["complete"], false);
    }

    /// Asserts that the folder has exactly the rows of a query.
    #[track_caller]
    fn assert_has(&self, source: &str) {
        let path = self.outside("whole.parquet");
        firearrow(self.target, &["copy", &self.url, source, argument(&path), "--force", "--quiet"]).success();
        let expected = shown(&readers::parquet_file(&path));
        let found = shown(&everything(&self.folder()));
        assert_eq!(found.0, expected.0);
        assert_eq!(found.1.len(), expected.1.len());
        assert!(sorted(found.1) == sorted(expected.1), "the rows differ");
        let manifest = manifest(&self.folder());
        assert_eq!(manifest["complete"], true);
        assert!(self.folder().join("_SUCCESS").exists());
    }
}

/// Many parts, one after the other.
const SMALL: &[&str] = &["--file-size", "32KiB", "--readers", "1"];

fn manifest(folder: &Path) -> Value {
    serde_json::from_slice(&fs::read(folder.join("_firearrow.json")).unwrap()).unwrap()
}

/// Waits until some files are whole.
fn wait_for_parts(folder: &Path, mut child: Child, is_modern: bool) -> Child {
    let deadline = Instant::now() + Duration::from_secs(60);
    let has_some = || {
        let text = fs::read_to_string(folder.join("_firearrow.json")).unwrap_or_default();
        // Before Firebird 4 there is a single part.
        text.matches("\"part\"").count() > 3
            || !is_modern && text.contains("query") && !files(folder).is_empty()
    };
    while !has_some() {
        if let Some(status) = child.try_wait().unwrap() {
            panic!("the copy ended with {status}: {:?}", child.wait_with_output());
        }
        assert!(Instant::now() < deadline, "nothing was written");
        thread::sleep(Duration::from_millis(2));
    }
    child
}

/// The files with rows, below the folder and in order.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inner) = open.pop() {
        for entry in fs::read_dir(inner).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false if path.extension().is_some_and(|extension| extension == "parquet") => {
                    found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
                }
                false => {}
            }
        }
    }
    found.sort();
    found
}

/// All names in a folder itself.
fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// All rows, without the columns that folders are named after.
fn everything(folder: &Path) -> RecordBatch {
    let batches: Vec<_> =
        files(folder).iter().map(|name| readers::parquet_file(&folder.join(name))).collect();
    concat_batches(&batches[0].schema(), &batches).unwrap()
}

fn sorted(mut rows: Rows) -> Rows {
    rows.sort();
    rows
}

/// What tells a file from another one of the same name.
fn identities(folder: &Path) -> BTreeMap<String, (u64, i64, i64)> {
    let identity = |name: String| {
        let metadata = fs::metadata(folder.join(&name)).unwrap();
        (name, (metadata.ino(), metadata.mtime(), metadata.mtime_nsec()))
    };
    files(folder).into_iter().map(identity).collect()
}

/// The files that the manifest lists.
fn listed(folder: &Path) -> Vec<String> {
    let manifest = manifest(folder);
    let parts = manifest["parts"].as_array().unwrap().clone();
    let files = parts.iter().flat_map(|part| part["files"].as_array().unwrap().clone());
    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

matrix!(
    all,
    fn a_folder_has_the_rows_of_the_table(target: &Target) {
        let setup = Setup::new(target, "3000");
        let summary =
            setup.copy("t_wide", &["--file-size", "64KiB", "--batch-rows", "500", "--json"]).success().json();
        let folder = setup.folder();
        let names = files(&folder);
        assert!(names.len() > 3, "{names:?}");
        assert_eq!(names[0], "part-00000.parquet");
        assert_eq!((&summary["rows"], &summary["kept_rows"]), (&3000.into(), &0.into()));
        assert_eq!(summary["files"], names.len());
        let bytes: u64 = names.iter().map(|name| fs::metadata(folder.join(name)).unwrap().len()).sum();
        assert_eq!(summary["bytes"], bytes);
        setup.assert_has("T_WIDE");
        assert_eq!(listed(&folder), names);
        let read = summary["read"].as_str().unwrap();
        match setup.is_modern() {
            true => assert!(read.contains("reader") && !read.contains("snapshot"), "{read}"),
            false => assert!(read.contains("one reader: sharing a snapshot needs"), "{read}"),
        }
        // In the order of the table, part by part.
        let ids: Vec<_> = shown(&everything(&folder)).1.into_iter().map(|row| row[0].clone()).collect();
        assert_eq!(ids[..3], ["1", "2", "3"].map(|id| Some(id.to_owned())));

        setup
            .copy("T_WIDE", &[])
            .failure(1, &["has a copy; --resume continues it, --force removes it first"]);
        let outcome = setup.copy("T_WIDE", &["--resume"]).success();
        let said = if setup.is_modern() { "still has the rows of the table" } else { "was not compared" };
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
        setup.copy("T_INT10", &["--force"]).success();
        assert_eq!(files(&folder), ["part-00000.parquet"]);
        setup.assert_has("T_INT10");
    },
    fn queries_and_empty_tables_are_copied(target: &Target) {
        let setup = Setup::new(target, "1000");
        for (sql, read) in [
            ("SELECT ID, V16 FROM T_WIDE WHERE I16 > 0", None),
            ("SELECT ID FROM T_WIDE ORDER BY V16", Some("one reader")),
            ("SELECT COUNT(*) N FROM T_WIDE", Some("one reader")),
            ("SELECT ID FROM T_WIDE WHERE 1 = 0", None),
        ] {
            let outcome = setup.copy(sql, &["--force", "--json"]).success().json();
            setup.assert_has(sql);
            let is_as_expected = read.is_none_or(|read| outcome["read"].as_str().unwrap().contains(read));
            assert!(is_as_expected, "{sql}: {outcome}");
        }
        assert_eq!(files(&setup.folder()), ["part-00000.parquet"]);
        assert_eq!(readers::parquet_file(&setup.folder().join("part-00000.parquet")).num_rows(), 0);
    },
    fn folders_are_named_after_values(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE S (ID INTEGER, C VARCHAR(20) CHARACTER SET UTF8, D DATE, N NUMERIC(9, 2))");
        let values = [
            "1, 'DE', '2024-05-01', 1.5",
            "2, 'a/b', '2024-05-01', 2",
            "3, '', '1999-12-31', NULL",
            "4, NULL, NULL, -0.01",
            "5, 'DE', '2024-05-01', 7",
            "6, 'Köln 50%', '2024-05-02', 0",
        ];
        let inserts = values.map(|values| format!("INSERT INTO S VALUES ({values});")).concat();
        setup.run(&inserts);
        let summary = setup.copy("S", &["--partition-by", "c,D", "--json"]).success().json();
        assert_eq!((&summary["rows"], &summary["files"]), (&6.into(), &5.into()));
        let folder = setup.folder();
        let expected = [
            "C=/D=1999-12-31/part-00000.parquet",
            "C=DE/D=2024-05-01/part-00000.parquet",
            "C=Köln%2050%25/D=2024-05-02/part-00000.parquet",
            "C=__HIVE_DEFAULT_PARTITION__/D=__HIVE_DEFAULT_PARTITION__/part-00000.parquet",
            "C=a%2Fb/D=2024-05-01/part-00000.parquet",
        ];
        assert_eq!(files(&folder), expected);
        let german = readers::parquet_file(&folder.join(expected[1]));
        let (columns, rows) = shown(&german);
        assert_eq!(columns, ["ID", "N"]);
        assert_eq!(rows.concat(), ["1", "1.50", "5", "7.00"].map(|text| Some(text.to_owned())));
        setup.assert_has("SELECT ID, N FROM S");
        for (columns, text) in [
            ("X", "--partition-by X: the columns are ID, C, D, N"),
            ("C,c", "names C twice"),
            ("ID,C,D,N", "names every column"),
        ] {
            setup.copy("S", &["--force", "--partition-by", columns]).failure(2, &[text]);
        }
        let query = "SELECT ID, 1.5E0 F FROM S";
        setup.copy(query, &["--force", "--partition-by", "F"]).failure(2, &["CAST(… AS VARCHAR(40))"]);
        assert_eq!(files(&folder), expected, "nothing is removed before the query is known to work");
    },
    fn many_values_take_little_memory_and_few_files(target: &Target) {
        let setup = Setup::new(target, "20000");
        let sql = "SELECT ID, MOD(ID, 300) M, V200, V100, MD5_A FROM T_WIDE";
        let summary = setup.copy(sql, &["--partition-by", "M", "--json"]).success().json();
        assert_eq!((&summary["rows"], &summary["files"]), (&20_000.into(), &300.into()));
        setup.assert_has("SELECT ID, V200, V100, MD5_A FROM T_WIDE");
        let outcome = setup.copy("SELECT ID, ID X FROM T_WIDE", &["--force", "--partition-by", "X"]);
        outcome.failure(1, &["X: these have more than 10000 values", "--partition-by"]);
        assert!(!setup.folder().join("_firearrow.json").exists() && files(&setup.folder()).is_empty());
    },
    fn a_killed_copy_goes_on(target: &Target) {
        let setup = Setup::new(target, "20000");
        setup.killed("T_WIDE", &[]);
        let folder = setup.folder();
        // What has its final name is whole.
        assert!(everything(&folder).num_rows() > 0);
        let (before, whole) = (identities(&folder), listed(&folder));
        let rows: u64 = manifest(&folder)["parts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["rows"].as_u64().unwrap())
            .sum();
        let summary = setup.copy("T_WIDE", &[SMALL, &["--resume", "--json"]].concat()).success().json();
        assert_eq!((&summary["rows"], &summary["kept_rows"]), (&20_000.into(), &rows.into()));
        assert_eq!(rows > 0, setup.is_modern());
        setup.assert_has("T_WIDE");
        let after = identities(&folder);
        assert!(whole.iter().all(|name| after[name] == before[name]), "whole files are kept");
        let hidden = names(&folder).into_iter().filter(|name| name.starts_with('.')).count();
        assert_eq!(hidden, 0, "{:?}", names(&folder));
        // Without files, it begins.
        setup.copy("T_INT10", &["--force", "--quiet"]).success();
        fs::remove_dir_all(&folder).unwrap();
        setup.copy("T_INT10", &["--resume"]).success();
        setup.assert_has("T_INT10");
    },
    fn ctrl_c_keeps_what_is_whole(target: &Target) {
        let setup = Setup::new(target, "20000");
        let path = format!("{}/", setup.folder().display());
        let mut command = prepare(Some(target), &setup.arguments("T_WIDE", &path, SMALL));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let child = wait_for_parts(&setup.folder(), child, setup.is_modern());
        let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        let outcome = finish(child.wait_with_output().unwrap());
        if !setup.is_modern() {
            outcome.failure(130, &["interrupted"]);
            assert!(!setup.folder().exists(), "nothing of it can be continued");
            return;
        }
        outcome
            .failure(130, &["interrupted", "are whole and stay; the same command with --resume continues"]);
        let hidden = names(&setup.folder()).into_iter().filter(|name| name.starts_with('.')).count();
        assert_eq!(hidden, 0, "{:?}", names(&setup.folder()));
        assert_eq!(listed(&setup.folder()), files(&setup.folder()));
        setup.copy("T_WIDE", &["--resume", "--quiet"]).success();
        setup.assert_has("T_WIDE");
    },
    fn folders_of_values_go_on(target: &Target) {
        let setup = Setup::new(target, "20000");
        // Parts are longer then.
        let more = ["--partition-by", "FLAG", "--file-size", "4KiB"];
        setup.killed("T_WIDE", &more[..2]);
        let (before, whole) = (identities(&setup.folder()), listed(&setup.folder()));
        setup.copy("T_WIDE", &["--resume", "--partition-by", "FLAG"]).success();
        let columns: Vec<String> = shown(&everything(&setup.folder())).0;
        setup.assert_has(&format!("SELECT {} FROM T_WIDE", columns.join(", ")));
        let after = identities(&setup.folder());
        assert!(whole.iter().all(|name| after[name] == before[name]), "whole files are kept");
        setup.copy("T_WIDE", &["--resume"]).failure(1, &["a copy with --partition-by FLAG", "--force"]);
    },
    fn only_the_same_copy_goes_on(target: &Target) {
        let setup = Setup::new(target, "20000");
        setup.killed("T_WIDE", &[]);
        let before = identities(&setup.folder());
        let resume = |source: &str, more: &[&str]| setup.copy(source, &[&["--resume"], more].concat());
        resume("T_INT10", &[]).failure(1, &["a copy of another query: SELECT * FROM \"T_WIDE\"", "--force"]);
        resume("SELECT ID FROM T_WIDE", &[]).failure(1, &["another query"]);
        resume("T_WIDE", &["--partition-by", "FLAG"]).failure(1, &["a copy without --partition-by"]);
        let join = if setup.url.contains('?') { '&' } else { '?' };
        let path = format!("{}/", setup.folder().display());
        let other = format!("{}{join}text=utf8_view", setup.url);
        firearrow(target, &["copy", &other, "T_WIDE", &path, "--resume"])
            .failure(1, &["another kind of connection: text differs"]);
        if setup.is_modern() {
            let other = demo(target, "20000");
            firearrow(target, &["copy", &other, "T_WIDE", &path, "--resume"])
                .failure(1, &["a copy of another database"]);
        }
        setup.run("ALTER TABLE T_WIDE ADD X INTEGER");
        resume("T_WIDE", &[]).failure(1, &["the table was altered", "its columns are others now"]);
        assert_eq!(identities(&setup.folder()), before, "nothing is touched");
        setup.copy("T_WIDE", &["--force"]).success();
        setup.assert_has("T_WIDE");
    },
    fn parameters_belong_to_the_copy(target: &Target) {
        let setup = Setup::new(target, "3000");
        let copy = |id: &str, more: &[&str]| {
            setup.copy("SELECT * FROM T_WIDE WHERE ID > ?", &[&["--param", id], more].concat())
        };
        copy("2990", &[]).success();
        setup.assert_has("SELECT * FROM T_WIDE WHERE ID > 2990");
        copy("2980", &["--resume"]).failure(1, &["a copy with other parameters", "--force"]);
        setup.assert_has("SELECT * FROM T_WIDE WHERE ID > 2990");
        copy("2980", &["--force"]).success();
        setup.assert_has("SELECT * FROM T_WIDE WHERE ID > 2980");
        let named = |sql: &str, more: &[&str]| {
            setup.copy(sql, &[&["--param", "a=10", "--param", "b=20"], more].concat())
        };
        named("SELECT ID FROM T_WIDE WHERE ID > :a AND ID <= :b", &["--force"]).success();
        setup.assert_has("SELECT ID FROM T_WIDE WHERE ID > 10 AND ID <= 20");
        // With markers in the place of names it would be the same query.
        named("SELECT ID FROM T_WIDE WHERE ID > :b AND ID <= :a", &["--resume"])
            .failure(1, &["a copy of another query: SELECT ID FROM T_WIDE WHERE ID > :a"]);
    },
    fn sorted_rows_begin_anew(target: &Target) {
        let setup = Setup::new(target, "20000");
        let sql = "SELECT * FROM T_WIDE ORDER BY ID";
        let path = format!("{}/", setup.folder().display());
        let mut command = prepare(Some(target), &setup.arguments(sql, &path, SMALL));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut child = wait_for_parts(&setup.folder(), child, false);
        child.kill().unwrap();
        child.wait().unwrap();
        let summary = setup.copy(sql, &[SMALL, &["--resume", "--json"]].concat()).success().json();
        assert_eq!((&summary["rows"], &summary["kept_rows"]), (&20_000.into(), &0.into()));
        setup.assert_has(sql);
    },
    fn a_failing_copy_leaves_nothing(target: &Target) {
        let setup = Setup::new(target, "3000");
        setup.copy("NO_SUCH_TABLE", &[]).failure(1, &["NO_SUCH_TABLE"]);
        setup.copy("DELETE FROM T_VC5", &[]).failure(1, &["no rows"]);
        // The first rows already.
        setup.copy("SELECT 1 / (ID - 1) FROM T_WIDE", &["--readers", "1"]).failure(1, &["zero"]);
        assert!(!setup.folder().exists());
        fs::create_dir(setup.folder()).unwrap();
        setup.copy("NO_SUCH_TABLE", &[]).failure(1, &["NO_SUCH_TABLE"]);
        assert!(names(&setup.folder()).is_empty());
        // The last rows only: what is whole stays.
        let sql = "SELECT 1 / IIF(ID = 2999, 0, 1) FROM T_WIDE";
        let outcome = setup.copy(sql, SMALL);
        match setup.is_modern() {
            true => {
                outcome.failure(1, &["zero", "are whole and stay; the same command with --resume continues"]);
                setup.run("DELETE FROM T_WIDE WHERE ID = 2999");
                setup.copy(sql, &["--resume"]).success();
                setup.assert_has(sql);
            }
            false => {
                outcome.failure(1, &["zero"]);
                assert!(names(&setup.folder()).is_empty());
            }
        }
    },
    fn hostile_folders_are_refused(target: &Target) {
        let setup = Setup::new(target, "3000");
        setup.copy("T_WIDE", &["--file-size", "64KiB", "--batch-rows", "500"]).success();
        let folder = setup.folder();
        let resume = || setup.copy("T_WIDE", &["--resume"]);
        let force = || setup.copy("T_WIDE", &["--force"]);
        let outside = setup.outside("outside.parquet");
        fs::write(&outside, "mine").unwrap();
        // A link in the place of a file.
        let second = files(&folder)[1].clone();
        let part = folder.join(&second);
        let bytes = fs::read(&part).unwrap();
        fs::remove_file(&part).unwrap();
        symlink(&outside, &part).unwrap();
        let link = format!("{second} is a symbolic link");
        resume().failure(1, &[&link]);
        force().failure(1, &[&link]);
        fs::remove_file(&part).unwrap();
        fs::write(&part, &bytes).unwrap();
        // A folder that leads out.
        let away = setup.outside("away");
        fs::create_dir(&away).unwrap();
        fs::write(away.join("part-00000.parquet"), "mine").unwrap();
        symlink(&away, folder.join("C=1")).unwrap();
        force().failure(1, &["C=1 is a symbolic link"]);
        fs::remove_file(folder.join("C=1")).unwrap();
        // A manifest that was changed.
        let path = folder.join("_firearrow.json");
        let text = fs::read_to_string(&path).unwrap();
        for (from, to) in [
            (second.as_str(), "../outside.parquet"),
            ("\"complete\": true", "\"complete\": false"),
            ("\"version\": 1", "\"version\": 9"),
            ("{", ""),
        ] {
            fs::write(&path, text.replacen(from, to, 1)).unwrap();
            resume().failure(1, &["_firearrow.json"]);
        }
        fs::write(&path, &text).unwrap();
        // Files of others.
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        force().failure(1, &["a file that no copy has written, notes.txt"]);
        fs::remove_file(folder.join("notes.txt")).unwrap();
        assert_eq!(fs::read_to_string(&outside).unwrap(), "mine");
        assert_eq!(fs::read_to_string(away.join("part-00000.parquet")).unwrap(), "mine");
        // A file that was damaged is written again.
        let mut damaged = bytes.clone();
        damaged[100] ^= 1;
        fs::write(&part, &damaged).unwrap();
        let outcome = resume().success();
        let damaged = format!("part {} is written again: ", u8::from(setup.is_modern()));
        assert!(outcome.stderr.contains(&damaged), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("its checksum differs"), "{}", outcome.stderr);
        setup.assert_has("T_WIDE");
        // What is no copy is not touched.
        let other = setup.outside("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("x.parquet"), "mine").unwrap();
        for more in [&[][..], &["--force"], &["--resume"]] {
            let arguments = setup.arguments("T_WIDE", argument(&other), more);
            firearrow(target, &arguments).failure(1, &["nothing in it says that it is a copy"]);
        }
        let arguments = setup.arguments("T_WIDE", argument(&outside), &["--resume"]);
        firearrow(target, &arguments).failure(1, &["is a file, not a folder"]);
    }
);

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn changed_rows_are_never_mixed_with_others(target: &Target) {
        for (change, is_refused) in [
            ("UPDATE T_WIDE SET I32 = I32 WHERE ID = 1", true),
            ("DELETE FROM T_WIDE WHERE ID = 1", true),
            ("UPDATE T_WIDE SET V8 = 'other' WHERE ID = 8000", false),
            ("DELETE FROM T_WIDE WHERE ID > 7600", false),
            ("DELETE FROM T_WIDE WHERE ID > 6000", false),
            ("INSERT INTO T_WIDE (ID) VALUES (8001)", false),
            ("SELECT COUNT(*) FROM T_WIDE", false),
            // The rows are others, although they are as many.
            ("DELETE FROM T_WIDE WHERE ID = 2; INSERT INTO T_WIDE (ID) VALUES (2)", true),
        ] {
            let setup = Setup::new(target, "8000");
            setup.killed("T_WIDE", &[]);
            let before = identities(&setup.folder());
            setup.run(change);
            let outcome = setup.copy("T_WIDE", &[SMALL, &["--resume"]].concat());
            match is_refused {
                true => {
                    outcome.failure(1, &["the table has changed since the copy began: part 0", "--force"]);
                    assert_eq!(identities(&setup.folder()), before, "{change}");
                    assert!(!setup.folder().join("_SUCCESS").exists());
                }
                // The rows of this run's snapshot, all of them.
                false => {
                    assert!(outcome.success().stderr.contains(" kept)"), "{change}");
                    setup.assert_has("T_WIDE");
                }
            }
        }
    },
    fn a_complete_copy_is_compared_too(target: &Target) {
        let setup = Setup::new(target, "5000");
        setup.copy("T_WIDE", SMALL).success();
        let before = identities(&setup.folder());
        let resume = || setup.copy("T_WIDE", &["--resume", "--json"]);
        assert_eq!(resume().success().json()["compared"], true);
        // A run that was killed just before its end.
        fs::remove_file(setup.folder().join("_SUCCESS")).unwrap();
        resume().success();
        assert!(setup.folder().join("_SUCCESS").exists());
        setup.run("UPDATE T_WIDE SET I32 = I32 WHERE ID = 1");
        resume().failure(1, &["the table has changed since the copy began: part 0", "--force"]);
        // What is refused stays.
        assert_eq!(identities(&setup.folder()), before);
        assert!(setup.folder().join("_SUCCESS").exists());
    },
    fn an_altered_table_is_refused(target: &Target) {
        for (change, sql) in [
            ("ALTER TABLE A ADD X INTEGER DEFAULT 1 NOT NULL", "SELECT ID, T, DOUBLE_ID FROM A"),
            ("ALTER TABLE A ALTER DOUBLE_ID COMPUTED BY (ID * 3)", "SELECT ID, T, DOUBLE_ID FROM A"),
            ("ALTER TABLE A DROP N; ALTER TABLE A ADD N INTEGER", "SELECT ID, T, N FROM A"),
        ] {
            let setup = Setup::new(target, "1");
            setup.run(
                "CREATE TABLE A (ID INTEGER, N INTEGER, DOUBLE_ID COMPUTED BY (ID * 2), T VARCHAR(2000) CHARACTER SET ASCII)",
            );
            setup.run(
                "SET TERM ^; EXECUTE BLOCK AS DECLARE I INTEGER = 0; BEGIN WHILE (I < 8000) DO BEGIN \
                 INSERT INTO A (ID, N, T) VALUES (:I, :I, LPAD('', 1500, UUID_TO_CHAR(GEN_UUID()))); I = I + 1; END END^",
            );
            setup.killed(sql, &[]);
            setup.run(change);
            let outcome = setup.copy(sql, &["--resume"]);
            outcome.failure(1, &["the table was altered since the copy began", "--force"]);
        }
    }
);

matrix!(
    [firebird_4_0, firebird_5_0],
    fn a_restarted_server_is_no_end(target: &Target) {
        let mut server = Server::start(target.generation()).expect("there is one already");
        let url = server.url_at(server.address(), &server.fresh_database_path());
        firearrow(target, &["create-demo", &url, "--rows", "20000"]).success();
        let setup = Setup { target, url, outer: tempfile::tempdir().unwrap() };
        let path = format!("{}/", setup.folder().display());
        let mut command = prepare(Some(target), &setup.arguments("T_WIDE", &path, SMALL));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let child = wait_for_parts(&setup.folder(), child, true);
        server.kill();
        let outcome = finish(child.wait_with_output().unwrap());
        outcome.failure(1, &["are whole and stay; the same command with --resume continues"]);
        server.restart().unwrap();
        let (before, whole) = (identities(&setup.folder()), listed(&setup.folder()));
        let outcome = setup.copy("T_WIDE", &[SMALL, &["--resume"]].concat()).success();
        assert!(outcome.stderr.contains(" kept)"), "{}", outcome.stderr);
        setup.assert_has("T_WIDE");
        let after = identities(&setup.folder());
        assert!(whole.iter().all(|name| after[name] == before[name]), "whole files are kept");
    },
    /// Its rows are older than the snapshot, which does not see them.
    fn rows_of_a_transaction_that_was_open_are_newer(target: &Target) {
        let setup = Setup::new(target, "20000");
        let writer = firearrow::Connection::connect(&setup.url).unwrap();
        let mut open = writer.begin(firearrow::TransactionOptions::default()).unwrap();
        open.execute("UPDATE T_WIDE SET V8 = 'later' WHERE ID = 1").unwrap();
        // And one that begins after it.
        setup.run("UPDATE T_WIDE SET V8 = 'before' WHERE ID = 2");
        setup.killed("T_WIDE", &[]);
        let copied = setup.folder().join("part-00000.parquet");
        let rows = shown(&readers::parquet_file(&copied)).1;
        assert!(rows[1].contains(&Some("before".to_owned())) && !rows[0].contains(&Some("later".to_owned())));
        // Its rows are not there yet.
        let kept = fs::read(setup.folder().join("_firearrow.json")).unwrap();
        let spare = setup.outside("spare");
        fs::create_dir(&spare).unwrap();
        for name in names(&setup.folder()) {
            fs::copy(setup.folder().join(&name), spare.join(&name)).unwrap();
        }
        setup.copy("T_WIDE", &["--resume"]).success();
        setup.assert_has("T_WIDE");
        fs::remove_dir_all(setup.folder()).unwrap();
        fs::rename(spare, setup.folder()).unwrap();
        assert_eq!(fs::read(setup.folder().join("_firearrow.json")).unwrap(), kept);
        open.commit().unwrap();
        setup.copy("T_WIDE", &["--resume"]).failure(1, &["part 0 has", "1 of them newer"]);
    },
    fn a_table_stays_as_it_is_while_it_is_copied(target: &Target) {
        let setup = Setup::new(target, "20000");
        let path = format!("{}/", setup.folder().display());
        let mut command = prepare(Some(target), &setup.arguments("T_WIDE", &path, SMALL));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let child = wait_for_parts(&setup.folder(), child, true);
        for change in ["ALTER TABLE T_WIDE DROP V8", "ALTER TABLE T_WIDE ADD X INTEGER", "DROP TABLE T_WIDE"]
        {
            let url = format!("{}?lock_timeout=1", setup.url);
            // Whether it is refused is up to the engine.
            firearrow(target, &["query", &url, change]);
        }
        let outcome = finish(child.wait_with_output().unwrap());
        match outcome.code {
            0 => assert_eq!(everything(&setup.folder()).num_rows(), 20_000),
            _ => assert!(!setup.folder().join("_SUCCESS").exists()),
        }
        // Never with columns of two kinds.
        for name in files(&setup.folder()) {
            assert_eq!(readers::parquet_file(&setup.folder().join(name)).num_columns(), 22);
        }
    },
    fn one_process_writes_a_folder(target: &Target) {
        let setup = Setup::new(target, "20000");
        let path = format!("{}/", setup.folder().display());
        let mut command = prepare(Some(target), &setup.arguments("T_WIDE", &path, SMALL));
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let child = wait_for_parts(&setup.folder(), child, true);
        for more in [&["--resume"], &["--force"]] {
            setup.copy("T_WIDE", more).failure(1, &["another process is writing this folder"]);
        }
        finish(child.wait_with_output().unwrap()).success();
        setup.assert_has("T_WIDE");
    }
);

matrix!(
    wire,
    fn a_full_disk_is_no_end(target: &Target) {
        let setup = Setup::new(target, "20000");
        let path = format!("{}/", setup.folder().display());
        let copy = prepare(Some(target), &setup.arguments("T_WIDE", &path, SMALL));
        let mut shell = Command::new("sh");
        // Files of rows have a few KiB; the manifest grows with their number.
        shell.args(["-c", "ulimit -f 64; exec \"$0\" \"$@\""]).arg(copy.get_program()).args(copy.get_args());
        for (name, value) in copy.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let outcome = finish(shell.output().unwrap());
        if !setup.is_modern() {
            outcome.failure(1, &["folder/: File too large"]);
            assert!(!setup.folder().exists());
            return;
        }
        outcome.failure(1, &["File too large", "are whole and stay"]);
        let hidden = names(&setup.folder()).into_iter().filter(|name| name.starts_with('.')).count();
        assert_eq!(hidden, 0, "{:?}", names(&setup.folder()));
        let summary = setup.copy("T_WIDE", &[SMALL, &["--resume", "--json"]].concat()).success().json();
        assert!(summary["kept_rows"].as_u64().unwrap() > 0, "{summary}");
        setup.assert_has("T_WIDE");
    }
);

#[test]
fn folders_and_files_have_options_of_their_own() {
    let wrong = |arguments: &[&str], texts: &[&str]| {
        plain(&[&["copy", "x.fdb", "T"], arguments].concat()).failure(2, texts);
    };
    wrong(&["x/", "--format", "csv"], &["a folder gets Parquet files"]);
    wrong(&["x/", "--partitions", "2"], &["--partitions is for a file"]);
    wrong(&["x/", "--no-header"], &["--no-header is for tables and CSV"]);
    wrong(&["-", "--partition-by", "A"], &["--partition-by is for a folder"]);
    wrong(&["-", "--format", "csv", "--resume"], &["--resume is for a folder"]);
    wrong(&["x/", "--resume", "--force"], &["cannot be used with"]);
    wrong(&["x/", "--file-size", "big"], &["such as 64MiB"]);
    wrong(&["x/", "--file-size", "16"], &["at least 4KiB"]);
    wrong(&["x.csv", "--partition-by", "A"], &["--partition-by is for a folder", "end it with a slash"]);
    wrong(&["x.parquet", "--resume"], &["--resume is for a folder"]);
    // With a slash it is a folder, and the database is missing.
    plain(&["copy", "x.fdb", "T", "x.parquet/", "--resume"]).failure(1, &["x.fdb"]);
}
