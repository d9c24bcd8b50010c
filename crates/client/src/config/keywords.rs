//! Lists of keywords, as ODBC and .NET have them: `Driver={…};Dbname=host:path;Uid=…;Pwd=…`.

use super::Draft;
use super::error::ConfigError;
use super::locator::{database, host, port, remote};
use super::names::{Found, Key, find};
use super::{DEFAULT_PORT, Target};

/// Whether the text begins with a name and `=`. No other form does.
pub(super) fn is_list(text: &str) -> bool {
    let text = text.trim_start_matches([';', ' ']);
    let Some((name, _)) = text.split_once('=') else { return false };
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || " _-.".contains(c))
}

/// Reads a list. The server is either named in front of the path, or by keywords of its own.
pub(super) fn parse(text: &str) -> Result<Draft, ConfigError> {
    let (mut locator, mut server, mut service) = (None, None, None);
    let mut pairs = Vec::new();
    for (name, value) in split(text)? {
        let slot = match find(&name) {
            Ok(Found::Own(spec)) if spec.key == Key::Database => Some((&mut locator, spec.name)),
            Ok(Found::Own(spec)) if spec.key == Key::Host => Some((&mut server, spec.name)),
            Ok(Found::Own(spec)) if spec.key == Key::Port => Some((&mut service, spec.name)),
            _ => None,
        };
        match slot {
            None => pairs.push((name, value)),
            Some((Some(_), name)) => return Err(ConfigError::Duplicate(name.into())),
            Some((slot, _)) => *slot = Some(value).filter(|value| !value.is_empty()),
        }
    }
    let locator = locator.ok_or(ConfigError::MissingDatabase)?;
    let Some(server) = server else {
        if service.is_some() {
            return Err(ConfigError::MissingHost);
        }
        let mut draft = database(&locator)?;
        draft.pairs.extend(pairs);
        return Ok(draft);
    };
    match database(&locator) {
        Ok(Draft { target: Target::Remote { .. }, .. }) => {
            return Err(ConfigError::Conflict(
                "both host and database name a server; leave only the path or alias in database",
            ));
        }
        // A password may be in it, which must not become part of a path.
        Err(
            error @ (ConfigError::NearUrl
            | ConfigError::UnescapedAt
            | ConfigError::UnescapedHash
            | ConfigError::UserInLocator
            | ConfigError::InvalidEscape(_)
            | ConfigError::InvalidUtf8(_)),
        ) => return Err(error),
        _ => {}
    }
    let port = match service {
        Some(service) => port(&service).ok_or(ConfigError::InvalidPort)?,
        None => DEFAULT_PORT,
    };
    // An address needs its brackets in front of a colon only.
    let bare = server.contains(':') && !server.starts_with('[');
    let server = if bare { host(&format!("[{server}]"))? } else { host(&server)? };
    remote(server, port, &locator, pairs)
}

/// Splits `name=value;name={value};…`. Blanks around names and values do not count.
fn split(text: &str) -> Result<Vec<(String, String)>, ConfigError> {
    let mut pairs = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c == ';' || c.is_whitespace());
        if rest.is_empty() {
            return Ok(pairs);
        }
        let (name, tail) = rest.split_once('=').ok_or(ConfigError::MissingEquals)?;
        if name.contains(';') {
            return Err(ConfigError::MissingEquals);
        }
        let tail = tail.trim_start();
        let value = match tail.strip_prefix('{') {
            Some(tail) => {
                let (value, tail) = braced(tail)?;
                rest = tail;
                value
            }
            None => {
                let end = tail.find(';').unwrap_or(tail.len());
                rest = &tail[end..];
                tail[..end].trim_end().to_owned()
            }
        };
        pairs.push((name.trim().to_owned(), value));
    }
}

/// Reads up to the closing brace; returns the value and what follows.
fn braced(text: &str) -> Result<(String, &str), ConfigError> {
    let mut value = String::new();
    let mut rest = text;
    loop {
        let (part, tail) = rest.split_once('}').ok_or(ConfigError::UnbalancedBrace)?;
        value.push_str(part);
        match tail.strip_prefix('}') {
            Some(tail) => {
                value.push('}');
                rest = tail;
            }
            None => {
                let tail = tail.trim_start();
                let ends = tail.is_empty() || tail.starts_with(';');
                return if ends { Ok((value, tail)) } else { Err(ConfigError::UnbalancedBrace) };
            }
        }
    }
}
