//! Savepoints: parts of a transaction that can be undone.

use crate::error::{Error, Kind, Result};

/// What is done with a savepoint.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Savepoint {
    Set,
    RollBack,
    Release,
}

impl Savepoint {
    /// The statement for the savepoint of this name.
    pub(crate) fn sql(self, name: &str) -> Result<String> {
        let name = quoted(name)?;
        Ok(match self {
            Self::Set => format!("SAVEPOINT {name}"),
            Self::RollBack => format!("ROLLBACK TO SAVEPOINT {name}"),
            Self::Release => format!("RELEASE SAVEPOINT {name}"),
        })
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
