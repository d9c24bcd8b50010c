//! Progress on a terminal.

use firearrow_bench::text::{size, thousands};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The number of rows so far; hidden unless standard error is a terminal.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    bytes: Vec<Arc<AtomicU64>>,
}

impl Progress {
    /// Without a known end. `bytes` counts what was read from or written to each file so far.
    pub(crate) fn endless(quiet: bool, bytes: Vec<Arc<AtomicU64>>) -> Self {
        let bar = visible(quiet, ProgressBar::new_spinner);
        bar.set_style(style("{spinner} {human_pos} rows  {rate}  {msg}  {elapsed}"));
        if !bar.is_hidden() {
            bar.enable_steady_tick(REDRAW);
        }
        Self { bar, bytes }
    }

    /// For an unknown number of rows: [`share`](Self::share) reports the fraction read so far. `bytes` counts what was
    /// written to each file so far.
    pub(crate) fn of_share(quiet: bool, bytes: Vec<Arc<AtomicU64>>) -> Self {
        let bar = visible(quiet, || ProgressBar::new(WHOLE));
        bar.set_style(style("{bar:30} {percent:>3}%  {msg}  {eta}"));
        if !bar.is_hidden() {
            bar.enable_steady_tick(REDRAW);
        }
        Self { bar, bytes }
    }

    /// With a known number of rows.
    pub(crate) fn of(table: String, rows: u64, quiet: bool) -> Self {
        let bar = visible(quiet, || ProgressBar::new(rows));
        bar.set_style(style("{msg:8} {bar:30} {human_pos}/{human_len} rows  {rate}  {eta}"));
        bar.set_message(table);
        Self { bar, bytes: Vec::new() }
    }

    /// With a known number of bytes, of which [`reach`](Self::reach) says how many there were.
    pub(crate) fn of_bytes(bytes: u64, quiet: bool) -> Self {
        let bar = visible(quiet, || ProgressBar::new(bytes));
        bar.set_style(style("{bar:30} {bytes}/{total_bytes}  {msg}  {bytes_per_sec}  {eta}"));
        Self { bar, bytes: Vec::new() }
    }

    /// With a known number of turns. It is drawn only between turns, so as not to affect the measurement.
    pub(crate) fn turns(turns: u64, quiet: bool) -> Self {
        let bar = visible(quiet, || ProgressBar::new(turns));
        bar.set_style(style("{bar:30} {pos}/{len}  {msg}  {elapsed}"));
        Self { bar, bytes: Vec::new() }
    }

    /// Shows what comes next.
    pub(crate) fn tell(&self, what: &str) {
        self.bar.set_message(what.to_owned());
        self.bar.tick();
    }

    /// Shows how far it is in bytes, and how many rows that were.
    pub(crate) fn reach(&self, bytes: u64, rows: u64) {
        self.bar.set_position(bytes);
        self.bar.set_message(format!("{} rows", thousands(rows)));
    }

    /// Shows which part of all rows there was, and how many these were.
    pub(crate) fn share(&self, share: f64, rows: u64) {
        self.bar.set_position((share * WHOLE as f64) as u64);
        self.bar.set_message(format!("{} rows  {}", thousands(rows), size(self.bytes())));
    }

    fn bytes(&self) -> u64 {
        self.bytes.iter().map(|bytes| bytes.load(Ordering::Relaxed)).sum()
    }

    /// Counts completed rows.
    pub(crate) fn add(&self, rows: u64) {
        self.bar.inc(rows);
        if !self.bytes.is_empty() {
            self.bar.set_message(size(self.bytes()));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn visible(quiet: bool, bar: impl FnOnce() -> ProgressBar) -> ProgressBar {
    if quiet || !io::stderr().is_terminal() { ProgressBar::hidden() } else { bar() }
}

fn style(template: &str) -> ProgressStyle {
    let rate = |state: &ProgressState, text: &mut dyn Write| {
        // A progress bar that cannot be drawn is no reason to stop.
        let _ = write!(text, "{} rows/s", thousands(state.per_sec() as u64));
    };
    ProgressStyle::with_template(template).expect("templates are constants").with_key("rate", rate)
}

/// Steps of a bar that shows shares.
const WHOLE: u64 = 1000;
const REDRAW: Duration = Duration::from_millis(120);
