//! Tables that a benchmark makes and removes: those of other people that have their names stay.

use crate::error::{Error, Result};
use firearrow::Connection;

/// The number of a type in `RDB$FIELDS`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Type {
    Integer = 8,
    BigInt = 16,
    Varchar = 37,
    Blob = 261,
}

/// Fails if there is a table of this name with other columns than ours, so that it cannot be ours.
///
/// # Errors
/// [`Error::Other`] with the name of the table, and those of the server.
pub(crate) fn check(connection: &Connection, table: &str, columns: &[(&str, Type)]) -> Result<()> {
    let cursor = connection.query(&sql(table, columns))?;
    let counts = cursor.one_row(|row| Ok([row.get::<i64>(0)?, row.get(1)?]))?;
    let [all, right] = counts.unwrap_or_default();
    match all == 0 || [all, right] == [columns.len() as i64; 2] {
        true => Ok(()),
        false => Err(Error::other(format!(
            "{table} exists, and its columns are not those of this benchmark, which would replace it: it is left alone; \
             drop it, or use another database"
        ))),
    }
}

/// Counts the columns of a table, and those that are ours. Views have columns as well, and are never ours.
fn sql(table: &str, columns: &[(&str, Type)]) -> String {
    let place = |(at, (name, kind)): (usize, &(&str, Type))| {
        let number = *kind as i32;
        format!(
            "C.RDB$FIELD_POSITION = {at} AND C.RDB$FIELD_NAME = '{name}' AND T.RDB$FIELD_TYPE = {number} \
             AND COALESCE(T.RDB$FIELD_SCALE, 0) = 0"
        )
    };
    let right: Vec<String> = columns.iter().enumerate().map(place).collect();
    format!(
        "SELECT COUNT(*), COUNT(CASE WHEN R.RDB$VIEW_BLR IS NULL AND ({}) THEN 1 END) FROM RDB$RELATION_FIELDS C \
         JOIN RDB$FIELDS T ON T.RDB$FIELD_NAME = C.RDB$FIELD_SOURCE \
         JOIN RDB$RELATIONS R ON R.RDB$RELATION_NAME = C.RDB$RELATION_NAME \
         WHERE C.RDB$RELATION_NAME = '{table}'",
        right.join(" OR ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_its_place_and_its_type() {
        let sql = sql("T", &[("ID", Type::BigInt), ("CONTENT", Type::Blob)]);
        for part in [
            "FIELD_POSITION = 0 AND C.RDB$FIELD_NAME = 'ID' AND T.RDB$FIELD_TYPE = 16",
            "FIELD_POSITION = 1 AND C.RDB$FIELD_NAME = 'CONTENT' AND T.RDB$FIELD_TYPE = 261",
            "C.RDB$RELATION_NAME = 'T'",
        ] {
            assert!(sql.contains(part), "{sql}");
        }
    }
}
