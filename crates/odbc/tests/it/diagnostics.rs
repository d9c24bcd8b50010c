//! Diagnostics: their fields, widths and order, and how they are handed out.

use crate::odbc::*;
use crate::support::{Connection, Statement, fresh, fresh_string, unconnected};
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;

const RETURNCODE: i16 = 1;
const NUMBER: i16 = 2;
const ROW_COUNT: i16 = 3;
const SQLSTATE: i16 = 4;
const NATIVE: i16 = 5;
const MESSAGE: i16 = 6;
const FUNCTION: i16 = 7;
const FUNCTION_CODE: i16 = 12;
const CURSOR_ROWS: i16 = -1249;
const ROW_NUMBER: i16 = -1248;
const COLUMN_NUMBER: i16 = -1247;

/// A number of a statement's diagnostics, which must be exactly `N` bytes.
fn bytes<const N: usize>(statement: &Statement, record: i16, field: i16) -> [u8; N] {
    let mut buffer = [0xAA_u8; 16];
    // SAFETY: the buffer is larger than any number.
    let code = unsafe {
        SQLGetDiagField(STMT, statement.handle, record, field, buffer.as_mut_ptr().cast(), 0, null_mut())
    };
    assert_eq!(code, SUCCESS, "field {field}");
    assert!(buffer[N..].iter().all(|byte| *byte == 0xAA), "field {field} has {N} bytes");
    buffer[..N].try_into().expect("N bytes")
}

fn long(statement: &Statement, record: i16, field: i16) -> i64 {
    i64::from_ne_bytes(bytes(statement, record, field))
}

fn integer(statement: &Statement, record: i16, field: i16) -> i32 {
    i32::from_ne_bytes(bytes(statement, record, field))
}

fn text(kind: i16, handle: Handle, record: i16, field: i16) -> String {
    let (mut buffer, mut length) = ([0_u8; 1000], 0);
    // SAFETY: the buffer has its length.
    let code = unsafe {
        SQLGetDiagField(kind, handle, record, field, buffer.as_mut_ptr().cast(), 1000, &mut length)
    };
    assert_eq!(code, SUCCESS, "field {field}");
    String::from_utf8(buffer[..length as usize].to_vec()).expect("UTF-8")
}

matrix!(
    all,
    fn fields_have_their_values_and_widths(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.execute_directly("SELECT * FROM NOWHERE"), ERROR);
        assert_eq!(i16::from_ne_bytes(bytes(&statement, 0, RETURNCODE)), ERROR);
        assert_eq!((integer(&statement, 0, NUMBER), integer(&statement, 1, NATIVE)), (1, -204));
        assert_eq!((long(&statement, 1, ROW_NUMBER), integer(&statement, 1, COLUMN_NUMBER)), (-1, -1));
        let of = |field| text(STMT, statement.handle, 1, field);
        assert_eq!((of(SQLSTATE), of(8), of(9)), ("42S02".into(), "ISO 9075".into(), "ODBC 3.0".into()));
        let message = of(MESSAGE);
        assert!(message.starts_with("[firearrow][Firebird ODBC Driver][Firebird]"), "{message}");
        assert!(message.contains("NOWHERE") && message.contains('\n'), "{message}");
        let server = of(11);
        assert_eq!(server.is_empty(), matches!(target, Target::Embedded(_)), "{server}");
        assert_eq!(of(10), "");
        statement.close();
        assert_eq!(i16::from_ne_bytes(bytes(&statement, 0, RETURNCODE)), SUCCESS);
        assert_eq!(integer(&statement, 0, NUMBER), 0);
        // Those of the driver do not come from Firebird.
        assert_eq!(statement.fetch(), ERROR);
        let message = of(MESSAGE);
        assert!(message.starts_with("[firearrow][Firebird ODBC Driver]") && !message.contains("[Firebird]"));
        assert_eq!((of(8), of(9)), ("ISO 9075".into(), "ODBC 3.0".into()));
        let mut value = [0_u8; 8];
        let mut get = |kind, handle, record, field| {
            // SAFETY: the place is there.
            unsafe { SQLGetDiagField(kind, handle, record, field, value.as_mut_ptr().cast(), 8, null_mut()) }
        };
        assert_eq!(get(STMT, statement.handle, 2, SQLSTATE), NO_DATA);
        assert_eq!(get(STMT, statement.handle, 0, SQLSTATE), ERROR);
        assert_eq!(get(STMT, statement.handle, -1, SQLSTATE), ERROR);
        assert_eq!(get(STMT, statement.handle, 1, 4711), ERROR);
        assert_eq!(get(DBC, connection.handle, 0, ROW_COUNT), ERROR);
        assert_eq!(get(DBC, connection.handle, 0, NUMBER), SUCCESS);
        assert_eq!(get(99, connection.handle, 0, NUMBER), INVALID_HANDLE);
    },
    fn row_counts_are_told(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER)");
        let statement = connection.statement();
        statement.run("INSERT INTO T SELECT 1 FROM RDB$TYPES ROWS 5");
        assert_eq!((long(&statement, 0, ROW_COUNT), statement.row_count()), (5, 5));
        statement.run("UPDATE T SET ID = 2 ROWS 3");
        assert_eq!(long(&statement, 0, ROW_COUNT), 3);
        statement.run("SELECT * FROM T");
        assert_eq!((long(&statement, 0, ROW_COUNT), statement.row_count()), (-1, -1));
        assert_eq!(statement.all_texts().len(), 5);
        assert_eq!(long(&statement, 0, CURSOR_ROWS), 5);
        statement.close();
        assert_eq!(statement.set(6, 3), SUCCESS);
        statement.run("SELECT * FROM T");
        let mut row = 0_i32;
        // SAFETY: the place is there.
        unsafe {
            assert_eq!(SQLBindCol(statement.handle, 1, 4, (&raw mut row).cast(), 0, null_mut()), SUCCESS);
            assert_eq!(SQLFetchScroll(statement.handle, 3, 0), SUCCESS);
        }
        assert_eq!((long(&statement, 0, CURSOR_ROWS), statement.row_count()), (5, 5));
    },
    fn statements_are_named_by_what_they_do(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        for (sql, name, code) in [
            ("CREATE TABLE T (ID INTEGER)", "CREATE TABLE", 77),
            ("CREATE UNIQUE INDEX I ON T (ID)", "CREATE INDEX", -1),
            ("INSERT INTO T VALUES (1)", "INSERT", 50),
            ("UPDATE T SET ID = 2", "UPDATE WHERE", 82),
            ("SELECT * FROM T", "SELECT CURSOR", 85),
            ("DELETE FROM T", "DELETE WHERE", 19),
            ("EXECUTE BLOCK AS BEGIN END", "", 0),
            ("GRANT SELECT ON T TO PUBLIC", "GRANT", 48),
            ("DROP TABLE T", "DROP TABLE", 32),
            ("COMMIT", "", 0),
        ] {
            let told = || (text(STMT, statement.handle, 0, FUNCTION), integer(&statement, 0, FUNCTION_CODE));
            statement.run(sql);
            assert_eq!(told(), (name.to_owned(), code), "{sql}");
            statement.close();
        }
        connection.run("CREATE PROCEDURE P AS BEGIN END");
        statement.prepare("{call P}");
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(text(STMT, statement.handle, 0, FUNCTION), "CALL");
        assert_eq!(integer(&statement, 0, FUNCTION_CODE), 7);
    },
    fn messages_that_do_not_fit_are_cut(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.execute_directly("SELECT \"Größe 😀\" FROM RDB$DATABASE"), ERROR);
        let whole = statement.records()[0].message.clone();
        assert!(whole.contains("Größe 😀"), "{whole}");
        let units: Vec<u16> = whole.encode_utf16().collect();
        for capacity in 0..=whole.len() as i16 + 2 {
            let (mut buffer, mut length) = (vec![0xAA_u8; whole.len() + 3], -7);
            // SAFETY: the buffer is larger than the capacity.
            let code = unsafe {
                let buffer = buffer.as_mut_ptr();
                SQLGetDiagRec(
                    STMT,
                    statement.handle,
                    1,
                    null_mut(),
                    null_mut(),
                    buffer,
                    capacity,
                    &mut length,
                )
            };
            let fits = capacity as usize > whole.len();
            assert_eq!(code, if fits { SUCCESS } else { SUCCESS_WITH_INFO }, "{capacity}");
            assert_eq!(length as usize, whole.len());
            assert!(buffer[capacity as usize..].iter().all(|byte| *byte == 0xAA), "{capacity}");
            if let Some(end) = buffer.iter().position(|byte| *byte == 0) {
                let read = std::str::from_utf8(&buffer[..end]).expect("whole characters");
                assert!(whole.starts_with(read) && read.len() + 4 >= whole.len().min(capacity as usize));
            }
        }
        for capacity in 0..=units.len() as i16 + 2 {
            let (mut buffer, mut length) = (vec![0xAAAA_u16; units.len() + 3], -7);
            // SAFETY: as above.
            let code = unsafe {
                let buffer = buffer.as_mut_ptr();
                SQLGetDiagRecW(
                    STMT,
                    statement.handle,
                    1,
                    null_mut(),
                    null_mut(),
                    buffer,
                    capacity,
                    &mut length,
                )
            };
            assert_eq!(code == SUCCESS, capacity as usize > units.len(), "{capacity}");
            assert_eq!(length as usize, units.len());
            assert!(buffer[capacity as usize..].iter().all(|unit| *unit == 0xAAAA), "{capacity}");
            if let Some(end) = buffer.iter().position(|unit| *unit == 0) {
                assert!(whole.starts_with(&String::from_utf16(&buffer[..end]).expect("whole characters")));
            }
        }
        // Fields have their lengths in bytes, wide ones too.
        let (mut wide, mut length) = ([0xAAAA_u16; 8], 0);
        let mut field = |capacity| {
            let buffer = wide.as_mut_ptr().cast();
            // SAFETY: as above.
            let code = unsafe {
                SQLGetDiagFieldW(STMT, statement.handle, 1, SQLSTATE, buffer, capacity, &mut length)
            };
            (code, length, wide)
        };
        assert_eq!(
            field(6),
            (SUCCESS_WITH_INFO, 10, [0x34, 0x32, 0, 0xAAAA, 0xAAAA, 0xAAAA, 0xAAAA, 0xAAAA])
        );
        assert_eq!(field(12).0, SUCCESS);
        assert_eq!((field(7).0, field(-1).0), (ERROR, ERROR));
        // SAFETY: nothing is written.
        unsafe {
            let record = |number, capacity| {
                SQLGetDiagRec(
                    STMT,
                    statement.handle,
                    number,
                    null_mut(),
                    null_mut(),
                    null_mut(),
                    capacity,
                    null_mut(),
                )
            };
            assert_eq!((record(1, -1), record(0, 0), record(-1, 0)), (ERROR, ERROR, ERROR));
            assert_eq!((record(1, 0), record(2, 0), record(i16::MAX, 0)), (SUCCESS, NO_DATA, NO_DATA));
        }
    },
    fn the_older_function_hands_out_each_record_once(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.execute_directly("SELECT * FROM NOWHERE"), ERROR);
        let next = |environment, dbc, stmt| {
            let (mut state, mut native, mut length) = ([0_u8; 6], 0, 0);
            // SAFETY: the places are there.
            let code = unsafe {
                SQLError(environment, dbc, stmt, state.as_mut_ptr(), &mut native, null_mut(), 0, &mut length)
            };
            (code, String::from_utf8_lossy(&state[..5]).into_owned(), native)
        };
        let of_statement = || next(connection.environment, connection.handle, statement.handle);
        assert_eq!(of_statement(), (SUCCESS, "42S02".to_owned(), -204));
        assert_eq!(of_statement().0, NO_DATA);
        // The newer function still has it.
        assert_eq!(statement.state(), "42S02");
        assert_eq!(connection.set(99_999, 0), ERROR);
        assert_eq!(next(null_mut(), connection.handle, null_mut()).1, "HY092");
        assert_eq!(next(null_mut(), connection.handle, null_mut()).0, NO_DATA);
        assert_eq!(next(connection.environment, null_mut(), null_mut()).0, NO_DATA);
        assert_eq!(next(null_mut(), null_mut(), null_mut()).0, INVALID_HANDLE);
    },
    fn failed_rows_have_their_numbers(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY)");
        let statement = connection.statement();
        let (mut ids, mut indicators) = ([1_i32, 2, 1, 3, 2], [0_isize; 5]);
        statement.prepare("INSERT INTO T VALUES (?)");
        assert_eq!(statement.set(22, 5), SUCCESS);
        // SAFETY: the arrays have five elements.
        unsafe {
            let (data, indicator) = (ids.as_mut_ptr().cast(), indicators.as_mut_ptr());
            assert_eq!(SQLBindParameter(statement.handle, 1, 1, 4, 4, 0, 0, data, 0, indicator), SUCCESS);
        }
        assert_eq!(statement.execute(), SUCCESS_WITH_INFO);
        assert_eq!(integer(&statement, 0, NUMBER), 2);
        assert_eq!((long(&statement, 1, ROW_NUMBER), long(&statement, 2, ROW_NUMBER)), (3, 5));
        assert_eq!(long(&statement, 0, ROW_COUNT), 3);
        assert!(statement.records().iter().all(|record| record.state == "23000"));
    },
    fn errors_of_connecting_are_kept_whole(target: &Target) {
        let connection = unconnected(3);
        // The embedded engine takes names of files in the character set of the process.
        let name = if matches!(target, Target::Embedded(_)) { "Strasse" } else { "Straße" }.repeat(20);
        let text = fresh_string(target).replace(".fdb", &format!("/{name}/x.fdb")).replace("CREATE_DB=Y", "");
        assert_eq!(connection.try_connect(&text), ERROR);
        let records = connection.records();
        assert_eq!(records[0].state, "08001", "{records:?}");
        assert!(records[0].message.contains(&name), "{records:?}");
        assert_eq!(text_of(&connection), records[0].message);
    },
);

/// The message of the connection's first record, read again with exactly the length it says.
fn text_of(connection: &Connection) -> String {
    let mut length = 0;
    // SAFETY: the second buffer has the length that the first call returns.
    unsafe {
        let get = |buffer, capacity, length| {
            SQLGetDiagRec(DBC, connection.handle, 1, null_mut(), null_mut(), buffer, capacity, length)
        };
        assert_eq!(get(null_mut(), 0, &mut length), SUCCESS);
        let mut buffer = vec![0_u8; length as usize + 1];
        assert_eq!(get(buffer.as_mut_ptr(), length + 1, &mut length), SUCCESS);
        buffer.pop();
        String::from_utf8(buffer).expect("UTF-8")
    }
}
