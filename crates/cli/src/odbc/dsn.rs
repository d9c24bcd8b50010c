//! Data sources.

use super::{AddArgs, RemoveArgs, failure, name_of, note, tell};
use crate::failure::{Failure, Result};
use crate::output;
use firearrow_bench::text::aligned;
use firearrowodbc::setup::{self, DataSource, Scope};
use serde_json::json;

pub(super) fn add(args: &AddArgs, json: bool) -> Result<()> {
    let scope = args.place.scope();
    let written =
        setup::add_data_source(&args.name, &args.url, scope).map_err(|error| failure(scope, &error))?;
    tell(json, "added", &written.file, None)?;
    note(&written.remarks);
    if ![Scope::User, Scope::System].iter().any(|scope| matches!(setup::installed(*scope), Ok(Some(_)))) {
        note(&["the driver is not registered yet: firearrow odbc install".to_owned()]);
    }
    Ok(())
}

pub(super) fn remove(args: &RemoveArgs, json: bool) -> Result<()> {
    let scope = args.place.scope();
    match setup::remove_data_source(&args.name, scope).map_err(|error| failure(scope, &error))? {
        Some(file) => tell(json, "removed", &file, None),
        None => Err(Failure::other(format!("the {} has no data source {}", name_of(scope), args.name))),
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
    let head = ["name", "scope", "driver", "description"].map(str::to_owned).to_vec();
    let row = |each: &DataSource| {
        let scope = name_of(each.scope).to_owned();
        vec![each.name.clone(), scope, each.driver.clone(), each.description.clone()]
    };
    let rows: Vec<Vec<String>> = [head].into_iter().chain(all.iter().map(row)).collect();
    output::print(&aligned(&rows, 4))
}
