//! `firearrow bench odbc`

use crate::command::{argument, demo, firearrow};
use firearrow_testkit::{Target, matrix};
use std::path::PathBuf;

/// The driver that cargo has built together with this test.
fn library() -> PathBuf {
    let name = format!("{}firearrowodbc{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = std::env::current_exe().unwrap().with_file_name(name);
    assert!(library.exists(), "{} is missing", library.display());
    library
}

/// The keywords with which the driver, as another one, connects to a database.
fn keywords(target: &Target, url: &str) -> String {
    let mut text = format!("URL={{{url}}}");
    if let Target::Embedded(embedded) = target {
        text += &format!(";CLIENT={{{}}}", embedded.engine.display());
    }
    text
}

matrix!(
    all,
    fn the_driver_is_measured(target: &Target) {
        let url = demo(target, "1500");
        let (library, folder) = (library(), tempfile::tempdir().unwrap());
        let (library, keywords) = (argument(&library), keywords(target, &url));
        let sizes = ["--insert-rows", "1100", "--repeat", "2", "--no-reference"];
        let drivers = ["--driver", library, "--other", library, "--other-keywords", &keywords];
        let more = ["--save", argument(folder.path()), "--json"];
        let arguments = [&["bench", "odbc", &url], &sizes[..], &drivers, &more].concat();
        let report = firearrow(target, &arguments).success().json();
        let tables = report["tables"].as_array().unwrap();
        let names: Vec<_> = tables.iter().map(|table| table["table"].as_str().unwrap()).collect();
        let others = ["other-fetch", "other-describe", "other-insert"];
        assert_eq!(names, [&["fetch", "empty", "cells", "describe", "insert"][..], &others].concat());
        for table in tables {
            let rows = |case: &str| match table["table"].as_str().unwrap() {
                "fetch" | "cells" | "other-fetch" => 1500,
                "empty" => 0,
                "describe" | "other-describe" => 220_000,
                _ if case.contains("autocommit") => 11,
                _ if case.contains("one by one") => 110,
                _ => 1100,
            };
            let cases = table["cases"].as_array().unwrap();
            for case in cases {
                assert_eq!(case["ours"].as_array().unwrap().len(), 2);
                assert_eq!(case["ours"][1]["rows"], rows(case["name"].as_str().unwrap()));
                assert!(case["medians"]["ours_wall_s"].as_f64().unwrap() > 0.0);
            }
            if table["table"] == "other-fetch" {
                assert!(cases.len() >= 9, "{cases:?}");
                assert!(cases.iter().all(|case| case["medians"]["time_ratio"].as_f64().unwrap() > 0.0));
            }
        }
        let saved = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(saved.join("report.md")).unwrap();
        assert!(text.contains("Reading 1,500 rows, checksums of all columns right"), "{text}");
        assert!(!text.contains(argument(folder.path())), "reports have no paths");
    },
    fn wrong_rows_have_no_figures(target: &Target) {
        let (url, library) = (demo(target, "20"), library());
        firearrow(target, &["query", &url, "UPDATE T_WIDE SET V16 = 'x' WHERE ID = 7"]).success();
        let arguments = ["bench", "odbc", &url, "--only", "describe", "--driver", argument(&library)];
        firearrow(target, &arguments).failure(1, &["T_WIDE, row by row, direct: column V16 has checksum"]);
    },
    fn a_missing_driver_is_named(target: &Target) {
        let url = demo(target, "10");
        firearrow(target, &["bench", "odbc", &url, "--driver", "/no/such/driver.so"])
            .failure(1, &["/no/such/driver.so"]);
    },
);
