//! The database to connect to: DBNAME, SERVER and PORT.

use super::syntax::in_braces;
use super::{Attributes, compatible::Notes};
use crate::diagnostics::{Failure, Result, State};
use firearrow::Config;
use firearrow::config::{ConfigError, Target};

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
    let alone = parse(&[("database", Some(database))]);
    if let Ok((Config { target: Target::Remote { host, port: used, .. }, .. }, _)) = &alone {
        if server.is_some_and(|server| !server.trim_matches(['[', ']']).eq_ignore_ascii_case(host)) {
            notes.change("SERVER", "DBNAME names another server, which is used");
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

/// Has the client read the parts. The environment comes later, when all that it could fill is known.
fn parse(parts: &[(&str, Option<&str>)]) -> Result<(Config, Attributes), ConfigError> {
    let parts = parts.iter().filter_map(|(name, value)| Some(format!("{name}={};", in_braces((*value)?))));
    let (config, options) = Config::parse_for_front_end(&parts.collect::<String>(), &|_| None)?;
    Ok((config, Attributes::from_pairs(options)))
}

/// The client's error about a keyword.
pub(super) fn failure(keyword: &str, error: &ConfigError) -> Failure {
    match error {
        ConfigError::LocalProtocol(_) => Failure::new(State::NOT_IMPLEMENTED, format!("{keyword}: {error}")),
        // The client advises to call its functions.
        ConfigError::ApplicationOnly { option, .. } => Failure::new(
            State::GENERAL,
            format!("{keyword}: {option} is not allowed within a URL; write {option}=… after a semicolon"),
        ),
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
    fn a_server_in_dbname_wins_with_a_warning() {
        for (text, expected, warnings) in [
            ("DBNAME=srv:x;SERVER=SRV;PORT=3050", remote("srv", 3050, "x"), 0),
            ("DBNAME=[::1]:x;SERVER=[::1]", remote("::1", 3050, "x"), 0),
            ("DBNAME=srv:x;SERVER=other", remote("srv", 3050, "x"), 1),
            ("DBNAME=srv/3051:x;SERVER=other;PORT=3052", remote("srv", 3051, "x"), 2),
        ] {
            assert_eq!(target(text), Ok((expected, warnings)), "{text}");
        }
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
                "DBNAME: client_library is not allowed within a URL; write client_library=… after a semicolon",
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
