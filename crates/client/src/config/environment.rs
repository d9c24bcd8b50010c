//! What the environment says where a connection string is silent: user, password, and the key of the database.

use super::{Config, ConfigError, Target};
use std::fs::File;
use std::io::Read;

/// Most bytes of a file with a password in it.
const LONGEST: u64 = 64 << 10;

/// Fills what is missing. Empty variables count as not set.
pub(super) fn fill(config: &mut Config, env: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
    let lookup = |name: &str| env(name).filter(|value| !value.is_empty());
    if config.user.is_none()
        && let Some(user) = lookup("FIREARROW_USER").or_else(|| lookup("ISC_USER"))
    {
        config.set("user", &user)?;
    }
    let remote = matches!(config.target, Target::Remote { .. });
    if config.password.is_none() {
        let password = match (lookup("FIREARROW_PASSWORD"), lookup("FIREARROW_PASSWORD_FILE")) {
            (Some(password), _) => Some(password),
            // The engine in this process asks for none.
            (None, Some(path)) if remote => Some(from_file(path)?),
            (None, _) => lookup("ISC_PASSWORD"),
        };
        if let Some(password) = password {
            config.set("password", &password)?;
        }
    }
    if config.db_key.is_none()
        && let Some(source) = lookup("FIREARROW_DB_KEY")
    {
        config.set("db_key", &source)?;
    }
    if !config.db_key_in_clear
        && let Some(flag) = lookup("FIREARROW_DB_KEY_IN_CLEAR")
    {
        config.set("db_key_in_clear", &flag)?;
    }
    Ok(())
}

/// The first line of a file.
fn from_file(path: String) -> Result<String, ConfigError> {
    let mut text = Vec::new();
    let read = File::open(&path).and_then(|file| file.take(LONGEST + 1).read_to_end(&mut text));
    let reason = match read {
        Err(error) => error.to_string(),
        Ok(_) if text.len() as u64 > LONGEST => "it is too long".to_owned(),
        Ok(_) => match String::from_utf8(text) {
            // Editors on Windows begin with a byte order mark.
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                return Ok(text.lines().next().unwrap_or_default().to_owned());
            }
            Err(error) if matches!(error.as_bytes(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) => {
                "it is UTF-16: save it as UTF-8".to_owned()
            }
            Err(_) => "it is not UTF-8".to_owned(),
        },
    };
    Err(ConfigError::PasswordFile { path, reason })
}
