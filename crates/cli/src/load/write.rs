//! Rows into the table: through the drivers' ingestion, or row by row where rows may be refused.

use super::feed::{Feed, Notes};
use super::source;
use crate::failure::{Failure, Result};
use crate::interrupt;
use firearrow::arrow::ParamError;
use firearrow::catalog::quoted;
use firearrow_bench::text::thousands;
use firearrow_driver::{Detail, IngestOptions, Rows, Session, Statement, StatementOptions};
use std::error::Error as _;
use std::sync::Arc;

/// Rows for one table.
pub(super) struct Target<'a> {
    pub(super) session: &'a Arc<Session>,
    pub(super) options: IngestOptions,
    /// Whether its rows are deleted first, in the same transaction.
    pub(super) deletes: bool,
    /// What a row is called in the files.
    pub(super) unit: &'static str,
}

impl Target<'_> {
    /// Loads all rows. Returns their number, and the columns of a table that was made for them.
    pub(super) fn ingest(&self, feed: Feed) -> Result<(u64, Vec<String>)> {
        let notes = feed.notes();
        let mut statement = self.statement()?;
        if self.deletes {
            self.delete()?;
        }
        statement.bind(Rows::new(Box::new(feed))?);
        let rows = statement.ingest(&self.options).map_err(|error| self.explained(&error, &notes))?;
        if !self.session.is_autocommit() {
            self.session.end(true)?;
        }
        Ok((rows, statement.made().to_vec()))
    }

    /// Deletes the rows of the table in the transaction of manual mode.
    pub(super) fn delete(&self) -> Result<()> {
        let mut statement = self.statement()?;
        statement.set_query(&format!("DELETE FROM {}", quoted(&self.options.table)))?;
        statement.update()?;
        interrupt::check()
    }

    fn statement(&self) -> Result<Statement> {
        let read = self.session.connection()?.read_options().clone();
        Ok(Statement::new(self.session, StatementOptions { read, ..StatementOptions::default() }))
    }

    /// Returns the failure of an ingestion: where it happened, and which rows stay.
    fn explained(&self, error: &firearrow_driver::Error, notes: &Notes) -> Failure {
        let details = error.details();
        let detail = |wanted| {
            let found = details.iter().rfind(|(detail, _)| *detail == wanted)?;
            found.1.parse::<u64>().ok()
        };
        let stays = detail(Detail::RowsCommitted)
            .map(|rows| format!("the first {} rows are loaded and stay", thousands(rows)));
        // It is told if the command was interrupted, too.
        interrupt::stays(stays.clone());
        let stays = stays.map_or_else(String::new, |stays| format!("{stays}: "));
        if let Some(failure) = notes.take_failure() {
            return match failure {
                Failure::Other(text) => Failure::Other(format!("{stays}{text}")),
                failure => failure,
            };
        }
        if stays.is_empty() && error.is_cancelled() {
            return Failure::Stopped;
        }
        let Some(client) = error.client() else {
            return Failure::Other(format!("{stays}{}", error.message()));
        };
        let place = detail(Detail::Row).map(|row| match notes.place(row) {
            Some((file, place)) => source::place(self.unit, &file, place),
            None => format!("row {}", row + 1),
        });
        let text = match place {
            Some(place) => format!("{stays}{place}: {}", reason(client)),
            None => format!("{stays}{}", client.message()),
        };
        Failure::Told(text, Box::new(client.clone()))
    }
}

/// Returns what an error says about a row: the column by its name, and neither the number of the row nor that of the
/// parameter.
pub(super) fn reason(error: &firearrow::Error) -> String {
    let refused = error.source().and_then(|source| source.downcast_ref::<ParamError>());
    if let Some(ParamError { field, message, .. }) = refused {
        return format!("column {field}: {message}");
    }
    let text = error.message().trim_end();
    match parameter(text) {
        Some((name, rest)) => format!("column {name}: {}", without_preamble(rest)),
        None => without_preamble(text).to_owned(),
    }
}

/// The name of the parameter that a message begins with, and the rest.
fn parameter(text: &str) -> Option<(&str, &str)> {
    let (number, rest) = text.strip_prefix("parameter ")?.split_once(" (\"")?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    rest.split_once("\"): ").filter(|_| is_number)
}

/// Leaves out the lines that the engine puts before all errors of statements.
fn without_preamble(text: &str) -> &str {
    let rest = text.strip_prefix("Dynamic SQL Error\n-SQL error code = ");
    rest.and_then(|rest| rest.split_once("\n-")).map_or(text, |(_, rest)| rest)
}

#[cfg(test)]
mod tests {
    use super::{parameter, without_preamble};

    #[test]
    fn the_engine_comes_to_the_point() {
        let text = "Dynamic SQL Error\n-SQL error code = -303\n-conversion error from string \"x\"";
        assert_eq!(without_preamble(text), "conversion error from string \"x\"");
        for text in ["Dynamic SQL Error\n-SQL error code = -303", "deadlock\n-update conflicts"] {
            assert_eq!(without_preamble(text), text);
            assert_eq!(parameter(text), None);
        }
        assert_eq!(parameter("parameter 12 (\"V 8\"): too long"), Some(("V 8", "too long")));
    }
}
