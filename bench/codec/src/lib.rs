//! Rows with known contents, as a server would send them and as Arrow shows them: what the benchmarks of the codec decode,
//! encode and compare with.
#![forbid(unsafe_code)]

mod column;
mod server;
mod shape;

pub use column::{Column, Text};
pub use server::Server;
pub use shape::{ROWS, Shape};
