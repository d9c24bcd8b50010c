//! Databases as Firebird itself names them: `host/port:path`, `inet://host:port/path`, or a plain path.

use super::error::{ConfigError, shorten};
use super::{DEFAULT_PORT, Draft, MAX_TEXT, Pairs, Target, keywords, url};
use std::net::Ipv6Addr;

/// Reads a text of any form.
pub(super) fn read(text: &str) -> Result<Draft, ConfigError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ConfigError::Empty);
    }
    if text.len() > MAX_TEXT {
        return Err(ConfigError::TooLong(MAX_TEXT));
    }
    if text.contains('\0') {
        return Err(ConfigError::NulByte);
    }
    if keywords::is_list(text) { keywords::parse(text) } else { database(text) }
}

/// Reads a text of any form but a list of keywords.
pub(super) fn database(text: &str) -> Result<Draft, ConfigError> {
    if let Some(rest) = strip_prefix(text, "jdbc:") {
        return url::jdbc(rest);
    }
    if let Some(rest) = strip_prefix(text, "embedded:") {
        let (path, pairs) = split_options(rest, "&")?;
        return Ok(Draft { target: Target::embedded(path), pairs });
    }
    match scheme(text) {
        Some((scheme, rest)) => match scheme.to_ascii_lowercase().as_str() {
            "inet" => inet(rest, None),
            "inet4" => inet(rest, Some("inet4")),
            "inet6" => inet(rest, Some("inet6")),
            "xnet" => Err(ConfigError::LocalProtocol("xnet://")),
            "wnet" => Err(ConfigError::LocalProtocol("wnet://")),
            "file" => url::file(rest),
            // SQLAlchemy writes dialect+driver; which driver it would have used does not matter here.
            name if matches!(name.split('+').next(), Some("firebird" | "firebirdsql")) => url::parse(rest),
            name => Err(ConfigError::UnknownScheme(shorten(name))),
        },
        None => native(text, "&"),
    }
}

/// `scheme` and what follows `://`. A single letter is a drive.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
    (scheme.len() > 1 && scheme.bytes().all(good)).then_some((scheme, rest))
}

/// As `str::strip_prefix`, in any case.
pub(super) fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Whether the text begins with `C:\` or `C:/`. As in Firebird, one letter in front of a colon is a host
/// otherwise.
pub(super) fn starts_with_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic())
}

/// `host:path`, `host/port:path`, or a path of this machine; perhaps with options. The path is not decoded.
pub(super) fn native(text: &str, separators: &str) -> Result<Draft, ConfigError> {
    if text.starts_with("\\\\") {
        return Err(ConfigError::LocalProtocol("\\\\server\\path (wnet)"));
    }
    refuse_near_url(text)?;
    if text.starts_with(['/', '\\', '.']) || starts_with_drive(text) {
        let (path, pairs) = split_options(text, separators)?;
        return Ok(Draft { target: Target::embedded(path), pairs });
    }
    if is_bare_url(text) {
        return url::parse(text);
    }
    let (text, pairs) = split_options(text, separators)?;
    let Some(colon) = find_behind_brackets(text, &[':']) else {
        return Ok(Draft { target: Target::embedded(text), pairs });
    };
    let (server, path) = (&text[..colon], &text[colon + 1..]);
    let (name, port) = match server.split_once('/') {
        Some((name, service)) => {
            // In front of an @ it may be a part of a password.
            let port = port(service).ok_or_else(|| match text.contains('@') {
                true => ConfigError::InvalidPort,
                false => ConfigError::UnknownService(shorten(service)),
            })?;
            (name, port)
        }
        None => (server, DEFAULT_PORT),
    };
    if path.starts_with(':') {
        return Err(ConfigError::InvalidHost("an IPv6 address must be written in brackets, [::1]:path"));
    }
    let digits = path.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && path[digits..].starts_with(':') {
        return Err(ConfigError::PortBehindColon);
    }
    // More likely `user:pass/word@host/path` than an @ in a relative path; the host would be the user's name.
    if path.contains('@') && !path.starts_with(['/', '\\']) && !starts_with_drive(path) {
        return Err(ConfigError::UnescapedAt);
    }
    remote(host(name)?, port, path, pairs)
}

/// Schemes that people begin a URL with. A host may have such a name, too: in a container, `firebird:/data/x.fdb`.
const SCHEMES: [&str; 12] = [
    "firebird",
    "firebirdsql",
    "inet",
    "inet4",
    "inet6",
    "xnet",
    "wnet",
    "file",
    "jdbc",
    "http",
    "https",
    "profile",
];

/// Refuses what was meant to be a URL with a login, but lacks a colon or a slash. It would be taken for a host or a file,
/// and the password for a part of a path, which appears in messages and on the wire.
fn refuse_near_url(text: &str) -> Result<(), ConfigError> {
    let text = &text[..options_start(text).unwrap_or(text.len())];
    let end = find_behind_brackets(text, &[':', '/', '\\']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    // SQLAlchemy's form, and blanks that slipped in.
    let word = word.split('+').next().unwrap_or_default().trim();
    let is_scheme = SCHEMES.iter().any(|scheme| scheme.eq_ignore_ascii_case(word));
    let refused = match rest.rsplit_once('@') {
        // In `user:password@host` nothing but another colon says that the user is a scheme.
        Some((front, _)) if is_bare_url(text) => is_scheme && has_login(front),
        Some((front, _)) => is_scheme || has_login(front),
        // No folder is written like `firebird//host/x`.
        None => is_scheme && rest.starts_with("//"),
    };
    if refused { Err(ConfigError::NearUrl) } else { Ok(()) }
}

/// Returns whether the text before an `@` may end with `user:password`: `:/user:password`, but not `/3050:path` or `:C:/path`.
pub(super) fn has_login(front: &str) -> bool {
    let service = front.strip_prefix('/').and_then(|rest| rest.split_once(':'));
    let path = match service {
        Some((service, path)) if port(service).is_some() => path,
        _ => front.trim_start_matches([':', '/', '\\', ' ']),
    };
    let path = if starts_with_drive(path) { &path[2..] } else { path };
    path.contains(':')
}

/// URLs without their scheme, as the Go driver takes them: `user:password@host/path`, and `host:3050/path`,
/// where Firebird would see a relative path that begins with a folder of digits.
fn is_bare_url(text: &str) -> bool {
    let authority = text.split(['/', '\\', '?']).next().unwrap_or_default();
    if let Some(at) = authority.find('@') {
        return authority[..at].contains(':') || text[authority.len()..].starts_with('/');
    }
    let bracket = authority.rfind(']').unwrap_or(0);
    match authority[bracket..].split_once(':') {
        Some((_, port)) => !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()),
        None => false,
    }
}

/// What follows `inet://`. As in Firebird the path is everything behind the first slash, and without a
/// host the server is on this machine.
fn inet(rest: &str, family: Option<&str>) -> Result<Draft, ConfigError> {
    let (text, mut pairs) = split_options(rest, "&")?;
    pairs.extend(family.map(|family| ("address_family".into(), family.into())));
    if text.starts_with('/') || starts_with_drive(text) {
        // With a slash too many a login would be a path on this machine's server.
        if text.rsplit_once('@').is_some_and(|(front, _)| has_login(front)) {
            return Err(ConfigError::NearUrl);
        }
        return Ok(Draft { target: Target::local_server(text), pairs });
    }
    match text.split_once('/') {
        Some((server, _)) if server.contains('@') => Err(ConfigError::UserInLocator),
        Some((server, path)) => {
            let (name, port) = split_port(server)?;
            remote(host(name)?, port.unwrap_or(DEFAULT_PORT), path, pairs)
        }
        // `inet://alias`; but with a port it is a server whose database was forgotten.
        None if text.contains([':', '@', ']']) => Err(ConfigError::MissingDatabase),
        None => Ok(Draft { target: Target::local_server(text), pairs }),
    }
}

pub(super) fn remote(host: String, port: u16, database: &str, pairs: Pairs) -> Result<Draft, ConfigError> {
    if database.is_empty() {
        return Err(ConfigError::MissingDatabase);
    }
    Ok(Draft { target: Target::Remote { host, port, database: database.into() }, pairs })
}

/// Where one of these comes first. The colons of an address in brackets do not end a host.
fn find_behind_brackets(text: &str, ends: &[char]) -> Option<usize> {
    let bracket = if text.starts_with('[') { text.find(']').unwrap_or(0) } else { 0 };
    text[bracket..].find(ends).map(|at| at + bracket)
}

/// `host`, `host:port`, `[address]:port`; an empty port is like none.
pub(super) fn split_port(server: &str) -> Result<(&str, Option<u16>), ConfigError> {
    match find_behind_brackets(server, &[':']) {
        None => Ok((server, None)),
        Some(colon) if colon + 1 == server.len() => Ok((&server[..colon], None)),
        Some(colon) => {
            let port = port(&server[colon + 1..]).ok_or(ConfigError::InvalidPort)?;
            Ok((&server[..colon], Some(port)))
        }
    }
}

/// A number, or Firebird's registered service.
pub(super) fn port(text: &str) -> Option<u16> {
    if text.eq_ignore_ascii_case("gds_db") {
        return Some(DEFAULT_PORT);
    }
    // `parse` alone would let a plus sign pass.
    let port = if text.starts_with('+') { None } else { text.parse().ok() };
    port.filter(|port| *port > 0)
}

/// Checks a host and takes off the brackets of an address. Messages do not repeat the text: in a URL that
/// was split at the wrong place it may be a part of the password.
pub(super) fn host(text: &str) -> Result<String, ConfigError> {
    if let Some(inner) = text.strip_prefix('[') {
        let bare = inner.strip_suffix(']').unwrap_or_default();
        // The zone behind % is the name of a network interface.
        let (address, zone) = bare.split_once('%').unwrap_or((bare, "0"));
        let named = !zone.is_empty() && zone.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c));
        return match address.parse::<Ipv6Addr>() {
            Ok(_) if named => Ok(bare.into()),
            _ => Err(ConfigError::InvalidHost("brackets must contain an IPv6 address, as in [::1]")),
        };
    }
    if text.is_empty() {
        return Err(ConfigError::MissingHost);
    }
    // Letters of any language: the resolver decides.
    if text.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)) {
        Ok(text.into())
    } else {
        Err(ConfigError::InvalidHost("names have letters, digits, dots, hyphens and underscores only"))
    }
}

/// Cuts off `?name=value…`. A question mark that no `name=` follows belongs to the path.
pub(super) fn split_options<'a>(text: &'a str, separators: &str) -> Result<(&'a str, Pairs), ConfigError> {
    match options_start(text) {
        Some(at) => Ok((&text[..at], url::query(&text[at + 1..], separators)?)),
        None => Ok((text, Pairs::new())),
    }
}

/// Where `?name=` begins.
fn options_start(text: &str) -> Option<usize> {
    let ends_name = |c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c));
    let begins_options =
        |query: &str| query.find(ends_name).is_some_and(|end| end > 0 && query[end..].starts_with('='));
    text.match_indices('?').map(|(at, _)| at).find(|at| begins_options(&text[at + 1..]))
}
