//! What to connect to, and how: connection strings in every form that is in use for Firebird.
//!
//! ```text
//!  host:path  inet://host/path  /path ───────► locator ──┐
//!  firebird://user@host/path?name=value ─────► url ──────┼─► Draft: target, pairs ─► options ─► Config ─► DPB
//!  jdbc:firebirdsql://host/path  file:///path ─► url ────┤                                        └─► URL
//!  Driver={…};Dbname=…;Uid=…;Pwd=… ──────────► keywords ─┘
//! ```
//!
//! | text                                             | target                                  |
//! |--------------------------------------------------|-----------------------------------------|
//! | `srv:/data/x.fdb`, `srv/3051:x`, `[::1]/3051:x`  | as written, behind the colon            |
//! | `inet://srv:3051/x`, `inet4://…`, `inet6://…`    | as written, behind the first slash      |
//! | `inet:///data/x.fdb`                             | on localhost                            |
//! | `firebird://user:pw@srv:3051/x`, `user:pw@srv/x` | by the path rule                        |
//! | `firebird:///data/x.fdb`                         | no host: embedded, by the path rule     |
//! | `firebird+firearrow://…`, `firebird+fdb://…`     | as `firebird://`                        |
//! | `jdbc:firebirdsql://srv:3051/x`                  | by the path rule; no host is localhost  |
//! | `jdbc:firebirdsql:srv/3051:x`                    | as written, behind the colon            |
//! | `/data/x.fdb`, `./x.fdb`, `C:\x.fdb`, `employee` | embedded                                |
//! | `file:///data/x.fdb`, `embedded:data/x.fdb`      | embedded                                |
//! | `database=srv:x;user=…;password=…`               | `database` in one of the forms above    |
//!
//! *The path rule* reads what follows the first slash of a URL: one segment is an alias; what begins with `/`,
//! `./`, a backslash or a drive is taken as it is; several segments are an absolute path. So
//! `firebird://srv/data/x.fdb` and `firebird://srv//data/x.fdb` are the same, and SQLAlchemy's third slash
//! does no harm. `?path=literal` switches the rule off.
//!
//! What is almost a URL with a login (`firebird:/user:pw@srv/x`) is refused: it would be a host and a path, with the
//! password in it.
//!
//! Passwords are better kept out of connection strings: see [`Config::parse_with_env`]. Beyond this machine
//! `?wire_crypt=required` is recommended: without it, a server that offers no encryption gets everything in clear text,
//! and the connection has a [`Warning`](crate::Warning).
//!
//! URLs are percent-decoded, options behind other forms are, too; `+` is a plus sign. A `?` behind a form that
//! is no URL begins options only if `name=` follows.

mod check;
mod dpb;
mod environment;
mod error;
mod keywords;
mod locator;
mod names;
mod options;
mod secret;
mod url;
mod value;

#[cfg(test)]
mod tests;

pub use error::ConfigError;
pub use secret::{KeySource, Password};

use firearrow_proto::api::dialect::Dialect;
pub use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::connection::ConnectOptions;
pub use firearrow_proto::wire::crypt::CipherKind;
pub use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::version::ProtocolVersion;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// The port of a Firebird server that was not configured otherwise; its service name is `gds_db`.
pub const DEFAULT_PORT: u16 = 3050;

/// Longest connection string or option, in bytes; the server's limit for a parameter buffer is 1 MB.
const MAX_TEXT: usize = 64 << 10;

/// Whether to ask a server for zlib compression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WireCompression {
    /// Never.
    #[default]
    Off,
    /// Always.
    On,
    /// If an earlier connection of this process to the same server measured less than 64 Mbit/s and a round trip above
    /// 1 ms: for pools and long-lived processes. The first connection is not compressed; measurements expire after ten
    /// minutes.
    Auto,
}

/// The user who connects when nobody is named.
const DEFAULT_USER: &str = "SYSDBA";

/// Where the database is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Behind a server.
    Remote {
        /// Name or address; an IPv6 address without its brackets.
        host: String,
        /// TCP port.
        port: u16,
        /// Path or alias, as the server knows it.
        database: String,
    },
    /// In this process, by means of the engine library.
    Embedded {
        /// Path or alias, as the engine knows it.
        path: String,
    },
}

impl Target {
    /// The path or alias.
    pub fn database(&self) -> &str {
        match self {
            Self::Remote { database, .. } => database,
            Self::Embedded { path } => path,
        }
    }

    fn local_server(database: impl Into<String>) -> Self {
        Self::Remote { host: "localhost".into(), port: DEFAULT_PORT, database: database.into() }
    }

    fn embedded(path: impl Into<String>) -> Self {
        Self::Embedded { path: path.into() }
    }
}

/// Which addresses of a host may be tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AddressFamily {
    /// All, in the order of the resolver.
    #[default]
    Any,
    /// IPv4 only (`inet4://`).
    V4,
    /// IPv6 only (`inet6://`).
    V6,
}

/// When a connection that is not encrypted is worth a [`Warning`](crate::Warning).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClearTextWarning {
    /// When the server's address is not a loopback one.
    #[default]
    Remote,
    /// Always: the loopback address may be one end of a tunnel.
    Always,
    /// Never: something else protects the connection.
    Never,
}

/// How the embedded engine shares a database with other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ServerMode {
    /// This process has the database to itself.
    Super,
    /// Several processes may open it at the same time.
    Classic,
}

/// Everything that can be said about a connection before it is made.
///
/// ```
/// # use firearrow::config::Config;
/// let config = Config::parse("firebird://alice:s%40cret@db.example/employee?role=rdb$admin")?;
/// assert_eq!(config.redacted_url(), "firebird://alice@db.example:3050/employee?role=rdb$admin");
/// # Ok::<_, firearrow::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where the database is.
    pub target: Target,
    /// Which addresses of the host may be tried.
    pub address_family: AddressFamily,
    /// Login as entered; quotes keep its case.
    pub user: Option<String>,
    /// Password; without meaning for the embedded engine.
    pub password: Option<Password>,
    /// SQL role to take on.
    pub role: Option<String>,
    /// Wanted wire encryption. [`WireCrypt::Required`] is recommended: with [`WireCrypt::Enabled`], the default as in
    /// Firebird's own client, the server decides, or somebody on the way who speaks in its place.
    pub wire_crypt: WireCrypt,
    /// Ciphers in order of preference. Whoever names some demands one of them: without any, connecting fails. None named
    /// means all, the best first.
    pub ciphers: Vec<CipherKind>,
    /// When a connection in clear text is worth a warning.
    pub clear_text_warning: ClearTextWarning,
    /// Whether to connect to a server that asks for no proof of user and password. Nobody knows then who it is.
    pub allow_no_authentication: bool,
    /// Whether to ask for zlib compression. Servers compress about 10 MB/s per processor, so it pays only on links below
    /// 64 Mbit/s.
    pub compress: WireCompression,
    /// Authentication plugins in order of preference.
    pub auth_plugins: Vec<AuthPlugin>,
    /// Longest time until the database is attached, resolving the host name included.
    pub connect_timeout: Duration,
    /// Longest time to wait for one answer of the server, including the time it needs to run a statement. An answer is a
    /// complete row, a piece of a BLOB, or a response; parts of one and signs of life do not renew the limit. The server
    /// must also take each 64 KB that are sent to it within this time. Afterwards the connection is closed.
    pub read_timeout: Option<Duration>,
    /// Where the server's second connection, that for events, can be reached, if that is not the host of the first: behind a
    /// port forwarding, or in a container.
    pub event_host: Option<String>,
    /// The port of that connection, as seen from here; `RemoteAuxPort` in the server's `firebird.conf` makes it a fixed one.
    pub event_port: Option<u16>,
    /// How often to tell an otherwise silent server that this side is alive.
    pub keepalive: Option<Duration>,
    /// Protocol versions to offer.
    pub protocol: RangeInclusive<u16>,
    /// The SQL dialect; also that of databases that are created. What firearrow asks by itself, such as the catalog,
    /// does not depend on it.
    pub dialect: Dialect,
    /// Time zone of the session: a region, or `±hh:mm`. Firebird 4 and later.
    pub session_time_zone: Option<String>,
    /// Rules of `SET BIND`, without these words, joined by `;`. Firebird 4 and later.
    pub set_bind: Option<String>,
    /// How DECFLOAT results are rounded. Firebird 4 and later.
    pub decfloat_round: Option<String>,
    /// Which DECFLOAT conditions are errors, as a comma list. Firebird 4 and later.
    pub decfloat_traps: Option<String>,
    /// Schemas in which unqualified names are looked up. Firebird 6 and later.
    pub search_path: Option<String>,
    /// Threads the server may use for tasks of this connection, such as creating an index. Firebird 5 and later.
    pub parallel_workers: Option<u16>,
    /// Run without the triggers of the database; for its owner only.
    pub no_db_triggers: bool,
    /// Leave old record versions alone.
    pub no_gc: bool,
    /// Largest BLOB that the server may send along with its row; 0 switches this off. Firebird 5.0.3 and later.
    pub max_inline_blob_size: Option<u32>,
    /// Most bytes of such BLOBs to keep until they are asked for.
    pub max_blob_cache_size: Option<u32>,
    /// Name of this process in the monitoring tables, instead of that of its executable.
    pub process_name: Option<String>,
    /// Lines of `firebird.conf` for this attachment; for the embedded engine only.
    pub engine_config: Option<String>,
    /// The client library to load, or the folder of an engine; for the embedded engine only.
    pub client_library: Option<String>,
    /// How to share the database; for the embedded engine only.
    pub server_mode: Option<ServerMode>,
    /// Where the key of an encrypted database comes from. Only the application and the environment (`FIREARROW_DB_KEY`) can
    /// say so, not a connection string.
    pub db_key: Option<KeySource>,
    /// Whether the key may be sent on a connection that is not encrypted, where anyone on the network path can read it.
    pub db_key_in_clear: bool,
    /// Create the database if it does not exist.
    pub create_if_missing: bool,
    /// When creating: replace a database that exists.
    pub overwrite: bool,
    /// When creating: bytes of a page.
    pub page_size: Option<u32>,
    /// When creating: default character set of the columns; UTF8 if not given.
    pub db_charset: Option<String>,
    /// When creating: whether every write goes to the disk at once.
    pub force_writes: Option<bool>,
    /// Switches of the type mapping as (name, value); see [`ReadOptions::set`](crate::ReadOptions::set).
    pub read: Vec<(String, String)>,
}

/// A server on this machine, and no database yet.
impl Default for Config {
    fn default() -> Self {
        Self::new(Target::local_server(""))
    }
}

impl Config {
    /// Defaults for everything but the target.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            address_family: AddressFamily::Any,
            user: None,
            password: None,
            role: None,
            wire_crypt: WireCrypt::Enabled,
            ciphers: Vec::new(),
            clear_text_warning: ClearTextWarning::Remote,
            allow_no_authentication: false,
            compress: WireCompression::Off,
            auth_plugins: ConnectOptions::DEFAULT_PLUGINS.to_vec(),
            connect_timeout: Duration::from_secs(30),
            read_timeout: None,
            event_host: None,
            event_port: None,
            keepalive: None,
            protocol: ProtocolVersion::MIN.number()..=ProtocolVersion::MAX.number(),
            dialect: Dialect::default(),
            session_time_zone: None,
            set_bind: None,
            decfloat_round: None,
            decfloat_traps: None,
            search_path: None,
            parallel_workers: None,
            no_db_triggers: false,
            no_gc: false,
            max_inline_blob_size: None,
            max_blob_cache_size: None,
            process_name: None,
            engine_config: None,
            client_library: None,
            server_mode: None,
            db_key: None,
            db_key_in_clear: false,
            create_if_missing: false,
            overwrite: false,
            page_size: None,
            db_charset: None,
            force_writes: None,
            read: Vec::new(),
        }
    }

    /// Understands any form of the table [above](self). User and password that it lacks are looked for in the
    /// environment, see [`Config::parse_with_env`].
    ///
    /// The text may come from outside, so it cannot name code to run or secrets of this machine to send: `client_library`,
    /// `config`, `db_key`, `db_key_in_clear` and `overwrite` are refused.
    /// The application sets these with [`Config::set`], or vouches for the text with [`Config::parse_trusted`].
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::parse_with_env(text, &from_environment)
    }

    /// [`Config::parse`] for a text that the application itself wrote. It may use every option, also those
    /// that name code to run or secrets to send.
    pub fn parse_trusted(text: &str) -> Result<Self, ConfigError> {
        Self::without_front_end(Self::understand(text, &from_environment, Trust::Application)?)
    }

    /// [`Config::parse`] with an environment of the caller's choice. The user whom the text does not name is taken from
    /// `FIREARROW_USER`, then from `ISC_USER`; the password from `FIREARROW_PASSWORD`, then from the first line of the file
    /// that `FIREARROW_PASSWORD_FILE` names, then from `ISC_PASSWORD`; the source of the database's key from
    /// `FIREARROW_DB_KEY` (`env:NAME`, `file:PATH` or `cmd:COMMAND`), and `FIREARROW_DB_KEY_IN_CLEAR=yes` lets it travel in the
    /// clear.
    pub fn parse_with_env(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        Self::without_front_end(Self::parse_for_front_end(text, env)?)
    }

    /// [`Config::parse_with_env`] for the ODBC and ADBC drivers, which have options of their own. These are
    /// returned as (name, value) with the names in lower case; the caller must refuse what it does not know.
    pub fn parse_for_front_end(
        text: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<(String, String)>), ConfigError> {
        Self::understand(text, env, Trust::Outside)
    }

    fn without_front_end((config, front_end): (Self, Pairs)) -> Result<Self, ConfigError> {
        match front_end.into_iter().next() {
            Some((name, _)) => Err(ConfigError::FrontEndOption { name }),
            None => Ok(config),
        }
    }

    fn understand(
        text: &str,
        env: &dyn Fn(&str) -> Option<String>,
        trust: Trust,
    ) -> Result<(Self, Pairs), ConfigError> {
        let (mut config, front_end) = options::collect(locator::read(text)?, trust)?;
        environment::fill(&mut config, env)?;
        config.check()?;
        Ok((config, front_end))
    }

    /// Sets one option by any of its names; what was set before is replaced. The target cannot be set so.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        options::set(self, name, value)
    }

    /// Whether an option, by any of its names, is refused in connection strings: it chooses code to run, secrets to send
    /// or files to replace (`client_library`, `config`, `db_key`, `db_key_in_clear`, `overwrite`). For front ends whose
    /// texts come from outside.
    pub fn is_application_only(name: &str) -> bool {
        options::is_application_only(name)
    }

    /// The login to authenticate with; `SYSDBA` when none was given.
    pub fn login(&self) -> &str {
        self.user.as_deref().unwrap_or(DEFAULT_USER)
    }

    /// The whole configuration as one URL without its secrets: password, and a key or the command that fetches
    /// it. [`Config::parse_trusted`] understands it.
    pub fn redacted_url(&self) -> String {
        url::write(self)
    }
}

impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        Self::parse(text)
    }
}

/// The redacted URL.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted_url())
    }
}

fn from_environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whose word a connection string is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trust {
    /// Anybody's: it cannot make this process run code, or give away its secrets.
    Outside,
    /// The application's own.
    Application,
}

/// Options as (name, value), as they were written.
type Pairs = Vec<(String, String)>;

/// What a connection string says, before its options are understood. No `Debug`: the password is among them.
struct Draft {
    target: Target,
    pairs: Pairs,
}
