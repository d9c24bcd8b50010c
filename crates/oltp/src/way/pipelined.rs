//! Operations statement by statement, in as few round trips as their answers allow: one statement for many rows, two
//! statements in a block where neither needs the answer of the other, and the commit with the last one.

use super::shared::{Shared, note};
use super::{Outcome, Way, found, now};
use crate::input::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use crate::scale::DISTRICTS;
use arrow::array::*;
use firearrow::{
    BatchExt, Connection, Decimal, Error, OnFailure, Result, Row, RowsExecuted, Statement, Timestamp,
    Transaction, TransactionOptions, params,
};
use std::sync::Arc;

pub(super) struct Pipelined {
    shared: Shared,
    terms: Statement,
    insert_order: Statement,
    pay: Statement,
    take_oldest: Statement,
    low_stock: Statement,
}

const INSERT_ORDER: &str =
    "EXECUTE BLOCK (O INTEGER = ?, D INTEGER = ?, W INTEGER = ?, C INTEGER = ?, T TIMESTAMP = ?,
        N SMALLINT = ?, L SMALLINT = ?) AS BEGIN
    INSERT INTO ORDERS VALUES (:O, :D, :W, :C, :T, NULL, :N, :L);
    INSERT INTO NEW_ORDER VALUES (:O, :D, :W);
END";
const PAY: &str = "EXECUTE BLOCK (A NUMERIC(6,2) = ?, W INTEGER = ?, D INTEGER = ?)
    RETURNS (W_NAME VARCHAR(10) CHARACTER SET ASCII, D_NAME VARCHAR(10) CHARACTER SET ASCII) AS BEGIN
    UPDATE WAREHOUSE SET W_YTD = W_YTD + :A WHERE W_ID = :W RETURNING W_NAME INTO W_NAME;
    UPDATE DISTRICT SET D_YTD = D_YTD + :A WHERE D_W_ID = :W AND D_ID = :D RETURNING D_NAME INTO D_NAME;
    SUSPEND;
END";
const LOW_STOCK: &str = "SELECT COUNT(DISTINCT S.S_I_ID)
    FROM DISTRICT D
    JOIN ORDER_LINE OL ON OL.OL_W_ID = D.D_W_ID AND OL.OL_D_ID = D.D_ID
      AND OL.OL_O_ID < D.D_NEXT_O_ID AND OL.OL_O_ID >= D.D_NEXT_O_ID - 20
    JOIN STOCK S ON S.S_W_ID = OL.OL_W_ID AND S.S_I_ID = OL.OL_I_ID
    WHERE D.D_W_ID = ? AND D.D_ID = ? AND S.S_QUANTITY < ?";

impl Pipelined {
    pub(super) fn prepare(connection: Connection, options: TransactionOptions) -> Result<Self> {
        let transaction = connection.begin(options)?;
        let prepare = |sql: &str| transaction.prepare(sql);
        let prepared = Self {
            shared: Shared::prepare(connection, options, &transaction)?,
            terms: prepare(
                "SELECT W_TAX, C_DISCOUNT, C_LAST, C_CREDIT FROM WAREHOUSE JOIN CUSTOMER ON C_W_ID = W_ID
                 WHERE W_ID = ? AND C_D_ID = ? AND C_ID = ?",
            )?,
            insert_order: prepare(INSERT_ORDER)?,
            pay: prepare(PAY)?,
            take_oldest: prepare(
                "DELETE FROM NEW_ORDER WHERE NO_W_ID = ? AND NO_D_ID = ? ORDER BY NO_W_ID, NO_D_ID, NO_O_ID ROWS 1
                 RETURNING NO_D_ID, NO_O_ID",
            )?,
            low_stock: prepare(LOW_STOCK)?,
        };
        transaction.commit()?;
        Ok(prepared)
    }
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn times(at: Timestamp, count: usize) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from_iter_values(std::iter::repeat_n(at.unix_micros(), count)))
}

/// Amounts with two digits after the point.
fn amounts(values: impl IntoIterator<Item = i128>) -> ArrayRef {
    let array = Decimal128Array::from_iter_values(values);
    Arc::new(array.with_precision_and_scale(18, 2).expect("a scale below 18"))
}

fn batch(columns: impl IntoIterator<Item = ArrayRef>) -> RecordBatch {
    let columns = columns.into_iter().enumerate().map(|(at, column)| (at.to_string(), column, true));
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
}

/// Executes a statement for many rows, and takes something of each row that it returns.
fn each<T>(
    statement: &Statement,
    transaction: &Transaction,
    rows: &RecordBatch,
    read: impl Fn(Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut cursor = statement.query_rows(transaction, rows, OnFailure::Stop)?;
    let mut all = Vec::with_capacity(rows.num_rows());
    while let Some(batch) = cursor.next_batch()? {
        for row in batch.rows() {
            all.push(read(row)?);
        }
    }
    succeeded(cursor.close()?)?;
    Ok(all)
}

fn write(statement: &Statement, transaction: &mut Transaction, rows: &RecordBatch) -> Result<()> {
    succeeded(statement.execute_rows(transaction, rows, OnFailure::Stop)?)
}

fn succeeded(mut done: RowsExecuted) -> Result<()> {
    if done.failures.is_empty() { Ok(()) } else { Err(done.failures.remove(0).error) }
}

/// Each row of parameters must have returned one.
fn whole<T>(rows: Vec<T>, count: usize, what: &str) -> Result<Vec<T>> {
    match rows.len() == count {
        true => Ok(rows),
        false => Err(Error::other(format!("{} rows for {count}: {what}", rows.len()))),
    }
}

impl Way for Pipelined {
    fn has_lost_connection(&self) -> bool {
        self.shared.has_lost_connection()
    }

    fn new_order(&mut self, input: &NewOrder) -> super::Result<Outcome> {
        let &NewOrder { warehouse, district, customer, ref lines } = input;
        let count = lines.len();
        let mut transaction = self.shared.begin()?;
        let order = self
            .shared
            .next_order
            .one_row(&transaction, params![warehouse, district], |row| row.get::<i32>(0))?;
        let order = found(order, "the district")?;
        let terms = params![warehouse, district, customer];
        let discount = self.terms.one_row(&transaction, terms, |row| row.get::<Decimal>(1))?;
        found(discount, "the customer")?;
        let items = ints(lines.iter().map(|line| line.item));
        let prices = each(&self.shared.price, &transaction, &batch([Arc::clone(&items)]), |row| {
            row.get::<Decimal>(0)
        })?;
        if prices.len() < count {
            transaction.rollback()?;
            return Ok(Outcome::Refused);
        }
        let quantities = ints(lines.iter().map(|line| line.quantity.into()));
        let suppliers = ints(lines.iter().map(|line| line.supplier));
        let always = |value: i32| ints(std::iter::repeat_n(value, count));
        let taken = batch([
            Arc::clone(&quantities),
            Arc::clone(&quantities),
            Arc::clone(&quantities),
            ints(lines.iter().map(|line| i32::from(line.supplier != warehouse))),
            Arc::clone(&suppliers),
            Arc::clone(&items),
            always(district),
        ]);
        let infos = each(&self.shared.take_stock, &transaction, &taken, |row| row.get::<String>(0))?;
        let infos = whole(infos, count, "the stock of an item is missing")?;
        let costs = prices.iter().zip(lines).map(|(price, line)| price.unscaled * i128::from(line.quantity));
        let rows = batch([
            always(order),
            always(district),
            always(warehouse),
            ints(1..=count as i32),
            items,
            suppliers,
            quantities,
            amounts(costs),
            Arc::new(StringArray::from_iter_values(infos)),
        ]);
        write(&self.shared.insert_line, &mut transaction, &rows)?;
        let all_local = i32::from(lines.iter().all(|line| line.supplier == warehouse));
        let row = params![order, district, warehouse, customer, now(), count as i32, all_local];
        self.insert_order.execute_last(transaction, row)?;
        Ok(Outcome::Ordered { order, lines: count as u64 })
    }

    fn payment(&mut self, input: &Payment) -> super::Result<Outcome> {
        let (warehouse, district) = input.from;
        let amount = Decimal::new(input.cents.into(), 2);
        let transaction = self.shared.begin()?;
        let paid = params![amount, input.warehouse, input.district];
        let names = |row: Row<'_>| Ok((row.get::<String>(0)?, row.get::<String>(1)?));
        let (at, of) = found(self.pay.one_row(&transaction, paid, names)?, "the district")?;
        let customer = self.shared.customer(&transaction, warehouse, district, &input.customer)?;
        let paid = params![amount, amount, note(input, customer, amount), warehouse, district, customer];
        let balance = self.shared.pay_customer.one_row(&transaction, paid, |row| row.get::<Decimal>(0))?;
        found(balance, "the customer")?;
        let text = format!("{at}    {of}");
        let row =
            params![customer, district, warehouse, input.district, input.warehouse, now(), amount, text];
        self.shared.insert_history.execute_last(transaction, row)?;
        Ok(Outcome::Paid { cents: input.cents })
    }

    fn order_status(&mut self, input: &OrderStatus) -> super::Result<Outcome> {
        let &OrderStatus { warehouse, district, ref customer } = input;
        let transaction = self.shared.begin()?;
        let customer = self.shared.customer(&transaction, warehouse, district, customer)?;
        let order =
            self.shared
                .last_order
                .one_row(&transaction, params![warehouse, district, customer], |row| row.get::<i32>(0))?;
        let order = found(order, "an order of the customer")?;
        let mut cursor =
            self.shared.lines.query(&transaction, params![warehouse, district, order])?.owning(transaction);
        let mut rows = 0;
        while let Some(batch) = cursor.next_batch()? {
            rows += batch.num_rows() as u64;
        }
        cursor.close_and_commit()?;
        Ok(Outcome::Read { rows })
    }

    fn delivery(&mut self, input: &Delivery) -> super::Result<Outcome> {
        let warehouse = input.warehouse;
        let mut transaction = self.shared.begin()?;
        let every = |value: i32, count: usize| ints(std::iter::repeat_n(value, count));
        let places = batch([every(warehouse, DISTRICTS as usize), ints(1..=DISTRICTS.cast_signed())]);
        // Firebird 3 and 4 return a row of NULLs where there was none to delete.
        let taken = each(&self.take_oldest, &transaction, &places, |row| {
            Ok(row.get::<Option<i32>>(0)?.zip(row.get::<Option<i32>>(1)?))
        })?;
        let taken: Vec<(i32, i32)> = taken.into_iter().flatten().collect();
        let count = taken.len();
        if count > 0 {
            let warehouses = every(warehouse, count);
            let districts = ints(taken.iter().map(|(district, _)| *district));
            let orders = ints(taken.iter().map(|(_, order)| *order));
            let keys = || [Arc::clone(&warehouses), Arc::clone(&districts), Arc::clone(&orders)];
            let carried = batch([every(input.carrier.into(), count)].into_iter().chain(keys()));
            let customers = each(&self.shared.set_carrier, &transaction, &carried, |row| row.get::<i32>(0))?;
            let customers = whole(customers, count, "an order is missing")?;
            let delivered = batch([times(now(), count)].into_iter().chain(keys()));
            write(&self.shared.deliver_lines, &mut transaction, &delivered)?;
            let sums =
                each(&self.shared.sum_lines, &transaction, &batch(keys()), |row| row.get::<Decimal>(0))?;
            let sums = whole(sums, count, "the lines of an order are missing")?;
            let sums = amounts(sums.iter().map(|sum| sum.unscaled));
            write(
                &self.shared.credit,
                &mut transaction,
                &batch([sums, warehouses, districts, ints(customers)]),
            )?;
        }
        transaction.commit()?;
        Ok(Outcome::Delivered { orders: count as u64 })
    }

    fn stock_level(&mut self, input: &StockLevel) -> super::Result<Outcome> {
        let transaction = self.shared.begin()?;
        let asked = params![input.warehouse, input.district, input.threshold];
        let low = self.low_stock.one_row(&transaction, asked, |row| row.get::<i64>(0))?;
        found(low, "the count of items that are short")?;
        transaction.commit()?;
        Ok(Outcome::Read { rows: 1 })
    }
}
