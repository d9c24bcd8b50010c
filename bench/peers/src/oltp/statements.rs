//! Operations statement by statement, as firearrow's mode `sql` executes them.

use super::prepared::{Prepared, Value};
use super::{Session, committed, failure, found, now};
use firearrow_fbapi::{Error, Transaction};
use firearrow_oltp::{
    Customer, Delivery, Failure, NewOrder, OrderStatus, Outcome, Payment, StockLevel, Way, sql,
};

/// Districts of each warehouse.
const DISTRICTS: i32 = firearrow_oltp::DISTRICTS as i32;

pub(super) struct Statements {
    warehouse_tax: Prepared,
    next_order: Prepared,
    customer_terms: Prepared,
    insert_order: Prepared,
    insert_open: Prepared,
    price: Prepared,
    take_stock: Prepared,
    insert_line: Prepared,
    pay_warehouse: Prepared,
    pay_district: Prepared,
    pay_customer: Prepared,
    insert_history: Prepared,
    customers_named: Prepared,
    last_order: Prepared,
    lines: Prepared,
    oldest_open: Prepared,
    delete_open: Prepared,
    set_carrier: Prepared,
    deliver_lines: Prepared,
    sum_lines: Prepared,
    credit: Prepared,
    district_next: Prepared,
    low_stock: Prepared,
    /// Dropped last.
    session: Session,
}

impl Statements {
    pub(super) fn prepare(session: Session) -> Result<Self, Error> {
        let transaction = session.begin()?;
        let prepare = |text: &str| Prepared::new(&session, &transaction, text);
        let (
            [warehouse_tax, next_order, customer_terms, insert_order, insert_open, price],
            [take_stock, insert_line, pay_warehouse, pay_district, pay_customer, insert_history],
            [customers_named, last_order, lines, oldest_open, delete_open, set_carrier],
            [deliver_lines, sum_lines, credit, district_next, low_stock],
        ) = (
            [
                prepare(sql::WAREHOUSE_TAX)?,
                prepare(sql::NEXT_ORDER)?,
                prepare(sql::CUSTOMER_TERMS)?,
                prepare(sql::INSERT_ORDER)?,
                prepare(sql::INSERT_OPEN)?,
                prepare(sql::PRICE)?,
            ],
            [
                prepare(sql::TAKE_STOCK)?,
                prepare(sql::INSERT_LINE)?,
                prepare(sql::PAY_WAREHOUSE)?,
                prepare(sql::PAY_DISTRICT)?,
                prepare(sql::PAY_CUSTOMER)?,
                prepare(sql::INSERT_HISTORY)?,
            ],
            [
                prepare(sql::CUSTOMERS_NAMED)?,
                prepare(sql::LAST_ORDER)?,
                prepare(sql::LINES)?,
                prepare(sql::OLDEST_OPEN)?,
                prepare(sql::DELETE_OPEN)?,
                prepare(sql::SET_CARRIER)?,
            ],
            [
                prepare(sql::DELIVER_LINES)?,
                prepare(sql::SUM_LINES)?,
                prepare(sql::CREDIT)?,
                prepare(sql::DISTRICT_NEXT)?,
                prepare(sql::LOW_STOCK)?,
            ],
        );
        let mut transaction = transaction;
        transaction.commit()?;
        Ok(Self {
            warehouse_tax,
            next_order,
            customer_terms,
            insert_order,
            insert_open,
            price,
            take_stock,
            insert_line,
            pay_warehouse,
            pay_district,
            pay_customer,
            insert_history,
            customers_named,
            last_order,
            lines,
            oldest_open,
            delete_open,
            set_carrier,
            deliver_lines,
            sum_lines,
            credit,
            district_next,
            low_stock,
            session,
        })
    }

    /// A customer's number: that of the middle one of a name, rounded up.
    fn customer(
        &mut self,
        transaction: &mut Transaction,
        warehouse: i32,
        district: i32,
        customer: &Customer,
    ) -> Result<i32, Failure> {
        let name = match customer {
            Customer::Number(number) => return Ok(*number),
            Customer::Name(name) => name,
        };
        let values = [warehouse.into(), district.into(), Value::Text(name)];
        let numbers = self.customers_named.rows(transaction, &values, |row| row.int(0)).map_err(failure)?;
        let middle = numbers.len().div_ceil(2).checked_sub(1).and_then(|at| numbers.get(at));
        found(middle.copied(), "a customer of this name")
    }

    fn one_delivery(
        &mut self,
        transaction: &mut Transaction,
        input: &Delivery,
        district: i32,
    ) -> Result<u64, Failure> {
        let warehouse = input.warehouse;
        let place = [warehouse.into(), district.into()];
        let oldest = self.oldest_open.row(transaction, &place, |row| row.int(0)).map_err(failure)?;
        let Some(order) = oldest else { return Ok(0) };
        let key = [warehouse.into(), district.into(), order.into()];
        self.delete_open.execute(transaction, &key).map_err(failure)?;
        if self.delete_open.affected().map_err(failure)? != 1 {
            // Another terminal delivered it in between.
            return Ok(0);
        }
        let carried = [input.carrier.into(), warehouse.into(), district.into(), order.into()];
        let customer = self.set_carrier.row(transaction, &carried, |row| row.int(0)).map_err(failure)?;
        let customer = found(customer, "the order")?;
        let delivered = [Value::Moment(now()), warehouse.into(), district.into(), order.into()];
        self.deliver_lines.execute(transaction, &delivered).map_err(failure)?;
        let amount = self.sum_lines.row(transaction, &key, |row| row.number(0)).map_err(failure)?;
        let amount = found(amount, "the lines of an order")?;
        let credited = [Value::Cents(amount), warehouse.into(), district.into(), customer.into()];
        self.credit.execute(transaction, &credited).map_err(failure)?;
        Ok(1)
    }
}

impl Way for Statements {
    fn has_lost_connection(&self) -> bool {
        self.session.has_lost_connection()
    }

    fn new_order(&mut self, input: &NewOrder) -> Result<Outcome, Failure> {
        let &NewOrder { warehouse, district, customer, ref lines } = input;
        let transaction = &mut self.session.begin().map_err(failure)?;
        let tax = self.warehouse_tax.row(transaction, &[warehouse.into()], |row| row.number(0));
        found(tax.map_err(failure)?, "the warehouse")?;
        let place = [warehouse.into(), district.into()];
        let order = self.next_order.row(transaction, &place, |row| row.int(0)).map_err(failure)?;
        let order = found(order, "the district")?;
        let who = [warehouse.into(), district.into(), customer.into()];
        let discount = self.customer_terms.row(transaction, &who, |row| row.number(0)).map_err(failure)?;
        found(discount, "the customer")?;
        let all_local = i32::from(lines.iter().all(|line| line.supplier == warehouse));
        let count = lines.len() as i32;
        let row = [
            order.into(),
            district.into(),
            warehouse.into(),
            customer.into(),
            Value::Moment(now()),
            count.into(),
            all_local.into(),
        ];
        self.insert_order.execute(transaction, &row).map_err(failure)?;
        let open = [order.into(), district.into(), warehouse.into()];
        self.insert_open.execute(transaction, &open).map_err(failure)?;
        for (number, line) in (1_i32..).zip(lines) {
            let price = self.price.row(transaction, &[line.item.into()], |row| row.number(0));
            let Some(price) = price.map_err(failure)? else {
                transaction.rollback().map_err(failure)?;
                return Ok(Outcome::Refused);
            };
            let remote = i32::from(line.supplier != warehouse);
            let quantity = Value::from(line.quantity);
            let taken = [
                quantity,
                quantity,
                quantity,
                remote.into(),
                line.supplier.into(),
                line.item.into(),
                district.into(),
            ];
            let info = self.take_stock.row(transaction, &taken, |row| row.text(0)).map_err(failure)?;
            let info = found(info, "the stock of an item")?;
            let row = [
                order.into(),
                district.into(),
                warehouse.into(),
                number.into(),
                line.item.into(),
                line.supplier.into(),
                quantity,
                Value::Cents(price * i64::from(line.quantity)),
                Value::Text(&info),
            ];
            self.insert_line.execute(transaction, &row).map_err(failure)?;
        }
        transaction.commit().map_err(failure)?;
        Ok(Outcome::Ordered { order, lines: lines.len() as u64 })
    }

    fn payment(&mut self, input: &Payment) -> Result<Outcome, Failure> {
        let (warehouse, district) = input.from;
        let amount = Value::Cents(input.cents);
        let mut transaction = self.session.begin().map_err(failure)?;
        let paid = [amount, input.warehouse.into()];
        let at = self.pay_warehouse.row(&mut transaction, &paid, |row| row.text(0)).map_err(failure)?;
        let paid = [amount, input.warehouse.into(), input.district.into()];
        let of = self.pay_district.row(&mut transaction, &paid, |row| row.text(0)).map_err(failure)?;
        let customer = self.customer(&mut transaction, warehouse, district, &input.customer)?;
        let note = format!(
            "{customer} {district} {warehouse} {} {} {}.{:02} | ",
            input.district,
            input.warehouse,
            input.cents / 100,
            input.cents % 100
        );
        let paid = [amount, amount, Value::Text(&note), warehouse.into(), district.into(), customer.into()];
        let balance = self.pay_customer.row(&mut transaction, &paid, |row| row.number(0)).map_err(failure)?;
        found(balance, "the customer")?;
        let text = format!("{}    {}", found(at, "the warehouse")?, found(of, "the district")?);
        let row = [
            customer.into(),
            district.into(),
            warehouse.into(),
            input.district.into(),
            input.warehouse.into(),
            Value::Moment(now()),
            amount,
            Value::Text(&text),
        ];
        self.insert_history.execute(&mut transaction, &row).map_err(failure)?;
        committed(transaction, Outcome::Paid { cents: input.cents })
    }

    fn order_status(&mut self, input: &OrderStatus) -> Result<Outcome, Failure> {
        let &OrderStatus { warehouse, district, ref customer } = input;
        let mut transaction = self.session.begin().map_err(failure)?;
        let customer = self.customer(&mut transaction, warehouse, district, customer)?;
        let who = [warehouse.into(), district.into(), customer.into()];
        let order = self.last_order.row(&mut transaction, &who, |row| row.int(0)).map_err(failure)?;
        let order = found(order, "an order of the customer")?;
        let key = [warehouse.into(), district.into(), order.into()];
        let rows = self.lines.rows(&mut transaction, &key, |_| Ok(())).map_err(failure)?.len() as u64;
        committed(transaction, Outcome::Read { rows })
    }

    fn delivery(&mut self, input: &Delivery) -> Result<Outcome, Failure> {
        let mut transaction = self.session.begin().map_err(failure)?;
        let mut orders = 0;
        for district in 1..=DISTRICTS {
            orders += self.one_delivery(&mut transaction, input, district)?;
        }
        committed(transaction, Outcome::Delivered { orders })
    }

    fn stock_level(&mut self, input: &StockLevel) -> Result<Outcome, Failure> {
        let &StockLevel { warehouse, district, threshold } = input;
        let mut transaction = self.session.begin().map_err(failure)?;
        let place = [warehouse.into(), district.into()];
        let next = self.district_next.row(&mut transaction, &place, |row| row.int(0)).map_err(failure)?;
        let next = found(next, "the district")?;
        let asked = [warehouse.into(), district.into(), next.into(), (next - 20).into(), threshold.into()];
        let low = self.low_stock.row(&mut transaction, &asked, |row| row.number(0)).map_err(failure)?;
        found(low, "the count of items that are short")?;
        committed(transaction, Outcome::Read { rows: 1 })
    }
}
