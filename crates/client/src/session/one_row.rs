//! A query of at most one row, in one operation and without a batch.

use super::fetch::{Fetching, new_fetching};
use super::run::{How, naming_parameter};
use super::{Prepared, Session, has_rows};
use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::{Backend, Message, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::row::{Row, more_than_one_row, one_row_too_many};
use firearrow_proto::api::gds;
use firearrow_proto::api::status::StatusVector;

/// A second row is one too many.
const ONE_TOO_MANY: usize = 2;

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
        self.has_settings |= prepared.is_setting;
        // No row, and a second one, are errors of an execution without a cursor, which must not undo what procedures did.
        let executed = match prepared.can_run_without_cursor() && self.keeps_work(transaction) {
            true => self.execute_for_row(prepared, transaction, bound.message(), &how.read, limits).await,
            false => self.open(prepared, transaction, bound.message(), &how.read, limits).await,
        };
        prepared.reusable.give_back(bound);
        let mut fetching = executed.map_err(|error| naming_parameter(prepared, error, parameters))?;
        fetching.builder.expect_only_batch();
        let rows = self.all_rows(&mut fetching).await;
        let closed = self.close_fetching(&fetching).await;
        rows.and(closed)?;
        let value = self.only_row(&mut fetching, read);
        prepared.reusable.give_back_builder(fetching.builder);
        value
    }

    /// Runs a query without a cursor, in one request instead of three. Firebird itself looks for a second row.
    async fn execute_for_row(
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
        let has_row = !fetching.builder.is_empty();
        match executed {
            Ok(executed) => {
                if executed.transaction_ended {
                    self.ended(transaction);
                }
                if has_row { Ok(fetching) } else { Err(contradiction()) }
            }
            Err(error) => match error.status().and_then(StatusVector::only_error) {
                Some(gds::ISC_STREAM_EOF) if has_row => Err(contradiction()),
                Some(gds::ISC_STREAM_EOF) => Ok(fetching),
                Some(gds::ISC_SING_SELECT_ERR) => Err(one_row_too_many(error)),
                _ => Err(error),
            },
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

fn contradiction() -> Error {
    Error::new(Kind::Protocol, "the server says that there is a row, and sends none, or the opposite")
}
