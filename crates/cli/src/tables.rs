//! `firearrow tables`

use crate::failure::Result;
use crate::open::open;
use crate::output;
use crate::terminal::{self, line};
use clap::{Args, ValueEnum, ValueHint};
use firearrow::catalog::{Name, Table, TableKind};
use firearrow::{BatchExt, Connection};
use firearrow_bench::text::aligned;
use serde_json::json;
use std::collections::HashMap;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow tables firebird://alice@db/employee
  firearrow tables demo.fdb 't%'
  firearrow tables demo.fdb --kind view
  firearrow tables demo.fdb 'RDB$%' --system
  firearrow tables demo.fdb --json | jq -r .name

In PATTERN, % stands for any text and _ for any character, and there is no
escape character. It is taken in upper case if no name matches it as written.
With --json each line is {\"name\":…,\"kind\":…,\"columns\":…,\"remark\":…}.")]
pub(crate) struct TablesArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    url: String,
    /// Names to list, as in LIKE [default: all]
    pattern: Option<String>,
    /// List these kinds only
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KINDS")]
    kind: Vec<Kind>,
    /// List system tables, too
    #[arg(long)]
    system: bool,
}

/// A kind of tables that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Table,
    View,
    Temporary,
    External,
    System,
}

impl Kind {
    fn of(kind: TableKind) -> Self {
        match kind {
            TableKind::Table => Self::Table,
            TableKind::View => Self::View,
            TableKind::GlobalTemporary { .. } => Self::Temporary,
            TableKind::External => Self::External,
            TableKind::System => Self::System,
        }
    }
}

/// A table or view, and how many columns it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) table: Table,
    pub(crate) columns: u64,
}

pub(crate) fn run(args: &TablesArgs, json: bool) -> Result<()> {
    let connection = open(&crate::open::parse(&args.url)?)?;
    let system = args.system || args.kind.contains(&Kind::System);
    let found = tables(&connection, args.pattern.as_deref(), &args.kind, system)?;
    match json {
        true => output::print_data(&found.iter().map(as_json).collect::<String>()),
        false if found.is_empty() => {
            let is_chosen = args.pattern.is_some() || !args.kind.is_empty();
            terminal::remark(if is_chosen { "no tables match" } else { "there are no tables" });
            Ok(())
        }
        false => output::print(&text(&found)),
    }
}

/// Returns the tables and views whose names match a LIKE pattern, or match it in upper case if none does as written, by
/// name. No kinds means all; system tables are among them if `system` says so.
pub(crate) fn tables(
    connection: &Connection,
    pattern: Option<&str>,
    kinds: &[Kind],
    system: bool,
) -> Result<Vec<Listed>> {
    let catalog = connection.catalog()?.with_system_tables(system);
    let matching = |name: Name<'_>| -> Result<Vec<Table>> {
        let mut found = catalog.tables(name)?;
        found.retain(|table| kinds.is_empty() || kinds.contains(&Kind::of(table.kind)));
        Ok(found)
    };
    let mut found = matching(pattern.map_or(Name::Any, Name::Like))?;
    if let (Some(pattern), true) = (pattern, found.is_empty()) {
        found = matching(Name::Like(&pattern.to_uppercase()))?;
    }
    let mut counts = HashMap::<i64, u64>::new();
    for batch in catalog.transaction().query(COUNTS)? {
        for row in batch?.rows() {
            counts.insert(row.get(0)?, row.get(1)?);
        }
    }
    let columns = |table: &Table| counts.get(&i64::from(table.id)).copied().unwrap_or_default();
    Ok(found.into_iter().map(|table| Listed { columns: columns(&table), table }).collect())
}

const COUNTS: &str = "SELECT R.RDB$RELATION_ID, COUNT(*) FROM RDB$RELATION_FIELDS C \
     JOIN RDB$RELATIONS R ON R.RDB$RELATION_NAME = C.RDB$RELATION_NAME GROUP BY R.RDB$RELATION_ID";

/// Returns a table for people.
pub(crate) fn text(found: &[Listed]) -> String {
    let has_remarks = found.iter().any(|one| one.table.remarks.is_some());
    let remark = |text: &str| has_remarks.then(|| line(text).into_owned());
    let mut rows = vec![["name", "kind", "columns"].map(str::to_owned).to_vec()];
    rows[0].extend(remark("remark"));
    for Listed { table, columns } in found {
        let mut row = vec![line(&table.name).into_owned(), table.kind.name().to_owned(), columns.to_string()];
        row.extend(remark(table.remarks.as_deref().unwrap_or_default()));
        rows.push(row);
    }
    aligned(&rows, usize::MAX)
}

fn as_json(one: &Listed) -> String {
    let Listed { table, columns } = one;
    let facts = json!({
        "name": table.name,
        "kind": table.kind.name(),
        "columns": columns,
        "remark": table.remarks,
    });
    format!("{facts}\n")
}
