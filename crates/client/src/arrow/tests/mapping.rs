//! The type mapping as a table: what is stored, and what Arrow shows.

use super::rows::{Value, char, column, decode, varchar};
use crate::arrow::schema::data_type;
use crate::arrow::{DecodeErrorKind, ReadOptions, schema};
use arrow::array::{ArrayRef, AsArray};
use arrow::datatypes::{DataType, TimestampMicrosecondType};
use arrow::util::display::array_value_to_string;
use firearrow_proto::api::decfloat::{Decimal, encode64, encode128};
use firearrow_proto::api::descriptor::{Descriptor, SqlType, charset_id};
use firearrow_proto::api::timezone;
use firearrow_proto::api::value::{MAX_DATE, MIN_DATE};
use std::sync::Arc;

/// Names and values of switches.
type Switches = &'static [(&'static str, &'static str)];

fn options(switches: Switches) -> ReadOptions {
    let mut options = ReadOptions::default();
    for (name, value) in switches {
        options.set(name, value).expect("a switch");
    }
    options
}

fn text(value: &str) -> Value {
    Value::Text(value.into())
}

fn dec16(text: &str) -> Value {
    Value::Dec16(encode64(&text.parse::<Decimal>().expect("a number")).expect("16 digits"))
}

fn dec34(text: &str) -> Value {
    Value::Dec34(encode128(&text.parse::<Decimal>().expect("a number")).expect("34 digits"))
}

/// Values as Arrow prints them. It cannot print zones without their database, so instants are shown bare.
fn shown(array: &ArrayRef) -> Vec<String> {
    let bare: ArrayRef = match array.data_type() {
        DataType::Timestamp(..) => {
            let instants = array.as_primitive::<TimestampMicrosecondType>().clone();
            Arc::new(instants.with_timezone_opt(None::<Arc<str>>))
        }
        DataType::Struct(_) => {
            let (instants, minutes) = (array.as_struct().column(0), array.as_struct().column(1));
            let shown = shown(instants).into_iter().zip(shown(minutes)).enumerate();
            return shown
                .map(|(row, (instant, minutes))| match array.is_null(row) {
                    true => String::new(),
                    false => format!("{instant} {minutes}"),
                })
                .collect();
        }
        _ => Arc::clone(array),
    };
    (0..bare.len()).map(|row| array_value_to_string(&bare, row).expect("printable")).collect()
}

/// Column, switches, stored value, Arrow type, value as Arrow prints it.
#[test]
fn values_and_types() {
    let none = u32::from(charset_id::NONE) as i32;
    let octets = u32::from(charset_id::OCTETS) as i32;
    let berlin = timezone::id("Europe/Berlin").unwrap_or(1499);
    let zone = timezone::name(berlin).expect("a zone");
    let cases: Vec<(Descriptor, Switches, Value, &str, &str)> = vec![
        (column(SqlType::SHORT, 2, 0, 0), &[], Value::Short(i16::MIN), "Int16", "-32768"),
        (column(SqlType::LONG, 4, 0, 0), &[], Value::Long(i32::MAX), "Int32", "2147483647"),
        (column(SqlType::INT64, 8, 0, 0), &[], Value::Int64(i64::MIN), "Int64", "-9223372036854775808"),
        (column(SqlType::SHORT, 2, -2, 1), &[], Value::Short(9999), "Decimal128(4, 2)", "99.99"),
        (column(SqlType::LONG, 4, -4, 2), &[], Value::Long(-12345), "Decimal128(9, 4)", "-1.2345"),
        (column(SqlType::INT64, 8, 0, 1), &[], Value::Int64(7), "Decimal128(18, 0)", "7"),
        (column(SqlType::INT64, 8, -1, 0), &[], Value::Int64(15), "Decimal128(18, 1)", "1.5"),
        (
            column(SqlType::INT64, 8, -20, 0),
            &[],
            Value::Int64(1),
            "Decimal128(20, 20)",
            "0.00000000000000000001",
        ),
        (column(SqlType::INT128, 16, -8, 2), &[], Value::Int128(-1), "Decimal128(38, 8)", "-0.00000001"),
        (
            column(SqlType::SHORT, 2, -2, 1),
            &[("decimal_precision", "range")],
            Value::Short(32767),
            "Decimal128(5, 2)",
            "327.67",
        ),
        (
            column(SqlType::INT128, 16, -2, 1),
            &[("decimal_precision", "range")],
            Value::Int128(i128::MAX),
            "Decimal256(39, 2)",
            "1701411834604692317316873037158841057.27",
        ),
        (column(SqlType::INT128, 16, 0, 0), &[], Value::Int128(42), "Decimal128(38, 0)", "42"),
        (
            column(SqlType::INT128, 16, 0, 0),
            &[("int128", "decimal256")],
            Value::Int128(i128::MIN),
            "Decimal256(39, 0)",
            "-170141183460469231731687303715884105728",
        ),
        (
            column(SqlType::INT128, 16, 0, 0),
            &[("int128", "utf8")],
            Value::Int128(i128::MIN),
            "Utf8",
            "-170141183460469231731687303715884105728",
        ),
        (column(SqlType::FLOAT, 4, 0, 0), &[], Value::Float(1.5), "Float32", "1.5"),
        (column(SqlType::DOUBLE, 8, 0, 0), &[], Value::Double(-0.0), "Float64", "-0.0"),
        (column(SqlType::D_FLOAT, 8, 0, 0), &[], Value::Double(2.5), "Float64", "2.5"),
        (column(SqlType::DEC16, 8, 0, 0), &[], dec16("1E+300"), "Utf8", "1E+300"),
        (column(SqlType::DEC34, 16, 0, 0), &[], dec34("-0.001"), "Utf8", "-0.001"),
        (column(SqlType::DEC34, 16, 0, 0), &[("decfloat", "float64")], dec34("0.1"), "Float64", "0.1"),
        (
            column(SqlType::DEC16, 8, 0, 0),
            &[("decfloat", "decimal128(10,3)")],
            dec16("1.5"),
            "Decimal128(10, 3)",
            "1.500",
        ),
        (column(SqlType::BOOLEAN, 1, 0, 0), &[], Value::Boolean(true), "Boolean", "true"),
        (column(SqlType::DATE, 4, 0, 0), &[], Value::Date(MIN_DATE), "Date32", "0001-01-01"),
        (column(SqlType::DATE, 4, 0, 0), &[], Value::Date(MAX_DATE), "Date32", "9999-12-31"),
        (column(SqlType::TIME, 4, 0, 0), &[], Value::Time(452_967_890), "Time64(µs)", "12:34:56.789"),
        (
            column(SqlType::TIMESTAMP, 8, 0, 0),
            &[],
            Value::Timestamp(40_586, 863_999_999),
            "Timestamp(µs)",
            "1969-12-31T23:59:59.999900",
        ),
        (
            column(SqlType::TIMESTAMP_TZ, 12, 0, 0),
            &[],
            Value::TimestampTz(58_849, 0, berlin, 60),
            "Timestamp(µs, \"UTC\")",
            "2020-01-01T00:00:00",
        ),
        (
            column(SqlType::TIMESTAMP_TZ, 12, 0, 0),
            &[("timestamptz", "utf8")],
            Value::TimestampTz(58_849, 0, berlin, -60),
            "Utf8",
            "2019-12-31 23:00:00.0000 -01:00 ",
        ),
        (
            column(SqlType::TIMESTAMP_TZ, 12, 0, 0),
            &[("timestamptz", "with_offset")],
            Value::TimestampTz(58_849, 0, berlin, 60),
            "",
            "2020-01-01T00:00:00 60",
        ),
        (
            column(SqlType::TIMESTAMP_TZ, 12, 0, 0),
            &[("timestamptz", "utf8")],
            Value::TimestampTz(60_610, 18_000_000, berlin, 120),
            "Utf8",
            "2024-10-27 02:30:00.0000 +02:00 ",
        ),
        (
            column(SqlType::TIMESTAMP_TZ, 12, 0, 0),
            &[("timestamptz", "utf8")],
            Value::TimestampTz(60_610, 54_000_000, berlin, 60),
            "Utf8",
            "2024-10-27 02:30:00.0000 +01:00 ",
        ),
        (
            column(SqlType::TIME_TZ, 8, 0, 0),
            &[],
            Value::TimeTz(603_311_234, 1259, -180),
            "Utf8",
            "13:45:31.1234 -03:00",
        ),
        (
            column(SqlType::TIME_TZ, 8, 0, 0),
            &[("timetz", "time64_utc")],
            Value::TimeTz(0, 1259, -180),
            "Time64(µs)",
            "00:00:00",
        ),
        (char(3), &[], text("ä"), "Utf8", "ä  "),
        (char(3), &[("trim_char", "true")], text("ä"), "Utf8", "ä"),
        (varchar(5), &[("text", "large_utf8")], text("ab "), "LargeUtf8", "ab "),
        (varchar(5), &[("text", "utf8_view")], text("ab "), "Utf8View", "ab "),
        (varchar(5), &[("trim_char", "true")], text("ab "), "Utf8", "ab "),
        (column(SqlType::TEXT, 1, 0, none), &[], Value::Null, "Utf8", ""),
        (column(SqlType::VARYING, 9, 0, none), &[], text("ä"), "Utf8", "ä"),
        (
            column(SqlType::VARYING, 9, 0, none),
            &[("none_encoding", "utf8_lossy")],
            Value::Text(vec![b'a', 0xe4]),
            "Utf8",
            "a\u{fffd}",
        ),
        (
            column(SqlType::TEXT, 3, 0, none),
            &[("none_encoding", "WIN1252")],
            Value::Text(vec![b'a', 0xe4]),
            "Utf8",
            "aä ",
        ),
        (
            column(SqlType::VARYING, 3, 0, none),
            &[("none_encoding", "binary")],
            Value::Text(vec![b'a', 0xe4]),
            "Binary",
            "61e4",
        ),
        (column(SqlType::TEXT, 4, 0, octets), &[], Value::Text(vec![1, 2]), "FixedSizeBinary(4)", "01020000"),
        (
            column(SqlType::TEXT, 4, 0, octets),
            &[("binary", "binary")],
            Value::Text(vec![1, 2]),
            "Binary",
            "01020000",
        ),
        (column(SqlType::VARYING, 4, 0, octets), &[], Value::Text(vec![255]), "Binary", "ff"),
        (column(SqlType::BLOB, 8, 4, 1), &[], Value::Blob(0), "Utf8", ""),
        (column(SqlType::BLOB, 8, 0, -7), &[], Value::Blob(0), "Binary", ""),
    ];
    for (column, switches, value, data_type, printed) in cases {
        let options = options(switches);
        let array = decode(&column, &options, &[value.clone(), Value::Null])
            .unwrap_or_else(|error| panic!("{value:?} {switches:?}: {error}"));
        if !data_type.is_empty() {
            assert_eq!(array.data_type().to_string(), data_type, "{value:?} {switches:?}");
        }
        let printed = if printed.ends_with(' ') && switches == [("timestamptz", "utf8")] {
            format!("{printed}{zone}")
        } else {
            printed.to_owned()
        };
        assert_eq!(shown(&array), [printed, String::new()], "{value:?} {switches:?}");
        assert_eq!(array.is_null(0), value == Value::Null);
        assert!(array.is_null(1));
    }
}

/// Column, switches, stored value, kind of error, part of its message.
#[test]
fn refusals_name_the_remedy() {
    let none = u32::from(charset_id::NONE) as i32;
    let too_long = Value::Int128(i128::MAX);
    let cases: Vec<(Descriptor, Switches, Value, DecodeErrorKind, &str)> = vec![
        (
            column(SqlType::SHORT, 2, -2, 1),
            &[],
            Value::Short(10_000),
            DecodeErrorKind::OutOfRange,
            "decimal_precision=range",
        ),
        (
            column(SqlType::INT128, 16, 0, 0),
            &[],
            too_long.clone(),
            DecodeErrorKind::OutOfRange,
            "int128=utf8",
        ),
        (
            column(SqlType::INT128, 16, -2, 2),
            &[],
            too_long,
            DecodeErrorKind::OutOfRange,
            "decimal_precision=range",
        ),
        (
            column(SqlType::DEC34, 16, 0, 0),
            &[("decfloat", "decimal128(5,1)")],
            dec34("1.25"),
            DecodeErrorKind::OutOfRange,
            "decfloat=utf8",
        ),
        (
            column(SqlType::VARYING, 9, 0, none),
            &[],
            Value::Text(vec![b'a', 0xe4, b'b']),
            DecodeErrorKind::InvalidText,
            "byte 0xe4 at position 1 is not UTF-8; the column has CHARACTER SET NONE: set none_encoding",
        ),
        (varchar(9), &[], Value::Text(vec![0xff]), DecodeErrorKind::InvalidText, "CHARACTER SET OCTETS"),
        (column(SqlType::DATE, 4, 0, 0), &[], Value::Date(MAX_DATE + 1), DecodeErrorKind::Malformed, "years"),
        (column(SqlType::TIME, 4, 0, 0), &[], Value::Time(864_000_000), DecodeErrorKind::Malformed, "time"),
        (
            column(SqlType::TIMESTAMP, 8, 0, 0),
            &[],
            Value::Timestamp(MIN_DATE - 1, 0),
            DecodeErrorKind::Malformed,
            "years",
        ),
    ];
    for (column, switches, value, kind, message) in cases {
        let values = [Value::Null, value.clone(), Value::Null];
        let error = decode(&column, &options(switches), &values).expect_err("no Arrow value");
        assert_eq!((error.kind, error.row, error.column_name.as_str()), (kind, 1, "C"), "{value:?}");
        assert!(error.message.contains(message), "{error}");
    }
}

#[test]
fn declared_precision_counts_only_when_asked_for() {
    let columns = [column(SqlType::INT64, 8, -2, 1), column(SqlType::INT64, 8, -2, 1)];
    let mut options = ReadOptions { declared_precision: vec![Some(10)], ..Default::default() };
    let types =
        |options: &ReadOptions| [0, 1].map(|index| data_type(&columns, index, options).expect("a type"));
    assert_eq!(types(&options), [DataType::Decimal128(10, 2), DataType::Decimal128(18, 2)]);
    options.set("decimal_precision", "storage").expect("a switch");
    assert_eq!(types(&options), [DataType::Decimal128(18, 2), DataType::Decimal128(18, 2)]);
    options.set("decimal_precision", "range").expect("a switch");
    assert_eq!(types(&options), [DataType::Decimal128(19, 2), DataType::Decimal128(19, 2)]);
}

#[test]
fn fields_say_where_they_come_from() {
    let mut name = varchar(20);
    name.relation = "PEOPLE".into();
    name.field = "NAME".into();
    let columns = [name, column(SqlType::BLOB, 8, 0, 7), column(SqlType::DEC16, 8, 0, 0)];
    let schema = schema(&columns, &ReadOptions::default()).expect("a schema");
    let metadata = schema.field(0).metadata();
    assert_eq!(metadata["FIREBIRD:type"], "VARCHAR");
    assert_eq!(metadata["FIREBIRD:length"], "20");
    assert_eq!((&*metadata["FIREBIRD:relation"], &*metadata["FIREBIRD:column"]), ("PEOPLE", "NAME"));
    assert_eq!(schema.field(1).metadata()["FIREBIRD:type"], "BLOB SUB_TYPE BINARY");
    assert_eq!(schema.field(1).metadata()["FIREBIRD:subtype"], "7");
    assert_eq!(schema.field(2).metadata()["FIREBIRD:precision"], "16");
    assert!(schema.fields().iter().all(|field| field.is_nullable() && field.name() == "C"));
}

#[test]
fn extension_types_come_only_when_asked_for() {
    let columns = [column(SqlType::TIMESTAMP_TZ, 12, 0, 0)];
    let key = "ARROW:extension:name";
    let plain = schema(&columns, &ReadOptions::default()).expect("a schema");
    assert!(!plain.field(0).metadata().contains_key(key));
    let with_offset = schema(&columns, &options(&[("timestamptz", "with_offset")])).expect("a schema");
    assert_eq!(with_offset.field(0).metadata()[key], "arrow.timestamp_with_offset");
}

#[test]
fn arrays_of_unknown_origin_are_refused_by_name() {
    let error = schema(&[column(SqlType::ARRAY, 8, 0, 0)], &ReadOptions::default())
        .expect_err("nobody knows its type");
    assert_eq!((error.column, error.column_name.as_str()), (0, "C"));
    assert!(error.message.starts_with("the engine does not say which column"), "{error}");
}

#[test]
fn null_rows_of_fixed_size_are_zero() {
    let octets = i32::from(charset_id::OCTETS);
    let array = decode(
        &column(SqlType::TEXT, 2, 0, octets),
        &ReadOptions::default(),
        &[Value::Null, Value::Text(vec![1, 2])],
    );
    let array = array.expect("legal");
    assert_eq!(array.as_fixed_size_binary().value_data(), [0, 0, 1, 2]);
}
