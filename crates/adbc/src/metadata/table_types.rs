//! The kinds of tables.

use crate::error::Result;
use adbc_core::schemas::GET_TABLE_TYPES_SCHEMA;
use arrow::array::{RecordBatch, StringArray};
use firearrow::catalog::TableKind;
use std::sync::Arc;

/// Returns one row for each type of table that [`objects`](super::objects) lists.
pub fn table_types() -> Result<RecordBatch> {
    let names = StringArray::from_iter_values(TableKind::NAMES);
    Ok(RecordBatch::try_new(GET_TABLE_TYPES_SCHEMA.clone(), vec![Arc::new(names)])?)
}
