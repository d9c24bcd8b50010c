//! Savepoints: parts of a transaction that can be undone.

use crate::backend::Backend;
use crate::error::{Error, Kind, Result};
use crate::transaction::Transaction;

/// Each takes one round trip. Names are taken exactly as they are given, in their case and with any characters; Firebird
/// 3.0 takes 31 bytes, later releases 63 characters.
impl Transaction {
    /// Sets a savepoint: [`rollback_to_savepoint`](Self::rollback_to_savepoint) undoes what comes after it. An earlier one of
    /// the same name is gone then.
    pub fn savepoint(&mut self, name: &str) -> Result<()> {
        let name = quoted(name)?;
        self.control(&format!("SAVEPOINT {name}"))
    }

    /// Undoes everything since the savepoint of this name, which stays; those set after it are gone.
    ///
    /// # Errors
    /// There is no savepoint of this name; nothing is undone then.
    pub fn rollback_to_savepoint(&mut self, name: &str) -> Result<()> {
        let name = quoted(name)?;
        // It may undo changes of tables.
        self.execute_immediate(&format!("ROLLBACK TO SAVEPOINT {name}"))
    }

    /// Gives up the savepoint of this name and those set after it. Nothing is undone, and the engine forgets how to.
    ///
    /// # Errors
    /// There is no savepoint of this name.
    pub fn release_savepoint(&mut self, name: &str) -> Result<()> {
        let name = quoted(name)?;
        self.control(&format!("RELEASE SAVEPOINT {name}"))
    }

    /// Runs SQL that leaves everything as it is.
    fn control(&mut self, sql: &str) -> Result<()> {
        let id = self.id()?;
        self.shared().run(async |session| session.backend.execute_immediate(id, sql.into()).await).map(|_| ())
    }
}

/// The name as a delimited identifier.
fn quoted(name: &str) -> Result<String> {
    if name.is_empty() || name.contains('\0') {
        return Err(Error::new(Kind::Parameter, "a savepoint needs a name, without zero bytes"));
    }
    Ok(format!("\"{}\"", name.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_stay_names() {
        assert_eq!(quoted("before lunch").ok().as_deref(), Some("\"before lunch\""));
        assert_eq!(quoted("a\"; DROP TABLE t; --").ok().as_deref(), Some("\"a\"\"; DROP TABLE t; --\""));
        assert!(quoted("").is_err() && quoted("a\0b").is_err());
    }
}
