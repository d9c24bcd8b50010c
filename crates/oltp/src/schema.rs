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

/// What the workload makes, or somebody else may have made: what it is, the system table and its column, and the names.
const OBJECTS: [(&str, &str, &str, &[&str]); 3] = [
    ("TABLE", "RDB$RELATIONS", "RDB$RELATION_NAME", &TABLES),
    ("PROCEDURE", "RDB$PROCEDURES", "RDB$PROCEDURE_NAME", &PROCEDURES),
    ("DOMAIN", "RDB$FIELDS", "RDB$FIELD_NAME", &DOMAINS),
];

/// Whether the database says that the workload has been loaded into it, perhaps not to the end.
pub(crate) fn is_marked(connection: &Connection) -> Result<bool> {
    Ok(is_there(connection, "RDB$RELATIONS", "RDB$RELATION_NAME", META)?)
}

fn is_there(connection: &Connection, table: &str, column: &str, name: &str) -> firearrow::Result<bool> {
    let sql = format!("SELECT COUNT(*) FROM {table} WHERE {column} = '{name}'");
    Ok(connection.query(&sql)?.value::<i64>()? > 0)
}

/// Names among those of the workload that the database has: tables, procedures and domains.
pub(crate) fn existing(connection: &Connection) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for (_, table, column, all) in OBJECTS {
        for name in all {
            if is_there(connection, table, column, name)? {
                names.push((*name).to_owned());
            }
        }
    }
    Ok(names)
}

/// The columns of a table of the workload, in their order.
fn columns(table: &str) -> Vec<&'static str> {
    let begin = format!("CREATE TABLE {table} (");
    let statement = statements(include_str!("../sql/tables.sql")).find_map(|sql| sql.strip_prefix(&begin));
    // What follows a comma within a type, as of NUMERIC(14,2), is no name.
    let names = statement
        .unwrap_or_default()
        .split(',')
        .filter(|part| part.starts_with(|first: char| !first.is_ascii_digit()));
    names.filter_map(|part| part.split_whitespace().next()).collect()
}

/// Tables that have a name of the workload and other columns: they are somebody else's.
fn foreign(connection: &Connection) -> Result<Vec<String>> {
    let mut foreign = Vec::new();
    for table in TABLES {
        let columns = columns(table);
        let place =
            |(at, name): (usize, &&str)| format!("RDB$FIELD_POSITION = {at} AND RDB$FIELD_NAME = '{name}'");
        let right: Vec<String> = columns.iter().enumerate().map(place).collect();
        let sql = format!(
            "SELECT COUNT(*), COUNT(CASE WHEN {} THEN 1 END) FROM RDB$RELATION_FIELDS WHERE RDB$RELATION_NAME = '{table}'",
            right.join(" OR ")
        );
        let counts = connection.query(&sql)?.one_row(|row| Ok([row.get::<i64>(0)?, row.get(1)?]))?;
        let [all, right] = counts.unwrap_or_default();
        if all > 0 && [all, right] != [columns.len() as i64; 2] {
            foreign.push(table.to_owned());
        }
    }
    Ok(foreign)
}

/// Something of somebody else that depends on the workload's tables, procedures or domains, such as a view.
fn dependent(connection: &Connection) -> Result<Vec<String>> {
    let mut found: Vec<String> = Vec::new();
    for sql in dependents() {
        found.extend(connection.query(&sql)?.value::<Option<String>>()?);
    }
    found.sort();
    found.dedup();
    Ok(found)
}

/// Queries for one name each: of what depends on the workload, of tables, procedures and functions with a column or
/// parameter of one of its domains, and of tables with a foreign key to one of its tables.
fn dependents() -> [String; 5] {
    let all = list(TABLES.iter().chain(&PROCEDURES).chain(&DOMAINS));
    let (tables, procedures) = (list(TABLES.iter().chain(&[META])), list(PROCEDURES.iter()));
    let domains = list(DOMAINS.iter());
    let user = |table: &str, name: &str, ours: &str| {
        format!(
            "SELECT MIN(TRIM({name})) FROM {table} WHERE RDB$FIELD_SOURCE IN ({domains}) AND {name} NOT IN ({ours})"
        )
    };
    [
        format!(
            "SELECT MIN(TRIM(RDB$DEPENDENT_NAME)) FROM RDB$DEPENDENCIES \
             WHERE RDB$DEPENDED_ON_NAME IN ({all}) AND RDB$DEPENDENT_NAME NOT IN ({all})"
        ),
        user("RDB$RELATION_FIELDS", "RDB$RELATION_NAME", &tables),
        user("RDB$PROCEDURE_PARAMETERS", "RDB$PROCEDURE_NAME", &procedures),
        // None of the functions is ours.
        user("RDB$FUNCTION_ARGUMENTS", "RDB$FUNCTION_NAME", "''"),
        format!(
            "SELECT MIN(TRIM(C.RDB$RELATION_NAME)) FROM RDB$RELATION_CONSTRAINTS C \
             JOIN RDB$REF_CONSTRAINTS R ON R.RDB$CONSTRAINT_NAME = C.RDB$CONSTRAINT_NAME \
             JOIN RDB$RELATION_CONSTRAINTS U ON U.RDB$CONSTRAINT_NAME = R.RDB$CONST_NAME_UQ \
             WHERE U.RDB$RELATION_NAME IN ({tables}) AND C.RDB$RELATION_NAME NOT IN ({tables})"
        ),
    ]
}

fn list<'a>(names: impl Iterator<Item = &'a &'a str>) -> String {
    names.map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
}

/// Whether the database holds the workload and nothing else: no other tables, views, procedures, functions, packages,
/// triggers, sequences, exceptions, roles and domains, and no other columns.
pub(crate) fn has_nothing_else(connection: &Connection) -> Result<bool> {
    if !is_marked(connection)? {
        return Ok(false);
    }
    let user = "COALESCE(RDB$SYSTEM_FLAG, 0) = 0";
    let count = |what: &str, condition: &str| -> Result<i64> {
        Ok(connection.query(&format!("SELECT COUNT(*) FROM {what} WHERE {condition}"))?.value()?)
    };
    for kind in
        ["RDB$FUNCTIONS", "RDB$PACKAGES", "RDB$TRIGGERS", "RDB$GENERATORS", "RDB$EXCEPTIONS", "RDB$ROLES"]
    {
        if count(kind, user)? > 0 {
            return Ok(false);
        }
    }
    for (kind, table, column, names) in OBJECTS {
        let list = list(names.iter());
        // Columns without a domain have one that the engine has named.
        let other = format!("{user} AND {column} NOT IN ({list}, '{META}') AND {column} NOT STARTING 'RDB$'");
        if count(table, &other)? > 0
            || kind == "TABLE" && count(table, &format!("{user} AND RDB$VIEW_BLR IS NOT NULL"))? > 0
        {
            return Ok(false);
        }
    }
    Ok(foreign(connection)?.is_empty())
}

/// Refuses a database in which somebody else has used names of the workload, such as CUSTOMER and ORDERS.
///
/// # Errors
/// With the names.
pub(crate) fn check_free(connection: &Connection, replace: bool) -> Result<Vec<String>> {
    let existing = existing(connection)?;
    match (is_marked(connection)?, existing.is_empty(), replace) {
        (false, true, _) => Ok(existing),
        (false, false, _) => Err(Error::other(format!(
            "the database already has {}, and not from this workload, since there is no {META}: they are left \
             alone, with --force as well; use another database",
            existing.join(", ")
        ))),
        (true, _, false) => Err(Error::other(
            "the database has been loaded, or began to be: --force replaces the tables ITEM, CUSTOMER, ORDERS and others, the \
             procedures and the domains of the workload",
        )),
        (true, _, true) => {
            let mut others = foreign(connection)?;
            others.extend(dependent(connection)?);
            match others.is_empty() {
                true => Ok(existing),
                false => Err(Error::other(format!(
                    "{} are of somebody else, or depend on tables, procedures or domains of this workload: they are left alone; use another database",
                    others.join(", ")
                ))),
            }
        }
    }
}

/// Removes everything that the workload has made.
///
/// # Errors
/// If something else depends on it.
pub(crate) fn remove(connection: &Connection) -> Result<()> {
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
    let (_, table, column, _) = OBJECTS[OBJECTS.iter().position(|(kind, ..)| *kind == what).unwrap_or(0)];
    if is_there(connection, table, column, name)? {
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

    #[test]
    fn columns_are_those_of_the_script() {
        assert_eq!(columns("NEW_ORDER"), ["NO_O_ID", "NO_D_ID", "NO_W_ID"]);
        let all = TABLES.map(|table| columns(table).len());
        assert_eq!(all, [5, 9, 17, 11, 21, 8, 8, 3, 10]);
    }
}
