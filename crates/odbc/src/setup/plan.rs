//! What connecting would do, for commands that try it without a driver manager.

use super::{attributes, invalid};
use crate::connection_string::{Attributes, is_list, settings};
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

/// Returns what connecting with `text` would do: the name of a data source, a connection string, or a URL.
///
/// # Errors
/// There is no such data source, or the driver would refuse it.
pub fn plan(text: &str) -> io::Result<Plan> {
    let attributes = match is_list(text) || text.contains("://") {
        true => attributes(text)?,
        false => {
            if super::data_source(text)?.is_none() {
                let text = format!("there is no data source '{text}'");
                return Err(io::Error::new(io::ErrorKind::NotFound, text));
            }
            Attributes::from_pairs(vec![("DSN".into(), text.into())])
        }
    };
    let attributes = attributes.with_data_source().map_err(|failure| invalid(failure.text))?;
    let settings = settings(&attributes, None).map_err(|failure| invalid(failure.text))?;
    Ok(Plan {
        config: settings.config,
        session: settings.session,
        statements: settings.odbc.connect_sql,
        warnings: settings.warnings.into_iter().map(|failure| failure.text).collect(),
    })
}
