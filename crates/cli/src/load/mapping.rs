//! What becomes of the files' columns: their names in the table, and their types.

use super::convert::{Conversion, Refused};
use super::infer::{looks_like_dates, types};
use super::notation::Notation;
use super::source::Part;
use super::table::Table;
use crate::failure::{Failure, Result};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use firearrow::catalog::Column;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How batches of the files become rows of the table.
#[derive(Debug)]
pub(super) struct Plan {
    /// The columns of the table that get values, as they are sent.
    pub(super) schema: SchemaRef,
    /// How each column of a text file is converted, and how its values are written.
    conversions: Option<Vec<(Conversion, Notation)>>,
    /// Whether the types come from the first rows.
    is_inferred: bool,
    /// Columns that become text, although they look like dates.
    pub(super) seeming_dates: Vec<String>,
}

/// How the texts of a file are to be understood.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextForm {
    pub(super) has_header: bool,
    pub(super) notation: Notation,
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
    pub(super) fn into_table(table: &Table, files: &Schema, is_text: bool, form: TextForm) -> Result<Self> {
        let columns = table.columns.as_deref().unwrap_or_default();
        let matched = match form.has_header {
            true => table.match_columns(files, columns)?,
            false => table.columns_in_order(files, columns)?,
        };
        let conversion = |column: &&Column| {
            (Conversion::into_column(column), form.notation.of_column(Conversion::is_number(column)))
        };
        let conversions: Option<Vec<_>> = is_text.then(|| matched.iter().map(conversion).collect());
        let names = matched.iter().map(|column| column.name.clone()).collect();
        let schema = renamed(files, names, conversions.as_deref());
        Ok(Self { schema, conversions, is_inferred: false, seeming_dates: Vec::new() })
    }

    /// For a table that is created.
    pub(super) fn new_table(
        table: &Table,
        files: &Schema,
        ahead: Option<&RecordBatch>,
        is_text: bool,
        form: TextForm,
        modern: bool,
    ) -> Result<Self> {
        let names = table.new_columns(files)?;
        if !is_text {
            let schema = renamed(files, names, None);
            return Ok(Self { schema, conversions: None, is_inferred: false, seeming_dates: Vec::new() });
        }
        let Some(ahead) = ahead else {
            return Err(Failure::other(format!(
                "the table {} does not exist, and no rows show which types it should have: create it first",
                table.name
            )));
        };
        let conversion = |data_type: &DataType| {
            let to = Conversion::into_type(data_type);
            (to, form.notation.of_column(to.makes_number()))
        };
        let conversions: Vec<_> = types(ahead, form.notation, modern).iter().map(conversion).collect();
        let schema = renamed(files, names, Some(&conversions));
        let columns = schema.fields().iter().zip(ahead.columns());
        let seeming_dates = columns
            .filter(|(field, values)| *field.data_type() == DataType::Utf8 && looks_like_dates(values))
            .map(|(field, _)| field.name().clone())
            .collect();
        Ok(Self { schema, conversions: Some(conversions), is_inferred: true, seeming_dates })
    }

    /// Converts the rows of a part.
    pub(super) fn apply(&self, part: &Part) -> Result<Planned> {
        let mut refused = Vec::new();
        let columns: Vec<ArrayRef> = match &self.conversions {
            None => part.batch.columns().to_vec(),
            Some(conversions) => {
                let columns = part.batch.columns().iter().zip(conversions).zip(self.schema.fields());
                columns
                    .map(|((texts, (to, notation)), field)| {
                        to.apply(*notation, texts, field.name(), &mut refused)
                    })
                    .collect()
            }
        };
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        if refused.is_empty() {
            return Ok(Planned { batch, refused });
        }
        // Of each row the first column counts.
        let mut by_row = BTreeMap::new();
        let inferred =
            "; the column's type comes from the first rows: for another one, create the table first";
        let inferred = if self.is_inferred { inferred } else { "" };
        for Refused { row, why } in refused {
            by_row.entry(row).or_insert_with(|| format!("{why}{inferred}"));
        }
        let kept: BooleanArray = (0..batch.num_rows()).map(|row| Some(!by_row.contains_key(&row))).collect();
        let batch = filter_record_batch(&batch, &kept)?;
        let refused = by_row.into_iter().map(|(row, why)| Refused { row, why }).collect();
        Ok(Planned { batch, refused })
    }
}

/// The columns with these names, and the types that they are converted to.
fn renamed(files: &Schema, names: Vec<String>, conversions: Option<&[(Conversion, Notation)]>) -> SchemaRef {
    let fields = files.fields().iter().zip(names).enumerate().map(|(index, (field, name))| {
        let to = conversions.and_then(|conversions| conversions.get(index));
        let data_type: DataType = to.map_or_else(|| field.data_type().clone(), |(to, _)| to.data_type());
        // Metadata tells extension types, such as arrow.bool8.
        Field::new(name, data_type, field.is_nullable()).with_metadata(field.metadata().clone())
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}
