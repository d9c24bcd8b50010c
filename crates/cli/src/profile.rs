//! Named connections: `profile://NAME`, the connection profiles of ADBC's driver managers.

use crate::failure::{Failure, Result};
use crate::platform::folders::{ADBC_PROFILES, adbc_profiles};
use crate::terminal;
use adbc_core::options::{OptionDatabase, OptionValue};
use adbc_driver_manager::profile::{ConnectionProfile, ConnectionProfileProvider, FilesystemProfileProvider};
use firearrow::Config;
use std::env::{self, VarError};
use std::fmt::Display;
use std::path::{Path, PathBuf};

const SCHEME: &str = "profile://";

/// It does not quote the value, which may be a password.
const NO_VARIABLE: &str = "a value has {{ }} with something else in it than env_var(NAME)";

/// Options of drivers that say nothing about how to connect.
const NOT_OF_CONNECTIONS: [&str; 5] =
    ["adbc.connection.", "adbc.statement.", "adbc.ingest.", "adbc.firebird.ingest.", "adbc.firebird.query."];

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
            let error = error.to_string();
            // The next lines would quote the file, which may have a password in it.
            Failure::other(format!("{text}: {}", error.lines().next().unwrap_or_default()))
        };
        // The driver manager would look in the current folder first, and a profile may name programs to run.
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let found =
            name.bytes().all(is_name).then(|| places(name).into_iter().find(|path| path.is_file())).flatten();
        let Some(path) = found else {
            return Err(failed(&format!(
                "there is no such profile; profiles are files NAME.toml in {ADBC_PROFILES} and in the folders of \
                  ADBC_PROFILE_PATH, with names of letters, digits, _ and -",
            )));
        };
        let path = path.to_str().ok_or_else(|| failed(&"the name of its folder is not UTF-8"))?;
        let profile =
            FilesystemProfileProvider::default().get_profile(path).map_err(|error| failed(&error.message))?;
        let (driver, _) = profile.get_driver_name().map_err(|error| failed(&error.message))?;
        if !Path::new(driver).file_name().is_some_and(|file| file.to_string_lossy().contains("firebird")) {
            return Err(Failure::other(format!("{text} is for the driver {driver}, not for firebird")));
        }
        let (mut uri, mut options) = (None, Vec::new());
        for (key, value) in profile.get_options().map_err(|error| failed(&error.message))? {
            let value = spelt(value, |name| {
                terminal::remark(&format!("{text}: the variable {name} of its {} is not set", key.as_ref()));
            });
            let value = value.map_err(|error| failed(&format!("{}: {error}", key.as_ref())))?;
            match key {
                OptionDatabase::Uri => uri = Some(value),
                OptionDatabase::Username => options.push(("user".to_owned(), value)),
                // Of a variable that is not set.
                OptionDatabase::Password if value.is_empty() => (),
                OptionDatabase::Password => options.push(("password".to_owned(), value)),
                other => options.push((other.as_ref().to_owned(), value)),
            }
        }
        options.retain(|(key, _)| !NOT_OF_CONNECTIONS.iter().any(|start| key.starts_with(start)));
        options.sort();
        let uri = uri.ok_or_else(|| failed(&"it has no uri"))?;
        Ok(Some(Self { name: text.to_owned(), uri, options }))
    }

    /// Sets its options, which override those of its URI.
    ///
    /// # Errors
    /// An option that connection strings do not have, or with another value.
    pub(crate) fn apply(&self, config: &mut Config) -> Result<()> {
        for (key, value) in &self.options {
            // The drivers' names are those of connection strings, with their groups in front.
            let groups = ["adbc.firebird.type.", "adbc.firebird."];
            let name = groups.iter().find_map(|group| key.strip_prefix(group)).unwrap_or(key);
            config
                .set(name, value)
                .map_err(|error| Failure::other(format!("{}, {key}: {error}", self.name)))?;
        }
        Ok(())
    }
}

/// Where a profile may be, in order. Relative folders would depend on the current one.
fn places(name: &str) -> Vec<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let listed = variable("ADBC_PROFILE_PATH");
    let mut folders: Vec<PathBuf> = listed.iter().flat_map(env::split_paths).collect();
    folders.extend(adbc_profiles());
    folders.retain(|folder| folder.is_absolute());
    folders.into_iter().map(|folder| folder.join(format!("{name}.toml"))).collect()
}

/// The text of a value, with variables of the environment in it. `unset` gets the names of those that are not set, which are
/// empty texts, as for driver managers.
fn spelt(value: OptionValue, mut unset: impl FnMut(&str)) -> Result<String, String> {
    Ok(match value {
        OptionValue::String(text) => replaced(&text, |name| match env::var(name) {
            Ok(value) => Ok(value),
            Err(VarError::NotPresent) => {
                unset(name);
                Ok(String::new())
            }
            Err(VarError::NotUnicode(_)) => Err(format!("the variable {name} is not UTF-8")),
        })?,
        OptionValue::Int(number) => number.to_string(),
        OptionValue::Double(number) => number.to_string(),
        other => return Err(format!("{other:?} is not text")),
    })
}

/// Replaces each `{{ env_var(NAME) }}`, as driver managers do. By hand: theirs needs regular expressions, which are 0.8 MB.
fn replaced(text: &str, mut variable: impl FnMut(&str) -> Result<String, String>) -> Result<String, String> {
    let (mut done, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find("{{") {
        let inner = &rest[start + 2..];
        let end = inner.find(['{', '}']).filter(|end| inner[*end..].starts_with("}}"));
        let Some(end) = end else {
            // The next brace may begin one.
            done.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        };
        let place = inner[..end].trim();
        let name = place.strip_prefix("env_var(").and_then(|name| name.strip_suffix(')')).map(str::trim);
        let name = name.filter(|name| !name.is_empty());
        let name = name.ok_or(NO_VARIABLE)?;
        done.push_str(&rest[..start]);
        done.push_str(&variable(name)?);
        rest = &inner[end + 2..];
    }
    done.push_str(rest);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adbc_driver_manager::profile::process_profile_value;

    /// By hand, but not in another way.
    #[test]
    fn variables_are_replaced_as_driver_managers_do() {
        let path = std::env::var("PATH").expect("tests have one");
        for (text, expected) in [
            ("", Some(String::new())),
            ("plain {text} }} {", Some("plain {text} }} {".to_owned())),
            ("{{ env_var(PATH) }}", Some(path.clone())),
            ("{{env_var( PATH )}}:{{\tenv_var(FIREARROW_NO_SUCH)\n}}é", Some(format!("{path}:é"))),
            ("{{{env_var(PATH)}}}", Some(format!("{{{path}}}"))),
            ("{{ {{env_var(PATH)}}", Some(format!("{{{{ {path}"))),
            ("{{env_var(PATH)", Some("{{env_var(PATH)".to_owned())),
            ("{{env_var(PATH)} }", Some("{{env_var(PATH)} }".to_owned())),
            ("{{}}", None),
            ("{{ }}", None),
            ("{{ PATH }}", None),
            ("{{ env_var() }}", None),
            ("{{ env_var(PATH }}", None),
            ("{{ env_var }}", None),
        ] {
            let theirs = match process_profile_value(text) {
                Ok(OptionValue::String(text)) => Some(text),
                Ok(other) => panic!("{other:?}"),
                Err(_) => None,
            };
            let mut unset = Vec::new();
            let ours = spelt(OptionValue::String(text.to_owned()), |name| unset.push(name.to_owned()));
            assert_eq!((ours.clone().ok(), theirs), (expected.clone(), expected), "{text}");
            assert!(ours.is_ok() || ours == Err(NO_VARIABLE.to_owned()), "{text}: {ours:?}");
            assert_eq!(unset.is_empty(), !text.contains("NO_SUCH"), "{text}");
        }
    }
}
