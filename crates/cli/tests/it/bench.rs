//! `firearrow bench fetch`

use crate::command::{argument, demo, finish, firearrow, prepare};
use firearrow_report::Record;
use firearrow_testkit::{Target, matrix};
use std::fs;
use std::io::{Write, stderr};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0, embedded_3_0, embedded_4_0, embedded_5_0],
    fn demo_tables_pass_their_checks(target: &Target) {
        let url = demo(target, "1000");
        let report =
            firearrow(target, &["bench", "fetch", &url, "--repeat", "2", "--json", "--no-reference"])
                .success()
                .json();
        let tables = report["tables"].as_array().unwrap();
        let names: Vec<_> = tables.iter().map(|table| table["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["T_WIDE", "T_INT10", "T_VC5", "T_BLOB"]);
        for table in tables {
            assert_eq!(table["rows"], 1000);
            assert_eq!(table["checksums_verified"], true);
            let ours = table["ours"].as_array().unwrap();
            assert_eq!(ours.len(), 2);
            assert_eq!(ours[0]["wire"].is_object(), matches!(target, Target::Wire(_)));
            assert!(table["medians"]["ours_rows_per_second"].as_f64() > Some(0.0));
            assert!(table["medians"]["reference_total_s"].is_null());
        }
        assert!(report["environment"]["no_reference"].is_string());
    },
    fn wrong_values_are_noticed(target: &Target) {
        let url = demo(target, "300");
        let bench =
            |table: &str| firearrow(target, &["bench", "fetch", &url, "--tables", table, "--repeat", "1"]);
        let change = |sql: &str| firearrow(target, &["query", &url, sql]).success();

        change("UPDATE T_WIDE SET V8 = 'x' WHERE ID = 77");
        let outcome = bench("t_wide").failure(1, &["T_WIDE", "V8", "checksum", "withheld"]);
        assert!(!outcome.text().contains("rows/s"), "{}", outcome.text());
        change("DELETE FROM T_INT10 WHERE C1 = 5");
        bench("T_INT10").failure(1, &["299 rows were read, 300 were made"]);
        change("UPDATE T_BLOB SET DOC = NULL WHERE ID = 9");
        bench("T_BLOB").failure(1, &["DOC"]);
        // One that is right is measured nevertheless.
        let outcome = bench("T_WIDE,T_VC5").failure(1, &["T_WIDE"]);
        assert!(
            outcome.text().contains("T_VC5: 300 rows × 5 columns, checksums right"),
            "{}",
            outcome.text()
        );
        change("DELETE FROM FIREARROW_DEMO WHERE TABLE_NAME = 'T_VC5'");
        bench("T_VC5").failure(1, &["create-demo"]);
    }
);

matrix!(
    all,
    fn the_real_reference_reads_the_same(target: &Target) {
        let peer = Path::new(env!("CARGO_BIN_EXE_firearrow")).with_file_name("firearrow-peer-libfb");
        if !peer.is_file() {
            // Past the capture of the test harness: a skip must be seen.
            let _ = writeln!(stderr(), "SKIP the_real_reference_reads_the_same: build firearrow-peers first");
            return;
        }
        let url = demo(target, "1000");
        let mut arguments = vec!["bench", "fetch", &url, "--repeat", "1", "--json"];
        let client = match target {
            Target::Wire(server) => server.client_library(),
            Target::Embedded(_) => None,
        };
        if let Some(client) = client {
            arguments.extend(["--reference-client", argument(client)]);
        }
        let report = firearrow(target, &arguments).success().json();
        for table in report["tables"].as_array().unwrap() {
            let has_reference = client.is_some() || matches!(target, Target::Embedded(_));
            assert_eq!(table["reference"].as_array().unwrap().len(), usize::from(has_reference));
        }
    }
);

matrix!(
    [firebird_5_0, embedded_5_0],
    fn any_query_can_be_measured_and_kept(target: &Target) {
        let url = demo(target, "200");
        let folder = tempfile::tempdir().unwrap();
        let sql = "SELECT ID, V200 FROM T_WIDE WHERE ID <= 150";
        let save = ["--save", argument(folder.path()), "--consume", "--batch-rows", "64", "--no-reference"];
        let arguments = [&["bench", "fetch", &url, "--sql", sql, "--repeat", "3"], &save[..]].concat();
        let outcome = firearrow(target, &arguments).success();
        assert!(outcome.text().contains("150 rows × 2 columns, no checksums known"), "{}", outcome.text());
        firearrow(target, &arguments).success();

        let mut runs: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        assert_eq!(runs.len(), 2, "an earlier run is left alone");
        let raw = fs::read_to_string(runs[0].join("raw.jsonl")).unwrap();
        let record = Record::parse("the record", &raw).unwrap();
        assert_eq!((record.samples.len(), record.is_complete()), (3, true));
        assert!(record.head.environment["engine"].is_string());
        let last = &record.samples[2];
        assert_eq!((last.contestant.as_str(), last.repetition, last.values["rows"]), ("firearrow", 3, 150.0));
        let report = fs::read_to_string(runs[0].join("report.md")).unwrap();
        assert!(report.contains(sql) && report.contains("| drain |"), "{report}");
        let database = url.rsplit('/').next().unwrap();
        assert!(!raw.contains(database) && !report.contains(database), "reports name no paths");
    },
    fn tables_of_others_are_left_alone(target: &Target) {
        let url = demo(target, "10");
        let insert = ["bench", "insert", &url, "--rows", "100", "--repeat", "1"];
        let query = |sql: &str| firearrow(target, &["query", &url, sql]).success();
        let columns = |kind: &str| (0..10).map(|at| format!("C{at} {kind}")).collect::<Vec<_>>().join(", ");
        let wide = columns("INTEGER") + ", MINE INTEGER";
        for columns in ["ID INTEGER, MINE VARCHAR(10)", &columns("BIGINT"), &wide] {
            query(&format!("RECREATE TABLE FIREARROW_BENCH ({columns})"));
            query("INSERT INTO FIREARROW_BENCH DEFAULT VALUES");
            firearrow(target, &insert).failure(1, &["FIREARROW_BENCH exists, and its columns", "drop it"]);
            let count =
                firearrow(target, &["query", &url, "SELECT COUNT(*) N FROM FIREARROW_BENCH", "--json"]);
            assert_eq!(count.success().json()["N"], 1);
        }
        // What an interrupted run has left is replaced. Beside the embedded engine there may be a reference, which has no
        // access while this command has.
        if let Target::Wire(_) = target {
            query(&format!("RECREATE TABLE FIREARROW_BENCH ({})", columns("INTEGER")));
            query("INSERT INTO FIREARROW_BENCH DEFAULT VALUES");
            firearrow(target, &insert).success();
        }
    },
    fn a_reference_that_inserts_other_rows_has_no_figures(target: &Target) {
        let url = demo(target, "10");
        let folder = tempfile::tempdir().unwrap();
        let peer = folder.path().join("peer");
        let line =
            r#"{"rows":99,"execute_s":0.001,"commit_s":0,"cpu_user_s":0,"cpu_sys_s":0,"work_user_s":0}"#;
        fs::write(&peer, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
        fs::set_permissions(&peer, fs::Permissions::from_mode(0o755)).unwrap();
        let arguments = ["bench", "insert", &url, "--rows", "100", "--repeat", "1"];
        let reference = ["--reference-client", "/somewhere/libfbclient.so.2"];
        let mut command = prepare(Some(target), &[&arguments[..], &reference].concat());
        let outcome = finish(command.env("FIREARROW_PEER", &peer).output().unwrap());
        outcome.failure(1, &["the reference inserted 99 rows, not 100; the figures are withheld"]);
    },
    fn options_have_bounds(target: &Target) {
        let most = u64::MAX.to_string();
        for (command, bounds) in [
            (["bench", "wire", "h:x", "--repeat"], "is not in 1..=1000000"),
            (["bench", "fetch", "h:x", "--repeat"], "is not in 1..=1000000"),
            (["oltp", "load", "h:x", "--workers"], "is not in 1..=64"),
            (["oltp", "campaign", "h:x", "--workers"], "is not in 1..=64"),
            (["oltp", "run", "h:x", "--terminals"], "is not in 1..=10000"),
            (["oltp", "compare", "h:x", "--repeat"], "is not in 1..=1000000"),
        ] {
            for value in [&*most, "0"] {
                firearrow(target, &[&command[..], &[value]].concat()).failure(2, &[bounds]);
            }
        }
    },
    fn reference_is_shown_beside_ours(target: &Target) {
        let url = demo(target, "100");
        let folder = tempfile::tempdir().unwrap();
        let peer = |rows: u32| {
            let path = folder.path().join("peer");
            let line = format!(
                r#"{{"rows":{rows},"connect_s":0.001,"execute_s":0.001,"first_row_s":0.001,"drain_s":0.005,"release_s":0.001,"cpu_user_s":0.002,"cpu_sys_s":0.001}}"#
            );
            fs::write(&path, format!("#!/bin/sh\nfor i in 1 2; do echo '{line}'; done\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let run = |peer: &Path| {
            let arguments = ["bench", "fetch", &url, "--tables", "T_INT10", "--repeat", "1"];
            let reference = ["--reference-client", "/somewhere/libfbclient.so.2"];
            let mut command = prepare(Some(target), &[&arguments[..], &reference].concat());
            finish(command.env("FIREARROW_PEER", peer).output().unwrap())
        };
        let outcome = run(&peer(100)).success();
        assert!(outcome.text().contains("5.00 ms (5.00 ms – 5.00 ms)"), "{}", outcome.text());
        assert!(outcome.text().contains("libfbclient.so.2"), "{}", outcome.text());
        assert!(!outcome.text().contains("/somewhere"), "{}", outcome.text());
        run(&peer(99)).failure(1, &["99 rows were read, not 100"]);
        run(Path::new("/nonexistent/peer")).failure(1, &["/nonexistent/peer"]);
    }
);
