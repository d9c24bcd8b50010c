//! Replaces the rows of a table. The old ones stay until the new ones are complete.

use super::column::Declaration;
use super::write::execute;
use super::{Ingestion, kind, shape};
use crate::activity::Task;
use crate::error::{Detail, Error, Result};
use crate::option::Purpose;
use crate::rows::Rows;
use firearrow::catalog::{Catalog, Column, Name, TableKind, quoted};
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

impl Ingestion<'_> {
    /// Replaces the rows, and the table if its columns differ from those of a new one.
    pub(super) fn replace(&self, catalog: Catalog, columns: &[Column], mut rows: Rows) -> Result<u64> {
        let declarations = self.declarations(&mut rows)?;
        let is_empty = rows.look_ahead(1)?.is_empty();
        let stays = self.stays(&catalog, columns, &declarations)?;
        drop(catalog);
        let delete = format!("DELETE FROM {}", quoted(self.table));
        if !stays && is_empty {
            self.recreate(&declarations)?;
            return Ok(0);
        }
        if !stays || (self.options.commit_rows > 0 && !is_empty) {
            return self.replace_from_staging(&declarations, rows, stays.then_some(&delete));
        }
        let insert = self.insert(self.table);
        if !self.session.is_autocommit() {
            return self.write_in_manual(Some(&delete), &insert, rows, true);
        }
        let mut written = 0;
        self.write(Some(&delete), &insert, rows, &mut written)?;
        Ok(written as u64)
    }

    /// Whether the table can stay, with other rows: it equals the one that would be created, and deleting and inserting
    /// rows has no other effect.
    fn stays(&self, catalog: &Catalog, columns: &[Column], wanted: &[Declaration]) -> Result<bool> {
        let is_kind = match kind(catalog, self.table)? {
            Some(TableKind::View) => return Err(Error::table_exists(self.table, "exists, but is a view")),
            Some(TableKind::System) => {
                return Err(Error::table_exists(self.table, "exists, but is one of the engine's own"));
            }
            Some(TableKind::Table) => !self.options.temporary,
            Some(TableKind::GlobalTemporary { preserves_rows }) => self.options.temporary && preserves_rows,
            Some(TableKind::External) | None => false,
        };
        Ok(is_kind
            && shape::is_same(columns, wanted, self.engine.dialect)
            && !catalog.reacts_to_rows(Name::Is(self.table))?)
    }

    fn recreate(&self, declarations: &[Declaration]) -> Result<()> {
        self.define("RECREATE", self.table, declarations)?;
        self.remember_if_temporary()
    }

    /// A temporary table goes with the connection.
    fn remember_if_temporary(&self) -> Result<()> {
        if self.options.temporary { self.session.remember_temporary(self.table) } else { Ok(()) }
    }

    /// Writes the rows into another table first, which proves that they fit. The table itself is then emptied by
    /// `delete` and filled in one transaction; or made anew and filled, which takes two.
    fn replace_from_staging(
        &self,
        declarations: &[Declaration],
        rows: Rows,
        delete: Option<&String>,
    ) -> Result<u64> {
        let staging = format!("FIREARROW${:016X}", RandomState::new().hash_one(self.table));
        self.define("CREATE", &staging, declarations)?;
        let mut written = 0;
        let filled = self.write(None, &self.insert(&staging), rows, &mut written);
        let filled = filled.and_then(|()| self.task.check());
        // From here on nothing interrupts: the table may be empty for a moment.
        Task::spared(|| {
            let ready = filled.and_then(|()| match delete {
                Some(_) => Ok(()),
                None => self.define("RECREATE", self.table, declarations),
            });
            if let Err(error) = ready {
                return Err(self.without(&staging, error));
            }
            if delete.is_none() {
                // Without it a temporary table stays, which holds no rows of this connection.
                let _ = self.remember_if_temporary();
            }
            let copied = self.unlimited(|| self.copy(&staging, delete, written));
            match (copied, delete) {
                (Ok(()), _) => {
                    // Its rows are where they belong; it may be dropped later.
                    let _ = self.session.drop_table(&staging);
                    Ok(written as u64)
                }
                (Err(error), Some(_)) => Err(self.without(&staging, error)),
                (Err(error), None) => Err(rows_in(&staging, "the new rows are", error)),
            }
        })
    }

    /// The rows of the staging table, and no others, into the table.
    fn copy(&self, staging: &str, delete: Option<&String>, rows: usize) -> Result<()> {
        // Whatever snapshot the connection reads, these rows are newer.
        // Without an undo log, as for everything ingested, the server can report the outcome of a lost commit.
        let options = self.session.transaction_options(Purpose::Ddl)?.no_auto_undo(true);
        let mut transaction = self.session.connection()?.begin_lazy(options)?;
        if let Some(delete) = delete {
            execute(&mut transaction, delete)?;
        }
        let (names, _) = self.names_and_markers();
        let (into, from) = (quoted(self.table), quoted(staging));
        let copied =
            execute(&mut transaction, &format!("INSERT INTO {into} ({names}) SELECT {names} FROM {from}"))?;
        if copied.is_some_and(|copied| copied != rows as u64) {
            return Err(Error::internal(format!("{copied:?} of {rows} rows were copied")));
        }
        Ok(transaction.commit()?)
    }

    /// Runs `work` without the session's limit for the time of a statement.
    fn unlimited<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(limit) = self.session.options().statement_timeout else { return work() };
        let set = |limit| Ok::<_, Error>(self.session.connection()?.limit_session(Some(limit), None)?);
        set(Duration::ZERO)?;
        let result = work();
        // If it cannot be set again the connection has failed, which the next call reports.
        let _ = set(limit);
        result
    }

    /// Drops the staging table; if that fails, adds its name to the error.
    fn without(&self, staging: &str, error: Error) -> Error {
        match self.session.drop_table(staging) {
            Ok(()) => error,
            Err(_) => rows_in(staging, "rows so far may be", error),
        }
    }
}

/// An error that leaves rows in the staging table.
fn rows_in(staging: &str, rows: &str, error: Error) -> Error {
    let error = error.context(format_args!("{rows} in the table {}", quoted(staging)));
    error.with_detail(Detail::StagingTable, staging)
}
