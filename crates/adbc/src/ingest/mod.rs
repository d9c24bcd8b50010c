//! Bound data into a table, which is made for it if need be.

mod column;

use crate::activity::Task;
use crate::attachment::Attachment;
use crate::bind::{Failure, Rows};
use crate::error::{self, Result, TABLE_EXISTS, invalid_argument, invalid_state, new, of};
use crate::option::{IngestOptions, Mode, Purpose};
use crate::sql::name;
use adbc_core::error::{Error, Status};
use arrow::array::RecordBatchReader;
use arrow::datatypes::Schema;
use column::Engine;
use firearrow::catalog::{
    Catalog, ConstraintKind, LONGEST_NAME, LONGEST_NAME_FIREBIRD3, Name, TableKind, quoted,
};
use firearrow::{CommitOutcome, Dialect, LockResolution, OnFailure, Statement, Transaction};

/// Puts the rows into the table of the options. Gives their number.
pub(crate) fn run(
    attachment: &Attachment,
    options: &IngestOptions,
    mut rows: Rows,
    task: &Task,
) -> Result<u64> {
    if options.commit_rows > 0 && !attachment.is_autocommit() {
        return Err(invalid_state(
            "ingest.commit_rows commits, which in manual mode is for the caller to do: set it to 0",
        ));
    }
    let table = options.table.as_deref().unwrap_or_default();
    let engine = Engine { modern: attachment.is_modern()?, dialect: attachment.dialect()? };
    let schema = rows.schema();
    check_names(table, &schema, engine.modern)?;
    let catalog = attachment.connection()?.catalog().map_err(of)?.with_system_tables(true);
    let columns = catalog.columns(Name::Is(table), Name::Any).map_err(of)?;
    let there = (!columns.is_empty()).then_some(&columns);
    let makes = match (options.mode, there) {
        (Mode::Create, Some(_)) => return Err(exists(table, "exists already")),
        (Mode::Append | Mode::Upsert, None) => return Err(error::no_table(table)),
        (Mode::Create | Mode::CreateAppend, None) | (Mode::Replace, _) => true,
        (Mode::Append | Mode::CreateAppend | Mode::Upsert, Some(columns)) => {
            let is_there = |name: &String| columns.iter().any(|column| column.name == *name);
            if let Some(field) = schema.fields().iter().find(|field| !is_there(field.name())) {
                return Err(exists(table, &format!("exists, but has no column {}", quoted(field.name()))));
            }
            if options.temporary && !is_temporary(&catalog, table)? {
                return Err(exists(table, "exists, but is not a temporary one"));
            }
            false
        }
    };
    let insert = insert(&catalog, options, table, &schema)?;
    drop(catalog);
    if makes {
        // Whatever is wrong with the beginning of the data must not cost the table that is there.
        let ahead = rows.look_ahead(2)?;
        let columns = column::declarations(&schema, options, engine, ahead)?;
        let verb = if options.mode == Mode::Replace { "RECREATE" } else { "CREATE" };
        let (kind, end) = match options.temporary {
            true => ("GLOBAL TEMPORARY TABLE", " ON COMMIT PRESERVE ROWS"),
            false => ("TABLE", ""),
        };
        attachment
            .define(task, &format!("{verb} {kind} {} ({columns}){end}", name(engine.dialect, table)?))?;
        if options.temporary {
            attachment.remember_temporary(table)?;
        }
    }
    let mut committed = 0;
    let written = write(attachment, options, &insert, rows, &mut committed);
    if written.is_err() && makes && committed == 0 {
        undo(attachment, table);
    }
    written
}

/// Executes the statement for all rows, in the transaction of the connection, one of its own, or one after the other.
fn write(
    attachment: &Attachment,
    options: &IngestOptions,
    sql: &str,
    mut rows: Rows,
    committed: &mut usize,
) -> Result<u64> {
    if rows.look_ahead(1)?.is_empty() {
        return Ok(0);
    }
    let failure = rows.failure();
    if !attachment.is_autocommit() {
        return attachment.in_transaction(|transaction| {
            let statement =
                transaction.prepare_in(Dialect::Three, sql).map_err(of)?.with_write_options(options.write);
            Ok(write_in(transaction, &statement, rows, &failure, 0)? as u64)
        });
    }
    let statement = attachment
        .connection()?
        .prepare_in(Dialect::Three, sql)
        .map_err(of)?
        .with_write_options(options.write);
    let most = if options.commit_rows > 0 { options.commit_rows } else { usize::MAX };
    while !rows.look_ahead(1).map_err(|error| told_committed(error, *committed))?.is_empty() {
        let mut transaction = attachment.begin(Purpose::Ingest)?;
        let written = write_in(&mut transaction, &statement, rows.part(most), &failure, *committed)
            .map_err(|error| told_committed(error, *committed))?;
        let ended = transaction.commit();
        let lost = ended.as_ref().err().and_then(|error| error.lost_commit()).map(|lost| lost.outcome);
        if ended.is_ok() || lost == Some(CommitOutcome::Committed) {
            *committed += written;
        }
        ended.map_err(|error| told_committed(of(error), *committed))?;
    }
    Ok(*committed as u64)
}

/// Writes these rows, of which the first has a number.
fn write_in(
    transaction: &mut Transaction,
    statement: &Statement,
    rows: impl RecordBatchReader,
    failure: &Failure,
    first: usize,
) -> Result<usize> {
    let done = statement.execute_stream(transaction, rows, OnFailure::Stop);
    let done = done.map_err(|error| failure.instead_of(of(error)))?;
    match done.failures.into_iter().next() {
        Some(failed) => Err(error::of_row(first + failed.row, failed.error)),
        None => Ok(done.rows),
    }
}

/// An error behind rows that stay.
fn told_committed(error: Error, committed: usize) -> Error {
    if committed == 0 {
        return error;
    }
    let error = error::context(error, format_args!("{committed} rows are committed"));
    error::with_detail(error, "firebird.rows_committed", committed)
}

/// Removes a table that was made for rows which could not be written. In manual mode its transaction may hold it.
fn undo(attachment: &Attachment, table: &str) {
    let Ok(mut options) = attachment.transaction_options(Purpose::Ddl) else { return };
    if !attachment.is_autocommit() {
        options.lock_resolution = LockResolution::NoWait;
    }
    // The first error is the one to report.
    let _ = attachment.drop_table(options, table);
}

/// The statement that takes one row.
fn insert(catalog: &Catalog, options: &IngestOptions, table: &str, schema: &Schema) -> Result<String> {
    let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
    let markers = vec!["?"; names.len()].join(", ");
    let (names, into) = (names.join(", "), quoted(table));
    if options.mode != Mode::Upsert {
        return Ok(format!("INSERT INTO {into} ({names}) VALUES ({markers})"));
    }
    let key = match options.key.is_empty() {
        true => primary_key(catalog, table)?,
        false => options.key.clone(),
    };
    if key.is_empty() {
        let text = "has no primary key; name the columns that find rows in adbc.firebird.ingest.key";
        return Err(invalid_argument(format!("table {into} {text}")));
    }
    if let Some(lacking) = key.iter().find(|name| schema.field_with_name(name).is_err()) {
        return Err(invalid_argument(format!("the data lacks the key column {}", quoted(lacking))));
    }
    let key: Vec<String> = key.iter().map(|name| quoted(name)).collect();
    Ok(format!("UPDATE OR INSERT INTO {into} ({names}) VALUES ({markers}) MATCHING ({})", key.join(", ")))
}

/// Columns of the primary key, in order; none if there is no such key.
fn primary_key(catalog: &Catalog, table: &str) -> Result<Vec<String>> {
    let constraints = catalog.constraints(Name::Is(table)).map_err(of)?;
    let key = constraints.into_iter().find(|constraint| constraint.kind == ConstraintKind::PrimaryKey);
    Ok(key.map(|key| key.columns).unwrap_or_default())
}

fn check_names(table: &str, schema: &Schema, modern: bool) -> Result<()> {
    if schema.fields().is_empty() {
        return Err(invalid_argument("the data has no columns"));
    }
    let names = schema.fields().iter().map(|field| field.name().as_str());
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = names.clone().find(|name| !seen.insert(*name)) {
        return Err(invalid_argument(format!("the data has two columns {}", quoted(twice))));
    }
    for name in names.chain([table]) {
        let (length, longest, unit) = match modern {
            true => (name.chars().count(), LONGEST_NAME, "characters"),
            false => (name.len(), LONGEST_NAME_FIREBIRD3, "bytes"),
        };
        if name.is_empty() || name.contains('\0') || length > longest {
            return Err(invalid_argument(format!(
                "'{}' cannot be a name: names have 1 to {longest} {unit}",
                crate::option::shortened(name)
            )));
        }
    }
    Ok(())
}

fn is_temporary(catalog: &Catalog, table: &str) -> Result<bool> {
    let tables = catalog.tables(Name::Is(table)).map_err(of)?;
    Ok(tables.iter().any(|table| matches!(table.kind, TableKind::GlobalTemporary { .. })))
}

fn exists(table: &str, what: &str) -> Error {
    let error = new(Status::AlreadyExists, format!("table {} {what}", quoted(table)));
    error::with_detail(error::with_sqlstate(error, TABLE_EXISTS), "firebird.table", table)
}
