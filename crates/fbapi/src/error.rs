//! What can go wrong between us and the library.

use firearrow_proto::api::status::StatusVector;
use std::fmt;
use std::path::PathBuf;

/// A failure of the library, its surroundings, or its use.
#[derive(Debug)]
pub enum Error {
    /// No client library at any of the places.
    LibraryNotFound {
        /// The places, in the order tried.
        tried: Vec<PathBuf>,
    },
    /// The client library needs another library that this system does not have.
    MissingDependency {
        /// The client library.
        library: PathBuf,
        /// The name of the missing library.
        name: String,
        /// What to do about it.
        remedy: String,
    },
    /// The file is no Firebird client library for this kind of machine.
    NotALibrary {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The plugin that contains the engine is not there, so no database can be opened in this process.
    MissingEnginePlugin {
        /// Where it should be.
        path: PathBuf,
        /// What the library reported, if it was asked.
        status: Option<StatusVector>,
    },
    /// The engine plugin is there but the library could not load it.
    PluginNotLoadable {
        /// The plugin.
        path: PathBuf,
        /// What the library reported; its last line is the loader's.
        status: StatusVector,
    },
    /// The engine found no ICU library on this system.
    MissingIcu {
        /// What the engine reported.
        status: StatusVector,
    },
    /// This process already uses another client library; two of them break each other.
    SecondLibrary {
        /// The one in use.
        loaded: PathBuf,
        /// The one asked for.
        asked: PathBuf,
    },
    /// Others could replace what would be loaded, and so run code as this user.
    Unsafe {
        /// What was to be used.
        path: PathBuf,
        /// The file or folder on the way that is not safe.
        culprit: PathBuf,
        /// What others can do.
        reason: String,
    },
    /// The engine was started before this process was forked; it does not work in the copy.
    Forked {
        /// The process that started it.
        process: u32,
    },
    /// The folders that an engine needs for itself cannot be used.
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An interface of the library is older than the oldest release that this crate knows.
    Interface {
        /// Its name.
        name: &'static str,
        /// Its version; 0 when the library gave none at all.
        found: usize,
        /// The lowest version that will do.
        needed: usize,
    },
    /// This release of the library cannot do it.
    Unsupported {
        /// The operation.
        what: &'static str,
        /// The release that brought it.
        since: &'static str,
    },
    /// The engine lays a message out differently than [`RowLayout`](firearrow_proto::api::layout::RowLayout).
    Layout {
        /// What differs.
        what: String,
    },
    /// A message buffer is too small or not aligned.
    Buffer {
        /// Bytes needed.
        needed: usize,
        /// Bytes given.
        given: usize,
        /// Alignment needed.
        alignment: usize,
    },
    /// An argument that cannot be passed on.
    Argument {
        /// What is wrong with it.
        what: String,
    },
    /// The transaction has ended.
    NoTransaction,
    /// A BLOB is longer than the caller allows.
    BlobTooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The engine refused or failed.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LibraryNotFound { tried } => {
                f.write_str(
                    "no Firebird client library found; `pip install firebird-embedded` in an active environment (`make setup` \
                     puts it into .venv: source .venv/bin/activate), install Firebird, or set FIREARROW_ENGINE to the library or \
                     its folder, …/firebird/embedded/runtime (tried:",
                )?;
                for (index, path) in tried.iter().enumerate() {
                    write!(f, "{} {}", if index == 0 { "" } else { "," }, path.display())?;
                }
                f.write_str(")")
            }
            Self::MissingDependency { library, name, remedy } => {
                write!(f, "{} needs {name}, which this system does not have: {remedy}", library.display())
            }
            Self::NotALibrary { path, reason } => {
                write!(f, "{} is not a usable Firebird client library: {reason}", path.display())
            }
            Self::MissingEnginePlugin { path, .. } => write!(
                f,
                "the engine plugin {} is missing; a client library alone reaches servers only, so name a \
                 complete installation (`pip install firebird-embedded`)",
                path.display()
            ),
            Self::PluginNotLoadable { path, status } => write!(
                f,
                "the engine plugin {} cannot be loaded; check its permissions (read and execute) and its \
                 libraries: {status}",
                path.display()
            ),
            Self::MissingIcu { status } => {
                write!(f, "the engine needs ICU; install libicu (Debian 12: libicu72): {status}")
            }
            Self::SecondLibrary { loaded, asked } => write!(
                f,
                "this process already uses the Firebird client library {}; use that one, or open {} in another \
                 process",
                loaded.display(),
                asked.display()
            ),
            Self::Unsafe { path, culprit, reason } => write!(
                f,
                "{} is not used for the embedded engine, because {} {reason}: code of others could run here. Make it \
                 belong to you or root alone (chown, chmod go-w), or name another engine with FIREARROW_ENGINE",
                path.display(),
                culprit.display(),
            ),
            Self::Forked { process } => write!(
                f,
                "the embedded engine was started in process {process}, of which this one is a fork, and does not \
                 work here: start this process afresh (in Python: multiprocessing's spawn), open embedded databases \
                 after forking only, or use a server"
            ),
            Self::Folder { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Interface { name, found: 0, .. } => write!(f, "the client library returned no {name}"),
            Self::Interface { name, found, needed } => {
                write!(f, "{name} has version {found}, needed is {needed}: use Firebird 3.0 or later")
            }
            Self::Unsupported { what, since } => write!(f, "{what} needs Firebird {since} or later"),
            Self::Layout { what } => write!(f, "the engine lays messages out in another way: {what}"),
            Self::Buffer { needed, given, alignment } => write!(
                f,
                "a message needs {needed} bytes aligned to {alignment}; the buffer given has {given} bytes or \
                 lies elsewhere"
            ),
            Self::Argument { what } => f.write_str(what),
            Self::NoTransaction => f.write_str("the transaction has already ended"),
            Self::BlobTooLong { limit } => write!(f, "the BLOB is longer than the limit of {limit} bytes"),
            Self::Status(status) => status.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
