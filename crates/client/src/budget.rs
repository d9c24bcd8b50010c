//! Limits of round trips, for tests: on a far server they are what takes the time.

use crate::Connection;
use crate::error::{Error, Kind, Result};

/// How many round trips a connection may still make; see [`Connection::budget`].
#[derive(Debug)]
#[must_use = "a budget limits nothing unless it is checked"]
pub struct Budget<'a> {
    connection: &'a Connection,
    round_trips: u64,
    /// Those of the connection when the budget was made.
    before: u64,
}

impl Connection {
    /// Limits the round trips from here on. Nothing is stopped: [`Budget::check`] tells whether the limit was kept. An
    /// engine in this process needs none.
    ///
    /// ```no_run
    /// # use firearrow::Connection;
    /// # let connection = Connection::connect("firebird://localhost/employee")?;
    /// let transaction = connection.begin(Default::default())?;
    /// let budget = connection.budget(2);
    /// for batch in transaction.query("SELECT * FROM country")? {
    ///     println!("{} rows", batch?.num_rows());
    /// }
    /// budget.check()?;
    /// # Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn budget(&self, round_trips: u64) -> Budget<'_> {
        Budget { connection: self, round_trips, before: self.wire_stats().round_trips }
    }

    /// Does some work with at most so many round trips.
    ///
    /// # Errors
    /// That of the work; or else [`Kind::OverBudget`] if it took more.
    pub fn within_budget<T>(&self, round_trips: u64, work: impl FnOnce(&Self) -> Result<T>) -> Result<T> {
        let budget = self.budget(round_trips);
        let done = work(self)?;
        budget.check()?;
        Ok(done)
    }
}

impl Budget<'_> {
    /// Round trips since the budget was made.
    pub fn used(&self) -> u64 {
        self.connection.wire_stats().round_trips - self.before
    }

    /// Whether the limit was kept so far.
    ///
    /// # Errors
    /// [`Kind::OverBudget`] names the limit and how many it were.
    pub fn check(&self) -> Result<()> {
        let used = self.used();
        if used <= self.round_trips {
            return Ok(());
        }
        let limit = self.round_trips;
        Err(Error::new(Kind::OverBudget, format!("{used} round trips were made, {limit} were allowed")))
    }
}
