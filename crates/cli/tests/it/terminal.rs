//! Texts of the server that a terminal would obey.

use crate::command::{demo, firearrow};
use crate::usage::on_terminal;
use firearrow_testkit::{Target, matrix};

/// Colours the rest, rings, turns the text around, and clears the screen. Names of Firebird 3 have 31 bytes.
const HARMFUL: &str = "\x1b[31mred\x07\u{202e}x\u{202c}\u{9b}2J";
const ESCAPED: &str = "\\u{1b}[31mred\\u{7}\\u{202e}x\\u{202c}\\u{9b}2J";

fn is_harmless(text: &str) -> bool {
    let harmful =
        |c: char| c.is_control() && !matches!(c, '\n' | '\r') || ('\u{202a}'..='\u{202e}').contains(&c);
    !text.chars().any(harmful)
}

matrix!(
    all,
    fn errors_of_the_server_are_escaped(target: &Target) {
        let url = demo(target, "1");
        firearrow(target, &["query", &url, "CREATE EXCEPTION E 'x'"]).success();
        let raise = |text: &str| format!("EXECUTE BLOCK AS BEGIN EXCEPTION E '{text}'; END");
        let unknown = format!("SELECT 1 FROM \"{HARMFUL}\"");
        for sql in [unknown, raise(HARMFUL)] {
            for more in [&[][..], &["--verbose"]] {
                let outcome = firearrow(target, &[&["query", &url, &sql], more].concat());
                let outcome = outcome.failure(1, &[ESCAPED]);
                assert!(is_harmless(&outcome.stderr), "{:?}", outcome.stderr);
            }
        }
        // The line breaks of the message stay, and none of its lines looks like one of ours.
        let outcome = firearrow(target, &["query", &url, &raise("x\nerror: all is well\r\ny")]);
        let outcome = outcome.failure(1, &["\n  error: all is well\\r\n  y"]);
        assert!(outcome.stderr.lines().skip(1).all(|line| line.starts_with("  ")), "{}", outcome.stderr);
    },
    fn tables_are_escaped_and_data_are_exact(target: &Target) {
        let url = demo(target, "1");
        let sql = format!("SELECT '{HARMFUL}' \"{HARMFUL}\" FROM RDB$DATABASE");
        let run = |format: &str| firearrow(target, &["query", &url, &sql, "--format", format]).success();
        let table = run("table");
        assert!(is_harmless(table.text()), "{:?}", table.text());
        assert_eq!(table.text().matches(ESCAPED).count(), 2, "{}", table.text());
        assert_eq!(run("csv").text(), format!("{HARMFUL}\r\n{HARMFUL}\r\n"));
        let json: serde_json::Value = run("json").json();
        assert_eq!(json[HARMFUL], HARMFUL);
    },
    fn names_and_comments_are_escaped_for_people_and_exact_in_scripts(target: &Target) {
        let url = demo(target, "1");
        let run =
            |arguments: &[&str]| firearrow(target, &[&arguments[..1], &[&url], &arguments[1..]].concat());
        run(&["query", &format!("CREATE TABLE \"{HARMFUL}\" (A INTEGER)")]).success();
        run(&["query", &format!("COMMENT ON TABLE \"{HARMFUL}\" IS '{HARMFUL}'")]).success();
        let listed = run(&["tables"]).success();
        assert!(is_harmless(listed.text()) && listed.text().matches(ESCAPED).count() == 2, "{listed:?}");
        let listed = run(&["tables", HARMFUL, "--json"]).success().json();
        assert_eq!((&listed["name"], &listed["remark"]), (&HARMFUL.into(), &HARMFUL.into()));
        let described = run(&["ddl", HARMFUL, "--describe"]).success();
        assert!(
            is_harmless(described.text()) && described.text().matches(ESCAPED).count() == 2,
            "{described:?}"
        );
        let script = run(&["ddl", HARMFUL]).success();
        assert_eq!(script.text().matches(HARMFUL).count(), 3, "{script:?}");
        let missing = run(&["ddl", &format!("{HARMFUL}x")]).failure(1, &[ESCAPED]);
        assert!(is_harmless(&missing.stderr), "{missing:?}");
    }
);

matrix!(
    embedded,
    fn a_terminal_gets_nothing_that_it_obeys(target: &Target) {
        let url = demo(target, "1");
        let sql = format!("SELECT '{HARMFUL}' A FROM RDB$DATABASE");
        let (text, status) = on_terminal(target, &["query", &url, &sql]);
        assert_eq!(status, 0);
        assert!(text.contains("\\u{1b}[31mred") && is_harmless(&text), "{text:?}");
        let sql = format!("CREATE VIEW V AS SELECT '{HARMFUL}' A FROM RDB$DATABASE");
        firearrow(target, &["query", &url, &sql]).success();
        let (text, status) = on_terminal(target, &["ddl", &url, "V"]);
        assert_eq!(status, 0);
        assert!(text.contains(ESCAPED) && is_harmless(&text), "{text:?}");
    }
);
