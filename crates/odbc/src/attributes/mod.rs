//! What attributes mean.

pub(crate) mod connection;
pub(crate) mod environment;
pub(crate) mod statement;

use crate::abi::Integer;
use crate::diagnostics::{Failure, State};

fn unknown(attribute: Integer) -> Failure {
    Failure::new(State::ATTRIBUTE, format!("there is no attribute {attribute}"))
}

fn bad_value(attribute: Integer, value: usize) -> Failure {
    Failure::new(State::ATTRIBUTE_VALUE, format!("attribute {attribute} cannot be {value}"))
}

fn unsupported(text: &str) -> Failure {
    Failure::new(State::NOT_IMPLEMENTED, text)
}

fn changed(text: &str) -> Failure {
    Failure::new(State::OPTION_CHANGED, text)
}
