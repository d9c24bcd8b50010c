//! A TPC-C-like workload: nine tables that grow with the number of warehouses, and terminals that work on them.
//!
//! ```text
//!  load: seed ─► rows ─► tables ─► indexes ─► procedures ─► checks
//!  run:  seed ─► inputs ─► terminals ─┬─► a way to do an operation ─► Connection, or another client in a program of its own
//!                                     └─► tally ─► ledger = what the database shows, conditions, figures
//! ```
//!
//! Results are not TPC-C results, and must not be called so: no think times, no price, no audit.
//!
//! A run is valid only if the database shows exactly what the terminals say they did, the consistency conditions hold,
//! the mix is the wanted one and next to nothing failed; otherwise [`Run::problems`] says why not.

#![forbid(unsafe_code)]

mod asynchronous;
mod campaign;
mod check;
mod compare;
mod crash;
mod credible;
mod depth;
mod disk;
mod failure;
mod gates;
mod input;
mod load;
mod model;
mod pace;
mod peer;
mod plan;
mod random;
mod record;
mod rival;
mod run;
mod scale;
mod schema;
mod shown;
mod tally;
mod terminal;
mod way;

pub use campaign::{Options as CampaignOptions, Point, campaign, measure};
pub use check::{Condition, Hidden, conditions};
pub use compare::{Comparison, Missing, Options as CompareOptions, Place, Turn, compare};
pub use crash::{Crash, Outage, crash};
pub use depth::IndexDepth;
pub use failure::Failure;
pub use input::{
    Customer, Delivery, Input, Line, Locality, Mix, NewOrder, Operation, OrderStatus, Payment, StockLevel,
};
pub use load::{Loaded, Options as LoadOptions, load};
pub use pace::{Pace, Think};
pub use peer::serve;
pub use plan::{LOCK_TIMEOUT_S, Level, Plan};
pub use record::{campaign_record, comparison_record, point_record, run_record};
pub use rival::Rival;
pub use run::{
    Client, Connections, EngineWork, OperationFigures, Options as RunOptions, PERCENTILES, Run, run, run_with,
};
pub use scale::{DISTRICTS, Scale};
pub use schema::TABLES;
pub use tally::Ledger;
pub use terminal::Open;
pub use way::{Mode, Outcome, Way, sql};
