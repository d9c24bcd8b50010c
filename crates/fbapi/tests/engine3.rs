//! The suite on Firebird 3.0; `FIREARROW_ENGINE3` names its folder.
#![allow(missing_docs, unreachable_pub, reason = "a test binary has no public interface")]

mod suite;

whole_suite!(3, "FIREARROW_ENGINE3");
