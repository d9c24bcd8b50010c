//! What a connection, a statement or a cursor cost.

pub use firearrow_proto::wire::connection::WireStats;

use crate::backend::{AnyBackend, Backend};
use crate::connection::Shared;
use crate::error::Result;
use crate::session::Session;
use std::sync::{Arc, Mutex, PoisonError};

/// Adds up what some calls cost: everything that travelled while they ran. Clones are the same meter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter(Arc<Mutex<WireStats>>);

impl Meter {
    pub(crate) fn read(&self) -> WireStats {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, spent: WireStats) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += spent;
    }
}

impl Shared {
    /// [`run`](Self::run), at the expense of `meters`, whether it succeeds or not.
    pub(crate) fn metered<T>(
        &self,
        meters: &[Meter],
        flow: impl AsyncFnOnce(&mut Session<AnyBackend>) -> Result<T>,
    ) -> Result<T> {
        self.run(async |session| session.metered(meters, flow).await)
    }

    /// [`finish`](Self::finish), at the expense of `meters`.
    pub(crate) fn finish_metered<T>(
        &self,
        meters: &[Meter],
        flow: impl AsyncFnOnce(&mut Session<AnyBackend>) -> Result<T>,
    ) -> Result<T> {
        self.finish(async |session| session.metered(meters, flow).await)
    }
}

impl<B: Backend> Session<B> {
    pub(crate) async fn metered<T>(
        &mut self,
        meters: &[Meter],
        flow: impl AsyncFnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.backend.wire_stats();
        let result = flow(self).await;
        let spent = self.backend.wire_stats().since(&before);
        meters.iter().for_each(|meter| meter.add(spent));
        result
    }
}
