//! Operations in as few round trips as their answers allow: one statement for many rows, and one block for statements between
//! which the client has nothing to work out. The commit waits for the last of them: one that is sent along would keep the
//! changes before a statement that fails.

use super::shared::{Shared, middle, note};
use super::{Outcome, Way, found, now, parts};
use crate::input::{Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use crate::scale::DISTRICTS;
use arrow::array::*;
use firearrow::{
    BatchExt, Connection, Decimal, Error, OnFailure, Params, Result, Row, RowsExecuted, Scalar, Statement,
    Timestamp, ToParam, Transaction, TransactionOptions, params,
};
use std::sync::Arc;

pub(super) struct Pipelined {
    shared: Shared,
    take_order: Statement,
    insert_order: Statement,
    pay: Statement,
    pay_customer: Statement,
    take_oldest: Statement,
    deliver: Statement,
    low_stock: Statement,
}

/// Most lines of an order.
const MOST_LINES: usize = 15;
/// Parameters of [`take_order`] for the order, and for each line.
const TAKEN: (usize, usize) = (3, 3);
/// Parameters of [`insert_order`].
const INSERTED: (usize, usize) = (7, 5);

/// Customers are all those of a name, or that of the number.
const PAY: &str = "EXECUTE BLOCK (A NUMERIC(6,2) = ?, W INTEGER = ?, D INTEGER = ?,
        C_W INTEGER = ?, C_D INTEGER = ?, C INTEGER = ?, NAME VARCHAR(16) CHARACTER SET ASCII = ?)
    RETURNS (W_NAME VARCHAR(10) CHARACTER SET ASCII, D_NAME VARCHAR(10) CHARACTER SET ASCII, C_ID INTEGER) AS BEGIN
    UPDATE WAREHOUSE SET W_YTD = W_YTD + :A WHERE W_ID = :W RETURNING W_NAME INTO W_NAME;
    UPDATE DISTRICT SET D_YTD = D_YTD + :A WHERE D_W_ID = :W AND D_ID = :D RETURNING D_NAME INTO D_NAME;
    C_ID = C;
    IF (NAME IS NULL) THEN SUSPEND;
    ELSE FOR SELECT C_ID FROM CUSTOMER WHERE C_W_ID = :C_W AND C_D_ID = :C_D AND C_LAST = :NAME ORDER BY C_FIRST
        INTO C_ID DO SUSPEND;
END";
const PAY_CUSTOMER: &str = "EXECUTE BLOCK (A NUMERIC(6,2) = ?, NOTE VARCHAR(100) CHARACTER SET ASCII = ?,
        C_W INTEGER = ?, C_D INTEGER = ?, C INTEGER = ?, W INTEGER = ?, D INTEGER = ?, T TIMESTAMP = ?,
        DATA VARCHAR(24) CHARACTER SET ASCII = ?)
    RETURNS (BALANCE NUMERIC(14,2)) AS BEGIN
    UPDATE CUSTOMER SET C_BALANCE = C_BALANCE - :A, C_YTD_PAYMENT = C_YTD_PAYMENT + :A,
        C_PAYMENT_CNT = C_PAYMENT_CNT + 1, C_DATA = IIF(C_CREDIT = 'BC', LEFT(:NOTE || C_DATA, 500), C_DATA)
    WHERE C_W_ID = :C_W AND C_D_ID = :C_D AND C_ID = :C RETURNING NEW.C_BALANCE INTO BALANCE;
    INSERT INTO HISTORY VALUES (:C, :C_D, :C_W, :D, :W, :T, :A, :DATA);
    SUSPEND;
END";
const DELIVER: &str = "EXECUTE BLOCK (CARRIER SMALLINT = ?, T TIMESTAMP = ?, W INTEGER = ?, D INTEGER = ?, O INTEGER = ?)
    RETURNS (C INTEGER, AMOUNT NUMERIC(14,2)) AS BEGIN
    UPDATE ORDERS SET O_CARRIER_ID = :CARRIER WHERE O_W_ID = :W AND O_D_ID = :D AND O_ID = :O RETURNING O_C_ID INTO C;
    UPDATE ORDER_LINE SET OL_DELIVERY_D = :T WHERE OL_W_ID = :W AND OL_D_ID = :D AND OL_O_ID = :O;
    SELECT SUM(OL_AMOUNT) FROM ORDER_LINE WHERE OL_W_ID = :W AND OL_D_ID = :D AND OL_O_ID = :O INTO AMOUNT;
    SUSPEND;
END";
const LOW_STOCK: &str = "SELECT COUNT(DISTINCT S.S_I_ID)
    FROM DISTRICT D
    JOIN ORDER_LINE OL ON OL.OL_W_ID = D.D_W_ID AND OL.OL_D_ID = D.D_ID
      AND OL.OL_O_ID < D.D_NEXT_O_ID AND OL.OL_O_ID >= D.D_NEXT_O_ID - 20
    JOIN STOCK S ON S.S_W_ID = OL.OL_W_ID AND S.S_I_ID = OL.OL_I_ID
    WHERE D.D_W_ID = ? AND D.D_ID = ? AND S.S_QUANTITY < ?";

/// Takes the number of a new order, and its items from the stock; returns a row for each line. Those that it does not
/// have are NULL, and so are the price and the text of an item that does not exist.
fn take_order() -> String {
    let (mut parameters, mut lines) = (String::new(), String::new());
    for at in 1..=MOST_LINES {
        parameters += &format!(", I{at} INTEGER = ?, S{at} INTEGER = ?, Q{at} INTEGER = ?");
        lines += &format!(
            "IF (I{at} IS NULL) THEN EXIT;
            PRICE = NULL; INFO = NULL;
            UPDATE STOCK SET
                S_QUANTITY = IIF(S_QUANTITY >= :Q{at} + 10, S_QUANTITY, S_QUANTITY + 91) - :Q{at},
                S_YTD = S_YTD + :Q{at}, S_ORDER_CNT = S_ORDER_CNT + 1,
                S_REMOTE_CNT = S_REMOTE_CNT + IIF(:S{at} = :W, 0, 1)
            WHERE S_W_ID = :S{at} AND S_I_ID = :I{at}
            RETURNING CASE :D WHEN 1 THEN S_DIST_01 WHEN 2 THEN S_DIST_02 WHEN 3 THEN S_DIST_03 WHEN 4 THEN S_DIST_04
                    WHEN 5 THEN S_DIST_05 WHEN 6 THEN S_DIST_06 WHEN 7 THEN S_DIST_07 WHEN 8 THEN S_DIST_08
                    WHEN 9 THEN S_DIST_09 ELSE S_DIST_10 END,
                (SELECT I_PRICE FROM ITEM WHERE I_ID = S_I_ID)
            INTO INFO, PRICE;
            SUSPEND;\n"
        );
    }
    format!(
        "EXECUTE BLOCK (W INTEGER = ?, D INTEGER = ?, C INTEGER = ?{parameters})
        RETURNS (O INTEGER, D_TAX NUMERIC(4,4), W_TAX NUMERIC(4,4), C_DISCOUNT NUMERIC(4,4),
            C_LAST VARCHAR(16) CHARACTER SET ASCII, C_CREDIT CHAR(2) CHARACTER SET ASCII,
            PRICE NUMERIC(5,2), INFO CHAR(24) CHARACTER SET ASCII) AS BEGIN
        UPDATE DISTRICT SET D_NEXT_O_ID = D_NEXT_O_ID + 1 WHERE D_W_ID = :W AND D_ID = :D
            RETURNING OLD.D_NEXT_O_ID, D_TAX INTO O, D_TAX;
        SELECT W_TAX, C_DISCOUNT, C_LAST, C_CREDIT FROM WAREHOUSE JOIN CUSTOMER ON C_W_ID = W_ID
            WHERE W_ID = :W AND C_D_ID = :D AND C_ID = :C INTO W_TAX, C_DISCOUNT, C_LAST, C_CREDIT;
        {lines}END"
    )
}

/// An order with all of its lines; those that it does not have are NULL.
fn insert_order() -> String {
    let (mut parameters, mut lines) = (String::new(), String::new());
    for at in 1..=MOST_LINES {
        parameters += &format!(
            ", I{at} INTEGER = ?, S{at} INTEGER = ?, Q{at} SMALLINT = ?, A{at} NUMERIC(6,2) = ?,
            X{at} CHAR(24) CHARACTER SET ASCII = ?"
        );
        lines += &format!(
            "IF (I{at} IS NULL) THEN EXIT;
            INSERT INTO ORDER_LINE VALUES (:O, :D, :W, {at}, :I{at}, :S{at}, NULL, :Q{at}, :A{at}, :X{at});\n"
        );
    }
    format!(
        "EXECUTE BLOCK (O INTEGER = ?, D INTEGER = ?, W INTEGER = ?, C INTEGER = ?, T TIMESTAMP = ?,
            N SMALLINT = ?, L SMALLINT = ?{parameters}) AS BEGIN
        INSERT INTO ORDERS VALUES (:O, :D, :W, :C, :T, NULL, :N, :L);
        INSERT INTO NEW_ORDER VALUES (:O, :D, :W);
        {lines}END"
    )
}

impl Pipelined {
    pub(super) fn prepare(connection: Connection, options: TransactionOptions) -> Result<Self> {
        let transaction = connection.begin(options)?;
        let prepare = |sql: &str| transaction.prepare(sql);
        let prepared = Self {
            shared: Shared::prepare(connection, options, &transaction)?,
            take_order: prepare(&take_order())?,
            insert_order: prepare(&insert_order())?,
            pay: prepare(PAY)?,
            pay_customer: prepare(PAY_CUSTOMER)?,
            take_oldest: prepare(
                "DELETE FROM NEW_ORDER WHERE NO_W_ID = ? AND NO_D_ID = ? ORDER BY NO_W_ID, NO_D_ID, NO_O_ID ROWS 1
                 RETURNING NO_D_ID, NO_O_ID",
            )?,
            deliver: prepare(DELIVER)?,
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

/// The parameters of a block of so many for the order and each line, filled up with NULL.
fn filled(mut values: Vec<Scalar>, (order, line): (usize, usize)) -> Params {
    values.resize_with(order + MOST_LINES * line, || None::<i32>.to_scalar());
    Params::values(values)
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

impl Way for Pipelined {
    fn has_lost_connection(&self) -> bool {
        self.shared.has_lost_connection()
    }

    fn new_order(&mut self, input: &NewOrder) -> super::Result<Outcome> {
        let &NewOrder { warehouse, district, customer, ref lines } = input;
        let count = lines.len();
        let mut transaction = self.shared.begin()?;
        let mut asked = vec![warehouse.to_scalar(), district.to_scalar(), customer.to_scalar()];
        for line in lines {
            let quantity = i32::from(line.quantity);
            asked.extend([line.item.to_scalar(), line.supplier.to_scalar(), quantity.to_scalar()]);
        }
        let mut cursor = self.take_order.query(&transaction, filled(asked, TAKEN))?;
        let (mut head, mut taken) = (None, Vec::with_capacity(count));
        while let Some(batch) = cursor.next_batch()? {
            for row in batch.rows() {
                head = Some((row.get::<Option<i32>>(0)?, row.get::<Option<Decimal>>(3)?));
                taken.extend(row.get::<Option<Decimal>>(6)?.zip(row.get::<Option<String>>(7)?));
            }
        }
        let (order, discount) = found(head, "the order")?;
        let order = found(order, "the district")?;
        found(discount, "the customer")?;
        if taken.len() < count {
            transaction.rollback()?;
            return Ok(Outcome::Refused);
        }
        let all_local = i32::from(lines.iter().all(|line| line.supplier == warehouse));
        let mut row: Vec<Scalar> = vec![
            order.to_scalar(),
            district.to_scalar(),
            warehouse.to_scalar(),
            customer.to_scalar(),
            now().to_scalar(),
            (count as i32).to_scalar(),
            all_local.to_scalar(),
        ];
        for (line, (price, info)) in lines.iter().zip(taken) {
            let cost = Decimal::new(price.unscaled * i128::from(line.quantity), price.scale);
            row.extend([line.item.to_scalar(), line.supplier.to_scalar()]);
            row.extend([i32::from(line.quantity).to_scalar(), cost.to_scalar(), info.to_scalar()]);
        }
        self.insert_order.execute(&mut transaction, filled(row, INSERTED))?;
        transaction.commit()?;
        Ok(Outcome::Ordered { order, lines: count as u64 })
    }

    fn payment(&mut self, input: &Payment) -> super::Result<Outcome> {
        let (warehouse, district) = input.from;
        let amount = Decimal::new(input.cents.into(), 2);
        let transaction = self.shared.begin()?;
        let (number, name) = parts(&input.customer);
        let paid = params![amount, input.warehouse, input.district, warehouse, district, number, name];
        let mut cursor = self.pay.query(&transaction, paid)?;
        let (mut names, mut customers) = (None, Vec::new());
        while let Some(batch) = cursor.next_batch()? {
            for row in batch.rows() {
                names = row.get::<Option<String>>(0)?.zip(row.get::<Option<String>>(1)?);
                customers.push(row.get::<i32>(2)?);
            }
        }
        let customer = found(middle(&customers), "a customer of this name")?;
        let (at, of) = found(names, "the district")?;
        let note = note(input, customer, amount);
        let text = format!("{at}    {of}");
        let paid = params![
            amount,
            note,
            warehouse,
            district,
            customer,
            input.warehouse,
            input.district,
            now(),
            text
        ];
        let read = |row: Row<'_>| row.get::<Option<Decimal>>(0);
        let balance = self.pay_customer.one_row(&transaction, paid, read)?;
        found(balance.flatten(), "the customer")?;
        transaction.commit()?;
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
            let carried = batch([
                every(input.carrier.into(), count),
                times(now(), count),
                Arc::clone(&warehouses),
                Arc::clone(&districts),
                orders,
            ]);
            let delivered = each(&self.deliver, &transaction, &carried, |row| {
                Ok(row.get::<Option<i32>>(0)?.zip(row.get::<Option<Decimal>>(1)?))
            })?;
            let delivered: Vec<(i32, Decimal)> = delivered.into_iter().flatten().collect();
            if delivered.len() < count {
                return Err(Error::other("an order or its lines are missing").into());
            }
            let sums = amounts(delivered.iter().map(|(_, amount)| amount.unscaled));
            let customers = ints(delivered.iter().map(|(customer, _)| *customer));
            write(&self.shared.credit, &mut transaction, &batch([sums, warehouses, districts, customers]))?;
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
