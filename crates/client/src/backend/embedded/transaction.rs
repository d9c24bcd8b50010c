//! Transactions on engine calls.

use super::{Embedded, INFO_BYTES};
use crate::backend::{Backend, End, RESET, TransactionId, Transactions};
use crate::error::{Error, Result};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::transaction::transaction_id;

impl Transactions for Embedded {
    async fn begin(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        let transaction = self.attachment()?.start_transaction(tpb)?;
        Ok(self.own(transaction))
    }

    async fn begin_deferred(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        self.begin(tpb).await
    }

    async fn end(&mut self, id: TransactionId, end: End) -> Result<()> {
        let transaction = self.transaction(id)?;
        match end {
            End::Commit => transaction.commit()?,
            End::Rollback => transaction.rollback()?,
            End::CommitRetaining => return Ok(transaction.commit_retaining()?),
            End::RollbackRetaining => return Ok(transaction.rollback_retaining()?),
        }
        self.transactions.remove(&id);
        Ok(())
    }

    async fn prepare_commit(&mut self, id: TransactionId, message: &[u8]) -> Result<()> {
        Ok(self.transaction(id)?.prepare(message)?)
    }

    async fn recover(&mut self, number: u64) -> Result<TransactionId> {
        let transaction = self.attachment()?.reconnect_transaction(&transaction_id(number))?;
        Ok(self.own(transaction))
    }

    async fn leave(&mut self, id: TransactionId) -> Result<()> {
        self.transactions.remove(&id);
        Ok(())
    }

    async fn reset(&mut self, transactions: &[TransactionId]) -> Result<()> {
        for id in transactions {
            self.end(*id, End::Rollback).await?;
        }
        if self.is_firebird4() {
            self.attachment()?.execute_immediate(None, RESET, Dialect::default())?;
        }
        Ok(())
    }

    async fn transaction_info(&mut self, id: TransactionId, items: &[u8]) -> Result<Vec<u8>> {
        Ok(self.transaction(id)?.info(items, INFO_BYTES)?)
    }

    fn is_open(&self, transaction: TransactionId) -> bool {
        self.transactions.contains_key(&transaction)
    }

    fn will_change(&mut self, _: TransactionId) {}

    fn renumbered(&mut self, _: TransactionId) {}

    fn lost_commit(&mut self, _: TransactionId, error: Error) -> Error {
        error
    }
}
