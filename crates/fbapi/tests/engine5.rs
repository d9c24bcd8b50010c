//! The suite on Firebird 5.0; `FIREARROW_ENGINE5` names its folder.
#![allow(missing_docs, unreachable_pub, reason = "a test binary has no public interface")]

mod suite;

whole_suite!(5, "FIREARROW_ENGINE5");
