//! What connecting would do, for commands that try it without a driver manager.

use super::{attributes, invalid};
use crate::connection_string::{Attributes, is_list, settings_in};
use firearrow::Config;
use firearrow_driver::SessionOptions;
use std::io;

/// What the driver makes of a data source or connection string.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What the client connects to, and how.
    pub config: Config,
    /// How transactions begin.
    pub session: SessionOptions,
    /// Statements to execute after connecting.
    pub statements: Vec<String>,
    /// Keywords that are ignored, and why.
    pub warnings: Vec<String>,
}

/// Returns what connecting with `text` would do: the name of a data source, a connection string, a URL, or a database as
/// Firebird names it (`host:path`). User and password that are missing come from the environment, `env`.
///
/// # Errors
/// There is no such data source, or the driver would refuse it.
pub fn plan(text: &str, env: &dyn Fn(&str) -> Option<String>) -> io::Result<Plan> {
    let attributes = if is_list(text) || text.contains("://") {
        attributes(text)?
    } else if super::data_source(text)?.is_some() {
        Attributes::from_pairs(vec![("DSN".into(), text.into())])
    } else if text.contains([':', '/', '\\']) {
        attributes(text)?
    } else {
        return Err(unknown(text));
    };
    // The driver manager says so as well, unless there is a default or the string names a database.
    if let Some(name) = attributes.data_source().filter(|_| attributes.filled("DBNAME").is_none())
        && super::data_source(name)?.is_none()
        && super::data_source("Default")?.is_none()
    {
        return Err(unknown(name));
    }
    let attributes = attributes.with_data_source().map_err(|failure| invalid(failure.text))?;
    let settings = settings_in(env, &attributes, None).map_err(|failure| invalid(failure.text))?;
    Ok(Plan {
        config: settings.config,
        session: settings.session,
        statements: settings.odbc.connect_sql,
        warnings: settings.warnings.into_iter().map(|failure| failure.text).collect(),
    })
}

fn unknown(name: &str) -> io::Error {
    let text = format!("there is no data source '{}'", firearrow_driver::shortened(name));
    io::Error::new(io::ErrorKind::NotFound, text)
}
