//! Databases: connection targets, and the defaults of connections. Nothing is attached here.

use crate::connection::Connection;
use crate::error::{Result, invalid_argument, invalid_state};
use crate::option::{self, Access, DATABASE, Defaults, Keyed, Kind, Options, flag, not_found, optionable};
use crate::panic::contain;
use adbc_core::options::{OptionConnection, OptionDatabase, OptionValue};
use firearrow::Config;
use firearrow::config::ConfigError;
use std::collections::BTreeMap;
use std::fmt;

/// A database, as described by its options.
pub struct Database {
    /// The options set. No `Debug`, because they include the password.
    settings: BTreeMap<&'static str, String>,
}

impl Database {
    pub(crate) fn new(opts: impl IntoIterator<Item = (OptionDatabase, OptionValue)>) -> Result<Self> {
        let mut database = Self { settings: BTreeMap::new() };
        for (key, value) in opts {
            let key = key.as_ref();
            database.set(key, &option::text(key, value)?)?;
        }
        Ok(database)
    }

    /// Returns the value of a connection or statement option from the URI, or its default.
    fn inherited(&self, key: &str) -> Option<Result<String>> {
        let uri = self.settings.get("uri")?;
        understand(uri).ok()?.1.get(key)
    }

    /// Returns the connection target and the defaults of connections. Options take precedence over the URI.
    fn config(&self) -> Result<(Config, Defaults)> {
        let Some(uri) = self.settings.get("uri") else {
            return Err(invalid_state("the database has no option 'uri'"));
        };
        let (mut config, mut defaults) = understand(uri)?;
        for (key, value) in &self.settings {
            apply(&mut config, &mut defaults, key, value)?;
        }
        Ok((config, defaults))
    }
}

/// Parses a connection string: its target and its other options.
fn understand(uri: &str) -> Result<(Config, Defaults)> {
    let env = |name: &str| std::env::var(name).ok();
    let (mut config, others) = Config::parse_for_front_end(uri, &env).map_err(wrong)?;
    let mut defaults = Defaults::default();
    for (name, value) in std::mem::take(&mut config.read) {
        let set = defaults.statement.options.read.set(&name, &value);
        set.map_err(|error| invalid_argument(format!("uri: option {name}: {error}")))?;
    }
    for (name, value) in &others {
        let spec = option::settable(name, DATABASE).map_err(|_| {
            invalid_argument(format!("uri: there is no option '{}'", option::shortened(name)))
        })?;
        apply(&mut config, &mut defaults, spec.key, value)?;
    }
    Ok((config, defaults))
}

/// Applies an option to the configuration or to the defaults.
fn apply(config: &mut Config, defaults: &mut Defaults, key: &str, value: &str) -> Result<()> {
    if defaults.set(key, value)? {
        return Ok(());
    }
    match key {
        "uri" => Ok(()),
        "username" => config.set("user", value).map_err(wrong),
        "adbc.firebird.query.max_inline_blob" => config.set("max_inline_blob_size", value).map_err(wrong),
        _ => config.set(key, value).map_err(wrong),
    }
}

fn wrong(error: ConfigError) -> adbc_core::error::Error {
    invalid_argument(error.to_string())
}

impl Options for Database {
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let spec = option::settable(key, DATABASE)?;
        match spec.kind {
            _ if key == "uri" => understand(value).map(drop)?,
            // Connection strings accept more words for a flag.
            Kind::Flag => {
                flag(key, value)?;
                apply(&mut Config::default(), &mut Defaults::default(), key, value)?;
            }
            _ => apply(&mut Config::default(), &mut Defaults::default(), key, value)?,
        }
        self.settings.insert(spec.key, value.to_owned());
        Ok(())
    }

    fn get(&self, key: &str) -> Result<String> {
        let spec = option::find(key).filter(|spec| spec.scope.has(DATABASE) && spec.access == Access::Write);
        let spec = spec.ok_or_else(|| not_found(key))?;
        match self.settings.get(spec.key) {
            // The password is removed, whatever the form of the URI.
            Some(uri) if key == "uri" => Ok(understand(uri)?.0.redacted_url()),
            Some(value) => Ok(value.clone()),
            None if let Some(Ok(value)) = self.inherited(key) => Ok(value),
            None if spec.default.is_empty() => Err(not_found(key)),
            None => Ok(spec.default.to_owned()),
        }
    }

    fn broken(&self) {}
}

optionable!(Database, OptionDatabase);

impl adbc_core::Database for Database {
    type ConnectionType = Connection;

    fn new_connection(&self) -> Result<Connection> {
        self.new_connection_with_opts([])
    }

    fn new_connection_with_opts(
        &self,
        opts: impl IntoIterator<Item = (OptionConnection, OptionValue)>,
    ) -> Result<Connection> {
        contain(
            || (),
            || {
                let (config, defaults) = self.config()?;
                Connection::open(&config, defaults, opts)
            },
        )
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("uri", &self.get("uri").ok()).finish_non_exhaustive()
    }
}
