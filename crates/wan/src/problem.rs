//! Failures while a proxy runs.

use std::io;

/// Why a client could not be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The connection of a client could not be accepted.
    #[error("cannot accept a connection: {0}")]
    Accept(#[source] io::Error),
    /// The target could not be reached. The client's connection was closed.
    #[error("cannot connect to {target}: {error}")]
    Target {
        /// Host and port.
        target: String,
        /// The error.
        #[source]
        error: io::Error,
    },
    /// The system had no threads or sockets for a connection, which was closed.
    #[error("cannot serve a connection: {0}")]
    Resources(#[source] io::Error),
}
