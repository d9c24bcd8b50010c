//! Options for encoding parameters.

use super::super::options::{NoneEncoding, OptionError, ReadOptions, switch};
use encoding_rs::Encoding;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// How Arrow values become parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParamOptions {
    /// What to do with digits of times below the engine's resolution of 100 µs.
    pub(crate) time_rounding: TimeRounding,
    /// Whether the server has the types of Firebird 4, above all times with zone.
    pub(crate) has_time_zones: bool,
    /// The code page of text for parameters of CHARACTER SET NONE, unless it is UTF-8.
    pub(crate) none_page: Option<&'static Encoding>,
}

impl ParamOptions {
    /// Text is written in the encoding in which it is read.
    pub(crate) fn new(write: &WriteOptions, read: &ReadOptions) -> Self {
        let none_page = match read.none_encoding {
            NoneEncoding::CodePage(page) if page != encoding_rs::UTF_8 => Some(page),
            _ => None,
        };
        Self { time_rounding: write.time_rounding, none_page, ..Self::default() }
    }
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteOptions {
    /// What to do with digits of times below the engine's resolution of 100 µs.
    pub time_rounding: TimeRounding,
    /// Maximum bytes of encoded rows per piece of a write; 1 MiB by default. It bounds the memory for a large batch of
    /// parameters. Several pieces are in flight at a time.
    pub piece_bytes: usize,
}

firearrow_proto::setters! { WriteOptions { time_rounding: TimeRounding, piece_bytes: usize } }

impl WriteOptions {
    /// The permitted range of [`piece_bytes`](Self::piece_bytes); other values become the nearest bound.
    pub const PIECE_BYTES: RangeInclusive<usize> = 4 << 10..=16 << 20;
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { time_rounding: TimeRounding::Floor, piece_bytes: 1 << 20 }
    }
}

impl Default for ParamOptions {
    fn default() -> Self {
        Self { time_rounding: TimeRounding::Floor, has_time_zones: true, none_page: None }
    }
}

switch! {
    /// What to do with digits of times and timestamps below the engine's resolution of 100 µs.
    TimeRounding {
        /// Cut them off, towards the past before 1970 as well.
        #[default]
        Floor = "floor",
        /// Report an error.
        Error = "error",
    }
}
