//! For users' tests: limits of round trips, which take most of the time when the server is far away.
//!
//! ```no_run
//! use firearrow::testing::{Budget, within_budget};
//! # use firearrow::Connection;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let connection = Connection::connect("firebird://localhost/employee")?;
//! let transaction = connection.begin(Default::default())?;
//! let budget = Budget::of(&connection, 2);
//! for batch in transaction.query("SELECT * FROM country")? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! budget.check()?;
//! within_budget(&connection, 1, |connection| connection.ping())?;
//! # Ok(())
//! # }
//! ```

use crate::Connection;
use crate::error::Result;
use thiserror::Error;

/// A limit of round trips on a connection. It stops nothing: [`Budget::check`] tells whether it was kept. An engine in
/// this process makes no round trips.
#[derive(Debug)]
#[must_use = "a budget limits nothing unless it is checked"]
pub struct Budget<'a> {
    connection: &'a Connection,
    limit: u64,
    /// Round trips of the connection when the budget was made.
    before: u64,
}

/// More round trips were made than a [`Budget`] allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{used} round trips were made, {limit} were allowed")]
#[non_exhaustive]
pub struct OverBudget {
    /// The round trips that were made.
    pub used: u64,
    /// The round trips that were allowed.
    pub limit: u64,
}

/// Why [`within_budget`] has no result.
#[derive(Clone, Debug, Error)]
pub enum Failure {
    /// The work failed.
    #[error(transparent)]
    Work(#[from] crate::Error),
    /// The work took too many round trips.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
}

impl<'a> Budget<'a> {
    /// Allows a connection so many round trips from here on.
    pub fn of(connection: &'a Connection, limit: u64) -> Self {
        Self { connection, limit, before: connection.wire_stats().round_trips }
    }

    /// Returns how many round trips have been made since the budget was created.
    pub fn used(&self) -> u64 {
        self.connection.wire_stats().round_trips - self.before
    }

    /// Checks whether the limit was kept so far.
    ///
    /// # Errors
    /// [`OverBudget`] if it was not.
    pub fn check(&self) -> Result<(), OverBudget> {
        let (used, limit) = (self.used(), self.limit);
        if used > limit { Err(OverBudget { used, limit }) } else { Ok(()) }
    }
}

/// Does some work and checks that it took no more round trips than allowed.
///
/// # Errors
/// [`Failure::Work`] if the work failed, however many round trips it took, or else [`Failure::OverBudget`].
pub fn within_budget<T>(
    connection: &Connection,
    limit: u64,
    work: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T, Failure> {
    let budget = Budget::of(connection, limit);
    let done = work(connection)?;
    budget.check()?;
    Ok(done)
}
