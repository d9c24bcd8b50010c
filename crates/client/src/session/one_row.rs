//! A query of at most one row, in one operation and without a batch.

use super::fetch::{Fetching, new_fetching};
use super::run::{How, naming_parameter};
use super::{Prepared, Session, has_rows};
use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::{Backend, Message, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::row::{Row, more_than_one_row};
use firearrow_proto::api::gds;

/// A second row is one too many.
const ONE_TOO_MANY: usize = 2;

/// Firebird has one code for a second row, wherever it is.
const MORE_SOMEWHERE: &str =
    "the query, or a subquery of it, returned more than one row; one_row accepts at most one";

impl<B: Backend> Session<B> {
    /// Runs a prepared query and returns what `read` takes from its row; `None` without one.
    ///
    /// # Errors
    /// [`Kind::Data`] at the second row.
    pub(crate) async fn one_row<T>(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: &Params,
        how: &How,
        read: impl FnOnce(Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.expect_open(transaction)?;
        if !has_rows(&prepared.info) {
            return Err(Error::new(Kind::Misuse, "the statement gives no rows: use execute, not one_row"));
        }
        let bound = self.bind(prepared, transaction, parameters, &how.params()).await?;
        self.set_up(prepared, how)?;
        let limits = BatchLimits { rows: ONE_TOO_MANY, full: true, ..how.limits };
        let opened = match prepared.is_plain_query() {
            true => self.open_row(prepared, transaction, bound.message(), &how.read, limits).await,
            false => self.open(prepared, transaction, bound.message(), &how.read, limits).await,
        };
        prepared.reusable.give_back(bound);
        let mut fetching = opened.map_err(|error| naming_parameter(prepared, error, parameters))?;
        fetching.builder.expect_only_batch();
        let rows = self.all_rows(&mut fetching).await;
        let closed = self.close_fetching(&fetching).await;
        rows.and(closed)?;
        let value = self.only_row(&mut fetching, read);
        prepared.reusable.give_back_builder(fetching.builder);
        value
    }

    /// Executes a query without a cursor: one request instead of three. Firebird looks for a second row itself.
    async fn open_row(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        options: &ReadOptions,
        limits: BatchLimits,
    ) -> Result<Fetching> {
        let (fetching, layout) = new_fetching(prepared, transaction, options, limits)?;
        let mut fetching = fetching.without_cursor();
        self.choose_inline_blobs(prepared, options.blobs);
        let row = &mut fetching.builder;
        let executed = self.backend.execute_for_row(prepared.id, transaction, parameters, &layout, row).await;
        match executed.map_err(|error| (only_code(&error), error)) {
            Ok(()) | Err((Some(gds::ISC_STREAM_EOF), _)) => Ok(fetching),
            Err((Some(gds::ISC_SING_SELECT_ERR), _)) => Err(Error::new(Kind::Data, MORE_SOMEWHERE)),
            Err((_, error)) => Err(error),
        }
    }

    /// Fetches until the end, or until there is a row too many.
    async fn all_rows(&mut self, fetching: &mut Fetching) -> Result<()> {
        loop {
            self.gather(fetching).await?;
            if fetching.builder.len() >= ONE_TOO_MANY {
                return Err(more_than_one_row());
            }
            if fetching.at_end && !fetching.builder.is_waiting() {
                return Ok(());
            }
        }
    }

    fn only_row<T>(
        &mut self,
        fetching: &mut Fetching,
        read: impl FnOnce(Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let builder = &fetching.builder;
        if builder.is_empty() {
            return Ok(None);
        }
        if let Some(row) = Row::of_columns(builder)
            && !builder.has_bad_text()
        {
            return read(row).map(Some);
        }
        let batch = self.finish(fetching)?;
        batch.as_ref().and_then(|batch| Row::new(batch, 0)).map(read).transpose()
    }
}

/// The code of an error that has no other. Those of procedures and triggers also tell where they come from.
fn only_code(error: &Error) -> Option<i32> {
    let mut codes = error.status()?.errors();
    codes.next().filter(|_| codes.next().is_none())
}
