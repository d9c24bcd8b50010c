//! Loads rows and writes those that the database refuses to a file.

use super::convert::Refused;
use super::feed::{Batch, Feed};
use super::write::{Target, reason};
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output::{Format, OutputFile, Sink, Style};
use arrow::array::{ArrayRef, RecordBatch, RecordBatchReader, StringArray, UInt32Array, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use firearrow::catalog::quoted;
use firearrow::{Dialect, Kind, OnFailure, RowFailure};
use firearrow_bench::text::thousands;
use firearrow_driver::Mode;
use std::path::Path;
use std::sync::Arc;

/// What became of the rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) loaded: u64,
    /// The columns of a table that was made for them.
    pub(super) created: Vec<String>,
    pub(super) rejected: u64,
    /// Rows that stay whatever happens.
    pub(super) committed: u64,
}

impl Target<'_> {
    /// Loads the rows that the database accepts, in a session in manual mode.
    pub(super) fn load_accepted(&self, mut feed: Feed, files: &SchemaRef, path: &Path) -> Result<Counts> {
        let mut rejects = Rejects::create(path, files)?;
        let mut counts = Counts::default();
        let loaded = self.load_all(&mut feed, &mut rejects, &mut counts);
        // Before the commit: without the file, nobody would know which rows are missing.
        let kept = match loaded.is_ok() || counts.committed > 0 {
            true => rejects.keep().map(drop),
            false => Ok(()),
        };
        let ended = loaded.and(kept).and_then(|()| self.unless_all_refused(&counts, path));
        let ended = ended.and_then(|()| Ok(self.session.end(true)?));
        if ended.is_err() {
            // Report the original error; the transaction ends with the connection at the latest.
            let _ = self.session.end(false);
        }
        ended.map(|()| counts)
    }

    /// Fails if there were rows, and the table gets none of them.
    fn unless_all_refused(&self, counts: &Counts, rejects: &Path) -> Result<()> {
        if counts.loaded > 0 || counts.rejected == 0 {
            return Ok(());
        }
        let kept = if self.deletes { "; --mode replace was rolled back" } else { "" };
        let rows = thousands(counts.rejected);
        Err(Failure::other(format!("every row was refused ({rows}), see {}{kept}", rejects.display())))
    }

    fn load_all(&self, feed: &mut Feed, rejects: &mut Rejects, counts: &mut Counts) -> Result<()> {
        if self.deletes {
            self.delete()?;
        }
        let sql = self.sql(&feed.schema());
        let read = self.session.connection()?.read_options().clone();
        let statement =
            self.in_task(|| Ok(self.session.connection()?.prepare_in(Dialect::Three, &sql)?))?;
        let statement = statement.with_read_options(read);
        let most = if self.options.commit_rows > 0 { self.options.commit_rows } else { usize::MAX };
        let mut pending = 0;
        while let Some(batch) = feed.next_batch().map_err(|failure| counts.told(failure))? {
            let origins = origins(&batch);
            let mut unfit = batch.refused.iter().cloned().peekable();
            let mut start = 0;
            while start < origins.len() || unfit.peek().is_some() {
                let count = (origins.len() - start).min(most - pending);
                let rows = batch.batch.slice(start, count);
                let failures = self.insert(&statement, &rows).map_err(|failure| counts.told(failure))?;
                let (first, failed) = (start, failures.len());
                (start, pending) = (start + count, pending + count);
                let row = |row: usize| origins.get(first + row).copied().unwrap_or_default();
                let mut refused: Vec<Refused> = failures
                    .into_iter()
                    .map(|failure| Refused { row: row(failure.row), ..failure })
                    .collect();
                // In the order of the file.
                let next = origins.get(start).copied().unwrap_or(usize::MAX);
                while let Some(before) = unfit.next_if(|refused| refused.row < next) {
                    refused.push(before);
                }
                counts.loaded += (count - failed) as u64;
                counts.rejected += refused.len() as u64;
                rejects.write(&batch, refused).map_err(|failure| counts.told(failure))?;
                if pending == most {
                    rejects.flush().map_err(|failure| counts.told(failure))?;
                    self.session.end(true).map_err(|error| counts.told(error.into()))?;
                    (counts.committed, pending) = (counts.loaded, 0);
                }
            }
        }
        Ok(())
    }

    /// Executes the statement for these rows. Returns those that failed by themselves.
    fn insert(&self, statement: &firearrow::Statement, rows: &RecordBatch) -> Result<Vec<Refused>> {
        if rows.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let done = self.in_task(|| {
            self.session.in_transaction(|transaction| {
                Ok(statement.execute_rows(transaction, rows, OnFailure::Continue)?)
            })
        })?;
        let failures = done.failures.into_iter().map(|RowFailure { row, error }| match error.kind() {
            Kind::Cancelled | Kind::Timeout => Err(error.into()),
            _ => Ok(Refused { row, why: reason(&error) }),
        });
        failures.collect()
    }

    /// Runs calls of the client, which end when the command must end.
    fn in_task<T>(&self, work: impl FnOnce() -> firearrow_driver::Result<T>) -> Result<T> {
        Ok(self.session.begin_task().run(work)?)
    }

    fn sql(&self, schema: &Schema) -> String {
        let names: Vec<String> = schema.fields().iter().map(|field| quoted(field.name())).collect();
        let markers = vec!["?"; names.len()].join(", ");
        let (table, names) = (quoted(&self.options.table), names.join(", "));
        match self.options.mode {
            Mode::Upsert => {
                let key: Vec<String> = self.options.key.iter().map(|name| quoted(name)).collect();
                let key = key.join(", ");
                format!("UPDATE OR INSERT INTO {table} ({names}) VALUES ({markers}) MATCHING ({key})")
            }
            _ => format!("INSERT INTO {table} ({names}) VALUES ({markers})"),
        }
    }
}

/// The rows of the part that are in the batch, in order.
fn origins(batch: &Batch) -> Vec<usize> {
    let mut refused = batch.refused.iter().map(|refused| refused.row).peekable();
    (0..batch.part.batch.num_rows()).filter(|row| refused.next_if_eq(row).is_none()).collect()
}

impl Counts {
    /// A failure that tells which rows stay.
    fn told(&self, failure: Failure) -> Failure {
        if self.committed == 0 {
            interrupt::stays(None);
            return failure;
        }
        let stays = format!("{} rows are loaded and stay", thousands(self.committed));
        interrupt::stays(Some(stays.clone()));
        match failure {
            Failure::Firebird(error) => {
                Failure::Told(format!("{stays}: {}", error.message()), Box::new(error))
            }
            Failure::Told(text, error) => Failure::Told(format!("{stays}: {text}"), error),
            Failure::Other(text) => Failure::Other(format!("{stays}: {text}")),
            failure => failure,
        }
    }
}

/// For other output a closed pipe is no error; here it would hide that nothing is loaded.
fn unread(failure: Failure) -> Failure {
    match failure {
        Failure::PipeClosed => Failure::other("nobody reads the rejected rows (--reject)"),
        failure => failure,
    }
}

/// The file of rejected rows: their file, line, error, and values.
struct Rejects {
    file: OutputFile,
    sink: Box<dyn Sink>,
    schema: SchemaRef,
}

impl Rejects {
    fn create(path: &Path, files: &SchemaRef) -> Result<Self> {
        let file = OutputFile::create(path, true)?;
        let mut fields = vec![
            Arc::new(Field::new("FILE", DataType::Utf8, false)),
            Arc::new(Field::new("LINE", DataType::UInt64, false)),
            Arc::new(Field::new("ERROR", DataType::Utf8, false)),
        ];
        fields.extend(files.fields().iter().cloned());
        let schema = Arc::new(Schema::new(fields));
        let sink = Format::Csv.sink(&schema, Style::default(), file.output()?)?;
        Ok(Self { file, sink, schema })
    }

    fn write(&mut self, batch: &Batch, mut refused: Vec<Refused>) -> Result<()> {
        if refused.is_empty() {
            return Ok(());
        }
        refused.sort_by_key(|refused| refused.row);
        let rows: UInt32Array = refused.iter().map(|refused| refused.row as u32).collect();
        let file = batch.file.to_string_lossy();
        let files: StringArray = refused.iter().map(|_| Some(file.as_ref())).collect();
        let lines: UInt64Array = refused
            .iter()
            .map(|refused| batch.part.places.get(refused.row).copied().unwrap_or_default())
            .collect();
        // The engine's messages have several lines.
        let errors: StringArray =
            refused.iter().map(|refused| Some(refused.why.replace('\n', " "))).collect();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(files), Arc::new(lines), Arc::new(errors)];
        for column in batch.part.batch.columns() {
            columns.push(take(column, &rows, None)?);
        }
        self.sink.write(&RecordBatch::try_new(Arc::clone(&self.schema), columns)?).map_err(unread)
    }

    /// Writes what is held back: a commit follows, after which nobody would know which rows are missing.
    fn flush(&mut self) -> Result<()> {
        self.sink.flush().map_err(unread)
    }

    fn keep(self) -> Result<u64> {
        self.sink.finish().map_err(unread)?;
        self.file.keep().map_err(unread)
    }
}
