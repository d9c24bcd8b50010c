//! `firearrow bench driver`

use crate::command::{argument, demo, finish, firearrow, plain, prepare};
use firearrow_report::{OURS, Record};
use firearrow_testkit::{Skip, Target, matrix};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A driver that cargo has built together with this test.
fn library(name: &str) -> String {
    let name = format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = std::env::current_exe().unwrap().with_file_name(name);
    assert!(library.exists(), "{} is missing", library.display());
    argument(&library).to_owned()
}

/// The arguments that all runs have: tiny sizes, and where firearrow's drivers are.
fn bench(url: &str, more: &[&str]) -> Vec<String> {
    let (odbc, adbc) = (library("firearrowodbc"), library("adbc_driver_firebird"));
    let fixed =
        ["--iterations", "2", "--rows", "300", "--odbc-library", &odbc, "--adbc-library", &adbc, "--json"];
    [&["bench", "driver", url], &fixed[..], more].concat().into_iter().map(str::to_owned).collect()
}

fn record(target: &Target, arguments: &[String]) -> Record {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = firearrow(target, &arguments).success();
    Record::parse("the record", outcome.text()).unwrap()
}

fn failure(target: &Target, arguments: &[String], code: i32, texts: &[&str]) {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    firearrow(target, &arguments).failure(code, texts);
}

fn missing(record: &Record) -> &[String] {
    &record.end.as_ref().unwrap().missing
}

fn names<'a>(record: &'a Record, table: &str) -> BTreeSet<&'a str> {
    let samples = record.samples.iter().filter(|sample| sample.table == table);
    samples.map(|sample| sample.contestant.as_str()).collect()
}

/// A program in the place of a Python, which answers the job with this script.
fn pretender(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("pretender");
    fs::write(&path, format!("#!/bin/sh\nread job\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// An answer with so many rows and hashes that are wrong.
fn answer(rows: u64, columns: usize) -> String {
    let hashes = vec!["\"00\""; columns].join(",");
    format!(
        r#"echo '{{"rows":{rows},"hashes":[{hashes}],"connect_s":0,"execute_s":0,"drain_s":0.001,"release_s":0,"cpu_s":0}}'"#
    )
}

fn skip(target: &Target, reason: &str) -> Skip {
    Skip { name: target.to_string(), reason: reason.to_owned() }
}

const OWN: &str = "adbc,adbc-count,odbc-block,odbc-rows,odbc-cells,crate";

matrix!(
    all,
    fn every_contestant_finds_every_cell(target: &Target) {
        let url = target.fresh_url();
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.html");
        let files = ["--save", argument(folder.path()), "--output", argument(&page)];
        let record =
            record(target, &bench(&url, &[&["--contestants", OWN, "--block", "64"], &files[..]].concat()));
        let tables: Vec<&str> = record.tables.iter().map(|table| table.id.as_str()).collect();
        assert_eq!(tables, ["wide", "integers", "decimals", "blobs", "empty"]);
        let all = BTreeSet::from([
            OURS,
            "firearrow ADBC, rows counted",
            "firearrow ODBC, SQLGetData",
            "firearrow ODBC, blocks",
            "firearrow ODBC, row by row",
            "firearrow crate",
        ]);
        for table in tables {
            assert_eq!(names(&record, table), all, "{table}: {:?}", missing(&record));
        }
        assert_eq!(missing(&record), [""; 0]);
        assert!(record.is_complete());
        for sample in &record.samples {
            assert_eq!(sample.values["rows"], if sample.table == "empty" { 0.0 } else { 300.0 });
            assert!(sample.values["wall_s"] > 0.0 && sample.values["client_cpu_s"] >= 0.0);
            assert!(sample.values["peak_rss_bytes"] > 1e6);
            assert_eq!(sample.values.contains_key("bind_s"), sample.contestant.contains("ODBC"));
            let has_wire = sample.contestant == "firearrow crate" && matches!(target, Target::Wire(_));
            assert_eq!(sample.values.contains_key("round_trips"), has_wire);
            let claimed = sample.values.get("wall_per_claimed_row_s").copied();
            assert_eq!(claimed, (sample.table == "empty").then(|| sample.values["wall_s"] / 10_000.0));
        }
        assert_eq!(record.samples.iter().map(|sample| sample.repetition).max(), Some(2));
        assert!(fs::read_to_string(page).unwrap().contains("<svg"));
        let mut saved = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let text = fs::read_to_string(saved.find(|path| path.is_dir()).unwrap().join("report.md")).unwrap();
        assert!(!text.contains(argument(folder.path())), "reports have no paths");

        // Fewer rows than there are, and any query.
        let fewer = bench(&url, &["--contestants", "adbc,odbc-block", "--only", "decimals"]);
        let fewer: Vec<String> =
            fewer.into_iter().map(|word| if word == "300" { "7".into() } else { word }).collect();
        assert!(self::record(target, &fewer).samples.iter().all(|sample| sample.values["rows"] == 7.0));
        let sql = "SELECT ID, CURRENT_DATE D, CAST('12:34:56' AS TIME) T, CAST(V16 AS VARCHAR(64) CHARACTER SET OCTETS) B \
                   FROM T_WIDE ROWS 5";
        let query = bench(&url, &["--contestants", "adbc,odbc-cells,crate", "--sql", sql]);
        let query: Vec<String> = query.into_iter().filter(|word| word != "--rows" && word != "300").collect();
        let record = self::record(target, &query);
        assert_eq!(names(&record, "query").len(), 3, "{:?}", missing(&record));
    },
    fn wrong_cells_have_no_figures(target: &Target) {
        let url = demo(target, "300");
        firearrow(target, &["query", &url, "UPDATE T_WIDE SET V16 = 'x' WHERE ID = 7"]).success();
        for word in ["adbc", "odbc-block", "odbc-rows", "odbc-cells", "crate"] {
            let arguments = bench(&url, &["--contestants", word, "--only", "wide"]);
            failure(
                target,
                &arguments,
                1,
                &["wide, firearrow", "column V16 has other values", "figures are withheld"],
            );
        }
        // Who only counts sees nothing wrong, until a row is gone.
        let count = bench(&url, &["--contestants", "adbc-count", "--only", "wide"]);
        assert_eq!(record(target, &count).samples.len(), 2);
        firearrow(target, &["query", &url, "DELETE FROM T_WIDE WHERE ID = 8"]).success();
        failure(target, &count, 1, &["299 rows, not 300; its figures are withheld"]);
    },
    fn any_driver_can_take_part(target: &Target) {
        let url = demo(target, "50");
        let odbc = match target {
            Target::Embedded(embedded) => {
                format!(
                    "DRIVER={};URL={{{url}}};CLIENT={{{}}}",
                    library("firearrowodbc"),
                    embedded.engine.display()
                )
            }
            Target::Wire(_) => format!("DRIVER={};URL={{{url}}}", library("firearrowodbc")),
        };
        let (adbc, uri) = (library("adbc_driver_firebird"), format!("uri={url}"));
        let any =
            ["bench", "driver", "--odbc", &odbc, "--adbc-driver", &adbc, "--adbc-option", &uri, "--json"];
        let words = ["--contestants", OWN, "--iterations", "2", "--sql"];
        let run = |sql: &str| firearrow(target, &[&any[..], &words, &[sql]].concat());
        let record = Record::parse("r", run("SELECT * FROM T_WIDE").success().text()).unwrap();
        let all = ["ADBC", "ADBC, rows counted", "ODBC, SQLGetData", "ODBC, blocks", "ODBC, row by row"];
        assert_eq!(names(&record, "query"), BTreeSet::from(all));
        assert!(record.tables[0].title.contains("50 rows"), "{}", record.tables[0].title);
        // Contestants that do not agree have no figures.
        run("SELECT GEN_UUID() U FROM T_WIDE")
            .failure(1, &["column U has other values", "figures are withheld"]);
        run("SELECT NO_SUCH FROM T_WIDE").failure(1, &["NO_SUCH"]);
    },
);

matrix!(
    [firebird_4_0, embedded_5_0],
    fn a_query_creates_no_database(target: &Target) {
        let url = target.fresh_url();
        let query = ["--contestants", "crate", "--sql", "SELECT 1 FROM RDB$DATABASE"];
        // The second time it would be there.
        for _ in 0..2 {
            firearrow(target, &[&["bench", "driver", &url], &query[..]].concat()).failure(1, &["I/O error"]);
        }
    }
);

matrix!(
    [firebird_4_0],
    fn rivals_that_are_missing_wrong_or_crash_are_named(target: &Target) {
        let url = demo(target, "300");
        let folder = tempfile::tempdir().unwrap();
        let rivals = |python: &Path, words: &str| {
            let more = ["--only", "integers", "--python", argument(python), "--contestants", words];
            record(target, &bench(&url, &more))
        };
        let words = "adbc,pyodbc,official-block,jaybird,libfbclient";
        let alone = rivals(Path::new("/no/such/python"), words);
        assert_eq!(names(&alone, "integers"), BTreeSet::from([OURS]));
        let told = missing(&alone).join("\n");
        for text in [
            "pyodbc (firearrow ODBC): /no/such/python cannot be started",
            "official ODBC, blocks: no path of the official driver (--official-odbc)",
            "Java, Jaybird: there is no folder of peers: give --peers",
            "libfbclient, rows counted: give",
        ] {
            assert!(told.contains(text), "no {text:?} in {told}");
        }
        assert_eq!(missing(&alone).len(), 4, "{told}");

        let ready = r#"echo '{"ready":"a rival 1"}'; read turn; "#;
        let password = firearrow_testkit::Server::PASSWORD;
        for (script, text) in [
            ("echo 'no module' >&2; exit 1".to_owned(), "it ended: exit status: 1: no module"),
            (format!(r#"echo '{{"error":"login with {password}"}}'"#), "login with ***"),
            (format!("{ready} kill -SEGV $$"), "it crashed: signal: 11"),
            (format!("{ready} {}; read end", answer(299, 10)), "299 rows, not 300; its figures are withheld"),
            (format!("{ready} {}; read end", answer(300, 10)), "column C1 has other values or types"),
            (format!("{ready} {}; read end", answer(300, 9)), "9 columns, not 10"),
            (format!("{ready} echo '{{}}'; read end"), "it printed no answer"),
        ] {
            let record = rivals(&pretender(folder.path(), &script), "adbc,firebirdsql");
            assert_eq!(names(&record, "integers"), BTreeSet::from([OURS]), "{script}");
            let told = missing(&record).join("\n");
            assert!(told.starts_with("firebirdsql: ") && told.contains(text), "{told}");
        }
        let quiet = pretender(folder.path(), "sleep 60");
        let slow = [
            "--only",
            "integers",
            "--python",
            argument(&quiet),
            "--contestants",
            "adbc,fbfast",
            "--limit",
            "1",
        ];
        assert!(missing(&record(target, &bench(&url, &slow)))[0].contains("fbfast: no answer within 1s"));
        // Nobody is left.
        let nobody = bench(&url, &["--contestants", "jaybird", "--only", "wide"]);
        failure(target, &nobody, 1, &["no contestant could read wide", "Java, Jaybird"]);
    },
    fn links_and_compression_are_cases_of_their_own(target: &Target) {
        let url = demo(target, "300");
        let link = ["--link", "--rtt", "2ms", "--rate", "unlimited"];
        let few = ["--contestants", "adbc,odbc-block,crate", "--only", "integers"];
        let near = record(target, &bench(&url, &few));
        let far = record(target, &bench(&url, &[&few[..], &link].concat()));
        let case = |record: &Record| record.samples[0].case.clone();
        assert!(case(&near).starts_with("loopback, "), "{}", case(&near));
        assert!(case(&far).starts_with("link, "), "{}", case(&far));
        assert!(far.samples.iter().all(|sample| sample.values["wall_s"] > 0.002));
        assert_eq!(far.head.environment["link_round_trip_ms"], 2.0);
        let compressed = bench(&url, &[&few[..], &["--compress"]].concat());
        let arguments: Vec<&str> = compressed.iter().map(String::as_str).collect();
        let outcome = firearrow(target, &arguments);
        match outcome.code {
            0 => assert!(outcome.text().contains("loopback, zlib")),
            _ => drop(outcome.failure(1, &["does not offer compression"])),
        }
    },
    fn what_does_not_fit_together_is_refused(target: &Target) {
        let url = target.fresh_url();
        for (arguments, text) in [
            (&[][..], "<URL>"),
            (&[url.as_str(), "--odbc", "DSN=x", "--sql", "SELECT 1"], "cannot be used with"),
            (&["--odbc", "DSN=x"], "--sql"),
            (&["--odbc", "DSN=x", "--sql", "SELECT 1", "--link"], "cannot be used with"),
            (&["--adbc-driver", "x", "--adbc-option", "y", "--sql", "SELECT 1"], "give KEY=VALUE"),
            (&[url.as_str(), "--smoke", "--rows", "5"], "cannot be used with"),
            (&[url.as_str(), "--sql", "SELECT 1", "--only", "wide"], "cannot be used with"),
            (&[url.as_str(), "--rtt", "5ms"], "--link"),
            (
                &[url.as_str(), "--contestants", "adbc,nobody"],
                "unknown contestant nobody; choose from adbc, ",
            ),
        ] {
            plain(&[&["bench", "driver"], arguments].concat()).failure(2, &[text]);
        }
    },
);

matrix!(
    [embedded_5_0],
    fn an_engine_in_this_process_needs_no_link(target: &Target) {
        let arguments = bench(&target.fresh_url(), &["--link", "--contestants", "adbc"]);
        failure(target, &arguments, 2, &["needs no link"]);
    },
    /// A data source that is not Firebird.
    fn sqlite_takes_part_through_odbc(target: &Target) -> Result<(), Skip> {
        let driver = ["x86_64-linux-gnu/odbc/libsqlite3odbc.so", "aarch64-linux-gnu/odbc/libsqlite3odbc.so"]
            .map(|path| Path::new("/usr/lib").join(path));
        let Some(driver) = driver.iter().find(|path| path.exists()) else {
            return Err(skip(target, "no SQLite through ODBC: install libsqliteodbc"));
        };
        let folder = tempfile::tempdir().unwrap();
        let odbc = format!("DRIVER={};Database={}", driver.display(), folder.path().join("x.db").display());
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) \
                   SELECT i, i * 0.5 AS f, 'Zoë ' || i AS t, NULLIF(i % 3, 0) AS m FROM n";
        let words = ["--contestants", "odbc-block,odbc-rows,odbc-cells", "--iterations", "2", "--json"];
        let outcome =
            plain(&[&["bench", "driver", "--odbc", &odbc, "--sql", sql], &words[..]].concat()).success();
        let record = Record::parse("r", outcome.text()).unwrap();
        assert_eq!(names(&record, "query").len(), 3);
        assert!(record.samples.iter().all(|sample| sample.values["rows"] == 200.0));
        Ok(())
    },
);

matrix!(
    [firebird_5_0, firebird_4_0, firebird_3_0, embedded_5_0],
    /// The rivals in Python that the environment of the tests has.
    fn rivals_in_python_find_every_cell(target: &Target) -> Result<(), Skip> {
        let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv-python/bin/python");
        let has = |module: &str| Command::new(&python).args(["-c", &format!("import {module}")]).output();
        if !has("pyodbc, arrow_odbc, numpy").is_ok_and(|output| output.status.success()) {
            return Err(skip(target, "no pyodbc, arrow-odbc and numpy in .venv-python"));
        }
        let url = target.fresh_url();
        let more = ["--python", argument(&python), "--contestants", "adbc,pyodbc,arrow-odbc,turbodbc"];
        let record = record(target, &bench(&url, &more));
        for table in ["wide", "integers", "decimals", "blobs", "empty"] {
            let found = names(&record, table);
            for name in [OURS, "pyodbc (firearrow ODBC)", "arrow-odbc (firearrow ODBC)"] {
                assert!(found.contains(name), "{table}, {name}: {:?}", missing(&record));
            }
        }
        Ok(())
    },
);

matrix!(
    [firebird_4_0],
    fn what_was_measured_is_kept_whatever_ends_the_run(target: &Target) {
        let url = demo(target, "300");
        let folder = tempfile::tempdir().unwrap();
        // It says nothing of the second subject.
        let script = "case \"$job\" in *EMPTY*) exec sleep 600;; esac; echo '{\"error\":\"not today\"}'";
        let python = pretender(folder.path(), script);
        let runs = folder.path().join("runs");
        let more =
            ["--only", "integers,empty", "--contestants", "adbc,pyodbc", "--python", argument(&python)];
        let save = ["--save", argument(&runs)];
        let arguments = bench(&url, &[&more[..], &save].concat());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let limited = [&["--timeout", "20s"], &arguments[..]].concat();
        firearrow(target, &limited).failure(124, &["saved in "]);
        let saved: Vec<PathBuf> = fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().path()).collect();
        let text = fs::read_to_string(saved[0].join("raw.jsonl")).unwrap();
        let record = Record::parse("r", text).unwrap();
        assert!(!record.is_complete());
        assert_eq!(names(&record, "integers"), BTreeSet::from([OURS]));
        let told = missing(&record).join("\n");
        assert!(told.contains("empty: the run ended before all of it was measured"), "{told}");
    },
    fn what_cannot_be_kept_is_found_first_and_a_full_page_loses_nothing(target: &Target) {
        let url = demo(target, "300");
        let folder = tempfile::tempdir().unwrap();
        let few = ["--only", "integers", "--contestants", "adbc"];
        let with = |more: &[&str]| bench(&url, &[&few[..], more].concat());
        failure(target, &with(&["--save", "/proc/nope"]), 1, &["/proc/nope"]);
        failure(target, &with(&["--output", "/no/such/folder/page"]), 1, &["/no/such/folder/page"]);
        let runs = folder.path().join("runs");
        let full = with(&["--save", argument(&runs), "--output", "/dev/full"]);
        failure(target, &full, 1, &["/dev/full", "saved in "]);
        let saved = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
        let text = fs::read_to_string(saved.join("raw.jsonl")).unwrap();
        assert!(Record::parse("r", text).unwrap().is_complete());
        // Who only counts is compared by its rows alone.
        let counted = bench(&url, &["--only", "integers", "--contestants", "adbc-count"]);
        let record = record(target, &counted);
        assert_eq!(
            record.end.as_ref().unwrap().checks,
            ["integers: only numbers of rows, since nobody hashed cells"]
        );
    },
);

/// A signal ends the contestants as well.
#[test]
fn contestants_end_with_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!(r#"echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600"#, mark.display());
    let python = pretender(folder.path(), &script);
    let more = ["--odbc", "x", "--sql", "x", "--contestants", "pyodbc", "--python", argument(&python)];
    let mut command = prepare(None, &[&["bench", "driver"], &more[..]].concat());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    while !mark.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let id = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(id, nix::sys::signal::Signal::SIGTERM).unwrap();
    let outcome = finish(child.wait_with_output().unwrap());
    assert_eq!(outcome.code, 143, "{}", outcome.stderr);
    let contestant = fs::read_to_string(&mark).unwrap();
    let folder = Path::new("/proc").join(contestant.trim());
    for _ in 0..500 {
        if !folder.exists() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("the contestant lives on");
}
