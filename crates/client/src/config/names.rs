//! The names of options: ours, and those that other drivers gave to the same things.

use super::error::{ConfigError, shorten};

/// What an option is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    // Parts of the target; they have a place of their own in most forms.
    Database,
    Host,
    Port,
    Path,
    AddressFamily,
    // Who.
    User,
    Password,
    Role,
    // The wire.
    WireCrypt,
    Ciphers,
    ClearTextWarning,
    AllowNoAuthentication,
    Compress,
    AuthPlugins,
    ConnectTimeout,
    ReadTimeout,
    SocketTimeout,
    EventHost,
    EventPort,
    Keepalive,
    Protocol,
    MaxInlineBlob,
    MaxBlobCache,
    // The session.
    Charset,
    Dialect,
    TimeZone,
    SetBind,
    DecfloatRound,
    DecfloatTraps,
    SearchPath,
    ParallelWorkers,
    NoDbTriggers,
    NoGc,
    ProcessName,
    Decryption,
    DecryptionInClear,
    // The embedded engine.
    EngineConfig,
    ClientLibrary,
    ServerMode,
    // Creation.
    CreateIfMissing,
    Overwrite,
    PageSize,
    DbCharset,
    ForceWrites,
    /// A switch of the type mapping.
    Read,
    /// Says nothing to us, such as the name of the ODBC driver.
    Ignored,
}

/// An option.
#[derive(Debug)]
pub(super) struct Spec {
    pub(super) key: Key,
    /// The name we write.
    pub(super) name: &'static str,
    /// Further names in plain form, see [`plain`].
    aliases: &'static [&'static str],
}

impl Spec {
    /// Options of the same slot exclude each other.
    pub(super) fn slot(&self) -> &'static str {
        if self.key == Key::SocketTimeout { "read_timeout" } else { self.name }
    }

    fn has_name(&self, plain: &str) -> bool {
        self.aliases.contains(&plain) || self.name.bytes().filter(|byte| *byte != b'_').eq(plain.bytes())
    }
}

const fn spec(key: Key, name: &'static str, aliases: &'static [&'static str]) -> Spec {
    Spec { key, name, aliases }
}

/// All options. Among the aliases are names of fbclient, isql, Jaybird, firebird-driver, the ODBC driver, the Go
/// driver, and .NET.
pub(super) static SPECS: &[Spec] = &[
    spec(Key::Database, "database", &["dbname", "db", "initialcatalog"]),
    spec(Key::Host, "host", &["server", "hostname", "servername", "datasource"]),
    spec(Key::Port, "port", &["portnumber"]),
    spec(Key::Path, "path", &[]),
    spec(Key::AddressFamily, "address_family", &[]),
    spec(Key::User, "user", &["username", "uid", "userid", "iscuser"]),
    spec(Key::Password, "password", &["pwd", "iscpassword"]),
    spec(Key::Role, "role", &["rolename", "sqlrole", "sqlrolename"]),
    spec(Key::WireCrypt, "wire_crypt", &["encrypt"]),
    spec(Key::Ciphers, "wire_crypt_plugin", &["wirecryptplugins", "ciphers"]),
    spec(Key::ClearTextWarning, "clear_text_warning", &[]),
    spec(Key::AllowNoAuthentication, "allow_no_authentication", &[]),
    spec(
        Key::Compress,
        "wire_compress",
        &["wirecompression", "compression", "compress", "enablewirecompression"],
    ),
    spec(Key::AuthPlugins, "auth_plugins", &["authpluginname", "authpluginlist"]),
    spec(Key::ConnectTimeout, "connect_timeout", &["timeout", "logintimeout", "connectiontimeout"]),
    spec(Key::ReadTimeout, "read_timeout", &[]),
    spec(Key::SocketTimeout, "so_timeout", &[]),
    spec(Key::EventHost, "event_host", &["auxhost", "eventshost"]),
    spec(Key::EventPort, "event_port", &["auxport", "remoteauxport", "eventsport"]),
    spec(Key::Keepalive, "keepalive", &["dummypacketinterval"]),
    spec(Key::Protocol, "protocol", &["protocolversion"]),
    spec(Key::MaxInlineBlob, "max_inline_blob_size", &[]),
    spec(Key::MaxBlobCache, "max_blob_cache_size", &[]),
    spec(Key::Charset, "charset", &["encoding", "lcctype", "characterset"]),
    spec(Key::Dialect, "dialect", &["sqldialect"]),
    spec(Key::TimeZone, "session_time_zone", &["timezone", "tzname"]),
    spec(Key::SetBind, "set_bind", &["datatypebind", "setcompatbind"]),
    spec(Key::DecfloatRound, "decfloat_round", &[]),
    spec(Key::DecfloatTraps, "decfloat_traps", &[]),
    spec(Key::SearchPath, "search_path", &[]),
    spec(Key::ParallelWorkers, "parallel_workers", &[]),
    spec(Key::NoDbTriggers, "no_db_triggers", &[]),
    spec(Key::NoGc, "no_gc", &["nogarbagecollect"]),
    spec(Key::ProcessName, "process_name", &["app", "applicationname"]),
    spec(Key::Decryption, "db_key", &[]),
    spec(Key::DecryptionInClear, "db_key_in_clear", &[]),
    spec(Key::EngineConfig, "config", &[]),
    spec(Key::ClientLibrary, "client_library", &["client", "fbclient", "fbclientlibrary", "engine"]),
    spec(Key::ServerMode, "server_mode", &[]),
    spec(Key::CreateIfMissing, "create_if_missing", &["createdatabaseifnotexist", "createdb"]),
    spec(Key::Overwrite, "overwrite", &[]),
    spec(Key::PageSize, "page_size", &[]),
    spec(Key::DbCharset, "db_charset", &["setdbcharset"]),
    spec(Key::ForceWrites, "force_writes", &["forcedwrites", "forcewrite"]),
    spec(Key::Read, "none_encoding", &[]),
    spec(Key::Read, "trim_char", &[]),
    spec(Key::Read, "int128", &[]),
    spec(Key::Read, "decfloat", &[]),
    spec(Key::Read, "timestamptz", &[]),
    spec(Key::Read, "timetz", &[]),
    spec(Key::Read, "binary", &[]),
    spec(Key::Read, "text", &[]),
    spec(Key::Read, "blobs", &[]),
    spec(Key::Read, "max_blob", &[]),
    spec(Key::Read, "decimal_precision", &[]),
    spec(Key::Ignored, "driver", &["description"]),
];

/// Keywords of the ODBC driver in plain form. Some of them change what statements may do, so nobody else
/// may pass over them in silence.
static ODBC: &[&str] = &[
    "dsn",
    "filedsn",
    "savedsn",
    "readonly",
    "nowait",
    "locktimeout",
    "locktimeoutwaittransactions",
    "isolation",
    "txnisolation",
    "querytimeout",
    "quoted",
    "quotedidentifier",
    "sensitive",
    "sensitiveidentifier",
    "autoquoted",
    "autoquotedidentifier",
    "useschema",
    "useschemaidentifier",
    "safethread",
    "jdbcdriver",
    "enablecompatbind",
    "dbnamealways",
    "dropdb",
    "guid",
    "wchartypes",
    "blobsize",
    "autoddl",
    "fromlessselect",
    "connsettings",
    "trace",
    "logfile",
    "isolationlevel",
];

/// Options of the Python package, which counts what it keeps of a result.
const PYTHON: &[&str] = &["maxresultrows", "maxresultbytes"];

/// Whose option a name is.
#[derive(Debug)]
pub(super) enum Found {
    /// One of ours.
    Own(&'static Spec),
    /// One of a front end's; with its name in lower case.
    FrontEnd(String),
}

/// Finds an option by any of its names.
pub(super) fn find(name: &str) -> Result<Found, ConfigError> {
    let lower = name.to_ascii_lowercase();
    let short = lower.strip_prefix("adbc.firebird.").unwrap_or(&lower);
    let (short, type_only) = match short.strip_prefix("type.") {
        Some(short) => (short, true),
        None => (short.strip_prefix("isc_dpb_").unwrap_or(short), false),
    };
    let plain = plain(short);
    if let Some(spec) = SPECS.iter().find(|spec| spec.has_name(&plain))
        && (spec.key == Key::Read || !type_only)
    {
        return Ok(Found::Own(spec));
    }
    if lower.starts_with("adbc.") || ODBC.contains(&plain.as_str()) || PYTHON.contains(&plain.as_str()) {
        return Ok(Found::FrontEnd(lower));
    }
    Err(ConfigError::UnknownOption { name: shorten(name), nearest: nearest(&plain) })
}

/// Drivers disagree on `session_time_zone`, `sessionTimeZone` and `Session Time Zone`; without case and
/// separators these are one name.
fn plain(lower: &str) -> String {
    lower.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect()
}

/// The option that is spelled most like `plain`, if any is similar enough to be a slip.
fn nearest(plain: &str) -> Option<&'static str> {
    const LONGEST: usize = 40;
    if plain.len() > LONGEST {
        return None;
    }
    let own = SPECS.iter().filter(|spec| spec.key != Key::Ignored);
    own.flat_map(|spec| {
        let name = self::plain(spec.name);
        let aliases = spec.aliases.iter().map(|alias| distance(plain, alias));
        aliases.chain([distance(plain, &name)]).map(|distance| (distance, spec.name))
    })
    .min_by_key(|(distance, _)| *distance)
    .filter(|(distance, _)| *distance <= (plain.len() / 3).max(1))
    .map(|(_, name)| name)
}

/// Edits (insert, delete, replace a byte) that lead from `a` to `b`: Levenshtein's distance, row by row.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(name: &str) -> Option<&'static str> {
        match find(name) {
            Ok(Found::Own(spec)) => Some(spec.name),
            _ => None,
        }
    }

    #[test]
    fn names_of_other_drivers() {
        for (ours, others) in [
            ("user", "USER UID username UserName isc_user isc_dpb_user_name"),
            ("password", "Password PWD isc_password"),
            ("role", "ROLE role_name roleName sqlRole isc_dpb_sql_role_name"),
            ("charset", "CHARSET encoding lc_ctype charSet CHARACTERSET isc_dpb_lc_ctype"),
            ("dialect", "DIALECT sql_dialect sqlDialect isc_dpb_sql_dialect"),
            ("session_time_zone", "timezone sessionTimeZone adbc.firebird.session_timezone tzname"),
            ("wire_crypt", "wireCrypt WIRECRYPT encrypt adbc.firebird.wire_crypt"),
            ("wire_crypt_plugin", "wireCryptPlugin ciphers"),
            ("wire_compress", "wireCompression compression ENABLEWIRECOMPRESSION wire_compression"),
            ("auth_plugins", "auth_plugin_name auth_plugin_list authPlugins"),
            ("max_inline_blob_size", "maxInlineBlobSize isc_dpb_max_inline_blob_size"),
            ("max_blob_cache_size", "maxBlobCacheSize isc_dpb_max_blob_cache_size"),
            ("set_bind", "dataTypeBind SETCOMPATBIND isc_dpb_set_bind"),
            ("connect_timeout", "TIMEOUT connectTimeout loginTimeout"),
            ("so_timeout", "soTimeout"),
            ("event_host", "eventHost aux_host"),
            ("event_port", "EventPort RemoteAuxPort aux-port"),
            ("keepalive", "dummy_packet_interval isc_dpb_dummy_packet_interval"),
            ("search_path", "searchPath"),
            ("create_if_missing", "createDatabaseIfNotExist CREATE_DB"),
            ("client_library", "CLIENT fb_client_library ClientLibrary"),
            ("database", "DBNAME Database isc_dpb_database"),
            ("host", "SERVER host DataSource"),
            ("page_size", "PAGESIZE page-size"),
            ("force_writes", "forced_writes isc_dpb_force_write"),
            ("int128", "type.int128 adbc.firebird.type.int128 INT128"),
            ("none_encoding", "adbc.firebird.none_encoding noneEncoding"),
        ] {
            for name in others.split(' ').chain([ours]) {
                assert_eq!(own(name), Some(ours), "{name}");
            }
        }
        assert_eq!(own("Initial Catalog"), Some("database"));
        assert_eq!(own("User ID"), Some("user"));
    }

    #[test]
    fn every_name_is_found_once() {
        for spec in SPECS {
            for name in spec.aliases.iter().copied().chain([spec.name]) {
                let plain = plain(name);
                assert_eq!(SPECS.iter().filter(|other| other.has_name(&plain)).count(), 1, "{name}");
                assert!(!ODBC.contains(&plain.as_str()) && !PYTHON.contains(&plain.as_str()), "{name}");
            }
            assert!(spec.aliases.iter().all(|alias| plain(&alias.to_ascii_lowercase()) == **alias));
        }
    }

    #[test]
    fn front_ends_keep_their_own() {
        for name in [
            "ReadOnly",
            "DSN",
            "adbc.firebird.query.batch_rows",
            "adbc.connection.autocommit",
            "max_result_rows",
        ] {
            assert!(matches!(find(name), Ok(Found::FrontEnd(found)) if found == name.to_ascii_lowercase()));
        }
    }

    #[test]
    fn unknown_names_bring_the_nearest() {
        for (name, expected) in [
            ("passwort", Some("password")),
            ("usr", Some("user")),
            ("wire_cript", Some("wire_crypt")),
            ("sesion_timezone", Some("session_time_zone")),
            ("colour", None),
            ("", None),
            ("type.role", Some("role")),
            (&"x".repeat(10_000), None),
        ] {
            let Err(ConfigError::UnknownOption { nearest, name: shown }) = find(name) else {
                panic!("{name} was found");
            };
            assert_eq!(nearest, expected, "{name}");
            assert!(shown.len() < 80);
        }
    }
}
