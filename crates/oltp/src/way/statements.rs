//! Operations statement by statement, each with a round trip of its own.

use super::{Outcome, Way, found, now};
use crate::input::{Customer, Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use crate::scale::DISTRICTS;
use firearrow::{Connection, Decimal, Result, Statement, Transaction, TransactionOptions, params};

pub(super) struct Statements<'a> {
    connection: &'a Connection,
    options: TransactionOptions,
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
    customers_named: Statement,
    last_order: Statement,
    lines: Statement,
    oldest_open: Statement,
    delete_open: Statement,
    set_carrier: Statement,
    deliver_lines: Statement,
    sum_lines: Statement,
    credit: Statement,
    district_next: Statement,
    low_stock: Statement,
}

pub(super) const NEXT_ORDER: &str =
    "UPDATE DISTRICT SET D_NEXT_O_ID = D_NEXT_O_ID + 1 WHERE D_W_ID = ? AND D_ID = ?
    RETURNING OLD.D_NEXT_O_ID, D_TAX";
/// Quantity (three times), warehouse and item, district.
pub(super) const TAKE_STOCK: &str = "UPDATE STOCK SET
        S_QUANTITY = IIF(S_QUANTITY >= CAST(? AS INTEGER) + 10, S_QUANTITY, S_QUANTITY + 91) - CAST(? AS INTEGER),
        S_YTD = S_YTD + CAST(? AS INTEGER), S_ORDER_CNT = S_ORDER_CNT + 1, S_REMOTE_CNT = S_REMOTE_CNT + CAST(? AS INTEGER)
    WHERE S_W_ID = ? AND S_I_ID = ?
    RETURNING CASE CAST(? AS INTEGER) WHEN 1 THEN S_DIST_01 WHEN 2 THEN S_DIST_02 WHEN 3 THEN S_DIST_03
        WHEN 4 THEN S_DIST_04 WHEN 5 THEN S_DIST_05 WHEN 6 THEN S_DIST_06 WHEN 7 THEN S_DIST_07 WHEN 8 THEN S_DIST_08
        WHEN 9 THEN S_DIST_09 ELSE S_DIST_10 END";
pub(super) const INSERT_LINE: &str = "INSERT INTO ORDER_LINE VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)";
const PAY_CUSTOMER: &str = "UPDATE CUSTOMER SET C_BALANCE = C_BALANCE - CAST(? AS NUMERIC(6,2)),
        C_YTD_PAYMENT = C_YTD_PAYMENT + CAST(? AS NUMERIC(6,2)), C_PAYMENT_CNT = C_PAYMENT_CNT + 1,
        C_DATA = IIF(C_CREDIT = 'BC', LEFT(CAST(? AS VARCHAR(100)) || C_DATA, 500), C_DATA)
    WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ? RETURNING NEW.C_BALANCE";
pub(super) const CUSTOMERS_NAMED: &str =
    "SELECT C_ID FROM CUSTOMER WHERE C_W_ID = ? AND C_D_ID = ? AND C_LAST = ? ORDER BY C_FIRST";
pub(super) const LAST_ORDER: &str = "SELECT FIRST 1 O_ID, O_ENTRY_D, O_CARRIER_ID FROM ORDERS
    WHERE O_W_ID = ? AND O_D_ID = ? AND O_C_ID = ? ORDER BY O_W_ID DESC, O_D_ID DESC, O_C_ID DESC, O_ID DESC";
pub(super) const LINES: &str =
    "SELECT OL_I_ID, OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT, OL_DELIVERY_D FROM ORDER_LINE
    WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID = ?";
pub(super) const LOW_STOCK: &str = "SELECT COUNT(DISTINCT S.S_I_ID)
    FROM ORDER_LINE OL JOIN STOCK S ON S.S_W_ID = OL.OL_W_ID AND S.S_I_ID = OL.OL_I_ID
    WHERE OL.OL_W_ID = ? AND OL.OL_D_ID = ? AND OL.OL_O_ID < ? AND OL.OL_O_ID >= ? AND S.S_QUANTITY < ?";

impl<'a> Statements<'a> {
    pub(super) fn prepare(connection: &'a Connection, options: TransactionOptions) -> Result<Self> {
        let transaction = connection.begin(options)?;
        let prepare = |sql: &str| transaction.prepare(sql);
        let prepared = Self {
            connection,
            options,
            warehouse_tax: prepare("SELECT W_TAX FROM WAREHOUSE WHERE W_ID = ?")?,
            next_order: prepare(NEXT_ORDER)?,
            customer_terms: prepare(
                "SELECT C_DISCOUNT, C_LAST, C_CREDIT FROM CUSTOMER WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?",
            )?,
            insert_order: prepare("INSERT INTO ORDERS VALUES (?, ?, ?, ?, ?, NULL, ?, ?)")?,
            insert_open: prepare("INSERT INTO NEW_ORDER VALUES (?, ?, ?)")?,
            price: prepare("SELECT I_PRICE FROM ITEM WHERE I_ID = ?")?,
            take_stock: prepare(TAKE_STOCK)?,
            insert_line: prepare(INSERT_LINE)?,
            pay_warehouse: prepare(
                "UPDATE WAREHOUSE SET W_YTD = W_YTD + CAST(? AS NUMERIC(6,2)) WHERE W_ID = ? RETURNING W_NAME",
            )?,
            pay_district: prepare(
                "UPDATE DISTRICT SET D_YTD = D_YTD + CAST(? AS NUMERIC(6,2)) WHERE D_W_ID = ? AND D_ID = ? RETURNING D_NAME",
            )?,
            pay_customer: prepare(PAY_CUSTOMER)?,
            insert_history: prepare("INSERT INTO HISTORY VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?,
            customers_named: prepare(CUSTOMERS_NAMED)?,
            last_order: prepare(LAST_ORDER)?,
            lines: prepare(LINES)?,
            oldest_open: prepare(
                "SELECT FIRST 1 NO_O_ID FROM NEW_ORDER WHERE NO_W_ID = ? AND NO_D_ID = ? ORDER BY NO_W_ID, NO_D_ID, NO_O_ID",
            )?,
            delete_open: prepare("DELETE FROM NEW_ORDER WHERE NO_W_ID = ? AND NO_D_ID = ? AND NO_O_ID = ?")?,
            set_carrier: prepare(
                "UPDATE ORDERS SET O_CARRIER_ID = ? WHERE O_W_ID = ? AND O_D_ID = ? AND O_ID = ? RETURNING O_C_ID",
            )?,
            deliver_lines: prepare(
                "UPDATE ORDER_LINE SET OL_DELIVERY_D = ? WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID = ?",
            )?,
            sum_lines: prepare(
                "SELECT SUM(OL_AMOUNT) FROM ORDER_LINE WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID = ?",
            )?,
            credit: prepare(
                "UPDATE CUSTOMER SET C_BALANCE = C_BALANCE + CAST(? AS NUMERIC(14,2)), C_DELIVERY_CNT = C_DELIVERY_CNT + 1
                 WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?",
            )?,
            district_next: prepare("SELECT D_NEXT_O_ID FROM DISTRICT WHERE D_W_ID = ? AND D_ID = ?")?,
            low_stock: prepare(LOW_STOCK)?,
        };
        transaction.commit()?;
        Ok(prepared)
    }

    fn begin(&self) -> Result<Transaction> {
        self.connection.begin_lazy(self.options)
    }

    /// A customer's number: that of the middle one of a name, rounded up.
    fn customer(
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
    parameters: firearrow::Params,
) -> Result<Vec<i32>> {
    use firearrow::BatchExt;
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

/// What a bad customer's data get in front of them.
pub(super) fn note(input: &Payment, customer: i32, amount: Decimal) -> String {
    let (warehouse, district) = input.from;
    format!("{customer} {district} {warehouse} {} {} {amount} | ", input.district, input.warehouse)
}

impl Way for Statements<'_> {
    fn new_order(&mut self, input: &NewOrder) -> Result<Outcome> {
        let &NewOrder { warehouse, district, customer, ref lines } = input;
        let mut transaction = self.begin()?;
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
        Ok(Outcome::Ordered { lines: lines.len() as u64 })
    }

    fn payment(&mut self, input: &Payment) -> Result<Outcome> {
        let (warehouse, district) = input.from;
        let amount = Decimal::new(input.cents.into(), 2);
        let mut transaction = self.begin()?;
        let paid = params![amount, input.warehouse];
        let at = self.pay_warehouse.one_row(&transaction, paid, |row| row.get::<String>(0))?;
        let paid = params![amount, input.warehouse, input.district];
        let of = self.pay_district.one_row(&transaction, paid, |row| row.get::<String>(0))?;
        let customer = self.customer(&transaction, warehouse, district, &input.customer)?;
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
        let transaction = self.begin()?;
        let customer = self.customer(&transaction, warehouse, district, customer)?;
        let order = self
            .last_order
            .one_row(&transaction, params![warehouse, district, customer], |row| row.get::<i32>(0))?;
        let order = found(order, "an order of the customer")?;
        let rows = numbers(&self.lines, &transaction, params![warehouse, district, order])?.len() as u64;
        transaction.commit()?;
        Ok(Outcome::Read { rows })
    }

    fn delivery(&mut self, input: &Delivery) -> Result<Outcome> {
        let warehouse = input.warehouse;
        let at = now();
        let mut transaction = self.begin()?;
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
            self.credit.execute(&mut transaction, params![amount, warehouse, district, customer])?;
            orders += 1;
        }
        transaction.commit()?;
        Ok(Outcome::Delivered { orders })
    }

    fn stock_level(&mut self, input: &StockLevel) -> Result<Outcome> {
        let &StockLevel { warehouse, district, threshold } = input;
        let transaction = self.begin()?;
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

#[cfg(test)]
mod tests {
    use super::middle;

    #[test]
    fn the_middle_is_rounded_up() {
        assert_eq!(middle(&[]), None);
        assert_eq!([middle(&[7]), middle(&[7, 8]), middle(&[7, 8, 9])], [Some(7), Some(7), Some(8)]);
    }
}
