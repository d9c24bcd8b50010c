//! Values of every type, through every kind of buffer.

use crate::buffers::*;
use crate::support::*;
use firearrow_testkit::{Generation, Target, matrix};

/// A column type with values: as SQL, and as text.
struct Kind {
    declared: &'static str,
    values: &'static [(&'static str, &'static str)],
    /// The C type of its own, and the bytes that it has for a value's text.
    c_type: i16,
    native: fn(&str) -> Vec<u8>,
    /// Whether it needs Firebird 4.
    is_new: bool,
}

const fn kind(
    declared: &'static str,
    c_type: i16,
    native: fn(&str) -> Vec<u8>,
    values: &'static [(&'static str, &'static str)],
) -> Kind {
    Kind { declared, values, c_type, native, is_new: false }
}

const fn new(
    declared: &'static str,
    c_type: i16,
    native: fn(&str) -> Vec<u8>,
    values: &'static [(&'static str, &'static str)],
) -> Kind {
    Kind { is_new: true, ..kind(declared, c_type, native, values) }
}

macro_rules! number {
    ($type:ty) => {
        |text| text.parse::<$type>().expect(text).to_ne_bytes().to_vec()
    };
}

/// `SQL_NUMERIC_STRUCT`
fn numeric(text: &str) -> Vec<u8> {
    let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len() as u8);
    let number: i128 = text.replace('.', "").parse().expect(text);
    let mut bytes = vec![38, scale, (number >= 0).into()];
    bytes.extend(number.unsigned_abs().to_le_bytes());
    bytes
}

fn parts(text: &str) -> Vec<u32> {
    text.split(['-', ':', ' ', '.']).map(|part| part.parse().expect(text)).collect()
}

fn shorts(parts: &[u32]) -> Vec<u8> {
    parts.iter().flat_map(|part| (*part as u16).to_ne_bytes()).collect()
}

fn moment(text: &str) -> Vec<u8> {
    let parts = parts(text);
    // Units of 1/10000 s become nanoseconds.
    let fraction = parts.get(6).map_or(0, |units| units * 100_000);
    [shorts(&parts[..6]), fraction.to_ne_bytes().to_vec()].concat()
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|digits| u8::from_str_radix(str::from_utf8(digits).expect("ASCII"), 16).expect("hex"))
        .collect()
}

const C_BINARY: i16 = -2;
const EMOJI: &str = "a😀é€";

const KINDS: &[Kind] = &[
    kind("SMALLINT", -15, number!(i16), &[("-32768", "-32768"), ("32767", "32767"), ("0", "0")]),
    kind("INTEGER", -16, number!(i32), &[("-2147483648", "-2147483648"), ("2147483647", "2147483647")]),
    kind(
        "BIGINT",
        -25,
        number!(i64),
        &[
            ("-9223372036854775807 - 1", "-9223372036854775808"),
            ("9223372036854775807", "9223372036854775807"),
        ],
    ),
    kind("NUMERIC(4,2)", 2, numeric, &[("327.67", "327.67"), ("-0.01", "-0.01"), ("0", "0.00")]),
    kind("DECIMAL(9,4)", 2, numeric, &[("214748.3647", "214748.3647"), ("-0.5", "-0.5000")]),
    kind(
        "NUMERIC(18,18)",
        2,
        numeric,
        &[
            ("-9.223372036854775808", "-9.223372036854775808"),
            ("0.000000000000000001", "0.000000000000000001"),
        ],
    ),
    kind("FLOAT", 7, number!(f32), &[("1.5", "1.5"), ("-0.1", "-0.1")]),
    kind("DOUBLE PRECISION", 8, number!(f64), &[("0.1", "0.1"), ("-123456.75", "-123456.75")]),
    kind("BOOLEAN", -7, number!(u8), &[("TRUE", "1"), ("FALSE", "0")]),
    kind(
        "DATE",
        91,
        |text| shorts(&parts(text)),
        &[
            ("DATE '0001-01-01'", "0001-01-01"),
            ("DATE '9999-12-31'", "9999-12-31"),
            ("DATE '1858-11-17'", "1858-11-17"),
        ],
    ),
    kind(
        "TIME",
        92,
        |text| shorts(&parts(text)[..3]),
        &[("TIME '00:00:00'", "00:00:00"), ("TIME '23:59:59'", "23:59:59")],
    ),
    kind(
        "TIMESTAMP",
        93,
        moment,
        &[
            ("TIMESTAMP '0001-01-01 00:00:00.0001'", "0001-01-01 00:00:00.0001"),
            ("TIMESTAMP '9999-12-31 23:59:59.9999'", "9999-12-31 23:59:59.9999"),
            ("TIMESTAMP '2024-02-29 12:30:00'", "2024-02-29 12:30:00"),
        ],
    ),
    kind("CHAR(6) CHARACTER SET UTF8", 1, |text| text.into(), &[("'a😀é€'", "a😀é€  "), ("''", "      ")]),
    kind(
        "VARCHAR(8) CHARACTER SET UTF8",
        1,
        |text| text.into(),
        &[("'a😀é€'", EMOJI), ("''", ""), ("'blank '", "blank ")],
    ),
    kind("VARCHAR(8) CHARACTER SET WIN1252", 1, |text| text.into(), &[("'é€'", "é€"), ("''", "")]),
    kind(
        "CHAR(4) CHARACTER SET OCTETS",
        C_BINARY,
        unhex,
        &[("x'00FF0A41'", "00FF0A41"), ("x'01'", "01000000")],
    ),
    kind("VARCHAR(4) CHARACTER SET OCTETS", C_BINARY, unhex, &[("x'00FF'", "00FF"), ("''", "")]),
    kind("BLOB SUB_TYPE TEXT CHARACTER SET UTF8", 1, |text| text.into(), &[("'a😀é€'", EMOJI), ("''", "")]),
    kind("BLOB SUB_TYPE TEXT CHARACTER SET WIN1252", 1, |text| text.into(), &[("'é€'", "é€")]),
    kind("BLOB", C_BINARY, unhex, &[("x'00FF0A'", "00FF0A"), ("''", "")]),
    new(
        "INT128",
        2,
        numeric,
        &[
            ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            ("-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"),
            ("0", "0"),
        ],
    ),
    new(
        "NUMERIC(38,10)",
        2,
        numeric,
        &[
            ("9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999"),
            ("-0.0000000001", "-0.0000000001"),
        ],
    ),
    new("DECFLOAT(16)", 1, |text| text.into(), &[("'-9.999999999999999E384'", "-9.999999999999999E+384")]),
    new(
        "DECFLOAT(34)",
        1,
        |text| text.into(),
        &[
            ("1234567890123456789012345678901.234", "1234567890123456789012345678901.234"),
            ("'-9.999999999999999999999999999999999E6144'", "-9.999999999999999999999999999999999E+6144"),
        ],
    ),
    new(
        "TIME WITH TIME ZONE",
        92,
        |text| shorts(&parts(text)[..3]),
        &[("TIME '12:30:00 +02:00'", "10:30:00")],
    ),
    new(
        "TIMESTAMP WITH TIME ZONE",
        93,
        moment,
        &[("TIMESTAMP '2024-07-01 12:30:00.5 +02:00'", "2024-07-01 10:30:00.5000")],
    ),
];

/// A table with a column of each type, and its rows as text: as many as a type has values, and one of NULLs.
fn table(connection: &Connection, target: &Target) -> (Vec<&'static Kind>, Vec<Vec<Option<&'static str>>>) {
    let has_new = target.generation() != Generation::V3_0;
    let kinds: Vec<_> = KINDS.iter().filter(|kind| has_new || !kind.is_new).collect();
    let columns = kinds.iter().enumerate().map(|(at, kind)| format!("C{at} {}", kind.declared));
    connection.run(&format!("CREATE TABLE T (N INTEGER, {})", columns.collect::<Vec<_>>().join(", ")));
    if has_new {
        connection.run("SET TIME ZONE 'UTC'");
    }
    let rows = kinds.iter().map(|kind| kind.values.len()).max().unwrap_or(0);
    let insert = |row: usize, values: &[&str]| {
        let sql = format!("INSERT INTO T VALUES ({row}, {})", values.join(", "));
        assert_eq!(connection.run(&sql), 1);
    };
    let mut texts = Vec::new();
    for row in 0..rows {
        let values: Vec<_> = kinds.iter().map(|kind| kind.values[row % kind.values.len()]).collect();
        insert(row, &values.iter().map(|(sql, _)| *sql).collect::<Vec<_>>());
        texts.push(values.iter().map(|(_, text)| Some(*text)).collect());
    }
    insert(rows, &vec!["NULL"; kinds.len()]);
    texts.push(vec![None; kinds.len()]);
    (kinds, texts)
}

const QUERY: &str = "SELECT T.* FROM T ORDER BY N";

/// What a buffer of a C type receives for a value.
fn expected(kind: &Kind, text: &str, c_type: i16) -> Vec<u8> {
    match c_type {
        1 => text.into(),
        -8 => wide(text),
        _ => (kind.native)(text),
    }
}

fn check(target: &Target, c_type: impl Fn(&Kind) -> i16, capacity: usize) {
    let connection = fresh(target);
    let (kinds, texts) = table(&connection, target);
    let of_kinds = kinds.iter().map(|kind| Buffer { c_type: c_type(kind), capacity });
    let buffers: Vec<_> = [Buffer { c_type: 4, capacity: 4 }].into_iter().chain(of_kinds).collect();
    // Native buffers have the size of their type.
    let fixed = |buffer: &Buffer| Buffer {
        capacity: match buffer.c_type {
            -7 => 1,
            -15 => 2,
            -16 | 7 => 4,
            -25 | 8 => 8,
            91 | 92 => 6,
            93 => 16,
            2 => 19,
            _ => buffer.capacity,
        },
        ..*buffer
    };
    let buffers: Vec<_> = buffers.iter().map(fixed).collect();
    let wanted: Vec<Vec<Cell>> = texts
        .iter()
        .enumerate()
        .map(|(row, texts)| {
            let cells = kinds.iter().zip(texts).zip(&buffers[1..]);
            let cells =
                cells.map(|((kind, text), buffer)| text.map(|text| expected(kind, text, buffer.c_type)));
            [Some((row as i32).to_ne_bytes().to_vec())].into_iter().chain(cells).collect()
        })
        .collect();
    let compare = |rows: &[Vec<Cell>], how: &str| {
        assert_eq!(rows.len(), wanted.len(), "{how}");
        for (row, (got, wanted)) in rows.iter().zip(&wanted).enumerate() {
            for (column, (got, wanted)) in got.iter().zip(wanted).enumerate() {
                let declared = column.checked_sub(1).map_or("INTEGER", |at| kinds[at].declared);
                assert_eq!(got, wanted, "{how}: {declared} of row {row} as {}", buffers[column].c_type);
            }
        }
    };
    let statement = connection.statement();
    for size in [1, 3, 1000] {
        for layout in LAYOUTS {
            statement.run(QUERY);
            compare(&fetch_bound(&statement, &buffers, size, layout), &format!("{size} {layout:?}"));
            statement.close();
        }
    }
    statement.run(QUERY);
    compare(&fetch_got(&statement, &buffers), "SQLGetData");
}

matrix!(
    all,
    fn every_type_becomes_narrow_text(target: &Target) {
        check(target, |_| 1, 64);
    },
    fn every_type_becomes_wide_text(target: &Target) {
        check(target, |_| -8, 128);
    },
    fn every_type_has_a_native_buffer(target: &Target) {
        check(target, |kind| kind.c_type, 64);
    },
    fn every_type_becomes_bytes(target: &Target) {
        check(target, |_| C_BINARY, 64);
    },
);
