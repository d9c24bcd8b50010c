//! The demo tables: their contents depend only on the row number, so every server gets the same.

use super::checksum::mix;
use super::values::{Values, digest, words};

/// A demo table and its generated rows.
#[derive(Debug)]
#[non_exhaustive]
pub struct Table {
    /// The table's name.
    pub name: &'static str,
    /// The columns, in order.
    pub columns: &'static [Column],
    /// The column of the primary key, which is added after all rows.
    pub key: Option<&'static str>,
    /// The maximum number of rows of the table.
    pub most_rows: u64,
    /// Bytes that a row takes in the database, with its key, as measured.
    pub(super) row_bytes: u64,
    /// Rows per INSERT statement: their parameters must fit into 64 KiB, at four bytes per character.
    pub(super) rows_per_statement: usize,
}

/// A column of a demo table.
#[derive(Debug)]
#[non_exhaustive]
pub struct Column {
    /// The column's name.
    pub name: &'static str,
    /// Its type in SQL.
    pub sql: &'static str,
    /// Its type on Firebird 3, if that lacks the type `sql`.
    pub sql_on_3: Option<&'static str>,
    /// Its values.
    pub values: Values,
}

impl Table {
    /// Returns the number of rows of the table if `asked` rows are requested.
    #[must_use]
    pub fn rows(&self, asked: u64) -> u64 {
        asked.min(self.most_rows)
    }
}

impl Column {
    const fn new(name: &'static str, sql: &'static str, values: Values) -> Self {
        Self { name, sql, sql_on_3: None, values }
    }

    /// Returns the column's type for this major version of the engine.
    #[must_use]
    pub fn sql(&self, major: u32) -> &'static str {
        self.sql_on_3.filter(|_| major < 4).unwrap_or(self.sql)
    }
}

/// The demo tables, in the order of their creation.
pub static TABLES: [Table; 4] = [
    Table {
        name: "T_WIDE",
        columns: &WIDE,
        key: Some("ID"),
        most_rows: u64::MAX,
        row_bytes: 550,
        rows_per_statement: 24,
    },
    Table {
        name: "T_INT10",
        columns: &INT10,
        key: None,
        most_rows: u64::MAX,
        row_bytes: 110,
        rows_per_statement: 128,
    },
    Table {
        name: "T_VC5",
        columns: &VC5,
        key: None,
        most_rows: u64::MAX,
        row_bytes: 350,
        rows_per_statement: 24,
    },
    Table {
        name: "T_BLOB",
        columns: &BLOB,
        key: Some("ID"),
        most_rows: 1000,
        row_bytes: 4400,
        rows_per_statement: 1,
    },
];

/// Tables that only `bench driver` reads. It creates them itself.
pub static MORE_TABLES: [Table; 2] = [
    Table {
        name: "T_DECIMAL",
        columns: &DECIMAL,
        key: None,
        most_rows: u64::MAX,
        row_bytes: 140,
        rows_per_statement: 64,
    },
    Table { name: "T_EMPTY", columns: &INT10, key: None, most_rows: 0, row_bytes: 1, rows_per_statement: 1 },
];

/// All demo tables.
pub(super) fn all() -> impl Iterator<Item = &'static Table> {
    TABLES.iter().chain(&MORE_TABLES)
}

/// NULL in every `period`th row.
const fn null(row: u64, period: u64, phase: u64) -> bool {
    row % period == phase
}

/// A random number for a row; each `salt` gives another one.
fn random(row: u64, salt: u64) -> u64 {
    mix(row.wrapping_mul(64).wrapping_add(salt))
}

/// A random number from `-bound` to `bound`.
fn within(row: u64, salt: u64, bound: i64) -> i64 {
    let span = 2 * bound as u64 + 1;
    (random(row, salt) % span) as i64 - bound
}

/// The shape of the public driver benchmarks: 22 columns, a third of them decimals and texts. Firebird has no TINYINT,
/// so a SMALLINT with values in that range replaces it.
static WIDE: [Column; 22] = [
    Column::new("ID", "BIGINT NOT NULL", Values::Int64(|row| Some(row as i64 + 1))),
    Column::new("I64", "BIGINT", Values::Int64(|row| (!null(row, 11, 3)).then(|| random(row, 1) as i64))),
    Column::new("I16", "SMALLINT", Values::Int16(|row| Some(random(row, 2) as i16))),
    Column::new(
        "I8",
        "SMALLINT",
        Values::Int16(|row| (!null(row, 7, 2)).then(|| random(row, 3) as i8 as i16)),
    ),
    Column::new("I32", "INTEGER", Values::Int32(|row| (!null(row, 13, 5)).then(|| random(row, 4) as i32))),
    Column::new(
        "FLAG",
        "BOOLEAN",
        Values::Boolean(|row| (!null(row, 10, 9)).then(|| random(row, 5) & 1 == 1)),
    ),
    Column::new(
        "F64",
        "DOUBLE PRECISION",
        Values::Float64(|row| (!null(row, 17, 4)).then(|| within(row, 6, 1 << 52) as f64 / 1024.0)),
    ),
    Column::new("F32", "FLOAT", Values::Float32(|row| Some(within(row, 7, 1 << 23) as f32 / 64.0))),
    Column::new(
        "DEC_18_4",
        "DECIMAL(18,4)",
        Values::Decimal(18, 4, |row| Some(within(row, 8, 999_999_999_999_999_999).into())),
    ),
    Column {
        name: "DEC_28_8",
        sql: "DECIMAL(28,8)",
        sql_on_3: Some("DECIMAL(18,8)"),
        // At most 18 digits, which fit Firebird 3.
        values: Values::Decimal(18, 8, |row| {
            (!null(row, 9, 1)).then(|| within(row, 9, 999_999_999_999_999_999).into())
        }),
    },
    Column::new(
        "DEC_10_2",
        "DECIMAL(10,2)",
        Values::Decimal(10, 2, |row| Some(within(row, 10, 9_999_999_999).into())),
    ),
    Column::new(
        "TS",
        "TIMESTAMP",
        // From 1900 to 2100, in the engine's units of 100 µs.
        Values::Timestamp(|row| {
            (!null(row, 12, 7)).then(|| (within(row, 11, 31_556_952_000_000) + 9_466_848_000_000) * 100)
        }),
    ),
    // From 1900 to 2100.
    Column::new("DT", "DATE", Values::Date(|row| Some((within(row, 12, 36_524) + 10_957) as i32))),
    Column::new(
        "V8",
        "VARCHAR(8) CHARACTER SET UTF8",
        Values::Text(|row, text| words(random(row, 13), random(row, 14) % 9, text)),
    ),
    Column::new(
        "V16",
        "VARCHAR(16) CHARACTER SET UTF8",
        Values::Text(|row, text| !null(row, 8, 6) && words(random(row, 15), 4 + random(row, 16) % 13, text)),
    ),
    Column::new(
        "V32",
        "VARCHAR(32) CHARACTER SET UTF8",
        Values::Text(|row, text| words(random(row, 17), 8 + random(row, 18) % 25, text)),
    ),
    Column::new(
        "V64",
        "VARCHAR(64) CHARACTER SET UTF8",
        Values::Text(|row, text| !null(row, 6, 1) && words(random(row, 19), random(row, 20) % 65, text)),
    ),
    Column::new(
        "V100",
        "VARCHAR(100) CHARACTER SET UTF8",
        Values::Text(|row, text| words(random(row, 21), 20 + random(row, 22) % 81, text)),
    ),
    Column::new(
        "V200",
        "VARCHAR(200) CHARACTER SET UTF8",
        Values::Text(|row, text| !null(row, 5, 0) && words(random(row, 23), random(row, 24) % 201, text)),
    ),
    // The digest of the text of ID, which Firebird 4 can also compute.
    Column::new(
        "MD5_A",
        "VARCHAR(32) CHARACTER SET UTF8",
        Values::Text(|row, text| digest(row + 1, "", text)),
    ),
    Column::new(
        "MD5_B",
        "VARCHAR(32) CHARACTER SET UTF8",
        Values::Text(|row, text| digest(row + 1, "b", text)),
    ),
    Column::new(
        "MD5_C",
        "VARCHAR(32) CHARACTER SET UTF8",
        Values::Text(|row, text| !null(row, 4, 3) && digest(row + 1, "c", text)),
    ),
];

/// Row `i` is `i`, `i + 1`, … `i + 9`.
static INT10: [Column; 10] = [
    Column::new("C1", "INTEGER", Values::Int32(|row| Some(row as i32))),
    Column::new("C2", "INTEGER", Values::Int32(|row| Some(row as i32 + 1))),
    Column::new("C3", "INTEGER", Values::Int32(|row| Some(row as i32 + 2))),
    Column::new("C4", "INTEGER", Values::Int32(|row| Some(row as i32 + 3))),
    Column::new("C5", "INTEGER", Values::Int32(|row| Some(row as i32 + 4))),
    Column::new("C6", "INTEGER", Values::Int32(|row| Some(row as i32 + 5))),
    Column::new("C7", "INTEGER", Values::Int32(|row| Some(row as i32 + 6))),
    Column::new("C8", "INTEGER", Values::Int32(|row| Some(row as i32 + 7))),
    Column::new("C9", "INTEGER", Values::Int32(|row| Some(row as i32 + 8))),
    Column::new("C10", "INTEGER", Values::Int32(|row| Some(row as i32 + 9))),
];

/// Amounts: mostly decimals, of every size in which Firebird stores them. No value has more than 18 digits, which fit Firebird 3.
static DECIMAL: [Column; 10] = [
    Column::new("ID", "BIGINT NOT NULL", Values::Int64(|row| Some(row as i64 + 1))),
    Column::new("N_4_2", "NUMERIC(4,2)", Values::Decimal(4, 2, |row| Some(within(row, 31, 9_999).into()))),
    Column::new(
        "D_9_0",
        "DECIMAL(9,0)",
        Values::Decimal(9, 0, |row| Some(within(row, 32, 999_999_999).into())),
    ),
    Column::new(
        "D_9_2",
        "DECIMAL(9,2)",
        Values::Decimal(9, 2, |row| (!null(row, 10, 3)).then(|| within(row, 33, 999_999_999).into())),
    ),
    Column::new(
        "D_9_4",
        "DECIMAL(9,4)",
        Values::Decimal(9, 4, |row| Some(within(row, 34, 999_999_999).into())),
    ),
    Column::new(
        "D_15_2",
        "DECIMAL(15,2)",
        Values::Decimal(15, 2, |row| Some(within(row, 35, 999_999_999_999_999).into())),
    ),
    Column::new(
        "D_18_4",
        "DECIMAL(18,4)",
        Values::Decimal(18, 4, |row| {
            (!null(row, 7, 6)).then(|| within(row, 36, 999_999_999_999_999_999).into())
        }),
    ),
    Column::new(
        "D_18_8",
        "DECIMAL(18,8)",
        Values::Decimal(18, 8, |row| Some(within(row, 37, 999_999_999_999_999_999).into())),
    ),
    Column {
        name: "D_28_8",
        sql: "DECIMAL(28,8)",
        sql_on_3: Some("DECIMAL(18,8)"),
        values: Values::Decimal(18, 8, |row| Some(within(row, 38, 999_999_999_999_999_999).into())),
    },
    Column {
        name: "D_38_10",
        sql: "DECIMAL(38,10)",
        sql_on_3: Some("DECIMAL(18,10)"),
        values: Values::Decimal(18, 10, |row| {
            (!null(row, 5, 4)).then(|| within(row, 39, 999_999_999_999_999_999).into())
        }),
    },
];

const PADDED: Values = Values::Text(|row, text| {
    text.push_str("Row_");
    text.push_str(&row.to_string());
    text.push_str("_data_padding_to_make_string_longer_xxxxxxxxxxxxxx");
    true
});

static VC5: [Column; 5] = [
    Column::new("C1", "VARCHAR(100) CHARACTER SET UTF8", PADDED),
    Column::new("C2", "VARCHAR(100) CHARACTER SET UTF8", PADDED),
    Column::new("C3", "VARCHAR(100) CHARACTER SET UTF8", PADDED),
    Column::new("C4", "VARCHAR(100) CHARACTER SET UTF8", PADDED),
    Column::new("C5", "VARCHAR(100) CHARACTER SET UTF8", PADDED),
];

static BLOB: [Column; 2] = [
    Column::new("ID", "BIGINT NOT NULL", Values::Int64(|row| Some(row as i64 + 1))),
    Column::new(
        "DOC",
        "BLOB SUB_TYPE TEXT CHARACTER SET UTF8",
        Values::Text(|row, text| words(random(row, 25), 3300 + random(row, 26) % 201, text)),
    ),
];

/// The maximum number of rows: no more than T_INT10 can count.
pub const MOST_ROWS: u64 = i32::MAX as u64 - 10;

#[cfg(test)]
mod tests {
    use super::super::checksum::checksum;
    use super::*;

    #[test]
    fn wide_has_the_shape_of_the_public_benchmarks() {
        let types: Vec<&str> = WIDE.iter().filter_map(|column| column.sql.split(' ').next()).collect();
        for needed in
            ["BIGINT", "SMALLINT", "BOOLEAN", "DOUBLE", "DECIMAL(28,8)", "TIMESTAMP", "VARCHAR(200)"]
        {
            assert!(types.contains(&needed), "{needed}");
        }
        let row = |values: &Values, row| format!("{:?}", values.array([row].into_iter()));
        assert!(row(&WIDE[19].values, 0).contains("c4ca4238a0b923820dcc509a6f75849b"), "md5 of 1");
        assert!(row(&PADDED, 7).contains("Row_7_data_padding_to_make_string_longer_xxxxxxxxxxxxxx"));
    }

    /// Checksums in existing databases were computed from these rows: a change needs a new format version.
    #[test]
    fn rows_are_frozen() {
        let of = |tables: &[Table]| {
            let sums =
                tables.iter().flat_map(|table| table.columns).map(|column| column.values.array(0..1000));
            let sum = sums.fold(0, |sum, values| mix(sum ^ checksum(&values).unwrap()));
            format!("{sum:016x}")
        };
        assert_eq!(of(&TABLES), "9e310952a214fc99");
        assert_eq!(of(&MORE_TABLES), "eb4b2200fcf4313d");
    }
}
