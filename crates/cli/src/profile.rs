//! Named connections: `profile://NAME`, the connection profiles of ADBC's driver managers.

use crate::failure::{Failure, Result};
use adbc_core::options::{OptionDatabase, OptionValue};
use adbc_driver_manager::profile::{
    ConnectionProfile, ConnectionProfileProvider, FilesystemProfileProvider, process_profile_value,
};
use firearrow::Config;
use std::fmt::Display;

const SCHEME: &str = "profile://";

/// What a profile says: where the database is, and options of connection strings.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    name: String,
    pub(crate) uri: String,
    options: Vec<(String, String)>,
}

impl Profile {
    /// Returns the profile that this text names; `None` if it is no name of one.
    ///
    /// # Errors
    /// There is no such profile, it is malformed, or it is for another driver.
    pub(crate) fn find(text: &str) -> Result<Option<Self>> {
        let Some(name) = text.strip_prefix(SCHEME) else { return Ok(None) };
        let failed = |error: &dyn Display| {
            Failure::other(format!(
                "{text}: {error}; profiles are files NAME.toml in ~/.config/adbc/profiles and in the folders of ADBC_PROFILE_PATH"
            ))
        };
        let profile =
            FilesystemProfileProvider::default().get_profile(name).map_err(|error| failed(&error.message))?;
        let (driver, _) = profile.get_driver_name().map_err(|error| failed(&error.message))?;
        if !driver.contains("firebird") {
            return Err(Failure::other(format!("{text} is for the driver {driver}, not for firebird")));
        }
        let (mut uri, mut options) = (None, Vec::new());
        for (key, value) in profile.get_options().map_err(|error| failed(&error.message))? {
            let value = spelt(value).map_err(|error| failed(&error))?;
            match key {
                OptionDatabase::Uri => uri = Some(value),
                OptionDatabase::Username => options.push(("user".to_owned(), value)),
                OptionDatabase::Password => options.push(("password".to_owned(), value)),
                OptionDatabase::Other(key) => options.push((key, value)),
                other => options.push((other.as_ref().to_owned(), value)),
            }
        }
        options.sort();
        let uri = uri.ok_or_else(|| failed(&"it has no uri"))?;
        Ok(Some(Self { name: text.to_owned(), uri, options }))
    }

    /// Sets its options, which count more than those of its URI.
    ///
    /// # Errors
    /// An option that connection strings do not have, or with another value.
    pub(crate) fn apply(&self, config: &mut Config) -> Result<()> {
        for (key, value) in &self.options {
            // The drivers' names end with those of connection strings.
            let name = key.strip_prefix("adbc.firebird.").unwrap_or(key);
            let name = name.rsplit('.').next().unwrap_or(name);
            config
                .set(name, value)
                .map_err(|error| Failure::other(format!("{}, {key}: {error}", self.name)))?;
        }
        Ok(())
    }
}

/// The text of a value, with variables of the environment in it.
fn spelt(value: OptionValue) -> std::result::Result<String, String> {
    Ok(match value {
        OptionValue::String(text) => match process_profile_value(&text).map_err(|error| error.message)? {
            OptionValue::String(text) => text,
            other => return Err(format!("{other:?} is not a text")),
        },
        OptionValue::Int(number) => number.to_string(),
        OptionValue::Double(number) => number.to_string(),
        other => return Err(format!("{other:?} is not a text")),
    })
}
