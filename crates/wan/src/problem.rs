//! What goes wrong while a proxy runs.

use std::{error, fmt, io};

/// Why a client could not be served.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The connection of a client could not be accepted.
    Accept(io::Error),
    /// The target could not be reached. The client's connection was closed.
    Target {
        /// Host and port.
        target: String,
        /// Why not.
        error: io::Error,
    },
    /// The system gave no threads or sockets for a connection, which was closed.
    Resources(io::Error),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accept(error) => write!(f, "cannot accept a connection: {error}"),
            Self::Target { target, error } => write!(f, "cannot connect to {target}: {error}"),
            Self::Resources(error) => write!(f, "cannot serve a connection: {error}"),
        }
    }
}

impl error::Error for Problem {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Accept(error) | Self::Target { error, .. } | Self::Resources(error) => Some(error),
        }
    }
}
