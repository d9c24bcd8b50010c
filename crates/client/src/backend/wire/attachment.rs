//! The attachment itself: its state, its end, and what every call does.

use super::Wire;
use crate::backend::link::Link;
use crate::backend::{Backend, LinkEstimate, Transport};
use crate::cancel::Operation;
use crate::error::Result;
use crate::stats::WireStats;
use firearrow_proto::wire::ProtocolError;
use firearrow_proto::wire::packet::{attach, info};
use std::time::{Duration, Instant};

/// The largest useful size: servers keep the length of these answers in 16 bits.
const DATABASE_INFO_BUFFER: u32 = 65535;

impl<L: Link> Backend for Wire<L> {
    async fn ping(&mut self) -> Result<()> {
        self.call(&attach::Ping).await.map(|_| ())
    }

    async fn keep_alive(&mut self) -> Result<()> {
        let _ = self.connection.send(&attach::Dummy)?; // no answer will come
        self.flush().await
    }

    async fn detach(&mut self) -> Result<()> {
        let ticket = self.ask(&attach::Detach)?;
        let _ = self.connection.send(&attach::Disconnect)?; // no answer will come
        let result = self.success(ticket).await.map(|_| ());
        self.connection.fail(ProtocolError::Closed);
        result
    }

    async fn drop_database(&mut self) -> Result<()> {
        self.call(&attach::DropDatabase).await?;
        let _ = self.connection.send(&attach::Disconnect)?; // no answer will come
        self.flush().await?;
        self.connection.fail(ProtocolError::Closed);
        Ok(())
    }

    async fn database_info(&mut self, items: &[u8]) -> Result<Vec<u8>> {
        let request = info::InfoDatabase { object: 0, items, buffer_length: DATABASE_INFO_BUFFER };
        Ok(self.call(&request).await?.data)
    }

    async fn pause(&mut self, time: Duration) {
        L::pause(time).await;
    }

    fn limit_patience(&mut self, time: Duration) {
        let until = Instant::now() + time;
        self.patience.until = Some(self.patience.until.map_or(until, |earlier| earlier.min(until)));
    }

    fn begin_call(&mut self, operation: &Operation) {
        self.patience.begin_call();
        self.interruption.begin_call(operation);
    }

    fn end_call(&mut self) {
        if let Err(error) = self.end_interruption() {
            // The next use of the connection reports the failure.
            tracing::debug!(%error, "an interruption may be pending");
        }
    }

    fn is_late(&self) -> bool {
        self.interruption.is_late()
    }

    fn transport(&self) -> Transport {
        Transport {
            protocol: self.connection.version().map(|version| version.number()),
            cipher: self.connection.cipher().map(|cipher| cipher.name()),
            compressed: self.connection.is_compressed(),
        }
    }

    fn is_firebird4(&self) -> bool {
        // Only protocol 16 and later, hence Firebird 4 and later, have statement timeouts.
        self.connection.version().is_some_and(|version| version.has_statement_timeout())
    }

    fn wire_stats(&self) -> WireStats {
        *self.connection.stats()
    }

    fn link_estimate(&self) -> LinkEstimate {
        self.remembered.estimate
    }

    fn is_alive(&mut self) -> bool {
        if !self.is_failed() && self.link.is_dead() {
            self.abort();
        }
        !self.is_failed()
    }

    fn is_failed(&self) -> bool {
        self.connection.failure().is_some()
    }

    fn abort(&mut self) {
        self.connection.fail(ProtocolError::Closed);
        self.link.shut_down();
    }
}
