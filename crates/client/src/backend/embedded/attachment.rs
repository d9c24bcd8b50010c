//! The state of the attachment, and detaching.

use super::{Embedded, INFO_BYTES};
use crate::backend::{Backend, LinkEstimate, Reconnect, Transport};
use crate::cancel::Operation;
use crate::config::Config;
use crate::db_key::KeyHolder;
use crate::error::{Error, Kind, Result};
use crate::stats::WireStats;
use std::thread;
use std::time::Duration;

impl Reconnect for Embedded {
    async fn connect_again(&mut self, _: &Config, _: &mut KeyHolder<'_>) -> Result<Self> {
        Err(Error::new(Kind::Unsupported, "an in-process engine cannot open another connection"))
    }
}

impl Backend for Embedded {
    async fn ping(&mut self) -> Result<()> {
        Ok(self.attachment()?.ping()?)
    }

    async fn keep_alive(&mut self) -> Result<()> {
        Ok(())
    }

    async fn detach(&mut self) -> Result<()> {
        self.questions.clear();
        self.statements.clear();
        self.transactions.clear();
        match self.attachment.take() {
            Some(attachment) => Ok(attachment.detach()?),
            None => Ok(()),
        }
    }

    async fn drop_database(&mut self) -> Result<()> {
        self.questions.clear();
        self.statements.clear();
        self.transactions.clear();
        match self.attachment.take() {
            Some(attachment) => Ok(attachment.drop_database()?),
            None => Err(Error::new(Kind::Closed, "the connection is closed")),
        }
    }

    async fn database_info(&mut self, items: &[u8]) -> Result<Vec<u8>> {
        Ok(self.attachment()?.info(items, INFO_BYTES)?)
    }

    async fn pause(&mut self, time: Duration) {
        thread::sleep(time);
    }

    fn limit_patience(&mut self, _: Duration) {}

    fn begin_call(&mut self, operation: &Operation) {
        self.interruption.begin(operation, self.attachment.as_ref());
    }

    fn end_call(&mut self) {
        self.interruption.end(self.attachment.as_ref());
    }

    fn is_late(&self) -> bool {
        false
    }

    fn transport(&self) -> Transport {
        Transport::default()
    }

    fn is_firebird4(&self) -> bool {
        self.attachment.as_ref().is_some_and(|attachment| attachment.library().client_version().0 >= 4)
    }

    fn wire_stats(&self) -> WireStats {
        WireStats::default()
    }

    fn link_estimate(&self) -> LinkEstimate {
        LinkEstimate::default()
    }

    fn is_alive(&mut self) -> bool {
        !self.is_failed()
    }

    fn is_failed(&self) -> bool {
        self.attachment.is_none()
    }

    fn abort(&mut self) {
        // Dropping it detaches.
        self.questions.clear();
        self.statements.clear();
        self.transactions.clear();
        self.attachment = None;
    }
}
