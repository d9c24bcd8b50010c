//! Converts errors of the engine interface into client errors.

use crate::error::{Error, Kind};
use firearrow_fbapi as fbapi;

impl From<fbapi::Error> for Error {
    fn from(error: fbapi::Error) -> Self {
        let kind = match &error {
            fbapi::Error::Status(status) => return Self::engine(status.clone()),
            fbapi::Error::LibraryNotFound { .. }
            | fbapi::Error::MissingDependency { .. }
            | fbapi::Error::NotALibrary { .. }
            | fbapi::Error::MissingEnginePlugin { .. }
            | fbapi::Error::PluginNotLoadable { .. }
            | fbapi::Error::MissingIcu { .. }
            | fbapi::Error::SecondLibrary { .. }
            | fbapi::Error::Interface { .. }
            | fbapi::Error::Folder { .. } => Kind::EngineMissing,
            fbapi::Error::Unsupported { .. } => Kind::Unsupported,
            fbapi::Error::Layout { .. } | fbapi::Error::Buffer { .. } => Kind::Protocol,
            fbapi::Error::Argument { .. } => Kind::Parameter,
            fbapi::Error::Unsafe { .. } => Kind::Configuration,
            fbapi::Error::NoTransaction | fbapi::Error::Forked { .. } => Kind::Misuse,
            fbapi::Error::BlobTooLong { .. } => Kind::Data,
        };
        Self::new(kind, error.to_string()).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn errors_of_the_library_are_kept_as_causes() {
        let error = Error::from(fbapi::Error::NoTransaction);
        assert_eq!(
            (error.kind(), error.message()),
            (Kind::Misuse, fbapi::Error::NoTransaction.to_string().as_str())
        );
        assert!(error.source().is_some_and(|source| source.is::<fbapi::Error>()));
    }
}
