//! What both ways of executing statement by statement share: the statements that are the same, and the search for a
//! customer.

use super::{found, sql};
use crate::input::{Customer, Payment};
use firearrow::{
    BatchExt, Connection, Decimal, Params, Result, Statement, Transaction, TransactionOptions, params,
};

pub(super) struct Shared {
    options: TransactionOptions,
    customers_named: Statement,
    pub(super) last_order: Statement,
    pub(super) lines: Statement,
    pub(super) credit: Statement,
    /// Dropped last.
    connection: Connection,
}

impl Shared {
    pub(super) fn prepare(
        connection: Connection,
        options: TransactionOptions,
        transaction: &Transaction,
    ) -> Result<Self> {
        let prepare = |text: &str| transaction.prepare(text);
        Ok(Self {
            options,
            customers_named: prepare(sql::CUSTOMERS_NAMED)?,
            last_order: prepare(sql::LAST_ORDER)?,
            lines: prepare(sql::LINES)?,
            credit: prepare(sql::CREDIT)?,
            connection,
        })
    }

    pub(super) fn begin(&self) -> Result<Transaction> {
        self.connection.begin_lazy(self.options)
    }

    pub(super) fn has_lost_connection(&self) -> bool {
        self.connection.is_failed()
    }

    /// A customer's number: that of the middle one of a name, rounded up.
    pub(super) fn customer(
        &self,
        transaction: &Transaction,
        warehouse: i32,
        district: i32,
        customer: &Customer,
    ) -> Result<i32> {
        let name = match customer {
            Customer::Number(number) => return Ok(*number),
            Customer::Name(name) => name,
        };
        let numbers = numbers(&self.customers_named, transaction, params![warehouse, district, name])?;
        found(middle(&numbers), "a customer of this name")
    }
}

/// All values of the first column.
pub(super) fn numbers(
    statement: &Statement,
    transaction: &Transaction,
    parameters: Params,
) -> Result<Vec<i32>> {
    let mut numbers = Vec::new();
    let mut cursor = statement.query(transaction, parameters)?;
    while let Some(batch) = cursor.next_batch()? {
        for row in batch.rows() {
            numbers.push(row.get(0)?);
        }
    }
    Ok(numbers)
}

/// The one in the middle, rounded up.
pub(super) fn middle(numbers: &[i32]) -> Option<i32> {
    numbers.get(numbers.len().div_ceil(2).checked_sub(1)?).copied()
}

/// The text that a payment puts before a customer's data if the customer's credit is bad.
pub(super) fn note(input: &Payment, customer: i32, amount: Decimal) -> String {
    let (warehouse, district) = input.from;
    format!("{customer} {district} {warehouse} {} {} {amount} | ", input.district, input.warehouse)
}

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_middle_is_rounded_up() {
        assert_eq!(middle(&[]), None);
        assert_eq!([middle(&[7]), middle(&[7, 8]), middle(&[7, 8, 9])], [Some(7), Some(7), Some(8)]);
    }
}
