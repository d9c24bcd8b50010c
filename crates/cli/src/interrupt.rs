//! Ctrl-C.

use crate::failure::{Failure, Result};
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user wants the command to end. The first Ctrl-C lets it clean up; the second ends the process,
/// because a call of the engine may take long.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Watches for Ctrl-C from here on.
    pub(crate) fn watch() -> Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        // In this order: the first one acts only if the flag was set by an earlier signal.
        flag::register_conditional_shutdown(SIGINT, 130, Arc::clone(&flag))?;
        flag::register(SIGINT, Arc::clone(&flag))?;
        Ok(Self(flag))
    }

    /// An error once Ctrl-C was pressed.
    pub(crate) fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }
}
