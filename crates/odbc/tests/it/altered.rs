//! Tables and procedures that are altered while statements are prepared.

use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Generation, Target, matrix};

const LONG: i16 = 4;

/// Two connections with a database that has `T (A, B)` with the row (1, 2).
fn two(target: &Target) -> (Connection, Connection) {
    let text = fresh_string(target);
    let (one, other) = (unconnected(380), unconnected(380));
    one.connect(&text);
    other.connect(&text);
    one.run("CREATE TABLE T (A INTEGER, B INTEGER)");
    one.run("INSERT INTO T VALUES (1, 2)");
    (one, other)
}

fn name(statement: &Statement, column: u16) -> String {
    let (mut name, mut length) = ([0_u8; 64], 0);
    // SAFETY: the buffers are there.
    let code = unsafe {
        SQLColAttribute(
            statement.handle,
            column,
            1011,
            name.as_mut_ptr().cast(),
            64,
            &mut length,
            std::ptr::null_mut(),
        )
    };
    assert_eq!(code, SUCCESS);
    String::from_utf8_lossy(&name[..length as usize]).into_owned()
}

fn row(statement: &Statement) -> Vec<(String, Option<String>)> {
    assert_eq!(statement.fetch(), SUCCESS, "{:?}", statement.records());
    let row =
        (1..=statement.columns()).map(|column| (name(statement, column), statement.text(column))).collect();
    statement.close();
    row
}

matrix!(
    all,
    fn columns_have_the_names_of_the_execution(target: &Target) {
        let (connection, other) = two(target);
        let statement = connection.statement();
        statement.prepare("SELECT * FROM T");
        let text = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(row(&statement), [text("A", "1"), text("B", "2")]);
        other.run("ALTER TABLE T ALTER COLUMN A POSITION 2");
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!(row(&statement), [text("B", "2"), text("A", "1")]);
        statement.prepare("SELECT * FROM T");
        assert_eq!(statement.execute(), SUCCESS);
        statement.close();
        connection.run("ALTER TABLE T DROP B");
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!(row(&statement), [text("A", "1")]);
    },
    fn outputs_of_other_procedures_are_refused(target: &Target) {
        let (connection, other) = two(target);
        connection
            .run("CREATE PROCEDURE P RETURNS (A INTEGER, B VARCHAR(10)) AS BEGIN A = 1; B = 'two'; END");
        let statement = connection.statement();
        statement.prepare("{call P(?, ?)}");
        let (mut number, mut text) = ([0_i32; 1], [[0_u8; 11]; 1]);
        let mut lengths = [0_isize; 2];
        // SAFETY: the buffers outlive the executions.
        unsafe {
            for (at, c_type, sql_type, data, capacity) in [
                (1, LONG, 4, number.as_mut_ptr().cast::<std::ffi::c_void>(), 4),
                (2, 1, 12, text.as_mut_ptr().cast(), 11),
            ] {
                let length = &raw mut lengths[usize::from(at) - 1_usize];
                let code = SQLBindParameter(
                    statement.handle,
                    at,
                    4,
                    c_type,
                    sql_type,
                    10,
                    0,
                    data,
                    capacity,
                    length,
                );
                assert_eq!(code, SUCCESS);
            }
        }
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!((number[0], &text[0][..4]), (1, &b"two\0"[..]));
        other.run(
            "CREATE OR ALTER PROCEDURE P RETURNS (B VARCHAR(10), A INTEGER) AS BEGIN A = 3; B = '4'; END",
        );
        if target.generation() == Generation::V3_0 {
            // This engine goes on with the procedure that the connection has used.
            assert_eq!(statement.execute(), SUCCESS);
        } else {
            assert_eq!(statement.execute(), ERROR);
            assert_eq!(statement.state(), "HY000", "{:?}", statement.records());
        }
        assert_eq!((number[0], &text[0][..4]), (1, &b"two\0"[..]), "nothing else was written");
    },
);
