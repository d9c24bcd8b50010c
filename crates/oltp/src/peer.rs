//! Terminals in a program of another client, which does what [`serve`] does: the same inputs, the same ledger, the same clock.
//!
//! ```text
//!  run ──── measure, stop ───► program: terminals, each with a way of its own
//!      ◄─── ready, worked ────
//! ```

use crate::plan::Plan;
use crate::tally::Tally;
use crate::terminal::{Conduct, Open, Worked, together};
use firearrow_bench::{CpuTime, Error, Host, Peer, Result};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read as _, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// What the program says, one line each.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Said {
    Ready,
    Worked { tally: Box<Tally>, ended: Vec<Option<String>>, client_cpu_s: f64 },
}

const MEASURE: &str = "measure";
const STOP: &str = "stop";

/// How long a program may take until its terminals are connected, and until the last operation is done.
const PEER_TIMEOUT: Duration = Duration::from_secs(120);

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
        tell(&Said::Ready)?;
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
struct Remote {
    orders: Mutex<ChildStdin>,
}

impl Remote {
    fn order(&self, order: &str) {
        let mut orders = self.orders.lock().expect("nobody panics while writing");
        // A program that is gone is noticed when it says nothing.
        let _ = writeln!(orders, "{order}").and_then(|()| orders.flush());
    }
}

impl Conduct for Remote {
    fn measure(&self) -> Instant {
        self.order(MEASURE);
        Instant::now()
    }

    fn stop(&self) {
        self.order(STOP);
    }

    fn failed(&self) -> usize {
        0
    }
}

/// A program that ends with its owner.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the terminals of a plan in the peer program, and `during` beside them. Returns the processor time of the program as well.
pub(crate) fn conduct<T>(
    host: &dyn Host,
    peer: &Peer,
    plan: &Plan,
    during: impl FnOnce(&dyn Conduct) -> Result<T>,
) -> Result<(Worked<T>, f64)> {
    let mut command = peer.command(&["--work", "oltp", "--plan", &serde_json::to_string(plan)?]);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut program = Program(child);
    let orders = Mutex::new(program.0.stdin.take().expect("it is piped"));
    let clock = Remote { orders };
    let said = listen(&mut program.0);
    host.status("connecting the terminals of the other client");
    if !matches!(next(host, &said)?, Said::Ready) {
        return Err(Error::other(
            "the other client's program sent an unexpected first message (expected \"ready\")",
        ));
    }
    let during = during(&clock);
    clock.stop();
    let during = during?;
    match next(host, &said)? {
        Said::Worked { tally, ended, client_cpu_s } => {
            Ok((Worked { during, tally: *tally, ended }, client_cpu_s))
        }
        Said::Ready => Err(Error::other("the other client's program did not report its results")),
    }
}

/// Bytes of the longest line that makes sense: the tally names every order.
const LONGEST_LINE: u64 = 1 << 28;

/// A line, unless it is too long or there is none.
fn next_line(from: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    from.take(LONGEST_LINE).read_line(&mut line).ok()?;
    line.ends_with('\n').then_some(line)
}

/// Reads what the program says in a thread, so that waiting for it has an end. What it complains of comes last.
fn listen(child: &mut Child) -> Receiver<std::result::Result<String, String>> {
    let (sender, receiver) = mpsc::channel();
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    thread::spawn(move || {
        let mut output = output.map(BufReader::new);
        while let Some(line) = output.as_mut().and_then(next_line) {
            if sender.send(Ok(line)).is_err() {
                return;
            }
        }
        // One that says too much waits for nobody, and ends.
        drop(output);
        let errors = errors.map(|errors| std::io::read_to_string(errors.take(1 << 20)).unwrap_or_default());
        let _ = sender.send(Err(errors.unwrap_or_default()));
    });
    receiver
}

fn next(host: &dyn Host, said: &Receiver<std::result::Result<String, String>>) -> Result<Said> {
    let started = Instant::now();
    loop {
        host.check()?;
        match said.recv_timeout(Duration::from_millis(100)) {
            Ok(Ok(line)) => {
                return serde_json::from_str(&line)
                    .map_err(|error| Error::other(format!("the other client's program: {error}")));
            }
            Ok(Err(complaint)) => {
                return Err(Error::other(format!(
                    "the other client's program has failed: {}",
                    complaint.trim()
                )));
            }
            Err(RecvTimeoutError::Timeout) if started.elapsed() < PEER_TIMEOUT => {}
            Err(_) => {
                return Err(Error::other(format!(
                    "the other client's program has said nothing for {} s",
                    PEER_TIMEOUT.as_secs()
                )));
            }
        }
    }
}
