//! A prepared statement.

use crate::Error;
use crate::abi::{IMessageMetadata, IStatement, IStatus, Owned};
use crate::attachment::{AttachmentCore, length};
use crate::batch::{Batch, BatchOptions};
use crate::info::answer;
use crate::message::Shape;
use crate::metadata::Metadata;
use crate::result_set::ResultSet;
use crate::status::{Status, text};
use crate::transaction::Transaction;
use std::cell::OnceCell;
use std::ptr;
use std::sync::Arc;

/// A prepared statement. Dropping it frees it, once its cursor or bulk operation is gone.
pub struct Statement {
    core: Arc<StatementCore>,
    status: Status,
    output_shape: OnceCell<Shape>,
}

/// The part that a cursor or bulk operation keeps alive.
pub(crate) struct StatementCore {
    interface: Owned<IStatement>,
    pub(crate) attachment: Arc<AttachmentCore>,
}

/// How a statement can be executed. These flags decide it, not the [`kind`](Statement::kind), which differs between
/// releases for statements with RETURNING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementFlags(pub u32);

impl StatementFlags {
    /// Whether rows are fetched through a cursor; otherwise the statement is executed.
    pub fn has_cursor(self) -> bool {
        self.0 & 1 != 0
    }

    /// Whether it can be executed again without being prepared again.
    pub fn is_repeatable(self) -> bool {
        self.0 & 2 != 0
    }
}

/// The kind of a statement (`isc_info_sql_stmt_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StatementKind(pub u32);

#[allow(missing_docs, reason = "the names are Firebird's own")]
impl StatementKind {
    pub const SELECT: Self = Self(1);
    pub const DDL: Self = Self(5);
    pub const COMMIT: Self = Self(10);
}

/// How a cursor is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CursorFlags(pub u32);

impl CursorFlags {
    /// Rows are fetched once, in order.
    pub const FORWARD: Self = Self(0);
    /// `CURSOR_TYPE_SCROLLABLE`.
    pub const SCROLLABLE: Self = Self(1);
}

/// An input message: its format and its bytes. They are mutable only because the interface lacks a `const`; the engine
/// does not change them.
pub type Input<'a> = Option<(&'a Metadata, &'a mut [u8])>;

/// The destination of an output message: the requested format and the memory.
pub type Output<'a> = Option<(&'a Metadata, &'a mut [u8])>;

impl Statement {
    pub(crate) fn new(attachment: &Arc<AttachmentCore>, interface: Owned<IStatement>) -> Result<Self, Error> {
        let status = attachment.status()?;
        let core = Arc::new(StatementCore { interface, attachment: Arc::clone(attachment) });
        Ok(Self { core, status, output_shape: OnceCell::new() })
    }

    /// How it can be executed.
    pub fn flags(&self) -> Result<StatementFlags, Error> {
        // SAFETY: the interface is alive.
        self.call(|this, status| unsafe { IStatement::flags(this, status) }).map(StatementFlags)
    }

    /// Its kind.
    pub fn kind(&self) -> Result<StatementKind, Error> {
        // SAFETY: the interface is alive.
        self.call(|this, status| unsafe { IStatement::kind(this, status) }).map(StatementKind)
    }

    /// The access plan, in the short or the detailed form; empty for statements without one.
    pub fn plan(&self, detailed: bool) -> Result<String, Error> {
        // SAFETY: the interface is alive, and the string lives until the next call of this getter.
        self.call(|this, status| unsafe { text(IStatement::plan(this, status, u8::from(detailed))) })
    }

    /// Rows that the last execution changed.
    pub fn affected_records(&self) -> Result<u64, Error> {
        // SAFETY: the interface is alive.
        self.call(|this, status| unsafe { IStatement::affected_records(this, status) })
    }

    /// The format of its parameters; no fields if there are none.
    pub fn input(&self) -> Result<Metadata, Error> {
        self.metadata(IStatement::input_metadata)
    }

    /// The format of its rows; no fields if there are none.
    pub fn output(&self) -> Result<Metadata, Error> {
        self.metadata(IStatement::output_metadata)
    }

    /// Sets the timeout of executions; 0 means no limit. Needs Firebird 4.0.
    pub fn set_timeout(&mut self, milliseconds: u32) -> Result<(), Error> {
        if self.core.interface.version() < 4 {
            return Err(Error::Unsupported { what: "a statement timeout", since: "4.0" });
        }
        // SAFETY: the interface is alive and, as just checked, new enough.
        self.call(|this, status| unsafe { IStatement::set_timeout(this, status, milliseconds) })
    }

    /// Executes a statement without a cursor; `output` receives the row of RETURNING or a procedure.
    ///
    /// COMMIT and ROLLBACK end `transaction`; SET TRANSACTION returns the transaction that it starts.
    pub fn execute(
        &mut self,
        transaction: &mut Transaction,
        input: Input<'_>,
        output: Output<'_>,
    ) -> Result<Option<Transaction>, Error> {
        let (in_format, in_bytes) = message(input)?;
        let (out_format, out_bytes) = message(output)?;
        let (core, status) = (&self.core, &self.status);
        transaction.lend(&core.attachment, |before| {
            // SAFETY: statement and formats are alive, `before` is a live transaction, one reference of which
            // goes to the engine, and the buffers were measured against their formats.
            status.run(|status| unsafe {
                let this = core.interface.raw();
                IStatement::execute(this, status, before, in_format, in_bytes, out_format, out_bytes)
            })
        })
    }

    /// Opens a cursor, one at a time. Rows have the format of `output`, or the engine's own by default.
    pub fn open_cursor(
        &mut self,
        transaction: &Transaction,
        input: Input<'_>,
        output: Option<&Metadata>,
        flags: CursorFlags,
    ) -> Result<ResultSet, Error> {
        let (in_format, in_bytes) = message(input)?;
        let shape = match output {
            Some(format) => format.shape(),
            None => self.output_shape()?,
        };
        let out_format = output.map_or(ptr::null_mut(), Metadata::raw);
        let raw_transaction = transaction.raw()?;
        // SAFETY: statement, transaction and formats are alive, and the buffer was measured against its format.
        let raw = self.call(|this, status| unsafe {
            IStatement::open_cursor(this, status, raw_transaction, in_format, in_bytes, out_format, flags.0)
        })?;
        // SAFETY: the reference that the call returned is ours.
        let interface = unsafe { Owned::new(raw) }?;
        let format = output.map(|format| format.interface().clone());
        ResultSet::new(interface, shape, format, &self.core, transaction.core())
    }

    /// Opens a bulk operation, one at a time, for messages in the given format. Needs Firebird 4.0.
    ///
    /// Works for INSERT, UPDATE, DELETE, MERGE and EXECUTE PROCEDURE with parameters. Engines accept EXECUTE BLOCK, but
    /// unreliably: 4.0 fails at every second message.
    pub fn create_batch(&mut self, format: &Metadata, options: &BatchOptions) -> Result<Batch, Error> {
        if self.core.interface.version() < 4 {
            return Err(Error::Unsupported { what: "a bulk operation", since: "4.0" });
        }
        // The library divides by the length of a message.
        if format.count() == 0 {
            return Err(Error::Argument {
                what: "a bulk operation needs a statement with parameters".into(),
            });
        }
        // Engines accept INSERT … RETURNING, report success for each message and insert nothing.
        if self.output_shape()?.length > 0 {
            return Err(Error::Argument {
                what: "a statement that returns rows cannot be a bulk operation".into(),
            });
        }
        format.verify_stride()?;
        let parameters = options.parameters();
        let length = length(&parameters)?;
        // SAFETY: statement and format are alive, the interface is new enough, and the buffer has the length given.
        let raw = self.call(|this, status| unsafe {
            IStatement::create_batch(this, status, format.raw(), length, parameters.as_ptr())
        })?;
        // SAFETY: the reference that the call returned is ours.
        Batch::new(&self.core, unsafe { Owned::new(raw) }?, format, options)
    }

    /// Requests information items, except those that describe fields ([`output`](Self::output) does that); see
    /// [`Attachment::info`](crate::Attachment::info).
    pub fn info(&self, items: &[u8], size: usize) -> Result<Vec<u8>, Error> {
        let length = length(items)?;
        answer(size, |buffer, size| {
            // SAFETY: items and buffer have the lengths given.
            self.call(|this, status| unsafe {
                IStatement::info(this, status, length, items.as_ptr(), size, buffer)
            })
        })
    }

    fn output_shape(&self) -> Result<Shape, Error> {
        if let Some(shape) = self.output_shape.get() {
            return Ok(*shape);
        }
        let shape = self.output()?.shape();
        Ok(*self.output_shape.get_or_init(|| shape))
    }

    fn metadata(
        &self,
        getter: unsafe fn(*mut IStatement, *mut IStatus) -> *mut IMessageMetadata,
    ) -> Result<Metadata, Error> {
        // SAFETY: the interface is alive.
        let raw = self.call(|this, status| unsafe { getter(this, status) })?;
        // SAFETY: the reference that the call returned is ours.
        Metadata::new(&self.core.attachment.library, unsafe { Owned::new(raw) }?)
    }

    fn call<T>(&self, call: impl FnOnce(*mut IStatement, *mut IStatus) -> T) -> Result<T, Error> {
        self.status.call(|status| call(self.core.interface.raw(), status))
    }
}

impl Drop for StatementCore {
    fn drop(&mut self) {
        // No caller is left to report a failure to; releasing the interface frees the statement in any case.
        let Ok(status) = Status::new(&self.attachment.library) else { return };
        let reference = self.interface.clone();
        // SAFETY: the interface is alive, and one reference is the call's to take.
        if status.call(|status| unsafe { IStatement::free(reference.raw(), status) }).is_ok() {
            reference.was_taken();
        }
    }
}

impl std::fmt::Debug for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statement").finish_non_exhaustive()
    }
}

/// Format and address of a message, after checking its length; nulls for none.
fn message(given: Option<(&Metadata, &mut [u8])>) -> Result<(*mut IMessageMetadata, *mut u8), Error> {
    match given {
        None => Ok((ptr::null_mut(), ptr::null_mut())),
        Some((format, bytes)) => Ok((format.raw(), format.shape().message(bytes)?)),
    }
}
