//! Opens connections that end with the command, and prints their warnings.

use crate::failure::Failure;
use crate::{interrupt, terminal};
use firearrow::arrow::BlobPolicy;
use firearrow::config::WireCompression;
use firearrow::{Config, Connection, Result, Warning};
use firearrow_bench::secret;
use firearrow_driver::{Session, SessionOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether warnings have been printed: all connections of a command take the same route.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Whether the remark about `wire_compress` has been printed.
static REMARKED: AtomicBool = AtomicBool::new(false);

/// Attaches to a database. The calls of the connection are cancelled when the command must end. Its warnings go to
/// standard error, once per run of the command.
pub(crate) fn open(config: &Config) -> Result<Connection> {
    remark_on(config);
    attach(config)
}

/// Like [`open`], as a session of the drivers. What it must do to its end, such as dropping a table whose rows do not come,
/// is not cancelled.
pub(crate) fn open_session(config: &Config, options: SessionOptions) -> Result<Arc<Session>, Failure> {
    remark_on(config);
    let session = Arc::new(interrupt::waiting(|| Session::open(config, options))?);
    let activity = Arc::clone(session.activity());
    interrupt::on_end(move || {
        activity.cancel();
    });
    warn(session.connection()?);
    Ok(session)
}

fn remark_on(config: &Config) {
    if config.compress == WireCompression::Auto && !REMARKED.swap(true, Ordering::Relaxed) {
        terminal::remark("wire_compress=auto has no effect in a single command; use wire_compress=true");
    }
}

/// [`open`] for a command that opens one connection after the other.
pub(crate) fn attach(config: &Config) -> Result<Connection> {
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

/// Refuses to write ids of BLOBs to where they outlive their transaction.
pub(crate) fn refuse_blob_ids(connection: &Connection) -> Result<(), Failure> {
    if connection.read_options().blobs == BlobPolicy::Lazy {
        return Err(Failure::usage(
            "with blobs=lazy a file would hold ids of BLOBs, which end with the transaction; \
             choose another policy, or none",
        ));
    }
    Ok(())
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
