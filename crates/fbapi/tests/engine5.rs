//! The suite on the embedded engine of Firebird 5.0.
#![cfg(unix)]
#![allow(missing_docs, unreachable_pub, reason = "a test binary has no public interface")]

mod suite;

whole_suite!(embedded_5_0);
