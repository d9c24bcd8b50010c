//! Tables, indexes and procedures. They are made and removed together.

use crate::scale::Scale;
use firearrow::{Connection, Kind};
use firearrow_bench::{Error, Result};

/// The tables of the workload, in the order in which they are filled.
pub const TABLES: [&str; 9] =
    ["ITEM", "WAREHOUSE", "STOCK", "DISTRICT", "CUSTOMER", "HISTORY", "ORDERS", "NEW_ORDER", "ORDER_LINE"];

/// How the database was filled. It is made first, so that the tables can be told from others of their names, and gets its
/// row last: without it, the database is not complete.
const META: &str = "FIREARROW_OLTP";
/// Changes with everything that changes the rows of a seed.
const VERSION: i32 = 1;

const DOMAINS: [&str; 6] = ["D_ID", "D_MONEY", "D_TXT10", "D_TXT20", "D_STATE", "D_ZIP"];
const PROCEDURES: [&str; 5] =
    ["TX_NEW_ORDER", "TX_PAYMENT", "TX_ORDER_STATUS", "TX_DELIVERY", "TX_STOCK_LEVEL"];

/// What a complete database says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Meta {
    pub(crate) scale: Scale,
    pub(crate) seed: u64,
}

/// The statements of a file that end with a semicolon.
fn statements(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(";\n").map(str::trim).filter(|statement| !statement.is_empty())
}

/// Makes the tables, without indexes and procedures.
pub(crate) fn create_tables(connection: &Connection) -> Result<()> {
    connection.execute(&format!(
        "CREATE TABLE {META} (VERSION INTEGER NOT NULL, SEED BIGINT NOT NULL, WAREHOUSES INTEGER NOT NULL, \
         ITEMS INTEGER NOT NULL, CUSTOMERS INTEGER NOT NULL, OPEN_ORDERS INTEGER NOT NULL)"
    ))?;
    run_all(connection, statements(include_str!("../sql/tables.sql")))
}

/// Makes primary keys and indexes, and computes their selectivity.
pub(crate) fn create_indexes(connection: &Connection) -> Result<()> {
    run_all(connection, statements(include_str!("../sql/indexes.sql")))
}

/// Makes the procedures.
pub(crate) fn create_procedures(connection: &Connection) -> Result<()> {
    let sql = include_str!("../sql/procedures.sql");
    run_all(
        connection,
        sql.split("END^").map(str::trim).filter(|body| !body.is_empty()).map(|body| format!("{body}\nEND")),
    )
}

fn run_all(connection: &Connection, all: impl Iterator<Item = impl AsRef<str>>) -> Result<()> {
    for sql in all {
        connection.execute(sql.as_ref())?;
    }
    Ok(())
}

/// Names among the workload's tables that the database has.
pub(crate) fn existing(connection: &Connection) -> Result<Vec<String>> {
    let names: Vec<String> = TABLES.iter().chain([&META]).map(|name| format!("'{name}'")).collect();
    let sql = format!(
        "SELECT CAST(COALESCE(LIST(TRIM(RDB$RELATION_NAME)), '') AS VARCHAR(1000)) FROM RDB$RELATIONS WHERE RDB$RELATION_NAME IN ({})",
        names.join(", ")
    );
    let list: String = connection.query(&sql)?.value()?;
    Ok(list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// Removes everything that the workload has made.
///
/// # Errors
/// If these tables are not the workload's: names such as CUSTOMER and ORDERS are common.
pub(crate) fn remove(connection: &Connection, existing: &[String]) -> Result<()> {
    if !existing.iter().any(|name| name == META) {
        return Err(Error::other(format!(
            "{} exist and are not of this workload, since there is no {META}: they are left alone; use another database",
            existing.join(", ")
        )));
    }
    for name in PROCEDURES {
        drop_if_there(connection, "PROCEDURE", name)?;
    }
    for name in TABLES {
        drop_if_there(connection, "TABLE", name)?;
    }
    for name in DOMAINS {
        drop_if_there(connection, "DOMAIN", name)?;
    }
    drop_if_there(connection, "TABLE", META)?;
    Ok(())
}

fn drop_if_there(connection: &Connection, what: &str, name: &str) -> Result<()> {
    let (table, column) = match what {
        "PROCEDURE" => ("RDB$PROCEDURES", "RDB$PROCEDURE_NAME"),
        "DOMAIN" => ("RDB$FIELDS", "RDB$FIELD_NAME"),
        _ => ("RDB$RELATIONS", "RDB$RELATION_NAME"),
    };
    let there: i64 =
        connection.query(&format!("SELECT COUNT(*) FROM {table} WHERE {column} = '{name}'"))?.value()?;
    if there > 0 {
        connection.execute(&format!("DROP {what} {name}"))?;
    }
    Ok(())
}

/// Notes that the database is complete.
pub(crate) fn store(connection: &Connection, meta: Meta) -> Result<()> {
    let Meta { scale, seed } = meta;
    let Scale { warehouses, items, customers, open_orders } = scale;
    connection.execute(&format!(
        "INSERT INTO {META} VALUES ({VERSION}, {}, {warehouses}, {items}, {customers}, {open_orders})",
        seed.cast_signed()
    ))?;
    Ok(())
}

/// What a complete database says of itself.
///
/// # Errors
/// If it is not complete, or of another version.
pub(crate) fn meta(connection: &Connection) -> Result<Meta> {
    let sql = format!("SELECT VERSION, SEED, WAREHOUSES, ITEMS, CUSTOMERS, OPEN_ORDERS FROM {META}");
    let found = connection.query(&sql).and_then(|cursor| {
        cursor.one_row(|row| {
            let scale = Scale {
                warehouses: row.get(2)?,
                items: row.get(3)?,
                customers: row.get(4)?,
                open_orders: row.get(5)?,
            };
            Ok((row.get::<i32>(0)?, Meta { scale, seed: row.get::<i64>(1)?.cast_unsigned() }))
        })
    });
    let hint = "run `firearrow oltp load` first, with --force if its tables exist";
    match found {
        Ok(Some((VERSION, meta))) => Ok(meta),
        Ok(Some((version, _))) => Err(Error::other(format!(
            "the tables were loaded by another release (format {version}, not {VERSION}); {hint}"
        ))),
        Ok(None) => Err(Error::other(format!("the database is not complete; {hint}"))),
        Err(error) if error.kind() == Kind::Syntax => {
            Err(Error::other(format!("the database has no complete tables of the workload; {hint}")))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_split_into_statements() {
        assert_eq!(statements(include_str!("../sql/tables.sql")).count(), DOMAINS.len() + TABLES.len());
        assert_eq!(statements(include_str!("../sql/indexes.sql")).count(), 10);
    }
}
