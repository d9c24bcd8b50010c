//! `firearrow shell`, on a terminal and as a script.

use crate::command::{argument, demo, finish, firearrow, prepare};
use firearrow_testkit::{Target, matrix};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// By when something must have been shown.
const SOON: Duration = Duration::from_secs(30);

/// A session on a terminal.
struct Session {
    child: Child,
    terminal: File,
    output: Receiver<Vec<u8>>,
    seen: String,
    _home: tempfile::TempDir,
}

impl Session {
    fn start(target: &Target, arguments: &[&str], columns: u16) -> Self {
        Self::start_with(target, arguments, columns, "")
    }

    fn start_with(target: &Target, arguments: &[&str], columns: u16, pager: &str) -> Self {
        let home = tempfile::tempdir().expect("a folder");
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).expect("a terminal");
        let side = || Stdio::from(pty.slave.try_clone().expect("it is open"));
        let mut command = prepare(Some(target), &[&["shell"], arguments].concat());
        command.stdin(side()).stdout(side()).stderr(side());
        command
            .env("HOME", home.path())
            .env("TERM", "xterm")
            .env("PAGER", pager)
            .env_remove("XDG_STATE_HOME");
        command.env_remove("FIREARROW_PAGER").env_remove("FIREARROW_HISTORY").env("EDITOR", "sed -i s/1/2/");
        command.env_remove("VISUAL");
        let child = command.spawn().expect("it starts");
        drop((command, pty.slave));
        let terminal = File::from(pty.master);
        let mut reader = terminal.try_clone().expect("it is open");
        let (sender, output) = channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                if sender.send(buffer[..length].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, terminal, output, seen: String::new(), _home: home }
    }

    /// Waits until this text is shown, and returns what was shown up to its end.
    #[track_caller]
    fn expect(&mut self, text: &str) -> String {
        let end = Instant::now() + SOON;
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            match self.output.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("no {text:?}, {error}: {:?}", self.seen),
            }
        }
    }

    fn send(&mut self, keys: &str) {
        self.terminal.write_all(keys.as_bytes()).expect("it reads");
    }

    /// Enters a line at a prompt.
    #[track_caller]
    fn enter(&mut self, line: &str) {
        self.send(&format!("{line}\r"));
    }

    /// Ctrl-C, once a statement runs.
    fn cancel(&mut self) {
        thread::sleep(Duration::from_millis(500));
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGINT).expect("it runs");
        self.expect("cancelled");
    }

    #[track_caller]
    fn ends(mut self) -> i32 {
        let end = Instant::now() + SOON;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().expect("it is ours") {
                return status.code().unwrap_or(-1);
            }
            // Whoever has a terminal reads what is shown on it.
            while let Ok(bytes) = self.output.try_recv() {
                self.seen.push_str(&String::from_utf8_lossy(&bytes));
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("it goes on: {:?}", self.seen)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs standard input as a script.
fn piped(target: &Target, url: &str, script: &str) -> crate::command::Outcome {
    let mut command = prepare(Some(target), &["shell", url]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().unwrap().write_all(script.as_bytes()).expect("it reads");
    finish(child.wait_with_output().expect("it ends"))
}

matrix!(
    all,
    fn changes_are_shown_in_the_prompt_and_asked_about(target: &Target) {
        let url = demo(target, "3");
        let mut session = Session::start(target, &[&url], 100);
        session.expect("\\? is for help.");
        session.expect("> ");
        session.enter("CREATE TABLE t (n INTEGER);");
        session.expect("done");
        session.expect("> ");
        session.enter("insert into t\rvalues (1);");
        session.expect("1 row affected");
        session.expect("*> ");
        // Typed ahead of the prompt.
        session.send("SELECT 11 AS eleven FROM t;\rSELECT 12 AS twelve FROM t;\r\\conninfo\r");
        session.expect("11");
        session.expect("12");
        session.expect("engine:");
        session.enter("SELECT n + 41 AS answer FROM t;");
        session.expect("ANSWER");
        session.expect("42");
        session.expect("1 row");
        session.enter("rollback;");
        session.expect("rolled back");
        session.enter("INSERT INTO t VALUES (7);");
        session.expect("*> ");
        session.send("\x04");
        session.expect("are not committed. Commit them? [y/N] ");
        session.enter("y");
        session.expect("committed");
        assert_eq!(session.ends(), 0);
        let outcome = piped(target, &url, "\\format csv\nSELECT n FROM t;\n").success();
        assert_eq!(outcome.text(), "N\r\n7\r\n");
    },
    fn a_statement_is_cancelled_and_the_session_goes_on(target: &Target) {
        let url = demo(target, "1");
        let mut session = Session::start(target, &[&url], 100);
        session.expect("> ");
        let endless = "SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d;";
        session.enter(endless);
        session.cancel();
        session.enter("SELECT 40 + 2 AS answer FROM RDB$DATABASE;");
        session.expect("ANSWER");
        session.expect("42");
        session.expect("1 row");
        session.expect("> ");
        // So is a change, and what was changed before stays in the open transaction.
        session.enter("CREATE TABLE kept (n INTEGER); INSERT INTO kept VALUES (1);");
        session.expect("1 row affected");
        session.enter("UPDATE kept SET n = (SELECT COUNT(*) FROM RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d);");
        session.cancel();
        session.enter("SELECT n + 70 AS kept FROM kept;");
        session.expect("71");
        session.enter("ROLLBACK;");
        session.expect("rolled back");
        // A wrong command leaves what was entered.
        session.enter("SELECT 50 + 3 AS sum_");
        session.enter("FROM RDB$DATABASE \\gg");
        session.expect("there is no command \\gg");
        session.expect("FROM RDB$DATABASE");
        session.enter("\\gx");
        session.expect("SUM_  53");
        session.expect("> ");
        // Whoever is stuck in a statement is told.
        session.enter("SELECT 1");
        session.expect("… until ; or \\g");
        session.enter("help");
        session.expect("Use \\? for help or press Control-C to clear the input buffer.");
        session.enter("\\?");
        session.expect("\\watch");
        session.expect("> SELECT 1");
        session.send("\x03");
        session.expect("> ");
        // What is not yet run is forgotten.
        session.enter("SELECT 1");
        session.send("\x03");
        session.expect("> SELECT 1");
        session.expect("> ");
        session.enter("quit");
        assert_eq!(session.ends(), 0);
    },
    fn names_are_completed(target: &Target) {
        let url = demo(target, "1");
        let mut session = Session::start(target, &[&url], 100);
        session.expect("> ");
        session.send("select count(*) from t_wi\t where dec_\t");
        session.send("\x15");
        session.send("SELECT COUNT(*) FROM T_WI\t;\r");
        session.expect("COUNT");
        session.expect("1 row");
        session.send("\\tim\t\r");
        session.expect("timing is on");
        // Commands after SQL, too.
        session.send("SELECT 6 * 7 AS ANSWER FROM RDB$DATABASE \\gx\t\r");
        session.expect("ANSWER  42");
        // Procedures, too.
        session.enter("SET TERM ^;");
        session.enter(
            "CREATE PROCEDURE TWICE (N INTEGER) RETURNS (M INTEGER) AS BEGIN M = N * 2; SUSPEND; END^",
        );
        session.enter("SET TERM ;^");
        session.send("SELECT M FROM TWI\t(21);\r");
        session.expect("42");
        // What is meant where: a sequence, a system table, a function of the engine.
        session.enter("CREATE SEQUENCE NUMBERS_OF_SALES;");
        session.send("SELECT GEN_ID(NUM\t, 0) + 700 AS G FROM RDB$DATAB\t;\r");
        session.expect("700");
        session.send("SELECT DATEA\t(1 DAY TO DATE '2026-12-31') AS D FROM MON$DATAB\t;\r");
        session.expect("2027-01-01");
        // Settings, and what SHOW lists.
        session.send("set bai\t off;\r");
        session.expect("BAIL is OFF");
        session.send("SHOW SEQ\t;\r");
        session.expect("NUMBERS_OF_SALES");
        // The options of a command, which has a connection of its own.
        session.send("\\copy T_WIDE /dev/null --form\t csv --qui\t --force\r");
        session.expect("> ");
        session.send("\\t\r");
        session.expect("rows alone is on");
        session.enter("exit");
        assert_eq!(session.ends(), 0);
    },
    fn commands_are_those_of_psql_and_isql(target: &Target) {
        let url = demo(target, "2");
        let folder = tempfile::tempdir().unwrap();
        let (script, out) = (folder.path().join("a.sql"), folder.path().join("out.txt"));
        fs::write(&script, "INSERT INTO t VALUES (5);\nSELECT n * 2 AS doubled FROM t;\n").unwrap();
        let copy = folder.path().join("copy.csv");
        let text = format!(
            "CREATE TABLE t (n INTEGER);\n\\dt\n\\d T\nSHOW TABLES;\nSHOW TABLE t;\n\\timing on\n\\timing off\n\\x on\n\
             \\i {}\n\\x off\nCOMMIT;\n\\o {}\nSELECT n FROM t;\n\\o\n\\copy T {}\nSET;\nSET TERM ^ ;\n\
             EXECUTE BLOCK AS BEGIN\n  INSERT INTO t VALUES (6);\nEND^\nSET TERM ; ^\nSELECT SUM(n) S\n\\g\n\\p\n\\conninfo\n\
             EXIT;\nSELECT 'never' FROM RDB$DATABASE;\n",
            script.display(),
            out.display(),
            copy.display()
        );
        let text = text.replace("SELECT SUM(n) S\n", "SELECT SUM(n) S\nFROM t\n");
        let outcome = piped(target, &url, &text).success();
        let shown = outcome.text();
        for part in [
            "timing is on",
            "timing is off",
            "── row 1 ──\nDOUBLED  10\n",
            "AUTODDL",
            "S\n──\n11\n",
            "SELECT SUM(n) S\nFROM t\n",
            "T_WIDE",
            "engine:",
        ] {
            assert!(shown.contains(part), "no {part:?} in {shown}");
        }
        assert!(!shown.contains("never"));
        assert!(fs::read_to_string(out).unwrap().contains("N\n─\n5\n"));
        assert_eq!(fs::read_to_string(copy).unwrap(), "N\r\n5\r\n");
        let outcome = piped(target, &url, "SELECT COUNT(*) C FROM t;\n").success();
        assert!(outcome.text().contains("2\n"), "EXIT commits: {}", outcome.text());
    },
    fn a_command_may_follow_sql_in_its_line(target: &Target) {
        let url = demo(target, "1");
        let script = "SELECT 40 + 2 AS answer FROM RDB$DATABASE \\g\nSELECT 1 AS a,\n2 AS b\nFROM RDB$DATABASE \\gx\n\
                      SELECT 7 AS c FROM RDB$DATABASE; \\gx\nSELECT 'x \\gx' AS d -- \\gx\n\\timing on\n\\timing off\n\
                      FROM RDB$DATABASE;\nSELECT 8 AS e \\r\n\\x on\nSELECT 9 AS f FROM RDB$DATABASE \\gx\n\\x\n";
        let outcome = piped(target, &url, script).success();
        let shown = outcome.text();
        for part in [
            "ANSWER\n──────\n    42\n1 row\n── row 1 ──\nA  1\nB  2\n1 row\n",
            "C\n─\n7\n1 row\n── row 1 ──\nC  7\n1 row\ntiming is on\n",
            "D\n─────\nx \\gx\n1 row\nexpanded display is on\n── row 1 ──\nF  9\n1 row\nexpanded display is off\n",
        ] {
            assert!(shown.contains(part), "no {part:?} in {shown}");
        }
        piped(target, &url, "SELECT 1 FROM RDB$DATABASE \\g file\n")
            .failure(2, &["\\g takes no argument", "\\o FILE"]);
        piped(target, &url, "\\gx\n").failure(2, &["there is no statement yet"]);
    },
    fn arguments_are_run_as_those_of_psql(target: &Target) {
        let url = demo(target, "3");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.sql");
        fs::write(&file, "\\timing on\nINSERT INTO t VALUES (2);\n\\q\nnonsense;\n").unwrap();
        let file = file.to_str().unwrap();
        let run = |arguments: &[&str]| firearrow(target, &[&["shell", &url], arguments].concat());
        let shown = run(&["-c", "\\d T_INT10", "-c", "SELECT COUNT(*) AS c FROM T_INT10 \\gx"]).success();
        assert!(shown.text().contains("C10") && shown.text().contains("── row 1 ──\nC  3\n"), "{shown:?}");
        let shown =
            run(&["-c", "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)", "-f", file, "-f", file]);
        assert_eq!(shown.success().text().matches("1 row affected").count(), 3);
        // They are one script.
        let wrong = run(&["-c", "INSERT INTO t VALUES (9)", "-f", file, "-c", "SELECT 1"]);
        wrong.failure(1, &["line 1: ", "hint: ", "nothing was committed"]);
        run(&["-c", "DELETE FROM t; QUIT", "-c", "nonsense"]).success();
        run(&["-c", "SET BAIL OFF; SELECT 1", "-f", "/nonexistent"]).failure(1, &["/nonexistent"]);
        let shown = run(&["-c", "SELECT SUM(n) AS s FROM t", "--format", "csv"]).success();
        // What a program reads has no remarks in it.
        assert_eq!(shown.text(), "S\r\n5\r\n");
    },
    fn what_a_database_has_is_listed(target: &Target) {
        let url = demo(target, "1");
        let make = "CREATE DOMAIN AMOUNT AS NUMERIC(12, 2) DEFAULT 0 NOT NULL;\nCREATE DOMAIN NAME AS VARCHAR(33);\n\
                    CREATE EXCEPTION TOO_MUCH 'that is too much';\nCREATE ROLE CLERK;\n\
                    GRANT SELECT, UPDATE ON T_INT10 TO ROLE CLERK;\nGRANT CLERK TO USER ALICE;\n\
                    SET TERM ^ ;\nCREATE PACKAGE TOOLS AS BEGIN PROCEDURE P; END^\nSET TERM ; ^\n";
        piped(target, &url, make).success();
        let shown =
            piped(target, &url, "\\dD\n\\dx\n\\dk\n\\z t_int10\n\\z CLERK\nSHOW GRANTS;\nSHOW EXCEPTIONS;\n");
        let shown = shown.success();
        let shown = shown.text();
        for (part, count) in [
            ("NUMERIC(12, 2)  NOT NULL", 1),
            ("VARCHAR(33)", 1),
            ("that is too much", 2),
            ("TOOLS", 1),
            ("GRANT SELECT, UPDATE ON T_INT10 TO ROLE CLERK", 2),
            ("GRANT CLERK TO USER ALICE", 2),
        ] {
            assert_eq!(shown.matches(part).count(), count, "{part:?} in {shown}");
        }
        let none = piped(target, &url, "SHOW GRANTS AMOUNT;\n\\dx NOTHING%\n").success();
        for part in ["there are no grants", "no exceptions match NOTHING%"] {
            assert!(none.text().contains(part), "{none:?}");
        }
        let some = piped(target, &url, "\\d T_INT*\n").success();
        assert!(some.text().contains("T_INT10") && !some.text().contains("T_WIDE"), "{some:?}");
        // Messages are only shown, whatever becomes of data.
        let gap = if url.contains('?') { '&' } else { '?' };
        let shown = piped(target, &format!("{url}{gap}none_encoding=binary"), "\\dx\n").success();
        assert!(shown.text().contains("that is too much"), "{shown:?}");
        piped(target, &url, "\\z NOBODY\n").failure(1, &["there is no object or role NOBODY"]);
        piped(target, &url, "\\z clerk\n").success();
        let mixed =
            "CREATE ROLE \"Mixed\";\nGRANT \"Mixed\" TO USER BOB;\n\\z Mixed\nSHOW GRANTS \"Mixed\";\n";
        let mixed = piped(target, &url, mixed).success();
        assert_eq!(mixed.text().matches("GRANT \"Mixed\" TO USER BOB").count(), 2, "{mixed:?}");
    },
    fn the_display_can_be_chosen_at_the_start(target: &Target) {
        let url = demo(target, "1");
        let mut session = Session::start(target, &[&url, "--format", "expanded", "--timing", "--plan"], 100);
        session.expect("> ");
        session.enter("SELECT COUNT(*) AS C FROM T_WIDE;");
        session.expect("Full Scan");
        session.expect("── row 1 ──");
        session.expect(" ms");
        session.enter("exit");
        assert_eq!(session.ends(), 0);
        firearrow(target, &["shell", &url, "--format", "parquet"]).failure(2, &["expanded", "csv"]);
    },
    fn a_script_ends_with_its_first_error(target: &Target) {
        let url = demo(target, "1");
        let script = "CREATE TABLE t (n INTEGER);\nINSERT INTO t VALUES (1);\nSELECT nonsense FROM t;\nINSERT INTO t VALUES (2);\n";
        piped(target, &url, script).failure(1, &["line 3: ", "NONSENSE"]);
        let outcome = piped(target, &url, "SELECT COUNT(*) C FROM t;").success();
        assert!(outcome.text().contains("C\n─\n0\n"), "{}", outcome.text());
        // What looks like a command within a text or a remark is none.
        let script = "INSERT INTO t VALUES (3); /*\n\\nonsense\n*/ SELECT 'a\n\\nonsense\nb' AS c FROM t;\nQUIT;\nSELECT 'never' FROM t;\n";
        let outcome = piped(target, &url, script).success();
        assert!(
            outcome.text().contains("a\\n\\nonsense\\nb") && !outcome.text().contains("never"),
            "{}",
            outcome.text()
        );
        let script = "SET BAIL OFF;\nSELECT *\nFROM nowhere;\nSELECT COUNT(*) C FROM t;\n";
        let outcome = piped(target, &url, script).failure(1, &["1 statement failed"]);
        assert!(outcome.text().contains("C\n─\n0\n"), "QUIT rolls back: {}", outcome.text());
        assert!(outcome.stderr.contains("error: line 2: "), "{}", outcome.stderr);
        // What follows in the line of a statement that failed is run, too, wherever the script comes from.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a script.sql");
        let script = "SET BAIL OFF;\nSELECT 1 FROM nowhere; INSERT INTO t VALUES (4); \\nonsense\n\
                      SELECT COUNT(*) C FROM t;\nSELECT 2\nFROM nowhere";
        fs::write(&path, script).unwrap();
        for name in ["a script.sql, ", ""] {
            let outcome = match name.is_empty() {
                true => piped(target, &url, script),
                false => firearrow(target, &["shell", &url, "-f", argument(&path)]),
            };
            let outcome = outcome.failure(1, &["3 statements failed"]);
            assert!(outcome.text().contains("C\n─\n1\n"), "{}", outcome.text());
            for (line, errors) in [(2, 2), (4, 1)] {
                let place = format!("{name}line {line}: ");
                assert_eq!(outcome.stderr.matches(&place).count(), errors, "{place}: {}", outcome.stderr);
            }
            assert!(outcome.stderr.contains("there is no command \\nonsense"), "{}", outcome.stderr);
            firearrow(target, &["query", &url, "DELETE FROM t"]).success();
        }
        // A terminator may be set in the middle of a line.
        let script = "SET TERM ^;\nSELECT 1 AS one FROM t_wide^ SET TERM ;^ SELECT 2 AS two\nFROM t_wide;\nSELECT 3 AS three FROM t_wide";
        let outcome = piped(target, &url, script).success();
        assert!(outcome.text().contains("TWO") && outcome.text().contains("THREE"), "{}", outcome.text());
        let outcome =
            piped(target, &url, "\\format csv\n\\timing on\n\\x\nSELECT 1 AS one FROM t_wide;\n").success();
        assert_eq!(outcome.text(), "ONE\r\n1\r\n");
        let several = [
            "shell",
            &url,
            "-c",
            "SET BAIL OFF",
            "-c",
            "SELECT 1 FROM nowhere",
            "-c",
            "SELECT 6 AS six FROM t_wide",
        ];
        let outcome = firearrow(target, &several).failure(1, &["1 statement failed"]);
        assert!(outcome.text().contains("SIX\n───\n  6\n"), "{}", outcome.text());
        // Names of files have quotes or a backslash before their blanks, as completion writes it.
        for name in [format!("'{}'", path.display()), path.display().to_string().replace(' ', "\\ ")] {
            piped(target, &url, &format!("\\i {name}\n")).failure(1, &["a script.sql, line 2: "]);
        }
        let output = folder.path().join("o t.txt");
        piped(target, &url, &format!("\\o '{}'\nSELECT 7 AS seven FROM t_wide;\n", output.display()))
            .success();
        assert_eq!(fs::read_to_string(&output).unwrap(), "SEVEN\n─────\n    7\n");
        piped(target, &url, "\\i a b\n").failure(2, &["quotes keep its blanks"]);
        piped(target, &url, "\\ddl\n").failure(2, &["NAME is missing"]);
        piped(target, &url, "\\nonsense\n").failure(2, &["there is no command \\nonsense", "\\?"]);
        piped(target, &url, "\\watch\n").failure(2, &["there is no statement yet"]);
        piped(target, &url, "SELECT 1 FROM RDB$DATABASE;\n\\watch\n").failure(2, &["needs a terminal"]);
        // This semicolon is no end.
        let copy = "\\copy 'SELECT 1 A, 2 B FROM RDB$DATABASE' /dev/stdout --format csv --delimiter ;\n";
        assert!(piped(target, &url, copy).success().text().contains("A;B\r\n1;2\r\n"));
        piped(target, &url, "\\copy T_WIDE\n").failure(2, &["required arguments"]);
        let copy = "\\copy (select id from t_wide) to 'x.csv' csv header\n";
        piped(target, &url, copy).failure(2, &["here this is \\copy 'select id from t_wide' x.csv"]);
        piped(target, &url, "\\copy t from 'x.csv'\n").failure(2, &["write \\load x.csv --into t"]);
        piped(target, &url, "\\i /nonexistent\n").failure(1, &["/nonexistent"]);
    }
);

matrix!(
    embedded,
    fn a_script_that_is_cut_off_changes_nothing(target: &Target) {
        let url = demo(target, "1");
        let count = |expected: &str| {
            let outcome = firearrow(target, &["query", &url, "SELECT COUNT(*) FROM NX", "--format", "csv"]);
            assert!(outcome.success().text().ends_with(expected), "{expected}");
        };
        firearrow(target, &["query", &url, "CREATE TABLE NX (I INTEGER)"]).success();
        for rest in [
            "CREATE PROCEDURE P9 AS BEGIN\n INSERT INTO NX VALUES(1);\n",
            "INSERT INTO NX VALUES (2) /* oops ;",
            "INSERT INTO NX SELECT 3 FROM RDB$DATABASE WHERE 'x <> 'y';\n",
            "EXECUTE BLOCK AS BEGIN\n",
        ] {
            let script = format!("INSERT INTO NX VALUES (1);\n{rest}");
            piped(target, &url, &script).failure(1, &["line 2", "in the middle"]);
            count("0\r\n");
        }
        firearrow(target, &["query", &url, "INSERT INTO NX VALUES (1); INSERT INTO NX VALUES (2) /* oops ;"])
            .failure(2, &["a comment is not closed"]);
        count("0\r\n");
        piped(target, &url, "INSERT INTO NX VALUES (1);\nINSERT INTO NX VALUES (2) -- the last one")
            .success();
        count("2\r\n");
    },
    fn options_of_the_command_line_are_refused(target: &Target) {
        let url = demo(target, "1");
        piped(target, &url, "\\load x.csv --into T --timeout 1s\n").failure(2, &["--timeout", "Ctrl-C"]);
    },
    fn load_with_an_open_transaction_is_refused(target: &Target) {
        let url = demo(target, "1");
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("k.csv");
        std::fs::write(&file, "N\n1\n").expect("it is written");
        let load = format!("\\load {} --into K", file.display());
        let rows = || firearrow(target, &["query", &url, "SELECT COUNT(*) FROM K", "--format", "csv"]);
        firearrow(target, &["query", &url, "CREATE TABLE K (N INTEGER PRIMARY KEY)"]).success();
        let begun = "INSERT INTO K VALUES (1);\n";
        piped(target, &url, &format!("{begun}{load}\n")).failure(2, &["COMMIT or ROLLBACK first"]);
        assert!(rows().success().text().ends_with("0\r\n"), "nothing was committed or loaded");
        piped(target, &url, &format!("SET TRANSACTION;\n{load}\n")).failure(2, &["COMMIT or ROLLBACK first"]);
        piped(target, &url, &format!("{begun}ROLLBACK;\n{load} --mode append\n")).success();
        assert!(rows().success().text().ends_with("1\r\n"), "it was loaded");
    },
    fn statements_are_repeated_and_edited(target: &Target) {
        let url = demo(target, "1");
        let mut session = Session::start(target, &[&url], 40);
        session.expect("> ");
        session.enter("SELECT 1 AS a FROM RDB$DATABASE;");
        session.expect("1 row");
        session.enter("\\e");
        session.expect("1 row");
        session.enter("\\p");
        session.expect("SELECT 2 AS a");
        session.expect("> ");
        // The editor finds nothing to change any more.
        session.enter("\\e");
        session.expect("not changed, so not run");
        session.expect("> ");
        session.enter("\\watch 0.2");
        for _ in 0..3 {
            session.expect("Ctrl-C ends it");
            session.expect("1 row");
        }
        kill(Pid::from_raw(session.child.id().cast_signed()), Signal::SIGINT).expect("it runs");
        session.expect("cancelled");
        // Passwords are not kept.
        session.enter("\\c firebird://a:secret@/nowhere.fdb");
        session.expect("error");
        session.expect("> ");
        session.enter("\\s");
        let history = session.expect("\\s\r\n");
        assert!(!history.contains("secret@"), "{history}");
        session.enter("exit");
        assert_eq!(session.ends(), 0);
    }
);

matrix!(
    embedded,
    fn the_pager_may_be_left_at_once(target: &Target) {
        let url = demo(target, "3000");
        let mut session = Session::start_with(target, &[&url], 100, "true");
        session.expect("> ");
        session.enter("SELECT * FROM T_INT10;");
        session.expect("not all rows were shown");
        session.expect("> ");
        session.enter("SELECT COUNT(*) FROM T_INT10;");
        session.expect("1 row");
        session.enter("exit");
        assert_eq!(session.ends(), 0);
    }
);

matrix!(
    wire,
    fn ctrl_c_ends_the_wait_for_a_server(target: &Target) {
        let url = demo(target, "1");
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = silent.local_addr().expect("it is bound").port();
        let mut session = Session::start(target, &[&url], 100);
        session.expect("> ");
        session.enter(&format!("\\c firebird://a:b@127.0.0.1:{port}/x?connect_timeout=60"));
        // The server has been asked.
        let _asked = silent.accept().expect("it connects");
        kill(Pid::from_raw(session.child.id().cast_signed()), Signal::SIGINT).expect("it runs");
        session.expect("cancelled");
        session.enter("SELECT 40 + 2 AS answer FROM RDB$DATABASE;");
        session.expect("42");
        session.enter("exit");
        assert_eq!(session.ends(), 0);
    },
    fn a_lost_connection_is_replaced(target: &Target) {
        let url = demo(target, "1");
        let mut session = Session::start(target, &[&url], 100);
        session.expect("> ");
        session.enter("SELECT CURRENT_CONNECTION AS own FROM RDB$DATABASE;");
        session.expect("1 row");
        let mut other = Session::start(target, &[&url], 100);
        other.expect("> ");
        other.enter("DELETE FROM MON$ATTACHMENTS WHERE MON$ATTACHMENT_ID <> CURRENT_CONNECTION;");
        other.expect("affected");
        other.enter("commit;");
        other.expect("committed");
        session.enter("SELECT 1 AS a FROM RDB$DATABASE;");
        session.expect("The connection is lost");
        session.enter("");
        session.expect("is for help");
        session.enter("SELECT 40 + 2 AS answer FROM RDB$DATABASE;");
        session.expect("42");
        session.enter("exit");
        assert_eq!(session.ends(), 0);
    }
);
