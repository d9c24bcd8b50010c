//! What can go wrong between us and the library.

use firearrow_proto::api::status::StatusVector;
use std::path::PathBuf;

/// A failure of the library, its surroundings, or its use.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No client library at any of the places.
    #[error(
        "no Firebird client library found; `pip install firebird-embedded` in an active environment (`make setup` puts it \
         into .venv: source .venv/bin/activate), install Firebird, or set FIREARROW_ENGINE to the library or its folder, \
         …/firebird/embedded/runtime (tried: {})",
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
    /// The file is no Firebird client library for this kind of machine.
    #[error("{} is not a usable Firebird client library: {reason}", path.display())]
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The plugin that contains the engine is not there, so no database can be opened in this process.
    #[error(
        "the engine plugin {} is missing; a client library alone reaches servers only, so name a complete installation \
         (`pip install firebird-embedded`)",
        path.display()
    )]
    MissingEnginePlugin {
        /// Where it should be.
        path: PathBuf,
        /// What the library reported, if it was asked.
        status: Option<StatusVector>,
    },
    /// The engine plugin is there but the library could not load it.
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
    /// This process already uses another client library; two of them break each other.
    #[error(
        "this process already uses the Firebird client library {}; use that one, or open {} in another process",
        loaded.display(),
        asked.display()
    )]
    SecondLibrary {
        /// The one in use.
        loaded: PathBuf,
        /// The one asked for.
        asked: PathBuf,
    },
    /// Others could replace what would be loaded, and so run code as this user.
    #[error(
        "{} is not used for the embedded engine, because {} {reason}: code of others could run here. Make it belong to \
         you or root alone (chown, chmod go-w), or name another engine with FIREARROW_ENGINE",
        path.display(),
        culprit.display()
    )]
    Unsafe {
        /// What was to be used.
        path: PathBuf,
        /// The file or folder on the way that is not safe.
        culprit: PathBuf,
        /// What others can do.
        reason: String,
    },
    /// The engine was started before this process was forked; it does not work in the copy.
    #[error(
        "the embedded engine was started in process {process}, of which this one is a fork, and does not work here: start \
         this process afresh (in Python: multiprocessing's spawn), open embedded databases after forking only, or use a \
         server"
    )]
    Forked {
        /// The process that started it.
        process: u32,
    },
    /// The folders that an engine needs for itself cannot be used.
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
    /// This release of the library cannot do it.
    #[error("{what} needs Firebird {since} or later")]
    Unsupported {
        /// The operation.
        what: &'static str,
        /// The release that brought it.
        since: &'static str,
    },
    /// The engine lays a message out differently than [`RowLayout`](firearrow_proto::api::layout::RowLayout).
    #[error("the engine lays messages out in another way: {what}")]
    Layout {
        /// What differs.
        what: String,
    },
    /// A message buffer is too small or not aligned.
    #[error(
        "a message needs {needed} bytes aligned to {alignment}; the buffer given has {given} bytes or lies elsewhere"
    )]
    Buffer {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
        /// Alignment needed.
        alignment: usize,
    },
    /// An argument that cannot be passed on.
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
    /// The engine refused or failed.
    #[error("{0}")]
    Status(StatusVector),
}

impl Error {
    /// The engine's own report, where there is one.
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
        _ => format!("{name} has version {found}, needed is {needed}: use Firebird 3.0 or later"),
    }
}
