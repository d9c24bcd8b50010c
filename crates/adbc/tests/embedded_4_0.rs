//! The driver on the embedded engine of Firebird 4.0.
#![allow(dead_code, reason = "the support module serves more tests than this")]

mod older_engine;

use older_engine::*;

suite!(embedded_4_0);
