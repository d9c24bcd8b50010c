//! In place of `process` on Windows, where no pipe can be read with a time limit: there are no such terminals.

use firearrow_bench::{Error, Host, Kept, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// Never made.
#[derive(Debug)]
pub(super) struct Process(());

impl Process {
    pub(super) fn start<'a>(_host: &'a dyn Host, _program: &Path) -> Result<(Kept<'a>, Self)> {
        Err(unsupported())
    }

    pub(super) fn ask<A: DeserializeOwned>(&mut self, _what: &impl Serialize) -> Result<A> {
        Err(unsupported())
    }
}

fn unsupported() -> Error {
    Error::other("terminals of firebird-driver do not run on Windows; leave out --driver")
}
