//! The client on the embedded engine of Firebird 4.0.
#![allow(dead_code, reason = "the support modules serve more tests than these")]

mod older_engine;

use older_engine::*;

suite!(embedded_4_0);
