//! Records of benchmarks, and the reports made of them.
//!
//! ```text
//!  benchmarks (Rust, Python) ─► record: JSON lines ─► figures: medians, intervals, ratios ─┬─► page: HTML with charts
//!                                                                                         ├─► Markdown, CSV
//!                                                                                         └─► PNG of each chart
//! ```
//!
//! A record says what ran and where, holds the values of every repetition, and ends with a line that says whether it is
//! whole, and what is missing. Whoever is killed writes no such line: reports mark both as partial.

#![forbid(unsafe_code)]

mod csv;
mod figures;
mod markdown;
mod plain;
mod record;
mod statistics;
mod tables;
mod unit;

#[cfg(feature = "pages")]
mod chart;
#[cfg(feature = "pages")]
mod page;
#[cfg(feature = "pages")]
mod picture;

pub use csv::csv;
pub use figures::{CaseFigures, ContestantFigures, Figures, TableFigures};
pub use markdown::markdown;
pub use record::{Chart, End, Head, Line, Mark, OURS, Record, SCHEMA, SampleLine, TableHead, VERSION};
pub use statistics::{Interval, Spread, interval_of_median};
pub use tables::text;
pub use unit::{Better, show};

#[cfg(feature = "pages")]
pub use page::html;
#[cfg(feature = "pages")]
pub use picture::{Picture, pictures};

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// Its path, as it was given.
        path: String,
        /// The reason.
        #[source]
        error: std::io::Error,
    },
    /// A file is no record.
    #[error("{name}, line {line}: {text}")]
    Malformed {
        /// The name of the record.
        name: String,
        /// Counted from 1.
        line: usize,
        /// What is wrong, and what to do.
        text: String,
    },
    /// A record is of a version that this release does not read.
    #[error(
        "{name} is a record of version {version}; this release reads version {VERSION}: repeat the benchmark"
    )]
    Version {
        /// The name of the record.
        name: String,
        /// Its version.
        version: u64,
    },
    /// There is nothing to report.
    #[error("{0}")]
    Nothing(String),
    /// A chart cannot be drawn.
    #[error("the chart \"{title}\" cannot be drawn: {text}")]
    Chart {
        /// Its title.
        title: String,
        /// The reason.
        text: String,
    },
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
