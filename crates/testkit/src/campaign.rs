//! Many sessions with a damaged stream, each played by a worker process through its own proxy.
//!
//! ```text
//!   Campaign ── seed, port ──► worker ──► Proxy (Mutation of the seed) ──► server
//!      ▲                         │
//!      └──── how it ended, peak of memory
//! ```

use std::io::{self, BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::ops::Range;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::process::Process;
use crate::worker::{Answer, MEMORY, Outcome};
use crate::{Behaviour, Mutation, Proxy, Tally, server};

/// Sessions to play, and their limits.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// The real server that the proxies connect to.
    pub server: SocketAddr,
    /// The process of the server. The campaign stops when it ends.
    pub server_process: Option<u32>,
    /// The seeds: one session for each.
    pub seeds: Range<u64>,
    /// How many sessions are played at the same time.
    pub parallel: usize,
    /// How long a session may take.
    pub limit: Duration,
    /// How many bytes a worker may allocate. A worker that needs more dies.
    pub memory: u64,
    /// Whether to damage what the client sends as well, which tests the server.
    pub hostile_client: bool,
    /// Whether to print what was done to each session, and what its worker prints.
    pub verbose: bool,
}

impl Campaign {
    /// Plays all sessions. `worker` returns the command that starts a process that calls [`work`](crate::work).
    ///
    /// # Errors
    /// A worker or a proxy could not be started.
    pub fn run(&self, worker: impl Fn() -> Command + Sync) -> io::Result<Tally> {
        let begin = Instant::now();
        let next = AtomicU64::new(self.seeds.start);
        let tally = Mutex::new(Tally::default());
        thread::scope(|scope| {
            let players: Vec<_> = (0..self.parallel.max(1))
                .map(|_| scope.spawn(|| self.play_until_none_is_left(&next, &worker, &tally)))
                .collect();
            players
                .into_iter()
                .try_for_each(|player| player.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())))
        })?;
        let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
        tally.took = begin.elapsed();
        Ok(tally)
    }

    fn play_until_none_is_left(
        &self,
        next: &AtomicU64,
        command: &impl Fn() -> Command,
        tally: &Mutex<Tally>,
    ) -> io::Result<()> {
        let mut worker = None;
        loop {
            if !self.has_server() {
                return Ok(());
            }
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if !self.seeds.contains(&seed) {
                return Ok(());
            }
            let current = match worker.take() {
                Some(worker) => worker,
                None => Worker::start(command(), self)?,
            };
            let begin = Instant::now();
            let (mut answer, alive) = self.play(seed, current)?;
            worker = alive;
            if matches!(answer.outcome, Outcome::Ended(_)) && !self.has_server() {
                answer.outcome = Outcome::Ended("the server died".into());
            }
            tally.lock().unwrap_or_else(PoisonError::into_inner).add(seed, answer, begin.elapsed());
        }
    }

    /// Plays one session. Returns the worker unless the session killed it.
    fn play(&self, seed: u64, mut worker: Worker) -> io::Result<(Answer, Option<Worker>)> {
        let proxy = Proxy::start(self.server, self.behaviour(seed))?;
        let answer = worker.play(seed, proxy.port(), self.limit);
        if self.verbose {
            println!("--seed {seed}: {answer:?}");
            proxy.edits().iter().for_each(|edit| println!("    {edit}"));
        }
        let is_alive = matches!(answer.outcome, Outcome::Ended(_) | Outcome::Panicked(_));
        Ok((answer, is_alive.then_some(worker)))
    }

    fn has_server(&self) -> bool {
        self.server_process.is_none_or(server::is_running)
    }

    fn behaviour(&self, seed: u64) -> Behaviour {
        let mut behaviour = Behaviour::mutate_from_server(seed);
        if self.hostile_client {
            behaviour.from_client.mutation = Some(Mutation { seed: !seed });
        }
        behaviour
    }
}

/// A process that plays sessions. It ends when it is dropped.
struct Worker {
    process: Process,
    seeds: ChildStdin,
    answers: Receiver<Answer>,
}

impl Worker {
    fn start(mut command: Command, campaign: &Campaign) -> io::Result<Self> {
        let errors = if campaign.verbose { Stdio::inherit() } else { Stdio::null() };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors);
        command.env(MEMORY, campaign.memory.to_string());
        let mut process = Process::spawn(command)?;
        let (seeds, output) = process.pipes().ok_or(io::ErrorKind::BrokenPipe)?;
        let (sender, answers) = mpsc::channel();
        // It ends with the process, whose output is closed then.
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            lines.filter_map(|line| Answer::parse(&line)).try_for_each(|answer| sender.send(answer))
        });
        Ok(Self { process, seeds, answers })
    }

    fn play(&mut self, seed: u64, port: u16, limit: Duration) -> Answer {
        // Should that fail, the process has died, as will be seen.
        let _ = writeln!(self.seeds, "{seed} {port}");
        match self.answers.recv_timeout(limit) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => Answer { outcome: Outcome::Hung, peak: 0 },
            Err(RecvTimeoutError::Disconnected) => {
                Answer { outcome: Outcome::Died(self.process.wait_for_exit()), peak: 0 }
            }
        }
    }
}
