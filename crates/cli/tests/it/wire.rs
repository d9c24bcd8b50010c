//! `firearrow query --wire`

use crate::command::{demo, firearrow};
use firearrow_testkit::{Target, matrix};
use serde_json::Value;

/// The last line of standard error, which is for programs.
fn told(stderr: &str) -> Value {
    let line = stderr.lines().last().unwrap_or_default();
    let mut value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {stderr}"));
    value["wire"].take()
}

fn sum(wire: &Value, pointer: &str) -> u64 {
    let phases = wire.as_object().unwrap().iter().filter(|(name, _)| *name != "total");
    phases.map(|(_, phase)| phase.pointer(pointer).unwrap().as_u64().unwrap()).sum()
}

matrix!(
    wire,
    fn phases_tell_what_they_cost(target: &Target) {
        let url = demo(target, "3000");
        let sql = "SELECT * FROM T_WIDE";
        let outcome = firearrow(target, &["query", &url, sql, "--wire", "--json"]).success();
        assert_eq!(outcome.text().lines().count(), 3000, "rows go to standard output alone");
        let wire = told(&outcome.stderr);
        let trips = |phase: &str| wire[phase]["round_trips"].as_u64().unwrap();
        // A transaction and a statement together; execution and first fetch travel together, when rows are wanted.
        assert_eq!(trips("prepare"), 1, "{wire}");
        assert!(trips("connect") >= 2 && trips("execute") <= 1 && trips("first_row") >= 1, "{wire}");
        for pointer in [
            "/round_trips",
            "/logical/packets_sent",
            "/logical/packets_received",
            "/logical/bytes_sent",
            "/logical/bytes_received",
            "/physical/sends",
            "/physical/receives",
            "/physical/bytes_sent",
            "/physical/bytes_received",
        ] {
            assert_eq!(wire["total"].pointer(pointer), Some(&sum(&wire, pointer).into()), "{pointer}");
        }
        // Every row is a packet, and has more than 200 bytes.
        assert!(wire["total"]["logical"]["packets_received"].as_u64() > Some(3000), "{wire}");
        assert!(wire["total"]["logical"]["bytes_received"].as_u64() > Some(600_000), "{wire}");

        assert_eq!(wire["total"]["encrypted"], true, "{wire}");
        let zlib = format!("{url}?compress=true");
        let outcome = firearrow(target, &["query", &zlib, sql, "--wire", "--json"]).success();
        let total = &told(&outcome.stderr)["total"];
        let bytes = |kind: &str| total[kind]["bytes_received"].as_u64().unwrap();
        assert!(bytes("physical") < bytes("logical") / 2, "{total}");
    },
    fn phases_are_a_table_for_people(target: &Target) {
        let url = demo(target, "1");
        let outcome = firearrow(target, &["query", &url, "SELECT ID FROM T_WIDE", "--wire"]).success();
        assert!(!outcome.text().contains("round trips"), "{}", outcome.text());
        let lines: Vec<&str> =
            outcome.stderr.lines().skip_while(|line| !line.contains("round trips")).collect();
        assert!(outcome.stderr.contains("the connection is encrypted"), "{}", outcome.stderr);
        let plain = format!("{url}?wire_crypt=disabled");
        let plain = firearrow(target, &["query", &plain, "SELECT ID FROM T_WIDE", "--wire"]).success();
        assert!(plain.stderr.contains("in clear text"), "{}", plain.stderr);
        let names: Vec<&str> = lines.iter().map(|line| line[2..].split("  ").next().unwrap()).collect();
        let phases = ["connect", "prepare", "execute", "first row", "rest", "total"];
        assert_eq!(names, [&["wire"], &phases[..]].concat(), "{}", outcome.stderr);
        let quiet = firearrow(target, &["query", &url, "SELECT ID FROM T_WIDE"]).success();
        assert!(!quiet.stderr.contains("round trips"), "{}", quiet.stderr);
    },
    fn clear_text_is_told_once_by_every_command(target: &Target) {
        let url = demo(target, "5");
        let local = format!("{url}?wire_crypt=disabled");
        let outcome = firearrow(target, &["query", &local, "SELECT ID FROM T_WIDE"]).success();
        assert!(!outcome.stderr.contains("warning: "), "this machine is safe: {}", outcome.stderr);
        // As if the server were elsewhere.
        let remote = format!("{local}&clear_text_warning=always");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("x.csv");
        let file = crate::command::argument(&file);
        for arguments in [
            &["query", &remote, "SELECT ID FROM T_WIDE"][..],
            &["query", &remote, "SELECT ID FROM T_WIDE", "--format", "json"],
            &["copy", &remote, "T_WIDE", file],
            &["info", &remote],
            &["events", &remote, "NOTHING", "--timeout", "10ms"],
            &["create-demo", &remote, "--rows", "1", "--force"],
        ] {
            let outcome = firearrow(target, arguments).success();
            let told = outcome.stderr.matches("warning: the connection to 127.0.0.1").count();
            assert_eq!(told, 1, "{arguments:?}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("wire_crypt=required"), "{}", outcome.stderr);
            assert!(!outcome.text().contains("warning: "), "data are for programs");
        }
        let info = firearrow(target, &["info", &remote]).success();
        assert!(info.text().contains("none: the connection is in clear text"), "{}", info.text());
        let info = firearrow(target, &["info", &remote, "--json"]).success().json();
        assert_eq!((&info["encrypted"], &info["cipher"]), (&false.into(), &Value::Null));
        assert!(info["warnings"][0].as_str().is_some_and(|text| text.contains("not encrypted")), "{info}");
        let info = firearrow(target, &["info", &url, "--json"]).success().json();
        assert_eq!((&info["encrypted"], info["warnings"].as_array().map(Vec::len)), (&true.into(), Some(0)));
    },
    fn statements_without_rows_have_phases_too(target: &Target) {
        let url = demo(target, "5");
        let sql = "DELETE FROM T_INT10 WHERE C1 < 3";
        let outcome = firearrow(target, &["query", &url, sql, "--wire", "--json"]).success();
        assert_eq!(outcome.json()["affected_rows"], 3);
        let wire = told(&outcome.stderr);
        assert_eq!((&wire["execute"]["round_trips"], &wire["rest"]["round_trips"]), (&1.into(), &1.into()));
        assert!(wire["first_row"].is_null());
    }
);

matrix!(
    embedded,
    fn an_engine_in_process_takes_time_and_no_packets(target: &Target) {
        let url = demo(target, "5");
        let arguments = ["query", &url, "SELECT ID FROM T_WIDE", "--wire", "--json"];
        let wire = told(&firearrow(target, &arguments).success().stderr);
        let total = &wire["total"];
        assert_eq!((&total["round_trips"], &total["physical"]["bytes_received"]), (&0.into(), &0.into()));
        assert!(wire["connect"]["seconds"].as_f64() > Some(0.0));
    }
);
