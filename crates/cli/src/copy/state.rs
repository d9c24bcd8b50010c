//! The state of the data that a snapshot shows, and whether a later snapshot shows the same rows.
//!
//! A snapshot ends with the process that holds it, but row versions keep the number of the transaction that has written
//! them (`RDB$RECORD_VERSION`), and these numbers never repeat. The rows of a range of pages are the same in two snapshots
//! if the later one sees as many rows there, and none that was written by a transaction that the earlier one did not see:
//! changed and inserted rows have such a version, and each deleted row is missing in the count.

use crate::failure::{Failure, Result};
use crate::folder::manifest::{MOST_OPEN, State};
use crc32fast::Hasher;
use firearrow::sql::{TokenKind, tokens};
use firearrow::{BatchExt, BatchLimits, Connection, Cursor, Partition, Row, Transaction};
use std::collections::BTreeSet;

/// What is known before the snapshot begins.
pub(super) struct Before {
    /// Transactions from this number on may begin after the snapshot.
    number: u64,
    /// All transactions with lower numbers have ended.
    oldest: u64,
}

impl Before {
    /// Asks in a transaction that has just begun.
    pub(super) fn of(transaction: &Transaction) -> Result<Self> {
        let mut cursor =
            transaction.query("SELECT CURRENT_TRANSACTION, MON$OLDEST_ACTIVE FROM MON$DATABASE")?;
        let (number, oldest) = pair(&mut cursor)?;
        Ok(Self { number, oldest: oldest.min(number) })
    }

    /// Returns the state that a snapshot shows, which has begun since.
    pub(super) fn state(self, transaction: &Transaction, partition: &Partition) -> Result<Option<State>> {
        let (Some(snapshot), Some(table)) = (partition.snapshot(), table_of(partition.sql())) else {
            return Ok(None);
        };
        let text = |sql: &str| -> Result<String> { Ok(transaction.query(sql)?.value::<String>()?) };
        let database = text(
            "SELECT CAST(RDB$GET_CONTEXT('SYSTEM', 'DB_GUID') || ' ' || RDB$GET_CONTEXT('SYSTEM', 'DB_FILE_ID') \
             AS VARCHAR(120)) FROM RDB$DATABASE",
        )?;
        let literal = format!("'{}'", table.replace('\'', "''"));
        let format = text(&format!(
            "SELECT CAST(RDB$RELATION_ID || ' ' || COALESCE(RDB$FORMAT, 0) AS VARCHAR(40)) \
             FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = {literal}"
        ))?;
        let computed = computed(transaction, &literal)?;
        let table = format!("{table} {format} {computed:08x}");
        let (before, open) = match self.open(transaction, snapshot)? {
            Some(open) => (self.number, open),
            // Too many to list: every row that is as new as the oldest of them counts as changed.
            None => (self.oldest, BTreeSet::new()),
        };
        Ok(Some(State { database, table, before, open }))
    }

    /// Returns the transactions before [`number`](Self::number) whose rows the snapshot does not see, and may be seen later.
    fn open(&self, transaction: &Transaction, snapshot: u64) -> Result<Option<BTreeSet<u64>>> {
        if self.number - self.oldest > MOST_ASKED {
            return Ok(None);
        }
        // As a type whose name databases of dialect 1 do not take.
        let bigint = "TYPE OF COLUMN RDB$GENERATORS.RDB$INITIAL_VALUE";
        // 0: active, -2: in limbo.
        let block = format!(
            "EXECUTE BLOCK RETURNS (N {bigint}) AS DECLARE C {bigint}; BEGIN N = {}; WHILE (N < {}) DO BEGIN \
             C = RDB$GET_TRANSACTION_CN(N); IF (C IN (0, -2) OR C > {snapshot}) THEN SUSPEND; N = N + 1; END END",
            self.oldest, self.number
        );
        let mut open = BTreeSet::new();
        let mut cursor = transaction.query(&block)?;
        while let Some(batch) = cursor.next_batch()? {
            for row in batch.rows() {
                open.insert(row.get::<i64>(0)?.cast_unsigned());
            }
            if open.len() > MOST_OPEN {
                return Ok(None);
            }
        }
        Ok(Some(open))
    }
}

/// A checksum of the expressions of a table's computed columns: altering these leaves the number of the format as it is.
fn computed(transaction: &Transaction, table: &str) -> Result<u32> {
    let mut cursor = transaction.query(&format!(
        "SELECT R.RDB$FIELD_NAME, F.RDB$COMPUTED_SOURCE FROM RDB$RELATION_FIELDS R \
         JOIN RDB$FIELDS F ON F.RDB$FIELD_NAME = R.RDB$FIELD_SOURCE \
         WHERE R.RDB$RELATION_NAME = {table} AND F.RDB$COMPUTED_BLR IS NOT NULL ORDER BY 1"
    ))?;
    let mut hasher = Hasher::new();
    while let Some(batch) = cursor.next_batch()? {
        for column in 0..batch.num_columns() {
            for row in batch.rows() {
                // A length before each, so that texts do not run into each other.
                let text = row.get::<Option<&str>>(column)?.unwrap_or_default();
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
    }
    Ok(hasher.finalize())
}

/// How the rows of a part differ from an earlier state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compared {
    pub(super) rows: u64,
    /// Rows that are newer.
    pub(super) newer: u64,
}

/// Counts the rows of a part, and those that are newer than an earlier state of the same table.
pub(super) fn compare(connection: &Connection, partition: &Partition, earlier: &State) -> Result<Compared> {
    let mut newer = format!("RDB$RECORD_VERSION >= {}", earlier.before);
    if !earlier.open.is_empty() {
        let open = earlier.open.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        newer += &format!(" OR RDB$RECORD_VERSION IN ({open})");
    }
    let columns = format!("COUNT(*), COUNT(CASE WHEN {newer} THEN 1 END)");
    let counting = partition.with_columns(&columns);
    let counting = counting.ok_or_else(|| Failure::other("the rows of the query cannot be compared"))?;
    let (rows, newer) = pair(&mut connection.read_partition(&counting, BatchLimits::default())?)?;
    Ok(Compared { rows, newer })
}

/// The two numbers of the only row.
fn pair(cursor: &mut Cursor) -> Result<(u64, u64)> {
    let batch = cursor.next_batch()?.filter(|batch| batch.num_rows() == 1);
    let row = batch.as_ref().and_then(|batch| Row::new(batch, 0));
    let row = row.ok_or_else(|| Failure::other("the server does not tell the state of the data"))?;
    Ok((row.get::<i64>(0)?.cast_unsigned(), row.get::<i64>(1)?.cast_unsigned()))
}

/// Returns the table of a query that reads one, as the catalog has its name.
fn table_of(sql: &str) -> Option<String> {
    let mut depth = 0_usize;
    let mut tokens = tokens(sql);
    loop {
        let token = tokens.next()?;
        if token.is_symbol('(') {
            depth += 1;
        } else if token.is_symbol(')') {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && token.is_word("FROM") {
            break;
        }
    }
    let name = tokens.next()?;
    match name.kind {
        TokenKind::Word => Some(name.text.to_ascii_uppercase()),
        TokenKind::QuotedName => crate::name::unquoted(name.text),
        _ => None,
    }
}

/// Transactions that are asked about: longer ranges would take seconds.
const MOST_ASKED: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::table_of;

    #[test]
    fn the_table_is_found() {
        for (sql, table) in [
            ("SELECT * FROM t WHERE x = 1", Some("T")),
            ("SELECT EXTRACT(YEAR FROM d), 'from x' FROM \"a \"\"b\" c", Some("a \"b")),
            ("SELECT 1", None),
            ("SELECT * FROM (SELECT 1 FROM t)", None),
        ] {
            assert_eq!(table_of(sql).as_deref(), table, "{sql}");
        }
    }
}
