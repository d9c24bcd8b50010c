//! Tables with their columns and constraints, as one nested row.

use super::nested::{catalog, lists, no_lists, structs};
use super::xdbc::xdbc;
use super::{has_nameless, pattern};
use crate::error::{self, Result};
use adbc_core::options::ObjectDepth;
use adbc_core::schemas::{
    COLUMN_SCHEMA, CONSTRAINT_SCHEMA, GET_OBJECTS_SCHEMA, OBJECTS_DB_SCHEMA_SCHEMA, TABLE_SCHEMA,
    USAGE_SCHEMA,
};
use arrow::array::{
    ArrayRef, BooleanArray, Int16Array, Int32Array, RecordBatch, StringArray, new_null_array,
};
use arrow::datatypes::DataType;
use firearrow::Connection;
use firearrow::catalog::{Column, Constraint, Reference, Table, TableKind};
use firearrow_driver::metadata;
use std::sync::Arc;

/// Selects objects. Names are patterns with `%` and `_`; matching is case-sensitive.
#[derive(Clone, Debug, Default)]
pub struct ObjectFilter<'a> {
    /// Catalog. Empty: objects without a catalog, which are all of them. Other texts match nothing.
    pub catalog: Option<&'a str>,
    /// Schema, in the same way.
    pub schema: Option<&'a str>,
    /// Table or view.
    pub table: Option<&'a str>,
    /// Types of tables; see [`table_types`](super::table_types).
    pub table_types: Option<Vec<&'a str>>,
    /// Column. Tables are listed even if none of their columns match.
    pub column: Option<&'a str>,
}

/// Returns the objects of the database: one row, or none if the filter names a catalog.
pub fn objects(connection: &Connection, depth: ObjectDepth, filter: ObjectFilter<'_>) -> Result<RecordBatch> {
    let schema = &GET_OBJECTS_SCHEMA;
    if !has_nameless(filter.catalog) {
        return catalog(schema, None);
    }
    if matches!(depth, ObjectDepth::Catalogs) {
        return catalog(schema, Some(no_lists(&OBJECTS_DB_SCHEMA_SCHEMA, 1)));
    }
    let count = usize::from(has_nameless(filter.schema));
    let tables = match (count, depth) {
        (0, _) | (_, ObjectDepth::Schemas) => no_lists(&TABLE_SCHEMA, count),
        (_, depth) => tables(connection, !matches!(depth, ObjectDepth::Tables), &filter)?,
    };
    let names = new_null_array(&DataType::Utf8, count);
    let schemas = structs(&OBJECTS_DB_SCHEMA_SCHEMA, vec![names, tables])?;
    catalog(schema, Some(lists(schemas, [Some(count)])?))
}

/// Returns the tables of the one schema, as one list.
fn tables(connection: &Connection, with_columns: bool, filter: &ObjectFilter<'_>) -> Result<ArrayRef> {
    let is_wanted = |kind: TableKind| match &filter.table_types {
        Some(kinds) => kinds.contains(&kind.name()),
        None => true,
    };
    let (name, column) = (pattern(filter.table), pattern(filter.column));
    if !with_columns {
        let tables = metadata::tables(connection, name, is_wanted).map_err(error::of)?;
        let columns = no_lists(&COLUMN_SCHEMA, tables.len());
        let constraints = no_lists(&CONSTRAINT_SCHEMA, tables.len());
        return list_of_tables(tables.iter(), columns, constraints);
    }
    let tables = metadata::described_tables(connection, name, column, is_wanted).map_err(error::of)?;
    let columns: Vec<&Column> = tables.iter().flat_map(|each| &each.columns).collect();
    let constraints: Vec<&Constraint> = tables.iter().flat_map(|each| &each.constraints).collect();
    list_of_tables(
        tables.iter().map(|each| &each.table),
        lists(structs_of_columns(&columns)?, tables.iter().map(|each| Some(each.columns.len())))?,
        lists(structs_of_constraints(&constraints)?, tables.iter().map(|each| Some(each.constraints.len())))?,
    )
}

fn list_of_tables<'a>(
    tables: impl ExactSizeIterator<Item = &'a Table> + Clone,
    columns: ArrayRef,
    constraints: ArrayRef,
) -> Result<ArrayRef> {
    let names = StringArray::from_iter_values(tables.clone().map(|table| &table.name));
    let kinds = StringArray::from_iter_values(tables.clone().map(|table| table.kind.name()));
    let structs = structs(&TABLE_SCHEMA, vec![Arc::new(names), Arc::new(kinds), columns, constraints])?;
    lists(structs, [Some(tables.len())])
}

fn structs_of_columns(columns: &[&Column]) -> Result<ArrayRef> {
    let types: Vec<_> = columns.iter().map(|column| xdbc(&column.data_type)).collect();
    let text = |of: fn(&Column) -> Option<&str>| -> ArrayRef {
        Arc::new(columns.iter().map(|column| of(column)).collect::<StringArray>())
    };
    let flag = |of: fn(&Column) -> bool| -> ArrayRef {
        Arc::new(columns.iter().map(|column| Some(of(column))).collect::<BooleanArray>())
    };
    let none = || new_null_array(&DataType::Utf8, columns.len());
    let members: Vec<ArrayRef> = vec![
        text(|column| Some(&column.name)),
        Arc::new(Int32Array::from_iter_values(columns.iter().map(|column| column.position))),
        text(|column| column.remarks.as_deref()),
        Arc::new(Int16Array::from_iter_values(types.iter().map(|xdbc| xdbc.data_type))),
        text(|column| Some(column.data_type.name())),
        Arc::new(types.iter().map(|xdbc| xdbc.column_size).collect::<Int32Array>()),
        Arc::new(types.iter().map(|xdbc| xdbc.decimal_digits).collect::<Int16Array>()),
        Arc::new(types.iter().map(|xdbc| xdbc.radix).collect::<Int16Array>()),
        Arc::new(Int16Array::from_iter_values(columns.iter().map(|column| column.nullable.into()))),
        text(|column| column.default.as_deref()),
        Arc::new(Int16Array::from_iter_values(types.iter().map(|xdbc| xdbc.sql_data_type))),
        Arc::new(types.iter().map(|xdbc| xdbc.datetime_sub).collect::<Int16Array>()),
        Arc::new(types.iter().map(|xdbc| xdbc.octet_length).collect::<Int32Array>()),
        text(|column| Some(if column.nullable { "YES" } else { "NO" })),
        none(),
        none(),
        none(),
        flag(|column| column.identity.is_some()),
        flag(|column| column.computed.is_some()),
    ];
    structs(&COLUMN_SCHEMA, members)
}

fn structs_of_constraints(constraints: &[&Constraint]) -> Result<ArrayRef> {
    let names = constraints.iter().map(|constraint| &constraint.name);
    let kinds = constraints.iter().map(|constraint| constraint.kind.name());
    let columns = constraints.iter().flat_map(|constraint| &constraint.columns);
    let columns = lists(
        Arc::new(StringArray::from_iter_values(columns)),
        constraints.iter().map(|constraint| Some(constraint.columns.len())),
    )?;
    let references: Vec<Option<&Reference>> =
        constraints.iter().map(|constraint| constraint.references.as_ref()).collect();
    let used =
        || references.iter().flatten().flat_map(|to| to.columns.iter().map(|column| (&to.table, column)));
    let usages = structs(
        &USAGE_SCHEMA,
        vec![
            new_null_array(&DataType::Utf8, used().count()),
            new_null_array(&DataType::Utf8, used().count()),
            Arc::new(StringArray::from_iter_values(used().map(|(table, _)| table))),
            Arc::new(StringArray::from_iter_values(used().map(|(_, column)| column))),
        ],
    )?;
    let usages = lists(usages, references.iter().map(|to| to.map(|to| to.columns.len())))?;
    let members: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from_iter_values(names)),
        Arc::new(StringArray::from_iter_values(kinds)),
        columns,
        usages,
    ];
    structs(&CONSTRAINT_SCHEMA, members)
}
