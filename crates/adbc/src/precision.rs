//! The declared precision of NUMERIC and DECIMAL columns, which the engine's descriptions lack. A table is looked up once.

use crate::error::{Result, of};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::datatypes::Int16Type;
use firearrow::{Connection, Descriptor, Params, ReadOptions};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

const SQL: &str = "SELECT TRIM(c.RDB$FIELD_NAME), f.RDB$FIELD_PRECISION FROM RDB$RELATION_FIELDS c \
    JOIN RDB$FIELDS f ON f.RDB$FIELD_NAME = c.RDB$FIELD_SOURCE \
    WHERE c.RDB$RELATION_NAME = ? AND f.RDB$FIELD_SUB_TYPE IN (1, 2) AND f.RDB$FIELD_PRECISION > 0";

/// Precisions by column.
type Columns = Arc<HashMap<String, u8>>;

/// What was looked up so far, by table.
#[derive(Debug, Default)]
pub(crate) struct Precisions(Mutex<HashMap<String, Columns>>);

impl Precisions {
    /// The options with the precisions of these columns, where they are wanted.
    pub(crate) fn declare(
        &self,
        connection: &Connection,
        columns: &[Descriptor],
        options: &ReadOptions,
    ) -> Result<ReadOptions> {
        let mut options = options.clone();
        if options.decimal_precision != firearrow::arrow::DecimalPrecision::Declared {
            return Ok(options);
        }
        let mut precisions = vec![None; columns.len()];
        for (precision, column) in precisions.iter_mut().zip(columns) {
            let element = column.array.as_ref().map_or(column, |shape| shape.element());
            if matches!(element.sub_type, 1 | 2) && !column.relation.is_empty() && is_exact(element) {
                *precision = self.table(connection, &column.relation)?.get(&column.field).copied();
            }
        }
        options.declared_precision = precisions;
        Ok(options)
    }

    /// Tables may have been altered.
    pub(crate) fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn table(&self, connection: &Connection, table: &str) -> Result<Columns> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(table) {
            return Ok(Arc::clone(known));
        }
        let name: ArrayRef = Arc::new(StringArray::from(vec![table]));
        let mut cursor = connection.query_with(SQL, Params::row([name])).map_err(of)?;
        let mut columns = HashMap::new();
        while let Some(batch) = cursor.next_batch().map_err(of)? {
            let (names, precisions) = (batch.column(0).as_string_opt::<i32>(), batch.column(1));
            let precisions = precisions.as_primitive_opt::<Int16Type>();
            let (Some(names), Some(precisions)) = (names, precisions) else { continue };
            for row in (0..batch.num_rows()).filter(|&row| names.is_valid(row) && precisions.is_valid(row)) {
                if let Ok(precision) = u8::try_from(precisions.value(row)) {
                    columns.insert(names.value(row).to_owned(), precision);
                }
            }
        }
        let columns = Arc::new(columns);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(table.to_owned(), Arc::clone(&columns));
        Ok(columns)
    }
}

/// Sub types of BLOBs mean something else.
fn is_exact(column: &Descriptor) -> bool {
    // SMALLINT, INTEGER, BIGINT, INT128.
    matches!(column.sql_type.0, 500 | 496 | 580 | 32752)
}
