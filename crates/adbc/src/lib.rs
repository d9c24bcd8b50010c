//! The ADBC driver for Firebird.
