//! A failure on its way out of an execution that may be repeated.

use crate::error::Error;

/// A failure; only the client's shows whether the statement has changed meanwhile.
pub(crate) enum Failed {
    Client(firearrow::Error),
    Own(Error),
}

impl From<firearrow::Error> for Failed {
    fn from(error: firearrow::Error) -> Self {
        Self::Client(error)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Own(error)
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Client(error) => error.into(),
            Failed::Own(error) => error,
        }
    }
}
