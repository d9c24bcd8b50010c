//! Whole sessions with a server that a proxy makes hostile, from the handshake to the end. `make hostile` plays thousands.

#[path = "../../examples/hostile/database.rs"]
mod database;
#[path = "../../examples/hostile/session.rs"]
mod session;
#[path = "../../examples/hostile/step.rs"]
mod step;

use firearrow_testkit::{Campaign, Server, Target, is_emulated, matrix, this_program, work};
use std::time::Duration;

/// Has the URL of the database in a worker.
const URL: &str = "FIREARROW_HOSTILE_URL";
/// Sessions for each server: they take 15 s.
const SESSIONS: u64 = 120;
/// The longest that a session may take: some answers, each as late as `read_timeout` allows.
const LIMIT: Duration = Duration::from_secs(30);
/// What a worker may allocate, and what it may have in use. The largest value of the database has 8 KB.
const MEMORY: u64 = 384 << 20;
const PEAK: u64 = 192 << 20;

/// Plays the sessions of the campaign below, which starts this program again to get it.
#[test]
#[ignore = "a worker, of no use by itself"]
fn worker() {
    if let Ok(url) = std::env::var(URL) {
        work(|seed, port| session::play(seed, port, &url));
    }
}

matrix!(
    wire,
    fn sessions_with_a_hostile_server_end_in_time_and_in_bounds(target: &Target) {
        // Misled clients send what harms servers, too: after such sessions, some crash or stand still.
        let server = Server::start(target.generation()).expect("the shared one runs as well");
        let url = server.url_at(server.address(), &server.fresh_database_path());
        database::create(&url).expect("it is created");
        let campaign = Campaign {
            server: server.address(),
            server_process: None,
            seeds: 1..1 + SESSIONS,
            parallel: 4,
            limit: LIMIT,
            memory: MEMORY,
            hostile_client: false,
            verbose: false,
        };
        let tally = campaign.run(|| {
            let mut command = this_program().expect("a test has a path");
            command.args(["--ignored", "--exact", "hostile::worker", "--nocapture"]).env(URL, &url);
            command
        });
        let tally = tally.expect("workers start");
        println!("{target}: {tally}");
        assert!(tally.failures().is_empty(), "{target}: {tally}");
        assert_eq!(tally.sessions(), SESSIONS);
        assert!(tally.longest().0 < LIMIT, "{target}: {tally}");
        assert!(is_emulated() || tally.peak().0 < PEAK, "{target}: {tally}");
        if !server.works() {
            // The last sessions could not even connect.
            println!("{target} has not survived");
            return;
        }
        // The damage is felt, and not by the handshake alone.
        assert!(tally.ended("ok") < SESSIONS * 3 / 4, "{target}: {tally}");
        for kind in ["Protocol", "Timeout"] {
            assert!(tally.ended(kind) > 2, "{target}, {kind}: {tally}");
        }
    }
);
