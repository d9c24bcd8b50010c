//! Every scalar type, out and in: literals read as Arrow values, the same Arrow values sent as parameters and read
//! back equal.

use crate::support::{column, fresh, run};
use arrow::array::*;
use arrow::datatypes::DataType;
use firearrow::Params;
use firearrow_testkit::{Generation, Target};
use std::sync::Arc;

/// A column type with SQL literals and the Arrow values that they are.
pub(crate) struct Case {
    /// Declaration in CREATE TABLE.
    pub(crate) declaration: &'static str,
    /// The first release that has it.
    pub(crate) since: Generation,
    /// SQL expressions; each column holds them in order, NULL at the end.
    pub(crate) literals: Vec<String>,
    /// What reading gives.
    pub(crate) expected: ArrayRef,
}

fn case(declaration: &'static str, literals: &[&str], expected: impl Array + 'static) -> Case {
    let literals = literals.iter().map(|literal| (*literal).to_owned()).collect();
    Case { declaration, since: Generation::V3_0, literals, expected: Arc::new(expected) }
}

impl Case {
    fn since_4(self) -> Self {
        Self { since: Generation::V4_0, ..self }
    }
}

fn decimal(precision: u8, scale: i8, values: &[Option<i128>]) -> Decimal128Array {
    Decimal128Array::from(values.to_vec()).with_precision_and_scale(precision, scale).expect("values fit")
}

const DAY: i64 = 86_400_000_000;

/// All types, with their extremes.
pub(crate) fn cases() -> Vec<Case> {
    let long_text = "x".repeat(8000);
    let mut cases = vec![
        case(
            "SMALLINT",
            &["0", "-32768", "32767", "NULL"],
            Int16Array::from(vec![Some(0), Some(i16::MIN), Some(i16::MAX), None]),
        ),
        case(
            "INTEGER",
            &["-2147483648", "2147483647", "NULL"],
            Int32Array::from(vec![Some(i32::MIN), Some(i32::MAX), None]),
        ),
        case(
            "BIGINT",
            &["CAST('-9223372036854775808' AS BIGINT)", "9223372036854775807", "NULL"],
            Int64Array::from(vec![Some(i64::MIN), Some(i64::MAX), None]),
        ),
        case("NUMERIC(4, 2)", &["-99.99", "0.01", "NULL"], decimal(4, 2, &[Some(-9999), Some(1), None])),
        case("DECIMAL(9, 3)", &["123456.789", "NULL"], decimal(9, 3, &[Some(123_456_789), None])),
        case(
            "NUMERIC(18, 4)",
            &["-12345678901234.5678", "99999999999999.9999", "NULL"],
            decimal(18, 4, &[Some(-123_456_789_012_345_678), Some(999_999_999_999_999_999), None]),
        ),
        case(
            "DECIMAL(18, 0)",
            &["999999999999999999", "NULL"],
            decimal(18, 0, &[Some(999_999_999_999_999_999), None]),
        ),
        case("FLOAT", &["1.5", "-0.25", "NULL"], Float32Array::from(vec![Some(1.5), Some(-0.25), None])),
        case(
            "DOUBLE PRECISION",
            &["0.1e0", "-1.7976931348623157e308", "0.000030517578125e0", "NULL"],
            Float64Array::from(vec![Some(0.1), Some(f64::MIN), Some(0.000030517578125), None]),
        ),
        case("BOOLEAN", &["TRUE", "FALSE", "NULL"], BooleanArray::from(vec![Some(true), Some(false), None])),
        case(
            "DATE",
            &["DATE '0001-01-01'", "DATE '1970-01-01'", "DATE '9999-12-31'", "NULL"],
            Date32Array::from(vec![Some(-719_162), Some(0), Some(2_932_896), None]),
        ),
        case(
            "TIME",
            &["TIME '00:00:00'", "TIME '12:34:56.7891'", "TIME '23:59:59.9999'", "NULL"],
            Time64MicrosecondArray::from(vec![Some(0), Some(45_296_789_100), Some(DAY - 100), None]),
        ),
        case(
            "TIMESTAMP",
            &[
                "TIMESTAMP '0001-01-01 00:00:00'",
                "TIMESTAMP '1969-12-31 23:59:59.9999'",
                "TIMESTAMP '9999-12-31 23:59:59.9999'",
                "NULL",
            ],
            TimestampMicrosecondArray::from(vec![
                Some(-719_162 * DAY),
                Some(-100),
                Some(2_932_897 * DAY - 100),
                None,
            ]),
        ),
        case(
            "VARCHAR(8000) CHARACTER SET UTF8",
            &["''", "'grün 日本 🐘'", &format!("'{long_text}'"), "NULL"],
            StringArray::from(vec![Some(""), Some("grün 日本 🐘"), Some(&long_text), None]),
        ),
        case(
            "CHAR(5) CHARACTER SET UTF8",
            &["'ab'", "'äöüß🐘'", "NULL"],
            StringArray::from(vec![Some("ab   "), Some("äöüß🐘"), None]),
        ),
        case(
            "VARCHAR(20) CHARACTER SET WIN1252",
            &["'Größe €'", "NULL"],
            StringArray::from(vec![Some("Größe €"), None]),
        ),
        case(
            "CHAR(4) CHARACTER SET ISO8859_1",
            &["'é'", "NULL"],
            StringArray::from(vec![Some("é   "), None]),
        ),
        case(
            "VARCHAR(10) CHARACTER SET WIN1251",
            &["'Жук'", "NULL"],
            StringArray::from(vec![Some("Жук"), None]),
        ),
        case(
            "VARCHAR(10) CHARACTER SET ASCII",
            &["'plain'", "NULL"],
            StringArray::from(vec![Some("plain"), None]),
        ),
        case(
            "VARCHAR(10) CHARACTER SET NONE",
            &["'plain'", "NULL"],
            StringArray::from(vec![Some("plain"), None]),
        ),
        case(
            "CHAR(4) CHARACTER SET OCTETS",
            &["x'00FF1080'", "NULL"],
            FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                [Some(vec![0_u8, 0xff, 0x10, 0x80]), None].into_iter(),
                4,
            )
            .expect("equal sizes"),
        ),
        case(
            "VARCHAR(10) CHARACTER SET OCTETS",
            &["x''", "x'00FF'", "NULL"],
            BinaryArray::from(vec![Some(&b""[..]), Some(&[0, 0xff]), None]),
        ),
        case(
            "BLOB SUB_TYPE TEXT CHARACTER SET UTF8",
            &["''", "'grün 日本 🐘'", "NULL"],
            StringArray::from(vec![Some(""), Some("grün 日本 🐘"), None]),
        ),
        case(
            "BLOB SUB_TYPE TEXT CHARACTER SET WIN1252",
            &["'Größe €'", "NULL"],
            StringArray::from(vec![Some("Größe €"), None]),
        ),
        case(
            "BLOB SUB_TYPE BINARY",
            &["x'00FF1080'", "NULL"],
            BinaryArray::from(vec![Some(&[0, 0xff, 0x10, 0x80][..]), None]),
        ),
    ];
    cases.extend(cases_since_4());
    cases
}

fn cases_since_4() -> Vec<Case> {
    let most = 10_i128.pow(38) - 1;
    let digits = "9".repeat(38);
    vec![
        case(
            "INT128",
            &["-1", &digits, &format!("-{digits}"), "NULL"],
            decimal(38, 0, &[Some(-1), Some(most), Some(-most), None]),
        )
        .since_4(),
        case(
            "NUMERIC(38, 8)",
            &["-123456789012345678901234567890.12345678", "NULL"],
            decimal(38, 8, &[Some(-12_345_678_901_234_567_890_123_456_789_012_345_678), None]),
        )
        .since_4(),
        case(
            "DECFLOAT(16)",
            &["1.50", "-9.999999999999999E384", "0", "NULL"],
            StringArray::from(vec![Some("1.50"), Some("-9.999999999999999E+384"), Some("0"), None]),
        )
        .since_4(),
        case(
            "DECFLOAT(34)",
            &["1E400", "-0.001", "1234567890123456789012345678901234", "NULL"],
            StringArray::from(vec![
                Some("1E+400"),
                Some("-0.001"),
                Some("1234567890123456789012345678901234"),
                None,
            ]),
        )
        .since_4(),
        case(
            "TIME WITH TIME ZONE",
            &["TIME '13:45:31.1234 -03:00'", "TIME '00:00:00 UTC'", "NULL"],
            StringArray::from(vec![Some("13:45:31.1234 -03:00"), Some("00:00:00.0000 UTC"), None]),
        )
        .since_4(),
        case(
            "TIMESTAMP WITH TIME ZONE",
            &[
                "TIMESTAMP '1970-01-01 01:00:00 +01:00'",
                "TIMESTAMP '2024-07-01 12:00:00.5 Europe/Berlin'",
                "NULL",
            ],
            TimestampMicrosecondArray::from(vec![Some(0), Some(1_719_828_000_500_000), None])
                .with_timezone("UTC"),
        )
        .since_4(),
        case(
            "BINARY(3)",
            &["x'010203'", "NULL"],
            FixedSizeBinaryArray::try_from_sparse_iter_with_size([Some([1_u8, 2, 3]), None].into_iter(), 3)
                .expect("equal sizes"),
        )
        .since_4(),
        case("VARBINARY(3)", &["x'01'", "NULL"], BinaryArray::from(vec![Some(&[1_u8][..]), None])).since_4(),
    ]
}

/// Writes the literals, reads them, sends what was read as parameters and reads that.
pub(crate) fn round_trip(target: &Target, case: &Case) -> Result<(), String> {
    let connection = fresh(target);
    run(&connection, &format!("CREATE TABLE t (id INTEGER, c {}, p {})", case.declaration, case.declaration));
    for (id, literal) in case.literals.iter().enumerate() {
        run(&connection, &format!("INSERT INTO t (id, c) VALUES ({id}, {literal})"));
    }
    // Expressions are described like columns but take another path in the engine.
    let read = column(&connection, "SELECT c FROM t ORDER BY id");
    compare("literals", &case.expected, &read)?;
    let update = connection.prepare("UPDATE t SET p = ? WHERE id = ?").map_err(|error| error.to_string())?;
    let mut transaction = connection.begin(Default::default()).map_err(|error| error.to_string())?;
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..read.len() as i32));
    let executed = update
        .execute(&mut transaction, Params::row([Arc::clone(&read), ids]))
        .map_err(|error| format!("parameters: {error}"))?;
    transaction.commit().map_err(|error| error.to_string())?;
    if executed.affected_rows != Some(read.len() as u64) {
        return Err(format!("{:?} rows updated, not {}", executed.affected_rows, read.len()));
    }
    compare("parameters", &case.expected, &column(&connection, "SELECT p FROM t ORDER BY id"))?;
    let same = column(&connection, "SELECT COUNT(*) FROM t WHERE c IS NOT DISTINCT FROM p");
    compare(
        "equality in the engine",
        &(Arc::new(Int64Array::from(vec![read.len() as i64])) as ArrayRef),
        &same,
    )
}

fn compare(what: &str, expected: &ArrayRef, found: &ArrayRef) -> Result<(), String> {
    // The declared precision is not on the wire: storage decides, the values must be the same.
    let found: ArrayRef = match (expected.data_type(), found.data_type()) {
        (DataType::Decimal128(precision, scale), DataType::Decimal128(_, same)) if scale == same => {
            let found = found.as_primitive::<arrow::datatypes::Decimal128Type>().clone();
            let found =
                found.with_precision_and_scale(*precision, *scale).map_err(|error| error.to_string())?;
            Arc::new(found)
        }
        _ => Arc::clone(found),
    };
    if expected.as_ref() == found.as_ref() {
        Ok(())
    } else {
        Err(format!("{what}: expected {expected:?}, found {found:?}"))
    }
}

/// Every type that the target has.
pub(crate) fn all_types(target: &Target) {
    let cases = cases();
    let cases = cases.iter().filter(|case| case.since <= target.generation());
    let failures: Vec<String> = cases
        .filter_map(|case| {
            round_trip(target, case).err().map(|error| format!("{}: {error}", case.declaration))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
