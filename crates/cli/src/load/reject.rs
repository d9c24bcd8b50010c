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
use firearrow::{Dialect, Kind, OnFailure};
use firearrow_bench::text::thousands;
use firearrow_driver::Mode;
use std::path::Path;
use std::sync::Arc;

/// What became of the rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) loaded: u64,
    pub(super) rejected: u64,
}

impl Target<'_> {
    /// Loads the rows that the database accepts, in a session in manual mode.
    pub(super) fn load_accepted(&self, mut feed: Feed, files: &SchemaRef, path: &Path) -> Result<Counts> {
        let mut rejects = Rejects::create(path, files)?;
        let mut counts = Counts::default();
        let loaded = self.load_all(&mut feed, &mut rejects, &mut counts);
        let ended = loaded.and_then(|()| {
            // Before the commit: without the file, nobody would know which rows are missing.
            rejects.keep()?;
            Ok(self.session.end(true)?)
        });
        if ended.is_err() {
            // Report the original error; the transaction ends with the connection at the latest.
            let _ = self.session.end(false);
        }
        ended.map(|()| counts)
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
        let (mut pending, mut committed) = (0, 0);
        while let Some(batch) = feed.next_batch().map_err(|failure| after(committed, failure))? {
            let mut refused = batch.refused.clone();
            let origin = origins(&batch);
            let mut start = 0;
            while start < batch.batch.num_rows() {
                let count = (batch.batch.num_rows() - start).min(most - pending);
                let rows = batch.batch.slice(start, count);
                let done = self.in_task(|| {
                    self.session.in_transaction(|transaction| {
                        Ok(statement.execute_rows(transaction, &rows, OnFailure::Continue)?)
                    })
                });
                let done = done.map_err(|failure| after(committed, failure))?;
                for failed in &done.failures {
                    if matches!(failed.error.kind(), Kind::Cancelled | Kind::Timeout) {
                        // The row did not fail by itself.
                        return Err(after(committed, failed.error.clone().into()));
                    }
                    let row = origin.get(start + failed.row).copied().unwrap_or_default();
                    refused.push(Refused { row, why: reason(&failed.error) });
                }
                counts.loaded += (count - done.failures.len()) as u64;
                (start, pending) = (start + count, pending + count);
                if pending == most {
                    self.session.end(true).map_err(|error| after(committed, error.into()))?;
                    (committed, pending) = (counts.loaded, 0);
                }
            }
            counts.rejected += refused.len() as u64;
            rejects.write(&batch, refused).map_err(|failure| after(committed, failure))?;
        }
        Ok(())
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

/// A failure after which some rows stay.
fn after(committed: u64, failure: Failure) -> Failure {
    if committed == 0 {
        return failure;
    }
    let stays = format!("{} rows are loaded and stay", thousands(committed));
    interrupt::stays(Some(stays.clone()));
    match failure {
        Failure::Firebird(error) => Failure::Told(format!("{stays}: {}", error.message()), Box::new(error)),
        Failure::Told(text, error) => Failure::Told(format!("{stays}: {text}"), error),
        Failure::Other(text) => Failure::Other(format!("{stays}: {text}")),
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
        self.sink.write(&RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    fn keep(self) -> Result<u64> {
        self.sink.finish()?;
        self.file.keep()
    }
}
