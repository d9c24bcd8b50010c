//! The database to connect to: DBNAME, SERVER and PORT.

use super::syntax::in_braces;
use super::{Attributes, compatible::Notes};
use crate::diagnostics::{Failure, Result, State};
use firearrow::Config;
use firearrow::config::{ConfigError, Target};
use firearrow_driver::shortened;

/// The configuration that DBNAME names, with SERVER and PORT unless it names a server itself. If it is a URL, it may contain
/// options: those of the client are set, those of this driver are returned.
pub(super) fn read(attributes: &Attributes, notes: &mut Notes) -> Result<(Config, Attributes)> {
    let Some(database) = attributes.filled("DBNAME") else {
        let text = match attributes.data_source() {
            Some(name) => format!(
                "no database is named; add DBNAME=host:path to the connection string, or Dbname to the data source '{name}'"
            ),
            None => "no database is named; add DBNAME=host:path to the connection string".to_owned(),
        };
        return Err(Failure::new(State::GENERAL, text));
    };
    let (server, port) = (attributes.filled("SERVER"), attributes.filled("PORT"));
    if let Some(server) = server {
        check_server(server)?;
    }
    let alone = parse(&[("database", Some(database))]);
    if let Ok((Config { target: Target::Remote { host, port: used, .. }, .. }, _)) = &alone {
        // Whichever were taken, it could be the wrong database.
        if let Some(server) = server.filter(|server| !is_same_host(server, host)) {
            let (server, host) = (shortened(server), shortened(host));
            return Err(Failure::new(
                State::GENERAL,
                format!(
                    "SERVER={server} contradicts the host {host} in DBNAME; leave out SERVER, or give DBNAME={server}:path"
                ),
            ));
        }
        if port.is_some_and(|port| port != used.to_string()) {
            notes.change("PORT", &format!("DBNAME names a server, whose port {used} is used"));
        }
        return alone.map_err(|error| failure("DBNAME", &error));
    }
    match (server, port) {
        (Some(_), _) if database.contains("://") => Err(Failure::new(
            State::GENERAL,
            "DBNAME is a URL; write the server into it instead of into SERVER, or write only the path into DBNAME",
        )),
        (Some(_), _) => parse(&[("host", server), ("port", port), ("database", Some(database))])
            .map_err(|error| failure("SERVER, PORT or DBNAME", &error)),
        (None, Some(_)) if alone.is_ok() => {
            Err(Failure::new(State::GENERAL, "PORT is given without SERVER; add SERVER=host"))
        }
        (None, _) => alone.map_err(|error| failure("DBNAME", &error)),
    }
}

/// Refuses what has a port behind the host, as drivers for other databases take it. Only what is no more than host and port
/// is repeated: anything else may contain a password.
fn check_server(server: &str) -> Result<()> {
    let split = server.rsplit_once([':', ',', '/']).filter(|(host, port)| {
        let is_name = host.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)) && !host.is_empty();
        let is_address = host.starts_with('[') && host.ends_with(']');
        (is_name || is_address) && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
    });
    match split {
        Some((host, port)) => Err(Failure::new(
            State::GENERAL,
            format!(
                "SERVER contains a port; put the port in PORT= (SERVER={host};PORT={port}), or write DBNAME={host}/{port}:path"
            ),
        )),
        None => Ok(()),
    }
}

fn is_same_host(server: &str, host: &str) -> bool {
    server.trim_matches(['[', ']']).eq_ignore_ascii_case(host.trim_matches(['[', ']']))
}

/// Fits a data source to the connection string that overrides it. Without SERVER and PORT of its own, a DBNAME that names a
/// server does not get those of the data source. One that names none must not turn the database of a server into a file
/// of this machine, unless CLIENT or the prefix `embedded:` asks for a local one.
pub(super) fn fit(source: &mut Attributes, string: &Attributes) -> Result<()> {
    let Some(database) = string.filled("DBNAME") else { return Ok(()) };
    let is_remote = |database| match parse(&[("database", Some(database))]) {
        Ok((config, _)) => Some(matches!(config.target, Target::Remote { .. })),
        // What is wrong with it is said later.
        Err(_) => None,
    };
    match is_remote(database) {
        Some(true) => source.retain(|each| !["SERVER", "PORT"].contains(&each.name.as_str())),
        Some(false) => {
            let names_server = |list: &Attributes| list.filled("SERVER").is_some();
            let is_embedded =
                string.filled("CLIENT").is_some() || strip_prefix(database, "embedded:").is_some();
            let was_remote = source.filled("DBNAME").and_then(is_remote) == Some(true);
            if was_remote && !is_embedded && !names_server(string) && !names_server(source) {
                let (database, name) = (shortened(database), string.data_source().unwrap_or_default());
                return Err(Failure::new(
                    State::CANNOT_CONNECT,
                    format!(
                        "DBNAME={database} names no server, but the data source '{name}' does; give DBNAME=host:path, or \
                         DBNAME=embedded:path for a file of this machine"
                    ),
                ));
            }
        }
        None => {}
    }
    Ok(())
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = text.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Has the client read the parts. The environment comes later, when all that it could fill is known.
fn parse(parts: &[(&str, Option<&str>)]) -> Result<(Config, Attributes), ConfigError> {
    let parts = parts.iter().filter_map(|(name, value)| Some(format!("{name}={};", in_braces((*value)?))));
    let (config, options) = Config::parse_for_front_end(&parts.collect::<String>(), &|_| None)?;
    Ok((config, Attributes::from_pairs(options)))
}

/// The error about an option that only a registered data source may set.
pub(super) fn refused(option: &str) -> Failure {
    let option = firearrow_driver::shortened(option);
    let reason = "it chooses code to run, secrets to send or files to replace";
    let text = format!(
        "{option} is refused in connection strings and URLs: {reason}; add a data source with Dbname=…;{option}=…, and \
         connect with DSN="
    );
    Failure::new(State::GENERAL, text)
}

/// The client's error about a keyword.
pub(super) fn failure(keyword: &str, error: &ConfigError) -> Failure {
    match error {
        ConfigError::LocalProtocol(_) => Failure::new(State::NOT_IMPLEMENTED, format!("{keyword}: {error}")),
        // The client advises to call its functions.
        ConfigError::ApplicationOnly { option: "client_library", .. } => Failure::new(
            State::GENERAL,
            format!("{keyword}: client_library is not allowed within a URL; write Dbname=…;Client=…"),
        ),
        ConfigError::ApplicationOnly { option, .. } => refused(option),
        error => Failure::new(State::GENERAL, format!("{keyword}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(text: &str) -> Result<(Target, usize)> {
        let mut notes = Notes::default();
        let (config, _) = read(&Attributes::parse(text).expect("a list"), &mut notes)?;
        Ok((config.target, notes.len()))
    }

    fn remote(host: &str, port: u16, database: &str) -> Target {
        Target::Remote { host: host.into(), port, database: database.into() }
    }

    fn embedded(path: &str) -> Target {
        Target::Embedded { path: path.into() }
    }

    #[test]
    fn databases_have_all_forms() {
        for (text, expected) in [
            ("DBNAME=srv:/data/x.fdb", remote("srv", 3050, "/data/x.fdb")),
            ("Database=srv:C:\\data\\x.fdb", remote("srv", 3050, "C:\\data\\x.fdb")),
            ("db=srv/3051:employee", remote("srv", 3051, "employee")),
            ("DBNAME=inet://srv:3051/x", remote("srv", 3051, "x")),
            ("DBNAME=inet4://srv//data/x.fdb", remote("srv", 3050, "/data/x.fdb")),
            ("DBNAME=inet6://[::1]:3051/x", remote("::1", 3051, "x")),
            ("DBNAME=[::1]:x", remote("::1", 3050, "x")),
            ("URL=firebird://srv:3051/data/x.fdb", remote("srv", 3051, "/data/x.fdb")),
            ("DBNAME=/data/x.fdb", embedded("/data/x.fdb")),
            ("DBNAME={/data/a;b}}.fdb}", embedded("/data/a;b}.fdb")),
            ("DBNAME=employee", embedded("employee")),
            ("DBNAME=C:\\x.fdb", embedded("C:\\x.fdb")),
            ("DBNAME=user=x", embedded("user=x")),
            ("DBNAME=/data/x.fdb;SERVER=srv", remote("srv", 3050, "/data/x.fdb")),
            ("Initial Catalog=employee;Data Source=srv;Port=3051", remote("srv", 3051, "employee")),
            ("DBNAME=C:\\x.fdb;HOST=::1;PORT=3052", remote("::1", 3052, "C:\\x.fdb")),
            ("DBNAME=x;SERVER=;PORT=", embedded("x")),
        ] {
            assert_eq!(target(text), Ok((expected, 0)), "{text}");
        }
    }

    #[test]
    fn two_servers_must_be_the_same() {
        for (text, expected, warnings) in [
            ("DBNAME=srv:x;SERVER=SRV;PORT=3050", remote("srv", 3050, "x"), 0),
            ("DBNAME=[::1]:x;SERVER=[::1]", remote("::1", 3050, "x"), 0),
            ("DBNAME=[::1]:x;SERVER=::1", remote("::1", 3050, "x"), 0),
            ("DBNAME=firebird://srv:3051/x;SERVER=srv", remote("srv", 3051, "x"), 0),
            ("DBNAME=srv/3051:x;SERVER=srv;PORT=3052", remote("srv", 3051, "x"), 1),
        ] {
            assert_eq!(target(text), Ok((expected, warnings)), "{text}");
        }
        for text in ["DBNAME=srv:x;SERVER=other", "DBNAME=firebird://u:secret@srv/x;SERVER=other;PORT=3052"] {
            let failure = target(text).expect_err(text);
            let expected = "SERVER=other contradicts the host srv in DBNAME; leave out SERVER, or give DBNAME=other:path";
            assert_eq!((failure.state, failure.text.as_str()), (State::GENERAL, expected));
        }
    }

    #[test]
    fn a_port_has_a_keyword_of_its_own() {
        for (server, host) in [
            ("127.0.0.1:40695", "127.0.0.1"),
            ("127.0.0.1,40695", "127.0.0.1"),
            ("srv/40695", "srv"),
            ("[::1]:40695", "[::1]"),
        ] {
            let failure = target(&format!("DBNAME=x;SERVER={server}")).expect_err(server);
            let expected = format!(
                "SERVER contains a port; put the port in PORT= (SERVER={host};PORT=40695), or write DBNAME={host}/40695:path"
            );
            assert_eq!(failure.text, expected);
        }
        assert_eq!(target("DBNAME=x;SERVER=fe80::1"), Ok((remote("fe80::1", 3050, "x"), 0)));
        let failure = target("DBNAME=x;SERVER=bob:secret@h:3050").expect_err("no host");
        assert!(!failure.text.contains("secret"), "{}", failure.text);
    }

    /// What a connection string and a data source make together.
    fn joined(text: &str, source: &str) -> Result<(Target, usize)> {
        let mut string = Attributes::parse(text)?;
        let mut source = Attributes::parse(source)?;
        fit(&mut source, &string)?;
        string.merge(&source);
        target(&string.to_string())
    }

    #[test]
    fn a_string_overrides_the_server_of_its_data_source_as_a_whole() {
        for (text, source, expected) in [
            ("DSN=s;DBNAME=h2:y", "SERVER=h;PORT=3051;DBNAME=x", remote("h2", 3050, "y")),
            ("DSN=s;DBNAME=/y", "SERVER=h;PORT=3051;DBNAME=x", remote("h", 3051, "/y")),
            ("DSN=s;DBNAME=/y;SERVER=h2", "DBNAME=h:x", remote("h2", 3050, "/y")),
            ("DSN=s;SERVER=h2", "SERVER=h;DBNAME=x", remote("h2", 3050, "x")),
            ("DSN=s;DBNAME=/y", "DBNAME=/x", embedded("/y")),
            ("DSN=s;DBNAME=embedded:/y", "DBNAME=h:x", embedded("/y")),
            ("DSN=s;DBNAME=/y;CLIENT=/c.so", "DBNAME=h:x", embedded("/y")),
            ("DSN=s;UID=u", "DBNAME=h:x", remote("h", 3050, "x")),
        ] {
            assert_eq!(joined(text, source), Ok((expected, 0)), "{text} {source}");
        }
        let failure = joined("DSN=Old;Database=/x.fdb", "DBNAME=h:x").expect_err("a file now");
        let expected = "DBNAME=/x.fdb names no server, but the data source 'Old' does; give DBNAME=host:path";
        assert!(failure.text.starts_with(expected), "{}", failure.text);
        assert_eq!(failure.state, State::CANNOT_CONNECT);
        let failure = joined("DSN=s;SERVER=other", "DBNAME=h:x").expect_err("two servers");
        assert!(failure.text.contains("contradicts the host h"), "{}", failure.text);
    }

    #[test]
    fn options_of_a_url_are_told_apart() {
        let text = "URL={firebird://bob:pw@h/x?role=r&wire_crypt=required&readonly=y}";
        let (config, others) =
            read(&Attributes::parse(text).expect("a list"), &mut Notes::default()).expect("valid");
        assert_eq!((config.user.as_deref(), config.role.as_deref()), (Some("bob"), Some("r")));
        assert_eq!(others.to_string(), "READONLY=y");
    }

    #[test]
    fn wrong_targets_say_what_to_write() {
        for (text, state, expected) in [
            ("UID=x", State::GENERAL, "no database is named; add DBNAME=host:path to the connection string"),
            ("DSN=shop", State::GENERAL, "Dbname to the data source 'shop'"),
            (
                "DBNAME=xnet://x",
                State::NOT_IMPLEMENTED,
                "DBNAME: xnet:// works between processes of a Windows",
            ),
            ("DBNAME=\\\\srv\\share\\x", State::NOT_IMPLEMENTED, "DBNAME: "),
            ("DBNAME=http://x", State::GENERAL, "DBNAME: 'http://' is unknown"),
            ("DBNAME=x;PORT=3050", State::GENERAL, "PORT is given without SERVER"),
            ("DBNAME=x;SERVER=a b", State::GENERAL, "SERVER, PORT or DBNAME: the host is wrong"),
            ("DBNAME=x;SERVER=a;PORT=0", State::GENERAL, "SERVER, PORT or DBNAME: the port is not a number"),
            ("DBNAME=firebird:///x;SERVER=a", State::GENERAL, "DBNAME is a URL; write the server into it"),
            ("DBNAME=h:3050:x", State::GENERAL, "DBNAME: write the port after a slash"),
            (
                "DBNAME=firebird://h/x?client_library=/x.so",
                State::GENERAL,
                "DBNAME: client_library is not allowed within a URL; write Dbname=…;Client=…",
            ),
        ] {
            let failure = target(text).expect_err(text);
            assert_eq!(failure.state, state, "{text}: {}", failure.text);
            assert!(failure.text.contains(expected), "{text}: {}", failure.text);
        }
        let long = format!("DBNAME={}", "x".repeat(100_000));
        assert!(target(&long).expect_err("too long").text.contains("is longer than"));
    }

    #[test]
    fn passwords_stay_out_of_messages() {
        for text in [
            "DBNAME=firebird://bob:se/cret@h/x",
            "DBNAME=firebird:/bob:secret@h/x",
            "DBNAME=firebird://bob:secret@h:x/y",
            "DBNAME=bob:secret@h:x:y/z",
            "DBNAME=firebird:///bob:secret@h/x;SERVER=y",
        ] {
            let failure = target(text).expect_err(text);
            assert!(!failure.text.contains("cret"), "{}", failure.text);
        }
    }
}
