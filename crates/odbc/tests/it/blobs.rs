//! BLOBs of every length.

use crate::buffers::*;
use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};

const CHAR: i16 = 1;
const WCHAR: i16 = -8;
const BINARY: i16 = -2;
const KILOBYTE: usize = 1 << 10;
const MEGABYTE: usize = 1 << 20;
const NO_TOTAL: isize = -4;

const fn of(c_type: i16, capacity: usize) -> Buffer {
    Buffer { c_type, capacity }
}

/// Text of so many bytes at least, whose parts all differ.
fn text(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 32);
    for number in 0.. {
        if text.len() >= bytes {
            break;
        }
        text += &format!("{number} é€😀 ");
    }
    text
}

/// Lengths around those where the driver or the server changes its ways.
const LENGTHS: [usize; 9] =
    [0, 1, 100, 64 * KILOBYTE - 1, 64 * KILOBYTE + 1, MEGABYTE - 20, MEGABYTE + 40_000, 3 * MEGABYTE, 50];

/// A table with texts and the same as bytes.
fn table(connection: &Connection) -> Vec<String> {
    connection.run(
        "CREATE TABLE T (N INTEGER, C BLOB SUB_TYPE TEXT CHARACTER SET UTF8, B BLOB SUB_TYPE BINARY, S VARCHAR(5))",
    );
    let texts: Vec<_> = LENGTHS.iter().map(|length| text(*length)).collect();
    for (row, text) in texts.iter().enumerate() {
        connection.run(&format!("INSERT INTO T (N, S) VALUES ({row}, 's{row}')"));
        run_with(connection, &format!("UPDATE T SET C = ? WHERE N = {row}"), CHAR, text.as_bytes());
        run_with(connection, &format!("UPDATE T SET B = ? WHERE N = {row}"), BINARY, text.as_bytes());
    }
    connection.run(&format!("INSERT INTO T (N) VALUES ({})", texts.len()));
    texts
}

fn hex(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| format!("{byte:02X}").into_bytes()).collect()
}

const QUERY: &str = "SELECT C, B FROM T ORDER BY N";

fn check(rows: &[Vec<Cell>], texts: &[String], expected: impl Fn(&str) -> [Vec<u8>; 2], how: &str) {
    assert_eq!(rows.len(), texts.len() + 1, "{how}");
    for (row, text) in rows.iter().zip(texts) {
        let length = text.len();
        assert!(*row == expected(text).map(Some), "{how}: the BLOBs of {length} bytes differ");
    }
    assert_eq!(rows[texts.len()], [None, None], "{how}");
}

/// How many transactions the connection has besides that of the question.
fn other_transactions(connection: &Connection) -> usize {
    let sql = "SELECT COUNT(*) FROM MON$TRANSACTIONS WHERE MON$ATTACHMENT_ID = CURRENT_CONNECTION \
               AND MON$TRANSACTION_ID <> CURRENT_TRANSACTION";
    connection.texts(sql)[0][0].as_deref().and_then(|count| count.parse().ok()).expect("a count")
}

matrix!(
    all,
    fn blobs_of_every_length_come_in_pieces(target: &Target) {
        let connection = fresh(target);
        let texts = table(&connection);
        let statement = connection.statement();
        for capacity in [1000, 64 * KILOBYTE, 20 * MEGABYTE] {
            let how = format!("buffers of {capacity} bytes");
            for (c_type, expected) in [
                (CHAR, (|text| [text.into(), hex(text.as_bytes())]) as fn(&str) -> [Vec<u8>; 2]),
                (WCHAR, |text| {
                    [wide(text), hex(text.as_bytes()).into_iter().flat_map(|byte| [byte, 0]).collect()]
                }),
                (BINARY, |text| [text.into(), text.into()]),
            ] {
                statement.run(QUERY);
                let rows = fetch_got(&statement, &[of(c_type, capacity); 2]);
                check(&rows, &texts, expected, &format!("{how}, type {c_type}"));
                statement.close();
            }
        }
    },
    fn bound_blobs_are_whole_in_every_row_set(target: &Target) {
        let connection = fresh(target);
        let texts = table(&connection);
        let statement = connection.statement();
        for (size, layout) in [(1, Layout::Columns), (4, Layout::Shifted), (20, Layout::Rows)] {
            statement.run(QUERY);
            let buffers = [of(CHAR, 3 * MEGABYTE + 100), of(BINARY, 3 * MEGABYTE + 100)];
            let rows = fetch_bound(&statement, &buffers, size, layout);
            check(&rows, &texts, |text| [text.into(), text.into()], &format!("{size} {layout:?}"));
            statement.close();
        }
    },
    fn bound_blobs_that_are_cut_have_their_whole_length(target: &Target) {
        let connection = fresh(target);
        let texts = table(&connection);
        let statement = connection.statement();
        let count = texts.len() + 1;
        let (mut narrow, mut narrow_lengths) = (vec![[0xAA_u8; 9]; count], vec![0; count]);
        let (mut units, mut wide_lengths) = (vec![[0xAA_u8; 10]; count], vec![0; count]);
        assert_eq!(statement.set(ROW_ARRAY_SIZE, count), SUCCESS);
        statement.run("SELECT C, C FROM T ORDER BY N");
        bind(&statement, 1, CHAR, &mut narrow, &mut narrow_lengths);
        bind(&statement, 2, WCHAR, &mut units, &mut wide_lengths);
        assert_eq!(statement.fetch(), SUCCESS_WITH_INFO);
        assert_eq!((narrow_lengths[count - 1], wide_lengths[count - 1]), (NULL_DATA, NULL_DATA));
        for (row, text) in texts.iter().enumerate() {
            assert_eq!(narrow_lengths[row], text.len() as isize);
            // Nobody knows how many units a long text has.
            let expected = if text.len() > MEGABYTE { NO_TOTAL } else { wide(text).len() as isize };
            assert_eq!(wide_lengths[row], expected);
            if !text.is_empty() {
                assert!(narrow[row].starts_with(b"0 \xC3\xA9\xE2\x82\xAC\0"));
                assert_eq!(units[row][..], [wide("0 é€"), vec![0, 0]].concat());
            }
        }
    },
    fn text_that_cannot_be_read_stays_so(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE M (N INTEGER, T BLOB SUB_TYPE TEXT CHARACTER SET NONE)");
        for (number, bad) in [(1, 1_400_000), (2, 1_500_000 - 1)] {
            let mut text = vec![b'a'; 1_500_000];
            text[bad] = 0xFF;
            connection.run(&format!("INSERT INTO M (N) VALUES ({number})"));
            run_with(&connection, &format!("UPDATE M SET T = ? WHERE N = {number}"), BINARY, &text);
        }
        let statement = connection.statement();
        statement.run("SELECT T FROM M ORDER BY N");
        while statement.fetch() == SUCCESS {
            let mut read = 0;
            let code = loop {
                let (code, data, _) = get(&statement, 1, of(CHAR, 50_001));
                if code != SUCCESS_WITH_INFO {
                    break code;
                }
                read += data.len();
            };
            assert_eq!((code, statement.state().as_str()), (ERROR, "22018"), "after {read} bytes");
            for _ in 0..3 {
                assert_eq!(get(&statement, 1, of(CHAR, 50_001)).0, ERROR);
                assert_eq!(statement.state(), "22018", "{:?}", statement.records());
            }
        }
    },
    fn a_limit_within_a_character_is_told_exactly(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE M (T BLOB SUB_TYPE TEXT CHARACTER SET UTF8)");
        connection.run("INSERT INTO M VALUES (NULL)");
        let text = "a".repeat(9) + &"é".repeat(700_000);
        run_with(&connection, "UPDATE M SET T = ?", CHAR, text.as_bytes());
        let statement = connection.statement();
        const MAX_LENGTH: i32 = 3;
        assert_eq!(statement.set(MAX_LENGTH, 10), SUCCESS);
        statement.run("SELECT T FROM M");
        assert_eq!(statement.fetch(), SUCCESS);
        let (code, data, length) = get(&statement, 1, of(CHAR, 100));
        assert_eq!((code, &data[..10], length), (SUCCESS, &b"aaaaaaaaa\0"[..], 9));
    },
    fn lengths_are_told_before_anything_is_read(target: &Target) {
        let connection = fresh(target);
        let texts = table(&connection);
        let statement = connection.statement();
        statement.run("SELECT C, B, S FROM T WHERE S IS NOT NULL ORDER BY N");
        for (row, text) in texts.iter().enumerate() {
            assert_eq!(statement.fetch(), SUCCESS);
            let bytes = text.len() as isize;
            let code = if text.is_empty() { SUCCESS } else { SUCCESS_WITH_INFO };
            for (column, c_type, length) in [(1, CHAR, bytes), (2, BINARY, bytes), (2, CHAR, 2 * bytes)] {
                let (got, _, left) = get(&statement, column, of(c_type, 0));
                assert_eq!((got, left), (code, length), "row {row}, column {column} as {c_type}");
            }
            assert_eq!(statement.text(3), Some(format!("s{row}")));
            // Half of it in one type, the rest in another one.
            if text.len() > 100 {
                let (_, data, left) = get(&statement, 1, of(CHAR, 8));
                assert_eq!((data, left), (b"0 \xC3\xA9\xE2\x82\xAC\0".to_vec(), bytes));
                let rest = get_whole(&statement, 1, of(WCHAR, 50_000)).expect("text");
                assert!(rest == wide(&text["0 é€".len()..]), "row {row}");
            }
        }
    },
    fn blobs_are_there_after_the_last_row_and_in_any_order(target: &Target) {
        for autocommit in [1, 0] {
            let connection = fresh(target);
            let texts = table(&connection);
            assert_eq!(connection.set(102, autocommit), SUCCESS);
            let statement = connection.statement();
            // One row set has them all, and the end has been seen.
            assert_eq!(statement.set(ROW_ARRAY_SIZE, 50), SUCCESS);
            statement.run(QUERY);
            assert_eq!(statement.fetch(), SUCCESS);
            for row in (0..texts.len()).rev() {
                // SAFETY: handles are checked.
                assert_eq!(unsafe { SQLSetPos(statement.handle, row + 1, 0, 0) }, SUCCESS);
                assert!(get_whole(&statement, 1, of(CHAR, 90_000)).as_deref() == Some(texts[row].as_bytes()));
            }
            assert_eq!(statement.fetch(), NO_DATA);
            statement.close();
            assert_eq!(statement.set(ROW_ARRAY_SIZE, 1), SUCCESS);
            assert_eq!(statement.set(6, 3), SUCCESS);
            assert_eq!(statement.set(1, 8), SUCCESS);
            statement.run(QUERY);
            for row in [7, 3, 5, 4, 0, 6, 2, 1] {
                // SAFETY: nothing is bound.
                assert_eq!(unsafe { SQLFetchScroll(statement.handle, 5, row as isize + 1) }, SUCCESS);
                assert!(
                    get_whole(&statement, 2, of(BINARY, 90_000)).as_deref() == Some(texts[row].as_bytes())
                );
            }
        }
    },
    /// They exist in the transaction alone.
    fn computed_blobs_are_there_after_the_last_row(target: &Target) {
        let connection = fresh(target);
        let query = "EXECUTE BLOCK RETURNS (N INTEGER, C BLOB SUB_TYPE TEXT) AS BEGIN N = 0; \
                     WHILE (N < 3000) DO BEGIN N = N + 1; C = 'blob ' || N; SUSPEND; END END";
        let expected: Vec<_> = (1..=3000).map(|row| format!("blob {row}")).collect();
        let statement = connection.statement();
        statement.run(query);
        let rows = fetch_bound(&statement, &[of(4, 4), of(CHAR, 20)], 5000, Layout::Columns);
        let texts: Vec<_> = rows.into_iter().filter_map(|mut row| row.remove(1)).collect();
        assert_eq!(texts, expected.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>());
        statement.close();
        assert_eq!(statement.set(6, 3), SUCCESS);
        for query in [
            query,
            "SELECT N, CAST('blob ' || N AS BLOB SUB_TYPE TEXT) FROM (SELECT ROW_NUMBER() OVER () AS N \
                              FROM RDB$FIELDS A CROSS JOIN RDB$FIELDS B ROWS 3000)",
        ] {
            statement.run(query);
            // SAFETY: nothing is bound.
            assert_eq!(unsafe { SQLFetchScroll(statement.handle, 3, 0) }, SUCCESS);
            for row in [3000, 1, 1500, 2] {
                // SAFETY: nothing is bound.
                assert_eq!(unsafe { SQLFetchScroll(statement.handle, 5, row) }, SUCCESS);
                assert_eq!(statement.text(2).as_ref(), expected.get(row as usize - 1));
            }
            statement.close();
        }
    },
    fn transactions_end_with_their_blobs(target: &Target) {
        let connection = fresh(target);
        table(&connection);
        let statement = connection.statement();
        let before = other_transactions(&connection);
        let open = || {
            statement.run("SELECT N, C FROM T");
            assert_eq!(statement.fetch(), SUCCESS);
            assert_eq!(other_transactions(&connection), before + 1);
        };
        open();
        while statement.fetch() == SUCCESS {}
        assert_eq!(other_transactions(&connection), before);
        statement.close();
        open();
        statement.close();
        assert_eq!(other_transactions(&connection), before);
        // Nothing is left in the way of others.
        connection.run("DROP TABLE T");
    },
);
