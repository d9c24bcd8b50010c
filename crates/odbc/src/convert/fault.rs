//! What can go wrong with a cell.

use crate::diagnostics::{Failure, State};

/// A failure or a warning of a cell, without the text that only a diagnostic record needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Cut,
    FractionCut,
    OutOfRange,
    DatetimeOverflow,
    NotALiteral,
    NotInCodePage,
    NoIndicator,
}

impl From<Fault> for Failure {
    #[cold]
    fn from(fault: Fault) -> Self {
        let (state, text) = match fault {
            Fault::Cut => (State::CUT, "The value does not fit into the buffer and was truncated"),
            Fault::FractionCut => (State::FRACTION_CUT, "The fractional part of the value was truncated"),
            Fault::OutOfRange => {
                (State::OUT_OF_RANGE, "The value is out of range for the C type or the buffer")
            }
            Fault::DatetimeOverflow => {
                (State::DATETIME_OVERFLOW, "The date or time is out of range: years are 1 to 9999")
            }
            Fault::NotALiteral => {
                (State::BAD_CHARACTER_VALUE, "The value is not a valid literal of the C type")
            }
            Fault::NotInCodePage => {
                let text = "The value has a character that narrow text lacks here: read it as SQL_C_WCHAR";
                (State::BAD_CHARACTER_VALUE, text)
            }
            Fault::NoIndicator => {
                (State::NO_INDICATOR, "The value is NULL, but there is no indicator to report it")
            }
        };
        Self::new(state, text)
    }
}
