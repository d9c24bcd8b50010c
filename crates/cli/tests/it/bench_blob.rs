//! `firearrow bench blob`

use crate::command::{argument, demo, finish, firearrow, prepare};
use firearrow_report::{OURS, Record};
use firearrow_testkit::{Target, matrix};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const QUICK: [&str; 8] = ["--rtt", "1ms", "--rate", "unlimited", "--repeat", "2", "--no-reference", "--rows"];

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0],
    fn a_table_of_somebody_else_is_left_alone(target: &Target) {
        let url = demo(target, "10");
        let query = |sql: &str| firearrow(target, &["query", &url, sql]).success();
        query("CREATE TABLE BLOB_SAMPLE (ID INTEGER, MINE VARCHAR(10))");
        query("INSERT INTO BLOB_SAMPLE VALUES (1, 'precious')");
        let arguments = [&["bench", "blob", &url], &QUICK[..], &["60"]].concat();
        firearrow(target, &arguments).failure(1, &["BLOB_SAMPLE exists, and its columns", "drop it"]);
        assert!(query("SELECT MINE FROM BLOB_SAMPLE").text().contains("precious"));
    },
    fn every_strategy_finds_every_content(target: &Target) {
        let url = target.fresh_url();
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.html");
        let output = ["--save", argument(folder.path()), "--output", argument(&page)];
        let outcome =
            firearrow(target, &[&["bench", "blob", &url], &QUICK[..], &["60"], &output].concat()).success();
        let text = outcome.text();
        assert!(text.contains("Q6: BLOBs that nobody reads"), "{text}");
        assert!(text.contains("link: round trip 1ms") && text.contains("smoke test"), "{text}");
        let record = saved(folder.path());
        assert!(record.is_complete());
        assert_eq!(record.tables.len(), 6);
        let of = |table: &str| -> Vec<_> {
            record.samples.iter().filter(|sample| sample.table == table).collect()
        };
        let who = |table: &str| -> BTreeSet<&str> {
            of(table).iter().map(|sample| sample.contestant.as_str()).collect()
        };
        let mut expected = BTreeSet::from([OURS, "firearrow, pipelined", "firearrow, one by one"]);
        let has_inline = record.head.environment["transport"] == "TCP, protocol 19";
        expected.extend(has_inline.then_some("firearrow, inline to 65535"));
        assert_eq!(who("q1-blob_test"), expected);
        assert_eq!(who("q2-blob_test"), BTreeSet::from([OURS]));
        // The same texts, whichever way they travel; those one by one take a round trip each.
        for sample in of("q1-blob_test").into_iter().chain(of("q2-blob_test")) {
            assert_eq!(sample.values["record_count"], 60.0);
            let trips = sample.values["roundtrips"];
            assert_eq!(
                trips > 60.0,
                sample.contestant == "firearrow, one by one",
                "{}: {trips}",
                sample.contestant
            );
        }
        assert!(fs::read_to_string(page).unwrap().contains("<svg"));

        // The second time the tables are there; a content that is wrong withholds the figures.
        let update = "UPDATE BLOB_TEST SET CONTENT = OVERLAY(CONTENT PLACING '#' FROM 5 FOR 1) WHERE ID = 3";
        let connection = firearrow::Connection::connect(&url).unwrap();
        connection.execute(update).unwrap();
        connection.close().unwrap();
        let runs = tempfile::tempdir().unwrap();
        let arguments = ["bench", "blob", &url, "--save", argument(runs.path()), "--only", "Q2,Q3,q2"];
        let wrong = [&arguments, &QUICK[..], &["60"]].concat();
        firearrow(target, &wrong).failure(1, &["the figures are withheld"]);
        // What came before is kept, with the reason, and what was named twice was measured once.
        let record = saved(runs.path());
        assert!(!record.is_complete());
        let missing = record.end.unwrap().missing;
        assert!(missing.len() == 1 && missing[0].contains("the figures are withheld"), "{missing:?}");
        assert_eq!(record.samples.len(), 2 * 2);
        firearrow(target, &[&wrong[..], &["--only", "Q7"]].concat()).failure(2, &["unknown query Q7"]);
    }
);

/// The record of the only run in a folder.
fn saved(folder: &Path) -> Record {
    let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let run = entries.find(|path| path.is_dir()).expect("a run");
    Record::parse("the record", fs::read_to_string(run.join("raw.jsonl")).unwrap()).unwrap()
}

matrix!(
    [firebird_4_0, firebird_5_0],
    fn a_library_that_fails_has_no_figures(target: &Target) {
        let url = target.fresh_url();
        let folder = tempfile::tempdir().unwrap();
        let (peer, runs) = (folder.path().join("peer"), folder.path().join("runs"));
        // The third time it finds a row less.
        let program = r#"#!/bin/sh
echo >>"$0.count"
rows=60
[ "$(wc -l <"$0.count")" -lt 3 ] || rows=59
echo "{\"rows\":$rows,\"connect_s\":0.001,\"execute_s\":0.001,\"first_row_s\":0.001,\"drain_s\":0.005,\"release_s\":0.001,\"cpu_user_s\":0.002,\"cpu_sys_s\":0.001}"
"#;
        fs::write(&peer, program).unwrap();
        fs::set_permissions(&peer, fs::Permissions::from_mode(0o755)).unwrap();
        let arguments =
            ["bench", "blob", &url, "--only", "Q2", "--rtt", "1ms", "--rate", "unlimited", "--rows", "60"];
        let more = [
            "--repeat",
            "4",
            "--compression",
            "off,off",
            "--reference-client",
            "/somewhere/libfbclient.so.2",
        ];
        let all = [&arguments[..], &more, &["--save", argument(&runs)]].concat();
        let mut command = prepare(Some(target), &all);
        let outcome = finish(command.env("FIREARROW_PEER", &peer).output().unwrap()).success();
        assert!(
            outcome.stderr.contains("not measured: Q2, not compressed, libfbclient: 59 rows"),
            "{}",
            outcome.stderr
        );
        let record = saved(&runs);
        assert!(!record.is_complete());
        assert!(record.samples.iter().all(|sample| sample.contestant == OURS), "{:?}", record.samples);
        assert_eq!(record.samples.len(), 4);
    }
);

matrix!(
    [embedded_5_0],
    fn an_embedded_engine_has_no_network(target: &Target) {
        firearrow(target, &["bench", "blob", &target.fresh_url()]).failure(2, &["has no network"]);
    }
);
