//! The C functions themselves, for what the driver manager hides: affected rows beside a stream, errors of streams, misuse.

use crate::support::{empty_url, options};
use adbc_core::constants::{ADBC_STATUS_OK, ADBC_VERSION_1_1_0};
use adbc_core::error::{AdbcStatusCode, Error, Status};
use adbc_core::options::OptionValue;
use adbc_ffi::{FFI_AdbcConnection, FFI_AdbcDatabase, FFI_AdbcDriver, FFI_AdbcError, FFI_AdbcStatement};
use arrow::array::{RecordBatch, StructArray};
use arrow::datatypes::{DataType, Schema};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use firearrow_adbc::AdbcDriverFirebirdInit;
use firearrow_testkit::Target;
use std::ffi::{CStr, CString, c_int};
use std::ptr::null_mut;

/// The table of functions.
pub(crate) fn table() -> Box<FFI_AdbcDriver> {
    let mut table = Box::new(FFI_AdbcDriver::default());
    let mut error = FFI_AdbcError::default();
    // SAFETY: there is room for the whole table, and the error is one of 1.1.
    let status =
        unsafe { AdbcDriverFirebirdInit(ADBC_VERSION_1_1_0, (&raw mut *table).cast(), &raw mut error) };
    assert_eq!(status, ADBC_STATUS_OK);
    table
}

/// Calls a function of the table with an error behind its arguments.
macro_rules! call {
    ($table:expr, $method:ident($($argument:expr),*)) => {{
        let table: &adbc_ffi::FFI_AdbcDriver = &$table;
        let mut error = adbc_ffi::FFI_AdbcError::with_driver(table);
        let function = table.$method.expect(stringify!($method));
        // SAFETY: the tests give what the standard wants, or null.
        let status = unsafe { function($($argument,)* &raw mut error) };
        $crate::raw::outcome(status, error)
    }};
}

pub(crate) use call;

/// The result of a call.
pub(crate) fn outcome(status: AdbcStatusCode, error: FFI_AdbcError) -> Result<(), Error> {
    if status == ADBC_STATUS_OK {
        return Ok(());
    }
    let mut error = Error::try_from(&error).expect("messages are text");
    error.status = Status::try_from(status).expect("a known status");
    Err(error)
}

/// A connection by the C functions.
pub(crate) struct Raw {
    pub(crate) table: Box<FFI_AdbcDriver>,
    pub(crate) database: FFI_AdbcDatabase,
    pub(crate) connection: FFI_AdbcConnection,
}

impl Raw {
    pub(crate) fn fresh(target: &Target) -> Self {
        let mut raw = Self { table: table(), database: Default::default(), connection: Default::default() };
        let (database, connection) = (&raw mut raw.database, &raw mut raw.connection);
        call!(raw.table, DatabaseNew(database)).expect("a database");
        for (key, value) in options(target, &empty_url(target)) {
            let OptionValue::String(value) = value else { unreachable!("all of them are text") };
            let (key, value) = (CString::new(key.as_ref()), CString::new(value));
            let (key, value) = (key.expect("no NUL"), value.expect("no NUL"));
            call!(raw.table, DatabaseSetOption(database, key.as_ptr(), value.as_ptr())).expect("an option");
        }
        call!(raw.table, DatabaseInit(database)).expect("it is described");
        call!(raw.table, ConnectionNew(connection)).expect("a connection");
        call!(raw.table, ConnectionInit(connection, database)).expect("it is connected");
        raw
    }

    pub(crate) fn statement(&self, sql: &str) -> RawStatement<'_> {
        let mut statement = RawStatement { raw: self, statement: FFI_AdbcStatement::default() };
        let connection = (&raw const self.connection).cast_mut();
        let handle = &raw mut statement.statement;
        call!(self.table, StatementNew(connection, handle)).expect("a statement");
        let sql = CString::new(sql).expect("no NUL");
        call!(self.table, StatementSetSqlQuery(handle, sql.as_ptr())).expect("a query");
        statement
    }

    /// A stream, and the affected rows beside it.
    pub(crate) fn stream(&self, sql: &str) -> Result<(RawStream<'_>, i64), Error> {
        let mut statement = self.statement(sql);
        statement.execute()
    }

    pub(crate) fn execute(&self, sql: &str) -> Result<(Vec<RecordBatch>, i64), Error> {
        let (mut stream, affected) = self.stream(sql)?;
        let mut batches = Vec::new();
        while let Some(batch) = stream.next().map_err(|failure| failure.error.expect("it is told"))? {
            batches.push(batch);
        }
        Ok((batches, affected))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let (database, connection) = (&raw mut self.database, &raw mut self.connection);
        if !self.connection.private_data.is_null() {
            call!(self.table, ConnectionRelease(connection)).expect("it is released");
        }
        if !self.database.private_data.is_null() {
            call!(self.table, DatabaseRelease(database)).expect("it is released");
        }
    }
}

pub(crate) struct RawStatement<'a> {
    raw: &'a Raw,
    pub(crate) statement: FFI_AdbcStatement,
}

impl<'a> RawStatement<'a> {
    pub(crate) fn execute(&mut self) -> Result<(RawStream<'a>, i64), Error> {
        let (mut stream, mut affected) = (FFI_ArrowArrayStream::empty(), i64::MIN);
        let (statement, out, rows) = (&raw mut self.statement, &raw mut stream, &raw mut affected);
        call!(self.raw.table, StatementExecuteQuery(statement, out, rows))?;
        Ok((RawStream { table: &self.raw.table, stream }, affected))
    }
}

impl Drop for RawStatement<'_> {
    fn drop(&mut self) {
        let statement = &raw mut self.statement;
        if !self.statement.private_data.is_null() {
            call!(self.raw.table, StatementRelease(statement)).expect("it is released");
        }
    }
}

/// What a stream says about a failure.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) number: c_int,
    pub(crate) message: String,
    /// What ErrorFromArrayStream gives.
    pub(crate) error: Option<Error>,
}

pub(crate) struct RawStream<'a> {
    table: &'a FFI_AdbcDriver,
    pub(crate) stream: FFI_ArrowArrayStream,
}

impl RawStream<'_> {
    pub(crate) fn schema(&mut self) -> Schema {
        let mut schema = FFI_ArrowSchema::empty();
        let function = self.stream.get_schema().expect("a function");
        // SAFETY: the stream is alive and there is room for a schema.
        assert_eq!(unsafe { function(&raw mut self.stream, &raw mut schema) }, 0);
        Schema::try_from(&schema).expect("a schema")
    }

    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, Failure> {
        let schema = self.schema();
        let mut array = FFI_ArrowArray::empty();
        let function = self.stream.get_next().expect("a function");
        // SAFETY: the stream is alive and there is room for an array.
        match unsafe { function(&raw mut self.stream, &raw mut array) } {
            0 if array.is_released() => Ok(None),
            0 => {
                let data_type = DataType::Struct(schema.fields.clone());
                // SAFETY: the array is of the stream's schema.
                let data = unsafe { from_ffi_and_data_type(array, data_type) }.expect("a sound array");
                Ok(Some(
                    RecordBatch::from(StructArray::from(data)).with_schema(schema.into()).expect("it fits"),
                ))
            }
            number => Err(self.failure(number)),
        }
    }

    pub(crate) fn failure(&mut self, number: c_int) -> Failure {
        let function = self.stream.get_last_error().expect("a function");
        // SAFETY: the stream is alive.
        let message = unsafe { function(&raw mut self.stream) };
        assert!(!message.is_null());
        // SAFETY: it ends with NUL and lives until the next call.
        let message = unsafe { CStr::from_ptr(message) }.to_str().expect("text").to_owned();
        Failure { number, message, error: self.error() }
    }

    /// What ErrorFromArrayStream says.
    pub(crate) fn error(&mut self) -> Option<Error> {
        let mut status = ADBC_STATUS_OK;
        let function = self.table.ErrorFromArrayStream.expect("a function");
        // SAFETY: the stream is alive.
        let found = unsafe { function(&raw mut self.stream, &raw mut status).as_ref()? };
        // Details are asked from the driver, as the manager does.
        let copy = FFI_AdbcError {
            message: found.message,
            vendor_code: found.vendor_code,
            sqlstate: found.sqlstate,
            release: None,
            private_data: found.private_data,
            private_driver: self.table,
        };
        let mut error = Error::try_from(&copy).expect("messages are text");
        error.status = Status::try_from(status).expect("a known status");
        Some(error)
    }

    /// Releases the error although that is not allowed, as some consumers do.
    pub(crate) fn release_error(&mut self) {
        let function = self.table.ErrorFromArrayStream.expect("a function");
        // SAFETY: the stream is alive; the release function bears being called early.
        unsafe {
            let found = function(&raw mut self.stream, null_mut()).cast_mut();
            let release = (*found).release.expect("it can be released");
            release(found);
        }
    }

    /// Releases the stream; dropping it afterwards does nothing.
    pub(crate) fn release(&mut self) {
        let release = self.stream.release().expect("it is alive");
        // SAFETY: the stream is alive.
        unsafe { release(&raw mut self.stream) };
        assert!(self.stream.release().is_none());
    }
}
