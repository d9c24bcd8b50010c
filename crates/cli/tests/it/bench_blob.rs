//! `firearrow bench blob`

use crate::command::{argument, firearrow};
use firearrow_report::{OURS, Record};
use firearrow_testkit::{Target, matrix};
use std::collections::BTreeSet;
use std::fs;

const QUICK: [&str; 8] = ["--rtt", "1ms", "--rate", "unlimited", "--repeat", "2", "--no-reference", "--rows"];

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0],
    fn every_strategy_finds_every_content(target: &Target) {
        let url = target.fresh_url();
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page.html");
        let output = ["--save", argument(folder.path()), "--output", argument(&page)];
        let outcome =
            firearrow(target, &[&["bench", "blob", &url], &QUICK[..], &["60"], &output].concat()).success();
        assert!(outcome.text().contains("Q6: BLOBs that nobody reads"), "{}", outcome.text());
        let run = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.is_dir());
        let text = fs::read_to_string(run.unwrap().join("raw.jsonl")).unwrap();
        let record = Record::parse("the record", &text).unwrap();
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
        let wrong = [&["bench", "blob", &url, "--only", "Q3"], &QUICK[..], &["60"]].concat();
        firearrow(target, &wrong).failure(1, &["the figures are withheld"]);
        firearrow(target, &[&wrong[..], &["--only", "Q7"]].concat()).failure(2, &["there is no query Q7"]);
    }
);

matrix!(
    [embedded_5_0],
    fn an_embedded_engine_has_no_network(target: &Target) {
        firearrow(target, &["bench", "blob", &target.fresh_url()]).failure(2, &["has no network"]);
    }
);
