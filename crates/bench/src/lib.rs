//! Benchmarks that verify the rows they measure, and the demo databases they read.
//!
//! ```text
//!  demo: row number ─► values ─► tables and their checksums
//!                                     │
//!  fetch  insert  wire  adbc  odbc    ▼
//!    │      │      │     │     │  verify: right, or no figures
//!    └──────┴──────┴─────┴─────┴─► Stage: ours, reference, ours, reference … ─► Table ─► text, Markdown, JSON, files
//!                              ▲          ▲
//!                           measure    Peer: a process that loops over fetchNext of the client library
//! ```
//!
//! The crate prints nothing, parses no arguments and handles no signals. Each benchmark takes a plain struct of options
//! and returns its figures. The program around it implements [`Host`], which opens connections, runs child processes,
//! shows progress and decides when to stop. [`Standalone`] is a host that shows nothing and never stops.
//!
//! A new benchmark only needs closures that return a [`Sample`]: in a [`Contest`], two of them take turns on a
//! [`Stage`]; the resulting [`Case`]s are lines of a [`Table`].
//!
//! ```no_run
//! use firearrow::config::Config;
//! use firearrow_bench::{ReferenceChoice, Standalone, demo, fetch};
//!
//! let config = Config::parse("firebird://SYSDBA@localhost//data/demo.fdb")?;
//! demo::complete(&Standalone, &config, 100_000)?;
//! let options = fetch::Options {
//!     repetitions: 5.try_into()?,
//!     batch_rows: None,
//!     consume: false,
//!     reference: ReferenceChoice::Nothing("none was wanted".to_owned()),
//! };
//! let bench = fetch::Bench::prepare(&Standalone, &config, options)?;
//! println!("{}{}", bench.heading(), bench.measure(&fetch::Subject::table("T_WIDE"))?.text());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Times are seconds, sizes are bytes and rates are bits per second, unless a name says otherwise.
//!
//! Some messages name commands and options of the `firearrow` command, which users of this crate probably have.

// Only the modules that call C functions of ODBC drivers have some.
#![deny(unsafe_code)]

pub mod adbc;
pub mod blob;
pub mod demo;
pub mod disk;
pub mod driver;
pub mod fetch;
pub mod insert;
pub mod odbc;
mod platform;
pub mod plausible;
pub mod python;
pub mod save;
pub mod secret;
pub mod text;
pub mod verify;
pub mod wire;

mod column;
mod contest;
mod error;
mod host;
mod machine;
mod measure;
mod own;
mod record;
mod reference;
mod report;
mod route;
mod sample;
mod server;
mod subprocess;
mod table;

pub use column::Column;
pub use contest::{Contest, Stage, Turn};
pub use error::{Error, Result};
pub use firearrow_report::Spread;
pub use host::{Goal, Host, Progress, Standalone};
pub use machine::{Environment, transport};
pub use measure::{CpuTime, Lap, Plan, Run, Wire, run};
pub use record::Ending;
pub use reference::{Blobs, Inserted, Peer, Reference, ReferenceChoice};
pub use report::{HOW_TO_READ, place, warnings};
pub use route::emulated;
pub use sample::Sample;
pub use server::{Process, Server};
pub use subprocess::{Kept, Limits, Subprocess, Tail};
pub use table::{Case, Table, markdown};
