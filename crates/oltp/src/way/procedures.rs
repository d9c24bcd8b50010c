//! Operations as calls of stored procedures.

use super::{Outcome, Result, Way, found, now, parts, sql};
use crate::input::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use firearrow::{Connection, Decimal, Row, Statement, Transaction, TransactionOptions, params};

pub(super) struct Procedures {
    options: TransactionOptions,
    new_order: Statement,
    payment: Statement,
    order_status: Statement,
    delivery: Statement,
    stock_level: Statement,
    /// Dropped last.
    connection: Connection,
}

impl Procedures {
    pub(super) fn prepare(connection: Connection, options: TransactionOptions) -> firearrow::Result<Self> {
        let transaction = connection.begin(options)?;
        let prepared = Self {
            options,
            new_order: transaction.prepare(sql::CALL_NEW_ORDER)?,
            payment: transaction.prepare(sql::CALL_PAYMENT)?,
            order_status: transaction.prepare(sql::CALL_ORDER_STATUS)?,
            delivery: transaction.prepare(sql::CALL_DELIVERY)?,
            stock_level: transaction.prepare(sql::CALL_STOCK_LEVEL)?,
            connection,
        };
        transaction.commit()?;
        Ok(prepared)
    }

    fn begin(&self) -> firearrow::Result<Transaction> {
        self.connection.begin_lazy(self.options)
    }
}

impl Way for Procedures {
    fn has_lost_connection(&self) -> bool {
        self.connection.is_failed()
    }

    fn new_order(&mut self, input: &NewOrder) -> Result<Outcome> {
        let transaction = self.begin()?;
        let count = input.lines.len() as i16;
        let parameters =
            params![input.warehouse, input.district, input.customer, count, input.packed_lines(), now()];
        let read = |row: Row<'_>| Ok((row.get::<i16>(0)?, row.get::<i32>(1)?));
        let made = self.new_order.one_row(&transaction, parameters, read)?;
        let (status, order) = found(made, "the status of an order")?;
        if status != 0 {
            transaction.rollback()?;
            return Ok(Outcome::Refused);
        }
        transaction.commit()?;
        Ok(Outcome::Ordered { order, lines: input.lines.len() as u64 })
    }

    fn payment(&mut self, input: &Payment) -> Result<Outcome> {
        let (number, name) = parts(&input.customer);
        let (warehouse, district) = input.from;
        let amount = Decimal::new(input.cents.into(), 2);
        let transaction = self.begin()?;
        let parameters =
            params![input.warehouse, input.district, warehouse, district, number, name, amount, now()];
        let customer = self.payment.one_row(&transaction, parameters, |row| row.get::<i32>(0))?;
        found(customer, "the customer who pays")?;
        transaction.commit()?;
        Ok(Outcome::Paid { cents: input.cents })
    }

    fn order_status(&mut self, input: &OrderStatus) -> Result<Outcome> {
        let (number, name) = parts(&input.customer);
        let transaction = self.begin()?;
        let parameters = params![input.warehouse, input.district, number, name];
        let mut rows = 0;
        let mut cursor = self.order_status.query(&transaction, parameters)?;
        while let Some(batch) = cursor.next_batch()? {
            rows += batch.num_rows() as u64;
        }
        drop(cursor);
        transaction.commit()?;
        Ok(Outcome::Read { rows })
    }

    fn delivery(&mut self, input: &Delivery) -> Result<Outcome> {
        let transaction = self.begin()?;
        let parameters = params![input.warehouse, input.carrier, now()];
        let delivered = self.delivery.one_row(&transaction, parameters, |row| row.get::<i16>(0))?;
        let delivered = found(delivered, "the count of deliveries")?;
        transaction.commit()?;
        Ok(Outcome::Delivered { orders: u64::from(delivered.unsigned_abs()) })
    }

    fn stock_level(&mut self, input: &StockLevel) -> Result<Outcome> {
        let transaction = self.begin()?;
        let parameters = params![input.warehouse, input.district, input.threshold];
        let low = self.stock_level.one_row(&transaction, parameters, |row| row.get::<i32>(0))?;
        found(low, "the count of items that are short")?;
        transaction.commit()?;
        Ok(Outcome::Read { rows: 1 })
    }
}
