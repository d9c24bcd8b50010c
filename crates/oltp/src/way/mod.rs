//! Three ways to do an operation: as a procedure, statement by statement, and statement by statement with those together
//! that need not wait for each other.

mod pipelined;
mod procedures;
mod shared;
mod statements;

use crate::input::{Customer, Delivery, Input, NewOrder, OrderStatus, Payment, StockLevel};
use firearrow::{Connection, Date, Error, Result, Time, Timestamp, TransactionOptions};
use serde::Serialize;
use std::time::{SystemTime, UNIX_EPOCH};

/// How operations reach the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// One call of a stored procedure, and a commit.
    #[default]
    Sp,
    /// Statement by statement, as most applications do.
    Sql,
    /// The same work, with statements together that need nothing of each other's answers.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// An order with this many lines.
    Ordered {
        /// Its number in the district.
        order: i32,
        lines: u64,
    },
    /// An order with an item that does not exist; it was rolled back, as it should be.
    Refused,
    Paid {
        cents: i64,
    },
    /// Orders delivered; fewer than ten if districts had none.
    Delivered {
        orders: u64,
    },
    /// Rows read.
    Read {
        rows: u64,
    },
}

/// A connection that does operations, each in a transaction of its own. If one fails, its transaction is rolled back.
pub(crate) trait Way {
    fn new_order(&mut self, input: &NewOrder) -> Result<Outcome>;
    fn payment(&mut self, input: &Payment) -> Result<Outcome>;
    fn order_status(&mut self, input: &OrderStatus) -> Result<Outcome>;
    fn delivery(&mut self, input: &Delivery) -> Result<Outcome>;
    fn stock_level(&mut self, input: &StockLevel) -> Result<Outcome>;

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
    connection: &Connection,
    options: TransactionOptions,
) -> Result<Box<dyn Way + '_>> {
    Ok(match mode {
        Mode::Sp => Box::new(procedures::Procedures::prepare(connection, options)?),
        Mode::Sql => Box::new(statements::Statements::prepare(connection, options)?),
        Mode::SqlPipelined => Box::new(pipelined::Pipelined::prepare(connection, options)?),
    })
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let micros = i64::try_from(since.as_micros()).unwrap_or(0) / 100 * 100;
    let midnight =
        || Timestamp::new(Date::new(1970, 1, 1).expect("a date"), Time::new(0, 0, 0, 0).expect("a time"));
    Timestamp::from_unix_micros(micros).unwrap_or_else(midnight)
}

/// Number and name of a customer, of which one is NULL.
fn parts(customer: &Customer) -> (Option<i32>, Option<&str>) {
    match customer {
        Customer::Number(number) => (Some(*number), None),
        Customer::Name(name) => (None, Some(name)),
    }
}

/// A row that must be there.
fn found<T>(row: Option<T>, what: &str) -> Result<T> {
    row.ok_or_else(|| Error::other(format!("{what} is missing")))
}
