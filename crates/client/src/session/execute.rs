//! Rows in: parameters become messages, BLOBs first.

use super::reuse::Bound;
use super::run::How;
use super::{Prepared, Session, has_rows, is_setting};
use crate::arrow::{EncodedParams, ParamEncoder, ParamOptions};
use crate::backend::{Backend, Executed, Message, Sql, TransactionId};
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::sql::tokens;
use ::arrow::datatypes::Schema;
use firearrow_proto::api::describe::{RecordCounts, StatementKind};

impl<B: Backend> Session<B> {
    /// Encodes one row of parameters and creates the BLOBs among them. [`Reusable::give_back`] takes what it returns.
    pub(crate) async fn bind(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: &Params,
        options: &ParamOptions,
    ) -> Result<Bound> {
        if let Some(values) = parameters.scalars()
            && let Some(row) = prepared.reusable.encode(&prepared.info.parameters, values, options)
        {
            return Ok(Bound::Direct(row));
        }
        let Some(batch) = parameters.batch() else {
            return match prepared.info.parameters.len() {
                0 => Ok(Bound::Nothing),
                count => Err(missing_parameters(count)),
            };
        };
        if batch.num_rows() != 1 {
            let text = format!("{} rows of parameters where one is needed", batch.num_rows());
            return Err(Error::new(Kind::Parameter, text));
        }
        let encoder = self.encoder(prepared, &batch.schema(), options);
        let encoded = encoder.and_then(|mut encoder| encoder.encode(batch, 0..1).map_err(Error::of_only_row));
        // Lists may not fit because an array has been declared anew.
        let mut encoded = encoded.inspect_err(|_| self.forget_arrays())?;
        self.create_blobs(transaction, &mut encoded).await?;
        self.create_arrays(transaction, &mut encoded).await?;
        Ok(Bound::Encoded(encoded))
    }

    pub(super) fn encoder(
        &self,
        prepared: &Prepared,
        schema: &Schema,
        options: &ParamOptions,
    ) -> Result<ParamEncoder> {
        let options = ParamOptions { has_time_zones: self.backend.is_firebird4(), ..*options };
        Ok(ParamEncoder::new(&prepared.info.parameters, schema, &options)?)
    }

    pub(super) async fn create_blobs(
        &mut self,
        transaction: TransactionId,
        encoded: &mut EncodedParams,
    ) -> Result<()> {
        if encoded.blobs.is_empty() {
            return Ok(());
        }
        let contents: Vec<&[u8]> = encoded.blobs.iter().map(|cell| encoded.blob_bytes(cell)).collect();
        let ids = self.backend.write_blobs(transaction, &contents).await?;
        encoded.set_blobs(&ids);
        Ok(())
    }

    /// Runs a statement once. A row that it returns is dropped.
    pub(crate) async fn execute(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
    ) -> Result<Executed> {
        let commits = prepared.info.kind == StatementKind::Commit && !self.backend.is_failed();
        let asks_counts = !prepared.inserts_one_row;
        let executed = self.backend.execute(prepared.id, transaction, parameters, None, asks_counts).await;
        let mut executed = executed.map_err(|error| self.unless_committed(commits, transaction, error))?;
        if !asks_counts {
            executed.counts = Some(RecordCounts::ONE_INSERTED);
        }
        if prepared.info.kind == StatementKind::Ddl {
            self.forget_all();
        }
        if executed.transaction_ended {
            self.ended(transaction);
        }
        Ok(executed)
    }

    /// Runs SQL without parameters or rows that is not prepared.
    pub(crate) async fn execute_immediate(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
    ) -> Result<Executed> {
        self.expect_open(transaction)?;
        let commits = is_commit(sql.text) && !self.backend.is_failed();
        self.has_settings |= is_setting(sql.text);
        let executed = match self.backend.execute_immediate(transaction, sql).await {
            Ok(executed) => executed,
            Err(error) => {
                let error = self.unless_committed(commits, transaction, error);
                return Err(self.with_outcome(transaction, error).await);
            }
        };
        self.note_retaining(transaction, sql.text);
        // The text may be any SQL, and may have altered tables.
        self.forget_all();
        if executed.transaction_ended {
            self.ended(transaction);
        }
        Ok(executed)
    }

    /// The error of a statement; for one that `commits`, and whose response was lost, the outcome is unknown.
    fn unless_committed(&mut self, commits: bool, transaction: TransactionId, error: Error) -> Error {
        let is_lost = commits && error.status().is_none() && self.backend.is_failed();
        if is_lost { self.backend.lost_commit(transaction, error) } else { error }
    }

    /// Runs a statement with at most one parameter row, and commits. After an error the transaction must be ended,
    /// unless it has [ended](Self::has_ended) anyway.
    pub(crate) async fn execute_and_commit(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: &Params,
        how: &How,
    ) -> Result<Executed> {
        refuse_cursor(prepared)?;
        let bound = self.bind(prepared, transaction, parameters, &how.params()).await?;
        let stays = how.keeps_prepared || !prepared.is_for_once;
        let executed =
            self.backend.execute_and_commit(prepared.id, transaction, bound.message(), stays).await;
        prepared.reusable.give_back(bound);
        // The commit that is sent along may succeed where the statement failed.
        if !self.backend.is_open(transaction) {
            self.ended(transaction);
        }
        if executed.is_ok() && prepared.info.kind == StatementKind::Ddl {
            self.forget_all();
        }
        executed
    }
}

/// Whether it is COMMIT or COMMIT RETAIN.
fn is_commit(sql: &str) -> bool {
    tokens(sql).next().is_some_and(|first| first.is_word("commit"))
}

pub(super) fn refuse_cursor(prepared: &Prepared) -> Result<()> {
    if has_rows(&prepared.info) && prepared.info.has_cursor {
        return Err(Error::new(Kind::Misuse, "the statement gives rows: use query, not execute"));
    }
    Ok(())
}

fn missing_parameters(count: usize) -> Error {
    let text = match count {
        1 => "the statement has one parameter, and no value was given".to_owned(),
        _ => format!("the statement has {count} parameters, and none were given"),
    };
    Error::new(Kind::Parameter, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_known_by_their_first_word() {
        for sql in
            ["COMMIT", " commit work", "-- now\n/* a -- b */ Commit retain", "commit/**/", "/**/commit;"]
        {
            assert!(is_commit(sql), "{sql}");
        }
        for sql in [
            "",
            "--commit",
            "/*commit",
            "UPDATE t SET committed = 1",
            "commit_all",
            "commit$",
            "ROLLBACK TO SAVEPOINT commit_1",
            "CREATE GLOBAL TEMPORARY TABLE t (n INTEGER) ON COMMIT PRESERVE ROWS",
            "-",
            "ü",
        ] {
            assert!(!is_commit(sql), "{sql}");
        }
    }
}
