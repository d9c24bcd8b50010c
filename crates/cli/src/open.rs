//! Connections, and what their users should know about them.

use crate::secret;
use firearrow::{Config, Connection, Result};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the warnings of a connection were printed: all connections of a command go the same way.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Attaches to a database. Its warnings go to standard error, once for each run of the command.
pub(crate) fn open(config: &Config) -> Result<Connection> {
    let connection = Connection::open(config)?;
    tell(&connection);
    Ok(connection)
}

/// Prints the warnings of the first connection that has any.
pub(crate) fn tell(connection: &Connection) {
    let warnings = connection.warnings();
    if warnings.is_empty() || TOLD.swap(true, Ordering::Relaxed) {
        return;
    }
    for warning in warnings {
        eprintln!("warning: {}", secret::redact(&warning.to_string()));
    }
}
