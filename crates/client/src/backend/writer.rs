//! Many rows for one statement, in transit: the part common to both backends.
//!
//! ```text
//!  Undecided ──open_bulk──► Batch ──a batch fails as a whole──► its rows again, by executions
//!      │                       ▲                                          │
//!      │ few rows              └──────────── Undecided ◄──────────────────┤
//!      ▼                                                                  ▼ once too often
//!  executions                                                         Executions
//! ```
//!
//! A value that the engine cannot convert makes a batch fail as a whole, with an unknown number of its rows done. So
//! each batch has a savepoint; a failed one is repeated by executions, which report row by row.

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

/// A batch costs a round trip of its own, or a savepoint; fewer rows are executed one by one.
const FEWEST_ROWS: usize = 64;
/// Batches that may fail as a whole before no more of them are tried.
const MOST_FAILURES: usize = 3;

/// A statement that rows of parameters are written into.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) statement: StatementId,
    pub(crate) transaction: TransactionId,
    pub(crate) kind: StatementKind,
    /// Whether each execution returns a row, which nobody reads.
    pub(crate) has_output: bool,
    /// Whether the engine must be asked how many rows each execution affected; else each affects one.
    pub(crate) asks_counts: bool,
    /// Whether rows after a failed one are wanted; some already sent may be tried anyway.
    pub(crate) stops_at_error: bool,
    pub(crate) method: Method,
    /// The format of the open batch.
    pub(crate) layout: Option<Arc<RowLayout>>,
    pub(crate) written: Written,
    /// Batches that failed as a whole, or came after one that did, oldest first.
    pub(crate) failed: VecDeque<Chunk>,
    /// How often that has happened.
    failures: usize,
    /// Whether the outcome of the rows after the known ones cannot be determined.
    is_over: bool,
    /// Batches so far; each has a savepoint of its own.
    batches: u32,
    /// Requests that the wire backend has sent.
    pub(crate) pipe: Pipe,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Method {
    /// By executions, until there are enough of them for a batch.
    #[default]
    Undecided,
    /// Into a batch, which is open.
    Batch,
    /// By executions, however many there are.
    Executions,
}

/// The outcome of the rows.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// Rows, counted from the first, whose outcome is known.
    pub(crate) rows: usize,
    pub(crate) affected: Option<u64>,
    counts: RecordCounts,
    /// Rows affected by each row, if that is wanted.
    pub(crate) by_row: Option<Vec<Option<u64>>>,
    /// Whether the effect on some rows is unknown.
    has_uncounted: bool,
    pub(crate) failures: Vec<RowFailure>,
}

/// A row of parameters that was refused.
#[derive(Clone, Debug)]
pub struct RowFailure {
    /// 0-based row of the parameters; of a stream, over all of its batches.
    pub row: usize,
    /// Why.
    pub error: Error,
}

impl RowFailure {
    /// The error says which row it is about.
    fn new(row: usize, error: Error) -> Self {
        Self { row, error: error.in_row(row) }
    }
}

/// Rows that are sent together.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Rows before them.
    pub(crate) first: usize,
    pub(crate) rows: EncodedParams,
    /// Whether their BLOBs exist; else they travel with the batch.
    pub(crate) has_created_blobs: bool,
    /// The savepoint before them, if they are a batch.
    pub(crate) savepoint: Savepoint,
    /// Why they failed as a whole.
    error: Option<Error>,
}

/// Batches to be done again.
#[derive(Debug)]
pub(crate) struct Failed {
    /// To go back to.
    pub(crate) savepoint: Savepoint,
    /// Why, if the engine gave a reason.
    pub(crate) error: Option<Error>,
    pub(crate) chunks: VecDeque<Chunk>,
}

/// The savepoint before a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Savepoint(u32);

/// An engine's report of a batch.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Records that were tried.
    pub(crate) records: usize,
    /// Rows that each record affected; `None` for one that failed.
    pub(crate) affected: Vec<Option<u64>>,
    /// Records that failed, in any order; engines describe 256 failures of a batch at most.
    pub(crate) failures: Vec<(usize, Option<StatusVector>)>,
}

/// Failures that a batch describes: the most that engines do.
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
            written: Written { by_row: (!stops_at_error).then(Vec::new), ..Written::default() },
            failed: VecDeque::new(),
            failures: 0,
            is_over: false,
            batches: 0,
            pipe: Pipe::default(),
        }
    }

    pub(crate) fn should_stop(&self) -> bool {
        self.stops_at_error && !self.written.failures.is_empty()
    }

    /// Whether it is time to open a batch for these rows. Engines take a batch of INSERT … RETURNING, report success and
    /// insert nothing; ids of arrays cannot be registered with one.
    pub(crate) fn wants_batch(&self, rows: &EncodedParams) -> bool {
        let may = matches!(self.kind, StatementKind::Insert | StatementKind::Update | StatementKind::Delete);
        let has_arrays = rows.layout.fields().iter().any(|field| field.kind == FieldKind::Array);
        let is_fit = may && !self.has_output && !has_arrays && !rows.has_blob_ids();
        self.method == Method::Undecided && is_fit && rows.rows >= FEWEST_ROWS
    }

    /// Rows to be sent after the earlier ones.
    pub(crate) fn chunk(&mut self, first: usize, rows: EncodedParams, has_created_blobs: bool) -> Chunk {
        if self.method == Method::Batch {
            self.batches += 1;
        }
        Chunk { first, rows, has_created_blobs, savepoint: Savepoint(self.batches), error: None }
    }

    /// A row was executed by itself. `None` where the engine counts nothing.
    ///
    /// # Errors
    /// Errors that are no failure of the row: its transaction or connection is gone, and so are all rows.
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

    /// A batch was executed. Returns whether its savepoint can be released: not if the batch must be repeated.
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
            let text = format!("{} of {rows} rows of a batch were processed", outcome.records);
            return Err(Error::new(Kind::Protocol, text));
        }
        if outcome.failures.iter().any(|(_, status)| status.is_none()) {
            // Executions report why.
            self.failed.push_back(chunk);
            return Ok(false);
        }
        self.written.rows = chunk.first + rows;
        self.written.count_batch(outcome.affected.iter().flatten().sum(), !self.asks_counts);
        self.written.note(chunk.first, outcome.affected);
        let failures = outcome.failures.into_iter().filter_map(|(record, status)| {
            Some(RowFailure::new(chunk.first + record, Error::engine(status?)))
        });
        let known = self.written.failures.len();
        self.written.failures.extend(failures);
        self.written.failures[known..].sort_by_key(|failure| failure.row);
        Ok(true)
    }

    /// The rows to repeat. After too many repetitions there are no more batches.
    pub(crate) fn take_failed(&mut self) -> Option<Failed> {
        let chunks = std::mem::take(&mut self.failed);
        let first = chunks.front()?;
        let (savepoint, error) = (first.savepoint, first.error.clone());
        self.failures += 1;
        self.method = if self.failures < MOST_FAILURES { Method::Undecided } else { Method::Executions };
        Some(Failed { savepoint, error, chunks })
    }
}

/// Whether the error ends more than the row that it came with.
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

    /// Batches report how many rows were affected, but not how.
    fn count_batch(&mut self, affected: u64, inserts: bool) {
        match inserts {
            true => self.counts.inserted += affected,
            false => self.has_uncounted = true,
        }
        self.affected = Some(self.affected.unwrap_or(0) + affected);
    }

    /// The effect on rows, if it is known for all of them.
    pub(crate) fn counts(&self) -> Option<RecordCounts> {
        self.affected.filter(|_| !self.has_uncounted).map(|_| self.counts)
    }
}

impl Savepoint {
    /// SQL that sets it.
    pub(crate) fn set(self) -> String {
        format!("SAVEPOINT {}", self.name())
    }

    /// SQL that keeps what was done since, and later savepoints.
    pub(crate) fn forget(self) -> String {
        format!("RELEASE SAVEPOINT {} ONLY", self.name())
    }

    /// SQL that undoes what was done since, and then forgets it with all later ones.
    pub(crate) fn undo(self) -> [String; 2] {
        [format!("ROLLBACK TO SAVEPOINT {}", self.name()), format!("RELEASE SAVEPOINT {}", self.name())]
    }

    fn name(self) -> String {
        format!("FIREARROW_BATCH_{}", self.0)
    }
}
