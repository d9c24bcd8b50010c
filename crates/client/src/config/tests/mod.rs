//! Whole connection strings; the parts have tests of their own beside them.

mod document;
mod errors;
mod forms;
mod properties;

use super::{Config, ConfigError};

/// An environment without any variable.
fn empty(_: &str) -> Option<String> {
    None
}

fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse_with_env(text, &empty)
}

/// What the application itself wrote.
fn parse_trusted(text: &str) -> Result<Config, ConfigError> {
    Config::without_front_end(Config::understand(text, &empty, super::Trust::Application)?)
}

/// A target in a short form that shows every part.
fn show(config: &Config) -> String {
    match &config.target {
        super::Target::Remote { host, port, database } => format!("{host} {port} {database}"),
        super::Target::Embedded { path } => format!("here {path}"),
    }
}
