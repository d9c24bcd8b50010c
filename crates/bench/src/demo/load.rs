//! Rows in. One statement inserts many rows, so that a round trip is shared by all of them; this works with every
//! version and transport. The values are made here and not by formulas in PSQL, of which there would have to be an
//! exact twin for the checksums.

use super::checksum::checksum;
use super::tables::Table;
use crate::error::Result;
use crate::host::{Host, Progress};
use arrow::array::ArrayRef;
use firearrow::{Connection, Params, TransactionOptions};
use std::fmt::Write;

/// Inserts the first `rows` rows and gives the checksum of each column.
pub(super) fn fill(
    host: &dyn Host,
    connection: &Connection,
    table: &Table,
    rows: u64,
    major: u32,
    progress: &dyn Progress,
) -> Result<Vec<u64>> {
    let many = table.rows_per_statement as u64;
    let bulk = connection.prepare(&insert(table, many, major))?;
    let single = connection.prepare(&insert(table, 1, major))?;
    let mut sums = vec![0; table.columns.len()];
    // Undoing half a statement is of no use here, and remembering how would cost time.
    let options = TransactionOptions::default().no_auto_undo(true);
    let mut row = 0;
    while row < rows {
        let mut transaction = connection.begin(options)?;
        let end = rows.min(row + ROWS_PER_TRANSACTION);
        while row < end {
            let (statement, per) = if end - row >= many { (&bulk, many) } else { (&single, 1) };
            let executions = ((end - row) / per).min(ROWS_PER_CALL.div_ceil(per));
            let values = parameters(table, row, per, executions, &mut sums)?;
            statement.execute(&mut transaction, Params::row(values))?;
            row += executions * per;
            progress.add(executions * per);
            host.check()?;
        }
        transaction.commit()?;
    }
    Ok(sums)
}

/// A statement that inserts `rows` rows; its parameters are the values of the first row, then those of the second.
fn insert(table: &Table, rows: u64, major: u32) -> String {
    let name = table.name;
    if rows == 1 {
        let marks = vec!["?"; table.columns.len()].join(", ");
        return format!("INSERT INTO {name} VALUES ({marks})");
    }
    let (mut declarations, mut body) = (String::new(), String::new());
    for row in 0..rows {
        let _ = write!(body, "INSERT INTO {name} VALUES (");
        for (index, column) in table.columns.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let sql = column.sql(major).trim_end_matches(" NOT NULL");
            // Writing to a String cannot fail.
            let _ = write!(declarations, "{}P{row}_{index} {sql} = ?", if row > 0 { ", " } else { comma });
            let _ = write!(body, "{comma}:P{row}_{index}");
        }
        body.push_str("); ");
    }
    format!("EXECUTE BLOCK ({declarations}) AS BEGIN {body}END")
}

/// The parameters for several executions of a statement that inserts `per` rows, beginning with row `first`. Every
/// value is added to the checksums on its way.
fn parameters(
    table: &Table,
    first: u64,
    per: u64,
    executions: u64,
    sums: &mut [u64],
) -> Result<Vec<ArrayRef>> {
    let mut arrays = Vec::with_capacity(table.columns.len() * per as usize);
    for offset in 0..per {
        for (column, sum) in table.columns.iter().zip(&mut *sums) {
            let array =
                column.values.array((0..executions).map(|execution| first + execution * per + offset));
            *sum = sum.wrapping_add(checksum(&array)?);
            arrays.push(array);
        }
    }
    Ok(arrays)
}

const ROWS_PER_TRANSACTION: u64 = 50_000;
/// Bounds the memory for parameters.
const ROWS_PER_CALL: u64 = 2400;

#[cfg(test)]
mod tests {
    use super::super::tables::TABLES;
    use super::*;

    #[test]
    fn statements_have_a_parameter_for_each_value() {
        for table in &TABLES {
            for rows in [1, 2, table.rows_per_statement as u64] {
                let marks = insert(table, rows, 5).matches('?').count();
                assert_eq!(marks, rows as usize * table.columns.len(), "{}", table.name);
            }
        }
        let short = insert(&TABLES[3], 2, 5);
        assert_eq!(
            short,
            "EXECUTE BLOCK (P0_0 BIGINT = ?, P0_1 BLOB SUB_TYPE TEXT CHARACTER SET UTF8 = ?, P1_0 BIGINT = ?, \
             P1_1 BLOB SUB_TYPE TEXT CHARACTER SET UTF8 = ?) AS BEGIN INSERT INTO T_BLOB VALUES (:P0_0, :P0_1); \
             INSERT INTO T_BLOB VALUES (:P1_0, :P1_1); END"
        );
    }

    #[test]
    fn checksums_do_not_depend_on_how_rows_are_grouped() {
        let table = &TABLES[0];
        let mut one = vec![0; table.columns.len()];
        let mut two = one.clone();
        parameters(table, 0, 24, 4, &mut one).unwrap();
        parameters(table, 0, 1, 50, &mut two).unwrap();
        parameters(table, 50, 1, 46, &mut two).unwrap();
        assert_eq!(one, two);
    }
}
