//! What makes a run's figures worthless.

use crate::input::Operation;
use crate::run::Options;
use crate::tally::Tally;

/// Checks errors, mix and completeness against their limits.
pub(crate) fn gates(tally: &Tally, options: &Options, seconds: f64) -> Vec<String> {
    let mut problems = Vec::new();
    let wanted = options.measure.as_secs_f64();
    if seconds < 0.95 * wanted {
        problems.push(format!("measured for {seconds:.1} s, not for {wanted:.1} s"));
    }
    if seconds > 1.05 * wanted + 1.0 {
        problems.push(format!("measured for {seconds:.1} s, not for {wanted:.1} s: something stood still"));
    }
    let late = tally.late_us as f64 / 1e6;
    if late > 1.0 + 0.1 * wanted {
        problems.push(format!(
            "a terminal was at work for {late:.1} s after measuring had ended, which figures do not show: measure longer"
        ));
    }
    let completed = tally.completed();
    let failed: u64 = tally.errors.values().sum();
    if failed * 1000 > completed + failed {
        let most = tally.errors.iter().max_by_key(|(_, times)| **times);
        let most = most.map_or_else(String::new, |(reason, times)| format!(": {times} with {reason}"));
        problems.push(format!("{failed} of {} operations failed, more than 0.1 %{most}", completed + failed));
    }
    for operation in Operation::ALL {
        let of = &tally.operations[operation as usize];
        let share = of.completed() as f64 / completed.max(1) as f64;
        let wanted = options.mix.share(operation);
        let slack = options.terminals as f64 * options.mix.slack(operation) / completed.max(1) as f64;
        if (share - wanted).abs() > 0.02 + slack {
            problems.push(format!(
                "{} is {:.1} % of the operations; the mix requires {:.1} %",
                operation.name(),
                share * 100.0,
                wanted * 100.0
            ));
        }
        let is_missing = of.completed() == 0;
        if is_missing || tally.least_completed[operation as usize] == 0 {
            let remedy = match long_enough(completed, options, seconds) {
                Some(seconds) => format!("measure {seconds} s or longer"),
                None => "measure longer".to_owned(),
            };
            let name = operation.name();
            problems.push(match is_missing {
                true => format!("no {name} was completed while it was measured: {remedy}"),
                false => format!("a terminal completed no {name}: {remedy}"),
            });
        }
    }
    problems
}

/// Seconds in which terminals get through three decks at this rate: two hold each operation, and not all are equally fast.
fn long_enough(completed: u64, options: &Options, seconds: f64) -> Option<u64> {
    let wanted = 3 * options.mix.cards() * options.terminals;
    let factor = wanted as f64 / completed as f64;
    // Less, or more than a day, would be no advice.
    let longer = (seconds * factor).max(seconds * 1.5).ceil();
    (longer < 86_400.0).then_some(longer as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{Locality, Mix};
    use crate::pace::Pace;
    use crate::run::Connections;
    use crate::way::{Mode, Outcome};
    use std::time::Duration;

    fn options() -> Options {
        Options {
            terminals: 1,
            mode: Mode::Sp,
            locality: Locality::Home,
            mix: Mix::Equal,
            isolation: None,
            pace: Pace::default(),
            connections: Connections::Threads,
            warm_up: Duration::ZERO,
            measure: Duration::from_secs(10),
            seed: 1,
            full_check: false,
        }
    }

    #[test]
    fn what_makes_a_run_worthless_is_named() {
        let mut tally = Tally { least_completed: [200; 5], ..Tally::default() };
        for operation in Operation::ALL {
            for _ in 0..200 {
                tally.measured(operation, Outcome::Read { rows: 1 }, Duration::from_millis(1), 0);
            }
        }
        tally.errors.insert("deadlock".into(), 1);
        assert_eq!(gates(&tally, &options(), 10.0), Vec::<String>::new());
        tally.errors.insert("lost".into(), 2);
        let expected = ["3 of 1003 operations failed, more than 0.1 %: 2 with lost"];
        assert_eq!(gates(&tally, &options(), 10.0), expected);
        tally.errors.clear();
        tally.least_completed[3] = 0;
        assert_eq!(
            gates(&tally, &options(), 10.0),
            ["a terminal completed no delivery: measure 15 s or longer"]
        );
        tally.least_completed[3] = 1;
        assert_eq!(gates(&tally, &options(), 9.0), ["measured for 9.0 s, not for 10.0 s"]);
        assert_eq!(
            gates(&tally, &options(), 12.0),
            ["measured for 12.0 s, not for 10.0 s: something stood still"]
        );
        tally.late_us = 2_500_000;
        assert!(gates(&tally, &options(), 10.0)[0].starts_with("a terminal was at work for 2.5 s after"));
        tally.late_us = 500_000;
        let nothing = Tally { least_completed: [200; 5], ..Tally::default() };
        let problems = gates(&nothing, &options(), 10.0);
        assert!(
            problems.contains(&"no delivery was completed while it was measured: measure longer".to_owned()),
            "{problems:?}"
        );
        let wrong = gates(&tally, &Options { mix: Mix::Tpcc, ..options() }, 10.0);
        assert_eq!(wrong[0], "new order is 20.0 % of the operations; the mix requires 43.5 %");
        assert_eq!(wrong.len(), 5);
    }
}
