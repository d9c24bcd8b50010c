//! Binding, describing and counting parameters, and what is wrong with some bindings.

use crate::odbc::*;
use crate::parameter::*;
use crate::support::{Statement, fresh};
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;

/// The type, size, digits and nullability that `SQLDescribeParam` tells.
fn described(statement: &Statement, number: u16) -> (i16, usize, i16, i16) {
    let (mut sql_type, mut size, mut digits, mut nullable) = (0, 99, 99, 99);
    // SAFETY: the places are there.
    let code = unsafe {
        SQLDescribeParam(statement.handle, number, &mut sql_type, &mut size, &mut digits, &mut nullable)
    };
    assert_eq!(code, SUCCESS, "{:?}", statement.records());
    (sql_type, size, digits, nullable)
}

/// The SQLSTATE of a call that fails.
fn failed(statement: &Statement, code: Return) -> String {
    assert_eq!(code, ERROR);
    statement.state()
}

matrix!(
    all,
    fn parameters_are_counted_and_described(target: &Target) {
        let connection = fresh(target);
        connection.run(
            "CREATE TABLE T (A INTEGER NOT NULL, B VARCHAR(20), C NUMERIC(9, 2), D TIMESTAMP, E BLOB SUB_TYPE TEXT, \
             F VARCHAR(5) CHARACTER SET OCTETS, G BOOLEAN, H DOUBLE PRECISION)",
        );
        let statement = connection.statement();
        let mut count = 0;
        // SAFETY: the place is there.
        assert_eq!(failed(&statement, unsafe { SQLNumParams(statement.handle, &mut count) }), "HY010");
        statement.prepare("INSERT INTO T VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        assert_eq!(statement.parameters(), 8);
        let check = || {
            assert_eq!(described(&statement, 1), (4, 10, 0, 1));
            assert_eq!(described(&statement, 2), (12, 20, 0, 1));
            assert_eq!(described(&statement, 3), (2, 9, 2, 1));
            assert_eq!(described(&statement, 4), (93, 24, 4, 1));
            assert_eq!(described(&statement, 5).0, -1);
            assert_eq!(described(&statement, 6), (-3, 5, 0, 1));
            assert_eq!(described(&statement, 7).0, -7);
            assert_eq!(described(&statement, 8), (8, 53, 0, 1));
        };
        check();
        for number in [0, 9] {
            // SAFETY: NULL pointers are not written to.
            let code = unsafe {
                SQLDescribeParam(statement.handle, number, null_mut(), null_mut(), null_mut(), null_mut())
            };
            assert_eq!(failed(&statement, code), "07009");
        }
        let mut one = Values::text("1");
        let mut null = Values::texts(&[None]);
        statement.bind(1, INPUT, &mut one);
        (2..=8).for_each(|number| statement.bind(number, INPUT, &mut null));
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        check();
        assert_eq!(statement.parameters(), 8);
        assert_eq!(connection.texts("SELECT A, B FROM T"), [[Some("1".to_owned()), None]]);
        statement.prepare("SELECT '?', \"A\" /* ? */ FROM T -- ?\n");
        assert_eq!(statement.parameters(), 0);
        statement.prepare("SELECT 1 FROM T WHERE A = ? AND B = '?'");
        assert_eq!(statement.parameters(), 1);
    },
    fn markers_without_a_type_are_a_syntax_error(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(failed(&statement, statement.try_prepare("SELECT ? FROM RDB$DATABASE")), "42000");
        assert_eq!(statement.records()[0].native, -804);
    },
    fn impossible_bindings_are_refused(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        let (mut value, mut length) = ([0_u8; 8], 0_isize);
        let mut bind = |number, direction, c_type, sql_type, digits, with_value: bool, capacity| {
            let data = if with_value { value.as_mut_ptr().cast() } else { null_mut() };
            let indicator = if with_value { &raw mut length } else { null_mut() };
            // SAFETY: nothing is read or written before an execution.
            let code = unsafe {
                let handle = statement.handle;
                SQLBindParameter(
                    handle, number, direction, c_type, sql_type, 5, digits, data, capacity, indicator,
                )
            };
            (code, statement.state())
        };
        let refused = |state: &str| (ERROR, state.to_owned());
        assert_eq!(bind(0, INPUT, C_SLONG, 4, 0, true, 4), refused("07009"));
        assert_eq!(bind(1, INPUT, 12_345, 4, 0, true, 4), refused("HY003"));
        assert_eq!(bind(1, INPUT, C_SLONG, 12_345, 0, true, 4), refused("HY004"));
        assert_eq!(bind(1, INPUT, C_SLONG, 4, 0, false, 4), refused("HY009"));
        assert_eq!(bind(1, INPUT, C_CHAR, 12, 0, true, -1), refused("HY090"));
        assert_eq!(bind(1, INPUT, C_NUMERIC, 2, 39, true, 19), refused("HY104"));
        assert_eq!(bind(1, INPUT, C_NUMERIC, 2, -1, true, 19), refused("HY104"));
        assert_eq!(bind(1, 7, C_SLONG, 4, 0, true, 4), refused("HY105"));
        assert_eq!(bind(1, 0, C_SLONG, 4, 0, true, 4), refused("HY105"));
        assert_eq!(bind(1, INPUT, C_SLONG, 4, 0, true, 4).0, SUCCESS);
    },
    fn missing_bindings_are_named(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (A INTEGER, B INTEGER)");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?, ?)");
        assert_eq!(failed(&statement, statement.execute()), "07002");
        let (mut one, mut two) = (Values::integers(&[Some(1)]), Values::integers(&[Some(2)]));
        statement.bind(1, INPUT, &mut one);
        assert_eq!(failed(&statement, statement.execute()), "07002");
        statement.bind(2, INPUT, &mut two);
        assert_eq!(statement.execute(), SUCCESS);
        statement.reset_parameters();
        assert_eq!(failed(&statement, statement.execute()), "07002");
        // What is bound beyond the markers does not matter.
        (1..=3).for_each(|number| statement.bind(number, INPUT, &mut two));
        assert_eq!(statement.execute(), SUCCESS);
        let rows = connection.texts("SELECT A, B FROM T ORDER BY A");
        let row = |a: &str| [Some(a.to_owned()), Some("2".to_owned())].to_vec();
        assert_eq!(rows, [row("1"), row("2")]);
        statement.bind(1, OUTPUT, &mut one);
        assert_eq!(failed(&statement, statement.execute()), "HY105");
        assert_eq!(connection.texts("SELECT COUNT(*) FROM T")[0][0].as_deref(), Some("2"));
    },
    fn bindings_can_change_between_executions(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER, V VARCHAR(50))");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?, ?)");
        let mut id = Values::integers(&[Some(1)]);
        statement.bind(1, INPUT, &mut id);
        let long = "y".repeat(50);
        let mut texts = [Values::text("a"), Values::wide("éé"), Values::text(&long), Values::text("")];
        for (number, text) in (1_i32..).zip(&mut texts) {
            id.data.copy_from_slice(&number.to_ne_bytes());
            statement.bind(2, INPUT, text);
            assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        }
        let mut number = Values::one(C_SBIGINT, -5, &i64::MIN.to_ne_bytes());
        statement.bind(2, INPUT, &mut number);
        let mut id = Values::text("5");
        statement.bind(1, INPUT, &mut id);
        assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        let rows = connection.texts("SELECT V FROM T ORDER BY ID");
        let found: Vec<_> = rows.iter().map(|row| row[0].as_deref()).collect();
        assert_eq!(found, [Some("a"), Some("éé"), Some(&long), Some(""), Some("-9223372036854775808")]);
    },
    fn defaults_are_for_procedures_only(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (A INTEGER DEFAULT 7)");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?)");
        let mut value = Values::integers(&[Some(1)]);
        value.lengths[0] = DEFAULT_PARAM;
        statement.bind(1, INPUT, &mut value);
        assert_eq!(failed(&statement, statement.execute()), "07S01");
        value.lengths[0] = -50;
        assert_eq!(failed(&statement, statement.execute()), "HY090");
        assert_eq!(connection.texts("SELECT COUNT(*) FROM T")[0][0].as_deref(), Some("0"));
    },
);
