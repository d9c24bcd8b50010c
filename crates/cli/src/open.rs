//! Opens connections that end with the command, and prints their warnings.

use crate::{interrupt, terminal};
use firearrow::{Config, Connection, Result, Warning};
use firearrow_bench::secret;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether warnings have been printed: all connections of a command take the same route.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Attaches to a database. The calls of the connection are cancelled when the command must end. Its warnings go to
/// standard error, once per run of the command.
pub(crate) fn open(config: &Config) -> Result<Connection> {
    interrupt::cancellable(|| Connection::open(config)).inspect(warn)
}

/// Like [`open`], for a new database.
pub(crate) fn create(config: &Config) -> Result<Connection> {
    interrupt::cancellable(|| Connection::create(config)).inspect(warn)
}

/// Prints the warnings of the first connection that has any.
fn warn(connection: &Connection) {
    let warnings = connection.warnings();
    if !warnings.is_empty() && !TOLD.swap(true, Ordering::Relaxed) {
        print(warnings);
    }
}

/// Prints what the engine warned of in the statements of a connection.
pub(crate) fn warn_of_statements(connection: &Connection) {
    print(&connection.take_statement_warnings());
}

fn print(warnings: &[Warning]) {
    for warning in warnings {
        terminal::remark(&format!("warning: {}", secret::redact(&warning.to_string())));
    }
}
