//! The types of a server.

use crate::abi::{SmallInt, sql_type};
use crate::info::Facts;
use crate::types::{FIXED_BYTES, FRACTION, Type, TypeOptions, UTF8, VARYING_BYTES};
use firearrow::Dialect;

/// A type as it can be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) of: Type,
    /// What a declaration has in parentheses.
    pub(super) create_params: Option<&'static str>,
    /// The least and most digits after the decimal point.
    pub(super) scale: Option<(SmallInt, SmallInt)>,
}

/// Returns the types of a server, the better match first where several have the same number.
pub(super) fn rows(facts: &Facts, options: &TypeOptions) -> Vec<Row> {
    let is_4 = facts.release.is_4();
    let mut rows = Vec::new();
    rows.extend(texts(options));
    rows.extend(binaries(&TypeOptions { has_binary: is_4, guid: false, ..*options }));
    rows.extend(numbers(facts, options));
    rows.push(plain(Type::boolean()));
    rows.extend(datetimes(facts));
    rows
}

fn plain(of: Type) -> Row {
    Row { of, create_params: None, scale: None }
}

fn with_length(of: Type) -> Row {
    Row { create_params: Some("length"), ..plain(of) }
}

fn with_scale(of: Type, most: SmallInt) -> Row {
    Row { scale: Some((0, most)), ..plain(of) }
}

/// Sizes are those of UTF8; other character sets have room for more.
fn texts(options: &TypeOptions) -> impl Iterator<Item = Row> {
    let options = *options;
    [true, false].into_iter().flat_map(move |wide| {
        let options = TypeOptions { wide, ..options };
        [
            plain(Type::text_blob(&options)),
            with_length(Type::varchar(VARYING_BYTES / UTF8, &options)),
            with_length(Type::char(FIXED_BYTES / UTF8, &options)),
        ]
    })
}

fn binaries(options: &TypeOptions) -> [Row; 4] {
    [
        plain(Type::guid()),
        plain(Type::binary_blob(options)),
        with_length(Type::varbinary(VARYING_BYTES, options)),
        with_length(Type::binary(FIXED_BYTES, options)),
    ]
}

fn numbers(facts: &Facts, options: &TypeOptions) -> Vec<Row> {
    let is_4 = facts.release.is_4();
    let digits = if is_4 { 38 } else { 18 };
    let exact = |of| Row { create_params: Some("precision,scale"), ..with_scale(of, digits.into()) };
    let mut rows = vec![
        // ODBC's TINYINT and FLOAT have no types of their own.
        with_scale(Type { concise: sql_type::TINYINT, ..Type::small_int() }, 0),
        with_scale(Type::plain_integer(), 0),
        with_scale(Type::small_int(), 0),
        exact(Type::numeric(digits, 0)),
        exact(Type::decimal(digits, 0)),
        plain(Type { concise: sql_type::FLOAT, ..Type::double() }),
        plain(Type::float()),
        plain(Type::double()),
    ];
    if facts.dialect == Dialect::Three {
        rows.push(with_scale(Type::big_int(), 0));
    }
    if is_4 {
        rows.push(with_scale(Type::int128(), 0));
        // Its size is what a declaration takes, rather than that of the text.
        let decfloat = Type { size: 34, ..Type::decfloat(34, options) };
        rows.push(Row { create_params: Some("precision"), ..plain(decfloat) });
    }
    rows
}

/// Dialect 1 has TIMESTAMP alone.
fn datetimes(facts: &Facts) -> Vec<Row> {
    let has_all = facts.dialect == Dialect::Three;
    let has_zones = facts.release.is_4();
    let mut rows = Vec::new();
    if has_all {
        rows.push(plain(Type::date(facts.dialect)));
        rows.push(with_scale(Type::time(facts.dialect), FRACTION));
    }
    if has_all && has_zones {
        rows.push(with_scale(Type::time_with_zone(facts.dialect), FRACTION));
    }
    rows.push(with_scale(Type::timestamp(), FRACTION));
    if has_zones {
        rows.push(with_scale(Type::timestamp_with_zone(), FRACTION));
    }
    rows
}
