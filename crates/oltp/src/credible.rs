//! Whether what another client's program counts and times by itself can be true of the time that it was seen to have.

use crate::pace::Pace;
use crate::plan::Plan;
use crate::tally::Tally;

/// What cannot be true. `seconds` were measured, of `all_s` in which terminals worked.
pub(crate) fn problems(tally: &Tally, plan: &Plan, seconds: f64, all_s: f64) -> Vec<String> {
    let mut found = Vec::new();
    let terminals = plan.terminals as f64;
    // Clocks differ a little, and terminals begin before the program has said so.
    let most_s = all_s * 1.05 + 1.0;
    let longest_s = tally.longest_us() as f64 / 1e6;
    if longest_s > most_s {
        found.push(format!("an operation took {longest_s:.1} s, and terminals worked for {all_s:.1} s"));
    }
    let busy_s = tally.busy_s();
    let most_busy_s = match plan.pace.rate {
        None => terminals * most_s,
        // Operations that are due wait at the same time.
        Some(_) => f64::INFINITY,
    };
    if busy_s > most_busy_s {
        found.push(took(busy_s, terminals * seconds));
    }
    let most_due = plan.pace.rate.map_or(0.0, |rate| rate * most_s + terminals);
    if tally.backlog as f64 > most_due {
        found.push(format!("{} operations had not begun, and {most_due:.0} were due at most", tally.backlog));
    }
    let sum = |counts: &mut dyn Iterator<Item = &u64>| counts.map(|count| *count as f64).sum::<f64>();
    let retries = sum(&mut tally.retries.values());
    let made = tally.completed() as f64 + sum(&mut tally.errors.values());
    if retries > MOST_RETRIES * (made + terminals) {
        found.push(format!("{retries:.0} repetitions, of {made:.0} operations"));
    }
    found
}

/// The problem, if terminals that never pause account for too little of the measured time. Operations still running when the
/// clock stopped count as well.
pub(crate) fn idle(tally: &Tally, plan: &Plan, seconds: f64) -> Option<String> {
    let terminals = plan.terminals as f64;
    let (wanted, told) = (terminals * seconds, tally.busy_s());
    let missing = terminals * tally.late_us as f64 / 1e6;
    (plan.pace == Pace::default() && told + missing < wanted * 0.2 - 0.5).then(|| took(told, wanted))
}

fn took(told: f64, wanted: f64) -> String {
    format!("all operations took {told:.1} s together, of {wanted:.1} s in which terminals worked")
}

/// Far more than the attempts of an operation.
const MOST_RETRIES: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Locality, Mix, Operation};
    use crate::plan::Level;
    use crate::scale::Scale;
    use crate::way::{Mode, Outcome};
    use std::time::Duration;

    fn plan(rate: Option<f64>) -> Plan {
        Plan {
            scale: Scale::tiny(1),
            terminals: 2,
            mode: Mode::Sp,
            locality: Locality::Home,
            mix: Mix::Equal,
            pace: Pace { rate, ..Pace::default() },
            isolation: Level::Snapshot,
            seed: 1,
        }
    }

    /// This many operations of so many seconds.
    fn tally(count: u32, seconds: f64) -> Tally {
        let mut tally = Tally::default();
        for _ in 0..count {
            tally.measured(
                Operation::StockLevel,
                Outcome::Read { rows: 1 },
                Duration::from_secs_f64(seconds),
                0,
            );
        }
        tally
    }

    /// What is found of ten measured seconds after two others.
    fn found(tally: &Tally, rate: Option<f64>) -> String {
        problems(tally, &plan(rate), 10.0, 12.0).join("; ")
    }

    #[test]
    fn what_can_be_is_believed() {
        let mut busy = tally(20, 1.0);
        busy.retries.insert("deadlock".into(), 180);
        assert_eq!(found(&busy, None), "");
        assert_eq!(found(&tally(2, 12.0), None), "");
        let mut late = tally(100, 11.5);
        late.backlog = 1100;
        assert_eq!(found(&late, Some(100.0)), "");
    }

    #[test]
    fn operations_take_no_more_time_than_there_was() {
        assert_eq!(found(&tally(1, 20.0), None), "an operation took 20.0 s, and terminals worked for 12.0 s");
        assert!(found(&tally(1, 20.0), Some(1.0)).starts_with("an operation took 20.0 s"));
        let together = found(&tally(100, 1.0), None);
        assert!(
            together.starts_with("all operations took 100.") && together.contains(", of 20.0 s"),
            "{together}"
        );
        assert!(idle(&tally(1, 1.0), &plan(None), 10.0).unwrap().starts_with("all operations took 1.0 s"));
        assert!(idle(&tally(1, 1.0), &plan(Some(1.0)), 10.0).is_none());
    }

    #[test]
    fn no_more_waits_than_was_due() {
        let mut tally = tally(1, 1.0);
        tally.backlog = 1;
        assert_eq!(found(&tally, None), "1 operations had not begun, and 0 were due at most");
        tally.backlog = 2000;
        assert_eq!(found(&tally, Some(100.0)), "2000 operations had not begun, and 1362 were due at most");
    }

    #[test]
    fn operations_are_repeated_a_few_times() {
        let mut tally = tally(1, 1.0);
        tally.retries.insert("deadlock".into(), 3001);
        assert_eq!(found(&tally, None), "3001 repetitions, of 1 operations");
        tally.errors.insert("wrong".into(), 1);
        assert_eq!(found(&tally, None), "");
    }
}
