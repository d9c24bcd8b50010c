//! Random calls of the C functions: whatever comes, nothing crashes, hangs or writes where it must not.
//!
//! `FIREARROW_FUZZ_SECONDS` says how long; `FIREARROW_FUZZ_SEED` repeats a run.

use crate::odbc::*;
use crate::random::{ROWS, Random, Room, SQL};
use crate::support::{Connection, fresh, number, unconnected};
use firearrow_testkit::{Target, matrix};
use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance_mut};
use std::time::{Duration, Instant};

struct Player {
    random: Random,
    /// Valid handles, freed ones and garbage.
    handles: Vec<Handle>,
    room: Room,
    /// What bindings point to, which must stay.
    bound: Room,
}

impl Player {
    fn handle(&mut self) -> Handle {
        match self.random.below(40) {
            0 => null_mut(),
            1 => without_provenance_mut(self.random.next() as usize | 1 << 40),
            _ => {
                let at = self.random.below(self.handles.len());
                self.handles[at]
            }
        }
    }

    fn kind(&mut self) -> i16 {
        self.random.of(&[ENV, DBC, STMT, STMT, STMT, DESC, 0, 77])
    }

    fn place<T>(&mut self) -> *mut T {
        match self.random.below(6) {
            0 => null_mut(),
            _ => {
                let offset = self.random.below(1000);
                self.room.at(offset).cast()
            }
        }
    }

    /// A buffer for bound data: each address has room for all rows of any C type and capacity.
    fn buffer<T>(&mut self) -> *mut T {
        match self.random.below(6) {
            0 => null_mut(),
            _ => {
                let offset = self.random.below(8) * 8;
                self.bound.at(offset).cast()
            }
        }
    }

    fn sql(&mut self) -> (*const u8, isize) {
        let text = self.random.of(&SQL);
        match self.random.below(12) {
            0 => (null(), self.random.length()),
            1 => (text.as_ptr(), self.random.of(&[-1, -2, -100])),
            _ => (text.as_ptr(), text.len() as isize),
        }
    }

    /// One call. Freed handles stay among those to choose from.
    ///
    /// # Safety
    /// Everything handed over has the room that the function demands.
    unsafe fn call(&mut self) -> Return {
        let handle = self.handle();
        let (small, other) = (self.random.small(), self.random.small());
        let (short, long): (*mut i16, *mut i32) = (self.place(), self.place());
        let (length, value): (*mut isize, *mut c_void) = (self.place(), self.place());
        let text: *mut u8 = self.place();
        let capacity = self.random.capacity();
        let name = (c"RDB$%".as_ptr().cast::<u8>(), self.random.length() as i16);
        // SAFETY: the caller's promise; places are within the room, texts have their lengths or are refused.
        unsafe {
            match self.random.below(51) {
                0 => {
                    let mut made = null_mut();
                    let kind = self.kind();
                    let code = SQLAllocHandle(kind, handle, &mut made);
                    if !made.is_null() && self.handles.len() < 400 {
                        self.handles.push(made);
                    }
                    code
                }
                1 if self.random.below(4) == 0 => {
                    SQLFreeHandle(self.random.of(&[STMT, STMT, DESC, 9]), handle)
                }
                2 => SQLFreeStmt(handle, self.random.of(&[0, 0, 2, 3, 7])),
                3 => SQLCloseCursor(handle),
                4..=6 => {
                    let (sql, length) = self.sql();
                    SQLExecDirect(handle, sql, length as i32)
                }
                7 | 8 => {
                    let (sql, length) = self.sql();
                    SQLPrepare(handle, sql, length as i32)
                }
                9 | 10 => SQLExecute(handle),
                11..=13 => SQLFetch(handle),
                14 => SQLFetchScroll(handle, small, other.into()),
                15 => SQLExtendedFetch(handle, small as u16, other.into(), self.place(), self.place()),
                16..=18 => {
                    let c_type =
                        self.random.of(&[1, -8, -2, 4, 5, -25, 2, 8, 7, 93, 91, 99, -99, -7, -11, 4711]);
                    SQLGetData(handle, small as u16, c_type, value, capacity.into(), length)
                }
                19 => {
                    let c_type = self.random.of(&[1, -8, -2, 4, -25, 2, 8, 93, 99, 4711]);
                    let (data, indicator) = (self.buffer(), self.buffer());
                    SQLBindCol(handle, self.random.below(5) as u16, c_type, data, capacity.into(), indicator)
                }
                20 => {
                    let c_type = self.random.of(&[1, -8, -2, 4, -25, 2, 8, 93, 99, 4711]);
                    let sql_type = self.random.of(&[12, 4, -9, 2, 93, -5, 4711]);
                    let (data, indicator) = (self.buffer(), self.buffer());
                    let number = self.random.below(4) as u16;
                    let direction = self.random.of(&[1, 1, 1, 2, 4, 9]);
                    let capacity = capacity.into();
                    SQLBindParameter(
                        handle, number, direction, c_type, sql_type, 20, small, data, capacity, indicator,
                    )
                }
                21 => SQLSetPos(handle, small as u16 as usize, other as u16, 0),
                46..=48 => SQLSetPos(handle, self.random.below(4), self.random.below(5) as u16, 0),
                49 => SQLBulkOperations(handle, self.random.below(9) as i16),
                22 => SQLRowCount(handle, length),
                23 => SQLNumResultCols(handle, short),
                24 => SQLNumParams(handle, short),
                25 => {
                    let digits = self.place();
                    SQLDescribeCol(
                        handle,
                        small as u16,
                        text,
                        capacity,
                        short,
                        self.place(),
                        self.place(),
                        digits,
                        short,
                    )
                }
                26 => {
                    let field =
                        self.random.of(&[1, 2, 3, 6, 8, 14, 18, 22, 1001, 1008, 1011, 1013, 1211, 4711]);
                    let code = SQLColAttribute(handle, small as u16, field, value, capacity, short, length);
                    both(code, SQLColAttributeW(handle, small as u16, field, value, capacity, short, length))
                }
                27 => SQLDescribeParam(handle, small as u16, short, self.place(), short, short),
                28 => {
                    let attribute = self
                        .random
                        .of(&[0, 1, 2, 3, 6, 7, 8, 10, 11, 12, 14, 15, -1, -2, 10014, 4711, 10010]);
                    let value = match attribute {
                        10010 => self.handle(),
                        _ => number(self.random.below(5)),
                    };
                    SQLSetStmtAttr(handle, attribute, value, capacity.into())
                }
                29 => {
                    let attribute = self.random.of(&[22, 27, 9]);
                    SQLSetStmtAttr(handle, attribute, number(self.random.below(ROWS + 1)), 0)
                }
                30 => SQLGetStmtAttr(handle, self.random.below(30) as i32 - 2, value, capacity.into(), long),
                31 => SQLGetConnectAttr(
                    handle,
                    self.random.of(&[101, 102, 103, 108, 109, 113, 1209, 4711]),
                    value,
                    capacity.into(),
                    long,
                ),
                32 => {
                    let attribute = self.random.of(&[101, 102, 103, 108, 112, 113, 115, 116, 4711, 10014]);
                    SQLSetConnectAttr(handle, attribute, number(self.random.below(5)), 0)
                }
                33 => SQLEndTran(self.kind(), handle, small),
                34 => {
                    let code =
                        SQLGetDiagRec(self.kind(), handle, small, null_mut(), long, text, capacity, short);
                    let field = self.random.of(&[1, 2, 3, 4, 5, 6, 7, 12, -1249, -1248, 4711]);
                    both(code, SQLGetDiagField(self.kind(), handle, small, field, value, capacity, short))
                }
                35 => {
                    let info = self.random.of(&[2, 6, 7, 13, 16, 17, 18, 81, 89, 4711, 10004]);
                    let code = SQLGetInfo(handle, info, value, capacity, short);
                    both(code, SQLGetInfoW(handle, info, value, capacity, short))
                }
                36 => SQLGetTypeInfo(handle, small),
                37 => SQLTables(handle, null(), 0, null(), 0, name.0, name.1, null(), 0),
                38 => SQLColumns(
                    handle,
                    null(),
                    0,
                    null(),
                    0,
                    c"T".as_ptr().cast(),
                    self.random.length() as i16,
                    null(),
                    0,
                ),
                39 => SQLPrimaryKeys(handle, null(), 0, null(), 0, name.0, name.1),
                40 => SQLSetCursorName(handle, name.0, name.1),
                41 => SQLGetCursorName(handle, text, capacity, short),
                42 => SQLCancel(handle),
                43 => self.descriptor(handle),
                44 => SQLParamData(handle, self.place()),
                _ => SQLPutData(handle, value, self.random.of(&[0, 1, 64, -1, -2, -7])),
            }
        }
    }

    /// A call on a descriptor, mostly on one that belongs to the statement.
    ///
    /// # Safety
    /// As for [`call`](Self::call).
    unsafe fn descriptor(&mut self, handle: Handle) -> Return {
        let mut descriptor = handle;
        let attribute = self.random.of(&[10010, 10011, 10012, 10013]);
        let (number, capacity) = (self.random.small(), self.random.capacity().into());
        let field = self
            .random
            .of(&[2, 6, 14, 18, 20, 22, 25, 1001, 1002, 1003, 1005, 1006, 1008, 1011, 1013, 1099, 4711]);
        let (value, length) = (self.place(), self.place());
        let new = self.random.of(&[0, 1, 2, 4, 7, usize::MAX, 100]);
        // SAFETY: the caller's promise. Fields with the size of arrays are only read.
        unsafe {
            SQLGetStmtAttr(handle, attribute, (&raw mut descriptor).cast(), 0, null_mut());
            match self.random.below(3) {
                0 => SQLGetDescField(descriptor, number, field, value, capacity, length),
                1 => SQLCopyDesc(descriptor, self.handle()),
                // What is bound keeps its size and address.
                _ if matches!(field, 1002 | 1003 | 1005 | 1006 | 1099 | 4711) => {
                    SQLSetDescField(descriptor, number.min(20), field, crate::support::number(new), 0)
                }
                _ => SQLGetDescFieldW(descriptor, number, field, value, capacity, length),
            }
        }
    }
}

/// What functions return.
const KNOWN: [Return; 6] = [SUCCESS, SUCCESS_WITH_INFO, NO_DATA, NEED_DATA, ERROR, INVALID_HANDLE];

/// The code of the second call, unless that of the first one is unknown.
fn both(first: Return, second: Return) -> Return {
    if KNOWN.contains(&first) { second } else { first }
}

/// Plays calls until the time is up.
fn play(connection: &Connection, seed: u64, until: Instant) -> usize {
    let idle = unconnected(3);
    let mut player = Player {
        random: Random(seed.max(1)),
        handles: vec![connection.handle, idle.handle],
        room: Room::new(),
        bound: Room::new(),
    };
    for _ in 0..4 {
        let mut made = null_mut();
        // SAFETY: the place is there.
        assert_eq!(unsafe { SQLAllocHandle(STMT, connection.handle, &mut made) }, SUCCESS);
        player.handles.push(made);
    }
    let mut calls = 0;
    while calls < 2000 && Instant::now() < until {
        // What a fetch has written is no length of a parameter.
        player.bound.fill();
        // SAFETY: a row's share of the room is more than any capacity.
        let code = unsafe { player.call() };
        assert!(KNOWN.contains(&code), "{code}, seed {seed}");
        player.room.check(seed);
        player.bound.check(seed);
        calls += 1;
    }
    for handle in player.handles {
        // SAFETY: handles are checked.
        unsafe {
            SQLFreeHandle(STMT, handle);
            SQLFreeHandle(DESC, handle);
            if handle != connection.handle && handle != idle.handle {
                SQLFreeHandle(DBC, handle);
            }
        }
    }
    calls
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

matrix!(
    embedded,
    fn random_calls_do_no_harm(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(20))");
        connection.run("CREATE PROCEDURE P (A INTEGER) RETURNS (B INTEGER) AS BEGIN B = A; END");
        connection.run("CREATE FUNCTION F (A INTEGER) RETURNS INTEGER AS BEGIN RETURN A; END");
        let seconds = variable("FIREARROW_FUZZ_SECONDS").unwrap_or(5);
        let until = Instant::now() + Duration::from_secs(seconds);
        let first = variable("FIREARROW_FUZZ_SEED").unwrap_or(20_241_123);
        let (mut calls, mut runs) = (0, 0);
        while Instant::now() < until {
            calls += play(&connection, first + runs, until);
            runs += 1;
            // What is open, hidden or limited now must not stay so.
            connection.end(1);
            for (attribute, value) in [(102, 1), (101, 0), (108, 2)] {
                connection.set(attribute, value);
            }
            let rows = connection.texts("SELECT 1 FROM RDB$DATABASE");
            assert_eq!(rows, [[Some("1".to_owned())]], "seed {}", first + runs - 1);
        }
        println!("{calls} calls in {runs} runs from seed {first}");
        assert!(calls > 1000);
    },
);
