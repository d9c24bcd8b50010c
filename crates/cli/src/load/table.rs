//! The table that is loaded, and which of its columns each column of the files is.

use super::names::{Found, find, is_unseparated, listed, new_name};
use crate::failure::{Failure, Result};
use crate::name::unquoted;
use crate::similar::nearest;
use arrow::datatypes::{DataType, Schema};
use firearrow::catalog::{Catalog, Column, Identity, Name, TableKind};

/// Data frames often write their index first, without a name.
const NAMELESS_HINT: &str =
    " (the index of a data frame?); --skip-columns '' leaves out the first such column";

/// The table that is loaded.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) is_view: bool,
    /// Its columns; `None` if it does not exist.
    pub(super) columns: Option<Vec<Column>>,
    /// If it does not exist: one whose name differs little.
    pub(super) similar: Option<String>,
}

impl Table {
    /// Finds the table that the command line names. Quotes make letter case count.
    pub(super) fn find(catalog: &Catalog, into: &str) -> firearrow_driver::Result<Result<Self>> {
        let tables = catalog.tables(Name::Any)?;
        let tables = tables.iter().filter(|table| table.kind != TableKind::System);
        let names = tables.clone().map(|table| table.name.as_str());
        let exact = unquoted(into.trim());
        let found = match &exact {
            Some(exact) => {
                names.clone().find(|name| name == exact).map_or(Found::None, |name| Found::One(0, name))
            }
            None => find(into.trim(), names.clone()),
        };
        let name = match found {
            Found::One(_, name) => name,
            Found::None if exact.is_none() && into.contains('.') => {
                return Ok(Err(Failure::usage(format!(
                    "there is no table {0}: --into takes a name without a schema; quote a name that has a dot in it, \
                     as in --into '\"{0}\"'",
                    into.trim()
                ))));
            }
            Found::None => {
                let name = exact.unwrap_or_else(|| new_name(into.trim()));
                let known: Vec<String> = names.map(str::to_owned).collect();
                let similar = nearest(&name, &known);
                return Ok(Ok(Self { name, is_view: false, columns: None, similar }));
            }
            Found::Several(names) => {
                let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                return Ok(Err(Failure::usage(format!(
                    "{into} may be any of the tables {}: quote the one you mean, as in --into '{}'",
                    names.join(", "),
                    names.first().map_or("", String::as_str)
                ))));
            }
        };
        let columns = catalog.columns(Name::Is(name), Name::Any)?;
        let is_view = tables.clone().any(|table| table.name == name && table.kind == TableKind::View);
        Ok(Ok(Self { name: name.to_owned(), is_view, columns: Some(columns), similar: None }))
    }

    /// Returns the names for a new table's columns.
    pub(super) fn new_columns(&self, schema: &Schema) -> Result<Vec<String>> {
        let names: Vec<String> = schema.fields().iter().map(|field| new_name(field.name())).collect();
        for (index, name) in names.iter().enumerate() {
            if name.trim().is_empty() {
                return Err(Failure::other(format!(
                    "column {} of the file has no name{NAMELESS_HINT}",
                    index + 1
                )));
            }
            if names[..index].contains(name) {
                return Err(Failure::other(format!(
                    "the file has two columns {name}, of which one must go: --skip-columns"
                )));
            }
        }
        Ok(names)
    }

    /// Returns the table's column for each column of the files.
    pub(super) fn match_columns<'a>(
        &self,
        schema: &Schema,
        columns: &'a [Column],
    ) -> Result<Vec<&'a Column>> {
        let names = columns.iter().map(|column| column.name.as_str());
        let mut matched: Vec<&Column> = Vec::new();
        for field in schema.fields() {
            let name = field.name();
            let column = match find(name, names.clone()) {
                Found::One(index, _) => &columns[index],
                Found::None if name.is_empty() => {
                    return Err(Failure::other(format!("a column of the file has no name{NAMELESS_HINT}")));
                }
                Found::None => {
                    let all = listed(names);
                    let is_line = schema.fields().len() == 1 && is_unseparated(name);
                    let hint = if is_line { "--delimiter names what separates fields" } else { SKIP_HINT };
                    return Err(Failure::other(format!(
                        "the table {} has no column {name}; its columns are {all}; {hint}",
                        self.name
                    )));
                }
                Found::Several(several) => {
                    let several = several.join(" or ");
                    return Err(Failure::other(format!(
                        "the column {name} of the file may be {several} of the table {}: \
                         give it the name that is meant; the columns are {}",
                        self.name,
                        listed(names)
                    )));
                }
            };
            if matched.iter().any(|other| other.name == column.name) {
                return Err(Failure::other(format!(
                    "two columns of the file are {}, of which one must go",
                    column.name
                )));
            }
            self.check_column(column, field.data_type())?;
            matched.push(column);
        }
        Ok(matched)
    }

    /// Returns the table's columns that take values, in order, for a file without names.
    pub(super) fn columns_in_order<'a>(
        &self,
        schema: &Schema,
        columns: &'a [Column],
    ) -> Result<Vec<&'a Column>> {
        let takes_values =
            |column: &&Column| column.computed.is_none() && column.identity != Some(Identity::Always);
        let matched: Vec<&Column> = columns.iter().filter(takes_values).collect();
        let found = schema.fields().len();
        if found != matched.len() {
            let all = listed(matched.iter().map(|column| column.name.as_str()));
            return Err(Failure::other(format!(
                "the file has {found} fields in its first line, the table {} has {} columns: {all}",
                self.name,
                matched.len()
            )));
        }
        for (column, field) in matched.iter().zip(schema.fields()) {
            self.check_column(column, field.data_type())?;
        }
        Ok(matched)
    }

    /// Fails for a column that takes no values, or none of these.
    fn check_column(&self, column: &Column, data_type: &DataType) -> Result<()> {
        let name = format!("the column {} of the table {}", column.name, self.name);
        let refused = |what: &str| Err(Failure::other(format!("{name} {what}")));
        if column.computed.is_some() {
            return refused(&format!("is computed by the database; {SKIP_HINT}"));
        }
        if column.identity == Some(Identity::Always) {
            return refused(&format!("gets its numbers from the database (GENERATED ALWAYS); {SKIP_HINT}"));
        }
        let is_array = column.data_type.is_array();
        if is_array && *data_type == DataType::Utf8 {
            return refused("is an array, which only Parquet and Arrow files can hold");
        }
        // As a parameter it would be the id of a BLOB.
        if !is_array && *data_type == DataType::UInt64 && column.data_type.sub_type.is_some() {
            return refused("is a BLOB, and its values are numbers; convert them to text first");
        }
        Ok(())
    }

    /// Returns the table's names for the columns of `--key`.
    pub(super) fn key(&self, wanted: &[String], columns: &[Column]) -> Result<Vec<String>> {
        let names = columns.iter().map(|column| column.name.as_str());
        let key = wanted.iter().map(|wanted| match find(wanted.trim(), names.clone()) {
            Found::One(_, name) => Ok(name.to_owned()),
            _ => Err(Failure::usage(format!(
                "--key {wanted}: the columns of the table {} are {}",
                self.name,
                listed(names.clone())
            ))),
        });
        key.collect()
    }
}

/// What helps if a column of the files cannot be loaded.
const SKIP_HINT: &str = "--skip-columns leaves it out";
