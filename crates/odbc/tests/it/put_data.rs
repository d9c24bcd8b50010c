//! Values that are supplied while an execution waits.

use crate::odbc::*;
use crate::parameter::*;
use crate::parameter_arrays::Told;
use crate::support::{Connection, Statement, fresh};
use firearrow_testkit::{Target, matrix};

/// A statement that inserts into T, and waits for all its values: of these C and SQL types.
fn waiting(connection: &Connection, types: &[(i16, i16)], indicators: &mut [isize]) -> Statement {
    let statement = connection.statement();
    let markers = vec!["?"; types.len()].join(", ");
    statement.prepare(&format!("INSERT INTO T VALUES ({markers})"));
    for (number, (&(c_type, sql_type), indicator)) in (1_u16..).zip(types.iter().zip(indicators)) {
        // SAFETY: the data is a token, and the indicator stays.
        let code = unsafe {
            let token = std::ptr::without_provenance_mut(1000 + usize::from(number));
            SQLBindParameter(statement.handle, number, INPUT, c_type, sql_type, 0, 0, token, 0, indicator)
        };
        assert_eq!(code, SUCCESS, "{:?}", statement.records());
    }
    statement
}

fn length_at_execution(length: isize) -> isize {
    -length - 100
}

fn one(connection: &Connection, sql: &str) -> Option<String> {
    connection.texts(sql)[0][0].clone()
}

fn refused(statement: &Statement, code: Return) -> String {
    assert_eq!(code, ERROR);
    statement.state()
}

matrix!(
    all,
    fn pieces_are_joined(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (A VARCHAR(50) CHARACTER SET UTF8, B BLOB SUB_TYPE TEXT CHARACTER SET UTF8, C BLOB, D VARCHAR(50) CHARACTER SET UTF8, E INTEGER)");
        let mut indicators =
            [DATA_AT_EXEC, length_at_execution(11), DATA_AT_EXEC, length_at_execution(0), DATA_AT_EXEC];
        let types = [(C_CHAR, 12), (C_WCHAR, -10), (C_BINARY, -4), (C_CHAR, 12), (C_SLONG, 4)];
        let statement = waiting(&connection, &types, &mut indicators);
        assert_eq!(statement.execute(), NEED_DATA);
        assert_eq!(statement.parameter_data(), (NEED_DATA, 1001));
        // Every byte by itself: pieces end inside characters.
        for byte in "aé€😀z".as_bytes() {
            assert_eq!(statement.put_data(&[*byte]), SUCCESS);
        }
        assert_eq!(statement.parameter_data(), (NEED_DATA, 1002));
        let wide = units("x😀é");
        let (first, rest) = wide.split_at(3);
        let (second, third) = rest.split_at(2);
        for piece in [first, second, third] {
            assert_eq!(statement.put_data(piece), SUCCESS);
        }
        assert_eq!(statement.parameter_data(), (NEED_DATA, 1003));
        for _ in 0..3 {
            assert_eq!(statement.put_data(&[0, 0xFF, 7]), SUCCESS);
        }
        assert_eq!(statement.parameter_data(), (NEED_DATA, 1004));
        assert_eq!(statement.put_data_of(b"until the end\0", NTS), SUCCESS);
        assert_eq!(statement.put_data(b""), SUCCESS);
        assert_eq!(statement.parameter_data(), (NEED_DATA, 1005));
        assert_eq!(statement.put_data(&(-5_i32).to_ne_bytes()), SUCCESS);
        assert_eq!(statement.parameter_data().0, SUCCESS, "{:?}", statement.records());
        let found = connection.texts("SELECT A, B, D, E FROM T");
        assert_eq!(found, [["aé€😀z", "x😀é", "until the end", "-5"].map(|text| Some(text.to_owned()))]);
        assert_eq!(
            one(&connection, "SELECT OCTET_LENGTH(C) FROM T WHERE C STARTING WITH x'00FF0700FF0700FF07'")
                .as_deref(),
            Some("9")
        );
    },
    fn nulls_and_empty_values_are_supplied(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (A VARCHAR(50), B BLOB SUB_TYPE TEXT, C BLOB, D DATE)");
        let types = [(C_CHAR, 12), (C_WCHAR, -10), (C_BINARY, -4), (C_DATE, 91)];
        let mut indicators = [DATA_AT_EXEC; 4];
        let statement = waiting(&connection, &types, &mut indicators);
        for length in [0, NULL_DATA] {
            assert_eq!(statement.execute(), NEED_DATA);
            for token in 1001..=1004 {
                assert_eq!(statement.parameter_data(), (NEED_DATA, token));
                let length = if token == 1004 { NULL_DATA } else { length };
                assert_eq!(statement.put_data_of(b"", length), SUCCESS, "{:?}", statement.records());
            }
            assert_eq!(statement.parameter_data().0, SUCCESS, "{:?}", statement.records());
        }
        let lengths = connection
            .texts("SELECT CHAR_LENGTH(A), CHAR_LENGTH(B), OCTET_LENGTH(C) FROM T WHERE A IS NOT NULL");
        assert_eq!(lengths, [["0"; 3].map(|text| Some(text.to_owned()))]);
        let nulls = "SELECT COUNT(*) FROM T WHERE A IS NULL AND B IS NULL AND C IS NULL AND D IS NULL";
        assert_eq!(one(&connection, nulls).as_deref(), Some("1"));
    },
    fn sets_wait_one_by_one(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER, V VARCHAR(50))");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?, ?)");
        let mut ids = Values::integers(&[Some(1), Some(2), Some(3), Some(4)]);
        let mut texts = Values::texts(&[Some("one "), Some("....."), Some("....."), Some("four ")]);
        texts.lengths = vec![4, DATA_AT_EXEC, length_at_execution(10), NULL_DATA];
        ids.lengths[2] = DATA_AT_EXEC;
        statement.bind(1, INPUT, &mut ids);
        statement.bind(2, INPUT, &mut texts);
        let mut operations = [0_u16, 0, 0, 0];
        statement.set_pointer(PARAM_OPERATION_PTR, operations.as_mut_ptr());
        let told = Told::about(&statement, 4);
        assert_eq!(statement.execute(), NEED_DATA);
        let text_of = |set: usize| texts.data.as_ptr().addr() + set * texts.capacity;
        assert_eq!(statement.parameter_data(), (NEED_DATA, text_of(1)));
        assert_eq!(statement.put_data(b"two"), SUCCESS);
        assert_eq!(statement.parameter_data(), (NEED_DATA, ids.data.as_ptr().addr() + 8));
        assert_eq!(statement.put_data(&3_i32.to_ne_bytes()), SUCCESS);
        assert_eq!(statement.parameter_data(), (NEED_DATA, text_of(2)));
        assert_eq!(statement.put_data(b"thr"), SUCCESS);
        assert_eq!(statement.put_data(b"ee"), SUCCESS);
        assert_eq!(statement.parameter_data().0, SUCCESS, "{:?}", statement.records());
        assert_eq!((told.processed, operations[0]), (4, 0));
        let rows = connection.texts("SELECT ID, V FROM T ORDER BY ID");
        let row = |id: &str, text: Option<&str>| vec![Some(id.to_owned()), text.map(str::to_owned)];
        assert_eq!(
            rows,
            [row("1", Some("one ")), row("2", Some("two")), row("3", Some("three")), row("4", None)]
        );
    },
    fn a_value_that_fails_takes_its_set_out(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (V VARCHAR(3))");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?)");
        let mut texts = Values::texts(&[Some("."), Some("."), Some(".")]);
        texts.lengths = vec![DATA_AT_EXEC; 3];
        statement.bind(1, INPUT, &mut texts);
        let told = Told::about(&statement, 3);
        assert_eq!(statement.execute(), NEED_DATA);
        for text in ["abc", "abcd", "é"] {
            assert_eq!(statement.parameter_data().0, NEED_DATA);
            assert_eq!(statement.put_data(text.as_bytes()), SUCCESS);
        }
        assert_eq!(statement.parameter_data().0, SUCCESS_WITH_INFO);
        assert_eq!((statement.state().as_str(), statement.row_of_record(1)), ("22001", 2));
        assert_eq!(told.statuses, [0, 5, 0]);
        assert_eq!(
            connection.texts("SELECT V FROM T ORDER BY V"),
            [[Some("abc".to_owned())], [Some("é".to_owned())]]
        );
    },
    fn waiting_can_be_cancelled(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (V VARCHAR(50))");
        let mut indicators = [DATA_AT_EXEC];
        let statement = waiting(&connection, &[(C_CHAR, 12)], &mut indicators);
        for supplied in [false, true] {
            assert_eq!(statement.execute(), NEED_DATA);
            if supplied {
                assert_eq!(statement.parameter_data().0, NEED_DATA);
                assert_eq!(statement.put_data(b"lost"), SUCCESS);
            }
            // SAFETY: handles are checked.
            assert_eq!(unsafe { SQLCancel(statement.handle) }, SUCCESS);
            assert_eq!(refused(&statement, statement.put_data(b"x")), "HY010");
            assert_eq!(refused(&statement, statement.parameter_data().0), "HY010");
        }
        assert_eq!(one(&connection, "SELECT COUNT(*) FROM T").as_deref(), Some("0"));
        assert_eq!(statement.execute(), NEED_DATA);
        assert_eq!(statement.parameter_data().0, NEED_DATA);
        assert_eq!(statement.put_data(b"kept"), SUCCESS);
        assert_eq!(statement.parameter_data().0, SUCCESS);
        assert_eq!(one(&connection, "SELECT V FROM T").as_deref(), Some("kept"));
    },
    fn wrong_sequences_are_refused(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (A VARCHAR(50), B INTEGER)");
        let mut indicators = [DATA_AT_EXEC; 2];
        let statement = waiting(&connection, &[(C_CHAR, 12), (C_SLONG, 4)], &mut indicators);
        assert_eq!(refused(&statement, statement.put_data(b"x")), "HY010");
        assert_eq!(refused(&statement, statement.parameter_data().0), "HY010");
        assert_eq!(statement.execute(), NEED_DATA);
        // Nothing else is possible while it waits.
        assert_eq!(refused(&statement, statement.put_data(b"x")), "HY010");
        assert_eq!(refused(&statement, statement.execute()), "HY010");
        assert_eq!(refused(&statement, statement.try_prepare("SELECT 1 FROM T")), "HY010");
        assert_eq!(refused(&statement, statement.fetch()), "HY010");
        assert_eq!(statement.parameter_data(), (NEED_DATA, 1001));
        assert_eq!(refused(&statement, statement.parameter_data().0), "HY010");
        assert_eq!(statement.put_data(b"x"), SUCCESS);
        // A NULL cannot follow. That ends the execution.
        assert_eq!(refused(&statement, statement.put_data_of(b"", NULL_DATA)), "HY020");
        assert_eq!(refused(&statement, statement.parameter_data().0), "HY010");
        let up_to_second = || {
            assert_eq!(statement.execute(), NEED_DATA, "{:?}", statement.records());
            assert_eq!(statement.parameter_data(), (NEED_DATA, 1001));
        };
        up_to_second();
        assert_eq!(statement.put_data_of(b"", NULL_DATA), SUCCESS);
        assert_eq!(refused(&statement, statement.put_data(b"x")), "HY020");
        up_to_second();
        assert_eq!(refused(&statement, statement.put_data_of(b"x", -7)), "HY090");
        up_to_second();
        // SAFETY: a NULL pointer is not read.
        let code = unsafe { SQLPutData(statement.handle, std::ptr::null_mut(), 3) };
        assert_eq!(refused(&statement, code), "HY009");
        up_to_second();
        assert_eq!(statement.put_data(b"x"), SUCCESS);
        assert_eq!(statement.parameter_data(), (NEED_DATA, 1002));
        assert_eq!(statement.put_data(&7_i32.to_ne_bytes()), SUCCESS);
        assert_eq!(refused(&statement, statement.put_data(&7_i32.to_ne_bytes())), "HY019");
        assert_eq!(one(&connection, "SELECT COUNT(*) FROM T").as_deref(), Some("0"));
        up_to_second();
        assert_eq!(statement.put_data(b"x"), SUCCESS);
        assert_eq!(statement.parameter_data(), (NEED_DATA, 1002));
        assert_eq!(statement.put_data(&7_i32.to_ne_bytes()), SUCCESS);
        assert_eq!(statement.parameter_data().0, SUCCESS);
        assert_eq!(connection.texts("SELECT A, B FROM T"), [["x", "7"].map(|text| Some(text.to_owned()))]);
    },
);
