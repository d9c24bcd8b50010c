//! Calls that read a whole result, with many requests: cancelling must also reach them between two of these.

use crate::lock::plain;
use firearrow::CancelToken;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// The calls that run.
#[derive(Default)]
pub(crate) struct Whole(Mutex<Running>);

#[derive(Default)]
struct Running {
    last: u64,
    tokens: BTreeMap<u64, CancelToken>,
}

impl Whole {
    /// Begins a call. What it asks of the server runs within the token.
    pub(crate) fn begin(&self) -> Reading<'_> {
        let token = CancelToken::new();
        let mut running = self.lock();
        running.last += 1;
        let number = running.last;
        running.tokens.insert(number, token.clone());
        Reading { whole: self, number, token }
    }

    /// Cancels all of them.
    pub(super) fn cancel(&self) {
        let tokens: Vec<CancelToken> = self.lock().tokens.values().cloned().collect();
        tokens.iter().for_each(CancelToken::cancel);
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        plain(&self.0)
    }
}

/// A call that reads a whole result; it ends when this is dropped.
pub(crate) struct Reading<'a> {
    whole: &'a Whole,
    number: u64,
    pub(crate) token: CancelToken,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.whole.lock().tokens.remove(&self.number);
    }
}
