//! Values of every C type for parameters of every type, read back as text that the server makes.

use crate::odbc::*;
use crate::parameter::*;
use crate::support::{Connection, fresh};
use firearrow_testkit::{Target, matrix};

/// What binding and executing came to: the value as text that the server makes, or the SQLSTATE.
fn stored(connection: &Connection, of: &str, value: &mut Values) -> Result<Option<String>, String> {
    connection.run("DELETE FROM T");
    let statement = connection.statement();
    statement.prepare("INSERT INTO T VALUES (?)");
    statement.bind(1, INPUT, value);
    if statement.execute() != SUCCESS {
        assert_eq!(connection.texts("SELECT COUNT(*) FROM T")[0][0].as_deref(), Some("0"), "{of}");
        return Err(statement.state());
    }
    let text = connection.texts("SELECT CAST(V AS VARCHAR(200)) FROM T");
    Ok(text[0][0].clone())
}

/// Checks what becomes of values in a column of this type.
fn check(target: &Target, of: &str, cases: Vec<(Values, Result<&str, &str>)>) {
    let connection = fresh(target);
    connection.run(&format!("CREATE TABLE T (V {of})"));
    let mut wrong = Vec::new();
    for (mut value, expected) in cases {
        let found = stored(&connection, of, &mut value);
        let expected = expected.map(|text| Some(text.to_owned())).map_err(str::to_owned);
        if found != expected {
            wrong.push(format!("C type {} {:?}: {found:?}, not {expected:?}", value.c_type, value.data));
        }
        let mut null = Values { lengths: vec![NULL_DATA], ..value };
        assert_eq!(stored(&connection, of, &mut null), Ok(None), "{of}: {null:?}");
    }
    assert!(wrong.is_empty(), "{of}: {wrong:#?}");
}

/// 19 bytes of `SQL_NUMERIC_STRUCT`.
fn numeric(value: i128, digits: i16) -> Values {
    let mut bytes = vec![38, digits as u8, u8::from(value >= 0)];
    bytes.extend(value.unsigned_abs().to_le_bytes());
    Values::one(C_NUMERIC, 2, &bytes).with_digits(38, digits)
}

/// The number one in every C type that has numbers.
fn ones() -> Vec<Values> {
    vec![
        Values::one(C_BIT, -7, &[1]),
        Values::one(C_STINYINT, -6, &[1]),
        Values::one(C_UTINYINT, -6, &[1]),
        Values::one(C_SSHORT, 5, &1_i16.to_ne_bytes()),
        Values::one(C_USHORT, 5, &1_u16.to_ne_bytes()),
        Values::one(C_SLONG, 4, &1_i32.to_ne_bytes()),
        Values::one(C_ULONG, 4, &1_u32.to_ne_bytes()),
        Values::one(C_SBIGINT, -5, &1_i64.to_ne_bytes()),
        Values::one(C_UBIGINT, -5, &1_u64.to_ne_bytes()),
        Values::one(C_FLOAT, 7, &1_f32.to_ne_bytes()),
        Values::one(C_DOUBLE, 8, &1_f64.to_ne_bytes()),
        numeric(1, 0),
        Values::text("1"),
        Values::text(" 1 "),
        Values::wide("1"),
    ]
}

fn all(
    values: Vec<Values>,
    expected: Result<&'static str, &'static str>,
) -> Vec<(Values, Result<&'static str, &'static str>)> {
    values.into_iter().map(|value| (value, expected)).collect()
}

fn texts<'a>(cases: &[(&'a str, Result<&'a str, &'a str>)]) -> Vec<(Values, Result<&'a str, &'a str>)> {
    let both = |&(text, expected)| [(Values::text(text), expected), (Values::wide(text), expected)];
    cases.iter().flat_map(both).collect()
}

fn long(value: i32) -> Values {
    Values::one(C_SLONG, 4, &value.to_ne_bytes())
}

fn big(value: i64) -> Values {
    Values::one(C_SBIGINT, -5, &value.to_ne_bytes())
}

fn huge(value: u64) -> Values {
    Values::one(C_UBIGINT, -5, &value.to_ne_bytes())
}

fn double(value: f64) -> Values {
    Values::one(C_DOUBLE, 8, &value.to_ne_bytes())
}

fn date(year: i16, month: u16, day: u16) -> Values {
    let bytes = [year.to_ne_bytes(), month.to_ne_bytes(), day.to_ne_bytes()].concat();
    Values::one(C_DATE, 91, &bytes)
}

fn time(hour: u16, minute: u16, second: u16) -> Values {
    let bytes = [hour.to_ne_bytes(), minute.to_ne_bytes(), second.to_ne_bytes()].concat();
    Values::one(C_TIME, 92, &bytes)
}

fn timestamp(date: &Values, time: &Values, nanoseconds: u32) -> Values {
    let bytes = [&date.data[..], &time.data, &nanoseconds.to_ne_bytes()].concat();
    Values::one(C_TIMESTAMP, 93, &bytes).with_digits(24, 4)
}

matrix!(
    all,
    fn integers_take_numbers_within_their_range(target: &Target) {
        for (of, least, most) in [
            ("SMALLINT", i64::from(i16::MIN), i64::from(i16::MAX)),
            ("INTEGER", i64::from(i32::MIN), i64::from(i32::MAX)),
            ("BIGINT", i64::MIN, i64::MAX),
        ] {
            let (lowest, highest) = (least.to_string(), most.to_string());
            let mut cases = all(ones(), Ok("1"));
            cases.extend([(big(least), Ok(lowest.as_str())), (big(most), Ok(highest.as_str()))]);
            cases.extend([(huge(most as u64), Ok(highest.as_str())), (huge(u64::MAX), Err("22003"))]);
            if least > i64::MIN {
                cases.extend([(big(least - 1), Err("22003")), (big(most + 1), Err("22003"))]);
                cases.push((double(least as f64), Ok(lowest.as_str())));
            }
            cases.extend(texts(&[(&highest, Ok(&highest)), (&lowest, Ok(&lowest))]));
            cases.extend(texts(&[("99999999999999999999", Err("22003")), ("x", Err("22018"))]));
            cases.extend(texts(&[("", Err("22018")), ("1e1", Ok("10"))]));
            cases.extend([(double(1e30), Err("22003")), (double(f64::NAN), Err("22003"))]);
            cases.extend([(date(2024, 1, 2), Err("07006")), (time(1, 2, 3), Err("07006"))]);
            check(target, of, cases);
        }
    },
    fn exact_numbers_keep_their_digits(target: &Target) {
        let mut cases = all(ones(), Ok("1.00"));
        cases.extend([
            (numeric(1_234_567, 2), Ok("12345.67")),
            (numeric(-5, 2), Ok("-0.05")),
            (numeric(15, 1), Ok("1.50")),
            (double(0.07).with_digits(9, 2), Ok("0.07")),
            (Values { sql_type: 2, ..double(1.005).with_digits(9, 2) }, Ok("1.01")),
            (Values { sql_type: 3, ..double(-1.005).with_digits(9, 2) }, Ok("-1.01")),
            (long(21_474_836), Ok("21474836.00")),
            (long(i32::MAX), Err("22003")),
            (big(i64::MAX), Err("22003")),
        ]);
        cases.extend(texts(&[("-12.34", Ok("-12.34")), (".5", Ok("0.50")), ("1,5", Err("22018"))]));
        check(target, "NUMERIC(9, 2)", cases);
        let cases = vec![
            (numeric(i128::from(i64::MAX), 4), Ok("922337203685477.5807")),
            (numeric(i128::from(i64::MIN), 4), Ok("-922337203685477.5808")),
            (numeric(i128::from(i64::MAX) + 1, 4), Err("22003")),
            (Values::text("922337203685477.5807"), Ok("922337203685477.5807")),
            (Values::text("922337203685477.5808"), Err("22003")),
        ];
        check(target, "DECIMAL(18, 4)", cases);
    },
    fn floating_point_numbers_keep_all_their_bits(target: &Target) {
        let bits = |value: &mut Values| {
            let connection = fresh(target);
            connection.run("CREATE TABLE T (V DOUBLE PRECISION)");
            stored(&connection, "DOUBLE PRECISION", value)?;
            let statement = connection.statement();
            statement.run("SELECT V FROM T");
            assert_eq!(statement.fetch(), SUCCESS);
            let (mut found, mut length) = (0_f64, 0);
            // SAFETY: the place is there.
            let code =
                unsafe { SQLGetData(statement.handle, 1, C_DOUBLE, (&raw mut found).cast(), 8, &mut length) };
            assert_eq!(code, SUCCESS);
            Ok::<_, String>(found)
        };
        for value in [0.1, -0.0, f64::MAX, f64::MIN_POSITIVE, 1.0 / 3.0, 123_456_789.123_456_79] {
            assert_eq!(bits(&mut double(value)).map(f64::to_bits), Ok(value.to_bits()));
            assert_eq!(bits(&mut Values::text(&format!("{value:e}"))).map(f64::to_bits), Ok(value.to_bits()));
        }
        assert_eq!(bits(&mut Values::text("1e999")), Err("22003".into()));
        assert_eq!(bits(&mut Values::text("one")), Err("22018".into()));
        check(target, "FLOAT", vec![(double(1e300), Err("22003")), (date(2024, 1, 2), Err("07006"))]);
    },
    fn truth_values_are_0_and_1(target: &Target) {
        let mut cases = all(ones(), Ok("TRUE"));
        cases.extend([(long(0), Ok("FALSE")), (long(2), Err("22003")), (double(0.5), Err("22001"))]);
        cases.extend(texts(&[("true", Ok("TRUE")), ("False", Ok("FALSE")), ("0", Ok("FALSE"))]));
        cases.extend(texts(&[("yes", Err("22018")), ("2", Err("22003")), ("", Err("22018"))]));
        cases.push((date(2024, 1, 2), Err("07006")));
        check(target, "BOOLEAN", cases);
    },
    fn dates_and_times_are_exact(target: &Target) {
        let (day, noon) = (date(2024, 2, 29), time(12, 34, 56));
        let mut cases = vec![
            (day.clone(), Ok("2024-02-29")),
            (date(1, 1, 1), Ok("0001-01-01")),
            (date(9999, 12, 31), Ok("9999-12-31")),
            (date(2023, 2, 29), Err("22007")),
            (date(10_000, 1, 1), Err("22008")),
            (date(0, 1, 1), Err("22008")),
            (timestamp(&day, &time(0, 0, 0), 0), Ok("2024-02-29")),
            (timestamp(&day, &noon, 0), Err("22008")),
            (noon.clone(), Err("07006")),
            (long(1), Err("07006")),
        ];
        cases.extend(texts(&[("2024-02-29", Ok("2024-02-29")), ("{d '2024-02-29'}", Ok("2024-02-29"))]));
        cases.extend(texts(&[("x", Err("22018")), ("", Err("22018"))]));
        check(target, "DATE", cases);
        let mut cases = vec![
            (noon.clone(), Ok("12:34:56.0000")),
            (time(23, 59, 59), Ok("23:59:59.0000")),
            (time(24, 0, 0), Err("22007")),
            (timestamp(&day, &noon, 123_456_789), Ok("12:34:56.1234")),
            (day.clone(), Err("07006")),
        ];
        cases.extend(texts(&[("12:34:56.1234567", Ok("12:34:56.1234")), ("12:34", Ok("12:34:00.0000"))]));
        check(target, "TIME", cases);
        let mut cases = vec![
            (timestamp(&day, &noon, 123_456_789), Ok("2024-02-29 12:34:56.1234")),
            (timestamp(&day, &noon, 999_999_999), Ok("2024-02-29 12:34:56.9999")),
            (timestamp(&day, &noon, 1_000_000_000), Err("22007")),
            (day.clone(), Ok("2024-02-29 00:00:00.0000")),
        ];
        let stamp = "2024-02-29 12:34:56.1234";
        cases.extend(texts(&[(stamp, Ok(stamp)), ("{ts '2024-02-29 12:34:56.1234'}", Ok(stamp))]));
        cases.extend(texts(&[("2024-02-30 00:00:00", Err("22018")), ("soon", Err("22018"))]));
        check(target, "TIMESTAMP", cases);
    },
);

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn large_numbers_are_exact(target: &Target) {
        let (least, most) = (i128::MIN.to_string(), i128::MAX.to_string());
        let mut cases = all(ones(), Ok("1"));
        cases.extend([
            (Values::text(&least), Ok(least.as_str())),
            (Values::text(&most), Ok(most.as_str())),
            (Values::text("170141183460469231731687303715884105728"), Err("22003")),
            (numeric(i128::MAX, 0), Ok(most.as_str())),
            (huge(u64::MAX), Ok("18446744073709551615")),
        ]);
        check(target, "INT128", cases);
        let is_real = |value: &Values| matches!(value.c_type, C_FLOAT | C_DOUBLE);
        let (reals, others) = ones().into_iter().partition(is_real);
        let mut cases = [all(others, Ok("1")), all(reals, Ok("1.0"))].concat();
        cases.extend([
            (
                Values::text("-1.234567890123456789012345678901234E+100"),
                Ok("-1.234567890123456789012345678901234E+100"),
            ),
            (Values::text("12345678901234567890123456789012345"), Err("22001")),
            (numeric(123, 2), Ok("1.23")),
            (double(0.1), Ok("0.1")),
            (Values::text("x"), Err("22018")),
        ]);
        check(target, "DECFLOAT(34)", cases);
    },
);
