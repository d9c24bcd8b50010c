//! `firearrow ddl`: the statements that create the objects of a database.
//!
//! ```text
//!  mod ─► object: what a name means
//!    ├──► one_object, whole_database ─► table, column, constraint, index, view, domain, sequence, routine, trigger …
//!    │        │                               │
//!    │        └► dependency ─► order          ├► database (the catalog, and queries of what it does not have)
//!    └──► describe                            └► script ─► text with SET TERM, or JSON
//! ```

mod charset;
mod column;
mod constraint;
mod database;
mod dependency;
mod describe;
mod domain;
mod grant;
mod index;
mod name;
mod object;
mod one_object;
mod order;
mod package;
mod parameter;
mod routine;
mod script;
mod security;
mod sequence;
mod sql_type;
mod table;
mod trigger;
mod udf;
mod view;
mod whole_database;

pub(crate) use name::is_plain;

use crate::failure::{Failure, Result};
use crate::open::open;
use crate::output;
use crate::terminal;
use clap::{Args, ValueHint};
use database::Database;
use firearrow::Connection;
use firearrow::catalog::{Domain, Name};
use script::Script;
use std::io::{self, IsTerminal};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow ddl firebird://alice@db/employee COUNTRY
  firearrow ddl demo.fdb t_wide
  firearrow ddl demo.fdb t_wide --describe
  firearrow ddl demo.fdb '\"Mixed case table\"'
  firearrow ddl firebird://alice@db/employee --all > employee.sql
  firearrow ddl demo.fdb --all --json | jq -r .sql

NAME is a table, view, procedure, function, trigger, sequence (generator),
domain, package, index or exception. It is taken as written, or else as the only
name that differs in letter case alone; in quotes, as in SQL, it must match
exactly. Keys, indexes, triggers, comments and privileges come with their table.

The output is a script for isql and others that know SET TERM. It creates the
same objects in an empty database: no rows, no users, no current values of
sequences. With --json each line is a statement without terminator:
{\"kind\":…,\"object\":…,\"sql\":…}. docs/ddl.md has the details.")]
pub(crate) struct DdlArgs {
    /// The database
    #[arg(value_hint = ValueHint::Url)]
    url: String,
    /// The object
    #[arg(required_unless_present = "all")]
    name: Option<String>,
    /// All objects of the database, in an order that can be run
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Describe the object for people instead: columns, keys, indexes, triggers, parameters
    #[arg(long, conflicts_with = "all")]
    describe: bool,
}

pub(crate) fn run(args: &DdlArgs, json: bool) -> Result<()> {
    if args.describe && json {
        return Err(Failure::usage(
            "--describe prints text for people; ddl --json and tables --json are for programs",
        ));
    }
    let connection = open(&crate::open::parse(&args.url)?)?;
    let text = match &args.name {
        Some(name) if args.describe => return output::print(&describe(&connection, name)?),
        Some(name) if json => of(&connection, name)?.json(),
        Some(name) => ddl(&connection, name)?,
        None if json => whole_database::script(&connection)?.json(),
        None => whole_database::script(&connection)?.text(),
    };
    // A script that goes to a file is data; a terminal must not obey what names or sources contain.
    if io::stdout().is_terminal() && !json { output::print(&text) } else { output::print_data(&text) }
}

/// Returns the DDL of the object with this name, or of the objects of several kinds that have it, unchanged: a
/// terminal needs [`terminal::lines`] of it.
pub(crate) fn ddl(connection: &Connection, name: &str) -> Result<String> {
    Ok(of(connection, name)?.text())
}

/// Returns a description of an object, as text that is harmless on a terminal: the columns of a table with their types,
/// keys, indexes and triggers, the parameters of a procedure or function, the source of others.
pub(crate) fn describe(connection: &Connection, name: &str) -> Result<String> {
    describe::describe(connection, name)
}

/// Returns the domains with these names, and their types as people read them.
pub(crate) fn domains(connection: &Connection, name: Name<'_>) -> Result<Vec<(Domain, String)>> {
    let database = Database::open(connection, false)?;
    let domains = database.catalog.domains(name)?.into_iter();
    let domains = domains.map(|domain| {
        let data_type = database.shown_type(&domain.data_type);
        (domain, data_type)
    });
    Ok(domains.collect())
}

/// Returns the GRANT statements of an object, role or privilege, or all; nothing if there are none.
pub(crate) fn grants(connection: &Connection, name: Option<&str>) -> Result<String> {
    let database = Database::open(connection, false)?;
    let mut script = Script::default();
    let Some(name) = name else {
        grant::create(&database, Name::Any, None, &mut script)?;
        return Ok(script.text());
    };
    if let Some(object) = object::find_any(connection, name)?.first() {
        grant::create(&database, Name::Is(&object.name), None, &mut script)?;
        return Ok(script.text());
    }
    // Roles are no objects with DDL of their own, but can be granted.
    let (exact, is_quoted) = object::written(name);
    let upper = exact.to_uppercase();
    let role = match (database.has_role(&exact)?, is_quoted) {
        (true, _) => exact,
        (false, false) if database.has_role(&upper)? => upper,
        _ => return Err(Failure::other(format!("there is no object or role {}", terminal::line(name)))),
    };
    grant::create(&database, Name::Is(&role), None, &mut script)?;
    Ok(script.text())
}

fn of(connection: &Connection, name: &str) -> Result<Script> {
    let script = one_object::script(connection, name)?;
    if script.is_empty() {
        let name = terminal::line(name);
        let reason = "it belongs to the engine, which creates it itself";
        return Err(Failure::other(format!("{name} has no DDL: {reason}")));
    }
    Ok(script)
}
