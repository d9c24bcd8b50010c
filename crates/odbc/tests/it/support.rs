//! Handles that free themselves, and what most tests begin with.

use crate::odbc::*;
use firearrow_testkit::Target;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A number as the value of an attribute.
pub(crate) fn number(value: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(value)
}

/// An environment with one open connection. Freed when dropped, whatever state it is in.
pub(crate) struct Connection {
    pub(crate) environment: Handle,
    pub(crate) handle: Handle,
}

// SAFETY: the driver's handles may be used by any thread.
unsafe impl Send for Connection {}
// SAFETY: as above.
unsafe impl Sync for Connection {}

/// An environment of this version, with a connection handle that is not connected.
pub(crate) fn unconnected(version: usize) -> Connection {
    let (mut environment, mut handle) = (null_mut(), null_mut());
    // SAFETY: the places are there.
    unsafe {
        assert_eq!(SQLAllocHandle(ENV, null_mut(), &mut environment), SUCCESS);
        assert_eq!(SQLSetEnvAttr(environment, 200, number(version), 0), SUCCESS);
        assert_eq!(SQLAllocHandle(DBC, environment, &mut handle), SUCCESS);
    }
    Connection { environment, handle }
}

/// The keyword for the code page of text without a character set. On Windows, CHARSET is also the encoding of narrow data.
pub(crate) const CODE_PAGE: &str = if cfg!(windows) { "none_encoding" } else { "CharacterSet" };

/// The connection string for a database of `target` that nobody used before, and that connecting creates.
pub(crate) fn fresh_string(target: &Target) -> String {
    string(target, &target.fresh_url()) + ";CREATE_DB=Y"
}

fn string(target: &Target, url: &str) -> String {
    let mut text = format!("URL={{{url}}}");
    if let Target::Embedded(embedded) = target {
        text += &format!(";CLIENT={{{}}}", embedded.engine.display());
    }
    text
}

/// A connection to a new, empty database, by an application of ODBC 3.80.
pub(crate) fn fresh(target: &Target) -> Connection {
    let create = |url: &str| unconnected(380).connect(&(string(target, url) + ";CREATE_DB=Y"));
    let connection = unconnected(380);
    connection.connect(&string(target, &target.copied_url("empty", create)));
    connection
}

impl Connection {
    /// Connects with a connection string, which must succeed.
    pub(crate) fn connect(&self, text: &str) {
        let code = self.try_connect(text);
        assert!(matches!(code, SUCCESS | SUCCESS_WITH_INFO), "{text}: {:?}", self.records());
    }

    pub(crate) fn try_connect(&self, text: &str) -> Return {
        // SAFETY: the text has its length.
        unsafe {
            let length = i16::try_from(text.len()).expect("a short string");
            SQLDriverConnect(self.handle, null_mut(), text.as_ptr(), length, null_mut(), 0, null_mut(), 0)
        }
    }

    pub(crate) fn statement(&self) -> Statement {
        let mut handle = null_mut();
        // SAFETY: the place is there.
        let code = unsafe { SQLAllocHandle(STMT, self.handle, &mut handle) };
        assert_eq!(code, SUCCESS, "{:?}", self.records());
        Statement { handle }
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        records(DBC, self.handle)
    }

    /// Sets a connection attribute that is a number.
    pub(crate) fn set(&self, attribute: i32, value: usize) -> Return {
        // SAFETY: the value is no pointer.
        unsafe { SQLSetConnectAttr(self.handle, attribute, number(value), 0) }
    }

    /// Runs SQL that must succeed, and returns the number of rows it affected.
    pub(crate) fn run(&self, sql: &str) -> isize {
        let statement = self.statement();
        statement.run(sql);
        statement.row_count()
    }

    /// All values of a query as text.
    pub(crate) fn texts(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let statement = self.statement();
        statement.run(sql);
        statement.all_texts()
    }

    pub(crate) fn end(&self, completion: i16) -> Return {
        // SAFETY: handles are checked.
        unsafe { SQLEndTran(DBC, self.handle, completion) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: handles are checked.
        unsafe {
            SQLEndTran(DBC, self.handle, 1);
            SQLDisconnect(self.handle);
            SQLFreeHandle(DBC, self.handle);
            SQLFreeHandle(ENV, self.environment);
        }
    }
}

/// A statement handle.
pub(crate) struct Statement {
    pub(crate) handle: Handle,
}

// SAFETY: the driver's handles may be used by any thread.
unsafe impl Send for Statement {}
// SAFETY: as above.
unsafe impl Sync for Statement {}

impl Statement {
    pub(crate) fn execute_directly(&self, sql: &str) -> Return {
        // SAFETY: the text has its length.
        unsafe { SQLExecDirect(self.handle, sql.as_ptr(), i32::try_from(sql.len()).expect("a short text")) }
    }

    /// Runs SQL that must succeed.
    pub(crate) fn run(&self, sql: &str) {
        let code = self.execute_directly(sql);
        assert!(matches!(code, SUCCESS | SUCCESS_WITH_INFO | NO_DATA), "{sql}: {code} {:?}", self.records());
    }

    pub(crate) fn try_prepare(&self, sql: &str) -> Return {
        // SAFETY: the text has its length.
        unsafe { SQLPrepare(self.handle, sql.as_ptr(), i32::try_from(sql.len()).expect("a short text")) }
    }

    pub(crate) fn prepare(&self, sql: &str) {
        assert_eq!(self.try_prepare(sql), SUCCESS, "{sql}: {:?}", self.records());
    }

    pub(crate) fn execute(&self) -> Return {
        // SAFETY: what is bound is there.
        unsafe { SQLExecute(self.handle) }
    }

    pub(crate) fn fetch(&self) -> Return {
        // SAFETY: what is bound is there.
        unsafe { SQLFetch(self.handle) }
    }

    pub(crate) fn row_count(&self) -> isize {
        let mut count = 0;
        // SAFETY: the place is there.
        assert_eq!(unsafe { SQLRowCount(self.handle, &mut count) }, SUCCESS, "{:?}", self.records());
        count
    }

    pub(crate) fn columns(&self) -> u16 {
        let mut count = 0;
        // SAFETY: the place is there.
        assert_eq!(unsafe { SQLNumResultCols(self.handle, &mut count) }, SUCCESS, "{:?}", self.records());
        count.unsigned_abs()
    }

    pub(crate) fn set(&self, attribute: i32, value: usize) -> Return {
        // SAFETY: the value is no pointer, or one that the caller keeps.
        unsafe { SQLSetStmtAttr(self.handle, attribute, number(value), 0) }
    }

    pub(crate) fn get(&self, attribute: i32) -> usize {
        let mut value = 0_usize;
        // SAFETY: the place is there.
        let code = unsafe { SQLGetStmtAttr(self.handle, attribute, (&raw mut value).cast(), 0, null_mut()) };
        assert_eq!(code, SUCCESS, "{:?}", self.records());
        value
    }

    /// A value of the current row as text, read in pieces.
    pub(crate) fn text(&self, column: u16) -> Option<String> {
        let mut bytes = Vec::new();
        let mut buffer = [0_u8; 256];
        loop {
            let mut length = 0;
            // SAFETY: the buffer has its length.
            let code =
                unsafe { SQLGetData(self.handle, column, 1, buffer.as_mut_ptr().cast(), 256, &mut length) };
            match code {
                SUCCESS | SUCCESS_WITH_INFO if length == NULL_DATA => return None,
                SUCCESS | SUCCESS_WITH_INFO => {
                    let end = buffer.iter().position(|byte| *byte == 0).expect("a terminator");
                    bytes.extend_from_slice(&buffer[..end]);
                    if code == SUCCESS {
                        return Some(String::from_utf8(bytes).expect("UTF-8"));
                    }
                }
                code => panic!("SQLGetData returned {code}: {:?}", self.records()),
            }
        }
    }

    /// All values of all rows to come, as text.
    pub(crate) fn all_texts(&self) -> Vec<Vec<Option<String>>> {
        let columns = self.columns();
        let mut rows = Vec::new();
        loop {
            match self.fetch() {
                SUCCESS | SUCCESS_WITH_INFO => {
                    rows.push((1..=columns).map(|column| self.text(column)).collect())
                }
                NO_DATA => return rows,
                code => panic!("SQLFetch returned {code}: {:?}", self.records()),
            }
        }
    }

    pub(crate) fn close(&self) {
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLFreeStmt(self.handle, 0) }, SUCCESS);
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        records(STMT, self.handle)
    }

    /// The SQLSTATE of the first record.
    pub(crate) fn state(&self) -> String {
        self.records().first().map(|record| record.state.clone()).unwrap_or_default()
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        // SAFETY: handles are checked.
        unsafe { SQLFreeHandle(STMT, self.handle) };
    }
}

/// A diagnostic record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) state: String,
    pub(crate) native: i32,
    pub(crate) message: String,
}

/// All records of a handle.
pub(crate) fn records(kind: i16, handle: Handle) -> Vec<Record> {
    let mut records = Vec::new();
    for number in 1.. {
        let (mut state, mut native, mut length) = ([0_u8; 6], 0, 0);
        let mut message = vec![0_u8; 8192];
        // SAFETY: the buffers have their lengths.
        let code = unsafe {
            SQLGetDiagRec(
                kind,
                handle,
                number,
                state.as_mut_ptr(),
                &mut native,
                message.as_mut_ptr(),
                8192,
                &mut length,
            )
        };
        if !matches!(code, SUCCESS | SUCCESS_WITH_INFO) {
            break;
        }
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|byte| *byte == 0).expect("a terminator");
            String::from_utf8(bytes[..end].to_vec()).expect("UTF-8")
        };
        records.push(Record { state: text(&state), native, message: text(&message) });
    }
    records
}
