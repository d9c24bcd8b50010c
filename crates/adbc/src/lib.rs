//! The ADBC driver for Firebird.
#![deny(unsafe_code)]

pub mod error;
pub mod metadata;
