//! The state of running one statement for many parameter rows and reading its results, common to both backends.

use super::Chunk;
use super::wire::Lanes;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::layout::RowLayout;
use std::collections::VecDeque;
use std::sync::Arc;

/// Executions that return their results in the order of their parameter rows. A [`Writer`](super::Writer) records the
/// outcomes.
#[derive(Debug)]
pub(crate) struct Series {
    /// The SQL of the statement.
    pub(crate) sql: Arc<str>,
    pub(crate) dialect: Dialect,
    /// Whether each execution opens a cursor; otherwise it returns at most one row.
    pub(crate) has_cursor: bool,
    /// The format of the returned rows.
    pub(crate) output: Arc<RowLayout>,
    /// Whether parameter rows were dropped after a failure.
    pub(crate) is_cut: bool,
    /// Parameter rows not yet executed.
    chunks: VecDeque<Chunk>,
    /// Number of rows of the first chunk that have been taken.
    taken: usize,
    /// The parameter row whose cursor the in-process backend is reading.
    #[cfg(feature = "embedded")]
    pub(crate) open: Option<usize>,
    /// Requests of the wire backend.
    pub(crate) lanes: Lanes,
}

/// One execution.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// 0-based index of the parameter row.
    pub(crate) row: usize,
    /// The row as a native message; empty without parameters.
    pub(crate) message: Vec<u8>,
    /// The format of the message.
    pub(crate) layout: Arc<RowLayout>,
}

impl Series {
    pub(crate) fn new(sql: &Arc<str>, dialect: Dialect, has_cursor: bool, output: Arc<RowLayout>) -> Self {
        Self {
            sql: Arc::clone(sql),
            dialect,
            has_cursor,
            output,
            is_cut: false,
            chunks: VecDeque::new(),
            taken: 0,
            #[cfg(feature = "embedded")]
            open: None,
            lanes: Lanes::default(),
        }
    }

    /// Appends parameter rows.
    pub(crate) fn supply(&mut self, chunk: Chunk) {
        self.chunks.push_back(chunk);
    }

    /// Returns the number of parameter rows not yet executed.
    pub(crate) fn left(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.rows.rows).sum::<usize>() - self.taken
    }

    /// Drops the parameter rows not yet executed.
    pub(crate) fn cut(&mut self) {
        self.is_cut |= self.left() > 0;
        self.chunks.clear();
        self.taken = 0;
    }

    /// Moves the next parameter row into `turn`; `false` if there is none.
    pub(crate) fn next(&mut self, turn: &mut Turn) -> bool {
        let Some(chunk) = self.chunks.front() else { return false };
        let stride = chunk.rows.layout.native_stride();
        let message = chunk.rows.bytes.get(self.taken * stride..(self.taken + 1) * stride);
        turn.row = chunk.first + self.taken;
        turn.message.clear();
        turn.message.extend_from_slice(message.unwrap_or_default());
        if !Arc::ptr_eq(&turn.layout, &chunk.rows.layout) {
            turn.layout = Arc::clone(&chunk.rows.layout);
        }
        self.taken += 1;
        if self.taken >= chunk.rows.rows {
            self.chunks.pop_front();
            self.taken = 0;
        }
        true
    }
}
