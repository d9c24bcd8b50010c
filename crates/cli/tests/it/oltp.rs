//! `firearrow oltp`

use crate::command::{argument, firearrow};
use firearrow_report::Record;
use firearrow_testkit::{Behaviour, Proxy, Server, Target, matrix};
use std::fs;
use std::path::Path;

const QUICK: [&str; 6] = ["--terminals", "3", "--warm-up", "200ms", "--measure", "2s"];

/// The only folder in a folder.
fn only(folder: &Path) -> std::path::PathBuf {
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn record(folder: &Path) -> Record {
    Record::parse("the record", fs::read_to_string(folder.join("raw.jsonl")).unwrap()).unwrap()
}

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0, embedded_5_0],
    fn what_is_loaded_can_be_run_and_saved(target: &Target) {
        let url = target.fresh_url();
        let outcome = firearrow(target, &["oltp", "load", &url, "--tiny", "--warehouses", "3"]).success();
        assert!(outcome.text().contains("loaded 3 warehouses"), "{}", outcome.text());
        let folder = tempfile::tempdir().unwrap();
        let save = ["--full-check", "--save", argument(folder.path())];
        let outcome = firearrow(target, &[&["oltp", "run", &url], &QUICK[..], &save].concat()).success();
        assert!(outcome.text().contains("consistency conditions 1 to 12"), "{}", outcome.text());
        let run = only(folder.path());
        let record = record(&run);
        assert!(record.is_complete() && record.head.environment["terminals"] == 3, "{:?}", record.head);
        let latency = record.samples.iter().filter(|sample| sample.table == "latency");
        assert_eq!(latency.filter(|sample| sample.values["p99_us"] > 0.0).count(), 5);
        let database = url.rsplit('/').next().unwrap();
        assert!(!record.text().contains(database), "records name no paths");
        assert!(fs::read_to_string(run.join("report.md")).unwrap().contains("new order"));
    }
);

matrix!(
    [firebird_4_0, embedded_5_0],
    fn a_campaign_leaves_a_record_a_page_and_no_database(target: &Target) {
        let url = target.fresh_url();
        let folder = tempfile::tempdir().unwrap();
        let (runs, page) = (folder.path().join("runs"), folder.path().join("page.html"));
        let campaign = ["oltp", "campaign", &url, "--tiny", "--warehouses", "3,4"];
        let output = ["--save", argument(&runs), "--output", argument(&page)];
        let outcome = firearrow(target, &[&campaign, &QUICK[..], &output].concat()).success();
        let text = outcome.text();
        assert_eq!(text.matches(" home ").count(), 2, "{text}");
        assert_eq!(text.matches(" uniform ").count(), 2, "{text}");
        let record = record(&only(&runs));
        let throughput: Vec<_> =
            record.samples.iter().filter(|sample| sample.table == "throughput").collect();
        assert_eq!(throughput.len(), 4);
        assert!(throughput.iter().all(|sample| sample.values["operations_per_s"] > 0.0));
        let sizes: Vec<f64> = throughput.iter().map(|sample| sample.values["size_bytes"]).collect();
        assert!(sizes[0] < sizes[2], "{sizes:?}");
        assert!(record.is_complete());
        assert!(fs::read_to_string(page).unwrap().contains("Operations per second"));
        // The database is gone; a database of somebody else is not deleted.
        firearrow(target, &["info", &url]).failure(1, &[]);
        firearrow(target, &["create-demo", &url, "--rows", "10"]).success();
        firearrow(target, &campaign).failure(1, &["the database exists"]);
        let force = [&campaign[..], &["--force"]].concat();
        firearrow(target, &force).failure(1, &["holds something else than this workload"]);
        firearrow(target, &["query", &url, "SELECT COUNT(*) FROM T_WIDE"]).success();
        // Nor one in which somebody has put something beside the workload.
        let url = target.fresh_url();
        firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
        firearrow(target, &["query", &url, "CREATE EXCEPTION PRECIOUS 'mine'"]).success();
        let force = ["oltp", "campaign", &url, "--tiny", "--warehouses", "1", "--force"];
        firearrow(target, &force).failure(1, &["holds something else than this workload"]);
        firearrow(target, &["query", &url, "DROP EXCEPTION PRECIOUS"]).success();
        let arguments = [&force[..], &QUICK].concat();
        firearrow(target, &arguments).success();
        // What cannot be written is known at once.
        let nowhere = ["oltp", "campaign", &url, "--output", "/nowhere/page.html"];
        firearrow(target, &nowhere).failure(1, &["/nowhere/page.html"]);
    }
);

matrix!(
    [firebird_3_0, embedded_5_0],
    fn only_a_server_can_be_killed(target: &Target) {
        let crash = ["--kill-server-at", "500ms", "--restart-command", "exit 3"];
        if let Target::Wire(shared) = target {
            let server = Server::start(shared.generation()).unwrap();
            let url = server.url("crash");
            firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
            let arguments = [&["oltp", "run", &url, "--terminals", "3"], &crash[..]].concat();
            // A proxy is not the server: it stays alive, and so do we.
            let proxy = Proxy::start(server.address(), Behaviour::pass()).unwrap();
            let through = server.url_at(proxy.address(), &server.database_path("crash"));
            let wrong = [&["oltp", "run", &through, "--terminals", "3"], &crash[..]].concat();
            firearrow(target, &wrong).failure(2, &["serves the database"]);
            firearrow(target, &arguments).failure(1, &["`exit 3`: exit status: 3"]);
            assert!(!server.works(), "it has been killed");
            return;
        }
        let url = target.fresh_url();
        firearrow(target, &["oltp", "load", &url, "--tiny"]).success();
        // There are no rates, so there is nothing to measure and to save.
        let both = [&["oltp", "run", &url, "--measure", "5s"], &crash[..]].concat();
        firearrow(target, &both).failure(2, &["cannot be used with"]);
        let arguments = [&["oltp", "run", &url], &crash[..]].concat();
        firearrow(target, &arguments)
            .failure(2, &["the server cannot be killed: the engine runs in this process"]);
    }
);
