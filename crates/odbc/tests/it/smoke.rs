//! A query, an insertion and a failure on every engine.

use crate::odbc::*;
use crate::support::fresh;
use firearrow_testkit::{Target, matrix};

matrix!(
    all,
    fn rows_go_in_and_come_out(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER, NAME VARCHAR(20))");
        assert_eq!(connection.run("INSERT INTO T VALUES (1, 'Zoë 😀')"), 1);
        assert_eq!(connection.run("INSERT INTO T VALUES (2, NULL)"), 1);
        let rows = connection.texts("SELECT ID, NAME FROM T ORDER BY ID");
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(rows, [[text("1"), text("Zoë 😀")], [text("2"), None]]);
    },
    fn failures_name_what_is_wrong(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.execute_directly("SELECT * FROM NOWHERE"), ERROR);
        let records = statement.records();
        assert_eq!((records[0].state.as_str(), records[0].native), ("42S02", -204));
        assert!(records[0].message.starts_with("[firearrow][Firebird ODBC Driver][Firebird]"), "{records:?}");
        assert_eq!(statement.execute_directly("SELEC 1"), ERROR);
        assert_eq!(statement.state(), "42000");
        // A function that nobody has.
        assert_eq!(statement.execute_directly("SELECT GETDATE() FROM RDB$DATABASE"), ERROR);
        assert_eq!(statement.state(), "42000", "{:?}", statement.records());
    },
);
