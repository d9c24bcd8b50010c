//! Transactions in limbo, with what is known of them.

use super::View;
use super::question::{Question, Row};
use crate::backend::Backend;
use crate::error::Result;
use crate::session::Session;
use std::collections::HashMap;

/// A transaction in limbo that no connection holds: prepared, and neither committed nor rolled back. Until somebody
/// decides, whoever reads what it has written gets an error (`isc_rec_in_limbo`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimboTransaction {
    /// Its number, which [`Connection::recover`](crate::Connection::recover) takes.
    pub number: u64,
    /// What [`prepare_commit`](crate::Transaction::prepare_commit) was given for whoever has to decide; empty for none.
    pub message: Vec<u8>,
}

/// The engine leaves `RDB$TIMESTAMP` empty.
const DESCRIBED: &str = "SELECT T.RDB$TRANSACTION_ID, T.RDB$TRANSACTION_DESCRIPTION FROM RDB$TRANSACTIONS T";

impl View {
    /// Returns the transactions in limbo that nobody holds, by number.
    pub(crate) async fn limbo_transactions<B: Backend>(
        self,
        session: &mut Session<B>,
    ) -> Result<Vec<LimboTransaction>> {
        let numbers = session.limbo_numbers().await?;
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        let read = |row: &Row<'_>| {
            let number = row.integer(0).and_then(|number| u64::try_from(number).ok());
            Ok((number, row.bytes(1).unwrap_or_default().to_vec()))
        };
        let described = self.ask(session, &Question::new(DESCRIBED), read).await?;
        let mut described: HashMap<_, _> = described.into_iter().collect();
        let transactions = numbers.into_iter().map(|number| LimboTransaction {
            number,
            message: described.remove(&Some(number)).unwrap_or_default(),
        });
        Ok(transactions.collect())
    }
}
