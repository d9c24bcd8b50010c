//! One statement for many parameter rows, and the rows that it returns: the part common to both backends.

use super::Chunk;
use super::wire::Lanes;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::layout::RowLayout;
use std::collections::VecDeque;
use std::sync::Arc;

/// Executions whose results follow each other in the order of their parameters. Outcomes are noted in a
/// [`Writer`](super::Writer).
#[derive(Debug)]
pub(crate) struct Series {
    /// SQL of the statement.
    pub(crate) sql: Arc<str>,
    pub(crate) dialect: Dialect,
    /// Whether each execution opens a cursor; otherwise it returns one row, or none.
    pub(crate) has_cursor: bool,
    /// The format of the rows.
    pub(crate) output: Arc<RowLayout>,
    /// Whether rows of parameters were dropped because one had failed.
    pub(crate) is_cut: bool,
    /// Rows of parameters that wait.
    chunks: VecDeque<Chunk>,
    /// Rows of the first chunk that do not wait any more.
    taken: usize,
    /// The row of parameters whose cursor the in-process backend reads.
    #[cfg(feature = "embedded")]
    pub(crate) open: Option<usize>,
    /// Requests that the wire backend has sent.
    pub(crate) lanes: Lanes,
}

/// One execution.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// 0-based row of the parameters.
    pub(crate) row: usize,
    /// Its native message; empty without parameters.
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

    /// Adds parameter rows after those that wait.
    pub(crate) fn supply(&mut self, chunk: Chunk) {
        self.chunks.push_back(chunk);
    }

    /// Rows of parameters that wait.
    pub(crate) fn left(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.rows.rows).sum::<usize>() - self.taken
    }

    /// Drops the rows of parameters that wait.
    pub(crate) fn cut(&mut self) {
        self.is_cut |= self.left() > 0;
        self.chunks.clear();
        self.taken = 0;
    }

    /// Puts the next row of parameters into `turn`; `false` when none waits.
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
