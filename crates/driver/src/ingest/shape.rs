//! Whether a table equals the one that ingestion would create for the data, so that it can stay and only its rows are
//! replaced.

use super::column::Declaration;
use firearrow::Dialect;
use firearrow::catalog::{BaseType, Column, ColumnType, Identity};

/// Whether these columns are those of the declarations: the same names, types and nullability, in the same order.
pub(super) fn is_same(columns: &[Column], declarations: &[Declaration], dialect: Dialect) -> bool {
    let same = |(column, wanted): (&Column, &Declaration)| {
        column.name == wanted.name
            && column.nullable == wanted.is_nullable
            && column.computed.is_none()
            && column.identity != Some(Identity::Always)
            && (is_type(&column.data_type, &wanted.sql_type, dialect)
                || wanted.needed.is_some_and(|needed| holds(&column.data_type, &wanted.sql_type, needed)))
    };
    columns.len() == declarations.len() && columns.iter().zip(declarations).all(same)
}

/// Whether a column whose length is not prescribed has room for values of this length.
fn holds(given: &ColumnType, wanted: &str, needed: usize) -> bool {
    let is_long_enough = given.characters.unwrap_or(given.length) as usize >= needed;
    let is_text = wanted.ends_with(" CHARACTER SET UTF8");
    let is_utf8 = given.charset.as_deref() == Some("UTF8");
    !given.is_array()
        && match given.base {
            BaseType::VarChar => is_text && is_utf8 && is_long_enough,
            BaseType::TextBlob => is_text && is_utf8,
            BaseType::VarBinary => !is_text && is_long_enough,
            BaseType::Blob => !is_text && given.sub_type == Some(0),
            _ => false,
        }
}

/// Whether a column has the type of this declaration. A type that ingestion never declares is different.
fn is_type(given: &ColumnType, wanted: &str, dialect: Dialect) -> bool {
    if given.is_array() {
        return false;
    }
    let characters = given.characters.unwrap_or(given.length);
    let is_utf8 = given.charset.as_deref() == Some("UTF8");
    match given.base {
        BaseType::Numeric => {
            given.precision.is_some_and(|digits| wanted == format!("NUMERIC({digits}, {})", given.scale))
        }
        BaseType::DecFloat => given.precision == Some(34) && wanted == "DECFLOAT(34)",
        BaseType::VarChar if is_utf8 && wanted == format!("VARCHAR({characters}) CHARACTER SET UTF8") => true,
        // Of a column without values, in the character set of the database.
        BaseType::VarChar => characters == 1 && wanted == "VARCHAR(1)",
        BaseType::TextBlob => is_utf8 && wanted == "BLOB SUB_TYPE TEXT CHARACTER SET UTF8",
        BaseType::Blob => given.sub_type == Some(0) && wanted == "BLOB SUB_TYPE BINARY",
        BaseType::VarBinary => {
            [format!("VARBINARY({characters})"), format!("VARCHAR({characters}) CHARACTER SET OCTETS")]
                .iter()
                .any(|name| wanted == name)
        }
        BaseType::Binary => {
            [format!("BINARY({characters})"), format!("CHAR({characters}) CHARACTER SET OCTETS")]
                .iter()
                .any(|name| wanted == name)
        }
        // There a DATE has a time.
        BaseType::Timestamp if dialect == Dialect::One => matches!(wanted, "DATE" | "TIMESTAMP"),
        base @ (BaseType::Boolean
        | BaseType::SmallInt
        | BaseType::Integer
        | BaseType::BigInt
        | BaseType::Float
        | BaseType::DoublePrecision
        | BaseType::Date
        | BaseType::Time
        | BaseType::Timestamp
        | BaseType::TimestampWithTimeZone) => wanted == base.name(),
        _ => false,
    }
}
