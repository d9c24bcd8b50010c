//! Two-phase commit. Nobody may roll back a transaction in limbo automatically, so the session forgets it.

use super::Session;
use super::info::is_truncated;
use crate::backend::{Backend, TransactionId};
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::info::InfoReader;
use firearrow_proto::api::info::database::LIMBO;

impl<B: Backend> Session<B> {
    /// Numbers of transactions in limbo that nobody holds, and whether these are all.
    pub(crate) async fn limbo(&mut self) -> Result<(Vec<u64>, bool)> {
        let answers = self.database_items(&[LIMBO]).await?;
        let is_complete = !answers.iter().any(|data| is_truncated(data));
        let items = answers.iter().flat_map(|data| InfoReader::new(data));
        let numbers = items.filter(|item| item.code == LIMBO).filter_map(|item| item.integer());
        let numbers: Vec<u64> = numbers.map(|number| number as u64).collect();
        self.abandoned = numbers.iter().copied().collect();
        Ok((numbers, is_complete))
    }

    /// [`limbo`](Self::limbo), with a warning if these are not all.
    pub(crate) async fn limbo_numbers(&mut self) -> Result<Vec<u64>> {
        let (numbers, is_complete) = self.limbo().await?;
        if !is_complete {
            let count = numbers.len();
            tracing::warn!(count, "there are more transactions in limbo than fit into one answer");
        }
        Ok(numbers)
    }

    /// An engine also hands over a transaction that a living connection holds; when both have ended it, the engine
    /// finds the database damaged and shuts it down. So the abandoned ones are listed first. For a transaction that is
    /// not in limbo at all the engine's own error is best.
    pub(crate) async fn recover(&mut self, number: u64) -> Result<TransactionId> {
        if self.open.values().any(|begun| begun.is_recovered(number)) {
            let text = format!("transaction {number} was taken over already, by this connection");
            return Err(Error::new(Kind::Misuse, text));
        }
        let may_be_held = !self.abandoned.contains(&number) && {
            let (_, is_complete) = self.limbo().await?;
            is_complete && !self.abandoned.contains(&number)
        };
        let id = self.backend.recover(number).await?;
        if may_be_held {
            self.backend.leave(id).await?;
            let text = format!(
                "transaction {number} is not abandoned: a connection holds it and will decide about it"
            );
            return Err(Error::new(Kind::Misuse, text));
        }
        self.recovered(id, number);
        Ok(id)
    }
}
