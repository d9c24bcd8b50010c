//! URLs: `firebird://user:password@host:port/path?name=value`, JDBC's and `file://`; and writing one.
//!
//! Split by hand: the `url` crate follows the rules of browsers, which turn backslashes of Windows paths into
//! slashes, remove `..`, and know neither `host/port:path` nor an unescaped `@` as the mistake it is.
//! `percent-encoding` (the same authors' smaller crate) does the escapes.

use super::error::ConfigError;
use super::locator::{
    has_login, host, native, remote, split_options, split_port, starts_with_drive, strip_prefix,
};
use super::names::{Found, Key, find};
use super::{Config, DEFAULT_PORT, Draft, Pairs, Target, options};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but letters, digits and these may mean something to some parser of URLs.
const IN_USER: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'$');
const IN_PATH: &AsciiSet = &IN_USER.remove(b'/').remove(b':');
const IN_OPTION: &AsciiSet = &IN_PATH.remove(b',');

/// The meaning of a URL without a host.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoHost {
    Embedded,
    Localhost,
}

/// What follows `firebird://`.
pub(super) fn parse(rest: &str) -> Result<Draft, ConfigError> {
    parse_url(rest, "&", NoHost::Embedded)
}

/// What follows `jdbc:`. Jaybird separates options by `;` as well, and without a host means this machine.
pub(super) fn jdbc(text: &str) -> Result<Draft, ConfigError> {
    let unknown = || ConfigError::UnknownScheme("jdbc:…".into());
    let (name, mut rest) = text.split_once(':').ok_or_else(unknown)?;
    if !matches!(name.to_ascii_lowercase().as_str(), "firebirdsql" | "firebird") {
        return Err(unknown());
    }
    if strip_prefix(rest, "local:").is_some() {
        return Err(ConfigError::LocalProtocol("jdbc:firebirdsql:local:"));
    }
    if let Some(rest) = strip_prefix(rest, "embedded:") {
        let (path, pairs) = split_options(rest, "&;")?;
        return Ok(Draft { target: Target::embedded(path), pairs });
    }
    // Jaybird's ways to speak TCP; the second one by means of the client library.
    for prefix in ["java:", "native:"] {
        rest = strip_prefix(rest, prefix).unwrap_or(rest);
    }
    if let Some(rest) = rest.strip_prefix("//") {
        return parse_url(rest, "&;", NoHost::Localhost);
    }
    let mut draft = native(rest, "&;")?;
    if let Target::Embedded { path } = draft.target {
        draft.target = Target::local_server(path);
    }
    Ok(draft)
}

/// What follows `file://`: nothing but a path.
pub(super) fn file(rest: &str) -> Result<Draft, ConfigError> {
    let (path, pairs) = split_url(rest, "&")?;
    if path.rsplit_once('@').is_some_and(|(front, _)| has_login(front)) {
        return Err(ConfigError::UnescapedAt);
    }
    let path = decode(path, "path")?;
    let path = match path.strip_prefix('/') {
        Some(path) if starts_with_drive(path) => path,
        Some(_) => &path,
        None if path.starts_with('.') || starts_with_drive(&path) => &path,
        None => {
            return Err(ConfigError::InvalidHost(
                "file:// has none; write file:///path with three slashes, or embedded:path if it is relative",
            ));
        }
    };
    Ok(Draft { target: Target::embedded(path), pairs })
}

/// Cuts off the options.
fn split_url<'a>(rest: &'a str, separators: &str) -> Result<(&'a str, Pairs), ConfigError> {
    if rest.contains('#') {
        return Err(ConfigError::UnescapedHash);
    }
    let (front, options) = rest.split_once('?').unwrap_or((rest, ""));
    Ok((front, query(options, separators)?))
}

fn parse_url(rest: &str, separators: &str, no_host: NoHost) -> Result<Draft, ConfigError> {
    // Before anything else: a misplaced @ is better explained than what it makes of the other parts.
    let front = rest.split('?').next().unwrap_or_default();
    if front.matches('@').count() > usize::from(front.split('/').next().is_some_and(|s| s.contains('@'))) {
        return Err(ConfigError::UnescapedAt);
    }
    let (front, mut pairs) = split_url(rest, separators)?;
    let literal = take_literal(&pairs)?;
    if starts_with_drive(front) {
        let target = local(decode(front, "path")?, no_host);
        return Ok(Draft { target, pairs });
    }
    let (authority, path) = front.split_once('/').unwrap_or((front, ""));
    let server = match authority.split_once('@') {
        None => authority,
        Some((user_info, server)) => {
            let (user, password) = match user_info.split_once(':') {
                Some((user, password)) => (user, Some(password)),
                None => (user_info, None),
            };
            if !user.is_empty() {
                pairs.push(("user".into(), decode(user, "user name")?));
            }
            if let Some(password) = password {
                pairs.push(("password".into(), decode(password, "password")?));
            }
            server
        }
    };
    let (name, port) = split_port(server)?;
    let path = decode(path, "path")?;
    let path = match literal {
        true => path,
        // `firebird://host:/path`, a mixture with the native form: the path begins at the colon.
        false if server.ends_with(':') && !name.is_empty() => resolve(format!("/{path}")),
        false => resolve(path),
    };
    if path.is_empty() {
        return Err(ConfigError::MissingDatabase);
    }
    if server.is_empty() {
        return Ok(Draft { target: local(path, no_host), pairs });
    }
    let name = decode(name, "host")?;
    remote(host(&name)?, port.unwrap_or(DEFAULT_PORT), &path, pairs)
}

fn local(path: String, no_host: NoHost) -> Target {
    match no_host {
        NoHost::Embedded => Target::embedded(path),
        NoHost::Localhost => Target::local_server(path),
    }
}

/// The path rule, see the module [`config`](super).
fn resolve(path: String) -> String {
    let stripped = path.trim_start_matches('/');
    let relative = ["./", "../"].iter().any(|start| stripped.starts_with(start));
    if starts_with_drive(stripped) {
        // `/C:/x` is how file URLs write a drive.
        stripped.into()
    } else if stripped.len() < path.len() {
        if stripped.is_empty() { String::new() } else { format!("/{stripped}") }
    } else if stripped.contains('/') && !relative && !stripped.starts_with('\\') {
        format!("/{stripped}")
    } else {
        path
    }
}

/// Whether `path=literal` is among the options.
fn take_literal(pairs: &[(String, String)]) -> Result<bool, ConfigError> {
    let is_path = |name: &str| matches!(find(name), Ok(Found::Own(spec)) if spec.key == Key::Path);
    match pairs.iter().find(|(name, _)| is_path(name)) {
        None => Ok(false),
        Some((_, value)) if value.eq_ignore_ascii_case("literal") => Ok(true),
        Some((_, value)) if value.eq_ignore_ascii_case("auto") => Ok(false),
        Some((_, value)) => Err(ConfigError::value("path", value, "literal or auto")),
    }
}

/// Reads `name=value` pairs. A plus sign is a plus sign: `+02:00` is a time zone.
pub(super) fn query(text: &str, separators: &str) -> Result<Pairs, ConfigError> {
    let parts = text.split(|c| separators.contains(c)).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (name, value) = part.split_once('=').ok_or(ConfigError::MissingEquals)?;
            Ok((decode(name, "name of an option")?, decode(value, "value of an option")?))
        })
        .collect()
}

/// Resolves escapes. The crate passes a stray `%`, which in a password is a mistake, so that is looked for.
fn decode(text: &str, part: &'static str) -> Result<String, ConfigError> {
    let stray = |(at, _): (usize, &str)| {
        let digits = text.as_bytes().get(at + 1..at + 3);
        !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if text.match_indices('%').any(stray) {
        return Err(ConfigError::InvalidEscape(part));
    }
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| ConfigError::InvalidUtf8(part))?;
    if decoded.contains('\0') { Err(ConfigError::NulByte) } else { Ok(decoded.into_owned()) }
}

/// The canonical URL of a configuration.
pub(super) fn write(config: &Config) -> String {
    let mut url = String::from("firebird://");
    if let Some(user) = &config.user {
        url.extend(utf8_percent_encode(user, IN_USER));
        url.push('@');
    }
    if let Target::Remote { host, port, .. } = &config.target {
        match host.split_once('%') {
            // RFC 6874: the percent sign of a zone is escaped in a URL.
            Some((address, zone)) => url.push_str(&format!("[{address}%25{zone}]:{port}")),
            None if host.contains(':') => url.push_str(&format!("[{host}]:{port}")),
            None => {
                url.extend(utf8_percent_encode(host, IN_USER));
                url.push_str(&format!(":{port}"));
            }
        }
    }
    let path = config.target.database();
    url.push('/');
    url.extend(utf8_percent_encode(path, IN_PATH));
    let literal = (resolve(path.into()) != path).then(|| ("path", "literal".to_owned()));
    for (index, (name, value)) in literal.into_iter().chain(options::written(config)).enumerate() {
        url.push(if index == 0 { '?' } else { '&' });
        url.push_str(name);
        url.push('=');
        url.extend(utf8_percent_encode(&value, IN_OPTION));
    }
    url
}
