//! The declared precision of NUMERIC and DECIMAL columns, which the engine's descriptions lack. A table is looked up once.

use firearrow::catalog::Name;
use firearrow::{Connection, Descriptor, ReadOptions};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    ) -> firearrow::Result<ReadOptions> {
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

    fn table(&self, connection: &Connection, table: &str) -> firearrow::Result<Columns> {
        if let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(table) {
            return Ok(Arc::clone(known));
        }
        let catalog = connection.catalog()?.with_system_tables(true);
        let known = catalog.columns(Name::Is(table), Name::Any)?;
        let columns = known.into_iter().filter_map(|column| Some((column.name, column.data_type.precision?)));
        let columns: HashMap<String, u8> = columns.collect();
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
