//! Rows out: a cursor becomes record batches.

use super::reading::Reading;
use super::reuse::Reusable;
use super::run::How;
use super::{Prepared, Session};
use crate::arrow::{BatchBuilder, BatchLimits, BlobPolicy, PendingBlob, ReadOptions};
use crate::backend::{Backend, Message, StatementId, TransactionId, Wanted};
use crate::error::{Kind, Result};
use ::arrow::array::{LargeBinaryArray, RecordBatch, UInt64Array};
use ::arrow::datatypes::SchemaRef;
use firearrow_proto::api::describe::RecordCounts;
use firearrow_proto::api::descriptor::{Descriptor, SqlType};
use firearrow_proto::api::layout::RowLayout;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// An open result.
pub(crate) struct Fetching {
    pub(super) statement: StatementId,
    pub(super) transaction: TransactionId,
    pub(super) builder: Box<BatchBuilder>,
    /// A singleton has been fetched by its execution; there is no cursor to fetch from or to close.
    has_cursor: bool,
    pub(super) at_end: bool,
    /// BLOBs that rows in the builder wait for.
    waiting: VecDeque<PendingBlob>,
    pub(super) reusable: Arc<Reusable>,
    /// Columns of BLOB ids.
    id_columns: Vec<usize>,
    pub(crate) counts: Option<RecordCounts>,
}

impl Fetching {
    /// The contents of BLOBs whose ids this result returned.
    pub(crate) async fn read_blobs<B: Backend>(
        &self,
        session: &mut Session<B>,
        ids: &UInt64Array,
    ) -> Result<LargeBinaryArray> {
        session.read_blobs(self.transaction, ids, self.builder.max_blob(), Some(&self.reusable.habit)).await
    }

    /// A result whose rows do not come through a cursor of this connection.
    pub(super) fn without_cursor(self) -> Self {
        Self { has_cursor: false, at_end: true, ..self }
    }

    /// Whether nothing more will come.
    pub(super) fn is_drained(&self) -> bool {
        self.at_end && self.waiting.is_empty() && self.builder.is_empty()
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        self.builder.schema()
    }

    /// Time spent decoding.
    pub(crate) fn decoding(&self) -> Duration {
        self.builder.spent()
    }
}

/// Returns a result without rows yet, and their layout.
pub(super) fn new_fetching(
    prepared: &Prepared,
    transaction: TransactionId,
    options: &ReadOptions,
    limits: BatchLimits,
) -> Result<(Fetching, Arc<RowLayout>)> {
    let (builder, layout) = prepared.reusable.builder(&prepared.info, options, limits)?;
    let columns = prepared.info.columns.iter().enumerate();
    let id_columns = columns.filter(|(_, column)| is_blob(column) && options.blobs == BlobPolicy::Lazy);
    let fetching = Fetching {
        statement: prepared.id,
        transaction,
        builder,
        has_cursor: prepared.info.has_cursor,
        at_end: !prepared.info.has_cursor,
        waiting: VecDeque::new(),
        reusable: Arc::clone(&prepared.reusable),
        id_columns: id_columns.map(|(at, _)| at).collect(),
        counts: None,
    };
    Ok((fetching, layout))
}

/// Returns an empty result, for a cursor whose rows come through other connections.
pub(crate) fn empty_result(prepared: &Prepared, transaction: TransactionId, how: &How) -> Result<Reading> {
    let (fetching, _) = new_fetching(prepared, transaction, &how.read, how.limits)?;
    Ok(Reading::new(fetching.without_cursor()).led())
}

fn is_blob(column: &Descriptor) -> bool {
    column.sql_type == SqlType::BLOB
}

impl<B: Backend> Session<B> {
    /// Executes a statement that returns rows.
    pub(crate) async fn open(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        options: &ReadOptions,
        limits: BatchLimits,
    ) -> Result<Fetching> {
        self.open_as(prepared, transaction, parameters, options, limits, false).await
    }

    /// [`open`](Self::open), with a cursor that scrolls or one that does not.
    pub(super) async fn open_as(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        options: &ReadOptions,
        limits: BatchLimits,
        scrolls: bool,
    ) -> Result<Fetching> {
        let (mut fetching, layout) = new_fetching(prepared, transaction, options, limits)?;
        self.choose_inline_blobs(prepared, options.blobs);
        if prepared.may_change() {
            self.backend.will_change(transaction);
        }
        if fetching.has_cursor && scrolls {
            self.backend.open_scrollable(prepared.id, transaction, parameters, &layout).await?;
        } else if fetching.has_cursor {
            self.backend.open_cursor(prepared.id, transaction, parameters, &layout).await?;
        } else {
            let output = Some((&layout, &mut *fetching.builder));
            let executed = self.backend.execute(prepared.id, transaction, parameters, output, true).await?;
            fetching.counts = executed.counts;
        }
        Ok(fetching)
    }

    /// Chooses whether the next execution of a statement sends its BLOBs with their rows.
    pub(super) fn choose_inline_blobs(&mut self, prepared: &Prepared, policy: BlobPolicy) {
        if prepared.info.columns.iter().any(is_blob) {
            let link = self.backend.link_estimate();
            self.backend.send_blobs_inline(prepared.reusable.habit.begin_execution(policy, &link));
        }
    }

    /// The next batch; `None` at the end.
    pub(crate) async fn next_batch(&mut self, fetching: &mut Fetching) -> Result<Option<RecordBatch>> {
        self.gather(fetching).await?;
        self.finish(fetching)
    }

    /// Fetches as many rows as the batch has room for, and fills in their BLOBs.
    pub(super) async fn gather(&mut self, fetching: &mut Fetching) -> Result<()> {
        if !fetching.at_end {
            fetching.at_end = self.backend.fetch(fetching.statement, &mut fetching.builder).await?;
        }
        self.fill_blobs(fetching).await
    }

    /// Fills in the BLOBs that rows wait for, as far as the batch has room for them.
    pub(super) async fn fill_blobs(&mut self, fetching: &mut Fetching) -> Result<()> {
        let Fetching { statement, builder, waiting, transaction, reusable, .. } = fetching;
        waiting.extend(std::iter::from_fn(|| builder.next_blob()));
        // Contents count only once they have arrived: a batch of long BLOBs ends early, after complete rows.
        if builder.wants_blobs() && !waiting.is_empty() {
            let wanted = |blob: &PendingBlob| {
                Wanted::new(blob.id, builder.max_blob(), builder.most_stored(blob)).of(*statement)
            };
            let wanted: Vec<Wanted> = waiting.iter().map(wanted).collect();
            let mut is_placed = false;
            let fill = &mut |_, contents: &[u8]| {
                if let Some(blob) = waiting.pop_front() {
                    reusable.habit.read(contents.len());
                    builder.fill_blob(&blob, contents).inspect_err(|_| is_placed = true)?;
                }
                Ok(builder.wants_blobs())
            };
            let read = self.backend.read_blobs(*transaction, &wanted, fill).await;
            // They come in order, so the first one that waits is the one that is too long.
            let read = read.map_err(|error| match (error.kind(), waiting.front()) {
                (Kind::Memory | Kind::Protocol, Some(blob)) if !is_placed => builder.place(error, blob),
                _ => error,
            });
            if read.is_err() {
                // An array may have been declared anew.
                self.forget_arrays();
            }
            read?;
        }
        Ok(())
    }

    /// The rows gathered so far, as a batch.
    pub(super) fn finish(&mut self, fetching: &mut Fetching) -> Result<Option<RecordBatch>> {
        let Fetching { builder, reusable, id_columns, .. } = fetching;
        let batch = builder.finish()?;
        if let Some(batch) = &batch {
            let ids = id_columns.iter().map(|&column| batch.column(column));
            reusable.habit.given(ids.map(|ids| ids.len() - ids.null_count()).sum());
        }
        Ok(batch)
    }

    pub(crate) async fn close_fetching(&mut self, fetching: &Fetching) -> Result<()> {
        if fetching.has_cursor { self.backend.close_cursor(fetching.statement).await } else { Ok(()) }
    }
}
