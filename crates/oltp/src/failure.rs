//! Why an operation was not done, whatever client was to do it.

use firearrow::{Error, Kind, gds};

/// Why an operation was not done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// A short reason for tables.
    pub reason: String,
    /// What the server or the client said.
    pub message: String,
    /// Whether repeating the whole operation may help.
    pub can_be_repeated: bool,
    /// Whether the commit was sent and its answer was lost: nobody knows whether the operation was done.
    pub is_unknown: bool,
}

/// How the engine says that another transaction has deleted the row meanwhile; it has no code of its own.
const ERASED: &str = "cannot update erased record";

/// `isc_lock_timeout`.
const LOCK_TIMEOUT: i32 = 335544510;

/// Characters of a text that another program says of itself.
const LONGEST: usize = 200;

/// The first line, or the beginning of it.
pub(crate) fn shortened(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(LONGEST).collect()
}

fn name(code: i32) -> Option<&'static str> {
    match code {
        gds::ISC_DEADLOCK => Some("deadlock"),
        gds::ISC_UPDATE_CONFLICT => Some("update conflict"),
        gds::ISC_LOCK_CONFLICT => Some("lock conflict"),
        LOCK_TIMEOUT => Some("lock timeout"),
        _ => None,
    }
}

impl Failure {
    /// From what the engine reports: its codes and their texts.
    #[must_use]
    pub fn of_engine(codes: &[i32], message: &str) -> Self {
        // The last code that says something: a deadlock is often only the frame of an update conflict.
        let known = codes.iter().rev().find_map(|code| name(*code));
        let reason = match known {
            Some(name) => name.to_owned(),
            None if message.trim().is_empty() => "no message".to_owned(),
            None => shortened(message.trim_start()),
        };
        // Lines of an engine's message are of use together, but others may say whatever they want.
        let lines: Vec<&str> = message.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        Self {
            reason,
            message: shortened(&lines.join("; ")),
            can_be_repeated: known.is_some() || message.contains(ERASED),
            is_unknown: false,
        }
    }

    /// Something that nobody expects, such as a row that is missing.
    #[must_use]
    pub fn other(message: impl Into<String>) -> Self {
        let message = message.into();
        Self { message: message.trim_end().to_owned(), ..Self::of_engine(&[], &message) }
    }
}

impl From<firearrow_bench::Error> for Failure {
    fn from(error: firearrow_bench::Error) -> Self {
        Self::other(error.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::of_engine(&error.gds_codes(), error.message());
        Self {
            can_be_repeated: failure.can_be_repeated
                || matches!(error.kind(), Kind::Conflict | Kind::Timeout),
            is_unknown: error.kind() == Kind::CommitUnknown,
            message: error.message().trim_end().to_owned(),
            ..failure
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_can_be_repeated_and_have_names() {
        let conflict = Failure::of_engine(&[gds::ISC_DEADLOCK, gds::ISC_UPDATE_CONFLICT], "deadlock\nupdate");
        assert_eq!((conflict.reason.as_str(), conflict.can_be_repeated), ("update conflict", true));
        let erased = Failure::of_engine(&[1], "cannot update erased record\nmore");
        assert!(erased.can_be_repeated && erased.reason == "cannot update erased record");
        assert_eq!(conflict.message, "deadlock; update");
        let long = Failure::of_engine(&[], &format!("{}\nmore", "é".repeat(100_000)));
        assert_eq!((long.reason, long.message), ("é".repeat(200), "é".repeat(200)));
        assert_eq!(Failure::of_engine(&[], "\n").reason, "no message");
        let wrong = Failure::other("the district is missing");
        assert!(!wrong.can_be_repeated && !wrong.is_unknown && wrong.reason == "the district is missing");
    }
}
