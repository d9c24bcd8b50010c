//! Rows by pipelined executions.

use super::{BYTES_AHEAD, What, misfit};
use crate::backend::link::Link;
use crate::backend::wire::transaction::Handle;
use crate::backend::wire::{Wire, handle};
use crate::backend::{Chunk, Writer};
use crate::error::{Error, Result};
use firearrow_proto::api::describe::RecordCounts;
use firearrow_proto::api::info::statement::RECORDS;
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::info::InfoSql;
use firearrow_proto::wire::packet::statement::{Execute, ExecuteOptions, Parameters};
use std::sync::Arc;

/// Executions in flight. Each answer has 32 bytes, so this bounds what the server holds back.
const EXECUTIONS_AHEAD: usize = 4096;
/// Buffer size for the answer to "how many rows", in bytes.
const RECORDS_BUFFER: u32 = 128;

impl<L: Link> Wire<L> {
    pub(super) async fn send_executions(&mut self, writer: &mut Writer, chunk: &Chunk) -> Result<()> {
        let rows = &chunk.rows;
        let format = PackedFormat::new(Arc::clone(&rows.layout));
        // Another call may have executed the statement with another format since the last chunk.
        let mut blr = rows.layout.blr();
        let statement = handle(writer.statement.0);
        self.formats.forget(statement);
        let Handle(transaction) = self.transactions.handle(writer.transaction)?;
        let mut packed = Vec::new();
        let messages = rows.messages();
        for (row, message) in (chunk.first..).zip(messages) {
            packed.clear();
            format.pack(message, &mut packed).ok_or_else(misfit)?;
            let parameters = Parameters { blr: &blr, message: &packed };
            let options = ExecuteOptions::default();
            let ticket = self.ask(&Execute { statement, transaction, parameters, options })?;
            blr.clear();
            let counts = match writer.asks_counts {
                true => {
                    let items = &[RECORDS];
                    let info = InfoSql { object: statement, items, buffer_length: RECORDS_BUFFER };
                    Some(self.ask(&info)?)
                }
                false => None,
            };
            writer.pipe.push(ticket, What::Execution(row, counts), packed.len() + 32);
            if writer.pipe.sent.len() >= EXECUTIONS_AHEAD || writer.pipe.bytes_ahead > BYTES_AHEAD {
                // Executions are settled in halves, so that they share writes.
                self.settle_down_to(writer, BYTES_AHEAD / 2, EXECUTIONS_AHEAD / 2).await?;
            }
        }
        // The server can start while the next rows are prepared.
        self.flush().await
    }

    pub(super) async fn settle_execution(
        &mut self,
        writer: &mut Writer,
        row: usize,
        ticket: Ticket,
        counts: Option<Ticket>,
    ) -> Result<()> {
        let executed = self.answer(ticket).await?;
        let counted = match counts {
            Some(counts) => RecordCounts::decode(&self.answer(counts).await?.data),
            None => Some(RecordCounts::ONE_INSERTED),
        };
        let failed = executed.status.is_error();
        writer.executed(row, if failed { Err(Error::engine(executed.status)) } else { Ok(counted) })
    }
}
