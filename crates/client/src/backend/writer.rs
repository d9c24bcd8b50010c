//! The state of writing many rows with one statement, common to both backends.
//!
//! ```text
//!  Undecided ──open_bulk──► Bulk ───a chunk fails as a whole──► its rows again, by executions
//!      │                       ▲                                          │
//!      │ few rows              └──────────── Undecided ◄──────────────────┤
//!      ▼                                                                  ▼ once too often
//!  executions                                                         Executions
//! ```
//!
//! A value that the engine cannot convert makes a bulk chunk fail as a whole, after an unknown number of its rows. So
//! each bulk chunk has a savepoint; a failed chunk is rolled back and repeated by executions, which report errors per
//! row.

use super::wire::write::Pipe;
use super::{StatementId, TransactionId};
use crate::arrow::EncodedParams;
use crate::error::{Error, Kind, Result};
use firearrow_proto::api::describe::{RecordCounts, StatementKind};
use firearrow_proto::api::gds;
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use firearrow_proto::api::status::StatusVector;
use std::collections::VecDeque;
use std::sync::Arc;

/// Fewer rows are executed one by one: the bulk interface costs an extra round trip or savepoint.
const FEWEST_ROWS: usize = 64;
/// Bulk chunks that may fail as a whole before the bulk interface is given up.
const MOST_FAILURES: usize = 3;

/// A statement that executes once per parameter row.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) statement: StatementId,
    pub(crate) transaction: TransactionId,
    pub(crate) kind: StatementKind,
    /// Whether each execution returns a row, which is discarded.
    pub(crate) has_output: bool,
    /// Whether to ask the engine how many rows each execution affected; otherwise each affects one.
    pub(crate) asks_counts: bool,
    /// Whether to stop after a failed row; rows already sent may still be executed.
    pub(crate) stops_at_error: bool,
    pub(crate) method: Method,
    /// The message format of the open bulk interface.
    pub(crate) layout: Option<Arc<RowLayout>>,
    pub(crate) written: Written,
    /// Bulk chunks that failed as a whole, or that followed such a chunk, oldest first.
    pub(crate) failed: VecDeque<Chunk>,
    /// How many times bulk chunks have failed.
    failures: usize,
    /// Whether the outcome of the remaining rows cannot be determined.
    is_over: bool,
    /// Bulk chunks so far; each has its own savepoint.
    bulk_chunks: u32,
    /// Requests of the wire backend.
    pub(crate) pipe: Pipe,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Method {
    /// By executions, until enough rows make the bulk interface worthwhile.
    #[default]
    Undecided,
    /// Through the bulk interface, which is open.
    Bulk,
    /// By executions, however many rows there are.
    Executions,
}

/// The outcome of the rows.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Number of rows, from the first, whose outcome is known.
    pub(crate) rows: usize,
    pub(crate) affected: Option<u64>,
    counts: RecordCounts,
    /// Rows affected by each row, if that is wanted.
    pub(crate) by_row: Option<Vec<Option<u64>>>,
    /// Whether the effect of some rows is unknown.
    has_uncounted: bool,
    pub(crate) failures: Vec<RowFailure>,
}

/// A parameter row that the client or the engine refused.
#[derive(Clone, Debug)]
pub struct RowFailure {
    /// 0-based index of the parameter row; in a stream, counted across all batches.
    pub row: usize,
    /// The reason.
    pub error: Error,
}

impl RowFailure {
    /// Adds the row number to the error.
    fn new(row: usize, error: Error) -> Self {
        Self { row, error: error.in_row(row) }
    }
}

/// Rows that are sent together.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Number of rows before this chunk.
    pub(crate) first: usize,
    pub(crate) rows: EncodedParams,
    /// Whether the rows' BLOBs have been created; otherwise they travel with the chunk.
    pub(crate) has_created_blobs: bool,
    /// The savepoint before a bulk chunk.
    pub(crate) savepoint: Savepoint,
    /// Why the chunk failed as a whole.
    error: Option<Error>,
}

/// Bulk chunks to repeat.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The savepoint to roll back to.
    pub(crate) savepoint: Savepoint,
    /// The reason, if the engine gave one.
    pub(crate) error: Option<Error>,
    pub(crate) chunks: VecDeque<Chunk>,
}

/// The savepoint before a bulk chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Savepoint(u32);

/// An engine's report on a bulk chunk.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Number of records processed.
    pub(crate) records: usize,
    /// Rows that each record affected; `None` for one that failed.
    pub(crate) affected: Vec<Option<u64>>,
    /// Failed records, in any order. Engines describe at most 256 of them.
    pub(crate) failures: Vec<(usize, Option<StatusVector>)>,
}

/// Failures to describe per bulk chunk: the engines' maximum.
pub(crate) const DETAILED_ERRORS: u32 = 256;

impl Writer {
    pub(crate) fn new(
        (statement, kind): (StatementId, StatementKind),
        transaction: TransactionId,
        has_output: bool,
        asks_counts: bool,
        stops_at_error: bool,
    ) -> Self {
        Self {
            statement,
            transaction,
            kind,
            has_output,
            asks_counts,
            stops_at_error,
            method: Method::default(),
            layout: None,
            // With output, callers need to tell rows that were found from NULLs of older engines.
            written: Written { by_row: (!stops_at_error || has_output).then(Vec::new), ..Written::default() },
            failed: VecDeque::new(),
            failures: 0,
            is_over: false,
            bulk_chunks: 0,
            pipe: Pipe::default(),
        }
    }

    pub(crate) fn should_stop(&self) -> bool {
        self.stops_at_error && !self.written.failures.is_empty()
    }

    /// Whether to open the bulk interface for these rows. With INSERT … RETURNING, engines report success and insert
    /// nothing; array ids cannot be registered.
    pub(crate) fn wants_bulk(&self, rows: &EncodedParams) -> bool {
        let may = matches!(self.kind, StatementKind::Insert | StatementKind::Update | StatementKind::Delete);
        let has_arrays = rows.layout.fields().iter().any(|field| field.kind == FieldKind::Array);
        let is_fit = may && !self.has_output && !has_arrays && !rows.has_blob_ids();
        self.method == Method::Undecided && is_fit && rows.rows >= FEWEST_ROWS
    }

    /// Makes a chunk of the rows that follow the earlier ones.
    pub(crate) fn chunk(&mut self, first: usize, rows: EncodedParams, has_created_blobs: bool) -> Chunk {
        if self.method == Method::Bulk {
            self.bulk_chunks += 1;
        }
        Chunk { first, rows, has_created_blobs, savepoint: Savepoint(self.bulk_chunks), error: None }
    }

    /// Records the execution of a single row. The counts are `None` if the engine counts nothing.
    ///
    /// # Errors
    /// Errors that concern more than the row: its transaction or connection is gone, and so are all rows.
    pub(crate) fn executed(&mut self, row: usize, result: Result<Option<RecordCounts>>) -> Result<()> {
        if self.is_over {
            return Ok(());
        }
        match result {
            Ok(counts) => {
                self.written.note(row, [counts.map(|counts| counts.affected())]);
                self.written.count(counts);
            }
            Err(error) if is_final(&error) => {
                self.is_over = true;
                return Err(error);
            }
            Err(error) => self.written.failures.push(RowFailure::new(row, error)),
        }
        self.written.rows = row + 1;
        Ok(())
    }

    /// Records the execution of a bulk chunk. Returns whether its savepoint can be released, which is not so if the
    /// chunk must be repeated.
    pub(crate) fn completed(&mut self, mut chunk: Chunk, result: Result<Outcome>) -> Result<bool> {
        let outcome = match result {
            Ok(outcome) if self.failed.is_empty() => outcome,
            result => {
                chunk.error = result.err();
                self.failed.push_back(chunk);
                return Ok(false);
            }
        };
        if self.is_over {
            return Ok(false);
        }
        let rows = chunk.rows.rows;
        if outcome.records != rows || outcome.failures.iter().any(|(record, _)| *record >= rows) {
            self.is_over = true;
            let text = format!("the engine processed {} of {rows} bulk rows", outcome.records);
            return Err(Error::new(Kind::Protocol, text));
        }
        if outcome.failures.iter().any(|(_, status)| status.is_none()) {
            // Single executions report the reasons.
            self.failed.push_back(chunk);
            return Ok(false);
        }
        self.written.rows = chunk.first + rows;
        self.written.count_bulk(outcome.affected.iter().flatten().sum(), !self.asks_counts);
        self.written.note(chunk.first, outcome.affected);
        let failures = outcome.failures.into_iter().filter_map(|(record, status)| {
            Some(RowFailure::new(chunk.first + record, Error::engine(status?)))
        });
        let known = self.written.failures.len();
        self.written.failures.extend(failures);
        self.written.failures[known..].sort_by_key(|failure| failure.row);
        Ok(true)
    }

    /// Takes the chunks to repeat. After too many failures, the bulk interface is not used again.
    pub(crate) fn take_failed(&mut self) -> Option<Failed> {
        let chunks = std::mem::take(&mut self.failed);
        let first = chunks.front()?;
        let (savepoint, error) = (first.savepoint, first.error.clone());
        self.failures += 1;
        self.method = if self.failures < MOST_FAILURES { Method::Undecided } else { Method::Executions };
        Some(Failed { savepoint, error, chunks })
    }
}

/// Whether the error affects more than its row.
fn is_final(error: &Error) -> bool {
    error.kind() == Kind::Closed || error.gds_codes().contains(&gds::ISC_BAD_TRANS_HANDLE)
}

impl Written {
    /// Notes how many rows were affected by these rows of parameters.
    fn note(&mut self, first: usize, affected: impl IntoIterator<Item = Option<u64>>) {
        if let Some(by_row) = &mut self.by_row {
            // Rows between the last one noted and these have failed.
            by_row.resize(first, None);
            by_row.extend(affected);
        }
    }

    fn count(&mut self, counts: Option<RecordCounts>) {
        match counts {
            Some(counts) => {
                self.counts += counts;
                self.affected = Some(self.affected.unwrap_or(0) + counts.affected());
            }
            None => self.has_uncounted = true,
        }
    }

    /// The bulk interface reports how many rows were affected, but not whether they were inserted, updated or deleted.
    fn count_bulk(&mut self, affected: u64, inserts: bool) {
        match inserts {
            true => self.counts.inserted += affected,
            false => self.has_uncounted = true,
        }
        self.affected = Some(self.affected.unwrap_or(0) + affected);
    }

    /// Returns the affected rows by kind, if known for all rows.
    pub(crate) fn counts(&self) -> Option<RecordCounts> {
        self.affected.filter(|_| !self.has_uncounted).map(|_| self.counts)
    }
}

impl Savepoint {
    /// Returns SQL that sets the savepoint.
    pub(crate) fn set(self) -> String {
        format!("SAVEPOINT {}", self.name())
    }

    /// Returns SQL that releases this savepoint only, and keeps the work since then.
    pub(crate) fn forget(self) -> String {
        format!("RELEASE SAVEPOINT {} ONLY", self.name())
    }

    /// Returns SQL that undoes the work since the savepoint, and then releases it and all later ones.
    pub(crate) fn undo(self) -> [String; 2] {
        [format!("ROLLBACK TO SAVEPOINT {}", self.name()), format!("RELEASE SAVEPOINT {}", self.name())]
    }

    fn name(self) -> String {
        format!("FIREARROW_BATCH_{}", self.0)
    }
}
