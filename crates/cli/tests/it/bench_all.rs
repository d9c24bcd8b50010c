//! `firearrow bench all`

use crate::command::{argument, firearrow, prepare};
use firearrow_report::Record;
use firearrow_testkit::{Target, matrix};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// The only folder in a folder.
fn only(folder: &Path) -> PathBuf {
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// The records of a run, by the folder of each.
fn records(folder: &Path) -> BTreeMap<String, Record> {
    let folders =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    let read = |path: PathBuf| {
        let text = fs::read_to_string(path.join("raw.jsonl")).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, Record::parse("the record", text).unwrap())
    };
    folders.map(read).collect()
}

matrix!(
    [firebird_4_0, embedded_5_0],
    fn every_suite_is_measured_or_named(target: &Target) {
        let url = target.fresh_url();
        let folder = tempfile::tempdir().unwrap();
        // Only drivers that are beside the command are measured, which depends on what has been built.
        let suites =
            ["--only", "fetch,insert,wire,blob,driver,oltp", "--profile", "tiny", "--python", "/nowhere"];
        let save = ["--save", argument(folder.path()), "--no-reference", "--json"];
        let outcome = firearrow(target, &[&["bench", "all", &url], &suites[..], &save].concat()).success();
        assert!(outcome.stderr.contains("[1/6] fetch: Reading whole results"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("[6/6] oltp: "), "{}", outcome.stderr);
        let run = only(folder.path());
        let records = records(&run);
        let names: Vec<&str> = records.keys().map(String::as_str).collect();
        assert_eq!(names, ["blob", "driver", "fetch", "insert", "oltp", "oltp-compare", "wire"]);
        let page = fs::read_to_string(run.join("report.html")).unwrap();
        let json = outcome.json();
        let state = |name: &str| {
            let suites = json["suites"].as_array().unwrap();
            suites.iter().find(|suite| suite["suite"] == name).unwrap()["state"].as_str().unwrap().to_owned()
        };
        for name in ["fetch", "insert", "oltp"] {
            assert_eq!(state(name), "measured");
            assert!(records[name].is_complete() && !records[name].samples.is_empty(), "{name}");
        }
        assert_eq!(state("driver"), "measured");
        let driver = &records["driver"];
        assert!(driver.is_complete() && !driver.samples.is_empty());
        let missing = &driver.end.as_ref().unwrap().missing;
        assert!(missing.iter().any(|line| line.starts_with("firebird-driver: ")), "{missing:?}");
        // The client library was not wanted, which the record says.
        assert!(!records["oltp-compare"].is_complete());
        assert!(page.contains("Missing: libfbclient: --no-reference"));
        let has_network = matches!(target, Target::Wire(_));
        for name in ["wire", "blob"] {
            assert_eq!(state(name), if has_network { "measured" } else { "unavailable" });
            assert_eq!(records[name].is_complete(), has_network);
            assert_eq!(page.contains(&format!("Missing: {name}, which cannot run here: ")), !has_network);
            assert_eq!(outcome.stderr.contains(&format!("{name}: cannot run here: ")), !has_network);
        }
        // One page has all of it, and `bench report` reads the folders.
        for title in ["Reading whole results", "Inserting many rows", "BLOBs over a slow network"] {
            assert!(page.contains(title), "{title}");
        }
        let fetched = run.join("fetch");
        firearrow(target, &["bench", "report", argument(&fetched)]).success();
        let outcome = firearrow(target, &["bench", "all", &url, "--only", "fetch,fech"]);
        outcome.failure(2, &["unknown suite fech; choose from fetch, insert"]);
    }
);

matrix!(
    [firebird_4_0],
    fn an_interrupted_run_keeps_what_it_has(target: &Target) {
        let url = target.fresh_url();
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["bench", "all", &url, "--profile", "tiny", "--only", "fetch,insert,blob,oltp"];
        let save = ["--save", argument(folder.path()), "--no-reference"];
        let mut command = prepare(Some(target), &[&arguments[..], &save].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Interrupt it once the first suite is there.
        let started = Instant::now();
        let is_there = || {
            let runs = fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path());
            runs.into_iter().any(|run| {
                let text = fs::read_to_string(run.join("insert/raw.jsonl"));
                text.is_ok_and(|text| Record::parse("it", text).is_ok_and(|record| record.is_complete()))
            })
        };
        while !is_there() {
            assert!(started.elapsed() < Duration::from_secs(120), "the first suites take long");
            thread::sleep(Duration::from_millis(20));
        }
        kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(130), "{errors}");
        assert!(errors.contains("keeping records in "), "{errors}");
        let run = only(folder.path());
        let records = records(&run);
        assert!(records["fetch"].is_complete() && records["insert"].is_complete());
        assert!(!records["oltp"].is_complete());
        let page = fs::read_to_string(run.join("report.html")).unwrap();
        assert!(page.contains("Missing: oltp: the run was interrupted before it"), "{errors}");
    }
);
