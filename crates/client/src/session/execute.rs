//! Rows in: parameters become messages, BLOBs first.

use super::{Prepared, Session, has_rows};
use crate::arrow::{EncodedParams, ParamEncoder, ParamOptions};
use crate::backend::{Backend, Executed, Message, TransactionId};
use crate::error::{Error, Kind, Result};
use ::arrow::array::RecordBatch;

/// Bytes of messages encoded at a time; bounds the memory of a large batch of parameters.
const BYTES_AT_A_TIME: usize = 1 << 20;

impl<B: Backend> Session<B> {
    /// Encodes one row of parameters and creates the BLOBs among them.
    pub(crate) async fn bind(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: Option<&RecordBatch>,
    ) -> Result<Option<EncodedParams>> {
        let Some(batch) = parameters else {
            return match prepared.info.parameters.len() {
                0 => Ok(None),
                count => Err(missing_parameters(count)),
            };
        };
        if batch.num_rows() != 1 {
            let text = format!("{} rows of parameters where one is needed", batch.num_rows());
            return Err(Error::new(Kind::Parameter, text));
        }
        let mut encoder = self.encoder(prepared, batch)?;
        let mut encoded = encoder.encode(batch, 0..1)?;
        self.create_blobs(transaction, &mut encoded).await?;
        Ok(Some(encoded))
    }

    fn encoder(&self, prepared: &Prepared, batch: &RecordBatch) -> Result<ParamEncoder> {
        let options =
            ParamOptions { has_time_zones: self.backend.has_time_zones(), ..ParamOptions::default() };
        Ok(ParamEncoder::new(&prepared.info.parameters, &batch.schema(), &options)?)
    }

    async fn create_blobs(&mut self, transaction: TransactionId, encoded: &mut EncodedParams) -> Result<()> {
        let cells = std::mem::take(&mut encoded.blobs);
        let contents: Vec<&[u8]> = cells.iter().map(|cell| encoded.blob_bytes(cell)).collect();
        let ids = self.backend.write_blobs(transaction, &contents).await?;
        for (cell, id) in cells.iter().zip(ids) {
            encoded.set_blob(cell.row, cell.column, id);
        }
        Ok(())
    }

    /// Runs a statement once for each row of parameters (once without any). Counts are added up. When a row fails,
    /// the rows before it stay done in the transaction; the error names the row.
    pub(crate) async fn execute(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: Option<&RecordBatch>,
    ) -> Result<Executed> {
        if has_rows(&prepared.info) && prepared.info.has_cursor {
            return Err(Error::new(Kind::Misuse, "the statement gives rows: use query, not execute"));
        }
        let Some(batch) = parameters else {
            if !prepared.info.parameters.is_empty() {
                return Err(missing_parameters(prepared.info.parameters.len()));
            }
            let executed = self.backend.execute(prepared.id, transaction, None, None).await?;
            if executed.transaction_ended {
                self.ended(transaction);
            }
            return Ok(executed);
        };
        let mut encoder = self.encoder(prepared, batch)?;
        let mut total = Executed::default();
        let mut start = 0;
        while start < batch.num_rows() {
            let end = start + encoder.fit(batch, start..batch.num_rows(), BYTES_AT_A_TIME);
            let mut encoded = encoder.encode(batch, start..end)?;
            self.create_blobs(transaction, &mut encoded).await?;
            let stride = encoded.layout.native_stride();
            for (index, bytes) in encoded.bytes.chunks(stride).enumerate() {
                let message = Message { layout: &encoded.layout, bytes };
                let executed = self.backend.execute(prepared.id, transaction, Some(message), None).await;
                let executed = executed.map_err(|error| match batch.num_rows() {
                    1 => error,
                    _ => error.context(format!("row {} of the parameters", start + index)),
                })?;
                if let Some(count) = executed.affected_rows {
                    total.affected_rows = Some(total.affected_rows.unwrap_or(0) + count);
                }
            }
            start = end;
        }
        Ok(total)
    }
}

fn missing_parameters(count: usize) -> Error {
    Error::new(Kind::Parameter, format!("the statement has {count} parameters, and none were given"))
}
