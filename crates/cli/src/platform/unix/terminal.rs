//! The terminal's attributes.

use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use std::io;

/// How the terminal treats input and output.
#[derive(Debug)]
pub(crate) struct Attributes(Termios);

impl Attributes {
    /// Those of standard input, if that is a terminal.
    pub(crate) fn current() -> Option<Self> {
        tcgetattr(io::stdin()).ok().map(Self)
    }

    /// Sets them again; the terminal may be gone.
    pub(crate) fn restore(&self) {
        let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, &self.0);
    }
}
