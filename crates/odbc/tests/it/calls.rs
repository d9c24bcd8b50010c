//! Procedures and functions: `{call}`, `{?=call}`, outputs in parameters and as results.

use crate::odbc::*;
use crate::parameter::*;
use crate::parameter_arrays::Told;
use crate::support::{Connection, Statement, fresh};
use firearrow_testkit::{Target, matrix};

/// A connection to a database with some routines.
fn with_routines(target: &Target) -> Connection {
    let connection = fresh(target);
    for sql in [
        "CREATE TABLE LOG (V INTEGER)",
        "CREATE PROCEDURE DOUBLED (A INTEGER, B VARCHAR(20) CHARACTER SET UTF8 DEFAULT 'é') RETURNS (X INTEGER, Y VARCHAR(30) CHARACTER SET UTF8) \
         AS BEGIN INSERT INTO LOG VALUES (:A); X = A * 2; Y = B || '!'; END",
        "CREATE PROCEDURE COUNT_TO (N INTEGER) RETURNS (I INTEGER) \
         AS BEGIN I = 1; WHILE (I <= N) DO BEGIN SUSPEND; I = I + 1; END END",
        "CREATE PROCEDURE SILENT (A INTEGER) AS BEGIN INSERT INTO LOG VALUES (:A); END",
        "CREATE FUNCTION PLUS (A INTEGER, B INTEGER) RETURNS BIGINT AS BEGIN RETURN A + B; END",
        "CREATE EXCEPTION TOO_MUCH 'too much'",
        "CREATE PROCEDURE PICKY (A INTEGER) RETURNS (X INTEGER) AS BEGIN IF (A > 2) THEN EXCEPTION TOO_MUCH; X = -A; END",
    ] {
        connection.run(sql);
    }
    connection
}

fn logged(connection: &Connection) -> Vec<String> {
    connection.texts("SELECT V FROM LOG ORDER BY V").into_iter().flatten().flatten().collect()
}

fn integer(values: &Values, set: usize) -> Option<i32> {
    values.received(set).map(|bytes| i32::from_ne_bytes(bytes.try_into().expect("four bytes")))
}

fn text(values: &Values, set: usize) -> Option<String> {
    values.received(set).map(|bytes| String::from_utf8(bytes.to_vec()).expect("UTF-8"))
}

fn has_no_result(statement: &Statement) {
    assert_eq!(statement.columns(), 0);
    assert_eq!((statement.fetch(), statement.state().as_str()), (ERROR, "24000"));
}

matrix!(
    all,
    fn selectable_procedures_return_rows(target: &Target) {
        let connection = with_routines(target);
        let statement = connection.statement();
        statement.prepare("{call count_to(?)}");
        assert_eq!((statement.parameters(), statement.columns()), (1, 1));
        let mut most = Values::integers(&[Some(3)]);
        statement.bind(1, INPUT, &mut most);
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!(statement.all_texts(), ["1", "2", "3"].map(|text| vec![Some(text.to_owned())]));
    },
    fn outputs_are_a_row_when_nothing_receives_them(target: &Target) {
        let connection = with_routines(target);
        for sql in
            ["{call doubled(?, ?)}", "EXECUTE PROCEDURE DOUBLED(?, ?)", "{ CALL DOUBLED ( 21 , 'x' ) }"]
        {
            let statement = connection.statement();
            let (mut number, mut word) = (Values::integers(&[Some(21)]), Values::text("x"));
            statement.bind(1, INPUT, &mut number);
            statement.bind(2, INPUT, &mut word);
            statement.prepare(sql);
            assert_eq!((statement.execute(), statement.columns()), (SUCCESS, 2), "{:?}", statement.records());
            assert_eq!(statement.all_texts(), [["42", "x!"].map(|text| Some(text.to_owned()))]);
        }
        let statement = connection.statement();
        statement.run("{call silent(5)}");
        assert_eq!(statement.columns(), 0);
        assert_eq!(logged(&connection), ["5", "21", "21", "21"]);
    },
    fn outputs_go_into_parameters(target: &Target) {
        let connection = with_routines(target);
        let statement = connection.statement();
        let (mut number, mut word) = (Values::integers(&[Some(-4)]), Values::wide("ü😀"));
        let (mut twice, mut called) = (Values::room(C_SLONG, 4, 4, 1), Values::room(C_CHAR, 12, 20, 1));
        statement.prepare("{call doubled(?, ?, ?, ?)}");
        assert_eq!(statement.parameters(), 4);
        for (number, values, direction) in [
            (1, &mut number, INPUT),
            (2, &mut word, INPUT),
            (3, &mut twice, OUTPUT),
            (4, &mut called, OUTPUT),
        ] {
            statement.bind(number, direction, values);
        }
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!((integer(&twice, 0), text(&called, 0)), (Some(-8), Some("ü😀!".into())));
        has_no_result(&statement);
        // NULL, and again with other values.
        number.lengths[0] = NULL_DATA;
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!((integer(&twice, 0), text(&called, 0)), (None, Some("ü😀!".into())));
        // Markers and outputs beyond them are the same for EXECUTE PROCEDURE.
        number = Values::integers(&[Some(8)]);
        statement.bind(1, INPUT, &mut number);
        assert_eq!(
            statement.execute_directly("EXECUTE PROCEDURE DOUBLED(?, ?)"),
            SUCCESS,
            "{:?}",
            statement.records()
        );
        assert_eq!((integer(&twice, 0), text(&called, 0)), (Some(16), Some("ü😀!".into())));
        assert_eq!(logged(&connection), ["-4", "8"]);
    },
    fn outputs_that_do_not_fit_are_cut(target: &Target) {
        let connection = with_routines(target);
        let statement = connection.statement();
        let mut cut = Values::room(C_CHAR, 12, 4, 1);
        let mut wide = Values::room(C_WCHAR, -9, 40, 1);
        let mut twice = Values::room(C_CHAR, 12, 10, 1);
        statement.prepare("{call doubled(7, 'abcdef', ?, ?)}");
        assert_eq!(statement.parameters(), 2);
        statement.bind(1, OUTPUT, &mut twice);
        statement.bind(2, OUTPUT, &mut cut);
        assert_eq!(statement.execute(), SUCCESS_WITH_INFO);
        assert_eq!((statement.state().as_str(), text(&twice, 0).as_deref()), ("01004", Some("14")));
        assert_eq!((&cut.data[..], cut.lengths[0]), (&b"abc\0"[..], 7));
        statement.bind(2, OUTPUT, &mut wide);
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(wide.received(0), Some(&units("abcdef!")[..]));
        let mut small = Values::room(C_STINYINT, -6, 1, 1);
        statement.prepare("{call doubled(700, 'x', ?)}");
        statement.bind(1, OUTPUT, &mut small);
        assert_eq!((statement.execute(), statement.state().as_str()), (ERROR, "22003"));
    },
    fn a_parameter_can_be_input_and_output(target: &Target) {
        let connection = with_routines(target);
        let statement = connection.statement();
        let (mut number, mut word) = (Values::integers(&[Some(5)]), Values::room(C_CHAR, 12, 20, 1));
        word.data[..3].copy_from_slice(b"abc");
        word.lengths[0] = 3;
        statement.bind(1, INPUT_OUTPUT, &mut number);
        statement.bind(2, INPUT_OUTPUT, &mut word);
        statement.prepare("{call doubled(?, ?)}");
        for (expected, called) in [(10, "abc!"), (20, "abc!!")] {
            assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
            assert_eq!((integer(&number, 0), text(&word, 0).as_deref()), (Some(expected), Some(called)));
        }
        assert_eq!(logged(&connection), ["5", "10"]);
    },
    fn values_are_returned_through_the_first_parameter(target: &Target) {
        let connection = with_routines(target);
        let statement = connection.statement();
        let mut sum = Values::room(C_SBIGINT, -5, 8, 1);
        let (mut a, mut b) = (Values::integers(&[Some(40)]), Values::text("2"));
        statement.prepare("{?=call plus(?, ?)}");
        assert_eq!(statement.parameters(), 3);
        statement.bind(1, OUTPUT, &mut sum);
        statement.bind(2, INPUT, &mut a);
        assert_eq!((statement.execute(), statement.state().as_str()), (ERROR, "07002"));
        statement.bind(3, INPUT, &mut b);
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!(sum.received(0), Some(&42_i64.to_ne_bytes()[..]));
        has_no_result(&statement);
        b.lengths[0] = NULL_DATA;
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!(sum.received(0), None);
        assert_eq!(
            statement.execute_directly("{ ? = call PLUS(1, 2) }"),
            SUCCESS,
            "{:?}",
            statement.records()
        );
        assert_eq!(sum.received(0), Some(&3_i64.to_ne_bytes()[..]));
        // Of a procedure, it is the first output.
        let mut twice = Values::room(C_SLONG, 4, 4, 1);
        statement.bind(1, OUTPUT, &mut twice);
        assert_eq!(statement.execute_directly("{?=call doubled(?)}"), SUCCESS, "{:?}", statement.records());
        assert_eq!(integer(&twice, 0), Some(80));
        statement.bind(1, INPUT, &mut twice);
        assert_eq!(
            (statement.execute_directly("{?=call plus(1, 2)}"), statement.state().as_str()),
            (ERROR, "HY105")
        );
        statement.reset_parameters();
        assert_eq!(
            (statement.execute_directly("{?=call plus(1, 2)}"), statement.state().as_str()),
            (ERROR, "07002")
        );
    },
    fn outputs_are_described_as_parameters(target: &Target) {
        let connection = with_routines(target);
        let statement = connection.statement();
        let sql_type = |number| {
            let (mut sql_type, mut size, mut digits, mut nullable) = (0, 0, 0, 0);
            // SAFETY: the places are there.
            let code = unsafe {
                SQLDescribeParam(
                    statement.handle,
                    number,
                    &mut sql_type,
                    &mut size,
                    &mut digits,
                    &mut nullable,
                )
            };
            if code == SUCCESS { Ok((sql_type, size)) } else { Err(statement.state()) }
        };
        statement.prepare("{?=call plus(?, ?)}");
        assert_eq!([1, 2, 3].map(sql_type), [Ok((-5, 19)), Ok((4, 10)), Ok((4, 10))]);
        assert_eq!(sql_type(4), Err("07009".into()));
        statement.prepare("{call doubled(?, 'x', ?, ?)}");
        assert_eq!([1, 2, 3].map(sql_type), [Ok((4, 10)), Ok((4, 10)), Ok((12, 30))]);
        assert_eq!(sql_type(4), Err("07009".into()));
    },
    fn arguments_with_defaults_can_be_left_out(target: &Target) {
        let connection = with_routines(target);
        assert_eq!(connection.texts("{call doubled(1)}"), [["2", "é!"].map(|text| Some(text.to_owned()))]);
        let statement = connection.statement();
        let mut number = Values::integers(&[Some(3)]);
        let mut twice = Values::room(C_SLONG, 4, 4, 1);
        statement.bind(1, INPUT, &mut number);
        statement.bind(2, OUTPUT, &mut twice);
        assert_eq!(
            statement.execute_directly("EXECUTE PROCEDURE DOUBLED(?)"),
            SUCCESS,
            "{:?}",
            statement.records()
        );
        assert_eq!(integer(&twice, 0), Some(6));
    },
    fn arrays_call_once_for_each_set(target: &Target) {
        let connection = with_routines(target);
        let statement = connection.statement();
        let mut numbers = Values::integers(&[Some(1), Some(3), Some(2), None]);
        let mut negative = Values::room(C_SLONG, 4, 4, 4);
        statement.prepare("{call picky(?, ?)}");
        statement.bind(1, INPUT, &mut numbers);
        statement.bind(2, OUTPUT, &mut negative);
        let told = Told::about(&statement, 4);
        assert_eq!(statement.execute(), SUCCESS_WITH_INFO, "{:?}", statement.records());
        assert_eq!((statement.state().as_str(), statement.row_of_record(1)), ("HY000", 2));
        assert!(statement.records()[0].message.contains("too much"));
        assert_eq!((&told.statuses[..], told.processed), (&[0, 5, 0, 0][..], 4));
        assert_eq!([0, 2, 3].map(|set| integer(&negative, set)), [Some(-1), Some(-2), None]);
        statement.prepare("{call silent(?)}");
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!(logged(&connection), ["1", "2", "3"]);
        let (mut sums, mut ones) = (Values::room(C_SLONG, 4, 4, 3), Values::integers(&[Some(1); 3]));
        statement.prepare("{?=call plus(?, ?)}");
        for (number, direction, values) in
            [(1, OUTPUT, &mut sums), (2, INPUT, &mut numbers), (3, INPUT, &mut ones)]
        {
            statement.bind(number, direction, values);
        }
        let told = Told::about(&statement, 3);
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        assert_eq!(
            ([0, 1, 2].map(|set| integer(&sums, set)), told.processed),
            ([Some(2), Some(4), Some(3)], 3)
        );
    },
);
