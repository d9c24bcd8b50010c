//! The processor time of terminals in other processes.

use crate::terminal::Conduct;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What each process has used so far, in nanoseconds, as of its last answer.
pub(crate) struct Meter(Vec<Arc<AtomicU64>>);

impl Meter {
    pub(crate) fn new(terminals: usize) -> Self {
        Self((0..terminals).map(|_| Arc::default()).collect())
    }

    pub(crate) fn hand(&self, terminal: usize) -> Hand {
        Hand(Arc::clone(&self.0[terminal]))
    }

    fn read(&self) -> Duration {
        self.0.iter().map(|used| Duration::from_nanos(used.load(Ordering::Relaxed))).sum()
    }
}

/// What a terminal writes.
pub(crate) struct Hand(Arc<AtomicU64>);

impl Hand {
    /// `None` = no process can have used that.
    pub(super) fn set(&self, seconds: f64) -> Option<()> {
        let used = Duration::try_from_secs_f64(seconds).ok()?;
        let used = u64::try_from(used.as_nanos()).ok()?;
        // It cannot become less.
        (used >= self.0.swap(used, Ordering::Relaxed)).then_some(())
    }
}

/// A clock with a meter: what was used between `measure` and `stop`, up to an operation for each terminal.
pub(crate) struct Metered<'a> {
    clock: &'a dyn Conduct,
    meter: &'a Meter,
    marks: Mutex<(Duration, Duration)>,
}

impl<'a> Metered<'a> {
    pub(crate) fn new(clock: &'a dyn Conduct, meter: &'a Meter) -> Self {
        Self { clock, meter, marks: Mutex::default() }
    }

    pub(crate) fn seconds(&self) -> f64 {
        let (began, ended) = *self.marks.lock().expect("nobody panics here");
        ended.saturating_sub(began).as_secs_f64()
    }
}

impl Conduct for Metered<'_> {
    fn measure(&self) -> Instant {
        self.marks.lock().expect("nobody panics here").0 = self.meter.read();
        self.clock.measure()
    }

    fn stop(&self) {
        self.marks.lock().expect("nobody panics here").1 = self.meter.read();
        self.clock.stop();
    }

    fn failed(&self) -> usize {
        self.clock.failed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Clock;

    #[test]
    fn what_was_used_while_it_was_measured() {
        let (clock, meter) = (Clock::new(), Meter::new(2));
        let hands = [meter.hand(0), meter.hand(1)];
        let metered = Metered::new(&clock, &meter);
        hands[0].set(1.5).unwrap();
        metered.measure();
        hands[0].set(2.0).unwrap();
        hands[1].set(0.25).unwrap();
        metered.stop();
        hands[1].set(9.0).unwrap();
        assert_eq!(metered.seconds(), 0.75);
        // Nonsense from outside is refused.
        for nonsense in [f64::NAN, -1.0, 1e300, 1.0] {
            assert!(hands[1].set(nonsense).is_none(), "{nonsense}");
        }
    }
}
