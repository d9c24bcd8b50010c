//! What functions and literals return, on servers.

use super::super::{claimed, convert, function::FUNCTIONS, translate};
use super::cases::CASES;
use super::{Context, Routine};
use firearrow::{Config, Connection, Dialect, Params, params};
use firearrow_testkit::{Target, matrix};

fn open(target: &Target, dialect: Dialect) -> Connection {
    let mut config = Config::parse(&target.fresh_url()).expect("the testkit's URLs are valid");
    config.create_if_missing = true;
    config.dialect = dialect;
    Connection::open(&config).expect("it can be created")
}

/// The text for the server.
fn sql(target: &Target, dialect: Dialect, text: &str) -> String {
    let release = (u16::from(target.generation().major()), 0);
    let mut routine = |_: Option<&str>, name: &str| match name {
        "TWICE" => Some(Routine::Function),
        "COUNT_TO" => Some(Routine::Procedure { is_selectable: true, inputs: 1 }),
        _ => None,
    };
    let mut context = Context { dialect, release, routine: &mut routine };
    translate(text, &mut context).expect("it is well formed").sql.into_owned()
}

fn value(
    connection: &Connection,
    sql: &str,
    parameters: impl Into<Params>,
) -> Result<Option<String>, String> {
    let failure = |error| format!("{sql}: {error}");
    connection.query_with(sql, parameters).map_err(failure)?.value().map_err(failure)
}

matrix!(
    wire,
    fn escapes_have_their_values(target: &Target) {
        let connection = open(target, Dialect::Three);
        let mut wrong = Vec::new();
        for (escape, expected) in CASES {
            let text =
                format!("SELECT CAST(({escape}) AS VARCHAR(200) CHARACTER SET UTF8) FROM RDB$DATABASE");
            let value = value(&connection, &sql(target, Dialect::Three, &text), Params::none());
            if value != Ok(Some((*expected).to_owned())) {
                wrong.push(format!("{escape}: {value:?}, expected {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    },
    fn escapes_of_dialect_1_have_their_values(target: &Target) {
        let connection = open(target, Dialect::One);
        for (escape, expected) in [
            ("{d '2024-02-29'}", "29-FEB-2024"),
            ("{fn timestampdiff(SQL_TSI_DAY, {fn curdate()}, {fn now()})}", "0"),
            ("{fn quarter({d '2024-04-01'})}", "2"),
            (
                "{fn timestampdiff(SQL_TSI_FRAC_SECOND, {ts '2024-02-29 10:11:12'}, {ts '2024-02-29 10:11:12.1234'})}",
                "123400000.0000000",
            ),
            ("{fn timestampdiff(SQL_TSI_QUARTER, {d '2024-01-01'}, {d '2024-12-01'})}", "3"),
            (
                "{fn hour({fn timestampadd(SQL_TSI_FRAC_SECOND, 1, {fn timestampadd(SQL_TSI_HOUR, 5, {d '2024-02-29'})})})}",
                "5",
            ),
            ("{fn convert('1.25', SQL_DECIMAL)}", "1.250000000000000"),
        ] {
            let text = format!("SELECT CAST(({escape}) AS VARCHAR(200)) FROM RDB$DATABASE");
            let value = value(&connection, &sql(target, Dialect::One, &text), Params::none());
            assert_eq!(value, Ok(Some(expected.to_owned())), "{escape}");
        }
    },
    fn parameters_have_their_order_and_type(target: &Target) {
        let connection = open(target, Dialect::Three);
        let of = |escape: &str, parameters: Params| {
            let text =
                format!("SELECT CAST({escape} AS VARCHAR(200)) FROM RDB$DATABASE WHERE RDB$RELATION_ID > 0");
            value(&connection, &sql(target, Dialect::Three, &text), parameters).map(Option::unwrap_or_default)
        };
        let is = |text: &str| Ok(text.to_owned());
        assert_eq!(of("{fn insert(?, ?, ?, ?)}", params!["abcdef", 2, 3, "XY"]), is("aXYef"));
        assert_eq!(
            of("{fn insert('abcdef', ?, CAST(? AS INTEGER) + 1, ?)}", params![2, 2, "XY"]),
            is("aXYef")
        );
        assert_eq!(
            of("{fn insert(CAST(RDB$RELATION_ID * 0 AS CHAR), 1, ?, ?)}", params![0, "XY"]),
            is("XY0")
        );
        assert_eq!(of("{fn repeat(?, ?)}", params!["ab", 3]), is("ababab"));
        assert_eq!(of("{fn repeat(?, 2)}", params!["longer than two"]), is("longer than twolonger than two"));
        assert_eq!(of("{fn year(?)}", params!["2024-02-29 10:11:12"]), is("2024"));
        assert_eq!(
            of("{fn timestampadd(SQL_TSI_DAY, ?, ?)}", params![1, "2024-02-29 10:11:12"]),
            is("2024-03-01 10:11:12.0000")
        );
        assert_eq!(
            of("{fn timestampadd(SQL_TSI_QUARTER, ?, ?)}", params![1, "2024-01-31 00:00:00"]),
            is("2024-04-30 00:00:00.0000")
        );
        assert_eq!(
            of("{fn timestampadd(SQL_TSI_FRAC_SECOND, ?, ?)}", params![1_500_000, "2024-01-31 00:00:00"]),
            is("2024-01-31 00:00:00.0015")
        );
        assert_eq!(
            of(
                "{fn timestampdiff(SQL_TSI_DAY, ?, ?)}",
                params!["2024-01-31 00:00:00", "2024-02-01 00:00:00"]
            ),
            is("1")
        );
        assert_eq!(
            of("{fn convert({fn degrees(?)}, SQL_INTEGER)}", params![std::f64::consts::PI]),
            is("180")
        );
        assert_eq!(of("{fn convert(?, SQL_VARCHAR)}", params!["x"]), is("x"));
    },
    fn calls_run(target: &Target) {
        let connection = open(target, Dialect::Three);
        for sql in [
            "CREATE FUNCTION twice (n INTEGER) RETURNS INTEGER AS BEGIN RETURN 2 * n; END",
            "CREATE PROCEDURE count_to (n INTEGER) RETURNS (i INTEGER) AS BEGIN i = 0; WHILE (i < n) DO BEGIN i = i + 1; SUSPEND; END END",
            "CREATE PROCEDURE add_up (a INTEGER, b INTEGER = 10) RETURNS (s INTEGER) AS BEGIN s = a + b; END",
        ] {
            connection.execute(sql).expect("it is valid");
        }
        for (call, expected) in [
            ("{?=call twice({fn abs(?)})}", "10"),
            ("{?=call count_to(?)}", "1"),
            ("{call add_up(?)}", "15"),
            ("{call add_up(?, 1)}", "6"),
            ("{call add_up(?, )}", "15"),
        ] {
            let sql = sql(target, Dialect::Three, call);
            let value: i64 = connection.query_with(&sql, params![5]).expect(call).value().expect(call);
            assert_eq!(value.to_string(), expected, "{call}");
        }
        let sql = sql(target, Dialect::Three, "{call count_to(3)}");
        let rows = connection
            .query(&sql)
            .expect("it is selectable")
            .next_batch()
            .expect("it reads")
            .map(|batch| batch.num_rows());
        assert_eq!(rows, Some(3));
    }
);

#[test]
fn every_function_and_type_has_a_case() {
    let cases = CASES.iter().map(|(escape, _)| escape.to_ascii_uppercase()).collect::<Vec<_>>().concat();
    for function in FUNCTIONS {
        assert!(
            ["(", "}"].iter().any(|end| cases.contains(&format!("{{FN {}{end}", function.name))),
            "{}",
            function.name
        );
    }
    for (name, _) in convert::TYPES {
        assert!(cases.contains(&format!(", {name})}}")), "{name}");
    }
}

#[test]
fn what_is_claimed_is_what_the_standard_numbers() {
    // All but DIFFERENCE and SOUNDEX.
    assert_eq!(claimed::STRING_FUNCTIONS, 0x00FF_FFFF & !0x0002_8000);
    assert_eq!(claimed::NUMERIC_FUNCTIONS, 0x00FF_FFFF);
    assert_eq!(claimed::TIMEDATE_FUNCTIONS, 0x001F_FFFF);
    assert_eq!(claimed::SYSTEM_FUNCTIONS, 0x7);
    assert_eq!(claimed::TIMEDATE_ADD_INTERVALS, 0x1FF);
    assert_eq!(claimed::TIMEDATE_DIFF_INTERVALS, 0x1FF);
    assert_eq!(claimed::CONVERT_FUNCTIONS, 0x3);
}
