//! Rust values in and out: `params!` into columns of every type, `Row::get` out of them.

use crate::support::{config, fresh, query, run};
use arrow::array::{Array, ArrayRef, AsArray, Int32Array, ListArray};
use arrow::datatypes::Int32Type;
use firearrow::{
    BatchExt, Connection, Date, Decimal, FromValue, Kind, Params, Time, Timestamp, TimestampTz, Value, params,
};
use firearrow_testkit::{Generation, Target, matrix};
use std::fmt::Debug;
use std::sync::Arc;

/// Writes a value and NULL, reads both back, and has the engine compare the value with a literal.
fn round_trip<T>(connection: &Connection, declaration: &str, value: T, literal: &str)
where
    T: firearrow::ToParam + for<'a> FromValue<'a> + PartialEq + Debug,
{
    run(connection, &format!("RECREATE TABLE t (id INTEGER, c {declaration})"));
    let insert = "INSERT INTO t (id, c) VALUES (?, ?)";
    for parameters in [params![1, value], params![2, None::<T>]] {
        connection.execute_with(insert, parameters).unwrap_or_else(|error| panic!("{declaration}: {error}"));
    }
    let batch = query(connection, "SELECT id, c FROM t ORDER BY id");
    let found: Vec<(i16, Option<T>)> = batch
        .rows()
        .map(|row| Ok((row.get(0)?, row.get("C")?)))
        .collect::<Result<_, firearrow::Error>>()
        .unwrap_or_else(|error| panic!("{declaration}: {error}"));
    assert_eq!(found, [(1, Some(value)), (2, None)], "{declaration}");
    let batch = query(connection, &format!("SELECT id FROM t WHERE c = {literal}"));
    let equal: Vec<i64> = batch.rows().map(|row| row.get("id").expect("an integer")).collect();
    assert_eq!(equal, [1], "{declaration} = {literal}");
}

fn day() -> Date {
    Date::new(2024, 2, 29).expect("a leap day")
}

fn time() -> Time {
    Time::new(13, 45, 31, 123_400).expect("a time")
}

matrix!(
    all,
    fn one_row_is_the_only_one(target: &Target) {
        let connection = &fresh(target);
        run(connection, "CREATE TABLE t (id INTEGER)");
        let ids = |sql: &str| -> Result<Option<i32>, firearrow::Error> {
            connection.query(sql).expect("a query").one_row(|row| row.get(0))
        };
        assert_eq!(ids("SELECT id FROM t").expect("none is fine"), None);
        run(connection, "INSERT INTO t VALUES (7)");
        assert_eq!(ids("SELECT id FROM t").expect("one"), Some(7));
        let error = ids("SELECT NULL FROM t").expect_err("an i32 is not NULL");
        assert_eq!((error.kind(), error.column_index()), (Kind::Data, Some(0)));
        run(connection, "INSERT INTO t VALUES (8)");
        let error = ids("SELECT id FROM t").expect_err("two");
        assert_eq!(error.kind(), Kind::Data);
        assert!(error.message().contains("more than one row"), "{error}");
        assert_eq!(ids("SELECT COUNT(*) FROM t").expect("the connection goes on"), Some(2));
    },
    fn values_of_every_type_come_back(target: &Target) {
        let connection = &fresh(target);
        round_trip(connection, "SMALLINT", i16::MIN, "-32768");
        round_trip(connection, "INTEGER", i32::MIN, "-2147483648");
        round_trip(connection, "BIGINT", i64::MAX, "9223372036854775807");
        round_trip(connection, "BIGINT", u64::MAX / 2, "9223372036854775807");
        round_trip(connection, "NUMERIC(4, 2)", Decimal::new(-9999, 2), "-99.99");
        round_trip(
            connection,
            "DECIMAL(18, 4)",
            Decimal::new(999_999_999_999_999_999, 4),
            "99999999999999.9999",
        );
        round_trip(connection, "FLOAT", -0.25_f32, "-0.25");
        round_trip(connection, "DOUBLE PRECISION", 1.0 / 3.0, "1e0 / 3e0");
        round_trip(connection, "BOOLEAN", true, "TRUE");
        round_trip(connection, "VARCHAR(20) CHARACTER SET UTF8", "grün 🐘".to_owned(), "'grün 🐘'");
        round_trip(connection, "BLOB SUB_TYPE TEXT CHARACTER SET UTF8", "grün 🐘".to_owned(), "'grün 🐘'");
        round_trip(connection, "VARCHAR(4) CHARACTER SET OCTETS", vec![0_u8, 255], "x'00FF'");
        round_trip(connection, "BLOB SUB_TYPE BINARY", vec![0_u8, 255], "x'00FF'");
        round_trip(connection, "DATE", day(), "DATE '2024-02-29'");
        round_trip(connection, "TIME", time(), "TIME '13:45:31.1234'");
        round_trip(
            connection,
            "TIMESTAMP",
            Timestamp::new(day(), time()),
            "TIMESTAMP '2024-02-29 13:45:31.1234'",
        );
        if target.generation() >= Generation::V4_0 {
            let largest = 10_i128.pow(38) - 1;
            round_trip(connection, "INT128", -largest, &format!("-{largest}"));
            round_trip(connection, "NUMERIC(38, 8)", Decimal::new(-1, 8), "-0.00000001");
            let utc = TimestampTz::from_utc(Timestamp::new(day(), time()));
            round_trip(
                connection,
                "TIMESTAMP WITH TIME ZONE",
                utc,
                "TIMESTAMP '2024-02-29 14:45:31.1234 +01:00'",
            );
            round_trip(connection, "DECFLOAT(34)", "1E+400".to_owned(), "1E400");
        }
    },
    fn rows_come_batch_by_batch(target: &Target) -> firearrow::Result<()> {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, name VARCHAR(10))");
        run(&connection, "INSERT INTO t VALUES (1, 'one')");
        run(&connection, "INSERT INTO t VALUES (2, NULL)");
        let mut found = Vec::new();
        for batch in connection.query_with("SELECT id, name FROM t WHERE id < ? ORDER BY 1", [10])? {
            let batch = batch?;
            for row in batch.rows() {
                let id: i64 = row.get(0)?;
                let name: Option<String> = row.get("NAME")?;
                found.push((id, name));
            }
        }
        assert_eq!(found, [(1, Some("one".to_owned())), (2, None)]);
        Ok(())
    },
    fn int128_keeps_all_its_digits(target: &Target) {
        if target.generation() < Generation::V4_0 {
            return;
        }
        let mut config = config(target, &target.fresh_url());
        config.read.push(("int128".into(), "decimal256".into()));
        let connection = Connection::create(&config).expect("a fresh database can be created");
        round_trip(&connection, "INT128", i128::MAX, "170141183460469231731687303715884105727");
        round_trip(
            &connection,
            "INT128",
            i128::MIN,
            "CAST('-170141183460469231731687303715884105728' AS INT128)",
        );
    },
    fn offsets_of_time_zones_come_back(target: &Target) {
        if target.generation() < Generation::V4_0 {
            return;
        }
        let mut config = config(target, &target.fresh_url());
        config.read.push(("timestamptz".into(), "with_offset".into()));
        let connection = Connection::create(&config).expect("a fresh database can be created");
        let utc = Timestamp::new(day(), time());
        for (minutes, literal) in [
            (330, "TIMESTAMP '2024-02-29 19:15:31.1234 +05:30'"),
            (-180, "TIMESTAMP '2024-02-29 10:45:31.1234 -03:00'"),
            (840, "TIMESTAMP '2024-03-01 03:45:31.1234 +14:00'"),
        ] {
            let value = TimestampTz::with_offset(utc, minutes).expect("a legal offset");
            round_trip(&connection, "TIMESTAMP WITH TIME ZONE", value, literal);
        }
    },
    fn decimals_of_any_scale_are_exact_or_refused(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (c NUMERIC(9, 2))");
        let insert = "INSERT INTO t VALUES (?)";
        for value in [Decimal::new(15, 1), Decimal::new(15, -2), Decimal::new(1500, 4), Decimal::from(7_i64)]
        {
            connection.execute_with(insert, [value]).unwrap_or_else(|error| panic!("{value}: {error}"));
        }
        for value in [Decimal::new(15, 3), Decimal::new(1, 100), Decimal::new(1, -100)] {
            let error =
                connection.execute_with(insert, [value]).expect_err("it would be rounded or is too large");
            assert_eq!(error.kind(), Kind::Data, "{error}");
        }
        let batch = query(&connection, "SELECT c FROM t ORDER BY c");
        let found: Vec<Decimal> = batch.rows().map(|row| row.get(0).expect("a decimal")).collect();
        let expected = [15, 150, 700, 150_000].map(|unscaled| Decimal::new(unscaled, 2));
        assert_eq!(found, expected);
    },
    fn arrays_and_values_are_parameters(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, numbers INTEGER [1:3])");
        let numbers: ArrayRef =
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), Some(2), Some(3)])]));
        let id: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        connection.execute_with("INSERT INTO t VALUES (?, ?)", params![id, numbers]).expect("it is taken");
        // A row that was read is written again.
        let batch = query(&connection, "SELECT id, numbers FROM t");
        let row = batch.rows().next().expect("a row");
        let values: Vec<Value<'_>> =
            (0..row.columns()).map(|column| row.value(column).expect("a value")).collect();
        connection.execute_with("INSERT INTO t VALUES (?, ?)", Params::from(values)).expect("it is taken");
        let batch = query(&connection, "SELECT id, numbers FROM t");
        assert_eq!(batch.num_rows(), 2);
        for row in batch.rows() {
            let numbers: ArrayRef = row.get("numbers").expect("an array");
            assert_eq!((row.get::<i32>(0).expect("an id"), numbers.len()), (1, 3));
            assert_eq!(numbers.as_primitive::<Int32Type>().values(), &[1, 2, 3]);
        }
    },
    fn reading_says_which_value_is_wrong(target: &Target) {
        let connection = fresh(target);
        run(&connection, "CREATE TABLE t (id INTEGER, price NUMERIC(9, 2), name VARCHAR(10))");
        run(&connection, "INSERT INTO t VALUES (1, 12.50, NULL)");
        let batch = query(&connection, "SELECT * FROM t");
        let row = batch.rows().next().expect("a row");
        for (error, column, words) in [
            (row.get::<String>("NAME").expect_err("NULL"), 2, ["NAME", "Option<String>"]),
            (row.get::<String>("ID").expect_err("a number"), 0, ["INTEGER", "read it as i64"]),
            (row.get::<f64>("PRICE").expect_err("a decimal"), 1, ["NUMERIC", "read it as Decimal"]),
            (row.get::<i64>("PRICE").expect_err("a fraction"), 1, ["12.50", "read it as Decimal"]),
        ] {
            assert_eq!(
                (error.kind(), error.row(), error.column_index()),
                (Kind::Data, Some(0), Some(column))
            );
            let text = error.to_string();
            assert!(words.iter().all(|word| text.contains(word)), "{text}");
        }
        assert_eq!(row.get::<i64>("AGE").expect_err("no such column").kind(), Kind::Misuse);
    }
);
