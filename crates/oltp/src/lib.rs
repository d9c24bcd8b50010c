//! A TPC-C-like workload: nine tables that grow with the number of warehouses, and terminals that work on them.
//!
//! ```text
//!  load: seed ─► rows ─► tables ─► indexes ─► procedures ─► checks
//!  run:  seed ─► inputs ─► terminals ─┬─► a way to do an operation ─► Connection
//!                                     └─► tally ─► ledger = what the database shows, conditions, figures
//! ```
//!
//! Results are not TPC-C results, and must not be called so: no think times, no price, no audit.
//!
//! A run is valid only if the database shows exactly what the terminals say they did, the consistency conditions hold,
//! the mix is the wanted one and next to nothing failed; otherwise [`Run::problems`] says why not.

#![forbid(unsafe_code)]

mod campaign;
mod check;
mod crash;
mod gates;
mod input;
mod load;
mod random;
mod record;
mod run;
mod scale;
mod schema;
mod shown;
mod tally;
mod terminal;
mod way;

pub use campaign::{Options as CampaignOptions, Point, campaign};
pub use check::{Condition, conditions};
pub use crash::{Crash, Outage, crash};
pub use input::{Locality, Mix, Operation};
pub use load::{Loaded, Options as LoadOptions, load};
pub use record::{of_campaign, of_run};
pub use run::{EngineWork, OperationFigures, Options as RunOptions, PERCENTILES, Run, run};
pub use scale::{DISTRICTS, Scale};
pub use schema::TABLES;
pub use tally::Ledger;
pub use way::Mode;
