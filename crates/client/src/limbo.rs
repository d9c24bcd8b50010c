//! Transactions in limbo: prepared for a two-phase commit whose second phase has not come.

use crate::connection::Connection;
use crate::error::Result;
use crate::transaction::Transaction;

impl Connection {
    /// The numbers of the transactions in limbo that are abandoned, in ascending order; see
    /// [`Transaction::prepare_commit`]. What they are about is in `RDB$TRANSACTIONS`. One round trip.
    ///
    /// Those that a connection still holds, this or another one, are not among them: they are about to be decided. Firebird
    /// 3.0 waits for the decision of others; the read timeout ends that, as a [cancel handle](Self::cancel_handle) does. A
    /// server tells 64 KB of numbers, those of more than 5,000 transactions; ask again after recovering these.
    pub fn limbo_transactions(&self) -> Result<Vec<u64>> {
        let (numbers, is_complete) = self.shared.run(async |session| session.limbo().await)?;
        if !is_complete {
            tracing::warn!(
                count = numbers.len(),
                "there are more transactions in limbo than fit into one answer"
            );
        }
        Ok(numbers)
    }

    /// Takes over a transaction in limbo, to commit it or roll it back; dropping it leaves it in limbo. One round
    /// trip for a number of the last [list](Self::limbo_transactions), else two. Of two who take it over, only one may end
    /// it.
    ///
    /// # Errors
    /// [`Kind::Misuse`](crate::Kind::Misuse) when a connection still holds it, be it this one. `isc_no_recon` when no
    /// transaction of this number is in limbo; the message tells its state.
    pub fn recover(&self, number: u64) -> Result<Transaction> {
        let id = self.shared.run(async |session| session.recover(number).await)?;
        Ok(Transaction::recovered(&self.shared, id))
    }
}
