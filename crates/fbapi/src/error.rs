//! Errors of the library and of its use.

use crate::platform::{access, names};
use firearrow_proto::api::status::StatusVector;
use std::path::PathBuf;

/// A failure of the library, its surroundings, or its use.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No client library in any of the places.
    #[error(
        "no Firebird client library found; `pip install firebird-embedded` in an active environment{}, install Firebird, or \
         set FIREARROW_ENGINE to the library or its folder, …/firebird/embedded/runtime (tried: {})",
        names::SETUP_HINT,
        list(tried)
    )]
    LibraryNotFound {
        /// The places, in the order tried.
        tried: Vec<PathBuf>,
    },
    /// The client library needs another library that this system does not have.
    #[error("{} needs {name}, which this system does not have: {remedy}", library.display())]
    MissingDependency {
        /// The client library.
        library: PathBuf,
        /// The name of the missing library.
        name: String,
        /// What to do about it.
        remedy: String,
    },
    /// The file is not a Firebird client library for this kind of machine.
    #[error("{} is not a usable Firebird client library: {reason}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The engine plugin is missing, so no database can be opened in this process.
    #[error(
        "the engine plugin {} is missing; a client library alone reaches servers only, so name a complete installation \
         (`pip install firebird-embedded`)",
        path.display()
    )]
    MissingEnginePlugin {
        /// Where it should be.
        path: PathBuf,
        /// What the library reported, if it was called.
        status: Option<StatusVector>,
    },
    /// The library could not load the engine plugin.
    #[error(
        "the engine plugin {} cannot be loaded; check its permissions (read and execute) and its libraries: {status}",
        path.display()
    )]
    PluginNotLoadable {
        /// The plugin.
        path: PathBuf,
        /// What the library reported; its last line is the loader's.
        status: StatusVector,
    },
    /// The engine found no ICU library on this system.
    #[error("the engine needs ICU; install libicu (Debian 12: libicu72): {status}")]
    MissingIcu {
        /// What the engine reported.
        status: StatusVector,
    },
    /// This process already uses another client library. Two of them would interfere.
    #[error(
        "this process already uses the Firebird client library {}; use that one, or open {} in another process",
        loaded.display(),
        asked.display()
    )]
    SecondLibrary {
        /// The library in use.
        loaded: PathBuf,
        /// The requested library.
        asked: PathBuf,
    },
    /// Other users could replace a file to be loaded, and so run code as this user.
    #[error(
        "{} is not used for the embedded engine, because {} {reason}: other users could run code here. Make it belong to \
         {}, or name another engine with FIREARROW_ENGINE",
        path.display(),
        culprit.display(),
        access::REMEDY
    )]
    Unsafe {
        /// The path to be used.
        path: PathBuf,
        /// The unsafe file or folder on that path.
        culprit: PathBuf,
        /// Why it is unsafe.
        reason: String,
    },
    /// The engine was started before this process was forked. It does not work in the child.
    #[error(
        "the embedded engine was started in process {process}, of which this one is a fork, and does not work here: start \
         this process afresh (in Python: multiprocessing's spawn), open embedded databases after forking only, or use a \
         server"
    )]
    Forked {
        /// The process that started it.
        process: u32,
    },
    /// A folder that the engine needs cannot be used.
    #[error("{}: {reason}", path.display())]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An interface of the library is older than the oldest release that this crate knows.
    #[error("{}", unusable(name, *found, *needed))]
    Interface {
        /// Its name.
        name: &'static str,
        /// Its version; 0 when the library gave none at all.
        found: usize,
        /// The lowest version that will do.
        needed: usize,
    },
    /// This release of the library does not support the operation.
    #[error("{what} needs Firebird {since} or later")]
    Unsupported {
        /// The operation.
        what: &'static str,
        /// The release that introduced it.
        since: &'static str,
    },
    /// The engine lays out a message differently from [`RowLayout`](firearrow_proto::api::layout::RowLayout).
    #[error("the engine lays out messages differently: {what}")]
    Layout {
        /// What differs.
        what: String,
    },
    /// A message buffer is too small or not aligned.
    #[error(
        "a message needs {needed} bytes aligned to {alignment}; the buffer has {given} bytes or is not aligned"
    )]
    Buffer {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
        /// Alignment needed.
        alignment: usize,
    },
    /// An invalid argument.
    #[error("{what}")]
    Argument {
        /// What is wrong with it.
        what: String,
    },
    /// The transaction has ended.
    #[error("the transaction has already ended")]
    NoTransaction,
    /// A BLOB is longer than the caller allows.
    #[error("the BLOB is longer than the limit of {limit} bytes")]
    BlobTooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The engine reported an error.
    #[error("{0}")]
    Status(StatusVector),
}

impl Error {
    /// The engine's own report, if there is one.
    pub fn status(&self) -> Option<&StatusVector> {
        match self {
            Self::Status(status) | Self::PluginNotLoadable { status, .. } | Self::MissingIcu { status } => {
                Some(status)
            }
            Self::MissingEnginePlugin { status, .. } => status.as_ref(),
            Self::LibraryNotFound { .. }
            | Self::MissingDependency { .. }
            | Self::NotALibrary { .. }
            | Self::SecondLibrary { .. }
            | Self::Folder { .. }
            | Self::Unsafe { .. }
            | Self::Forked { .. }
            | Self::Interface { .. }
            | Self::Unsupported { .. }
            | Self::Layout { .. }
            | Self::Buffer { .. }
            | Self::Argument { .. }
            | Self::NoTransaction
            | Self::BlobTooLong { .. } => None,
        }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

fn unusable(name: &str, found: usize, needed: usize) -> String {
    match found {
        0 => format!("the client library returned no {name}"),
        _ => format!("{name} has version {found}, but version {needed} is needed: use Firebird 3.0 or later"),
    }
}
