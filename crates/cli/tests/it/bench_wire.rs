//! `firearrow bench wire`

use crate::command::{Outcome, argument, demo, finish, firearrow, prepare};
use firearrow_report::Record;
use firearrow_testkit::{Generation, Server, Target, matrix};
use serde_json::Value;
use std::fs;
use std::io::{Write, stderr};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A small run of some parts.
fn bench(target: &Target, url: &str, more: &[&str]) -> Outcome {
    firearrow(target, &[&["bench", "wire", url, "--quick", "--rtt", "2ms"], more].concat())
}

fn table<'a>(report: &'a Value, name: &str) -> &'a Value {
    let tables = report["tables"].as_array().unwrap();
    tables.iter().find(|table| table["table"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
}

fn cases(table: &Value) -> Vec<&str> {
    table["cases"].as_array().unwrap().iter().map(|case| case["name"].as_str().unwrap()).collect()
}

matrix!(
    wire,
    fn every_part_is_measured(target: &Target) {
        // The database does not exist yet: it is made.
        let url = target.fresh_url();
        let sizes = ["--rows", "1500", "--link-rows", "400", "--insert-rows", "700", "--repeat", "2"];
        let report =
            bench(target, &url, &[&sizes[..], &["--no-reference", "--json"]].concat()).success().json();
        assert_eq!(report["environment"]["no_reference"], "--no-reference");
        assert_eq!(
            report["link"],
            serde_json::json!({ "round_trip_s": 0.002, "rate_bit_per_s": 71_000_000 })
        );
        let process = target.server().process_id();
        let name = fs::read_to_string(format!("/proc/{process}/comm")).unwrap();
        assert_eq!(report["server_process"], name.trim(), "the process that computes is found");
        let cipher = match target.generation() {
            Generation::V3_0 => "Arc4",
            _ => "ChaCha64",
        };
        for (name, rows) in [("fetch-direct-T_WIDE", 1500), ("fetch-direct-T_INT10", 1500), ("insert", 700)] {
            for case in table(&report, name)["cases"].as_array().unwrap() {
                let ours = case["ours"].as_array().unwrap();
                assert_eq!(ours.len(), 2);
                for sample in ours {
                    assert_eq!(sample["rows"], rows);
                    assert!(sample["server_cpu_s"].as_f64() >= Some(0.0), "{sample}");
                    assert!(sample["round_trips"].as_u64() >= Some(3), "{sample}");
                }
            }
        }
        assert_eq!(cases(table(&report, "fetch-direct-T_WIDE")), [cipher, "plain"]);
        assert_eq!(cases(table(&report, "insert")), ["loopback", "link"]);

        let link = table(&report, "fetch-link-T_WIDE");
        assert_eq!(cases(link), ["plain", cipher, "zlib"]);
        let figure = |case: usize, key: &str| link["cases"][case]["medians"][key].as_f64().unwrap();
        for case in 0..3 {
            assert_eq!(link["cases"][case]["ours"][0]["rows"], 400);
            assert!(link["cases"][case]["ours"][0]["cpu_s"].is_null(), "the link's own would be in it");
            assert!((0.0..1.0).contains(&figure(case, "ours_link_share")), "{link}");
        }
        assert!(figure(2, "ours_bytes_received") < figure(0, "ours_bytes_received") / 2.0, "{link}");

        let blobs = table(&report, "blobs-link");
        let inline = target.generation() >= Generation::V5_0;
        let expected = ["asked for", "with their rows", "never read"];
        let expected = expected.into_iter().filter(|name| inline || !name.contains("rows"));
        assert_eq!(cases(blobs), expected.collect::<Vec<_>>());
        assert_eq!(blobs["cases"][0]["ours"][0]["rows"], 1000);
        let received = |case: &Value| case["medians"]["ours_bytes_received"].as_f64().unwrap();
        let (asked, unread) = (&blobs["cases"][0], blobs["cases"].as_array().unwrap().last().unwrap());
        assert!(
            received(asked) > 3_300_000.0 && received(unread) < 100_000.0,
            "what is not wanted stays: {blobs}"
        );
        assert!(blobs["title"].as_str().unwrap().contains("contents right"));

        let statements = table(&report, "statements");
        let trips = |name: &str| {
            let case = statements["cases"].as_array().unwrap().iter().find(|case| case["name"] == name);
            case.unwrap_or_else(|| panic!("{statements}"))["medians"]["ours_round_trips"].as_f64().unwrap()
        };
        assert!(trips("loopback: connect") >= 2.0, "{statements}");
        assert_eq!(trips("loopback: prepared statement"), 1.0);
        assert_eq!(trips("loopback: known SQL"), 1.0);
        assert!(trips("loopback: new SQL") <= 2.0);
        for link in statements["cases"].as_array().unwrap().iter().skip(5) {
            // Each round trip takes that at least.
            let (wall, trips) = (&link["medians"]["ours_wall_s"], &link["medians"]["ours_round_trips"]);
            assert!(wall.as_f64().unwrap() >= trips.as_f64().unwrap() * 0.002, "{link}");
        }
        let other = target.fresh_url();
        let small = bench(target, &other, &["--only", "small", "--no-reference"]).success();
        let text = small.text();
        assert!(
            !text.contains("link: ") && !text.contains("ratio\n") && !text.contains("speed ratio"),
            "{text}"
        );
        assert!(text.contains("plain: not encrypted") && !small.stderr.contains("T_WIDE"), "{text}");
        let wide = bench(target, &other, &["--only", "link", "--no-reference"]).success();
        let told = "T_WIDE is missing: creating it with 2,000 rows";
        assert!(wide.stderr.contains(told) && !wide.stderr.contains("T_BLOB"), "{}", wide.stderr);
        // Nothing is left behind, and the second time the tables are there.
        let left = "SELECT COUNT(*) FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = 'FIREARROW_BENCH'";
        let left = firearrow(target, &["query", &url, left, "--format", "csv"]).success();
        assert_eq!(left.text().lines().last(), Some("0"));
        let text = bench(target, &url, &["--only", "statements", "--no-reference"]).success();
        assert!(text.text().contains("Small statements, results right, 1 repetition\n"), "{}", text.text());
        assert!(!text.text().contains("T_WIDE"), "{}", text.text());
    },
    fn wrong_rows_have_no_figures(target: &Target) {
        let url = demo(target, "300");
        let change = |sql: &str| firearrow(target, &["query", &url, sql]).success();
        change("UPDATE T_INT10 SET C2 = 0 WHERE C1 = 5");
        change("UPDATE T_BLOB SET DOC = 'x' WHERE ID = 9");
        let outcome = bench(target, &url, &["--only", "fetch,blobs", "--no-reference"]);
        let outcome = outcome.failure(1, &["T_INT10", "C2", "T_BLOB", "DOC", "withheld", "2 of 3"]);
        assert!(
            outcome.text().contains("T_WIDE, loopback: 300 rows × 22 columns, checksums right"),
            "{outcome:?}"
        );
        assert!(!outcome.text().contains("T_INT10, ") && !outcome.text().contains("BLOBs of"), "{outcome:?}");
        change("UPDATE T_WIDE SET V8 = 'x' WHERE ID = 77");
        let outcome = bench(target, &url, &["--only", "link", "--no-reference"]);
        outcome.failure(1, &["T_WIDE", "V8", "checksum"]);
    },
    fn the_client_library_is_compared_with(target: &Target) {
        let peer = Path::new(env!("CARGO_BIN_EXE_firearrow")).with_file_name("firearrow-peer-libfb");
        let Some(client) = target.server().client_library().filter(|_| peer.is_file()) else {
            // Past the capture of the test harness: a skip must be seen.
            let _ = writeln!(
                stderr(),
                "SKIP the_client_library_is_compared_with on {target}: build firearrow-peers"
            );
            return;
        };
        let url = demo(target, "30");
        let arguments = ["--reference-client", argument(client), "--repeat", "2", "--json"];
        let report = bench(target, &url, &arguments).success().json();
        for (name, turns) in
            [("fetch-direct-T_WIDE", 2), ("fetch-link-T_WIDE", 2), ("insert", 2), ("blobs-link", 1)]
        {
            let case = &table(&report, name)["cases"][0];
            assert_eq!(case["reference"].as_array().unwrap().len(), turns, "{name}");
            assert!(case["medians"]["speed_ratio"].as_f64() > Some(0.0), "{case}");
            // Libraries from 5.0.2 on count.
            let counts = target.generation() >= Generation::V5_0;
            assert_eq!(case["reference"][0]["round_trips"].is_u64(), counts, "{case}");
        }
        let unread = table(&report, "blobs-link")["cases"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&unread["name"], unread["reference"][0]["rows"].as_u64()),
            (&"never read".into(), Some(30))
        );
        assert!(unread["medians"]["speed_ratio"].as_f64() > Some(0.0), "{unread}");
        let connect = &table(&report, "statements")["cases"][0];
        assert!(connect["medians"]["speed_ratio"].as_f64() > Some(0.0), "{connect}");
    },
    fn a_reference_that_does_less_is_noticed(target: &Target) {
        let url = demo(target, "20");
        let folder = tempfile::tempdir().unwrap();
        let peer = folder.path().join("peer");
        let line = r#"{"rows":19,"connect_s":0.001,"execute_s":0.001,"first_row_s":0.001,"drain_s":0.005,"release_s":0.001,"cpu_user_s":0.002,"cpu_sys_s":0.001}"#;
        fs::write(&peer, format!("#!/bin/sh\necho '{line}'\n")).unwrap();
        fs::set_permissions(&peer, fs::Permissions::from_mode(0o755)).unwrap();
        let arguments = ["bench", "wire", &url, "--quick", "--only", "link"];
        let reference = ["--reference-client", "/somewhere/libfbclient.so.2"];
        let mut command = prepare(Some(target), &[&arguments[..], &reference].concat());
        let outcome = finish(command.env("FIREARROW_PEER", &peer).output().unwrap());
        outcome.failure(1, &["19 rows, not 20", "withheld"]);
    }
);

matrix!(
    [firebird_5_0],
    fn runs_are_kept(target: &Target) {
        let url = demo(target, "20");
        let folder = tempfile::tempdir().unwrap();
        let save = ["--only", "link", "--repeat", "3", "--no-reference", "--save", argument(folder.path())];
        let outcome = bench(target, &url, &save).success();
        assert!(outcome.stderr.contains("saved in "), "{}", outcome.stderr);
        let run = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap();
        assert!(run.file_name().to_str().unwrap().ends_with("-wire-firebird-5.0"), "{run:?}");
        let raw = fs::read_to_string(run.path().join("raw.jsonl")).unwrap();
        let record = Record::parse("the record", &raw).unwrap();
        assert_eq!((record.samples.len(), record.is_complete()), (3 * 3, true));
        assert!(record.head.environment["engine"].is_string());
        let third = &record.samples[2];
        assert_eq!(
            (third.case.as_str(), third.contestant.as_str(), third.repetition),
            ("plain", "firearrow", 3)
        );
        let report = fs::read_to_string(run.path().join("report.md")).unwrap();
        assert!(
            report.starts_with("# firearrow bench wire\n") && report.contains("| zlib | ours |"),
            "{report}"
        );
        let database = url.rsplit('/').next().unwrap();
        assert!(!raw.contains(database) && !report.contains(database), "reports name no paths");
    },
    fn a_server_that_demands_encryption_is_not_measured_without(target: &Target) {
        let config = firearrow_testkit::ServerConfig {
            wire_crypt: firearrow_testkit::WireCrypt::Required,
            ..Default::default()
        };
        let server = Server::start_with(target.generation(), &config).unwrap();
        let outcome = bench(target, &server.url("crypt"), &["--only", "link", "--no-reference"]).success();
        let text = outcome.text();
        assert!(text.contains("ChaCha64  ours") && !text.contains("plain  "), "{text}");
        assert!(text.contains("plain: not measured; "), "{text}");
    }
);

matrix!(
    embedded,
    fn an_engine_in_process_is_refused(target: &Target) {
        bench(target, &target.fresh_url(), &[]).failure(2, &["measures servers", "bench fetch"]);
    }
);
