//! The driver on the embedded engine of Firebird 3.0.
#![allow(dead_code, reason = "the support module serves more tests than this")]

mod older_engine;

use older_engine::*;

suite!(embedded_3_0);
