//! `firearrow create`

use crate::command::{firearrow, prepare};
use firearrow_testkit::{Target, matrix};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0, embedded_3_0, embedded_4_0, embedded_5_0],
    fn an_empty_database_is_created_once(target: &Target) {
        let url = target.fresh_url();
        let gap = if url.contains('?') { '&' } else { '?' };
        let made = firearrow(target, &["create", &format!("{url}{gap}page_size=16384&db_charset=WIN1252")]);
        let made = made.success();
        assert!(made.stdout.is_empty(), "{made:?}");
        for part in ["created ", "pages of 16384 bytes, WIN1252"] {
            assert!(made.stderr.contains(part), "{made:?}");
        }
        firearrow(target, &["create", &url]).failure(1, &["exist", "hint: choose another name"]);
        let info = firearrow(target, &["info", &url, "--json"]).success().json();
        assert_eq!((&info["page_size"], &info["database_charset"]), (&16384.into(), &"WIN1252".into()));
        assert!(firearrow(target, &["tables", &url, "--json"]).success().stdout.is_empty());

        let made = firearrow(target, &["create", &target.fresh_url(), "--json"]).success().json();
        assert_eq!(made["database_charset"], "UTF8");
        let made = firearrow(target, &["create", &target.fresh_url(), "--quiet"]).success();
        assert!(made.stdout.is_empty() && !made.stderr.contains("created"), "{made:?}");
    }
);

matrix!(
    [firebird_4_0, embedded_5_0],
    fn whoever_interrupts_leaves_a_database_or_none(target: &Target) {
        for pause in [20, 40, 60, 80, 120] {
            let url = target.fresh_url();
            let mut command = prepare(Some(target), &["create", &url]);
            let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
            thread::sleep(Duration::from_millis(pause));
            // It may have ended.
            let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT);
            child.wait_with_output().unwrap();
            let query = firearrow(target, &["query", &url, "SELECT 1 FROM RDB$DATABASE"]);
            if query.code != 0 {
                firearrow(target, &["create", &url]).success();
            }
        }
    }
);
