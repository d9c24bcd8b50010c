//! Cancellation from other threads.

use crate::error::{Result, invalid_state};
use crate::panic::contain;
use firearrow_driver::Activity;
use std::sync::Arc;

/// What the C functions keep so that they can cancel the running call of a statement or connection.
pub(crate) struct Canceller(pub(crate) Arc<Activity>);

impl adbc_core::CancelHandle for Canceller {
    fn try_cancel(&self) -> Result<()> {
        let cancel = || match self.0.cancel() {
            true => Ok(()),
            false => Err(invalid_state("there is nothing to cancel")),
        };
        contain(|| (), cancel)
    }
}
