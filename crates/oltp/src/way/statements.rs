//! Operations statement by statement, each with a round trip of its own.

use super::shared::{Shared, note, numbers};
use super::{Outcome, Result, Way, found, now, sql};
use crate::input::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use crate::scale::DISTRICTS;
use firearrow::{Connection, Decimal, Statement, TransactionOptions, params};

pub(super) struct Statements {
    shared: Shared,
    warehouse_tax: Statement,
    next_order: Statement,
    customer_terms: Statement,
    insert_order: Statement,
    insert_open: Statement,
    price: Statement,
    take_stock: Statement,
    insert_line: Statement,
    pay_warehouse: Statement,
    pay_district: Statement,
    pay_customer: Statement,
    insert_history: Statement,
    oldest_open: Statement,
    delete_open: Statement,
    set_carrier: Statement,
    deliver_lines: Statement,
    sum_lines: Statement,
    district_next: Statement,
    low_stock: Statement,
}

impl Statements {
    pub(super) fn prepare(connection: Connection, options: TransactionOptions) -> firearrow::Result<Self> {
        let transaction = connection.begin(options)?;
        let prepare = |text: &str| transaction.prepare(text);
        let prepared = Self {
            shared: Shared::prepare(connection, options, &transaction)?,
            warehouse_tax: prepare(sql::WAREHOUSE_TAX)?,
            next_order: prepare(sql::NEXT_ORDER)?,
            customer_terms: prepare(sql::CUSTOMER_TERMS)?,
            insert_order: prepare(sql::INSERT_ORDER)?,
            insert_open: prepare(sql::INSERT_OPEN)?,
            price: prepare(sql::PRICE)?,
            take_stock: prepare(sql::TAKE_STOCK)?,
            insert_line: prepare(sql::INSERT_LINE)?,
            pay_warehouse: prepare(sql::PAY_WAREHOUSE)?,
            pay_district: prepare(sql::PAY_DISTRICT)?,
            pay_customer: prepare(sql::PAY_CUSTOMER)?,
            insert_history: prepare(sql::INSERT_HISTORY)?,
            oldest_open: prepare(sql::OLDEST_OPEN)?,
            delete_open: prepare(sql::DELETE_OPEN)?,
            set_carrier: prepare(sql::SET_CARRIER)?,
            deliver_lines: prepare(sql::DELIVER_LINES)?,
            sum_lines: prepare(sql::SUM_LINES)?,
            district_next: prepare(sql::DISTRICT_NEXT)?,
            low_stock: prepare(sql::LOW_STOCK)?,
        };
        transaction.commit()?;
        Ok(prepared)
    }
}

impl Way for Statements {
    fn has_lost_connection(&self) -> bool {
        self.shared.has_lost_connection()
    }

    fn new_order(&mut self, input: &NewOrder) -> Result<Outcome> {
        let &NewOrder { warehouse, district, customer, ref lines } = input;
        let mut transaction = self.shared.begin()?;
        let tax =
            self.warehouse_tax.one_row(&transaction, params![warehouse], |row| row.get::<Decimal>(0))?;
        found(tax, "the warehouse")?;
        let order =
            self.next_order.one_row(&transaction, params![warehouse, district], |row| row.get::<i32>(0))?;
        let order = found(order, "the district")?;
        let terms = params![warehouse, district, customer];
        let discount = self.customer_terms.one_row(&transaction, terms, |row| row.get::<Decimal>(0))?;
        found(discount, "the customer")?;
        let all_local = i32::from(lines.iter().all(|line| line.supplier == warehouse));
        let count = lines.len() as i32;
        let row = params![order, district, warehouse, customer, now(), count, all_local];
        self.insert_order.execute(&mut transaction, row)?;
        self.insert_open.execute(&mut transaction, params![order, district, warehouse])?;
        for (number, line) in (1_i32..).zip(lines) {
            let price = self.price.one_row(&transaction, params![line.item], |row| row.get::<Decimal>(0))?;
            let Some(price) = price else {
                transaction.rollback()?;
                return Ok(Outcome::Refused);
            };
            let quantity = i32::from(line.quantity);
            let remote = i32::from(line.supplier != warehouse);
            let taken = params![quantity, quantity, quantity, remote, line.supplier, line.item, district];
            let info = self.take_stock.one_row(&transaction, taken, |row| row.get::<String>(0))?;
            let info = found(info, "the stock of an item")?;
            let amount = Decimal::new(price.unscaled * i128::from(line.quantity), price.scale);
            let row =
                params![order, district, warehouse, number, line.item, line.supplier, quantity, amount, info];
            self.insert_line.execute(&mut transaction, row)?;
        }
        transaction.commit()?;
        Ok(Outcome::Ordered { order, lines: lines.len() as u64 })
    }

    fn payment(&mut self, input: &Payment) -> Result<Outcome> {
        let (warehouse, district) = input.from;
        let amount = Decimal::new(input.cents.into(), 2);
        let mut transaction = self.shared.begin()?;
        let paid = params![amount, input.warehouse];
        let at = self.pay_warehouse.one_row(&transaction, paid, |row| row.get::<String>(0))?;
        let paid = params![amount, input.warehouse, input.district];
        let of = self.pay_district.one_row(&transaction, paid, |row| row.get::<String>(0))?;
        let customer = self.shared.customer(&transaction, warehouse, district, &input.customer)?;
        let paid = params![amount, amount, note(input, customer, amount), warehouse, district, customer];
        let balance = self.pay_customer.one_row(&transaction, paid, |row| row.get::<Decimal>(0))?;
        found(balance, "the customer")?;
        let text = format!("{}    {}", found(at, "the warehouse")?, found(of, "the district")?);
        let row =
            params![customer, district, warehouse, input.district, input.warehouse, now(), amount, text];
        self.insert_history.execute(&mut transaction, row)?;
        transaction.commit()?;
        Ok(Outcome::Paid { cents: input.cents })
    }

    fn order_status(&mut self, input: &OrderStatus) -> Result<Outcome> {
        let &OrderStatus { warehouse, district, ref customer } = input;
        let transaction = self.shared.begin()?;
        let customer = self.shared.customer(&transaction, warehouse, district, customer)?;
        let order =
            self.shared
                .last_order
                .one_row(&transaction, params![warehouse, district, customer], |row| row.get::<i32>(0))?;
        let order = found(order, "an order of the customer")?;
        let rows =
            numbers(&self.shared.lines, &transaction, params![warehouse, district, order])?.len() as u64;
        transaction.commit()?;
        Ok(Outcome::Read { rows })
    }

    fn delivery(&mut self, input: &Delivery) -> Result<Outcome> {
        let warehouse = input.warehouse;
        let at = now();
        let mut transaction = self.shared.begin()?;
        let mut orders = 0;
        for district in 1..=DISTRICTS.cast_signed() {
            let place = params![warehouse, district];
            let Some(order) = self.oldest_open.one_row(&transaction, place, |row| row.get::<i32>(0))? else {
                continue;
            };
            let deleted = self.delete_open.execute(&mut transaction, params![warehouse, district, order])?;
            if deleted.affected_rows != Some(1) {
                // Another terminal delivered it in between.
                continue;
            }
            let carried = params![input.carrier, warehouse, district, order];
            let customer = self.set_carrier.one_row(&transaction, carried, |row| row.get::<i32>(0))?;
            let customer = found(customer, "the order")?;
            self.deliver_lines.execute(&mut transaction, params![at, warehouse, district, order])?;
            let sum = params![warehouse, district, order];
            let amount = self.sum_lines.one_row(&transaction, sum, |row| row.get::<Decimal>(0))?;
            let amount = found(amount, "the lines of an order")?;
            self.shared.credit.execute(&mut transaction, params![amount, warehouse, district, customer])?;
            orders += 1;
        }
        transaction.commit()?;
        Ok(Outcome::Delivered { orders })
    }

    fn stock_level(&mut self, input: &StockLevel) -> Result<Outcome> {
        let &StockLevel { warehouse, district, threshold } = input;
        let transaction = self.shared.begin()?;
        let next = self
            .district_next
            .one_row(&transaction, params![warehouse, district], |row| row.get::<i32>(0))?;
        let next = found(next, "the district")?;
        let asked = params![warehouse, district, next, next - 20, threshold];
        let low = self.low_stock.one_row(&transaction, asked, |row| row.get::<i64>(0))?;
        found(low, "the count of items that are short")?;
        transaction.commit()?;
        Ok(Outcome::Read { rows: 1 })
    }
}
