//! Locks of the embedded engine's databases, of which processes that other threads start have copies.

use crate::support::{fresh_closed, rows};
use firearrow::{Config, Connection, Kind, config, gds};
use firearrow_testkit::{Target, matrix};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// One test at a time starts processes: one that lasts may have inherited a descriptor that another has just opened.
static PROCESSES: Mutex<()> = Mutex::new(());

fn file(config: &Config) -> PathBuf {
    match &config.target {
        config::Target::Embedded { path } => PathBuf::from(path),
        config::Target::Remote { .. } => panic!("{config:?} is on a server"),
    }
}

fn works(connection: &Connection) -> bool {
    rows(connection.query("SELECT 1 FROM RDB$DATABASE").expect("it runs")).num_rows() == 1
}

matrix!(
    embedded,
    fn databases_are_created_while_processes_start(target: &Target) {
        let _alone = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
        let config = fresh_closed(target);
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !stop.load(Relaxed) {
                        Command::new("true").status().expect("it is there");
                    }
                });
            }
            let done = thread::Builder::new()
                .spawn_scoped(scope, || {
                    for number in 0..8 {
                        let mut config = config.clone();
                        let path = format!("{}{number}", file(&config).display());
                        config.target = config::Target::Embedded { path };
                        let connection = Connection::create(&config).expect("it is created");
                        assert!(works(&connection));
                        connection.close().expect("nothing is open");
                        assert!(works(&Connection::open(&config).expect("it opens")));
                    }
                })
                .expect("it starts")
                .join();
            stop.store(true, Relaxed);
            done.expect("all of them worked");
        });
    },
    fn children_do_not_keep_a_database_locked(target: &Target) {
        let _alone = PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
        let config = fresh_closed(target);
        let connection = Connection::open(&config).expect("it opens");
        let mut child = Command::new("sleep").arg("60").spawn().expect("it is there");
        connection.close().expect("nothing is open");
        let file = File::open(file(&config)).expect("it is there");
        // Processes of other tests may have it for an instant.
        let is_free = (0..100).any(|_| {
            thread::sleep(Duration::from_millis(20));
            file.try_lock().is_ok()
        });
        child.kill().expect("it runs");
        child.wait().expect("it was killed");
        assert!(is_free, "the child has it");
    },
    fn what_somebody_else_has_open_is_not_replaced(target: &Target) {
        let config = fresh_closed(target);
        let path = file(&config);
        let before = fs::read(&path).expect("it is there");
        let other = File::open(&path).expect("it is there");
        other.lock().expect("nobody has it");
        for make in [Connection::create, Connection::open] {
            let error = make(&config).map(drop).expect_err("it is locked");
            assert_eq!(error.kind(), Kind::Database, "{error}");
        }
        // Creating fails for another reason, or what is there would be opened in its place.
        let error = Connection::create(&config).map(drop).expect_err("it exists");
        assert!(!error.gds_codes().contains(&gds::ISC_ALREADY_OPENED), "{error}");
        assert_eq!(fs::read(&path).expect("it is there"), before);
        // Soon enough.
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(60));
                other.unlock().expect("it is ours");
            });
            assert!(works(&Connection::open(&config).expect("it opens")));
        });
    },
);
