//! Private Firebird servers, embedded engines and a misbehaving proxy for tests.
//!
//! ```text
//!   #[test]                         this crate                           what runs
//!   ───────                         ──────────                           ─────────
//!   matrix!(all, fn name(target))   one test per platform
//!        │                               │
//!        ├─ name::firebird_3_0 ──► shared(Generation::V3_0) ──► Debian's firebird3.0-server
//!        ├─ name::firebird_4_0 ──► shared(Generation::V4_0) ──► <cache>/firebird-4.0, unpacked packages
//!        ├─ name::firebird_5_0 ──► shared(Generation::V5_0) ──► $FIREARROW_TEST_FIREBIRD5
//!        └─ name::embedded_5_0 ──► engine(Generation::V5_0) ──► the firebird-embedded wheel in .venv
//! ```
//!
//! - A server is a child process with its own root folder (configuration, security database, locks, log and
//!   databases) and its own port. It never outlives the test process, see [`Server`].
//! - A platform that is not installed is a *named skip*: printed, and counted in the report file, see [`matrix!`].
//!   A platform that is installed but does not start fails its tests.
//! - Servers run on Linux. Programs for other systems or processors, under Wine or QEMU, have theirs at a [`Host`].
//! - [`scripted`] is a server that answers whatever a test says, for attacks on the whole client.
//! - A [`Proxy`] stands between a client and a real server. It delivers bytes in pieces, with a delay or up to a
//!   [`Limit`];
//!   from some moment on it can turn to [`Mischief`]; a [`Mutation`] damages the bytes as a seed decides.
//! - A [`Campaign`] plays many sessions against mutations.
//! - Nothing here depends on the firearrow client, so that every crate of the workspace can use it.
//!
//! | variable | meaning |
//! |---|---|
//! | `FIREARROW_CACHE` | folder of downloaded servers and engines; default `.cache` in the repository |
//! | `FIREARROW_TEST_FIREBIRD5` | folder of a Firebird 5.0 installation |
//! | `FIREARROW_ENGINE3`, `…4`, `…5` | folder of an embedded engine, in place of the discovered one |
//! | `FIREARROW_TEST_HOST` | address of a [`Host`] that starts the servers, for programs that cannot (`examples/host.rs`) |
//! | `FIREARROW_TEST_RUNNER` | the emulator that runs the test program, with its options; see [`this_program`] |
//! | `FIREARROW_UPDATE_DOCS` | write the documents that tests keep true |
//! | `FIREARROW_TEST_REPORT` | file to which each matrix test appends its outcome |
#![deny(unsafe_code)]

mod cache;
mod campaign;
mod choice;
mod config;
mod document;
mod engine;
mod generation;
mod host;
mod host_address;
mod leftover;
mod matrix;
mod message;
mod mischief;
mod mutation;
mod process;
mod program;
mod proxy;
mod report;
mod room;
pub mod scripted;
mod server;
mod system;
mod tally;
mod template;
mod worker;

pub use campaign::Campaign;
pub use choice::Choice;
pub use config::{ServerConfig, WireCrypt};
pub use document::keep_document;
pub use engine::engine;
pub use generation::{Generation, Skip};
pub use host::Host;
pub use host_address::HostAddress;
pub use matrix::{Embedded, Platform, Target, Verdict, platform, run};
pub use mischief::Mischief;
pub use mutation::{Mutation, Mutator};
pub use program::{is_emulated, this_program};
pub use proxy::{Behaviour, Flow, Limit, Proxy, Side};
pub use server::{Server, servers, shared};
pub use tally::Tally;
pub use worker::work;
