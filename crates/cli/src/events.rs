//! `firearrow events`

use crate::args::EventsArgs;
use crate::failure::{Failure, Result};
use crate::interrupt::Interrupt;
use crate::open::open;
use crate::output;
use firearrow::EventCounts;
use firearrow::config::Config;
use serde_json::json;
use std::time::{Duration, Instant};

/// How soon Ctrl-C is noticed.
const POLL: Duration = Duration::from_millis(100);

pub(crate) fn run(args: &EventsArgs, json: bool) -> Result<()> {
    let interrupt = Interrupt::watch()?;
    let connection = open(&Config::parse(&args.url)?)?;
    let names: Vec<&str> = args.names.iter().map(String::as_str).collect();
    let listener = connection.events(&names)?;
    // From here on nothing is missed: scripts wait for this line before they cause events.
    eprintln!("listening to {}", names.join(", "));
    let deadline = args.timeout.and_then(|limit| Instant::now().checked_add(limit.0));
    let wanted = args.count.map_or(u64::MAX, |count| count.get().into());
    let mut seen = 0;
    while seen < wanted {
        interrupt.check()?;
        let left = deadline.map_or(POLL, |deadline| deadline.saturating_duration_since(Instant::now()));
        if let Some(report) = listener.wait(left.min(POLL))? {
            output::print(&lines(&report, json))?;
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

/// A line for each event that was posted.
fn lines(report: &EventCounts, json: bool) -> String {
    let line = |(name, count): (&str, u32)| match json {
        true => format!("{}\n", json!({ "event": name, "count": count })),
        false => format!("{name} {count}\n"),
    };
    report.iter().map(line).collect()
}
