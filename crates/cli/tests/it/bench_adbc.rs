//! `firearrow bench adbc`

use crate::command::{argument, demo, firearrow};
use firearrow_testkit::{Generation, Target, matrix};
use std::path::PathBuf;

/// The driver that cargo has built together with this test.
fn library() -> PathBuf {
    let name =
        format!("{}adbc_driver_firebird{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = std::env::current_exe().unwrap().with_file_name(name);
    assert!(library.exists(), "{} is missing", library.display());
    library
}

matrix!(
    all,
    fn the_driver_is_measured(target: &Target) {
        let url = demo(target, "3000");
        let (library, folder) = (library(), tempfile::tempdir().unwrap());
        let sizes = ["--ingest-rows", "500", "--repeat", "2"];
        let more = ["--library", argument(&library), "--save", argument(folder.path()), "--json"];
        let report =
            firearrow(target, &[&["bench", "adbc", &url], &sizes[..], &more].concat()).success().json();
        let tables = report["tables"].as_array().unwrap();
        let names: Vec<_> = tables.iter().map(|table| table["table"].as_str().unwrap()).collect();
        let has_snapshots = target.generation() >= Generation::V4_0;
        let expected =
            if has_snapshots { &["drain", "partitions", "ingest"][..] } else { &["drain", "ingest"] };
        assert_eq!(names, expected);
        for table in tables {
            let case = &table["cases"][0];
            let rows = if table["table"] == "ingest" { 500 } else { 3000 };
            assert_eq!((case["ours"].as_array().unwrap().len(), &case["ours"][0]["rows"]), (2, &rows.into()));
            assert!(case["medians"]["ours_wall_s"].as_f64().unwrap() > 0.0);
            if table["table"] != "ingest" {
                assert!(case["medians"]["speed_ratio"].as_f64().unwrap() > 0.0);
            }
        }
        let saved = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(saved.join("report.md")).unwrap();
        assert!(text.contains("T_WIDE through the driver: 3,000 rows"), "{text}");
        assert!(!text.contains(argument(folder.path())), "reports have no paths");
    },
    fn a_missing_driver_is_named(target: &Target) {
        let url = demo(target, "10");
        firearrow(target, &["bench", "adbc", &url, "--library", "/no/such/driver.so"])
            .failure(1, &["driver"]);
    },
);
