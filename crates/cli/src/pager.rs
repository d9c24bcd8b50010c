//! Shows long output through a pager, as psql does.

use crate::platform::process;
use crate::{interrupt, terminal};
use std::io::{self, Write};
use std::process::{Child, Stdio};

/// How to show what is longer than the terminal.
#[derive(Clone, Debug)]
pub(crate) struct Pager {
    command: String,
}

impl Pager {
    /// The user's, or less, if there is a terminal to show it on.
    pub(crate) fn of_environment() -> Option<Self> {
        let chosen = ["FIREARROW_PAGER", "PAGER"].into_iter().find_map(|name| std::env::var(name).ok());
        let command = chosen.or_else(|| is_installed(process::PAGER).then(|| process::PAGER.to_owned()))?;
        // An empty name, as for other programs, means none.
        (!command.trim().is_empty()).then_some(Self { command })
    }

    /// Starts an output. The pager itself starts when that is longer than the terminal.
    pub(crate) fn open(&self) -> Paged {
        let (height, _) = console::Term::stdout().size();
        // The prompt that follows takes a line.
        let room = usize::from(height).saturating_sub(2).max(1);
        Paged { command: self.command.clone(), held: Vec::new(), lines: 0, room, place: Place::Undecided }
    }
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// An output that goes to a pager if it is long.
#[derive(Debug)]
pub(crate) struct Paged {
    command: String,
    held: Vec<u8>,
    lines: usize,
    room: usize,
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// It still fits.
    Undecided,
    Pager(Child),
    /// There is no pager to be had.
    Terminal,
}

impl Paged {
    fn start(&mut self) -> io::Result<()> {
        let mut command = process::shell(&self.command);
        command.stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            // Leave short texts alone, keep them on the screen, chop long lines.
            command.env("LESS", "FSRX");
        }
        self.place = match interrupt::start(&mut command) {
            Ok(child) => Place::Pager(child),
            Err(_) => Place::Terminal,
        };
        let held = std::mem::take(&mut self.held);
        self.pass(&held)
    }

    fn pass(&mut self, data: &[u8]) -> io::Result<()> {
        match &mut self.place {
            Place::Pager(child) => child.stdin.as_mut().map_or(Ok(()), |pipe| pipe.write_all(data)),
            _ => io::stdout().write_all(data),
        }
    }
}

impl Write for Paged {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if matches!(self.place, Place::Undecided) {
            self.held.extend_from_slice(data);
            self.lines += data.iter().filter(|byte| **byte == b'\n').count();
            if self.lines > self.room {
                self.start()?;
            }
        } else {
            self.pass(data)?;
        }
        Ok(data.len())
    }

    /// What fits on the terminal waits for the end.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Paged {
    fn drop(&mut self) {
        if let Place::Pager(child) = &mut self.place {
            // The end of its input.
            drop(child.stdin.take());
            interrupt::ended(child.id());
            if child.wait().is_ok_and(|status| status.code() == Some(process::NOT_FOUND)) {
                terminal::remark(&format!(
                    "the pager {} could not be run: set PAGER, or \\pager off",
                    self.command
                ));
            }
        } else {
            // No caller is left to report this to.
            let _ = io::stdout().write_all(&std::mem::take(&mut self.held));
            let _ = io::stdout().flush();
        }
    }
}
