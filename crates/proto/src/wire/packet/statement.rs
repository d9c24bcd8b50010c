//! Statements: prepare, execute, fetch, free.

use super::{Answer, Request};
use crate::api::dialect::Dialect;
use crate::wire::op::Op;
use crate::wire::packed::PackedFormat;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::Writer;
use std::sync::Arc;

/// `op_allocate_statement`: the server defers the answer until the next request.
#[derive(Clone, Copy, Debug)]
pub struct AllocateStatement;

impl Request for AllocateStatement {
    const OP: Op = Op::ALLOCATE_STATEMENT;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(0);
    }
}

/// `op_prepare_statement`: the answer's data is the description.
#[derive(Clone, Copy, Debug)]
pub struct PrepareStatement<'a> {
    /// Handle of the transaction.
    pub transaction: u16,
    /// Handle of the statement, or [`super::LAST_OBJECT`].
    pub statement: u16,
    /// The SQL dialect.
    pub dialect: Dialect,
    /// SQL text.
    pub sql: &'a str,
    /// Requested info items.
    pub items: &'a [u8],
    /// Length of the answer buffer.
    pub buffer_length: u32,
}

impl Request for PrepareStatement<'_> {
    const OP: Op = Op::PREPARE_STATEMENT;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.transaction);
        out.short(self.statement);
        out.short(self.dialect.number().into());
        out.cstr(self.sql.as_bytes());
        out.cstr(self.items);
        out.word(self.buffer_length);
    }

    fn most_data(&self) -> usize {
        self.buffer_length as usize
    }
}

/// The parameters of one execution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parameters<'a> {
    /// BLR of the message. Empty if there are no parameters, or if the statement was last executed with the same
    /// format, which the server keeps.
    pub blr: &'a [u8],
    /// The packed message.
    pub message: &'a [u8],
}

impl Parameters<'_> {
    fn encode(&self, out: &mut Writer<'_>) {
        out.cstr(self.blr);
        out.short(0); // message number
        out.short(u16::from(!self.message.is_empty()));
        out.bytes(self.message);
    }
}

/// The trailing fields of an execution, as far as the protocol version has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecuteOptions {
    /// Timeout in milliseconds, 0 = none (protocol 16+).
    pub timeout: u32,
    /// 1 = scrollable (protocol 18+).
    pub cursor_flags: u32,
    /// Largest BLOB to send with its row, 0 = none (protocol 19+).
    pub inline_blob_limit: u32,
}

impl ExecuteOptions {
    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>) {
        if version.has_statement_timeout() {
            out.word(self.timeout);
        }
        if version.has_cursor_flags() {
            out.word(self.cursor_flags);
        }
        if version.has_inline_blobs() {
            out.word(self.inline_blob_limit);
        }
    }
}

/// `op_execute`: opens a cursor or runs a statement without a result.
#[derive(Clone, Copy, Debug)]
pub struct Execute<'a> {
    /// The real handle of the statement.
    pub statement: u16,
    /// Handle of the transaction.
    pub transaction: u16,
    /// Parameters.
    pub parameters: Parameters<'a>,
    /// Trailing fields.
    pub options: ExecuteOptions,
}

impl Request for Execute<'_> {
    const OP: Op = Op::EXECUTE;

    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        out.short(self.transaction);
        self.parameters.encode(out);
        self.options.encode(version, out);
    }
}

/// `op_execute2`: runs a statement that returns at most one row without a cursor.
#[derive(Clone, Debug)]
pub struct ExecuteSingleton<'a> {
    /// The real handle of the statement.
    pub statement: u16,
    /// Handle of the transaction.
    pub transaction: u16,
    /// Parameters.
    pub parameters: Parameters<'a>,
    /// Format of the row.
    pub output: Arc<PackedFormat>,
    /// Trailing fields.
    pub options: ExecuteOptions,
}

impl Request for ExecuteSingleton<'_> {
    const OP: Op = Op::EXECUTE2;

    fn encode(&self, version: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        out.short(self.transaction);
        self.parameters.encode(out);
        out.cstr(self.output.blr());
        out.short(0);
        self.options.encode(version, out);
    }

    fn answer(&self) -> Answer {
        Answer::Singleton(Arc::clone(&self.output))
    }
}

/// `op_exec_immediate`: prepares and runs a statement without parameters or a result.
#[derive(Clone, Copy, Debug)]
pub struct ExecuteImmediate<'a> {
    /// Handle of the transaction, 0 for SET TRANSACTION and the like.
    pub transaction: u16,
    /// The SQL dialect.
    pub dialect: Dialect,
    /// SQL text.
    pub sql: &'a str,
}

impl Request for ExecuteImmediate<'_> {
    const OP: Op = Op::EXEC_IMMEDIATE;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.transaction);
        out.short(0);
        out.short(self.dialect.number().into());
        out.cstr(self.sql.as_bytes());
        out.cstr(&[]);
        out.word(0);
    }
}

/// `op_fetch`.
#[derive(Clone, Debug)]
pub struct Fetch {
    /// The real handle of the statement.
    pub statement: u16,
    /// Format of the rows.
    pub output: Arc<PackedFormat>,
    /// Whether this is the first fetch since the execution, which must contain the BLR.
    pub first: bool,
    /// Requested rows. A server that sends more violates the protocol.
    pub rows: u16,
}

impl Request for Fetch {
    const OP: Op = Op::FETCH;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        if self.first {
            out.cstr(self.output.blr());
        } else {
            out.cstr(&[]);
        }
        out.short(0);
        out.short(self.rows);
    }

    fn answer(&self) -> Answer {
        Answer::Rows(Arc::clone(&self.output), self.rows)
    }
}

/// What `op_free_statement` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeOption {
    /// Closes the cursor.
    Close = 1,
    /// Frees the handle.
    Drop = 2,
    /// Discards the prepared statement, keeps the handle.
    Unprepare = 4,
}

/// `op_free_statement`: the server defers the answer until the next request.
#[derive(Clone, Copy, Debug)]
pub struct FreeStatement {
    /// Handle of the statement.
    pub statement: u16,
    /// What to do.
    pub option: FreeOption,
}

impl Request for FreeStatement {
    const OP: Op = Op::FREE_STATEMENT;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.short(self.statement);
        out.short(self.option as u16);
    }
}
