//! What is known of the target of an ingestion.

use crate::error::{Result, of};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use firearrow::{Connection, Params};
use std::collections::HashSet;
use std::sync::Arc;

const COLUMNS: &str = "SELECT TRIM(c.RDB$FIELD_NAME) FROM RDB$RELATIONS r LEFT JOIN RDB$RELATION_FIELDS c \
    ON c.RDB$RELATION_NAME = r.RDB$RELATION_NAME WHERE r.RDB$RELATION_NAME = ?";

const KEY: &str = "SELECT TRIM(s.RDB$FIELD_NAME) FROM RDB$RELATION_CONSTRAINTS c JOIN RDB$INDEX_SEGMENTS s \
    ON s.RDB$INDEX_NAME = c.RDB$INDEX_NAME WHERE c.RDB$RELATION_NAME = ? \
    AND c.RDB$CONSTRAINT_TYPE = 'PRIMARY KEY' ORDER BY s.RDB$FIELD_POSITION";

/// Names of the columns; `None` if there is no such table.
pub(super) fn columns(connection: &Connection, table: &str) -> Result<Option<HashSet<String>>> {
    let names = names(connection, COLUMNS, table)?;
    Ok((!names.is_empty()).then(|| names.into_iter().flatten().collect()))
}

/// Columns of the primary key, in order; none if there is no such key.
pub(super) fn primary_key(connection: &Connection, table: &str) -> Result<Vec<String>> {
    Ok(names(connection, KEY, table)?.into_iter().flatten().collect())
}

fn names(connection: &Connection, sql: &str, table: &str) -> Result<Vec<Option<String>>> {
    let table: ArrayRef = Arc::new(StringArray::from(vec![table]));
    let mut cursor = connection.query_with(sql, Params::row([table])).map_err(of)?;
    let mut names = Vec::new();
    while let Some(batch) = cursor.next_batch().map_err(of)? {
        if let Some(column) = batch.column(0).as_string_opt::<i32>() {
            names.extend(
                (0..column.len()).map(|row| column.is_valid(row).then(|| column.value(row).to_owned())),
            );
        }
    }
    Ok(names)
}
