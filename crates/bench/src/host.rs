//! What a benchmark needs from the program that runs it.

use crate::error::Result;
use firearrow::Connection;
use firearrow::config::Config;
use std::io;
use std::process::{Child, Command};

/// The program that runs a benchmark: it opens connections, runs child processes, shows progress and can stop the run.
/// All methods have defaults that suit a program without a terminal.
pub trait Host {
    /// Connects to an existing database. Some benchmarks time this call.
    ///
    /// # Errors
    /// The errors of [`Connection::open`].
    fn open(&self, config: &Config) -> firearrow::Result<Connection> {
        Connection::open(config)
    }

    /// Creates a database and connects to it.
    ///
    /// # Errors
    /// The errors of [`Connection::create`].
    fn create(&self, config: &Config) -> firearrow::Result<Connection> {
        Connection::create(config)
    }

    /// Starts a program, which must not outlive this one. It is told when the program has ended: [`ended`](Self::ended).
    ///
    /// # Errors
    /// If the program cannot be started.
    fn start(&self, command: &mut Command) -> io::Result<Child> {
        command.spawn()
    }

    /// Forgets a program of [`start`](Self::start), which has ended or will now be waited for.
    fn ended(&self, id: u32) {
        let _ = id;
    }

    /// Returns [`Error::Stopped`](crate::Error::Stopped) once the run should end. Called between repetitions and
    /// between blocks of rows.
    ///
    /// # Errors
    /// Any error ends the run, which returns it.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Notes what the run would leave in the database if it ended now; `None` = nothing.
    fn leaves(&self, text: Option<String>) {
        drop(text);
    }

    /// Starts to show the progress of a longer task, until the returned value is dropped.
    fn progress(&self, goal: Goal<'_>) -> Box<dyn Progress> {
        let _ = goal;
        Box::new(Silent)
    }

    /// Says what the run does besides measuring, such as creating tables.
    fn note(&self, text: &str) {
        let _ = text;
    }

    /// Shows what the run is doing now; an empty text clears the display. Never called while something is being timed.
    fn status(&self, text: &str) {
        let _ = text;
    }
}

/// What a task counts, and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal<'a> {
    /// Rows to insert into a demo table.
    Rows {
        /// The table's name.
        table: &'a str,
        /// Number of rows.
        rows: u64,
    },
    /// Turns of a benchmark.
    Turns(u64),
}

/// Receives the progress of a task. It is dropped when the task is done or has failed.
pub trait Progress {
    /// Shows what comes next.
    fn tell(&self, what: &str);

    /// Counts completed rows or turns.
    fn add(&self, count: u64);
}

/// A host that shows nothing and never stops a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standalone;

impl Host for Standalone {}

struct Silent;

impl Progress for Silent {
    fn tell(&self, _: &str) {}

    fn add(&self, _: u64) {}
}
