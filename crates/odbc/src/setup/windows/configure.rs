//! What the installer of ODBC asks of a driver: to add, change and remove data sources.

use super::{Entries, Kind, Registry, Scope, Write, list_of};
use crate::connection_string::Attributes;
use crate::platform;
use crate::setup::{add_attributes_in, check_name, remove_data_source_in};
use std::io;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// `ODBC_ADD_DSN`: one that exists is replaced.
    Add,
    /// `ODBC_CONFIG_DSN`: its other entries stay.
    Change,
    /// `ODBC_REMOVE_DSN`
    Remove,
}

/// What was wrong, as the installer sorts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    /// `ODBC_ERROR_INVALID_KEYWORD_VALUE`
    Keyword,
    /// `ODBC_ERROR_INVALID_DSN`
    DataSource,
    /// `ODBC_ERROR_REQUEST_FAILED`
    Failed,
}

/// Does what the installer asks for. `driver` is the name under which this driver is registered, `attributes` name
/// the data source (DSN) and its entries.
pub(crate) fn configure(
    request: Request,
    scope: Scope,
    driver: &str,
    attributes: Entries,
) -> Result<(), (Mistake, String)> {
    configure_in(&Registry::of_process(), request, scope, driver, attributes)
}

pub(super) fn configure_in(
    registry: &Registry,
    request: Request,
    scope: Scope,
    driver: &str,
    attributes: Entries,
) -> Result<(), (Mistake, String)> {
    let (names, entries): (Entries, Entries) =
        attributes.into_iter().partition(|(name, _)| name.trim().eq_ignore_ascii_case("DSN"));
    let Some(name) = names.into_iter().next().map(|(_, name)| name).filter(|name| !name.is_empty()) else {
        return Err((Mistake::Keyword, "the attributes name no data source (DSN=…)".into()));
    };
    check_name(&name).map_err(|error| (Mistake::DataSource, error.to_string()))?;
    let failed = |error: io::Error| {
        let mistake = match error.kind() {
            io::ErrorKind::InvalidInput => Mistake::Keyword,
            _ => Mistake::Failed,
        };
        (mistake, error.to_string())
    };
    let missing = || (Mistake::DataSource, format!("there is no data source {name}"));
    if request == Request::Remove {
        let removed = remove_data_source_in(registry, &name, scope).map_err(failed)?;
        return removed.map(drop).ok_or_else(missing);
    }
    let mut attributes = Attributes::from_pairs(entries);
    if request == Request::Change {
        let known = registry.entries(Kind::DataSource, scope, &name).map_err(failed)?;
        attributes.merge(&Attributes::from_pairs(known.ok_or_else(missing)?));
    }
    // Whoever registered the driver by another way may have given it another name.
    let library = match registry.driver(scope) {
        Ok(library) => library,
        Err(error) => platform::own_library().ok_or_else(|| failed(error))?,
    };
    add_attributes_in(registry, &name, &attributes, &library, scope, Write::Replace).map_err(failed)?;
    if !driver.is_empty() {
        let list = registry.place(Kind::DataSource, scope).at(list_of(Kind::DataSource));
        list.set(&[(name.as_str(), driver)]).map_err(failed)?;
    }
    Ok(())
}
