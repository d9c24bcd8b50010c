//! Rows into a table, which is created if necessary.
//!
//! ```text
//!  append, upsert           ───────────────────────────────────────────────► rows
//!  create                   CREATE TABLE ──────────────────────────────────► rows
//!  replace, same columns    ── one transaction: DELETE ────────────────────► rows
//!  replace, other columns   CREATE staging ─► rows into it ─► RECREATE TABLE ─► INSERT … SELECT
//! ```
//!
//! docs/decisions/0017 says why.

mod column;
mod names;
mod replace;
mod shape;
mod write;

use crate::activity::Task;
use crate::error::{Detail, Error, Result, shortened};
use crate::option::{IngestOptions, Mode, TextAs};
use crate::rows::Rows;
use crate::session::Session;
use crate::sql::name;
use arrow::array::{RecordBatch, RecordBatchReader};
use arrow::datatypes::{Schema, SchemaRef};
use column::{Declaration, Engine};
use firearrow::catalog::{
    Catalog, Column, ConstraintKind, LONGEST_NAME, LONGEST_NAME_FIREBIRD3, Name, TableKind, quoted,
};
use firearrow::{Dialect, ReadOptions};
pub use names::similar_table;
use std::collections::VecDeque;
use std::sync::Arc;

/// How much data is looked at before a table is made for it.
pub const AHEAD_BYTES: usize = 64 << 20;

/// The columns of a new table for data of this schema, as CREATE TABLE lists them. `all` are its batches, if they are known:
/// texts then have a length ([`TextAs::Auto`](crate::TextAs::Auto)).
///
/// # Errors
/// [`Class::Argument`](crate::Class::Argument) for a name or column that Firebird cannot have.
pub fn columns_of_table(
    schema: &Schema,
    options: &IngestOptions,
    modern: bool,
    dialect: Dialect,
    all: Option<&VecDeque<RecordBatch>>,
) -> Result<Vec<String>> {
    let (_, schema) = folded(options, schema.clone().into());
    check_names(&options.table, &schema, modern)?;
    let declarations = column::declarations(&schema, options, Engine { modern, dialect }, all)?;
    Ok(declarations.iter().map(Declaration::to_string).collect())
}

/// One ingestion.
struct Ingestion<'a> {
    session: &'a Session,
    options: &'a IngestOptions,
    /// The encoding of text for CHARACTER SET NONE.
    read: &'a ReadOptions,
    task: &'a Task,
    /// The table to write to, by its name in the catalog.
    table: &'a str,
    /// With the names of its columns.
    schema: SchemaRef,
    engine: Engine,
}

/// Inserts the rows into the table of the options. Returns their number, and the columns of a table that was made for them.
pub(crate) fn run(
    session: &Session,
    options: &IngestOptions,
    read: &ReadOptions,
    rows: Rows,
    task: &Task,
) -> Result<(u64, Vec<String>)> {
    if options.commit_rows > 0 && !session.is_autocommit() {
        return Err(Error::state(format!(
            "{} commits, which in manual mode is for the caller to do: set it to 0",
            options.names.commit_rows
        )));
    }
    let engine = Engine { modern: session.is_modern()?, dialect: session.dialect()? };
    check_names(&options.table, &rows.schema(), engine.modern)?;
    let catalog = session.connection()?.catalog()?.with_system_tables(true);
    // Two tables may differ in letter case only.
    let found = names::find(&catalog, &options.table, options.mode == Mode::Create && !options.upper_case)?;
    let (table, schema) = match &found {
        Some(found) if options.mode != Mode::Create => {
            (found.table.clone(), renamed(&rows.schema(), &found.columns)?)
        }
        _ => folded(options, rows.schema()),
    };
    // A new table is another one than a similar one.
    let there = found.filter(|found| found.table == table).map(|found| found.columns);
    let table = table.as_str();
    let ingestion = Ingestion { session, options, read, task, table, schema, engine };
    match (options.mode, there) {
        (Mode::Create, Some(_)) => Err(Error::table_exists(table, "exists already")),
        (Mode::Append | Mode::Upsert, None) => Err(Error::no_table(table)),
        (Mode::Create | Mode::CreateAppend | Mode::Replace, None) => {
            drop(catalog);
            ingestion.make(rows)
        }
        (Mode::Replace, Some(columns)) => Ok((ingestion.replace(catalog, &columns, rows)?, Vec::new())),
        (Mode::Append | Mode::CreateAppend | Mode::Upsert, Some(columns)) => {
            let is_there = |name: &String| columns.iter().any(|column| column.name == *name);
            let fields = ingestion.schema.fields();
            if let Some(field) = fields.iter().find(|field| !is_there(field.name())) {
                let what = format!("exists, but has no column {}", quoted(field.name()));
                return Err(Error::table_exists(table, &what));
            }
            if options.temporary && !is_temporary(kind(&catalog, table)?) {
                return Err(Error::table_exists(table, "exists, but is not a temporary one"));
            }
            let insert = match options.mode {
                Mode::Upsert => ingestion.upsert(&catalog)?,
                _ => ingestion.insert(table),
            };
            drop(catalog);
            Ok((ingestion.fill(&insert, rows)?, Vec::new()))
        }
    }
}

impl Ingestion<'_> {
    /// Rows into a table that is there.
    fn fill(&self, insert: &str, rows: Rows) -> Result<u64> {
        if !self.session.is_autocommit() {
            return self.write_in_manual(None, insert, rows, false);
        }
        let mut committed = 0;
        let written = self.write(None, insert, rows, &mut committed);
        written.map(|()| committed as u64).map_err(|error| told_committed(error, committed))
    }

    /// Rows into a new table, which is dropped again if they cannot be written.
    fn make(&self, mut rows: Rows) -> Result<(u64, Vec<String>)> {
        let declarations = self.declarations(&mut rows)?;
        self.define("CREATE", self.table, &declarations)?;
        let id = match self.session.is_autocommit() {
            true => Task::spared(|| self.session.number(self.table))?,
            false => None,
        };
        let mut committed = 0;
        let filled = self.fill_new(rows, &mut committed);
        if filled.is_err() && committed == 0 {
            Task::spared(|| self.session.undo_made(self.table, id));
        }
        let rows = filled.map_err(|error| told_committed(error, committed))?;
        Ok((rows, declarations.iter().map(Declaration::to_string).collect()))
    }

    fn fill_new(&self, rows: Rows, committed: &mut usize) -> Result<u64> {
        if self.options.temporary {
            self.session.remember_temporary(self.table)?;
        }
        let insert = self.insert(self.table);
        if !self.session.is_autocommit() {
            self.session.remember_made(self.table)?;
            return self.write_in_manual(None, &insert, rows, true);
        }
        self.write(None, &insert, rows, committed)?;
        Ok(*committed as u64)
    }

    /// The columns of a table for these rows. Errors in the first rows are found before anything is changed.
    fn declarations(&self, rows: &mut Rows) -> Result<Vec<Declaration>> {
        let is_auto = self.options.text == TextAs::Auto || self.options.binary == TextAs::Auto;
        // Errors in the first rows come before anything is changed.
        rows.look_ahead(2)?;
        let is_all = is_auto && rows.look_far_ahead(AHEAD_BYTES);
        // Later rows may be longer than none.
        let all = Some(rows.look_ahead(1)?).filter(|ahead| is_all && !ahead.is_empty());
        column::declarations(&self.schema, self.options, self.engine, all)
    }

    /// Makes a table, and commits that.
    fn define(&self, verb: &str, table: &str, columns: &[Declaration]) -> Result<()> {
        let (kind, end) = match self.options.temporary {
            true => ("GLOBAL TEMPORARY TABLE", " ON COMMIT PRESERVE ROWS"),
            false => ("TABLE", ""),
        };
        let columns: Vec<String> = columns.iter().map(Declaration::to_string).collect();
        let table = name(self.engine.dialect, table)?;
        let sql = format!("{verb} {kind} {table} ({}){end}", columns.join(", "));
        self.session.define(self.task, &sql)
    }

    /// The statement that puts one row into a table.
    fn insert(&self, table: &str) -> String {
        let (names, markers) = self.names_and_markers();
        format!("INSERT INTO {} ({names}) VALUES ({markers})", quoted(table))
    }

    fn upsert(&self, catalog: &Catalog) -> Result<String> {
        let table = quoted(self.table);
        let key = match self.options.key.is_empty() {
            true => primary_key(catalog, self.table)?,
            false => {
                let fields = self.schema.fields().iter().map(|field| field.name().as_str());
                names::similar(&self.options.key, &fields.collect::<Vec<_>>())
            }
        };
        if key.is_empty() {
            let option = self.options.names.key;
            let text = format!("has no primary key; name the columns that find rows in {option}");
            return Err(Error::argument(format!("table {table} {text}")));
        }
        if let Some(lacking) = key.iter().find(|name| self.schema.field_with_name(name).is_err()) {
            return Err(Error::argument(format!("the data lacks the key column {}", quoted(lacking))));
        }
        let key: Vec<String> = key.iter().map(|name| quoted(name)).collect();
        let (names, markers) = self.names_and_markers();
        let matching = key.join(", ");
        Ok(format!("UPDATE OR INSERT INTO {table} ({names}) VALUES ({markers}) MATCHING ({matching})"))
    }

    fn names_and_markers(&self) -> (String, String) {
        let names: Vec<String> = self.schema.fields().iter().map(|field| quoted(field.name())).collect();
        (names.join(", "), vec!["?"; names.len()].join(", "))
    }
}

/// Names of a new table and its columns.
fn folded(options: &IngestOptions, schema: SchemaRef) -> (String, SchemaRef) {
    if !options.upper_case {
        return (options.table.clone(), schema);
    }
    let fields =
        schema.fields().iter().map(|field| field.as_ref().clone().with_name(names::upper(field.name())));
    let fields: Vec<_> = fields.collect();
    (names::upper(&options.table), Schema::new_with_metadata(fields, schema.metadata().clone()).into())
}

/// The schema with the names of the columns that its fields are in a table: those that are the same, otherwise the only ones
/// that differ in letter case alone. A field without a column stays as it is.
///
/// # Errors
/// A field may be several columns, or a column several fields.
pub fn renamed(schema: &SchemaRef, columns: &[Column]) -> Result<SchemaRef> {
    let given: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let names = names::columns_of(&given, columns)?;
    if names == given {
        return Ok(Arc::clone(schema));
    }
    let fields =
        schema.fields().iter().zip(names).map(|(field, name)| field.as_ref().clone().with_name(name));
    let fields: Vec<_> = fields.collect();
    Ok(Schema::new_with_metadata(fields, schema.metadata().clone()).into())
}

/// An error after which some rows stay.
fn told_committed(error: Error, committed: usize) -> Error {
    if committed == 0 {
        return error;
    }
    let error = error.context(format_args!("{committed} rows are committed"));
    error.with_detail(Detail::RowsCommitted, committed)
}

/// Columns of the primary key, in order; none if there is no such key.
fn primary_key(catalog: &Catalog, table: &str) -> Result<Vec<String>> {
    let constraints = catalog.constraints(Name::Is(table))?;
    let key = constraints.into_iter().find(|constraint| constraint.kind == ConstraintKind::PrimaryKey);
    Ok(key.map(|key| key.columns).unwrap_or_default())
}

/// Refuses names that Firebird does not have. It ignores trailing blanks: `"T "` would be the table `T`.
fn check_names(table: &str, schema: &Schema, modern: bool) -> Result<()> {
    if schema.fields().is_empty() {
        return Err(Error::argument("the data has no columns"));
    }
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = names.clone().find(|name| !seen.insert(*name)) {
        return Err(Error::argument(format!("the data has two columns {}", quoted(twice))));
    }
    for name in names.chain([table]) {
        let (length, longest, unit) = match modern {
            true => (name.chars().count(), LONGEST_NAME, "characters"),
            false => (name.len(), LONGEST_NAME_FIREBIRD3, "bytes"),
        };
        if name.is_empty() || name.contains('\0') || name.ends_with(' ') || length > longest {
            return Err(Error::argument(format!(
                "'{}' cannot be a name: names have 1 to {longest} {unit}, the last of which is not a blank",
                shortened(name)
            )));
        }
    }
    Ok(())
}

/// The kind of a table; `None` if it no longer exists.
fn kind(catalog: &Catalog, table: &str) -> Result<Option<TableKind>> {
    Ok(catalog.tables(Name::Is(table))?.first().map(|table| table.kind))
}

fn is_temporary(kind: Option<TableKind>) -> bool {
    matches!(kind, Some(TableKind::GlobalTemporary { .. }))
}
