//! Types both ways: Arrow columns into new tables, and back.

use crate::support::{batch, fails, fresh, query, set, statement};
use adbc_core::error::Status;
use adbc_core::options::OptionStatement;
use adbc_core::{Connection, Optionable, Statement};
use arrow::array::*;
use arrow::compute::cast;
use arrow::datatypes::*;
use firearrow_testkit::{Generation, Target, matrix};
use half::f16;
use std::collections::HashMap;
use std::sync::Arc;

/// A column, what it becomes, and the type in which it comes back; its values are the same unless given.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) column: ArrayRef,
    pub(crate) sql: &'static str,
    pub(crate) expected: ArrayRef,
}

fn case(name: &'static str, column: impl Array + 'static, sql: &'static str, back: DataType) -> Case {
    let column: ArrayRef = Arc::new(column);
    let expected = cast(&column, &back).expect("Arrow can do that");
    Case { name, column, sql, expected }
}

fn decimal(values: Vec<Option<i128>>, precision: u8, scale: i8) -> Decimal128Array {
    Decimal128Array::from(values).with_precision_and_scale(precision, scale).expect("they fit")
}

fn wide(values: Vec<Option<i128>>, precision: u8, scale: i8) -> Decimal256Array {
    let values: Decimal256Array = values.into_iter().map(|value| value.map(i256::from_i128)).collect();
    values.with_precision_and_scale(precision, scale).expect("they fit")
}

/// Columns for servers from Firebird 4 on, or for older ones.
pub(crate) fn cases(modern: bool) -> Vec<Case> {
    use DataType as T;
    let texts = vec![Some("a"), None, Some("größe\n"), Some("")];
    let bytes: Vec<Option<&[u8]>> = vec![Some(b"\x00\xff"), None, Some(b"x"), Some(b"")];
    let micros = vec![Some(0), None, Some(1_600_000_000_123_400), Some(-1_000_000)];
    let utc = T::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
    let mut cases = vec![
        case(
            "bool",
            BooleanArray::from(vec![Some(true), None, Some(false), Some(true)]),
            "BOOLEAN",
            T::Boolean,
        ),
        case(
            "int8",
            Int8Array::from(vec![Some(i8::MIN), None, Some(0), Some(i8::MAX)]),
            "SMALLINT",
            T::Int16,
        ),
        case(
            "int16",
            Int16Array::from(vec![Some(i16::MIN), None, Some(0), Some(i16::MAX)]),
            "SMALLINT",
            T::Int16,
        ),
        case(
            "int32",
            Int32Array::from(vec![Some(i32::MIN), None, Some(0), Some(i32::MAX)]),
            "INTEGER",
            T::Int32,
        ),
        case(
            "int64",
            Int64Array::from(vec![Some(i64::MIN), None, Some(0), Some(i64::MAX)]),
            "BIGINT",
            T::Int64,
        ),
        case("uint8", UInt8Array::from(vec![Some(0), None, Some(1), Some(u8::MAX)]), "SMALLINT", T::Int16),
        case("uint16", UInt16Array::from(vec![Some(0), None, Some(1), Some(u16::MAX)]), "INTEGER", T::Int32),
        case("uint32", UInt32Array::from(vec![Some(0), None, Some(1), Some(u32::MAX)]), "BIGINT", T::Int64),
        case(
            "float32",
            Float32Array::from(vec![Some(f32::MIN), None, Some(-0.0), Some(1.5)]),
            "FLOAT",
            T::Float32,
        ),
        case(
            "float64",
            Float64Array::from(vec![Some(f64::MIN), None, Some(-0.0), Some(1e-300)]),
            "DOUBLE PRECISION",
            T::Float64,
        ),
        case(
            "float16",
            Float16Array::from(vec![Some(f16::from_f32(1.5)), None, Some(f16::ZERO), None]),
            "FLOAT",
            T::Float32,
        ),
        case(
            "decimal4",
            decimal(vec![Some(-9999), None, Some(0), Some(1)], 4, 2),
            "NUMERIC",
            T::Decimal128(4, 2),
        ),
        case(
            "decimal18",
            decimal(vec![Some(-999_999_999_999_999_999), None, Some(0), None], 18, 0),
            "NUMERIC",
            T::Decimal128(18, 0),
        ),
        case(
            "decimal32",
            Decimal32Array::from(vec![Some(12345), None, Some(0), None])
                .with_precision_and_scale(7, 3)
                .expect("fits"),
            "NUMERIC",
            T::Decimal128(7, 3),
        ),
        case(
            "decimal64",
            Decimal64Array::from(vec![Some(12345), None, Some(0), None])
                .with_precision_and_scale(15, 1)
                .expect("fits"),
            "NUMERIC",
            T::Decimal128(15, 1),
        ),
        case(
            "decimal256",
            wide(vec![Some(-12345), None, Some(0), None], 12, 3),
            "NUMERIC",
            T::Decimal128(12, 3),
        ),
        case(
            "negative",
            decimal(vec![Some(12), None, Some(0), Some(-7)], 3, -2),
            "NUMERIC",
            T::Decimal128(5, 0),
        ),
        case("utf8", StringArray::from(texts.clone()), "VARCHAR", T::Utf8),
        case("large_utf8", LargeStringArray::from(texts.clone()), "VARCHAR", T::Utf8),
        case("utf8_view", StringViewArray::from(texts.clone()), "VARCHAR", T::Utf8),
        case("binary", BinaryArray::from_opt_vec(bytes.clone()), "BLOB SUB_TYPE BINARY", T::Binary),
        case(
            "large_binary",
            LargeBinaryArray::from_opt_vec(bytes.clone()),
            "BLOB SUB_TYPE BINARY",
            T::Binary,
        ),
        case("binary_view", BinaryViewArray::from(bytes), "BLOB SUB_TYPE BINARY", T::Binary),
        case(
            "date32",
            Date32Array::from(vec![Some(-719_162), None, Some(0), Some(2_932_896)]),
            "DATE",
            T::Date32,
        ),
        case(
            "date64",
            Date64Array::from(vec![Some(0), None, Some(86_400_000), Some(-86_400_000)]),
            "DATE",
            T::Date32,
        ),
        case(
            "time32s",
            Time32SecondArray::from(vec![Some(0), None, Some(86_399), None]),
            "TIME",
            T::Time64(TimeUnit::Microsecond),
        ),
        case(
            "time32ms",
            Time32MillisecondArray::from(vec![Some(0), None, Some(86_399_999), None]),
            "TIME",
            T::Time64(TimeUnit::Microsecond),
        ),
        case(
            "time64us",
            Time64MicrosecondArray::from(vec![Some(0), None, Some(86_399_999_900), None]),
            "TIME",
            T::Time64(TimeUnit::Microsecond),
        ),
        case(
            "time64ns",
            Time64NanosecondArray::from(vec![Some(0), None, Some(86_399_999_900_000), None]),
            "TIME",
            T::Time64(TimeUnit::Microsecond),
        ),
        case(
            "ts_s",
            TimestampSecondArray::from(vec![Some(0), None, Some(1_600_000_000), Some(-1)]),
            "TIMESTAMP",
            T::Timestamp(TimeUnit::Microsecond, None),
        ),
        case(
            "ts_ms",
            TimestampMillisecondArray::from(vec![Some(0), None, Some(1_600_000_000_123), Some(-1)]),
            "TIMESTAMP",
            T::Timestamp(TimeUnit::Microsecond, None),
        ),
        case(
            "ts_ns",
            TimestampNanosecondArray::from(vec![
                Some(0),
                None,
                Some(1_600_000_000_123_400_000),
                Some(-100_000),
            ]),
            "TIMESTAMP",
            T::Timestamp(TimeUnit::Microsecond, None),
        ),
        case(
            "ts_us",
            TimestampMicrosecondArray::from(micros.clone()),
            "TIMESTAMP",
            T::Timestamp(TimeUnit::Microsecond, None),
        ),
        case(
            "dictionary",
            [Some("a"), None, Some("a"), Some("b")].into_iter().collect::<DictionaryArray<Int8Type>>(),
            "VARCHAR",
            T::Utf8,
        ),
        // Runs: one value, NULL, and another value twice.
        case(
            "runs",
            RunArray::try_new(
                &Int32Array::from(vec![1, 2, 4]),
                &StringArray::from(vec![Some("a"), None, Some("größe")]),
            )
            .expect("runs"),
            "VARCHAR",
            T::Utf8,
        ),
    ];
    let fixed = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
        [Some([0u8, 1, 2]), None, Some([9, 9, 9]), None].into_iter(),
        3,
    );
    cases.push(case("fixed", fixed.expect("equal lengths"), "BINARY", T::FixedSizeBinary(3)));
    let zoned = TimestampMicrosecondArray::from(micros).with_timezone("Europe/Berlin");
    if modern {
        cases.push(case("zoned", zoned, "TIMESTAMP WITH TIME ZONE", utc));
        cases.push(case(
            "uint64",
            UInt64Array::from(vec![Some(0), None, Some(1), Some(u64::MAX)]),
            "NUMERIC",
            T::Decimal128(20, 0),
        ));
        cases.push(case(
            "decimal38",
            decimal(vec![Some(10i128.pow(38) - 1), None, Some(0), None], 38, 10),
            "NUMERIC",
            T::Decimal128(38, 10),
        ));
        cases.push(case(
            "decimal256_38",
            wide(vec![Some(10i128.pow(38) - 1), None, Some(-1), None], 38, 10),
            "NUMERIC",
            T::Decimal128(38, 10),
        ));
        let texts = [Some("-9999999999999999999999999999.999999"), None, Some("0.000001"), Some("1.500000")];
        cases.push(Case {
            name: "decimal50",
            column: Arc::new(wide(vec![Some(1 - 10i128.pow(34)), None, Some(1), Some(1_500_000)], 50, 6)),
            sql: "DECFLOAT",
            expected: Arc::new(StringArray::from(texts.to_vec())),
        });
    } else {
        let plain = cast(&cast(&zoned, &utc).expect("UTC"), &T::Timestamp(TimeUnit::Microsecond, None))
            .expect("plain");
        cases.push(Case { name: "zoned", column: Arc::new(zoned), sql: "TIMESTAMP", expected: plain });
        let most = || vec![Some(10i128.pow(18) - 1), None, Some(-1), None];
        cases.push(case("decimal38", decimal(most(), 38, 10), "NUMERIC", T::Decimal128(18, 10)));
        cases.push(case("decimal256_38", wide(most(), 38, 10), "NUMERIC", T::Decimal128(18, 10)));
        cases.push(case("decimal50", wide(most(), 50, 6), "NUMERIC", T::Decimal128(18, 6)));
        cases.push(case(
            "uint64",
            UInt64Array::from(vec![Some(0), None, Some(1), Some(9)]),
            "NUMERIC",
            T::Decimal128(18, 0),
        ));
    }
    cases.push(Case {
        name: "null",
        column: Arc::new(NullArray::new(4)),
        sql: "VARCHAR",
        expected: new_null_array(&T::Utf8, 4),
    });
    cases
}

matrix!(
    all,
    fn arrow_types_come_back_as_the_table_says(target: &Target) {
        let mut connection = fresh(target);
        for case in cases(target.generation() >= Generation::V4_0) {
            let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..4));
            let mut statement = connection.new_statement().expect("it is cheap");
            statement.set_option(OptionStatement::TargetTable, case.name.into()).expect("it is known");
            statement.bind(batch([("id", ids), ("v", Arc::clone(&case.column))])).expect("it is taken");
            let written = statement.execute_update().unwrap_or_else(|error| panic!("{}: {error}", case.name));
            assert_eq!(written, Some(4), "{}", case.name);
            let found =
                query(&mut connection, &format!("SELECT \"v\" FROM \"{}\" ORDER BY \"id\"", case.name));
            assert_eq!(found.column(0), &case.expected, "{}", case.name);
            assert_eq!(found.schema().field(0).metadata()["FIREBIRD:type"], case.sql, "{}", case.name);
        }
    },
    fn what_arrow_calls_extensions_is_understood(target: &Target) {
        let mut connection = fresh(target);
        let field = |name: &str, data_type, extension: &str| {
            let metadata = [("ARROW:extension:name".to_owned(), extension.to_owned())];
            Field::new(name, data_type, true).with_metadata(HashMap::from(metadata))
        };
        let schema = Schema::new(vec![
            field("F", DataType::Int8, "arrow.bool8"),
            field("U", DataType::FixedSizeBinary(16), "arrow.uuid"),
            field("J", DataType::Utf8, "arrow.json"),
            field("O", DataType::Int32, "somebody.else"),
        ]);
        let uuid = FixedSizeBinaryArray::try_from_iter([[7u8; 16]].into_iter()).expect("equal lengths");
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int8Array::from(vec![5])),
            Arc::new(uuid),
            Arc::new(StringArray::from(vec!["{}"])),
            Arc::new(Int32Array::from(vec![3])),
        ];
        let data = RecordBatch::try_new(Arc::new(schema), columns).expect("it fits");
        let mut statement = connection.new_statement().expect("it is cheap");
        statement.set_option(OptionStatement::TargetTable, "T".into()).expect("it is known");
        statement.bind(data).expect("it is taken");
        assert_eq!(statement.execute_update(), Ok(Some(1)));
        let found = query(&mut connection, "SELECT f, u, j, o FROM t");
        assert!(found.column(0).as_boolean().value(0));
        assert_eq!(found.column(1).as_fixed_size_binary().value(0), [7; 16]);
        assert_eq!(found.column(2).as_string::<i32>().value(0), "{}");
        assert_eq!(found.column(3).as_primitive::<Int32Type>().value(0), 3);
    },
    fn switches_change_types(target: &Target) {
        let mut connection = fresh(target);
        let types = |connection: &mut adbc_driver_manager::ManagedConnection, sql: &str| {
            let found = query(connection, sql);
            (
                found.column(0).data_type().clone(),
                arrow::util::display::array_value_to_string(found.column(0), 0).expect("text"),
            )
        };
        for (key, value, sql, data_type, shown) in [
            ("type.text", "large_utf8", "SELECT 'x' FROM RDB$DATABASE", DataType::LargeUtf8, "x"),
            (
                "type.text",
                "utf8_view",
                "SELECT 'longer than a view' FROM RDB$DATABASE",
                DataType::Utf8View,
                "longer than a view",
            ),
            (
                "type.text",
                "utf8_view",
                "SELECT CAST('contents of a BLOB' AS BLOB SUB_TYPE TEXT) FROM RDB$DATABASE",
                DataType::Utf8View,
                "contents of a BLOB",
            ),
            (
                "type.binary",
                "binary",
                "SELECT CAST('x' AS CHAR(1) CHARACTER SET OCTETS) FROM RDB$DATABASE",
                DataType::Binary,
                "78",
            ),
            ("type.trim_char", "true", "SELECT CAST('x' AS CHAR(5)) FROM RDB$DATABASE", DataType::Utf8, "x"),
            (
                "none_encoding",
                "windows-1252",
                "SELECT CAST(x'e4' AS VARCHAR(1) CHARACTER SET NONE) FROM RDB$DATABASE",
                DataType::Utf8,
                "ä",
            ),
        ] {
            let key = format!("adbc.firebird.{key}");
            set(&mut connection, &key, value).expect("it is known");
            assert_eq!(types(&mut connection, sql), (data_type, shown.to_owned()), "{key}");
            let default = firearrow_adbc::option::find(&key).expect("it is known").default;
            set(&mut connection, &key, default).expect("it is known");
        }
        crate::support::run(&mut connection, "CREATE TABLE t (n NUMERIC(10, 2), d DECIMAL(4, 2))");
        for (value, wide) in [("declared", 10), ("storage", 18), ("range", 19)] {
            set(&mut connection, "adbc.firebird.type.decimal_precision", value).expect("it is known");
            let schema = statement(&mut connection, "SELECT n FROM t").execute_schema().expect("valid");
            assert_eq!(schema.field(0).data_type(), &DataType::Decimal128(wide, 2), "{value}");
        }
        if target.generation() < Generation::V4_0 {
            return;
        }
        for (key, value, sql, data_type, shown) in [
            ("int128", "utf8", "SELECT CAST(5 AS INT128) FROM RDB$DATABASE", DataType::Utf8, "5"),
            (
                "decfloat",
                "float64",
                "SELECT CAST(1.5 AS DECFLOAT(16)) FROM RDB$DATABASE",
                DataType::Float64,
                "1.5",
            ),
            (
                "timetz",
                "time64_utc",
                "SELECT TIME '10:00 +02:00' FROM RDB$DATABASE",
                DataType::Time64(TimeUnit::Microsecond),
                "08:00:00",
            ),
            (
                "timestamptz",
                "utf8",
                "SELECT TIMESTAMP '2020-01-01 10:00 +02:00' FROM RDB$DATABASE",
                DataType::Utf8,
                "2020-01-01 10:00:00.0000 +02:00",
            ),
        ] {
            let key = format!("adbc.firebird.type.{key}");
            set(&mut connection, &key, value).expect("it is known");
            assert_eq!(types(&mut connection, sql), (data_type, shown.to_owned()), "{key}");
        }
    },
    fn values_beyond_their_declared_precision_are_errors(target: &Target) {
        let mut connection = fresh(target);
        crate::support::run(&mut connection, "CREATE TABLE t (n NUMERIC(4, 2))");
        crate::support::run(&mut connection, "INSERT INTO t VALUES (327.67)");
        let mut select = statement(&mut connection, "SELECT n FROM t");
        fails(select.execute_update(), Status::InvalidData);
        let key = OptionStatement::Other("adbc.firebird.type.decimal_precision".into());
        select.set_option(key, "range".into()).expect("it is known");
        let found = crate::support::rows(select.execute().expect("it runs"));
        assert_eq!(found.column(0).as_primitive::<Decimal128Type>().value(0), 32_767);
    },
    fn precision_follows_the_declaration(target: &Target) {
        let mut connection = fresh(target);
        for key in ["adbc.connection.autocommit", "adbc.firebird.ddl_autocommit"] {
            set(&mut connection, key, "false").expect("it is known");
        }
        for (sql, precision) in
            [("CREATE TABLE t (n NUMERIC(10, 2))", 10), ("ALTER TABLE t ALTER n TYPE NUMERIC(12, 2)", 12)]
        {
            crate::support::run(&mut connection, sql);
            connection.commit().expect("it is defined");
            let schema = statement(&mut connection, "SELECT n FROM t").execute_schema().expect("a schema");
            assert_eq!(*schema.field(0).data_type(), DataType::Decimal128(precision, 2), "{sql}");
            connection.commit().expect("nothing has happened");
        }
    }
);
