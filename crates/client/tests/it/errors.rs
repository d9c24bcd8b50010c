//! Wrong SQL, wrong parameters, wrong values: typed errors, and the connection goes on.

use crate::support::{column, fresh, query, run};
use arrow::array::*;
use firearrow::{Connection, Kind, Params};
use firearrow_testkit::{Generation, Target, matrix};
use std::sync::Arc;

fn insert(connection: &Connection, value: impl Array + 'static) -> Result<(), firearrow::Error> {
    let value: ArrayRef = Arc::new(value);
    connection.execute_with("INSERT INTO t VALUES (?)", Params::row([value])).map(|_| ())
}

/// A connection with a table T of one column.
fn table(target: &Target, declaration: &str) -> Connection {
    let connection = fresh(target);
    run(&connection, &format!("CREATE TABLE t (c {declaration})"));
    connection
}

matrix!(
    all,
    fn values_that_do_not_fit_are_errors_and_nothing_is_stored(target: &Target) {
        let cases: Vec<(&str, ArrayRef)> = vec![
            ("SMALLINT", Arc::new(Int32Array::from(vec![40_000]))),
            ("INTEGER", Arc::new(Int64Array::from(vec![3_000_000_000]))),
            ("INTEGER", Arc::new(Float64Array::from(vec![1.5]))),
            (
                "NUMERIC(9, 2)",
                Arc::new(Decimal128Array::from(vec![12_345]).with_precision_and_scale(9, 3).expect("fits")),
            ),
            ("VARCHAR(3)", Arc::new(StringArray::from(vec!["four"]))),
            ("CHAR(3)", Arc::new(StringArray::from(vec!["four"]))),
            ("DATE", Arc::new(TimestampMicrosecondArray::from(vec![1_000_000]))),
            ("DATE", Arc::new(Date32Array::from(vec![2_932_897]))),
            ("INTEGER", Arc::new(StringArray::from(vec!["not a number"]))),
            ("BOOLEAN", Arc::new(StringArray::from(vec!["perhaps"]))),
            ("VARCHAR(10) CHARACTER SET WIN1252", Arc::new(StringArray::from(vec!["日本"]))),
        ];
        let connection = fresh(target);
        for (number, (declaration, value)) in cases.into_iter().enumerate() {
            // A new table each time: it must not matter what is known of the one before.
            run(&connection, &format!("CREATE TABLE t{number} (c {declaration})"));
            let insert = format!("INSERT INTO t{number} VALUES (?)");
            let error = connection
                .execute_with(&insert, Params::row([Arc::clone(&value)]))
                .expect_err(&format!("{value:?} does not fit {declaration}"));
            assert!(
                matches!(error.kind(), Kind::Data | Kind::Parameter),
                "{declaration}: {:?} {error}",
                error.kind()
            );
            assert_eq!(column(&connection, &format!("SELECT c FROM t{number}")).len(), 0, "{declaration}");
        }
    },
    fn a_failing_row_is_named_and_the_others_are_rolled_back(target: &Target) {
        let connection = table(target, "INTEGER NOT NULL PRIMARY KEY");
        let error = insert(&connection, Int32Array::from(vec![1, 2, 3, 2, 5])).expect_err("a duplicate");
        assert_eq!(error.kind(), Kind::Constraint, "{error}");
        assert!(error.to_string().contains("row 3"), "{error}");
        assert_eq!(column(&connection, "SELECT c FROM t").len(), 0);
    },
    fn constraints_and_exceptions_keep_their_texts(target: &Target) {
        let connection = table(target, "INTEGER CONSTRAINT positive CHECK (c > 0)");
        let error = insert(&connection, Int32Array::from(vec![-1])).expect_err("the check fails");
        assert_eq!(error.kind(), Kind::Constraint);
        assert!(error.to_string().contains("POSITIVE"), "{error}");
        run(&connection, "CREATE EXCEPTION sad 'something sad: @1'");
        let error = connection
            .execute("EXECUTE BLOCK AS BEGIN EXCEPTION sad USING ('Grün'); END")
            .expect_err("it raises");
        assert!(error.to_string().contains("something sad: Grün"), "{error}");
        assert_eq!(error.sqlstate(), "HY000");
    },
    fn an_error_in_the_middle_of_rows_comes_after_them(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (n INTEGER)");
        run(
            &connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 5000; BEGIN
                 WHILE (i >= 0) DO BEGIN INSERT INTO t VALUES (:i); i = i - 1; END
             END",
        );
        let transaction = connection.begin(Default::default()).expect("it starts");
        let limits = firearrow::BatchLimits::default().rows(100);
        let statement = transaction.prepare("SELECT 100 / n FROM t").expect("valid SQL").with_limits(limits);
        let mut cursor = statement.query(&transaction, ()).expect("it runs");
        let mut seen = 0;
        let error = loop {
            match cursor.next_batch() {
                Ok(Some(batch)) => seen += batch.num_rows(),
                Ok(None) => panic!("the division by zero went unnoticed"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.sqlstate(), "22012");
        assert!(seen > 1000 && seen <= 5000, "{seen} rows before the error");
        drop(cursor);
        assert_eq!(query(&connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    },
    fn types_of_newer_releases_are_refused_by_older_ones(target: &Target) {
        let connection = fresh(target);
        let result = connection.execute("CREATE TABLE t (c INT128)");
        assert_eq!(result.is_ok(), target.generation() >= Generation::V4_0);
    },
    fn arrays_of_no_table_name_their_column(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (numbers INTEGER [1:3])");
        let sql = "SELECT 1, MAX(numbers) AS greatest FROM t";
        let error = connection.query(sql).expect_err("nobody says what is in it");
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(error.to_string().contains("column 2 (\"GREATEST\")"), "{error}");
    },
    fn sql_of_any_length_is_taken_or_refused(target: &Target) {
        let connection = fresh(target);
        let filler = "/* filler */ ".repeat(20_000);
        assert_eq!(query(&connection, &format!("SELECT {filler} 1 FROM RDB$DATABASE")).num_rows(), 1);
        assert_eq!(connection.query("").expect_err("no SQL at all").kind(), Kind::Syntax);
        assert!(
            connection.query("SELECT 'zero \0 byte' FROM RDB$DATABASE").is_err() || connection.ping().is_ok()
        );
        assert_eq!(query(&connection, "SELECT 1 FROM RDB$DATABASE").num_rows(), 1);
    }
);

// The client counts.
matrix!(
    [firebird_4_0],
    fn the_wrong_number_of_parameters_is_told(target: &Target) {
        let connection = table(target, "INTEGER");
        let error = connection
            .execute_with("INSERT INTO t VALUES (?)", Params::texts([Some("1"), Some("2")]))
            .expect_err("one too many");
        assert_eq!(error.kind(), Kind::Parameter);
        assert!(error.to_string().contains('2') && error.to_string().contains('1'), "{error}");
    }
);
