//! Creating arrays with engine calls.

use super::{Embedded, no_transaction};
use crate::backend::{Arrays, TransactionId};
use crate::error::Result;
use firearrow_proto::api::array::Slice;

impl Arrays for Embedded {
    async fn write_arrays(&mut self, transaction: TransactionId, arrays: &[Slice<'_>]) -> Result<Vec<u64>> {
        let transaction = self.transactions.get(&transaction).ok_or_else(no_transaction)?;
        let attachment = self.attachment()?;
        arrays.iter().map(|array| Ok(attachment.create_array(transaction, *array)?)).collect()
    }
}
