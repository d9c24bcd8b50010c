//! What the server stores is what the application gave.

use super::buffers::{Buffers, Layout, Parameter};
use super::support::wide;
use crate::abi::{SmallInt, c_type, sql_type};
use crate::params::{Source, Supplied, read};
use arrow::array::{AsArray, RecordBatchIterator};
use firearrow::{Config, OnFailure};
use firearrow_driver::{Rows, Session, SessionOptions, Statement, StatementOptions};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

fn session(target: &Target) -> Arc<Session> {
    let mut config = Config::parse(&target.fresh_url()).expect("the testkit's URLs are valid");
    if let Target::Embedded(embedded) = target {
        config.client_library = Some(embedded.engine.display().to_string());
    }
    config.create_if_missing = true;
    Arc::new(Session::open(&config, SessionOptions::default()).expect("it can be created"))
}

fn statement(session: &Arc<Session>, sql: &str) -> Statement {
    let mut statement = Statement::new(session, StatementOptions::default());
    statement.set_query(sql).expect("it is SQL");
    statement
}

/// Inserts a value into a new column of a type and reads it back as text; `None` if the server has refused it.
fn stored(session: &Arc<Session>, column: &str, parameter: &Parameter) -> Option<String> {
    statement(session, &format!("RECREATE TABLE t (v {column})")).update().expect("it is new");
    let mut insert = statement(session, "INSERT INTO t VALUES (?)");
    insert.options.on_failure = OnFailure::Continue;
    let described = insert.parameters().expect("it can be prepared");
    let buffers = Buffers::new(std::slice::from_ref(parameter), Layout { offset: 1, ..Layout::default() });
    let supplied = Supplied::default();
    let source = Source { supplied: &supplied, sets: &[0], is_call: false };
    // SAFETY: the buffers have the set.
    let read = unsafe { read(&buffers.bindings, source, &described) }.expect("it can be converted");
    assert_eq!(read.failed, [], "{column}");
    let schema = read.batch.schema();
    insert.bind(Rows::new(Box::new(RecordBatchIterator::new([Ok(read.batch)], schema))).expect("no panic"));
    if insert.update().expect("it runs") == Some(0) {
        return None;
    }
    let bytes = column.contains("OCTETS") || column.contains("BINARY");
    let text = if bytes { "HEX_ENCODE(v)" } else { "v" };
    let mut select = statement(session, &format!("SELECT TRIM(CAST({text} AS VARCHAR(100))) FROM t"));
    let mut rows = select.execute().expect("it runs").stream.expect("it has rows");
    let batch = rows.next_batch().expect("it reads").expect("a row");
    Some(batch.column(0).as_string::<i32>().value(0).to_owned())
}

fn given(c_type: SmallInt, sql_type: SmallInt, bytes: &[u8]) -> Parameter {
    let values = vec![Some(bytes.to_vec())];
    Parameter {
        c_type,
        sql_type,
        digits: 2,
        scale: 2,
        described: Default::default(),
        ends_with_zero: false,
        values,
    }
}

fn numeric(value: i128) -> Vec<u8> {
    [&[38, 0, u8::from(value >= 0)][..], &value.unsigned_abs().to_le_bytes()].concat()
}

/// Column, parameter, and what is stored.
fn cases() -> Vec<(&'static str, Parameter, Option<&'static str>)> {
    use c_type::{
        BINARY, BIT, CHAR, DOUBLE, GUID, NUMERIC, SLONG, TYPE_DATE, TYPE_TIME, TYPE_TIMESTAMP, UBIGINT, WCHAR,
    };
    let text = |text: &str| given(CHAR, sql_type::VARCHAR, text.as_bytes());
    let double = |double: f64| given(DOUBLE, sql_type::DOUBLE, &double.to_ne_bytes());
    let decimal = |double: f64| given(DOUBLE, sql_type::DECIMAL, &double.to_ne_bytes());
    let shorts = |parts: &[i16]| parts.iter().flat_map(|part| part.to_ne_bytes()).collect::<Vec<u8>>();
    let date = given(TYPE_DATE, sql_type::TYPE_DATE, &shorts(&[2024, 2, 29]));
    let time = given(TYPE_TIME, sql_type::TYPE_TIME, &shorts(&[1, 2, 3]));
    let moment = [shorts(&[1969, 12, 31, 23, 59, 59]), 999_999_999_u32.to_ne_bytes().to_vec()].concat();
    let timestamp = given(TYPE_TIMESTAMP, sql_type::TYPE_TIMESTAMP, &moment);
    let guid = given(GUID, sql_type::GUID, &std::array::from_fn::<u8, 16, _>(|at| at as u8));
    let large = given(UBIGINT, sql_type::BIGINT, &u64::MAX.to_ne_bytes());
    let least = given(NUMERIC, sql_type::VARCHAR, &numeric(i128::MIN));
    let bit = given(BIT, sql_type::BIT, &[1]);
    vec![
        ("INTEGER", given(SLONG, sql_type::INTEGER, &i32::MIN.to_ne_bytes()), Some("-2147483648")),
        ("SMALLINT", given(SLONG, sql_type::INTEGER, &40_000_i32.to_ne_bytes()), None),
        ("INT128", large.clone(), Some("18446744073709551615")),
        ("VARCHAR(20)", large.clone(), Some("18446744073709551615")),
        ("BLOB SUB_TYPE TEXT", large.clone(), Some("18446744073709551615")),
        ("BIGINT", large, None),
        ("NUMERIC(38,2)", least, Some("-1701411834604692317316873037158841057.28")),
        ("NUMERIC(9,4)", decimal(1.005), Some("1.0100")),
        ("NUMERIC(9,2)", double(12.34), Some("12.34")),
        ("NUMERIC(9,2)", double(12.345), None),
        ("NUMERIC(9,1)", text(" 12.50 "), Some("12.5")),
        ("NUMERIC(9,1)", text("12.55"), None),
        ("INTEGER", text("abc"), None),
        (
            "DECFLOAT(34)",
            text("1.234567890123456789012345678901234"),
            Some("1.234567890123456789012345678901234"),
        ),
        ("VARCHAR(30)", double(12.0), Some("12")),
        ("BOOLEAN", bit.clone(), Some("TRUE")),
        ("BOOLEAN", text("false"), Some("FALSE")),
        ("SMALLINT", bit.clone(), Some("1")),
        ("VARCHAR(5)", bit, Some("1")),
        ("DATE", date.clone(), Some("2024-02-29")),
        ("TIMESTAMP", date.clone(), Some("2024-02-29 00:00:00.0000")),
        ("VARCHAR(10)", date, Some("2024-02-29")),
        ("TIME", time.clone(), Some("01:02:03.0000")),
        ("VARCHAR(8)", time, Some("01:02:03")),
        ("TIMESTAMP", timestamp.clone(), Some("1969-12-31 23:59:59.9999")),
        ("TIME", timestamp.clone(), Some("23:59:59.9999")),
        ("VARCHAR(24)", timestamp.clone(), Some("1969-12-31 23:59:59.9999")),
        ("TIMESTAMP", text("{ts '2024-02-29 01:02:03.123456'}"), Some("2024-02-29 01:02:03.1234")),
        ("TIME", text("2024-02-29T01:02:03.99999"), Some("01:02:03.9999")),
        ("DATE", text("2024-02-29 00:00:00.0"), Some("2024-02-29")),
        ("DATE", text("2024-02-30"), None),
        (
            "TIMESTAMP WITH TIME ZONE",
            text("2024-02-29 01:02:03.123456 +02:00"),
            Some("2024-02-29 01:02:03.1234 +02:00"),
        ),
        ("CHAR(16) CHARACTER SET OCTETS", guid.clone(), Some("030201000504070608090A0B0C0D0E0F")),
        ("CHAR(36)", guid, Some("03020100-0504-0706-0809-0A0B0C0D0E0F")),
        ("VARCHAR(3) CHARACTER SET OCTETS", given(CHAR, sql_type::BINARY, b"00ffA9"), Some("00FFA9")),
        ("BLOB SUB_TYPE BINARY", given(BINARY, sql_type::VARBINARY, &[0, 0xFF]), Some("00FF")),
        ("VARCHAR(3) CHARACTER SET UTF8", given(BINARY, sql_type::VARCHAR, "äb".as_bytes()), Some("äb")),
        ("VARCHAR(3) CHARACTER SET UTF8", given(WCHAR, sql_type::WVARCHAR, &wide("ä€😀")), Some("ä€😀")),
        ("VARCHAR(2) CHARACTER SET UTF8", given(WCHAR, sql_type::WVARCHAR, &wide("ä€😀")), None),
        (
            "BLOB SUB_TYPE TEXT CHARACTER SET UTF8",
            given(WCHAR, sql_type::WVARCHAR, &wide("ä€😀")),
            Some("ä€😀"),
        ),
    ]
}

matrix!(
    [firebird_5_0, embedded_5_0],
    fn values_are_stored_as_given(target: &Target) {
        let session = session(target);
        for (column, parameter, expected) in cases() {
            assert_eq!(stored(&session, column, &parameter).as_deref(), expected, "{column} {parameter:?}");
        }
    },
    fn text_becomes_the_nearest_float(target: &Target) {
        let session = session(target);
        for text in
            ["123456789.123456789", "2.2250738585072014e-308", "179769313486231570000", "0.1", "-5e-324"]
        {
            statement(&session, "RECREATE TABLE t (v DOUBLE PRECISION)").update().expect("it is new");
            let parameter = given(c_type::CHAR, sql_type::VARCHAR, text.as_bytes());
            stored(&session, "DOUBLE PRECISION", &parameter).expect("it is a number");
            let mut rows =
                statement(&session, "SELECT v FROM t").execute().expect("it runs").stream.expect("rows");
            let batch = rows.next_batch().expect("it reads").expect("a row");
            let found = batch.column(0).as_primitive::<arrow::datatypes::Float64Type>().value(0);
            assert_eq!(found, text.parse::<f64>().expect("a number"), "{text}");
        }
    },
);
