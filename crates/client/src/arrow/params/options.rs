//! The switches of parameter encoding.

use super::super::options::{OptionError, switch};
use crate::setters::setters;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// How Arrow values become parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParamOptions {
    /// What happens to digits of times below the engine's 100 µs.
    pub(crate) time_rounding: TimeRounding,
    /// Whether the server has the types of Firebird 4, times with zone above all.
    pub(crate) has_time_zones: bool,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// What happens to digits of times below the engine's 100 µs.
    pub time_rounding: TimeRounding,
    /// Most bytes of encoded rows in one piece of a write; 1 MiB unless told. It bounds the memory of a large batch of parameters. Several pieces
    /// are under way at a time.
    pub piece_bytes: usize,
}

setters! { WriteOptions { time_rounding: TimeRounding, piece_bytes: usize } }

impl WriteOptions {
    /// What [`piece_bytes`](Self::piece_bytes) may be; other values become the nearest of these.
    pub const PIECE_BYTES: RangeInclusive<usize> = 4 << 10..=16 << 20;
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { time_rounding: TimeRounding::Floor, piece_bytes: 1 << 20 }
    }
}

impl Default for ParamOptions {
    fn default() -> Self {
        Self { time_rounding: TimeRounding::Floor, has_time_zones: true }
    }
}

switch! {
    /// What happens to digits of times and timestamps below the 100 µs of the engine's clock.
    TimeRounding {
        /// They are cut off, towards the past before 1970 as after.
        #[default]
        Floor = "floor",
        /// They are an error.
        Error = "error",
    }
}
