//! What tests of changes through cursors share.

use crate::buffers::*;
use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::Target;

const CURSOR_TYPE: i32 = 6;
pub(crate) const CONCURRENCY: i32 = 7;
const USE_BOOKMARKS: i32 = 12;
pub(crate) const AUTOCOMMIT: i32 = 102;

pub(crate) const REFRESH: u16 = 1;
pub(crate) const UPDATE: u16 = 2;
pub(crate) const DELETE: u16 = 3;
pub(crate) const ADD: u16 = 4;

pub(crate) const ROW_DELETED: u16 = 1;
pub(crate) const ROW_UPDATED: u16 = 2;
pub(crate) const ROW_ADDED: u16 = 4;
pub(crate) const ROW_ERROR: u16 = 5;
pub(crate) const IGNORE: isize = -6;

/// The buffers of a column, one for each row of a row set.
pub(crate) struct Slots {
    c_type: i16,
    capacity: usize,
    data: *mut u8,
    lengths: *mut isize,
    rows: usize,
}

impl Slots {
    /// They are never freed: a driver that forgets a binding too late would then read what is there.
    pub(crate) fn new(c_type: i16, capacity: usize, rows: usize) -> Self {
        let data = Box::leak(vec![0_u8; capacity * rows].into_boxed_slice()).as_mut_ptr();
        let lengths = Box::leak(vec![0_isize; rows].into_boxed_slice()).as_mut_ptr();
        Self { c_type, capacity, data, lengths, rows }
    }

    pub(crate) fn texts(rows: usize) -> Self {
        Self::new(1, 60, rows)
    }

    pub(crate) fn bind(&self, statement: &Statement, column: u16) {
        // SAFETY: the buffers stay.
        let code = unsafe {
            SQLBindCol(
                statement.handle,
                column,
                self.c_type,
                self.data.cast(),
                self.capacity as isize,
                self.lengths,
            )
        };
        assert_eq!(code, SUCCESS, "{:?}", statement.records());
    }

    pub(crate) fn set(&self, slot: usize, value: &[u8]) {
        assert!(slot < self.rows && value.len() <= self.capacity);
        // SAFETY: it is within the buffers.
        unsafe { self.data.add(slot * self.capacity).copy_from(value.as_ptr(), value.len()) };
        self.set_length(slot, value.len() as isize);
    }

    pub(crate) fn set_text(&self, slot: usize, value: &str) {
        self.set(slot, value.as_bytes());
    }

    pub(crate) fn set_length(&self, slot: usize, length: isize) {
        assert!(slot < self.rows);
        // SAFETY: it is within the buffers.
        unsafe { self.lengths.add(slot).write(length) };
    }

    pub(crate) fn text(&self, slot: usize) -> Option<String> {
        assert!(slot < self.rows);
        // SAFETY: it is within the buffers.
        unsafe {
            let length = usize::try_from(self.lengths.add(slot).read()).ok()?.min(self.capacity);
            let bytes = std::slice::from_raw_parts(self.data.add(slot * self.capacity), length);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

/// A statement whose static cursor can change rows, with row sets of this size.
pub(crate) fn changing(connection: &Connection, rows: usize) -> Statement {
    let statement = connection.statement();
    assert_eq!(statement.set(CURSOR_TYPE, 3), SUCCESS);
    assert_eq!(statement.set(CONCURRENCY, 4), SUCCESS);
    assert_eq!(statement.set(USE_BOOKMARKS, 2), SUCCESS);
    assert_eq!(statement.set(ROW_ARRAY_SIZE, rows), SUCCESS);
    statement
}

/// A status array that the statement writes.
pub(crate) struct Statuses(*mut u16, usize);

impl Statuses {
    pub(crate) fn of(statement: &Statement, rows: usize) -> Self {
        let array = Box::leak(vec![99_u16; rows].into_boxed_slice());
        let statuses = Self(array.as_mut_ptr(), rows);
        assert_eq!(statement.set(ROW_STATUS_PTR, statuses.0.expose_provenance()), SUCCESS);
        statuses
    }

    pub(crate) fn get(&self) -> Vec<u16> {
        // SAFETY: they stay.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }.to_vec()
    }
}

pub(crate) fn set_pos(statement: &Statement, row: usize, operation: u16) -> Return {
    // SAFETY: what is bound is there.
    unsafe { SQLSetPos(statement.handle, row, operation, 0) }
}

pub(crate) fn bulk(statement: &Statement, operation: i16) -> Return {
    // SAFETY: what is bound is there.
    unsafe { SQLBulkOperations(statement.handle, operation) }
}

/// The call, which must have failed in this way.
pub(crate) fn refused(code: Return, statement: &Statement) -> String {
    assert_eq!(code, ERROR, "{:?}", statement.records());
    statement.state()
}

/// Two connections to a new database.
pub(crate) fn two(target: &Target) -> (Connection, Connection) {
    let text = fresh_string(target);
    let (one, other) = (unconnected(380), unconnected(380));
    one.connect(&text);
    other.connect(&text.replace("CREATE_DB=Y", ""));
    (one, other)
}

/// All rows of a query, with `,` between values and `;` between rows; `-` is NULL.
pub(crate) fn rows(connection: &Connection, sql: &str) -> String {
    let rows = connection.texts(sql);
    let row = |row: &Vec<Option<String>>| {
        row.iter().map(|value| value.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(",")
    };
    rows.iter().map(row).collect::<Vec<_>>().join(";")
}

/// The table T with the rows 1 to `count`.
pub(crate) fn table(connection: &Connection, count: usize) {
    connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, A VARCHAR(20), N INTEGER)");
    for id in 1..=count {
        connection.run(&format!("INSERT INTO T VALUES ({id}, 'a{id}', {id}0)"));
    }
}
