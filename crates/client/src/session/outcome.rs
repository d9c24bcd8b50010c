//! Commits whose response was lost: the client asks the server for their outcome on another connection.
//!
//! The inventory of transactions has two final states, *committed* and *rolled back*. But when a connection
//! ends, the server undoes the changes of its open transactions, and marks those it could undo as *committed*, because
//! nothing of them is left. So "committed" is believed only of transactions without such an undo log
//! ([`TransactionOptions::no_auto_undo`](crate::TransactionOptions::no_auto_undo)) and of those in limbo, which
//! nobody undoes.

use super::Session;
use crate::answer;
use crate::arrow::BatchLimits;
use crate::backend::{Backend, End};
use crate::config::{Config, WireCrypt};
use crate::db_key::KeyHolder;
use crate::error::{Error, Result};
use crate::lost_commit::CommitOutcome;
use crate::params::Params;
use crate::session::run::How;
use ::arrow::datatypes::Int64Type;
use firearrow_proto::api::gds;
use firearrow_proto::api::status::{StatusArg, StatusVector};
use firearrow_proto::api::transaction::TransactionOptions;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time to find the server again.
const RECONNECT: Duration = Duration::from_secs(10);
/// Longest time for all questions together, however the server answers.
const ASKING: Duration = Duration::from_secs(10);
/// How long a transaction may take to end once its connection is gone.
const ENDING: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(50);

/// The state of a transaction in the inventory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Active,
    Committed,
    RolledBack,
    Limbo,
    /// The engine knows no such transaction.
    None,
}

impl<B: Backend> Session<B> {
    /// Adds the server's account of a lost commit to its error. `is_exact`: the server cannot have undone
    /// the transaction and still call it committed.
    pub(super) async fn ask_about_commit(&mut self, error: Error, is_exact: bool) -> Error {
        let Some(number) = error.lost_commit().and_then(|lost| lost.transaction) else { return error };
        let (outcome, told) = match self.ask_for_state(number).await {
            Ok(State::Committed) if is_exact => (CommitOutcome::Committed, "it was committed"),
            Ok(State::Committed) => (
                CommitOutcome::Unknown,
                "it was either committed, or undone when the connection ended; the server cannot tell which if the \
                 transaction has an undo log (see no_auto_undo): check the data before you retry",
            ),
            Ok(State::RolledBack) => (CommitOutcome::RolledBack, "it was rolled back: you can retry"),
            Ok(State::Limbo) => (CommitOutcome::Unknown, "it is in limbo: recover it"),
            Ok(State::Active) => {
                (CommitOutcome::Unknown, "it has not ended yet: check the data before you retry")
            }
            Ok(State::None) => (
                CommitOutcome::Unknown,
                "the server knows no such transaction: check the data before you retry",
            ),
            Err(reason) => {
                let told = format!("could not find out what became of it: {reason}");
                return error.with_outcome(CommitOutcome::Unknown, &told);
            }
        };
        error.with_outcome(outcome, told)
    }

    async fn ask_for_state(&mut self, number: u64) -> Result<State> {
        let begin = Instant::now();
        let config = config_to_ask(&self.facts.config, self.backend.wire_stats().encrypted);
        let backend = self.backend.connect_again(&config, &mut KeyHolder::new(&config)).await?;
        let mut asking = Session::new(backend, Arc::clone(&self.facts));
        asking.backend.limit_patience(ASKING);
        let state = loop {
            let state = asking.state_of(number).await?;
            if state != State::Active || begin.elapsed() > ENDING {
                break state;
            }
            asking.backend.pause(PAUSE).await;
        };
        if let Err(error) = asking.close().await {
            tracing::debug!(%error, "detaching failed");
        }
        Ok(state)
    }

    async fn state_of(&mut self, number: u64) -> Result<State> {
        if self.backend.is_firebird4() {
            let sql = format!("SELECT RDB$GET_TRANSACTION_CN({number}) FROM RDB$DATABASE");
            let transaction = self.begin_deferred(&TransactionOptions::reading()).await?;
            // One row a batch: a server that sends more of them must not keep the caller waiting.
            let limits = BatchLimits::default().rows(1).full(true);
            let how = How { limits, ..How::default() };
            let mut rows = self.query(sql.as_str().into(), transaction, &Params::none(), &how).await?;
            let row = self.next(&mut rows).await?;
            let number = row.map_or(Ok(None), |row| answer::number::<Int64Type>(&row, 0, 0))?;
            self.leave(&mut rows, End::Rollback).await?;
            // The next question needs another snapshot.
            self.abandon(transaction).await?;
            return Ok(match number {
                Some(-2) => State::RolledBack,
                Some(-1) => State::Limbo,
                Some(0) => State::Active,
                Some(_) => State::Committed,
                None => State::None,
            });
        }
        // Taking it over fails unless it is in limbo, where it stays; the error names its state.
        match self.recover(number).await {
            Ok(_) => Ok(State::Limbo),
            Err(error) => error.status().and_then(named_state).ok_or(error),
        }
    }
}

/// How to connect for the question. The connection must be no easier to forge than the lost one: otherwise whoever cut
/// it could answer.
fn config_to_ask(config: &Config, was_encrypted: bool) -> Config {
    let mut config = config.clone();
    if was_encrypted {
        config.wire_crypt = WireCrypt::Required;
    }
    (config.create_if_missing, config.overwrite, config.keepalive) = (false, false, None);
    config.connect_timeout = config.connect_timeout.min(RECONNECT);
    config
}

/// The state in `isc_tra_state`: the number of the transaction, and a word of the engine's messages.
fn named_state(status: &StatusVector) -> Option<State> {
    let args = status.error_args();
    let at = args.iter().position(|arg| matches!(arg, StatusArg::Gds(gds::ISC_TRA_STATE)))?;
    // The number may be a text, too.
    args[at + 1..].iter().find_map(|arg| match arg {
        StatusArg::Text(text) => match text.trim().to_ascii_lowercase().as_str() {
            "active" => Some(State::Active),
            "committed" => Some(State::Committed),
            "rolled back" => Some(State::RolledBack),
            _ => None,
        },
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_from_the_refusal() {
        let status = |word: &str| {
            let texts = ["7", word].map(|text| StatusArg::Text(text.into()));
            StatusVector([StatusArg::Gds(gds::ISC_TRA_STATE)].into_iter().chain(texts).collect())
        };
        for (word, state) in [
            ("committed", Some(State::Committed)),
            ("ROLLED BACK", Some(State::RolledBack)),
            ("active", Some(State::Active)),
            ("ill-defined", None),
        ] {
            assert_eq!(named_state(&status(word)), state, "{word}");
        }
    }

    #[test]
    fn who_cuts_an_encrypted_connection_cannot_answer_in_clear_text() {
        let lost = Config { create_if_missing: true, ..Config::default() };
        assert_eq!(lost.wire_crypt, WireCrypt::Enabled);
        let asked = config_to_ask(&lost, true);
        assert_eq!((asked.wire_crypt, asked.create_if_missing), (WireCrypt::Required, false));
        assert_eq!(config_to_ask(&lost, false).wire_crypt, WireCrypt::Enabled);
    }
}
