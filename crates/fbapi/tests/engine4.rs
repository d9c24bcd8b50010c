//! The suite on Firebird 4.0; `FIREARROW_ENGINE4` names its folder.
#![allow(missing_docs, unreachable_pub, reason = "a test binary has no public interface")]

mod suite;

whole_suite!(4, "FIREARROW_ENGINE4");
