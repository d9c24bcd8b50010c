//! `SQLGetData`: pieces, order, lengths, and types.

use crate::buffers::*;
use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;

const CHAR: i16 = 1;
const WCHAR: i16 = -8;
const BINARY: i16 = -2;
const LONG: i16 = 4;
const NUMERIC: i16 = 2;
const DEFAULT: i16 = 99;
const ARD_TYPE: i16 = -99;

const fn of(c_type: i16, capacity: usize) -> Buffer {
    Buffer { c_type, capacity }
}

/// A statement on the first row of a query.
fn on_first(connection: &Connection, sql: &str) -> Statement {
    let statement = connection.statement();
    statement.run(sql);
    assert_eq!(statement.fetch(), SUCCESS);
    statement
}

const MIXED: &str = "SELECT CAST('aé😀bcd' AS VARCHAR(20) CHARACTER SET UTF8), 7, \
                     CAST(x'0102030405' AS VARCHAR(9) CHARACTER SET OCTETS), \
                     CAST('aé😀bcd' AS BLOB SUB_TYPE TEXT CHARACTER SET UTF8), \
                     CAST(x'0102030405' AS BLOB) FROM RDB$DATABASE";

matrix!(
    all,
    fn pieces_fill_the_buffer(target: &Target) {
        // Applications take what fits into the buffer for the length of a piece, and join pieces without looking at them.
        let connection = fresh(target);
        let statement = on_first(&connection, MIXED);
        let (narrow, wide) = ("aé😀bcd".as_bytes(), wide("aé😀bcd"));
        for column in [1, 4] {
            for (c_type, capacity, terminator, whole) in [(CHAR, 5, 1, narrow), (WCHAR, 8, 2, &wide[..])] {
                let mut rest = whole;
                while !rest.is_empty() {
                    let size = rest.len().min(capacity - terminator);
                    let code = if size < rest.len() { SUCCESS_WITH_INFO } else { SUCCESS };
                    let (got, data, left) = get(&statement, column, of(c_type, capacity));
                    assert_eq!((got, left), (code, rest.len() as isize), "column {column}");
                    assert_eq!(
                        (&data[..size], &data[size..][..terminator]),
                        (&rest[..size], &[0, 0][..terminator])
                    );
                    rest = &rest[size..];
                }
                assert_eq!(get(&statement, column, of(c_type, capacity)).0, NO_DATA);
                assert_eq!(get(&statement, column, of(c_type, capacity)).0, NO_DATA);
                // Another column in between: this one begins anew.
                assert_eq!(get(&statement, 2, of(CHAR, 5)).0, SUCCESS);
            }
        }
    },
    fn bytes_come_in_pieces_and_as_hex(target: &Target) {
        let connection = fresh(target);
        let statement = on_first(&connection, MIXED);
        for column in [3, 5] {
            assert_eq!(get(&statement, column, of(BINARY, 2)), (SUCCESS_WITH_INFO, vec![1, 2], 5));
            assert_eq!(get(&statement, column, of(BINARY, 2)), (SUCCESS_WITH_INFO, vec![3, 4], 3));
            let (code, data, length) = get(&statement, column, of(BINARY, 2));
            assert_eq!((code, data[0], length), (SUCCESS, 5, 1));
            assert_eq!(get(&statement, column, of(BINARY, 2)).0, NO_DATA);
        }
        for column in [3, 5] {
            // Digits of a byte stay together.
            let (code, data, length) = get(&statement, column, of(CHAR, 6));
            assert_eq!((code, &data[..5], length), (SUCCESS_WITH_INFO, &b"0102\0"[..], 10));
            let (code, data, length) = get(&statement, column, of(CHAR, 7));
            assert_eq!((code, &data[..7], length), (SUCCESS, &b"030405\0"[..], 6));
        }
    },
    fn a_buffer_without_room_asks_for_the_length(target: &Target) {
        let connection = fresh(target);
        let statement = on_first(&connection, MIXED);
        for (column, c_type, capacity, length) in [
            (1, CHAR, 0, 10),
            (1, CHAR, 1, 10),
            (4, WCHAR, 0, 14),
            (4, WCHAR, 2, 14),
            (3, BINARY, 0, 5),
            (5, BINARY, 0, 5),
            (5, CHAR, 1, 10),
        ] {
            for _ in 0..2 {
                let (code, _, left) = get(&statement, column, of(c_type, capacity));
                assert_eq!((code, left), (SUCCESS_WITH_INFO, length), "column {column} as {c_type}");
                assert_eq!(statement.state(), "01004");
            }
        }
        // Nothing was handed out by that.
        assert_eq!(get_whole(&statement, 4, of(WCHAR, 100)), Some(wide("aé😀bcd")));
    },
    fn columns_are_read_in_any_order_and_again(target: &Target) {
        let connection = fresh(target);
        let statement = on_first(&connection, MIXED);
        assert_eq!(statement.text(5), Some("0102030405".into()));
        assert_eq!(statement.text(1), Some("aé😀bcd".into()));
        // A part of it, and from the start after another one.
        assert_eq!(get(&statement, 4, of(CHAR, 4)).0, SUCCESS_WITH_INFO);
        assert_eq!(statement.text(2), Some("7".into()));
        assert_eq!(statement.text(4), Some("aé😀bcd".into()));
        assert_eq!(statement.text(4 - 3), Some("aé😀bcd".into()));
        let seven = 7_i32.to_ne_bytes().to_vec();
        assert_eq!(get(&statement, 2, of(LONG, 4)), (SUCCESS, seven, 4));
        assert_eq!(get(&statement, 2, of(LONG, 4)).0, NO_DATA);
    },
    fn empty_and_null_values_are_there_once(target: &Target) {
        let connection = fresh(target);
        let statement = on_first(
            &connection,
            "SELECT CAST('' AS VARCHAR(3)), CAST('' AS BLOB SUB_TYPE TEXT), CAST('' AS BLOB), \
             CAST(NULL AS BLOB), CAST(NULL AS INTEGER) FROM RDB$DATABASE",
        );
        for (column, c_type) in [(1, CHAR), (1, WCHAR), (2, CHAR), (2, WCHAR), (3, BINARY), (3, CHAR)] {
            // Elsewhere in between, so that it begins again.
            assert_eq!(get(&statement, 5, of(LONG, 4)).2, NULL_DATA);
            let (code, data, length) = get(&statement, column, of(c_type, 4));
            assert_eq!((code, length), (SUCCESS, 0), "column {column} as {c_type}");
            assert!(c_type == BINARY || data[0] == 0);
            assert_eq!(get(&statement, column, of(c_type, 4)).0, NO_DATA);
        }
        for column in [4, 5] {
            let (code, _, length) = get(&statement, column, of(CHAR, 4));
            assert_eq!((code, length), (SUCCESS, NULL_DATA));
            assert_eq!(get(&statement, column, of(CHAR, 4)).0, NO_DATA);
        }
        let mut data = [0_u8; 4];
        // SAFETY: the buffer has its length.
        let code = unsafe { SQLGetData(statement.handle, 4, CHAR, data.as_mut_ptr().cast(), 4, null_mut()) };
        assert_eq!((code, statement.state().as_str()), (ERROR, "22002"));
    },
    fn default_types_are_those_of_the_columns(target: &Target) {
        let connection = fresh(target);
        let statement = on_first(
            &connection,
            "SELECT CAST(-3 AS SMALLINT), CAST(1.25 AS NUMERIC(9,3)), DATE '2024-02-29', TRUE, CAST(0.5 AS DOUBLE PRECISION), \
             CAST('x' AS VARCHAR(3)), CAST(x'AB' AS VARCHAR(3) CHARACTER SET OCTETS) FROM RDB$DATABASE",
        );
        for c_type in [DEFAULT, ARD_TYPE] {
            let got = |column| {
                let (code, data, length) = get(&statement, column, of(c_type, 16));
                assert_eq!(code, SUCCESS, "{:?}", statement.records());
                data[..length as usize].to_vec()
            };
            assert_eq!(got(1), (-3_i16).to_ne_bytes());
            assert_eq!(got(2), b"1.250");
            assert_eq!(got(3), [2024_u16, 2, 29].map(u16::to_ne_bytes).concat());
            assert_eq!(got(4), [1]);
            assert_eq!(got(5), 0.5_f64.to_ne_bytes());
            assert_eq!(got(6), b"x");
            assert_eq!(got(7), [0xAB]);
        }
        assert_eq!(get(&statement, 1, of(77, 16)).0, ERROR);
        assert_eq!(statement.state(), "HY003");
        assert_eq!(get(&statement, 3, of(LONG, 16)).0, ERROR);
        assert_eq!(statement.state(), "07006");
    },
    fn numerics_have_the_scale_of_the_column_or_the_descriptor(target: &Target) {
        let connection = fresh(target);
        let statement = on_first(&connection, "SELECT CAST(-12.345 AS NUMERIC(9,3)), 1 FROM RDB$DATABASE");
        let numeric = |precision: u8, scale: u8, sign: u8, magnitude: u128| {
            [vec![precision, scale, sign], magnitude.to_le_bytes().to_vec()].concat()
        };
        let (code, data, length) = get(&statement, 1, of(NUMERIC, 19));
        assert_eq!((code, length), (SUCCESS, 19));
        assert_eq!(data, numeric(38, 3, 0, 12_345));
        // As pyodbc and odbc-api do it.
        let ard = std::ptr::with_exposed_provenance_mut(statement.get(10010));
        let set = |field, value: usize| {
            // SAFETY: the value is a number.
            let code = unsafe { SQLSetDescField(ard, 1, field, number(value), 0) };
            assert_eq!(code, SUCCESS, "{:?}", records(DESC, ard));
        };
        for (scale, code, state, magnitude) in [
            (5, SUCCESS, "", 1_234_500),
            (1, SUCCESS_WITH_INFO, "01S07", 123),
            (0, SUCCESS_WITH_INFO, "01S07", 12),
        ] {
            set(1002, NUMERIC as usize);
            set(1005, 20);
            set(1006, scale);
            assert_eq!(statement.text(2), Some("1".into()));
            let (got, data, _) = get(&statement, 1, of(ARD_TYPE, 19));
            assert_eq!((got, statement.state().as_str()), (code, state));
            assert_eq!(data, numeric(20, scale as u8, 0, magnitude));
        }
        set(1005, 2);
        set(1006, 1);
        assert_eq!(get(&statement, 2, of(LONG, 4)).0, SUCCESS);
        assert_eq!(get(&statement, 1, of(ARD_TYPE, 19)).0, ERROR);
        assert_eq!(statement.state(), "22003");
    },
    fn rows_of_a_row_set_are_read_after_positioning(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (N INTEGER, B BLOB SUB_TYPE TEXT)");
        for row in 1..=7 {
            connection.run(&format!("INSERT INTO T VALUES ({row}, 'blob {row}')"));
        }
        let statement = connection.statement();
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 3), SUCCESS);
        statement.run("SELECT N, B FROM T ORDER BY N");
        let position = |row| {
            // SAFETY: handles are checked.
            unsafe { SQLSetPos(statement.handle, row, 0, 0) }
        };
        for (first, rows) in [(1, 3), (4, 3), (7, 1)] {
            assert_eq!(statement.fetch(), SUCCESS);
            // The first row, as long as nobody says otherwise.
            assert_eq!(statement.text(1), Some(first.to_string()));
            for row in (1..=rows).rev() {
                assert_eq!(position(row), SUCCESS);
                let number = first + row - 1;
                assert_eq!(statement.text(2), Some(format!("blob {number}")));
                assert_eq!(statement.text(1), Some(number.to_string()));
                assert_eq!(statement.get(14), number);
            }
            assert_eq!((position(rows + 1), statement.state().as_str()), (ERROR, "HY107"));
            assert_eq!((position(0), statement.state().as_str()), (ERROR, "HY109"));
        }
        assert_eq!(statement.fetch(), NO_DATA);
    },
    fn values_need_a_row_and_a_column(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        let ask = |column| (get(&statement, column, of(CHAR, 9)).0, statement.state());
        assert_eq!(ask(1), (ERROR, "HY010".into()));
        statement.run("SELECT 1 FROM RDB$DATABASE");
        assert_eq!(ask(1), (ERROR, "24000".into()));
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(ask(2), (ERROR, "07009".into()));
        assert_eq!(ask(0), (ERROR, "07009".into()));
        // SAFETY: there is no buffer.
        let code = unsafe { SQLGetData(statement.handle, 1, CHAR, null_mut(), -1, &mut 0) };
        assert_eq!((code, statement.state().as_str()), (ERROR, "HY090"));
        assert_eq!(ask(1), (SUCCESS, String::new()));
        assert_eq!(statement.fetch(), NO_DATA);
        assert_eq!(ask(1), (ERROR, "HY109".into()));
        statement.close();
        assert_eq!(ask(1), (ERROR, "HY010".into()));
    },
    fn long_values_can_be_limited(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.set(3, 4), SUCCESS);
        statement.run(MIXED);
        assert_eq!(statement.fetch(), SUCCESS);
        // No half of a character: the emoji does not fit.
        for column in [1, 4] {
            assert_eq!(statement.text(column), Some("aé".into()));
        }
        for column in [3, 5] {
            assert_eq!(get_whole(&statement, column, of(BINARY, 9)), Some(vec![1, 2, 3, 4]));
        }
        assert_eq!(statement.text(2), Some("7".into()));
    },
);
