//! Creating arrays, with one request each, pipelined.

use super::Wire;
use super::transaction::Handle;
use crate::backend::link::Link;
use crate::backend::{Arrays, TransactionId};
use crate::error::Result;
use firearrow_proto::api::array::Slice;
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packet::slice::PutSlice;
use std::collections::VecDeque;

/// Bytes of arrays in flight. A single array may be longer.
const BYTES_AHEAD: usize = 512 << 10;
/// The size charged for a request, in addition to its elements.
const REQUEST: usize = 256;

impl<L: Link> Arrays for Wire<L> {
    /// Creates arrays; their ids are valid in this transaction until a row takes them.
    async fn write_arrays(&mut self, transaction: TransactionId, arrays: &[Slice<'_>]) -> Result<Vec<u64>> {
        let Handle(transaction) = self.transaction(transaction).await?;
        let mut puts = VecDeque::new();
        let result = self.put_arrays(transaction, arrays, &mut puts).await;
        for (ticket, _) in puts {
            self.router.ignore(ticket);
        }
        result
    }
}

impl<L: Link> Wire<L> {
    async fn put_arrays(
        &mut self,
        transaction: u16,
        arrays: &[Slice<'_>],
        puts: &mut VecDeque<(Ticket, usize)>,
    ) -> Result<Vec<u64>> {
        let mut ids = Vec::with_capacity(arrays.len());
        let mut ahead = 0;
        for &slice in arrays {
            if ahead > BYTES_AHEAD {
                // Requests are settled in halves, so that they share writes.
                while ahead > BYTES_AHEAD / 2
                    && let Some((ticket, bytes)) = puts.pop_front()
                {
                    ids.push(self.success(ticket).await?.blob_id);
                    ahead -= bytes;
                }
            }
            let bytes = slice.bytes().len() + REQUEST;
            puts.push_back((self.ask(&PutSlice { transaction, slice })?, bytes));
            ahead += bytes;
        }
        while let Some((ticket, _)) = puts.pop_front() {
            ids.push(self.success(ticket).await?.blob_id);
        }
        Ok(ids)
    }
}
