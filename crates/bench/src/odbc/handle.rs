//! Connections and statements: a safe wrapper over the C functions.

#![allow(unsafe_code)]

use super::abi::{self, Handle, Pointer, Return, attribute};
use super::library::{Functions, Library};
use super::rowset::{Buffer, Parameters, Rowset};
use crate::error::{Error, Result};
use std::ptr::{null_mut, without_provenance_mut};

/// An open connection and its environment.
#[derive(Debug)]
pub(super) struct Connection<'l> {
    functions: &'l Functions,
    environment: Handle,
    handle: Handle,
    is_open: bool,
}

impl<'l> Connection<'l> {
    /// Connects with a connection string.
    pub(super) fn open(library: &'l Library, text: &str) -> Result<Self> {
        let functions = &library.functions;
        let none = null_mut();
        let mut connection = Self { functions, environment: none, handle: none, is_open: false };
        let Self { environment, handle, .. } = &mut connection;
        let version = without_provenance_mut(abi::OV_ODBC3);
        // SAFETY: the places are there; the version is a number.
        let code = unsafe {
            match (functions.SQLAllocHandle)(abi::HANDLE_ENV, none, environment) {
                abi::SUCCESS => {
                    (functions.SQLSetEnvAttr)(*environment, attribute::ODBC_VERSION, version, 0);
                    (functions.SQLAllocHandle)(abi::HANDLE_DBC, *environment, handle)
                }
                code => code,
            }
        };
        if code != abi::SUCCESS {
            return Err(Error::other("the driver gives no handles"));
        }
        let length = short(text.len(), "the connection string")?;
        // SAFETY: the text has its length.
        let code = unsafe {
            let completion = abi::DRIVER_NOPROMPT;
            let to = null_mut();
            (functions.SQLDriverConnect)(
                connection.handle,
                none,
                text.as_ptr(),
                length,
                to,
                0,
                null_mut(),
                completion,
            )
        };
        connection.expect(code, "SQLDriverConnect")?;
        connection.is_open = true;
        Ok(connection)
    }

    pub(super) fn statement(&self) -> Result<Statement<'_>> {
        let mut handle = null_mut();
        // SAFETY: the place is there.
        let code = unsafe { (self.functions.SQLAllocHandle)(abi::HANDLE_STMT, self.handle, &mut handle) };
        self.expect(code, "SQLAllocHandle")?;
        Ok(Statement { functions: self.functions, handle })
    }

    /// Turns autocommit off.
    pub(super) fn begin(&self) -> Result<()> {
        // SAFETY: the value is a number.
        let code =
            unsafe { (self.functions.SQLSetConnectAttr)(self.handle, attribute::AUTOCOMMIT, null_mut(), 0) };
        self.expect(code, "SQLSetConnectAttr")
    }

    pub(super) fn commit(&self) -> Result<()> {
        // SAFETY: the handle is valid.
        let code = unsafe { (self.functions.SQLEndTran)(abi::HANDLE_DBC, self.handle, abi::COMMIT) };
        self.expect(code, "SQLEndTran")
    }

    /// Returns what `SQLGetInfo` says in text.
    pub(super) fn info(&self, number: u16) -> Result<String> {
        let (mut buffer, mut length) = ([0_u8; 256], 0);
        // SAFETY: the buffer has its capacity.
        let code = unsafe {
            (self.functions.SQLGetInfo)(self.handle, number, buffer.as_mut_ptr().cast(), 256, &mut length)
        };
        self.expect(code, "SQLGetInfo")?;
        Ok(terminated(&buffer))
    }

    pub(super) fn close(mut self) -> Result<()> {
        self.is_open = false;
        // SAFETY: statements borrow the connection, so none is left.
        let code = unsafe { (self.functions.SQLDisconnect)(self.handle) };
        self.expect(code, "SQLDisconnect")
    }

    fn expect(&self, code: Return, function: &str) -> Result<()> {
        match code {
            abi::SUCCESS | abi::SUCCESS_WITH_INFO => Ok(()),
            _ => Err(failure(self.functions, abi::HANDLE_DBC, self.handle, code, function)),
        }
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        let functions = self.functions;
        // SAFETY: statements borrow the connection, so none is left; handles that are NULL were never made.
        unsafe {
            if self.is_open {
                (functions.SQLEndTran)(abi::HANDLE_DBC, self.handle, abi::ROLLBACK);
                (functions.SQLDisconnect)(self.handle);
            }
            for (kind, handle) in [(abi::HANDLE_DBC, self.handle), (abi::HANDLE_ENV, self.environment)] {
                if !handle.is_null() {
                    (functions.SQLFreeHandle)(kind, handle);
                }
            }
        }
    }
}

/// A statement without bound columns or parameters.
#[derive(Debug)]
pub(super) struct Statement<'c> {
    functions: &'c Functions,
    handle: Handle,
}

/// What `SQLDescribeColW` says of a column.
#[derive(Debug)]
pub(super) struct Described {
    name: [u16; 64],
    length: i16,
    pub(super) sql_type: i16,
    /// Digits, characters or bytes.
    pub(super) size: usize,
    /// Those after the point.
    pub(super) digits: i16,
    nullable: i16,
}

impl Default for Described {
    fn default() -> Self {
        Self { name: [0; 64], length: 0, sql_type: 0, size: 0, digits: 0, nullable: 0 }
    }
}

impl Described {
    /// The name, as far as there is room for it.
    pub(super) fn name(&self) -> &[u16] {
        let length = usize::from(self.length.unsigned_abs());
        self.name.get(..length).unwrap_or(&self.name[..self.name.len() - 1])
    }
}

impl<'c> Statement<'c> {
    pub(super) fn execute_directly(&self, sql: &str) -> Result<()> {
        let length = int(sql.len())?;
        // SAFETY: the text has its length.
        let code = unsafe { (self.functions.SQLExecDirect)(self.handle, sql.as_ptr(), length) };
        self.expect(code, "SQLExecDirect")
    }

    pub(super) fn prepare(&self, sql: &str) -> Result<()> {
        let length = int(sql.len())?;
        // SAFETY: the text has its length.
        let code = unsafe { (self.functions.SQLPrepare)(self.handle, sql.as_ptr(), length) };
        self.expect(code, "SQLPrepare")
    }

    /// Sets the number of rows per execution.
    pub(super) fn set_rows(&self, rows: usize) -> Result<()> {
        self.set(attribute::PARAMSET_SIZE, without_provenance_mut(rows))
    }

    /// Asks for a cursor that keeps all rows.
    pub(super) fn make_static(&self) -> Result<()> {
        self.set(attribute::CURSOR_TYPE, without_provenance_mut(abi::CURSOR_STATIC))
    }

    /// Fetches a row; its values are for [`get`](Self::get). Returns whether there is one.
    #[inline]
    pub(super) fn fetch(&self) -> Result<bool> {
        // SAFETY: nothing is bound.
        match unsafe { (self.functions.SQLFetch)(self.handle) } {
            abi::SUCCESS => Ok(true),
            abi::NO_DATA => Ok(false),
            code => Err(self.failure(code, "SQLFetch")),
        }
    }

    /// Reads a value of the current row, whole. Columns are counted from 1.
    #[inline]
    pub(super) fn get(&self, column: u16, buffer: &mut Buffer) -> Result<()> {
        let Buffer { kind, width, data, lengths } = buffer;
        let (data, length) = (data.pointer().cast(), lengths.pointer());
        // SAFETY: the buffer has room for one value and one length at least.
        let code = unsafe {
            (self.functions.SQLGetData)(self.handle, column, kind.c_type(), data, width.cast_signed(), length)
        };
        if code == abi::SUCCESS { Ok(()) } else { Err(self.failure(code, "SQLGetData")) }
    }

    /// Describes a column of what was prepared, counted from 1.
    #[inline]
    pub(super) fn describe(&self, column: u16, to: &mut Described) -> Result<()> {
        let Described { name, length, sql_type, size, digits, nullable } = to;
        // SAFETY: the places are there, and the name has its capacity.
        let code = unsafe {
            (self.functions.SQLDescribeColW)(
                self.handle,
                column,
                name.as_mut_ptr(),
                name.len() as i16,
                length,
                sql_type,
                size,
                digits,
                nullable,
            )
        };
        // The warning is that the name is too long.
        self.expect(code, "SQLDescribeColW")
    }

    /// Returns the number of columns of the result.
    pub(super) fn column_count(&self) -> Result<u16> {
        let mut count = 0;
        // SAFETY: the place is there.
        let code = unsafe { (self.functions.SQLNumResultCols)(self.handle, &mut count) };
        self.expect(code, "SQLNumResultCols")?;
        Ok(count.unsigned_abs())
    }

    /// Binds the columns of a row set.
    pub(super) fn bind(self, rowset: Rowset) -> Result<Fetcher<'c>> {
        let fetcher = Fetcher { statement: self, rowset };
        let Fetcher { statement, rowset } = &fetcher;
        statement.set(attribute::ROW_ARRAY_SIZE, without_provenance_mut(rowset.size))?;
        statement.set(attribute::ROWS_FETCHED_PTR, rowset.fetched.pointer().cast())?;
        for (number, Buffer { kind, width, data, lengths }) in (1..).zip(&rowset.columns) {
            let (data, width) = (data.pointer().cast(), width.cast_signed());
            // SAFETY: the buffers have room for the rows of the array, and live as long as the statement.
            let code = unsafe {
                (statement.functions.SQLBindCol)(
                    statement.handle,
                    number,
                    kind.c_type(),
                    data,
                    width,
                    lengths.pointer(),
                )
            };
            statement.expect(code, "SQLBindCol")?;
        }
        Ok(fetcher)
    }

    /// Binds arrays to the parameters, all INTEGER, of what was prepared.
    pub(super) fn bind_parameters(self, parameters: Parameters) -> Result<Executor<'c>> {
        let executor = Executor { statement: self, parameters };
        let Executor { statement, parameters } = &executor;
        statement.set(attribute::PARAM_STATUS_PTR, parameters.statuses.pointer().cast())?;
        statement.set(attribute::PARAMS_PROCESSED_PTR, parameters.processed.pointer().cast())?;
        for (number, column) in (1..).zip(&parameters.columns) {
            let (input, c_type) = (abi::PARAM_INPUT, abi::c_type::SLONG);
            let data: Pointer = column.pointer().cast();
            // SAFETY: as above.
            let code = unsafe {
                let bind = statement.functions.SQLBindParameter;
                bind(statement.handle, number, input, c_type, abi::INTEGER, 10, 0, data, 4, null_mut())
            };
            statement.expect(code, "SQLBindParameter")?;
        }
        Ok(executor)
    }

    pub(super) fn close(&self) -> Result<()> {
        // SAFETY: the handle is valid.
        let code = unsafe { (self.functions.SQLFreeStmt)(self.handle, abi::CLOSE) };
        self.expect(code, "SQLFreeStmt")
    }

    fn set(&self, attribute: i32, value: Pointer) -> Result<()> {
        // SAFETY: the value is a number, or the address of something that lives as long as the statement.
        let code = unsafe { (self.functions.SQLSetStmtAttr)(self.handle, attribute, value, 0) };
        self.expect(code, "SQLSetStmtAttr")
    }

    fn expect(&self, code: Return, function: &str) -> Result<()> {
        match code {
            abi::SUCCESS | abi::SUCCESS_WITH_INFO => Ok(()),
            _ => Err(self.failure(code, function)),
        }
    }

    #[cold]
    fn failure(&self, code: Return, function: &str) -> Error {
        failure(self.functions, abi::HANDLE_STMT, self.handle, code, function)
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        // SAFETY: nobody else uses the handle.
        unsafe { (self.functions.SQLFreeHandle)(abi::HANDLE_STMT, self.handle) };
    }
}

/// A statement with bound columns.
#[derive(Debug)]
pub(super) struct Fetcher<'c> {
    statement: Statement<'c>,
    /// Freed after the statement.
    rowset: Rowset,
}

impl Fetcher<'_> {
    pub(super) fn rowset(&self) -> &Rowset {
        &self.rowset
    }

    /// Fetches the next row set; returns the number of its rows, 0 at the end.
    #[inline]
    pub(super) fn fetch(&mut self) -> Result<usize> {
        // SAFETY: what is bound is there.
        let code = unsafe { (self.statement.functions.SQLFetch)(self.statement.handle) };
        self.fetched(code, "SQLFetch")
    }

    /// Fetches the row set in this direction.
    pub(super) fn scroll(&mut self, orientation: i16) -> Result<usize> {
        // SAFETY: as above.
        let code =
            unsafe { (self.statement.functions.SQLFetchScroll)(self.statement.handle, orientation, 0) };
        self.fetched(code, "SQLFetchScroll")
    }

    #[inline]
    fn fetched(&self, code: Return, function: &str) -> Result<usize> {
        match code {
            abi::SUCCESS => Ok(self.rowset.fetched.get(0)),
            abi::NO_DATA => Ok(0),
            // Buffers have room for all values, so a warning is an error.
            code => Err(self.statement.failure(code, function)),
        }
    }

    pub(super) fn close(&self) -> Result<()> {
        self.statement.close()
    }
}

/// A prepared statement with bound parameters.
#[derive(Debug)]
pub(super) struct Executor<'c> {
    statement: Statement<'c>,
    /// Freed after the statement.
    parameters: Parameters,
}

impl Executor<'_> {
    pub(super) fn parameters(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    /// Sets the number of rows per execution.
    pub(super) fn set_rows(&mut self, rows: usize) -> Result<()> {
        assert!(rows <= self.parameters.size, "rows of the arrays");
        self.statement.set_rows(rows)
    }

    /// Executes the statement for the rows of the arrays, all of which must succeed. A driver that reports nothing is
    /// believed: the caller checks what was inserted.
    #[inline]
    pub(super) fn execute(&mut self, rows: usize) -> Result<()> {
        self.parameters.processed.set(0, rows);
        // SAFETY: what is bound is there.
        let code = unsafe { (self.statement.functions.SQLExecute)(self.statement.handle) };
        if code != abi::SUCCESS {
            return Err(self.statement.failure(code, "SQLExecute"));
        }
        let Parameters { statuses, processed, .. } = &self.parameters;
        if processed.get(0) != rows || (0..rows).any(|row| statuses.get(row) != abi::SUCCESS.unsigned_abs()) {
            return Err(Error::other(format!("{} of {rows} rows were processed", processed.get(0))));
        }
        Ok(())
    }
}

/// Returns the first diagnostic record of a handle as an error.
fn failure(functions: &Functions, kind: i16, handle: Handle, code: Return, function: &str) -> Error {
    let (mut state, mut message) = ([0_u8; 6], [0_u8; 1024]);
    let (mut native, mut length) = (0, 0);
    // SAFETY: the buffers have their capacities.
    unsafe {
        let (state, message) = (state.as_mut_ptr(), message.as_mut_ptr());
        (functions.SQLGetDiagRec)(kind, handle, 1, state, &mut native, message, 1024, &mut length);
    }
    Error::other(format!("{function} returned {code}: {} {}", terminated(&state), terminated(&message)))
}

fn terminated(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

fn short(length: usize, what: &str) -> Result<i16> {
    i16::try_from(length).map_err(|_| Error::usage(format!("{what} is too long")))
}

fn int(length: usize) -> Result<i32> {
    i32::try_from(length).map_err(|_| Error::usage("the statement is too long"))
}
