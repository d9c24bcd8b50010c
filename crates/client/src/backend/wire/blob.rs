//! BLOBs, whole and one operation at a time.

use super::{Wire, handle};
use crate::backend::TransactionId;
use crate::backend::link::Link;
use crate::error::Result;
use firearrow_proto::api::pb::STREAM_BPB;
use firearrow_proto::wire::packet::blob::{
    CancelBlob, CloseBlob, CreateBlob, GetSegment, OpenBlob, PutSegment, STATE_END, append_segments,
};

/// Bytes per `op_put_segment`; servers decode a packet again from its start with every 8 KB that arrive.
const PUT_SIZE: usize = 32 << 10;

impl<L: Link> Wire<L> {
    /// Appends the contents to `out`; text comes in the connection character set.
    pub(super) async fn read_whole_blob(
        &mut self,
        transaction: TransactionId,
        id: u64,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let transaction = handle(transaction.0);
        let blob = self.call(&OpenBlob { transaction, id, bpb: &[] }).await?.object;
        let read = self.read_segments(blob, out).await;
        // Also after a failure: an open BLOB keeps its handle until the transaction ends.
        self.tell(&CloseBlob { blob })?;
        read
    }

    async fn read_segments(&mut self, blob: u16, out: &mut Vec<u8>) -> Result<()> {
        loop {
            let response = self.call(&GetSegment { blob }).await?;
            append_segments(&response.data, out)?;
            if response.object == STATE_END {
                return Ok(());
            }
        }
    }

    /// Creates a stream BLOB; returns its id, which is valid in this transaction until a row takes it.
    pub(super) async fn write_whole_blob(&mut self, transaction: TransactionId, bytes: &[u8]) -> Result<u64> {
        let created = self.call(&CreateBlob { transaction: handle(transaction.0), bpb: &STREAM_BPB }).await?;
        let blob = created.object;
        for piece in bytes.chunks(PUT_SIZE) {
            if let Err(error) = self.call(&PutSegment { blob, bytes: piece }).await {
                self.tell(&CancelBlob { blob })?;
                return Err(error);
            }
        }
        self.call(&CloseBlob { blob }).await?;
        Ok(created.blob_id)
    }
}
