//! What the client tells of a connection, for Python.

use firearrow::{ServerInfo, Warning, WireStats};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The server and the database.
pub(crate) fn described(py: Python<'_>, info: ServerInfo) -> PyResult<Bound<'_, PyDict>> {
    let to = PyDict::new(py);
    to.set_item("engine_version", info.engine_version)?;
    to.set_item("implementation", info.implementation)?;
    to.set_item("ods", info.ods)?;
    to.set_item("protocol", info.protocol)?;
    to.set_item("cipher", info.cipher)?;
    to.set_item("compressed", info.compressed)?;
    to.set_item("connection_charset", info.connection_charset)?;
    to.set_item("database_charset", info.database_charset)?;
    to.set_item("dialect", info.dialect)?;
    to.set_item("page_size", info.page_size)?;
    to.set_item("pages", info.pages)?;
    to.set_item("read_only", info.read_only)?;
    to.set_item("forced_writes", info.forced_writes)?;
    to.set_item("attachment", info.attachment)?;
    to.set_item("user", info.user)?;
    to.set_item("role", info.role)?;
    Ok(to)
}

/// Warnings of connecting, and those of statements.
pub(crate) fn texts(connecting: &[Warning], statements: &[Warning]) -> (Vec<String>, Vec<String>) {
    let text = |warnings: &[Warning]| warnings.iter().map(ToString::to_string).collect();
    (text(connecting), text(statements))
}

/// The counters of a connection, statement or result.
pub(crate) fn statistics<'py>(py: Python<'py>, stats: &WireStats) -> PyResult<Bound<'py, PyDict>> {
    let to = PyDict::new(py);
    to.set_item("round_trips", stats.round_trips)?;
    to.set_item("packets_sent", stats.packets_sent)?;
    to.set_item("packets_received", stats.packets_received)?;
    to.set_item("bytes_sent", stats.bytes_sent)?;
    to.set_item("bytes_received", stats.bytes_received)?;
    to.set_item("sends", stats.sends)?;
    to.set_item("receives", stats.receives)?;
    to.set_item("wire_bytes_sent", stats.wire_bytes_sent)?;
    to.set_item("wire_bytes_received", stats.wire_bytes_received)?;
    to.set_item("encrypted", stats.encrypted)?;
    Ok(to)
}
