//! Attaching to a database in this process, and creating one.

use super::Embedded;
use crate::config::{Config, ServerMode};
use crate::engines;
use crate::error::{Error, Result};
use firearrow_fbapi::{self as fbapi, Library, LoadOptions, Runtime, RuntimeHint};
use firearrow_proto::api::gds;
use std::thread;
use std::time::Duration;

/// How long the lock of a database may be held by nobody in particular, and how often it is tried again.
///
/// A process that another thread starts has a copy of every descriptor for an instant, and with it the locks of databases:
/// of those that were closed meanwhile, and of one that is being created, which the engine closes and opens again.
const PAUSES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

impl Embedded {
    pub(crate) fn connect(config: &Config, path: &str, create: bool) -> Result<Self> {
        let hint = match &config.client_library {
            Some(library) => RuntimeHint::at(library),
            None => RuntimeHint::default(),
        };
        let runtime = Runtime::discover(&hint)?;
        let options = LoadOptions {
            server_mode: match config.server_mode {
                None | Some(ServerMode::Super) => fbapi::ServerMode::Super,
                Some(ServerMode::Classic) => fbapi::ServerMode::Classic,
            },
            ..LoadOptions::default()
        };
        let library = Library::load(&runtime, &options)?;
        let create_it = || library.create(path, config.dpb_for_create().as_bytes());
        let attach_to_it = || library.attach(path, config.dpb().as_bytes());
        let mut attempt = if create { create_it() } else { attach_to_it() };
        for _ in 0..PAUSES {
            if !attempt.as_ref().is_err_and(is_locked) {
                break;
            }
            thread::sleep(PAUSE);
            // The lock is the last thing that creating needs, and a file of somebody else would have been another error: what
            // is there is this database, complete, and somebody may be using it by now.
            attempt = if create && config.overwrite { create_it() } else { attach_to_it() };
        }
        match attempt {
            Ok(attachment) => Ok(Self::new(attachment)),
            Err(error) => Err(engines::explained(shared(error.into()), &runtime, hint.path.is_some())),
        }
    }
}

fn is_locked(error: &fbapi::Error) -> bool {
    matches!(error, fbapi::Error::Status(status) if status.contains(gds::ISC_ALREADY_OPENED))
}

/// Adds a hint about sharing a database between processes, if that caused the error.
fn shared(error: Error) -> Error {
    if !error.gds_codes().contains(&gds::ISC_ALREADY_OPENED) {
        return error;
    }
    error.context(
        "another process has this database open in its own engine; to share it, open it with server_mode=classic in every process, as in 'shop.fdb?server_mode=classic'",
    )
}
