//! Generators, which the SQL standard calls sequences.

use super::question::Question;
use super::{Name, View, quoted};
use crate::backend::Backend;
use crate::error::{Error, Kind, Result};
use crate::session::Session;

/// A generator (a sequence).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Generator {
    /// Its name.
    pub name: String,
    /// `START WITH`. From Firebird 4 on this is the first value that `NEXT VALUE FOR` returns; before, the second.
    pub initial_value: i64,
    /// `INCREMENT BY`: what `NEXT VALUE FOR` adds.
    pub increment: i32,
    /// The user who created it.
    pub owner: Option<String>,
    /// `COMMENT ON SEQUENCE`.
    pub remarks: Option<String>,
}

const GENERATORS: &str = "SELECT G.RDB$GENERATOR_NAME, G.RDB$INITIAL_VALUE, G.RDB$GENERATOR_INCREMENT, \
     G.RDB$OWNER_NAME, G.RDB$DESCRIPTION FROM RDB$GENERATORS G";

impl View {
    /// Returns the generators with these names. Those of identity columns are system objects.
    pub(crate) async fn generators<B: Backend>(
        self,
        session: &mut Session<B>,
        name: Name<'_>,
    ) -> Result<Vec<Generator>> {
        let question = Question::new(GENERATORS).and_name("G.RDB$GENERATOR_NAME", name);
        let question = self.without_system(question, "G").order_by("G.RDB$GENERATOR_NAME");
        let read = |row: &super::question::Row<'_>| {
            Ok(Generator {
                name: row.name(0)?,
                initial_value: row.number(1),
                increment: row.number(2),
                owner: row.owned(3),
                remarks: row.remark(4),
            })
        };
        self.ask(session, &question, read).await
    }

    /// Returns the current value of one generator, without changing it.
    pub(crate) async fn generator_value<B: Backend>(
        self,
        session: &mut Session<B>,
        name: &str,
    ) -> Result<i64> {
        // The parser truncates nothing, but has no text for a NUL.
        if name.contains('\0') {
            return Err(Error::new(Kind::Misuse, "a name of a generator cannot contain NUL"));
        }
        let question = Question::new(&format!("SELECT GEN_ID({}, 0) FROM RDB$DATABASE", quoted(name)));
        let values = self.ask(session, &question, |row| Ok(row.integer(0))).await?;
        let missing = || Error::new(Kind::Protocol, "GEN_ID gave no value");
        values.into_iter().flatten().next().ok_or_else(missing)
    }
}
