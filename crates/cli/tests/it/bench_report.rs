//! `firearrow bench report`

use crate::command::{argument, demo, firearrow, prepare};
use firearrow_report::Record;
use firearrow_testkit::{Target, matrix};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

matrix!(
    [embedded_5_0],
    fn a_saved_run_becomes_a_report(target: &Target) {
        let url = demo(target, "100");
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        let save = ["--repeat", "5", "--no-reference", "--save", argument(&runs)];
        firearrow(
            target,
            &[&["bench", "fetch", &url, "--tables", "T_INT10,T_BLOB,t_int10"], &save[..]].concat(),
        )
        .success();
        let run = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();

        let path = |name: &str| folder.path().join(name);
        let (page, table, samples) = (path("page.html"), path("table.md"), path("samples.csv"));
        let charts = path("charts");
        let arguments = [
            &["bench", "report", argument(&run), "-o", argument(&page), "--markdown", argument(&table)],
            &["--csv", argument(&samples), "--png", argument(&charts), "--title", "A <title>"][..],
        ];
        let outcome = firearrow(target, &arguments.concat()).success();
        assert_eq!(outcome.stderr.matches("written: ").count(), 3 + 2, "{}", outcome.stderr);
        let page = fs::read_to_string(page).unwrap();
        assert!(page.contains("<h1>A &lt;title&gt;</h1>") && page.contains("<svg class=\"dark\""), "{page}");
        assert!(page.contains("T_INT10") && page.contains("T_BLOB"), "{page}");
        assert!(fs::read_to_string(&table).unwrap().contains("| T_BLOB | firearrow | "));
        assert_eq!(fs::read_to_string(&samples).unwrap().lines().count(), 1 + 2 * 5);
        for chart in fs::read_dir(&charts).unwrap() {
            assert_eq!(&fs::read(chart.unwrap().path()).unwrap()[1..4], b"PNG");
        }
        // A link of a chart's name is replaced, and not what it leads to.
        let chart = fs::read_dir(&charts).unwrap().next().unwrap().unwrap().path();
        let mine = path("mine");
        fs::write(&mine, "precious").unwrap();
        fs::remove_file(&chart).unwrap();
        std::os::unix::fs::symlink(&mine, &chart).unwrap();
        firearrow(target, &["bench", "report", argument(&run), "--png", argument(&charts)]).success();
        assert_eq!(fs::read_to_string(&mine).unwrap(), "precious");
        assert_eq!(&fs::read(&chart).unwrap()[1..4], b"PNG");
        // What cannot be written is known before anything is.
        let other = path("other.html");
        let nowhere = ["bench", "report", argument(&run), "-o", argument(&other), "--csv", "/nowhere/x.csv"];
        firearrow(target, &nowhere).failure(1, &["/nowhere/x.csv"]);
        assert!(!other.exists());
        // What cannot be read is named, and does not hide the rest.
        let both = ["bench", "report", argument(&run), argument(&table), "--csv", argument(&samples)];
        firearrow(target, &both).failure(1, &["not a record of a benchmark", "skipped 1 of 2 records"]);
        assert_eq!(fs::read_to_string(&samples).unwrap().lines().count(), 1 + 2 * 5);
        // A report replaces neither a record nor another report.
        let raw = run.join("raw.jsonl");
        let before = fs::read(&raw).unwrap();
        for option in ["--markdown", "--csv", "--output"] {
            let over = ["bench", "report", argument(&run), option, argument(&raw)];
            firearrow(target, &over).failure(2, &["raw.jsonl is a record"]);
        }
        let twice =
            ["bench", "report", argument(&run), "--markdown", argument(&table), "--csv", argument(&table)];
        firearrow(target, &twice).failure(2, &["is named for two reports"]);
        assert_eq!(fs::read(&raw).unwrap(), before);
        // Without an option it prints the tables.
        let outcome = firearrow(target, &["bench", "report", argument(&run)]).success();
        assert!(outcome.text().starts_with("# fetch: "), "{}", outcome.text());
    },
    fn a_closed_pipe_loses_no_record(target: &Target) {
        let url = demo(target, "100");
        let folder = tempfile::tempdir().unwrap();
        let runs = folder.path().join("runs");
        let arguments =
            ["bench", "fetch", &url, "--tables", "T_INT10,T_WIDE", "--repeat", "1", "--no-reference"];
        for more in [&[][..], &["--json"]] {
            let all = [&arguments[..], &["--save", argument(&runs)], more].concat();
            let mut child =
                prepare(Some(target), &all).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
            drop(child.stdout.take());
            assert!(child.wait().unwrap().success());
        }
        let found: Vec<_> =
            fs::read_dir(&runs).unwrap().map(|run| run.unwrap().path().join("raw.jsonl")).collect();
        assert_eq!(found.len(), 2);
        for raw in found {
            let record = Record::parse("the record", fs::read(raw).unwrap()).unwrap();
            assert_eq!((record.samples.len(), record.is_complete()), (2, true));
        }
        // That nothing can be saved is said before anything is measured.
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let outcome = firearrow(target, &[&arguments[..], &["--save", argument(&file)]].concat());
        assert!(outcome.failure(1, &["file: "]).stdout.is_empty());
    },
    fn records_of_python_are_records(target: &Target) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("raw.jsonl");
        let program = r#"
import json, sys
sys.path.insert(0, sys.argv[1])
import measure
samples = [
    {"case": "tuples: one", "driver": driver, "round": at, "seconds": 0.5 * by, "cpu": 0.1, "count": 10}
    for at in range(5) for driver, by in ((measure.OURS, 1), ("other", 2))
]
about = {"firebird": "5.0.4", "date": "2026-11-24T00:00:00Z"}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    for line in measure.recorded(about, samples, ["fbfast: not installed", measure.FIGURE + "p50"]):
        file.write(json.dumps(line) + "\n")
"#;
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/python");
        let status = Command::new("python3").args(["-c", program]).arg(scripts).arg(&file).status().unwrap();
        assert!(status.success());
        let text = firearrow(target, &["bench", "report", argument(&file)]).success().text().to_owned();
        assert!(
            text.contains("| tuples: one | other | 100 ms (100 ms – 100 ms) | 2.00 [2.00; 2.00] |"),
            "{text}"
        );
        assert!(text.contains("**Missing: fbfast: not installed**"), "{text}");
    },
    fn what_is_no_record_is_refused(target: &Target) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("raw.jsonl");
        let refused = |text: &str, reason: &str| {
            fs::write(&file, text).unwrap();
            firearrow(target, &["bench", "report", argument(&file)]).failure(1, &[reason]);
        };
        refused("{\"environment\": {}}\n", "not a record of a benchmark");
        refused(
            "{\"kind\":\"head\",\"schema\":\"firearrow-bench\",\"version\":9}\n",
            "a record of version 9",
        );
        refused("", "not a record of a benchmark");
        let large = fs::File::create(&file).unwrap();
        large.set_len(65 * 1024 * 1024).unwrap();
        firearrow(target, &["bench", "report", argument(&file)]).failure(1, &["larger than 64 MiB"]);
        let missing = folder.path().join("none");
        firearrow(target, &["bench", "report", argument(&missing)]).failure(1, &["none: "]);
        // The first line is enough: the run was interrupted after it.
        let head = "{\"kind\":\"head\",\"schema\":\"firearrow-bench\",\"version\":1,\"benchmark\":\"b\",\"title\":\"t\",\"environment\":{}}\n";
        fs::write(&file, head).unwrap();
        let outcome = firearrow(target, &["bench", "report", argument(&file)]).success();
        assert!(outcome.text().contains("The run was interrupted"), "{}", outcome.text());
    }
);
