//! A query of at most one row, in one operation and without a batch.

use super::fetch::Fetching;
use super::run::{How, naming_parameter};
use super::{Prepared, Session, has_rows};
use crate::arrow::BatchLimits;
use crate::backend::{Backend, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::row::{Row, more_than_one_row};

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
        let opened = self.open(prepared, transaction, bound.message(), &how.read, limits).await;
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
