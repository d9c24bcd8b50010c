//! Ctrl-C, SIGTERM, SIGHUP and `--timeout`: on every engine, whatever the command is doing.

use crate::command::{Outcome, argument, demo, finish, firearrow, plain, prepare};
use firearrow_testkit::{Server, Target, matrix};
use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Runs for hours and gives a single row.
const ENDLESS: &str = "SELECT COUNT(*) FROM RDB$FIELDS A, RDB$FIELDS B, RDB$FIELDS C, RDB$FIELDS D";
/// What cancelling takes at most, on a busy machine. What cannot be cancelled takes longer than that.
const AT_ONCE: Duration = Duration::from_millis(2500);
/// After which time the command ends in any case, and some more.
const AT_MOST: Duration = Duration::from_millis(3900);
/// Until the command does what it is interrupted in.
const UNDER_WAY: Duration = Duration::from_millis(1500);

/// A command under way.
struct Running(Child);

impl Running {
    fn start(target: Option<&Target>, arguments: &[&str]) -> Self {
        Self::spawn(&mut prepare(target, arguments))
    }

    fn spawn(command: &mut Command) -> Self {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(UNDER_WAY);
        Self(child)
    }

    fn send(&self, signal: &str) {
        kill(signal, &self.0.id().to_string());
    }

    /// What it printed, and how long it took to end.
    fn end(mut self) -> (Outcome, Duration) {
        let begin = Instant::now();
        let deadline = begin + Duration::from_secs(60);
        while self.0.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                self.0.kill().unwrap();
                panic!("it did not end: {:?}", self.0.wait_with_output());
            }
            thread::sleep(Duration::from_millis(5));
        }
        let took = begin.elapsed();
        (finish(self.0.wait_with_output().unwrap()), took)
    }

    #[track_caller]
    fn end_within(self, limit: Duration) -> Outcome {
        let (outcome, took) = self.end();
        assert!(took < limit, "{took:?}: {}", outcome.stderr);
        outcome
    }
}

fn kill(signal: &str, id: &str) {
    let status = Command::new("kill").args([&format!("-{signal}"), "--", id]).status();
    assert!(status.unwrap().success());
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

matrix!(
    all,
    fn ctrl_c_ends_a_query_before_its_first_row(target: &Target) {
        let url = demo(target, "1");
        let query = Running::start(Some(target), &["query", &url, ENDLESS]);
        query.send("INT");
        let outcome = query.end_within(AT_ONCE);
        assert_eq!(outcome.code, 130);
        let expected = "cancelling; press Ctrl-C again to stop at once\nerror: interrupted\n";
        assert_eq!((outcome.stderr.as_str(), outcome.text()), (expected, ""));
    },
    fn sigterm_and_sighup_leave_no_file(target: &Target) {
        let url = demo(target, "1000");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let many = "SELECT A.C1 FROM T_INT10 A CROSS JOIN T_INT10 B CROSS JOIN T_INT10 C";
        for (sql, signal, status, text) in [
            (ENDLESS, "TERM", 143, "terminated"),
            (many, "TERM", 143, "terminated"),
            (many, "QUIT", 131, "quit"),
            (many, "HUP", 129, "hangup: the terminal was closed"),
        ] {
            let copy = Running::start(Some(target), &["copy", &url, sql, argument(&path)]);
            assert_eq!(files(folder.path()).len(), 1, "it is hidden");
            copy.send(signal);
            let outcome = copy.end_within(AT_ONCE).failure(status, &[text]);
            assert!(outcome.stderr.starts_with("cancelling; a second signal"), "{}", outcome.stderr);
            assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
        }
    },
    fn the_time_limit_ends_it(target: &Target) {
        let url = demo(target, "1000");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        let many = "SELECT A.C1 FROM T_INT10 A CROSS JOIN T_INT10 B CROSS JOIN T_INT10 C";
        for arguments in
            [&["query", &url, ENDLESS, "--timeout", "700ms"][..], &["copy", &url, many, argument(&path)]]
        {
            let begin = Instant::now();
            let outcome = firearrow(target, &[&["--timeout", "700ms"], arguments].concat()[..]);
            assert!((Duration::from_millis(700)..AT_MOST).contains(&begin.elapsed()));
            assert_eq!(outcome.code, 124, "{}", outcome.stderr);
            assert_eq!(outcome.stderr, "error: timed out after 700ms (--timeout)\n");
            assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
        }
        firearrow(target, &["query", &url, "SELECT 1 FROM RDB$DATABASE", "--timeout", "1min"]).success();
    },
    fn all_partitions_are_cancelled(target: &Target) {
        let url = demo(target, "20000");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        // Some milliseconds for each row, which is long, so that servers send the first ones soon.
        let work = "CHAR_LENGTH(REPLACE(LPAD('', 8000, 'ab'), 'a', 'b'))";
        let sql = &format!("SELECT LPAD('', 2000, 'x'), {} FROM T_WIDE", [work; 8].join(" + "));
        let partitions = ["--partitions", "3", "--without-snapshot", "--separate", "--batch-rows", "10"];
        let arguments = [&["copy", &url, sql, argument(&path)], &partitions[..]].concat();
        let copy = Running::start(Some(target), &arguments);
        let deadline = Instant::now() + Duration::from_secs(30);
        while files(folder.path()).len() < 3 {
            assert!(Instant::now() < deadline, "they are read by three");
            thread::sleep(Duration::from_millis(20));
        }
        copy.send("INT");
        copy.end_within(AT_ONCE).failure(130, &["interrupted"]);
        assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
        // Nor does a server go on.
        let running = "SELECT COUNT(*) N FROM MON$STATEMENTS WHERE MON$STATE = 1 \
            AND MON$ATTACHMENT_ID <> CURRENT_CONNECTION";
        let running = || firearrow(target, &["query", &url, running, "--json"]).success().json()["N"].clone();
        let deadline = Instant::now() + Duration::from_secs(5);
        while running() != 0 {
            assert!(Instant::now() < deadline, "{} statements are running", running());
        }
    },
    fn what_stays_of_an_unfinished_demo_is_told(target: &Target) {
        let url = target.fresh_url();
        let arguments = ["create-demo", &url, "--rows", "2000000", "--quiet"];
        let create = Running::start(Some(target), &arguments);
        create.send("INT");
        let text = "T_WIDE is missing or incomplete; create-demo --force recreates the demo tables";
        create.end_within(AT_ONCE).failure(130, &["interrupted", text]);
        firearrow(target, &["create-demo", &url, "--rows", "1"]).failure(1, &["T_WIDE exists; --force"]);
        firearrow(target, &["create-demo", &url, "--rows", "1", "--force"]).success();
    },
    fn measuring_inserts_ends_at_once(target: &Target) {
        let url = demo(target, "1");
        let bench = Running::start(Some(target), &["bench", "insert", &url, "--rows", "3000000"]);
        bench.send("INT");
        let text = "the table FIREARROW_BENCH stays; the next run replaces it";
        let outcome = bench.end_within(AT_MOST).failure(130, &["interrupted", text]);
        assert_eq!(outcome.text(), "");
        // It is there, without the rows.
        let count = "SELECT COUNT(*) N FROM FIREARROW_BENCH";
        assert_eq!(firearrow(target, &["query", &url, count, "--json"]).success().json()["N"], 0);
    },
    fn a_full_pipe_ends_after_three_seconds(target: &Target) {
        let url = demo(target, "1000");
        let sql = "SELECT A.* FROM T_WIDE A CROSS JOIN T_WIDE B";
        let query = Running::start(Some(target), &["query", &url, sql, "--format", "csv"]);
        query.send("INT");
        let (status, took) = {
            let mut child = query.0;
            let begin = Instant::now();
            (child.wait().unwrap(), begin.elapsed())
        };
        assert_eq!(status.code(), Some(130));
        assert!(took < AT_MOST, "{took:?}");
    }
);

matrix!(
    wire,
    /// A server that does not react is left after two seconds.
    fn ctrl_c_ends_it_while_the_server_is_stopped(target: &Target) {
        let stopped = Stopped::start(target);
        let query = Running::start(Some(target), &["query", &stopped.url, ENDLESS]);
        stopped.stop();
        query.send("INT");
        query.end_within(AT_MOST).failure(130, &["press Ctrl-C again", "error: interrupted"]);

        // And between two calls, where there is nothing to cancel.
        let listener = Running::start(Some(target), &["info", &stopped.url]);
        listener.send("INT");
        listener.end_within(Duration::from_secs(1)).failure(130, &["interrupted"]);
    },
    fn the_second_ctrl_c_ends_it_at_once_and_leaves_no_file(target: &Target) {
        let stopped = Stopped::start(target);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        let copy = Running::start(Some(target), &["copy", &stopped.url, ENDLESS, argument(&path)]);
        assert_eq!(files(folder.path()).len(), 1, "it is hidden");
        stopped.stop();
        copy.send("INT");
        thread::sleep(Duration::from_millis(300));
        copy.send("INT");
        let outcome = copy.end_within(Duration::from_millis(700));
        assert_eq!(outcome.code, 130);
        assert_eq!(outcome.stderr, "cancelling; press Ctrl-C again to stop at once\n");
        assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
    },
    /// The kernel sends SIGXFSZ first, which would end the command at once.
    fn a_file_that_may_not_get_longer_is_removed(target: &Target) {
        let url = demo(target, "1000");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        let many = "SELECT A.C1 FROM T_INT10 A CROSS JOIN T_INT10 B";
        let copy = prepare(Some(target), &["copy", &url, many, argument(&path)]);
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 64; exec \"$0\" \"$@\""]).arg(copy.get_program()).args(copy.get_args());
        for (name, value) in copy.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        finish(shell.output().unwrap()).failure(1, &["File too large"]);
        assert!(files(folder.path()).is_empty(), "{:?}", files(folder.path()));
    },
    /// The server is silent from the moment on at which it listens.
    fn events_end_when_the_server_is_stopped(target: &Target) {
        let stopped = Stopped::start(target);
        let events = Running::start(Some(target), &["events", &stopped.url, "a", "--timeout", "3s"]);
        stopped.stop();
        let outcome = events.end_within(Duration::from_secs(8));
        assert!([0, 124].contains(&outcome.code), "{}: {}", outcome.code, outcome.stderr);
        assert!(outcome.stderr.contains("listening to a\n"), "{}", outcome.stderr);
    }
);

matrix!(
    embedded,
    /// The engine has handlers of signals, too.
    fn ctrl_c_ends_it_while_an_engine_opens_the_database(target: &Target) {
        let url = demo(target, "1");
        let trigger = "CREATE TRIGGER SLOW ON CONNECT AS DECLARE N INTEGER = 0; BEGIN \
            WHILE (N < 2000000000) DO N = N + 1; END";
        firearrow(target, &["query", &url, trigger]).success();
        for (signal, status) in [("INT", 130), ("TERM", 143)] {
            let info = Running::start(Some(target), &["info", &url]);
            info.send(signal);
            info.end_within(Duration::from_secs(1)).failure(status, &["cancelling; "]);
        }
    }
);

/// A server of its own, which can be stopped.
struct Stopped {
    server: Server,
    url: String,
}

impl Stopped {
    fn start(target: &Target) -> Self {
        let server = Server::start(target.generation()).expect("there is one already");
        let url = server.url_at(server.address(), &server.fresh_database_path());
        firearrow(target, &["create-demo", &url, "--rows", "1"]).success();
        Self { server, url }
    }

    fn stop(&self) {
        // It leads a process group.
        kill("STOP", &format!("-{}", self.server.process_id()));
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn connecting_is_interrupted() {
    // It takes connections, and never says a word.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("firebird://u:p@{}/x", listener.local_addr().unwrap());
    for (signal, status) in [("INT", 130), ("TERM", 143), ("HUP", 129), ("QUIT", 131)] {
        let info = Running::start(None, &["info", &url]);
        info.send(signal);
        info.end_within(Duration::from_secs(1)).failure(status, &["cancelling; "]);
    }
    let begin = Instant::now();
    plain(&["--timeout", "300ms", "info", &url]).failure(124, &["timed out after 300ms (--timeout)"]);
    assert!(begin.elapsed() < AT_ONCE);
}

#[test]
fn reading_the_statement_is_interrupted() {
    let mut command = prepare(None, &["query", "127.0.0.1/1:x", "-"]);
    let query = Running::spawn(command.stdin(Stdio::piped()));
    query.send("INT");
    query.end_within(Duration::from_secs(1)).failure(130, &["interrupted"]);
}

/// As timeout(1) sends them.
#[test]
fn a_signal_that_comes_twice_is_one() {
    let (mut proxy, id) = proxy(&mut prepare(None, &PROXY));
    kill("TERM", &id);
    kill("TERM", &id);
    let mut end = String::new();
    proxy.stdout.take().unwrap().read_to_string(&mut end).unwrap();
    assert!(end.contains("connections: 0"), "{end}");
    let outcome = finish(proxy.wait_with_output().unwrap());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (143, ""));
}

#[test]
fn nohup_is_respected() {
    let proxy_command = prepare(None, &[&PROXY[..], &["--timeout", "2s"]].concat());
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(proxy_command.get_program());
    let (proxy, id) = proxy(shell.args(proxy_command.get_args()));
    kill("HUP", &id);
    let outcome = finish(proxy.wait_with_output().unwrap());
    assert_eq!((outcome.code, outcome.stderr.as_str()), (124, ""));
}

const PROXY: [&str; 6] = ["wan-proxy", "127.0.0.1:1", "--rtt", "1ms", "--rate", "unlimited"];

fn proxy(command: &mut Command) -> (Child, String) {
    let child = Running::spawn(command).0;
    let id = child.id().to_string();
    (child, id)
}
