//! The statements that clients execute: one by one, each for one row, and the calls of procedures.

/// Takes the number of a new order.
pub const NEXT_ORDER: &str = "UPDATE DISTRICT SET D_NEXT_O_ID = D_NEXT_O_ID + 1 WHERE D_W_ID = ? AND D_ID = ?
    RETURNING OLD.D_NEXT_O_ID, D_TAX";
/// Takes from the stock: quantity (three times), whether it is remote, warehouse and item, district.
pub const TAKE_STOCK: &str = "UPDATE STOCK SET
        S_QUANTITY = IIF(S_QUANTITY >= CAST(? AS INTEGER) + 10, S_QUANTITY, S_QUANTITY + 91) - CAST(? AS INTEGER),
        S_YTD = S_YTD + CAST(? AS INTEGER), S_ORDER_CNT = S_ORDER_CNT + 1, S_REMOTE_CNT = S_REMOTE_CNT + CAST(? AS INTEGER)
    WHERE S_W_ID = ? AND S_I_ID = ?
    RETURNING CASE CAST(? AS INTEGER) WHEN 1 THEN S_DIST_01 WHEN 2 THEN S_DIST_02 WHEN 3 THEN S_DIST_03
        WHEN 4 THEN S_DIST_04 WHEN 5 THEN S_DIST_05 WHEN 6 THEN S_DIST_06 WHEN 7 THEN S_DIST_07 WHEN 8 THEN S_DIST_08
        WHEN 9 THEN S_DIST_09 ELSE S_DIST_10 END";
/// A line of an order.
pub const INSERT_LINE: &str = "INSERT INTO ORDER_LINE VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)";
/// A customer's part of a payment.
pub const PAY_CUSTOMER: &str = "UPDATE CUSTOMER SET C_BALANCE = C_BALANCE - CAST(? AS NUMERIC(6,2)),
        C_YTD_PAYMENT = C_YTD_PAYMENT + CAST(? AS NUMERIC(6,2)), C_PAYMENT_CNT = C_PAYMENT_CNT + 1,
        C_DATA = IIF(C_CREDIT = 'BC', LEFT(CAST(? AS VARCHAR(100)) || C_DATA, 500), C_DATA)
    WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ? RETURNING NEW.C_BALANCE";
/// Customers of a last name, by first name.
pub const CUSTOMERS_NAMED: &str =
    "SELECT C_ID FROM CUSTOMER WHERE C_W_ID = ? AND C_D_ID = ? AND C_LAST = ? ORDER BY C_FIRST";
/// A customer's last order.
pub const LAST_ORDER: &str = "SELECT FIRST 1 O_ID, O_ENTRY_D, O_CARRIER_ID FROM ORDERS
    WHERE O_W_ID = ? AND O_D_ID = ? AND O_C_ID = ? ORDER BY O_W_ID DESC, O_D_ID DESC, O_C_ID DESC, O_ID DESC";
/// The lines of an order.
pub const LINES: &str =
    "SELECT OL_I_ID, OL_SUPPLY_W_ID, OL_QUANTITY, OL_AMOUNT, OL_DELIVERY_D FROM ORDER_LINE
    WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID = ?";
/// How many of the items ordered last are short.
pub const LOW_STOCK: &str = "SELECT COUNT(DISTINCT S.S_I_ID)
    FROM ORDER_LINE OL JOIN STOCK S ON S.S_W_ID = OL.OL_W_ID AND S.S_I_ID = OL.OL_I_ID
    WHERE OL.OL_W_ID = ? AND OL.OL_D_ID = ? AND OL.OL_O_ID < ? AND OL.OL_O_ID >= ? AND S.S_QUANTITY < ?";
/// The price of an item.
pub const PRICE: &str = "SELECT I_PRICE FROM ITEM WHERE I_ID = ?";
/// A payment.
pub const INSERT_HISTORY: &str = "INSERT INTO HISTORY VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
/// An order goes to a carrier.
pub const SET_CARRIER: &str =
    "UPDATE ORDERS SET O_CARRIER_ID = ? WHERE O_W_ID = ? AND O_D_ID = ? AND O_ID = ? RETURNING O_C_ID";
/// The lines of an order are delivered.
pub const DELIVER_LINES: &str =
    "UPDATE ORDER_LINE SET OL_DELIVERY_D = ? WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID = ?";
/// What an order costs.
pub const SUM_LINES: &str =
    "SELECT SUM(OL_AMOUNT) FROM ORDER_LINE WHERE OL_W_ID = ? AND OL_D_ID = ? AND OL_O_ID = ?";
/// A delivered order is added to what the customer owes.
pub const CREDIT: &str = "UPDATE CUSTOMER SET C_BALANCE = C_BALANCE + CAST(? AS NUMERIC(14,2)), C_DELIVERY_CNT = C_DELIVERY_CNT + 1
                 WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?";
/// The tax of a warehouse.
pub const WAREHOUSE_TAX: &str = "SELECT W_TAX FROM WAREHOUSE WHERE W_ID = ?";
/// What a customer gets.
pub const CUSTOMER_TERMS: &str =
    "SELECT C_DISCOUNT, C_LAST, C_CREDIT FROM CUSTOMER WHERE C_W_ID = ? AND C_D_ID = ? AND C_ID = ?";
/// An order.
pub const INSERT_ORDER: &str = "INSERT INTO ORDERS VALUES (?, ?, ?, ?, ?, NULL, ?, ?)";
/// An order that is not delivered yet.
pub const INSERT_OPEN: &str = "INSERT INTO NEW_ORDER VALUES (?, ?, ?)";
/// A warehouse's part of a payment.
pub const PAY_WAREHOUSE: &str =
    "UPDATE WAREHOUSE SET W_YTD = W_YTD + CAST(? AS NUMERIC(6,2)) WHERE W_ID = ? RETURNING W_NAME";
/// A district's part of a payment.
pub const PAY_DISTRICT: &str = "UPDATE DISTRICT SET D_YTD = D_YTD + CAST(? AS NUMERIC(6,2)) WHERE D_W_ID = ? AND D_ID = ? RETURNING D_NAME";
/// The oldest order of a district that is not delivered.
pub const OLDEST_OPEN: &str = "SELECT FIRST 1 NO_O_ID FROM NEW_ORDER WHERE NO_W_ID = ? AND NO_D_ID = ? ORDER BY NO_W_ID, NO_D_ID, NO_O_ID";
/// An order is delivered.
pub const DELETE_OPEN: &str = "DELETE FROM NEW_ORDER WHERE NO_W_ID = ? AND NO_D_ID = ? AND NO_O_ID = ?";
/// The number of the next order.
pub const DISTRICT_NEXT: &str = "SELECT D_NEXT_O_ID FROM DISTRICT WHERE D_W_ID = ? AND D_ID = ?";
/// A new order, by its procedure.
pub const CALL_NEW_ORDER: &str = "SELECT STATUS, O_ID FROM TX_NEW_ORDER(?, ?, ?, ?, ?, ?)";
/// A payment, by its procedure.
pub const CALL_PAYMENT: &str = "SELECT C_ID FROM TX_PAYMENT(?, ?, ?, ?, ?, ?, ?, ?)";
/// What a customer ordered last, by its procedure.
pub const CALL_ORDER_STATUS: &str = "SELECT * FROM TX_ORDER_STATUS(?, ?, ?, ?)";
/// Open orders are delivered, by their procedure.
pub const CALL_DELIVERY: &str = "SELECT DELIVERED FROM TX_DELIVERY(?, ?, ?)";
/// How many items are short, by its procedure.
pub const CALL_STOCK_LEVEL: &str = "SELECT LOW_STOCK FROM TX_STOCK_LEVEL(?, ?, ?)";

/// What is executed one by one, with names.
pub const STATEMENTS: [(&str, &str); 23] = [
    ("next_order", NEXT_ORDER),
    ("take_stock", TAKE_STOCK),
    ("insert_line", INSERT_LINE),
    ("pay_customer", PAY_CUSTOMER),
    ("customers_named", CUSTOMERS_NAMED),
    ("last_order", LAST_ORDER),
    ("lines", LINES),
    ("low_stock", LOW_STOCK),
    ("price", PRICE),
    ("insert_history", INSERT_HISTORY),
    ("set_carrier", SET_CARRIER),
    ("deliver_lines", DELIVER_LINES),
    ("sum_lines", SUM_LINES),
    ("credit", CREDIT),
    ("warehouse_tax", WAREHOUSE_TAX),
    ("customer_terms", CUSTOMER_TERMS),
    ("insert_order", INSERT_ORDER),
    ("insert_open", INSERT_OPEN),
    ("pay_warehouse", PAY_WAREHOUSE),
    ("pay_district", PAY_DISTRICT),
    ("oldest_open", OLDEST_OPEN),
    ("delete_open", DELETE_OPEN),
    ("district_next", DISTRICT_NEXT),
];

/// The calls of procedures, named by their operations.
pub const CALLS: [(&str, &str); 5] = [
    ("new_order", CALL_NEW_ORDER),
    ("payment", CALL_PAYMENT),
    ("order_status", CALL_ORDER_STATUS),
    ("delivery", CALL_DELIVERY),
    ("stock_level", CALL_STOCK_LEVEL),
];
