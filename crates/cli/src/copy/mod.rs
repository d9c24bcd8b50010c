//! `firearrow copy`
//!
//! ```text
//!  file    ─► output                       one file, or standard output
//!  folder  ─► plan, state ─► parts ─► part ─► rolling, spread     files of bounded size, in folders of values
//!             resume: what an earlier run has left, and whether it still holds
//! ```

mod args;
mod destination;
mod file;
mod folder;
mod part;
mod plan;
mod readers;
mod resume;
mod rolling;
mod spellings;
mod spread;
mod state;

pub(crate) use args::CopyArgs;

use crate::failure::{Failure, Result};
use crate::name::{plain, unquoted};
use crate::terminal::{self, line};
use arrow::datatypes::{DataType, Schema};
use firearrow::Dialect;
use firearrow::catalog::identifier;
use std::thread::ScopedJoinHandle;

pub(crate) fn run(args: &CopyArgs, json: bool) -> Result<()> {
    if args.is_folder()? { folder::run(args, json) } else { file::run(args, json) }
}

/// Returns the query for a table, or the query itself.
fn sql(source: &str, dialect: Dialect) -> Result<String> {
    let Some(name) = table(source.trim()) else { return Ok(source.to_owned()) };
    let table = identifier(dialect, &name).ok_or_else(|| {
        Failure::usage(format!(
            "'{name}' is not a valid name: dialect 1 allows no quotes, only upper-case letters, digits, _ and $"
        ))
    })?;
    Ok(format!("SELECT * FROM {table}"))
}

/// Returns the name, if the text is nothing but a name. Without quotes, the name becomes upper case as in the engine,
/// and may be an SQL keyword.
fn table(text: &str) -> Option<String> {
    unquoted(text).or_else(|| plain(text))
}

/// Names the columns whose time zones are not kept: Arrow's timestamps have one zone for all values.
fn tell_of_zones(schema: &Schema) {
    let names: Vec<String> = schema
        .fields()
        .iter()
        .filter(|field| has_zone(field.data_type()))
        .map(|field| line(field.name()).into_owned())
        .collect();
    if !names.is_empty() {
        terminal::remark(&format!(
            "note: of {} the moments are kept, in UTC, and not the time zones; ?timestamptz=utf8 in the URL keeps both, as text",
            names.join(", ")
        ));
    }
}

fn has_zone(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) => has_zone(item.data_type()),
        other => matches!(other, DataType::Timestamp(_, Some(_))),
    }
}

/// What a thread that reads or writes has come to.
fn joined<T>(thread: ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    thread.join().unwrap_or_else(|_| Err(Failure::other("a thread that reads or writes panicked")))
}

#[cfg(test)]
mod tests {
    use super::sql;
    use firearrow::Dialect;

    #[test]
    fn a_name_is_a_table_and_anything_else_a_query() {
        for (source, expected) in [
            ("t_wide", "SELECT * FROM \"T_WIDE\""),
            (" Order ", "SELECT * FROM \"ORDER\""),
            ("RDB$DATABASE", "SELECT * FROM \"RDB$DATABASE\""),
            ("\"Mixed case\"", "SELECT * FROM \"Mixed case\""),
            ("\"say \"\"x\"\"\"", "SELECT * FROM \"say \"\"x\"\"\""),
            ("select 1 from t", "select 1 from t"),
            ("\"a\", \"b\"", "\"a\", \"b\""),
            ("1st", "1st"),
        ] {
            assert_eq!(sql(source, Dialect::Three).unwrap(), expected);
        }
        assert_eq!(sql("t_wide", Dialect::One).unwrap(), "SELECT * FROM T_WIDE");
        sql("\"Mixed case\"", Dialect::One).expect_err("no such name");
    }
}
