//! Three ways to do an operation: as a procedure, statement by statement, and in few round trips, with those statements
//! together between which the client has nothing to work out.

mod pipelined;
mod procedures;
mod shared;
pub mod sql;
mod statements;

use crate::failure::Failure;
use crate::input::{Customer, Delivery, Input, NewOrder, OrderStatus, Payment, StockLevel};
use firearrow::{Connection, Date, Error, Time, Timestamp, TransactionOptions};
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// What came of an attempt.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// How operations reach the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// One call of a stored procedure, and a commit.
    #[default]
    Sp,
    /// Statement by statement, as most applications do.
    Sql,
    /// The same work in few round trips: statements together between which the client has nothing to work out.
    SqlPipelined,
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sp, Self::Sql, Self::SqlPipelined];

    /// Its name, as in the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        ["sp", "sql", "sql-pipelined"][self as usize]
    }
}

/// What an operation did, as far as the database must show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// An order with this many lines.
    Ordered {
        /// Its number in the district.
        order: i32,
        /// Its lines.
        lines: u64,
    },
    /// An order with an item that does not exist; it was rolled back, as it should be.
    Refused,
    /// A payment.
    Paid {
        /// In hundredths.
        cents: i64,
    },
    /// Orders delivered; fewer than ten if districts had none.
    Delivered {
        /// How many.
        orders: u64,
    },
    /// Rows read.
    Read {
        /// How many.
        rows: u64,
    },
}

/// A connection that does operations, each in a transaction of its own. If one fails, its transaction is rolled back.
pub trait Way {
    /// A new order.
    ///
    /// # Errors
    /// If it was not committed, as in all of these.
    fn new_order(&mut self, input: &NewOrder) -> Result<Outcome>;
    /// A payment.
    ///
    /// # Errors
    /// As [`new_order`](Self::new_order).
    fn payment(&mut self, input: &Payment) -> Result<Outcome>;
    /// What a customer ordered last.
    ///
    /// # Errors
    /// As [`new_order`](Self::new_order).
    fn order_status(&mut self, input: &OrderStatus) -> Result<Outcome>;
    /// The oldest open order of each district is delivered.
    ///
    /// # Errors
    /// As [`new_order`](Self::new_order).
    fn delivery(&mut self, input: &Delivery) -> Result<Outcome>;
    /// How many of the items ordered last are short.
    ///
    /// # Errors
    /// As [`new_order`](Self::new_order).
    fn stock_level(&mut self, input: &StockLevel) -> Result<Outcome>;

    /// Whether nothing can be done any more.
    fn has_lost_connection(&self) -> bool;

    /// Whatever is asked for.
    ///
    /// # Errors
    /// As [`new_order`](Self::new_order).
    fn perform(&mut self, input: &Input) -> Result<Outcome> {
        match input {
            Input::NewOrder(input) => self.new_order(input),
            Input::Payment(input) => self.payment(input),
            Input::OrderStatus(input) => self.order_status(input),
            Input::Delivery(input) => self.delivery(input),
            Input::StockLevel(input) => self.stock_level(input),
        }
    }
}

/// Prepares the statements of a way.
pub(crate) fn open(
    mode: Mode,
    connection: Connection,
    options: TransactionOptions,
) -> firearrow::Result<Box<dyn Way>> {
    Ok(match mode {
        Mode::Sp => Box::new(procedures::Procedures::prepare(connection, options)?),
        Mode::Sql => Box::new(statements::Statements::prepare(connection, options)?),
        Mode::SqlPipelined => Box::new(pipelined::Pipelined::prepare(connection, options)?),
    })
}

pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = i64::try_from(since.as_micros()).unwrap_or(0) / 100 * 100;
    let midnight =
        || Timestamp::new(Date::new(1970, 1, 1).expect("a date"), Time::new(0, 0, 0, 0).expect("a time"));
    Timestamp::from_unix_micros(micros).unwrap_or_else(midnight)
}

/// Number and name of a customer, of which one is NULL.
pub(crate) fn parts(customer: &Customer) -> (Option<i32>, Option<&str>) {
    match customer {
        Customer::Number(number) => (Some(*number), None),
        Customer::Name(name) => (None, Some(name)),
    }
}

/// A row that must be there.
pub(crate) fn found<T>(row: Option<T>, what: &str) -> firearrow::Result<T> {
    row.ok_or_else(|| Error::other(format!("{what} is missing")))
}
