//! `firearrow events`

use crate::args::EventsArgs;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::open::{open, parse};
use crate::output;
use crate::terminal;
use firearrow::EventCounts;
use serde_json::json;
use std::time::{Duration, Instant};

/// How soon Ctrl-C is noticed.
const POLL: Duration = Duration::from_millis(100);

/// Time after the time limit until the process is ended by force: the last request may be in flight.
const SLACK: Duration = Duration::from_secs(2);

/// The time limit starts when the command listens: it limits the waiting, not the whole command.
pub(crate) fn run(args: &EventsArgs, limit: Option<Duration>, json: bool) -> Result<()> {
    let config = parse(&args.url)?;
    interrupt::set_limit(limit.map(|limit| limit.max(config.connect_timeout)));
    let connection = open(&config)?;
    let names: Vec<&str> = args.names.iter().map(String::as_str).collect();
    let listener = connection.events(&names)?;
    // No event is missed from here on: scripts wait for this line before they post events.
    terminal::remark(&format!("listening to {}", names.join(", ")));
    interrupt::set_limit_with(limit, SLACK);
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let wanted = args.count.map_or(u64::MAX, |count| count.get().into());
    let mut seen = 0;
    while seen < wanted {
        interrupt::check()?;
        let left = deadline.map_or(POLL, |deadline| deadline.saturating_duration_since(Instant::now()));
        if let Some(report) = listener.wait(left.min(POLL))? {
            print(&report, json)?;
            seen += report.total();
        } else if left.is_zero() {
            return match args.count {
                None => Ok(()),
                Some(count) => Err(Failure::other(format!("{seen} of {count} events in time"))),
            };
        }
    }
    Ok(())
}

/// Prints a line for each posted event.
fn print(report: &EventCounts, json: bool) -> Result<()> {
    report.iter().try_for_each(|(name, count)| match json {
        true => output::print_data(&format!("{}\n", json!({ "event": name, "count": count }))),
        false => output::print(&format!("{} {count}\n", terminal::line(name))),
    })
}
