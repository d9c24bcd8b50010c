//! What must hold for events on every engine, the older embedded ones included.

use crate::support::{fresh_closed, run};
use firearrow::{Connection, EventListener};
use firearrow_testkit::Target;
use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything here takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);
/// Long enough to believe that nothing comes.
pub(crate) const QUIET: Duration = Duration::from_millis(300);

/// Posts events in one transaction, which is committed.
pub(crate) fn post(connection: &Connection, names: &[&str]) {
    let posts: String = names.iter().map(|name| format!("POST_EVENT '{name}'; ")).collect();
    run(connection, &format!("EXECUTE BLOCK AS BEGIN {posts}END"));
}

/// A connection that listens, and one that posts.
pub(crate) fn pair(target: &Target) -> (Connection, Connection) {
    let config = fresh_closed(target);
    (Connection::open(&config).expect("it opens"), Connection::open(&config).expect("it opens twice"))
}

/// Waits for this many postings; how often each event was among them.
pub(crate) fn gather(listener: &EventListener, total: u64) -> BTreeMap<String, u64> {
    let deadline = Instant::now() + LIMIT;
    let (mut gathered, mut sum) = (BTreeMap::new(), 0);
    while sum < total {
        let left = deadline.saturating_duration_since(Instant::now());
        let report = listener.wait(left).expect("the connection is alive");
        let report = report.unwrap_or_else(|| panic!("{gathered:?} is not {total}"));
        assert!(report.total() > 0, "a report of nothing");
        sum += report.total();
        for (name, count) in report.iter() {
            *gathered.entry(name.to_owned()).or_default() += u64::from(count);
        }
    }
    gathered
}

fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
}

pub(crate) fn postings_are_counted(target: &Target) {
    let (listening, posting) = pair(target);
    post(&posting, &["new", "old"]);
    let listener = listening.events(&["new", "changed"]).expect("it listens");
    assert_eq!(listener.wait(QUIET).expect("alive"), None, "what was posted before does not count");
    post(&posting, &["new", "other", "new", "new"]);
    let report = listener.wait(LIMIT).expect("alive").expect("three postings");
    assert_eq!((report.get("new"), report.get("changed"), report.total()), (3, 0, 3));
    assert!(report.iter().eq([("new", 3)]));
    assert_eq!(listener.wait(QUIET).expect("alive"), None);
    post(&posting, &["changed"]);
    post(&posting, &["new", "changed"]);
    assert_eq!(gather(&listener, 3), counts(&[("changed", 2), ("new", 1)]));
    // Only what is committed was posted.
    let mut transaction = posting.begin(Default::default()).expect("it starts");
    let block = "EXECUTE BLOCK AS BEGIN POST_EVENT 'new'; END";
    transaction.execute(block).expect("it runs");
    assert_eq!(listener.wait(QUIET).expect("alive"), None);
    transaction.rollback().expect("it rolls back");
    assert_eq!(listener.wait(QUIET).expect("alive"), None);
    post(&listening, &["new"]);
    assert_eq!(gather(&listener, 1), counts(&[("new", 1)]));
}

pub(crate) fn nothing_is_lost_between_questions(target: &Target) {
    const ROUNDS: u64 = 300;
    let (listening, posting) = pair(target);
    let listener = listening.events(&["a", "b", "c"]).expect("it listens");
    let work = thread::spawn(move || {
        for round in 0..ROUNDS {
            post(&posting, if round % 3 == 0 { &["a", "b", "b"] } else { &["a"] });
            if round % 50 == 0 {
                thread::sleep(Duration::from_millis(20));
            }
        }
        posting
    });
    let expected = counts(&[("a", ROUNDS), ("b", 2 * ROUNDS.div_ceil(3))]);
    assert_eq!(gather(&listener, expected.values().sum()), expected);
    let posting = work.join().expect("it ends");
    assert_eq!(listener.wait(QUIET).expect("alive"), None);
    // A listener that was busy for long hears of everything at once.
    for _ in 0..20 {
        post(&posting, &["c"]);
    }
    thread::sleep(Duration::from_millis(100));
    assert_eq!(gather(&listener, 20), counts(&[("c", 20)]));
    drop(listener);
    listening.close().expect("nothing is left");
}
