//! Row sets: what is told about their rows, failures of single rows, and limits.

use crate::buffers::*;
use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};

const LONG: i16 = 4;
const MAX_ROWS: i32 = 1;
const RETRIEVE_DATA: i32 = 11;

/// A table with the numbers from 1 on.
fn numbers(connection: &Connection, count: usize) {
    connection.run("CREATE TABLE T (N INTEGER, V VARCHAR(10))");
    let block = format!(
        "EXECUTE BLOCK AS DECLARE I INTEGER = 1; BEGIN WHILE (I <= {count}) DO BEGIN \
         INSERT INTO T VALUES (:I, 'row ' || :I); I = I + 1; END END"
    );
    connection.run(&block);
}

/// Tells the driver where to report.
fn report_to(statement: &Statement, fetched: &mut usize, statuses: &mut [u16]) {
    assert_eq!(statement.set(ROWS_FETCHED_PTR, std::ptr::from_mut(fetched).expose_provenance()), SUCCESS);
    assert_eq!(statement.set(ROW_STATUS_PTR, statuses.as_mut_ptr().expose_provenance()), SUCCESS);
}

/// The row and column of each diagnostic record.
fn places(statement: &Statement) -> Vec<(isize, i32)> {
    let of = |number, field, value: *mut std::ffi::c_void| {
        // SAFETY: the place is there.
        unsafe { SQLGetDiagField(STMT, statement.handle, number, field, value, 0, std::ptr::null_mut()) }
    };
    let count = statement.records().len() as i16;
    (1..=count)
        .map(|record| {
            let (mut row, mut column) = (0_isize, 0_i32);
            assert_eq!(of(record, -1248, (&raw mut row).cast()), SUCCESS);
            assert_eq!(of(record, -1247, (&raw mut column).cast()), SUCCESS);
            (row, column)
        })
        .collect()
}

matrix!(
    all,
    fn the_last_row_set_may_be_partial(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 2500);
        let statement = connection.statement();
        let (mut fetched, mut statuses) = (0, [9; 1000]);
        let (mut values, mut lengths) = ([0_i32; 1000], [0; 1000]);
        // Attributes that are set before the query survive it.
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 1000), SUCCESS);
        report_to(&statement, &mut fetched, &mut statuses);
        bind(&statement, 1, LONG, &mut values, &mut lengths);
        statement.prepare("SELECT N FROM T ORDER BY N");
        assert_eq!(statement.execute(), SUCCESS);
        let mut next = 1;
        for rows in [1000, 1000, 500] {
            assert_eq!(statement.fetch(), SUCCESS);
            assert_eq!(fetched, rows);
            for row in 0..rows {
                assert_eq!((values[row], lengths[row], statuses[row]), (next, 4, 0));
                next += 1;
            }
            assert!(statuses[rows..].iter().all(|status| *status == 3));
        }
        assert_eq!(statement.fetch(), NO_DATA);
        assert_eq!((fetched, statuses), (0, [3; 1000]));
        assert_eq!(statement.fetch(), NO_DATA);
    },
    fn one_bad_row_does_not_spoil_the_others(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (N INTEGER, M INTEGER)");
        for (row, value) in [(1, "1"), (2, "300"), (3, "NULL"), (4, "-1"), (5, "5"), (6, "999"), (7, "998")] {
            connection.run(&format!("INSERT INTO T VALUES ({row}, {value})"));
        }
        let statement = connection.statement();
        let (mut fetched, mut statuses) = (0, [9; 5]);
        let (mut numbers, mut lengths) = ([0_i32; 5], [0; 5]);
        let mut bytes = [7_u8; 5];
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 5), SUCCESS);
        report_to(&statement, &mut fetched, &mut statuses);
        bind(&statement, 1, LONG, &mut numbers, &mut lengths);
        let mut none: [isize; 0] = [];
        // SQL_C_UTINYINT, without indicators for NULL.
        bind(&statement, 2, -28, &mut bytes, &mut none);
        statement.run("SELECT N, M FROM T ORDER BY N");
        assert_eq!(statement.fetch(), SUCCESS_WITH_INFO);
        assert_eq!((fetched, statuses, numbers), (5, [0, 5, 5, 5, 0], [1, 2, 3, 4, 5]));
        assert_eq!((bytes[0], bytes[4]), (1, 5));
        let states: Vec<_> = statement.records().into_iter().map(|record| record.state).collect();
        assert_eq!(states, ["22003", "22002", "22003"]);
        assert_eq!(places(&statement), [(2, 2), (3, 2), (4, 2)]);
        // All rows are bad: the call fails, and the cursor goes on.
        assert_eq!(statement.fetch(), ERROR);
        assert_eq!((fetched, statuses), (2, [5, 5, 3, 3, 3]));
        assert_eq!((numbers[0], numbers[1]), (6, 7));
        assert_eq!(places(&statement), [(1, 2), (2, 2)]);
        assert_eq!(statement.text(2), Some("999".into()));
        assert_eq!(statement.fetch(), NO_DATA);
    },
    fn cut_values_are_warnings_of_their_rows(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 10);
        let statement = connection.statement();
        let (mut fetched, mut statuses) = (0, [9; 10]);
        let (mut texts, mut lengths) = ([[7_u8; 6]; 10], [0; 10]);
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 10), SUCCESS);
        report_to(&statement, &mut fetched, &mut statuses);
        bind(&statement, 1, 1, &mut texts, &mut lengths);
        statement.run("SELECT V FROM T ORDER BY N");
        assert_eq!(statement.fetch(), SUCCESS_WITH_INFO);
        assert_eq!((&statuses[..9], statuses[9]), (&[0; 9][..], 6));
        assert_eq!((&texts[8], &texts[9], lengths[8], lengths[9]), (b"row 9\0", b"row 1\0", 5, 6));
        assert_eq!((statement.state().as_str(), places(&statement)), ("01004", vec![(10, 1)]));
    },
    fn results_can_be_limited(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 10);
        let statement = connection.statement();
        for (most, size, expected) in
            [(4, 3, vec![3, 1]), (3, 3, vec![3]), (0, 6, vec![6, 4]), (20, 10, vec![10])]
        {
            assert_eq!(statement.set(MAX_ROWS, most), SUCCESS);
            assert_eq!(statement.set(ROW_ARRAY_SIZE, size), SUCCESS);
            for cursor_type in [0, 3] {
                assert_eq!(statement.set(6, cursor_type), SUCCESS);
                let mut fetched = 0;
                report_to(&statement, &mut fetched, &mut [0; 10]);
                statement.run("SELECT N FROM T");
                let mut counts = Vec::new();
                while statement.fetch() == SUCCESS {
                    counts.push(fetched);
                }
                assert_eq!(counts, expected, "{most} rows by {size}");
                statement.close();
            }
        }
        // Those of catalog functions, too.
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 1), SUCCESS);
        assert_eq!(statement.set(ROWS_FETCHED_PTR, 0), SUCCESS);
        assert_eq!(statement.set(ROW_STATUS_PTR, 0), SUCCESS);
        assert_eq!(statement.set(MAX_ROWS, 2), SUCCESS);
        // SAFETY: the handle is one.
        assert_eq!(unsafe { SQLGetTypeInfo(statement.handle, 0) }, SUCCESS);
        assert_eq!(statement.all_texts().len(), 2);
    },
    fn bindings_may_change_between_fetches(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 9);
        let statement = connection.statement();
        statement.run("SELECT N, V FROM T ORDER BY N");
        let (mut number, mut length) = ([0_i32; 4], [0; 4]);
        bind(&statement, 1, LONG, &mut number, &mut length);
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(number, [1, 0, 0, 0]);
        // Another type, another buffer, and a longer array.
        let (mut text, mut text_length) = ([[0_u8; 8]; 4], [0; 4]);
        bind(&statement, 2, 1, &mut text, &mut text_length);
        let mut small = [0_i16; 4];
        bind(&statement, 1, 5, &mut small, &mut length);
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 4), SUCCESS);
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!((number, small, length), ([1, 0, 0, 0], [2, 3, 4, 5], [2; 4]));
        assert_eq!((&text[3], text_length), (b"row 5\0\0\0", [5; 4]));
        // Nothing is bound any more.
        // SAFETY: handles are checked.
        unsafe {
            let code = SQLBindCol(statement.handle, 1, LONG, std::ptr::null_mut(), 0, std::ptr::null_mut());
            assert_eq!(code, SUCCESS);
        }
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!((small, &text[3]), ([2, 3, 4, 5], b"row 9\0\0\0"));
        // Bindings stay for another execution, and may be more than it has columns.
        statement.close();
        statement.run("SELECT N FROM T");
        assert_eq!((statement.fetch(), statement.state().as_str()), (ERROR, "07009"));
    },
    fn fetches_may_leave_the_buffers_alone(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 3);
        let statement = connection.statement();
        let (mut number, mut length) = ([77_i32; 1], [77; 1]);
        bind(&statement, 1, LONG, &mut number, &mut length);
        assert_eq!(statement.set(RETRIEVE_DATA, 0), SUCCESS);
        statement.run("SELECT N FROM T ORDER BY N");
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!((number, length), ([77], [77]));
        assert_eq!(statement.text(1), Some("1".into()));
        assert_eq!(statement.set(RETRIEVE_DATA, 1), SUCCESS);
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!((number, length), ([2], [4]));
    },
    fn extended_fetches_have_a_size_of_their_own(target: &Target) {
        let connection = unconnected(2);
        connection.connect(&fresh_string(target));
        numbers(&connection, 5);
        let statement = connection.statement();
        let (mut number, mut length) = ([0_i32; 3], [0; 3]);
        bind(&statement, 1, LONG, &mut number, &mut length);
        assert_eq!(statement.set(9, 3), SUCCESS);
        statement.run("SELECT N FROM T ORDER BY N");
        for (code, rows, expected) in [(SUCCESS, 3, [0, 0, 0]), (SUCCESS, 2, [0, 0, 3]), (NO_DATA, 0, [3; 3])]
        {
            let (mut fetched, mut statuses) = (99, [9_u16; 3]);
            // SAFETY: the places are there.
            let got =
                unsafe { SQLExtendedFetch(statement.handle, 1, 0, &mut fetched, statuses.as_mut_ptr()) };
            assert_eq!((got, fetched, statuses), (code, rows, expected));
        }
        assert_eq!(number, [4, 5, 3]);
    },
    fn lengths_alone_can_be_bound(target: &Target) {
        let connection = fresh(target);
        numbers(&connection, 12);
        let statement = connection.statement();
        let mut lengths = [0_isize; 12];
        // SAFETY: the lengths are there.
        let code =
            unsafe { SQLBindCol(statement.handle, 2, 1, std::ptr::null_mut(), 0, lengths.as_mut_ptr()) };
        assert_eq!(code, SUCCESS);
        let ard = std::ptr::with_exposed_provenance_mut(statement.get(10010));
        // A data pointer of NULL unbinds, but the descriptor can have pointers to lengths alone.
        for field in [1004, 1009] {
            // SAFETY: the lengths are there.
            let code = unsafe { SQLSetDescField(ard, 2, field, lengths.as_mut_ptr().cast(), 0) };
            assert_eq!(code, SUCCESS);
        }
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 12), SUCCESS);
        statement.run("SELECT N, V FROM T ORDER BY N");
        assert_eq!(statement.fetch(), SUCCESS, "{:?}", statement.records());
        assert_eq!(lengths, [5, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6]);
    },
);
