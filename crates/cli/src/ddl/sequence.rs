//! Sequences, which Firebird also calls generators, and exceptions.

use super::database::{Database, Scope, text};
use super::name::{literal, name};
use super::script::Script;
use crate::failure::Result;

/// Adds the sequences of users with their comments, without their current values.
pub(super) fn create(database: &Database, sequence: Scope<'_>, script: &mut Script) -> Result<()> {
    for generator in database.catalog.generators(sequence.name())? {
        let mut sql = format!("CREATE SEQUENCE {}", name(&generator.name));
        if generator.initial_value != database.first_value() {
            sql += &format!(" START WITH {}", generator.initial_value);
        }
        if generator.increment != 1 {
            sql += &format!(" INCREMENT BY {}", generator.increment);
        }
        script.add("SEQUENCE", &generator.name, sql);
        script.comment("SEQUENCE", &generator.name, generator.remarks.as_ref());
    }
    Ok(())
}

const EXCEPTIONS: &str = "SELECT E.RDB$EXCEPTION_NAME, E.RDB$MESSAGE, E.RDB$DESCRIPTION FROM RDB$EXCEPTIONS E \
     WHERE COALESCE(E.RDB$SYSTEM_FLAG, 0) = 0 AND {only} ORDER BY 1";

/// Adds the exceptions of users with their comments.
pub(super) fn create_exceptions(
    database: &Database,
    exception: Scope<'_>,
    script: &mut Script,
) -> Result<()> {
    let exceptions = database.ask_scope(EXCEPTIONS, "E.RDB$EXCEPTION_NAME", exception, |row| {
        Ok((row.get::<String>(0)?, row.get::<Option<String>>(1)?, text(&row, 2)?))
    })?;
    for (exception, message, remarks) in exceptions {
        let message = literal(&message.unwrap_or_default());
        script.add("EXCEPTION", &exception, format!("CREATE EXCEPTION {} {message}", name(&exception)));
        script.comment("EXCEPTION", &exception, remarks.as_ref());
    }
    Ok(())
}
