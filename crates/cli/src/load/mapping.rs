//! What becomes of the files' columns: their names in the table, and their types.

use super::convert::{Conversion, Refused};
use super::infer::types;
use super::source::Part;
use super::table::Table;
use crate::failure::{Failure, Result};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How batches of the files become rows of the table.
#[derive(Debug)]
pub(super) struct Plan {
    /// The columns of the table that get values, as they are sent.
    pub(super) schema: SchemaRef,
    /// For each column of a text file.
    conversions: Option<Vec<Conversion>>,
}

/// Rows for the table, and those that cannot be.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) batch: RecordBatch,
    /// Rows of the part that are not in the batch, in order.
    pub(super) refused: Vec<Refused>,
}

impl Plan {
    /// For a table that exists.
    pub(super) fn into_table(table: &Table, files: &Schema, is_text: bool, has_header: bool) -> Result<Self> {
        let columns = table.columns.as_deref().unwrap_or_default();
        let matched = match has_header {
            true => table.match_columns(files, columns)?,
            false => table.columns_in_order(files, columns)?,
        };
        let conversions: Option<Vec<Conversion>> =
            is_text.then(|| matched.iter().map(|column| Conversion::into_column(column)).collect());
        let names = matched.iter().map(|column| column.name.clone()).collect();
        Ok(Self { schema: renamed(files, names, conversions.as_deref()), conversions })
    }

    /// For a table that is created.
    pub(super) fn new_table(
        table: &Table,
        files: &Schema,
        ahead: Option<&RecordBatch>,
        is_text: bool,
        modern: bool,
    ) -> Result<Self> {
        let names = table.new_columns(files)?;
        if !is_text {
            return Ok(Self { schema: renamed(files, names, None), conversions: None });
        }
        let Some(ahead) = ahead else {
            return Err(Failure::other(format!(
                "the table {} does not exist, and no rows show which types it should have: create it first",
                table.name
            )));
        };
        let conversions: Vec<Conversion> = types(ahead, modern).iter().map(Conversion::into_type).collect();
        Ok(Self { schema: renamed(files, names, Some(&conversions)), conversions: Some(conversions) })
    }

    /// Converts the rows of a part.
    pub(super) fn apply(&self, part: &Part) -> Result<Planned> {
        let mut refused = Vec::new();
        let columns: Vec<ArrayRef> = match &self.conversions {
            None => part.batch.columns().to_vec(),
            Some(conversions) => {
                let columns = part.batch.columns().iter().zip(conversions).zip(self.schema.fields());
                columns.map(|((texts, to), field)| to.apply(texts, field.name(), &mut refused)).collect()
            }
        };
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        if refused.is_empty() {
            return Ok(Planned { batch, refused });
        }
        // Of each row the first column counts.
        let mut by_row = BTreeMap::new();
        for Refused { row, why } in refused {
            by_row.entry(row).or_insert(why);
        }
        let kept: BooleanArray = (0..batch.num_rows()).map(|row| Some(!by_row.contains_key(&row))).collect();
        let batch = filter_record_batch(&batch, &kept)?;
        let refused = by_row.into_iter().map(|(row, why)| Refused { row, why }).collect();
        Ok(Planned { batch, refused })
    }
}

/// The columns with these names, and the types that they are converted to.
fn renamed(files: &Schema, names: Vec<String>, conversions: Option<&[Conversion]>) -> SchemaRef {
    let fields = files.fields().iter().zip(names).enumerate().map(|(index, (field, name))| {
        let to = conversions.and_then(|conversions| conversions.get(index));
        let data_type: DataType = to.map_or_else(|| field.data_type().clone(), |to| to.data_type());
        // Metadata tells extension types, such as arrow.bool8.
        Field::new(name, data_type, field.is_nullable()).with_metadata(field.metadata().clone())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
