//! `firearrow events`

use crate::command::{demo, finish, firearrow, plain, prepare};
use firearrow_testkit::{Target, matrix};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// A listener that has begun to listen.
struct Listening {
    child: Child,
    stderr: BufReader<ChildStderr>,
}

impl Listening {
    fn start(target: &Target, arguments: &[&str]) -> Self {
        let mut command = prepare(Some(target), &[&["events"], arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.starts_with("listening to "), "{line}");
        Self { child, stderr }
    }

    fn line(&mut self) -> String {
        // One byte at a time: what is behind the line is for later.
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            let mut byte = [0];
            self.child.stdout.as_mut().unwrap().read_exact(&mut byte).unwrap();
            line.push(byte[0]);
        }
        String::from_utf8(line).unwrap()
    }

    fn end(mut self) -> (i32, String, String) {
        let mut errors = String::new();
        self.stderr.read_to_string(&mut errors).unwrap();
        let outcome = finish(self.child.wait_with_output().unwrap());
        (outcome.code, outcome.text().to_owned(), errors)
    }
}

fn post(target: &Target, url: &str, names: &[&str]) {
    let posts: String = names.iter().map(|name| format!("POST_EVENT '{name}'; ")).collect();
    firearrow(target, &["query", url, &format!("EXECUTE BLOCK AS BEGIN {posts}END")]).success();
}

matrix!(
    wire,
    fn events_are_printed_until_there_were_enough(target: &Target) {
        let url = demo(target, "1");
        let mut listening = Listening::start(target, &[&url, "a", "B c", "--count", "4"]);
        post(target, &url, &["B c", "other", "a", "B c"]);
        assert_eq!((listening.line(), listening.line()), ("a 1\n".to_owned(), "B c 2\n".to_owned()));
        post(target, &url, &["a"]);
        assert_eq!(listening.end(), (0, "a 1\n".to_owned(), String::new()));
    },
    fn json_has_an_object_per_event(target: &Target) {
        let url = demo(target, "1");
        let listening =
            Listening::start(target, &[&url, "say \"hi\"", "--json", "--count", "1", "--timeout", "1min"]);
        post(target, &url, &["say \"hi\""]);
        let (code, text, errors) = listening.end();
        assert_eq!((code, errors), (0, String::new()));
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report, serde_json::json!({ "event": "say \"hi\"", "count": 1 }));
    },
    fn ctrl_c_ends_it(target: &Target) {
        let url = demo(target, "1");
        let mut listening = Listening::start(target, &[&url, "a"]);
        post(target, &url, &["a", "a"]);
        assert_eq!(listening.line(), "a 2\n");
        let begin = Instant::now();
        let id = listening.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let (code, text, errors) = listening.end();
        assert_eq!((code, text.as_str()), (130, ""));
        assert!(errors.contains("interrupted"), "{errors}");
        assert!(begin.elapsed() < Duration::from_secs(10));
    },
    fn a_way_that_is_closed_is_explained(target: &Target) {
        let url = demo(target, "1");
        let outcome = firearrow(target, &["events", &format!("{url}?event_port=1"), "a"]);
        outcome.failure(1, &["127.0.0.1:1", "RemoteAuxPort"]);
    }
);

matrix!(
    all,
    fn time_runs_out(target: &Target) {
        let url = demo(target, "1");
        let begin = Instant::now();
        firearrow(target, &["events", &url, "a", "--timeout", "300ms"]).success();
        assert!(begin.elapsed() >= Duration::from_millis(300));
        let outcome = firearrow(target, &["events", &url, "a", "--timeout", "0s", "--count", "2"]);
        outcome.failure(1, &["0 of 2 events in time"]);
    }
);

#[test]
fn names_are_needed() {
    plain(&["events", "x.fdb"]).failure(2, &["NAME"]);
    plain(&["events", "x.fdb", "a", "--timeout", "5"]).failure(2, &["ms, s or min"]);
    plain(&["events", "x.fdb", "a", "--count", "0"]).failure(2, &["--count"]);
}
