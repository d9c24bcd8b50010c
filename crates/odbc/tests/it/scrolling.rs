//! Static cursors: every direction, the ends of the result, bookmarks, and positions.

use crate::buffers::*;
use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;

const NEXT: i16 = 1;
const FIRST: i16 = 2;
const LAST: i16 = 3;
const PRIOR: i16 = 4;
const ABSOLUTE: i16 = 5;
const RELATIVE: i16 = 6;
const BOOKMARK: i16 = 8;

const CURSOR_TYPE: i32 = 6;
const STATIC: usize = 3;
const USE_BOOKMARKS: i32 = 12;
const ROW_NUMBER: i32 = 14;
const FETCH_BOOKMARK_PTR: i32 = 16;

const LONG: i16 = 4;

/// A table with the numbers from 1 on.
fn numbers(connection: &Connection, count: usize) {
    connection.run("CREATE TABLE T (N INTEGER)");
    for number in 1..=count {
        connection.run(&format!("INSERT INTO T VALUES ({number})"));
    }
}

/// A scrollable statement that has not been executed.
fn scrollable(connection: &Connection) -> Statement {
    let statement = connection.statement();
    assert_eq!(statement.set(CURSOR_TYPE, STATIC), SUCCESS);
    statement
}

fn scroll(statement: &Statement, direction: i16, offset: isize) -> Return {
    // SAFETY: what is bound is there.
    unsafe { SQLFetchScroll(statement.handle, direction, offset) }
}

const QUERY: &str = "SELECT N FROM T ORDER BY N";

/// A direction with its offset, the rows that come, and the SQLSTATE.
type Step = (i16, isize, &'static [i32], &'static str);

/// Takes steps through the numbers up to 12.
fn walk(target: &Target, size: usize, steps: &[Step]) {
    let connection = fresh(target);
    numbers(&connection, 12);
    let statement = scrollable(&connection);
    let (mut values, mut lengths, mut fetched) = (vec![0_i32; size], vec![0; size], 0_usize);
    let mut statuses = vec![9_u16; size];
    assert_eq!(statement.set(ROW_ARRAY_SIZE, size), SUCCESS);
    assert_eq!(statement.set(ROWS_FETCHED_PTR, (&raw mut fetched).expose_provenance()), SUCCESS);
    assert_eq!(statement.set(ROW_STATUS_PTR, statuses.as_mut_ptr().expose_provenance()), SUCCESS);
    bind(&statement, 1, LONG, &mut values, &mut lengths);
    statement.run(QUERY);
    for (at, (direction, offset, rows, state)) in steps.iter().enumerate() {
        let place = format!("step {at}: direction {direction}, offset {offset}");
        let code = scroll(&statement, *direction, *offset);
        let expected = match (rows.is_empty(), state.is_empty()) {
            (true, true) => NO_DATA,
            (true, false) => ERROR,
            (false, true) => SUCCESS,
            (false, false) => SUCCESS_WITH_INFO,
        };
        assert_eq!((code, statement.state().as_str()), (expected, *state), "{place}");
        if code == ERROR {
            continue;
        }
        assert_eq!(fetched, rows.len(), "{place}");
        assert_eq!(&values[..fetched], *rows, "{place}");
        assert!(statuses[..fetched].iter().all(|status| *status == 0), "{place}");
        assert!(statuses[fetched..].iter().all(|status| *status == 3), "{place}");
        if let Some(first) = rows.first() {
            assert_eq!(statement.get(ROW_NUMBER), *first as usize, "{place}");
        }
    }
}

matrix!(
    all,
    fn single_rows_are_reached_in_every_direction(target: &Target) {
        walk(
            target,
            1,
            &[
                (PRIOR, 0, &[], ""),
                (NEXT, 0, &[1], ""),
                (PRIOR, 0, &[], ""),
                (NEXT, 0, &[1], ""),
                (NEXT, 0, &[2], ""),
                (LAST, 0, &[12], ""),
                (NEXT, 0, &[], ""),
                (NEXT, 0, &[], ""),
                (PRIOR, 0, &[12], ""),
                (FIRST, 0, &[1], ""),
                (ABSOLUTE, 5, &[5], ""),
                (RELATIVE, 3, &[8], ""),
                (RELATIVE, 0, &[8], ""),
                (RELATIVE, -7, &[1], ""),
                (RELATIVE, -1, &[], ""),
                (RELATIVE, 2, &[2], ""),
                (RELATIVE, 11, &[], ""),
                (RELATIVE, -2, &[11], ""),
                (ABSOLUTE, -1, &[12], ""),
                (ABSOLUTE, -12, &[1], ""),
                (ABSOLUTE, -13, &[], ""),
                (ABSOLUTE, 0, &[], ""),
                (ABSOLUTE, 12, &[12], ""),
                (ABSOLUTE, 13, &[], ""),
                (ABSOLUTE, 1, &[1], ""),
                (99, 1, &[], "HY106"),
            ],
        );
    },
    fn row_sets_keep_to_the_result(target: &Target) {
        walk(
            target,
            5,
            &[
                (LAST, 0, &[8, 9, 10, 11, 12], ""),
                (NEXT, 0, &[], ""),
                (PRIOR, 0, &[8, 9, 10, 11, 12], ""),
                (PRIOR, 0, &[3, 4, 5, 6, 7], ""),
                (PRIOR, 0, &[1, 2, 3, 4, 5], "01S06"),
                (PRIOR, 0, &[], ""),
                (NEXT, 0, &[1, 2, 3, 4, 5], ""),
                (NEXT, 0, &[6, 7, 8, 9, 10], ""),
                (NEXT, 0, &[11, 12], ""),
                (NEXT, 0, &[], ""),
                (ABSOLUTE, 9, &[9, 10, 11, 12], ""),
                (RELATIVE, -4, &[5, 6, 7, 8, 9], ""),
                (RELATIVE, -5, &[1, 2, 3, 4, 5], "01S06"),
                (ABSOLUTE, 3, &[3, 4, 5, 6, 7], ""),
                (RELATIVE, -6, &[], ""),
                (ABSOLUTE, -3, &[10, 11, 12], ""),
                (ABSOLUTE, -14, &[], ""),
                (FIRST, 0, &[1, 2, 3, 4, 5], ""),
                (RELATIVE, 12, &[], ""),
                (RELATIVE, -5, &[8, 9, 10, 11, 12], ""),
            ],
        );
    },
    fn row_sets_may_be_longer_than_the_result(target: &Target) {
        const ALL: &[i32] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        walk(
            target,
            20,
            &[
                (LAST, 0, ALL, ""),
                (PRIOR, 0, &[], ""),
                (ABSOLUTE, -15, ALL, "01S06"),
                (ABSOLUTE, -21, &[], ""),
                (NEXT, 0, ALL, ""),
                (NEXT, 0, &[], ""),
                (PRIOR, 0, ALL, "01S06"),
            ],
        );
    },
    fn empty_results_have_no_rows_anywhere(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 0);
        let statement = scrollable(&connection);
        statement.run(QUERY);
        for (direction, offset) in
            [(FIRST, 0), (LAST, 0), (NEXT, 0), (PRIOR, 0), (ABSOLUTE, 1), (ABSOLUTE, -1), (RELATIVE, -1)]
        {
            assert_eq!(scroll(&statement, direction, offset), NO_DATA);
        }
        assert_eq!(statement.row_count(), 0);
    },
    fn forward_only_cursors_refuse_other_directions(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 3);
        let statement = connection.statement();
        statement.run(QUERY);
        for direction in [FIRST, LAST, PRIOR, ABSOLUTE, RELATIVE, BOOKMARK] {
            assert_eq!(scroll(&statement, direction, 1), ERROR);
            assert_eq!(statement.state(), "HY106");
        }
        assert_eq!(scroll(&statement, NEXT, 0), SUCCESS);
        assert_eq!(statement.text(1), Some("1".into()));
        // The kind of a cursor is fixed while it is open.
        assert_eq!((statement.set(CURSOR_TYPE, STATIC), statement.state().as_str()), (ERROR, "24000"));
    },
    fn other_kinds_of_cursors_are_static_instead(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 3);
        for cursor_type in [1, 2] {
            let statement = connection.statement();
            assert_eq!(statement.set(CURSOR_TYPE, cursor_type), SUCCESS_WITH_INFO);
            assert_eq!((statement.state().as_str(), statement.get(CURSOR_TYPE)), ("01S02", STATIC));
            statement.run(QUERY);
            assert_eq!(scroll(&statement, LAST, 0), SUCCESS);
            assert_eq!((statement.text(1), statement.row_count()), (Some("3".into()), 3));
        }
    },
    fn rows_stay_as_they_were_when_they_were_read(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 4);
        let statement = scrollable(&connection);
        statement.run(QUERY);
        assert_eq!(scroll(&statement, LAST, 0), SUCCESS);
        assert_eq!(connection.run("UPDATE T SET N = N + 100"), 4);
        assert_eq!(connection.run("DELETE FROM T WHERE N = 102"), 1);
        for row in [2, 1, 4] {
            assert_eq!(scroll(&statement, ABSOLUTE, row), SUCCESS);
            assert_eq!(statement.text(1), Some(row.to_string()));
        }
    },
    fn bookmarks_lead_back(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 12);
        // SQL_UB_VARIABLE with SQL_C_VARBOOKMARK, SQL_UB_FIXED with SQL_C_BOOKMARK of both sizes.
        for (kind, c_type, size) in [(2, -2, 8), (1, -18, 4), (1, -27, 8)] {
            let statement = scrollable(&connection);
            assert_eq!(statement.set(USE_BOOKMARKS, kind), SUCCESS);
            assert_eq!(statement.set(ROW_ARRAY_SIZE, 3), SUCCESS);
            let mut marks = vec![0x55_u8; 3 * size];
            let (mut lengths, mut numbers, mut number_lengths) = ([0; 3], [0_i32; 3], [0; 3]);
            // The length of the buffer does not matter to fixed types.
            let capacity = if c_type == -2 { 8 } else { 0 };
            // SAFETY: the buffers are there.
            let code = unsafe {
                let to = marks.as_mut_ptr().cast();
                SQLBindCol(statement.handle, 0, c_type, to, capacity, lengths.as_mut_ptr())
            };
            assert_eq!(code, SUCCESS, "{:?}", statement.records());
            bind(&statement, 1, LONG, &mut numbers, &mut number_lengths);
            statement.run(QUERY);
            assert_eq!(scroll(&statement, ABSOLUTE, 7), SUCCESS, "{:?}", statement.records());
            assert_eq!((numbers, lengths), ([7, 8, 9], [size as isize; 3]));
            // The one of row 8, read in both ways.
            let mut mark = marks[size..2 * size].to_vec();
            // SAFETY: handles are checked.
            assert_eq!(unsafe { SQLSetPos(statement.handle, 2, 0, 0) }, SUCCESS);
            let buffer = Buffer { c_type, capacity: size };
            assert_eq!(get(&statement, 0, buffer), (SUCCESS, mark.clone(), size as isize));
            assert_eq!(get(&statement, 0, buffer).0, NO_DATA);
            assert_eq!(scroll(&statement, FIRST, 0), SUCCESS);
            let pointer = mark.as_mut_ptr().expose_provenance();
            assert_eq!(statement.set(FETCH_BOOKMARK_PTR, pointer), SUCCESS);
            for (offset, rows) in [(0, [8, 9, 10]), (2, [10, 11, 12]), (-7, [1, 2, 3])] {
                assert_eq!(scroll(&statement, BOOKMARK, offset), SUCCESS);
                assert_eq!(numbers, rows);
            }
            assert_eq!(scroll(&statement, BOOKMARK, 5), NO_DATA);
            assert_eq!(scroll(&statement, BOOKMARK, -8), NO_DATA);
        }
        let statement = scrollable(&connection);
        statement.run(QUERY);
        assert_eq!((scroll(&statement, BOOKMARK, 0), statement.state().as_str()), (ERROR, "HY106"));
        assert_eq!(statement.fetch(), SUCCESS);
        // SAFETY: there is no buffer.
        let code =
            unsafe { SQLBindCol(statement.handle, 0, -2, [0_u8; 8].as_mut_ptr().cast(), 8, null_mut()) };
        assert_eq!((code, statement.state().as_str()), (ERROR, "07009"));
    },
    fn positions_refresh_the_buffers(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 12);
        let statement = scrollable(&connection);
        let (mut values, mut lengths, mut statuses) = ([0_i32; 4], [0; 4], [9_u16; 4]);
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 4), SUCCESS);
        assert_eq!(statement.set(ROW_STATUS_PTR, statuses.as_mut_ptr().expose_provenance()), SUCCESS);
        bind(&statement, 1, LONG, &mut values, &mut lengths);
        statement.run(QUERY);
        assert_eq!(scroll(&statement, ABSOLUTE, 5), SUCCESS);
        let set_position = |row, operation| {
            // SAFETY: what is bound is there.
            unsafe { SQLSetPos(statement.handle, row, operation, 0) }
        };
        let position = (&raw mut values).cast::<[i32; 4]>();
        // SAFETY: the driver writes to it in calls only.
        unsafe {
            position.write([0; 4]);
            assert_eq!(set_position(3, 1), SUCCESS);
            assert_eq!(position.read(), [0, 0, 7, 0]);
            assert_eq!(set_position(0, 1), SUCCESS);
            assert_eq!(position.read(), [5, 6, 7, 8]);
        }
        assert_eq!(statuses, [0; 4]);
        // The cursor is read-only.
        for operation in [2, 3, 4, 5, 77] {
            assert_eq!((set_position(1, operation), statement.state().as_str()), (ERROR, "HY092"));
        }
    },
);
