//! Operations as calls of stored procedures: one round trip each, besides those of the transaction.

use super::prepared::{Prepared, Value};
use super::{Session, committed, failure, found, now, parts};
use firearrow_fbapi::Error;
use firearrow_oltp::{Delivery, Failure, NewOrder, OrderStatus, Outcome, Payment, StockLevel, Way};

pub(super) struct Procedures {
    new_order: Prepared,
    payment: Prepared,
    order_status: Prepared,
    delivery: Prepared,
    stock_level: Prepared,
    /// Dropped last.
    session: Session,
}

impl Procedures {
    pub(super) fn prepare(session: Session) -> Result<Self, Error> {
        let mut transaction = session.begin()?;
        let prepare = |sql: &str| Prepared::new(&session, &transaction, sql);
        let (new_order, payment, order_status, delivery, stock_level) = (
            prepare("EXECUTE PROCEDURE TX_NEW_ORDER(?, ?, ?, ?, ?, ?)")?,
            prepare("EXECUTE PROCEDURE TX_PAYMENT(?, ?, ?, ?, ?, ?, ?, ?)")?,
            prepare("SELECT * FROM TX_ORDER_STATUS(?, ?, ?, ?)")?,
            prepare("EXECUTE PROCEDURE TX_DELIVERY(?, ?, ?)")?,
            prepare("EXECUTE PROCEDURE TX_STOCK_LEVEL(?, ?, ?)")?,
        );
        transaction.commit()?;
        Ok(Self { new_order, payment, order_status, delivery, stock_level, session })
    }
}

impl Way for Procedures {
    fn has_lost_connection(&self) -> bool {
        self.session.has_lost_connection()
    }

    fn new_order(&mut self, input: &NewOrder) -> Result<Outcome, Failure> {
        let lines = input.packed_lines();
        let mut transaction = self.session.begin().map_err(failure)?;
        let values = [
            input.warehouse.into(),
            input.district.into(),
            input.customer.into(),
            Value::Int(input.lines.len() as i32),
            Value::Text(&lines),
            Value::Moment(now()),
        ];
        let made = self.new_order.row(&mut transaction, &values, |row| Ok((row.int(0)?, row.int(4)?)));
        let (order, status) = found(made.map_err(failure)?, "the status of an order")?;
        if status != 0 {
            transaction.rollback().map_err(failure)?;
            return Ok(Outcome::Refused);
        }
        committed(transaction, Outcome::Ordered { order, lines: input.lines.len() as u64 })
    }

    fn payment(&mut self, input: &Payment) -> Result<Outcome, Failure> {
        let (number, name) = parts(&input.customer);
        let mut transaction = self.session.begin().map_err(failure)?;
        let values = [
            input.warehouse.into(),
            input.district.into(),
            input.from.0.into(),
            input.from.1.into(),
            number.into(),
            name.into(),
            Value::Cents(input.cents),
            Value::Moment(now()),
        ];
        let customer = self.payment.row(&mut transaction, &values, |row| row.int(0)).map_err(failure)?;
        found(customer, "the customer who pays")?;
        committed(transaction, Outcome::Paid { cents: input.cents })
    }

    fn order_status(&mut self, input: &OrderStatus) -> Result<Outcome, Failure> {
        let (number, name) = parts(&input.customer);
        let mut transaction = self.session.begin().map_err(failure)?;
        let values = [input.warehouse.into(), input.district.into(), number.into(), name.into()];
        let rows = self.order_status.rows(&mut transaction, &values, |_| Ok(())).map_err(failure)?;
        committed(transaction, Outcome::Read { rows: rows.len() as u64 })
    }

    fn delivery(&mut self, input: &Delivery) -> Result<Outcome, Failure> {
        let mut transaction = self.session.begin().map_err(failure)?;
        let values = [input.warehouse.into(), input.carrier.into(), Value::Moment(now())];
        let delivered = self.delivery.row(&mut transaction, &values, |row| row.number(0)).map_err(failure)?;
        let orders = found(delivered, "the count of deliveries")?.unsigned_abs();
        committed(transaction, Outcome::Delivered { orders })
    }

    fn stock_level(&mut self, input: &StockLevel) -> Result<Outcome, Failure> {
        let mut transaction = self.session.begin().map_err(failure)?;
        let values = [input.warehouse.into(), input.district.into(), input.threshold.into()];
        let low = self.stock_level.row(&mut transaction, &values, |row| row.number(0)).map_err(failure)?;
        found(low, "the count of items that are short")?;
        committed(transaction, Outcome::Read { rows: 1 })
    }
}
