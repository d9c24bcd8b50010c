//! The database that sessions read, and the temporary tables that they write.

use arrow::array::{ArrayRef, Int32Array, ListArray, StringArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Field;
use firearrow::{Config, Connection, Params, Result};
use std::sync::Arc;

/// Rows of the table with every type.
pub(crate) const ROWS: i32 = 250;
/// Rows of the table with numbers only.
pub(crate) const NUMBERS: i32 = 20_000;

/// Creates it.
pub(crate) fn create(url: &str) -> Result<()> {
    let connection = Connection::create(&Config::parse(url)?)?;
    let (columns, values) = if connection.has_firebird4() {
        (
            ", i128 INT128, n38 NUMERIC(38, 5), d16 DECFLOAT(16), d34 DECFLOAT(34), tz TIME WITH TIME ZONE,
             tsz TIMESTAMP WITH TIME ZONE",
            ", CAST(:i AS INT128) * 1000000000000000000, :i / 100000.0, :i / 8.0, :i * 1E100, CURRENT_TIME,
             CURRENT_TIMESTAMP",
        )
    } else {
        ("", "")
    };
    let statements = [
        format!(
            "CREATE TABLE everything (id INTEGER NOT NULL PRIMARY KEY, s SMALLINT, b BIGINT, n NUMERIC(9, 2),
                 n18 NUMERIC(18, 4), f FLOAT, d DOUBLE PRECISION, dt DATE, tm TIME, ts TIMESTAMP, c CHAR(10),
                 v VARCHAR(200), o VARCHAR(20) CHARACTER SET OCTETS, bo BOOLEAN, text BLOB SUB_TYPE TEXT, bytes BLOB
                 {columns})"
        ),
        "CREATE TABLE numbers (id INTEGER NOT NULL PRIMARY KEY, half DOUBLE PRECISION)".into(),
        "CREATE TABLE lists (id INTEGER, a INTEGER [4], t VARCHAR(10) [2])".into(),
        "CREATE GLOBAL TEMPORARY TABLE target (id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(100),
             note BLOB SUB_TYPE TEXT, moment TIMESTAMP DEFAULT CURRENT_TIMESTAMP) ON COMMIT DELETE ROWS"
            .into(),
        "CREATE GLOBAL TEMPORARY TABLE list_target (id INTEGER, a INTEGER [4], t VARCHAR(10) [2])
             ON COMMIT DELETE ROWS"
            .into(),
        format!(
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < {ROWS}) DO BEGIN
                     IF (MOD(i, 10) = 7) THEN INSERT INTO everything (id) VALUES (:i);
                     ELSE INSERT INTO everything VALUES (:i, :i, :i * 1000000000, :i / 100.0, :i / 10000.0, :i, :i / 3.0,
                         DATEADD(:i DAY TO DATE '1999-12-25'), CURRENT_TIME, CURRENT_TIMESTAMP, 'c' || :i,
                         RPAD('', MOD(:i * 7, 200), 'text '), x'00FF', MOD(:i, 2) = 0,
                         RPAD('', IIF(MOD(:i, 50) = 0, 8000, MOD(:i, 90)), 'note '), RPAD('', MOD(:i * 13, 999), 'b')
                         {values});
                     i = i + 1;
                 END
             END"
        ),
        format!(
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN
                 WHILE (i < {NUMBERS}) DO BEGIN INSERT INTO numbers VALUES (:i, :i / 2.0); i = i + 1; END
             END"
        ),
    ];
    for statement in statements {
        connection.execute(&statement)?;
    }
    for id in 0..20 {
        connection.execute_with("INSERT INTO lists VALUES (?, ?, ?)", Params::row(list_row(id)))?;
    }
    connection.close()
}

/// A row for a table with arrays.
pub(crate) fn list_row(id: i32) -> [ArrayRef; 3] {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![format!("first {id}"), "second".into()]));
    [
        Arc::new(Int32Array::from(vec![id])),
        list(Arc::new(Int32Array::from_iter_values(id..id + 4))),
        list(texts),
    ]
}

fn list(values: ArrayRef) -> ArrayRef {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Arc::new(ListArray::new(field, OffsetBuffer::from_lengths([values.len()]), values, None))
}
