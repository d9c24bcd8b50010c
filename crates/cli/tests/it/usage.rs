//! Help, completions, errors, and `firearrow info`.

use crate::command::{SECRET, argument, demo, finish, firearrow, plain, prepare};
use firearrow_testkit::{Server, Target, matrix};
use nix::pty::{Winsize, openpty};
use std::fs::File;
use std::io::Read;
use std::process::Stdio;

#[test]
fn help_has_examples() {
    for command in [
        &["query"][..],
        &["sql"],
        &["shell"],
        &["copy"],
        &["load"],
        &["info"],
        &["tables"],
        &["ddl"],
        &["events"],
        &["create-demo"],
        &["bench", "fetch"],
        &["bench", "wire"],
        &["bench", "odbc"],
        &["bench", "driver"],
        &["adbc", "install"],
        &["adbc", "uninstall"],
        &["adbc", "status"],
        &["odbc"],
        &["odbc", "install"],
        &["odbc", "uninstall"],
        &["odbc", "dsn"],
        &["odbc", "dsn", "add"],
        &["odbc", "dsn", "list"],
        &["odbc", "dsn", "remove"],
        &["odbc", "status"],
        &["odbc", "test"],
        &["wan-proxy"],
        &["completions"],
    ] {
        let outcome = plain(&[command, &["--help"]].concat()).success();
        assert!(outcome.text().contains("Examples:\n  firearrow "), "{}", outcome.text());
        assert!(outcome.text().contains("--timeout <TIME>"), "{}", outcome.text());
    }
    let outcome = plain(&["--help"]).success();
    let statuses = "124 --timeout, 129 SIGHUP, 130 Ctrl-C, 131 SIGQUIT, 143 SIGTERM";
    assert!(outcome.text().contains(statuses), "{}", outcome.text());
}

#[test]
fn the_version_can_tell_more() {
    let number = format!("firearrow {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(plain(&["--version"]).success().text(), number);
    for arguments in [&["--version", "--verbose"][..], &["--verbose", "--version"], &["-Vv"]] {
        let outcome = plain(arguments).success();
        let mut lines = outcome.text().strip_prefix(&number).expect("the number comes first").lines();
        for name in ["target", "features", "commit", "commit time", "rustc"] {
            let line = lines.next().unwrap_or_default();
            assert!(line.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")), "{name}: {line}");
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let outcome = plain(&["completions", shell]).success();
        for word in ["create-demo", "read-only", "reference-client", "timeout"] {
            assert!(outcome.text().contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn wrong_usage_is_status_2() {
    plain(&["query"]).failure(2, &["Usage"]);
    plain(&["query", "shop.fdb"]).failure(2, &["there is no SQL", "-f FILE", "- there reads standard input"]);
    plain(&["query", "shop.fdb", "-"]).failure(2, &["there is no statement in standard input"]);
    plain(&["shop.fdb"]).failure(2, &["tip: firearrow shell shop.fdb"]);
    plain(&["query", "firebird://h/x?colour=red", "SELECT 1"]).failure(2, &["colour"]);
    plain(&["create-demo", "x.fdb", "--rows", "0"]).failure(2, &["--rows"]);
    plain(&["create-demo", "x.fdb", "--rows", "3000000000"]).failure(2, &["--rows"]);
}

#[test]
fn passwords_are_never_shown() {
    // The helper looks for the password in everything that is printed.
    let url = format!("firebird://alice:{SECRET}@127.0.0.1:1/x");
    plain(&[&url]).failure(2, &["alice:***@"]);
    plain(&["info", &url, &url]).failure(2, &[]);
    plain(&["info", &url, "--verbose"]).failure(1, &["127.0.0.1:1", "hint: nothing listens there"]);
    plain(&["query", &url, "SELECT 1", "--verbose"]).failure(1, &[]);
    plain(&["info", &format!("{url}?nonsense=1")]).failure(2, &["nonsense"]);
    let keywords = format!("database=127.0.0.1/1:x;user=alice;password={SECRET}");
    plain(&["info", &keywords]).failure(1, &[]);
    plain(&[&keywords]).failure(2, &[]);
    // Almost URLs: no host is looked for, and no path has the password in it.
    for form in ["firebird:/", "firebird:", "firebird//", "http://", "firebrid:/", "/", "//"] {
        let text = format!("{form}alice:{SECRET}@127.0.0.1:1/x");
        plain(&["info", &text]).failure(2, &["://"]);
    }
    // Nor does a connection string choose what is run, or sent away.
    for source in ["cmd:touch /tmp/evil", "file:/etc/shadow", "env:HOME"] {
        let text = format!("firebird://alice:{SECRET}@127.0.0.1:1/x?db_key={source}");
        plain(&["info", &text]).failure(2, &["db_key", "FIREARROW_DB_KEY"]);
    }
}

matrix!(
    all,
    fn errors_have_codes_on_demand(target: &Target) {
        let url = demo(target, "1");
        let outcome = firearrow(target, &["query", &url, "SELECT * FROM NOWHERE"]);
        let outcome = outcome.failure(1, &["Table unknown", "NOWHERE"]);
        assert!(outcome.stdout.is_empty() && !outcome.stderr.contains("SQLSTATE"), "{outcome:?}");
        let outcome = firearrow(target, &["query", &url, "SELECT * FROM NOWHERE", "--verbose"]);
        outcome.failure(
            1,
            &["SQLSTATE: 42S02", "SQLCODE: -204", "gds codes: ", "335544580 (dsql_relation_err)"],
        );
        firearrow(target, &["info", &target.fresh_url()]).failure(1, &[]);
    },
    fn info_tells_versions_and_transport(target: &Target) {
        let url = demo(target, "1");
        let outcome = firearrow(target, &["info", &url]).success();
        let engine = outcome.text().lines().find(|line| line.starts_with("engine: ")).unwrap().to_owned();
        assert!(engine.contains(target.generation().number()), "{engine}");
        let values: Vec<Option<usize>> =
            outcome.text().lines().map(|line| line[20..].find(|c| c != ' ')).collect();
        assert!(values.iter().all(|start| *start == values[0]), "not aligned:\n{}", outcome.text());
        let info = firearrow(target, &["info", &url, "--json"]).success().json();
        assert_eq!(info["embedded"], matches!(target, Target::Embedded(_)));
        assert_eq!(info["protocol"].is_number(), matches!(target, Target::Wire(_)));
        assert_eq!((&info["dialect"], &info["page_size"]), (&3.into(), &16384.into()));
        assert_eq!((&info["database_charset"], &info["forced_writes"]), (&"UTF8".into(), &false.into()));
    }
);

matrix!(
    wire,
    fn one_command_has_nothing_to_learn_compression_from(target: &Target) {
        let url = demo(target, "1");
        for (value, is_told) in [("auto", true), ("true", false)] {
            let url = format!("{url}{}wire_compress={value}", if url.contains('?') { '&' } else { '?' });
            let outcome = firearrow(target, &["query", &url, "SELECT ID FROM T_WIDE"]).success();
            assert_eq!(outcome.stderr.contains("use wire_compress=true"), is_told, "{}", outcome.stderr);
        }
    },
    fn a_comment_is_no_option(target: &Target) {
        let url = demo(target, "1");
        for sql in ["-- first\nSELECT ID FROM T_WIDE", "--first\r\nSELECT ID FROM T_WIDE"] {
            let outcome = firearrow(target, &["query", &url, "--format=csv", sql]).success();
            assert_eq!(outcome.text(), "ID\r\n1\r\n");
            let outcome = firearrow(target, &["copy", &url, sql, "-", "--format", "csv"]).success();
            assert_eq!(outcome.text(), "ID\r\n1\r\n");
        }
        // A value stays as it is.
        let sql = "SELECT CAST(? AS VARCHAR(9)) A FROM RDB$DATABASE";
        let outcome =
            firearrow(target, &["query", &url, sql, "--param", "-- x", "--format", "csv"]).success();
        assert_eq!(outcome.text(), "A\r\n-- x\r\n");
        let outcome = firearrow(target, &["query", &url, sql, "--param=a\nb", "--format", "json"]).success();
        assert_eq!(outcome.text(), "{\"A\":\"a\\nb\"}\n");
        firearrow(target, &["query", &url, "--first", "SELECT"])
            .failure(2, &["unexpected argument '--first'"]);
    },
    fn a_password_may_come_from_a_file(target: &Target) {
        let url = demo(target, "1");
        let login = format!("{}:{}@", Server::USER, Server::PASSWORD);
        let (bare, folder) = (url.replacen(&login, "", 1), tempfile::tempdir().expect("a folder"));
        assert_ne!(bare, url);
        let file = folder.path().join("password");
        std::fs::write(&file, format!("{}\n", Server::PASSWORD)).expect("a file");
        let mut command =
            prepare(Some(target), &["query", &bare, "SELECT ID FROM T_WIDE", "--format", "csv"]);
        command.env("FIREARROW_USER", Server::USER).env("FIREARROW_PASSWORD_FILE", &file);
        assert_eq!(finish(command.output().expect("it starts")).success().text(), "ID\r\n1\r\n");
        let by_option = |url: &str| firearrow(target, &["info", url, "--password-file", argument(&file)]);
        let user = url.replacen(&login, &format!("{}@", Server::USER), 1);
        by_option(&user).success();
        by_option(&url).failure(2, &["the connection string has a password, too"]);
        std::fs::remove_file(&file).expect("it is there");
        let outcome = finish(command.output().expect("it starts"));
        outcome.failure(2, &["FIREARROW_PASSWORD_FILE", "password"]);
    }
);

matrix!(
    embedded,
    fn a_terminal_gets_no_binary_and_no_long_lines(target: &Target) {
        let url = demo(target, "5");
        let (_, status) =
            on_terminal(target, &["query", &url, "SELECT * FROM T_WIDE", "--format", "parquet"]);
        assert_eq!(status, 2);
        let (text, status) = on_terminal(target, &["query", &url, "SELECT * FROM T_WIDE"]);
        assert_eq!(status, 0);
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        assert_eq!(lines.len(), 7, "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= 60 && line.ends_with('…')), "{text}");
    }
);

/// Standard output of a run on a terminal of 60 columns.
pub(crate) fn on_terminal(target: &Target, arguments: &[&str]) -> (String, i32) {
    let size = Winsize { ws_row: 24, ws_col: 60, ws_xpixel: 0, ws_ypixel: 0 };
    let terminal = openpty(&size, None).unwrap();
    let mut command = prepare(Some(target), arguments);
    command.stdout(Stdio::from(terminal.slave)).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // It holds the terminal's other end; without it, reading ends when the child does.
    drop(command);
    let mut bytes = Vec::new();
    // Linux reports the end of a terminal as an error.
    let _ = File::from(terminal.master).read_to_end(&mut bytes);
    let outcome = finish(child.wait_with_output().unwrap());
    (String::from_utf8(bytes).unwrap(), outcome.code)
}
