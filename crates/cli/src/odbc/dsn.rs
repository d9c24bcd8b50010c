//! Data sources.

use super::status::is_ours;
use super::{AddArgs, RemoveArgs, failure, name_of, note, platform, tell};
use crate::failure::{Failure, Result};
use crate::{output, terminal};
use firearrow_bench::text::aligned;
use firearrow_odbc::setup::{self, DataSource, Scope};
use serde_json::json;
use std::io;

pub(super) fn add(args: &AddArgs, json: bool) -> Result<()> {
    let scope = args.place.scope();
    if args.replace {
        check_driver(&args.name, scope)?;
    }
    let written = setup::add_data_source(&args.name, &args.url, scope, args.replace);
    let written = written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::other(format!("{error}; --replace replaces it")),
        _ => failure(scope, &error),
    })?;
    let what = match written.replaced {
        true => format!("replaced data source {} in", args.name),
        false => format!("added data source {} to", args.name),
    };
    tell(json, ("added", &what), &written.file, None)?;
    note(&written.remarks);
    if scope == Scope::User {
        note(&platform::advice(&written.file).into_iter().collect::<Vec<_>>());
    }
    if ![Scope::User, Scope::System].iter().any(|scope| matches!(setup::installed(*scope), Ok(Some(_)))) {
        note(&["the driver is not registered yet: firearrow odbc install".to_owned()]);
    }
    Ok(())
}

pub(super) fn remove(args: &RemoveArgs, json: bool) -> Result<()> {
    let (scope, name) = (args.place.scope(), &args.name);
    check_driver(name, scope)?;
    match setup::remove_data_source(name, scope).map_err(|error| failure(scope, &error))? {
        Some(file) => tell(json, ("removed", &format!("removed data source {name} from")), &file, None),
        None => {
            let is_elsewhere = setup::list().is_ok_and(|all| {
                all.iter().any(|each| each.name.eq_ignore_ascii_case(name) && each.scope != scope)
            });
            let hint = match (is_elsewhere, scope) {
                (true, Scope::User) => "; one of this name is there for all users: add --system",
                (true, Scope::System) => "; one of this name is there for this user: leave out --system",
                (false, _) => "; firearrow odbc dsn list lists all",
            };
            Err(Failure::other(format!("the {} has no data source {name}{hint}", name_of(scope))))
        }
    }
}

/// Fails for a data source of another driver, which is for others to change.
fn check_driver(name: &str, scope: Scope) -> Result<()> {
    let is_it = |each: &&DataSource| each.scope == scope && each.name.eq_ignore_ascii_case(name);
    let all = setup::list().map_err(|error| failure(scope, &error))?;
    match all.iter().find(is_it) {
        Some(source) if !source.driver.is_empty() && !is_ours(source) => Err(Failure::other(format!(
            "{name} is a data source of another driver, {}: change it with the driver's or the system's own tools",
            source.driver
        ))),
        _ => Ok(()),
    }
}

pub(super) fn list(json: bool) -> Result<()> {
    let all = setup::list().map_err(|error| failure(Scope::User, &error))?;
    if json {
        let object = |each: &DataSource| {
            json!({
                "name": each.name,
                "scope": name_of(each.scope),
                "driver": each.driver,
                "description": each.description,
            })
        };
        let list: Vec<_> = all.iter().map(object).collect();
        return output::print_data(&format!("{:#}\n", serde_json::Value::from(list)));
    }
    if all.is_empty() {
        terminal::remark("there are no data sources; firearrow odbc dsn add adds one");
        return Ok(());
    }
    let head = ["name", "scope", "driver", "description"].map(str::to_owned).to_vec();
    let row = |each: &DataSource| {
        let scope = name_of(each.scope).to_owned();
        vec![each.name.clone(), scope, each.driver.clone(), each.description.clone()]
    };
    let rows: Vec<Vec<String>> = [head].into_iter().chain(all.iter().map(row)).collect();
    output::print(&aligned(&rows, 4))
}
