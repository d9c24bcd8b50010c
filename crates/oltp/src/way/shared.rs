//! What both ways of executing statement by statement share: the statements that are the same, and the search for a
//! customer.

use super::found;
use crate::input::{Customer, Payment};
use firearrow::{
    BatchExt, Connection, Decimal, Params, Result, Statement, Transaction, TransactionOptions, params,
};

pub(super) struct Shared<'a> {
    connection: &'a Connection,
    options: TransactionOptions,
    pub(super) next_order: Statement,
    pub(super) price: Statement,
    pub(super) take_stock: Statement,
    pub(super) insert_line: Statement,
    pub(super) pay_customer: Statement,
    pub(super) insert_history: Statement,
    customers_named: Statement,
    pub(super) last_order: Statement,
    pub(super) lines: Statement,
    pub(super) set_carrier: Statement,
    pub(super) deliver_lines: Statement,
    pub(super) sum_lines: Statement,
    pub(super) credit: Statement,
}

const NEXT_ORDER: &str = "UPDATE DISTRICT SET D_NEXT_O_ID = D_NEXT_O_ID + 1 WHERE D_W_ID = ? AND D_ID = ?
    RETURNING OLD.D_NEXT_O_ID, D_TAX";
/// Quantity (three times), warehouse and item, district.
const TAKE_STOCK: &str = "UPDATE STOCK SET
        S_QUANTITY = IIF(S_QUANTITY >= CAST(? AS INTEGER) + 10, S_QUANTITY, S_QUANTITY + 91) - CAST(? AS INTEGER),
        S_YTD = S_YTD + CAST(? AS INTEGER), S_ORDER_CNT = S_ORDER_CNT + 1, S_REMOTE_CNT = S_REMOTE_CNT + CAST(? AS INTEGER)
    WHERE S_W_ID = ? AND S_I_ID = ?
    RETURNING CASE CAST(? AS INTEGER) WHEN 1 THEN S_DIST_01 WHEN 2 THEN S_DIST_02 WHEN 3 THEN S_DIST_03
        WHEN 4 THEN S_DIST_04 WHEN 5 THEN S_DIST_05 WHEN 6 THEN S_DIST_06 WHEN 7 THEN S_DIST_07 WHEN 8 THEN S_DIST_08
        WHEN 9 THEN S_DIST_09 ELSE S_DIST_10 END";
const INSERT_LINE: &str = "INSERT INTO ORDER_LINE VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)";
const PAY_CUSTOMER: &str = "UPDATE CUSTOMER SET C_BALANCE = C_BALANCE - CAST(? AS NUMERIC(6,2)),
        C_YTD_PAYMENT = C_YTD_PAYMENT + CAST(? AS NUMERIC(6,2)), C_PAYMENT_CNT = C_PAYMENT_CNT + 1,
        C_DATA = IIF(C_CREDIT = 'BC', LEFT(CAST(? AS VARCHAR(100)) || C_DATA, 500), C_DATA)
    WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ? RETURNING NEW.C_BALANCE";
const CUSTOMERS_NAMED: &str =
    "SELECT C_ID FROM CUSTOMER WHERE C_W_ID = ? AND C_D_ID = ? AND C_LAST = ? ORDER BY C_FIRST";
const LAST_ORDER: &str = "SELECT FIRST 1 O_ID, O_ENTRY_D, O_CARRIER_ID FROM ORDERS
    WHERE O_W_ID = ? AND O_D_ID = ? AND O_C_ID = ? ORDER BY O_W_ID DESC, O_D_ID DESC, O_C_ID DESC, O_ID DESC";
const LINES: &str = "SELECT OL_I_ID, OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT, OL_DELIVERY_D FROM ORDER_LINE
    WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID = ?";

impl<'a> Shared<'a> {
    pub(super) fn prepare(
        connection: &'a Connection,
        options: TransactionOptions,
        transaction: &Transaction,
    ) -> Result<Self> {
        let prepare = |sql: &str| transaction.prepare(sql);
        Ok(Self {
            connection,
            options,
            next_order: prepare(NEXT_ORDER)?,
            price: prepare("SELECT I_PRICE FROM ITEM WHERE I_ID = ?")?,
            take_stock: prepare(TAKE_STOCK)?,
            insert_line: prepare(INSERT_LINE)?,
            pay_customer: prepare(PAY_CUSTOMER)?,
            insert_history: prepare("INSERT INTO HISTORY VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?,
            customers_named: prepare(CUSTOMERS_NAMED)?,
            last_order: prepare(LAST_ORDER)?,
            lines: prepare(LINES)?,
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
        })
    }

    pub(super) fn begin(&self) -> Result<Transaction> {
        self.connection.begin_lazy(self.options)
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
