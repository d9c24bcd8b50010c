//! SQLSTATEs for the errors of the engine, the client and the driver layer.

use super::{Failure, State};
use crate::catalog;
use firearrow::Kind;
use firearrow::arrow::{ParamError, ParamErrorKind};
use firearrow_driver::{Class, Detail, Error};
use std::error::Error as _;

/// Codes of the engine whose SQLSTATE in ODBC is not the one that the engine gives. The first that an error has decides,
/// by their order here: the more specific come first.
const BY_CODE: &[(&[i32], State)] = &[
    (&[335_544_580, 336_397_206, 336_397_207, 336_068_914, 336_068_849], State::NO_TABLE),
    (&[335_544_578, 336_068_784], State::NO_COLUMN),
    (&[336_068_740], State::TABLE_EXISTS),
    (&[336_068_859], State::INDEX_EXISTS),
    (&[336_068_656], State::NO_INDEX),
    (&[336_068_813], State::COLUMN_EXISTS),
    // The last one is for markers that the engine finds no type for.
    (&[335_544_581, 335_544_586, 336_003_085, 335_544_634, 335_544_851, 335_544_573], State::SYNTAX),
    (&[335_544_584], State::VALUE_COUNT),
    (&[335_544_669], State::PARAMETER_COUNT),
    (&[335_544_652], State::CARDINALITY),
    (
        &[335_544_349, 335_544_665, 335_544_466, 335_544_838, 335_544_839, 335_544_347, 335_544_558],
        State::CONSTRAINT,
    ),
    (&[335_544_914], State::TOO_LONG),
    (&[335_544_916, 335_545_142], State::OUT_OF_RANGE),
    (&[335_544_778, 335_545_139], State::DIVISION_BY_ZERO),
    (&[335_544_810, 335_544_912, 335_544_913], State::DATETIME_OVERFLOW),
    (&[335_544_859], State::BAD_DATETIME),
    (&[335_544_334, 335_544_565, 335_544_849], State::BAD_CHARACTER_VALUE),
    (&[335_544_509, 335_544_854], State::GENERAL),
    (&[335_544_361], State::TRANSACTION_STATE),
    (&[335_544_765, 335_544_352, 335_544_453], State::SYNTAX),
    (&[335_544_336, 335_544_345, 335_544_451, 335_544_878, 335_545_096, 335_544_510], State::CONFLICT),
    (&[335_544_472, 335_545_106], State::AUTHORIZATION),
    (&[335_545_064, 335_545_065, 335_544_421, 335_544_528, 335_544_744], State::REJECTED),
    (&[335_545_127, 335_545_128, 335_545_129], State::TIMEOUT),
    (&[335_544_794], State::CANCELLED),
    (&[335_544_572], State::CURSOR_NAME),
    (&[335_544_576, 335_544_577, 335_544_348], State::CURSOR_STATE),
    (&[335_544_378], State::NOT_IMPLEMENTED),
    (&[335_544_430], State::MEMORY),
    (&[335_544_335, 335_544_333, 335_544_517, 335_544_848, 335_545_016], State::GENERAL),
];

/// A unique key on a system table that a new column violates: the column exists.
const NO_META_UPDATE: i32 = 335_544_351;
const UNIQUE_VIOLATIONS: [i32; 2] = [335_544_349, 335_544_665];

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let detail = |wanted| {
            let mut details = error.details().into_iter();
            details.find(|(detail, _)| *detail == wanted).map(|(_, value)| value)
        };
        let native = detail(Detail::Sqlcode).and_then(|code| code.parse().ok()).unwrap_or(0);
        let of_server = error.client().is_some_and(|client| client.status().is_some());
        Self { native, of_server, ..Self::new(state(&error), error.message()) }
    }
}

impl From<firearrow::Error> for Failure {
    fn from(error: firearrow::Error) -> Self {
        Error::from(error).into()
    }
}

impl From<catalog::Error> for Failure {
    fn from(error: catalog::Error) -> Self {
        match error {
            catalog::Error::Argument(failure) => failure,
            catalog::Error::Client(error) => error.into(),
        }
    }
}

fn state(error: &Error) -> State {
    if let Some(state) = error.client().and_then(of_codes)
        && error.class() == Class::Client
    {
        return state;
    }
    match error.class() {
        Class::Client => of_client(error),
        Class::Cancelled => State::CANCELLED,
        Class::Timeout => State::TIMEOUT,
        Class::Unsupported => State::NOT_IMPLEMENTED,
        Class::NotFound => State::NO_TABLE,
        Class::Exists => State::TABLE_EXISTS,
        Class::State | Class::Argument | Class::Io | Class::Internal => {
            error.sqlstate().map_or(State::GENERAL, of_sqlstate)
        }
        _ => State::GENERAL,
    }
}

/// By the engine's codes.
fn of_codes(error: &firearrow::Error) -> Option<State> {
    error.status()?;
    let codes = error.gds_codes();
    let has = |code: &i32| codes.contains(code);
    if has(&NO_META_UPDATE) && UNIQUE_VIOLATIONS.iter().any(has) {
        return Some(State::COLUMN_EXISTS);
    }
    BY_CODE.iter().find(|(all, _)| all.iter().any(has)).map(|(_, state)| *state)
}

/// By what the client knows about the failure, and its SQLSTATE.
fn of_client(error: &Error) -> State {
    let client = error.client();
    if let Some(refused) = client.and_then(of_parameter) {
        return refused;
    }
    match client.map(firearrow::Error::kind) {
        Some(Kind::Cancelled) => State::CANCELLED,
        Some(Kind::Timeout) => State::TIMEOUT,
        Some(Kind::CommitUnknown) => State::COMMIT_UNKNOWN,
        Some(Kind::Memory) => State::MEMORY,
        // What the client itself could not decode.
        Some(Kind::Data) if client.is_some_and(|client| client.status().is_none()) => {
            State::BAD_CHARACTER_VALUE
        }
        _ => error.sqlstate().map_or(State::GENERAL, of_sqlstate),
    }
}

/// Why the client did not send a value.
fn of_parameter(error: &firearrow::Error) -> Option<State> {
    let refused: &ParamError = error.source()?.downcast_ref()?;
    Some(match refused.kind {
        ParamErrorKind::OutOfRange => State::OUT_OF_RANGE,
        ParamErrorKind::Inexact | ParamErrorKind::TooLong => State::TOO_LONG,
        ParamErrorKind::Malformed => State::BAD_CHARACTER_VALUE,
        ParamErrorKind::Unsupported => State::NO_CONVERSION,
        ParamErrorKind::Count => State::PARAMETER_COUNT,
        ParamErrorKind::Schema => State::GENERAL,
    })
}

/// An SQLSTATE of the engine in ODBC's words, which lack some of its classes.
fn of_sqlstate(sqlstate: &str) -> State {
    if let Some(state) = State::known(sqlstate) {
        return state;
    }
    match (sqlstate.get(..2).unwrap_or_default(), sqlstate) {
        (_, "08006" | "08003") => State::LINK_FAILURE,
        (_, "0A000") => State::NOT_IMPLEMENTED,
        (_, "22009" | "22011" | "22021" | "22023" | "22024") => State::BAD_CHARACTER_VALUE,
        (_, "25006") => State::TRANSACTION_STATE,
        (_, "54001") => State::SYNTAX,
        ("07", _) => State::PARAMETER_COUNT,
        ("08", _) => State::LINK_FAILURE,
        ("23", _) => State::CONSTRAINT,
        ("25", _) => State::TRANSACTION_STATE,
        ("28", _) => State::AUTHORIZATION,
        ("40", _) => State::CONFLICT,
        ("42", _) => State::SYNTAX,
        _ => State::GENERAL,
    }
}
