//! Terminals in a program of another client, which does what [`serve`] does: the same inputs, the same ledger, the same clock.
//!
//! ```text
//!  run ──── measure, stop ───► program: terminals, each with a way of its own
//!      ◄─── ready, worked ────
//! ```

use crate::failure::shortened;
use crate::plan::{PATIENCE, Plan};
use crate::tally::Tally;
use crate::terminal::{Conduct, Open, Worked, together};
use firearrow_bench::{CpuTime, Error, Host, Limits, Peer, Result, Subprocess};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::io::{BufRead, Write};
use std::time::{Duration, Instant};

/// What the program says, one line each.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    Ready {},
    Worked { tally: Box<Tally>, ended: Vec<Option<String>>, client_cpu_s: f64 },
}

const MEASURE: &str = "measure";
const STOP: &str = "stop";

/// Runs the terminals of a plan in this process, and does what the lines of `orders` say: `measure`, then `stop`. The end of
/// `orders` stops them as well.
///
/// # Errors
/// If nobody reads what is said.
pub fn serve(plan: &Plan, open: &Open<'_>, orders: impl BufRead, mut say: impl Write) -> Result<()> {
    let mut tell = |said: &Said| -> Result<()> {
        writeln!(say, "{}", serde_json::to_string(said)?)?;
        Ok(say.flush()?)
    };
    let worked = together(plan, open, |clock| {
        tell(&Said::Ready {})?;
        let mut since = CpuTime::now()?;
        for line in orders.lines() {
            match line?.as_str() {
                MEASURE => {
                    since = CpuTime::now()?;
                    clock.measure();
                }
                _ => break,
            }
        }
        clock.stop();
        Ok(CpuTime::now()?.since(since).seconds())
    })?;
    let Worked { during, tally, ended } = worked;
    tell(&Said::Worked { tally: Box::new(tally), ended, client_cpu_s: during })
}

/// The program's clock.
struct Remote<'a> {
    program: RefCell<Subprocess<'a>>,
    terminals: usize,
    /// It has ended, or has said something, although it was to work.
    has_failed: Cell<bool>,
    /// When it was told to stop.
    stopped: Cell<Option<Instant>>,
}

impl Conduct for Remote<'_> {
    fn measure(&self) -> Instant {
        self.program.borrow().tell(MEASURE.to_owned());
        Instant::now()
    }

    fn stop(&self) {
        self.stopped.set(self.stopped.get().or_else(|| Some(Instant::now())));
        self.program.borrow().tell(STOP.to_owned());
    }

    fn failed(&self) -> usize {
        if !self.has_failed.get() && !self.program.borrow().is_silent() {
            self.has_failed.set(true);
        }
        if self.has_failed.get() { self.terminals } else { 0 }
    }
}

/// Runs the terminals of a plan in the peer program, and `during` beside them. Returns the processor time of the program as well.
pub(crate) fn conduct<T>(
    host: &dyn Host,
    peer: &Peer,
    plan: &Plan,
    during: impl FnOnce(&dyn Conduct) -> Result<T>,
) -> Result<(Worked<T>, f64)> {
    let plan_text = serde_json::to_string(plan)?;
    let limits = Limits { time: PATIENCE, line: LONGEST_LINE };
    let program = peer.start(host, &["--work", "oltp", "--plan", &plan_text], limits)?;
    host.status("connecting the terminals of the other client");
    let failed = |error: Error| error.of("the other client's program");
    let clock = Remote {
        program: RefCell::new(program),
        terminals: plan.terminals,
        has_failed: Cell::new(false),
        stopped: Cell::default(),
    };
    let hear = || -> Result<Said> {
        let line = clock.program.borrow_mut().hear().map_err(failed)?;
        serde_json::from_str(&line).map_err(|error| {
            // The parser's message may repeat what the program said.
            let said = clock.program.borrow().hide(&error.to_string());
            failed(Error::other(format!("it said something that was not asked for: {said}")))
        })
    };
    let unexpected = || failed(Error::other("it said something that was not asked for"));
    if !matches!(hear()?, Said::Ready {}) {
        return Err(unexpected());
    }
    let during = during(&clock)?;
    clock.stop();
    let said = hear()?;
    if clock.has_failed.get() {
        return Err(unexpected());
    }
    let Said::Worked { mut tally, mut ended, client_cpu_s } = said else { return Err(unexpected()) };
    let seen = clock.stopped.get().map_or(Duration::ZERO, |stopped| stopped.elapsed());
    let is_late = Duration::from_micros(tally.late_us) > seen;
    if ended.len() != plan.terminals || !tally.is_countable() || is_late {
        return Err(unexpected());
    }
    // Its error messages are shown and saved. What is cut off before the password is replaced might be a part of it.
    let hide = |text: &str| shortened(&clock.program.borrow().hide(text));
    ended.iter_mut().flatten().for_each(|error| *error = hide(error));
    tally.map_reasons(hide);
    clock.program.into_inner().finish().map_err(failed)?;
    Ok((Worked { during, tally: *tally, ended }, client_cpu_s))
}

/// Bytes of the longest line that makes sense: a tally has a few numbers for every second, and histograms.
const LONGEST_LINE: u64 = 1 << 24;
