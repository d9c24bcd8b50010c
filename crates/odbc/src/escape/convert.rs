//! CONVERT: casts to SQL types by their names in ODBC.

use super::Context;
use firearrow::Dialect;

/// The longest text of any character set. ODBC's CONVERT has no lengths, and a shorter type could be too short.
pub(super) const TEXT: &str = "VARCHAR(8191)";
const BINARY: &str = "VARCHAR(32765) CHARACTER SET OCTETS";

/// The types. CHAR is not padded, since nobody said to which length.
pub(super) const TYPES: [(&str, &str); 23] = [
    ("SQL_BIGINT", "BIGINT"),
    ("SQL_BINARY", BINARY),
    ("SQL_BIT", "BOOLEAN"),
    ("SQL_CHAR", TEXT),
    ("SQL_DATE", "DATE"),
    ("SQL_DOUBLE", "DOUBLE PRECISION"),
    ("SQL_FLOAT", "DOUBLE PRECISION"),
    ("SQL_INTEGER", "INTEGER"),
    ("SQL_LONGVARBINARY", "BLOB SUB_TYPE BINARY"),
    ("SQL_LONGVARCHAR", "BLOB SUB_TYPE TEXT"),
    ("SQL_REAL", "FLOAT"),
    ("SQL_SMALLINT", "SMALLINT"),
    ("SQL_TIME", "TIME"),
    ("SQL_TIMESTAMP", "TIMESTAMP"),
    ("SQL_TINYINT", "SMALLINT"),
    ("SQL_TYPE_DATE", "DATE"),
    ("SQL_TYPE_TIME", "TIME"),
    ("SQL_TYPE_TIMESTAMP", "TIMESTAMP"),
    ("SQL_VARBINARY", BINARY),
    ("SQL_VARCHAR", TEXT),
    ("SQL_WCHAR", TEXT),
    ("SQL_WLONGVARCHAR", "BLOB SUB_TYPE TEXT"),
    ("SQL_WVARCHAR", TEXT),
];

/// Translates `CONVERT(value, SQL_…)`.
pub(super) fn convert(arguments: &[String], context: &Context<'_>) -> Result<String, &'static str> {
    let [value, name] = arguments else { return Err("two arguments expected") };
    let name = name.to_ascii_uppercase();
    if name.starts_with("SQL_INTERVAL_") {
        return Err("Firebird has no INTERVAL types");
    }
    // A cast would want the 16 bytes instead of their text.
    if name == "SQL_GUID" {
        return Ok(format!("CHAR_TO_UUID({value})"));
    }
    let sql_type = match name.as_str() {
        "SQL_DECIMAL" | "SQL_NUMERIC" => decimal(context),
        name => TYPES.iter().find(|known| known.0 == name).ok_or("unknown SQL type")?.1,
    };
    Ok(format!("CAST({value} AS {sql_type})"))
}

/// Digits on either side of the point; the server's default would drop all decimals.
fn decimal(context: &Context<'_>) -> &'static str {
    match context.dialect {
        // Its long decimals are that as well, and a database of dialect 3 refuses the name.
        Dialect::One => "DOUBLE PRECISION",
        Dialect::Three if context.release < (4, 0) => "DECIMAL(18, 4)",
        Dialect::Three => "DECIMAL(38, 10)",
    }
}
