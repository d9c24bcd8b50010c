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
//! URLs are percent-decoded, options behind other forms are, too; `+` is a plus sign. A `?` behind a form that
//! is no URL begins options only if `name=` follows.

mod check;
mod dpb;
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
    /// Wanted wire encryption.
    pub wire_crypt: WireCrypt,
    /// Ciphers in order of preference.
    pub ciphers: Vec<CipherKind>,
    /// Whether to ask for zlib compression.
    pub compress: bool,
    /// Authentication plugins in order of preference.
    pub auth_plugins: Vec<AuthPlugin>,
    /// Longest time for the whole way from the first TCP packet to the attached database.
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
    /// How SQL text is meant; also the dialect of databases that are created. What firearrow asks by itself, such as
    /// the catalog, does not depend on it.
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
    /// Where the key of an encrypted database comes from.
    pub db_key: Option<KeySource>,
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
    /// Switches of the type mapping as (name, value), for `ReadOptions`, which knows their values.
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
            ciphers: ConnectOptions::DEFAULT_CIPHERS.to_vec(),
            compress: false,
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
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Self::parse_with_env(text, &|name| std::env::var(name).ok())
    }

    /// [`Config::parse`] with an environment of the caller's choice. User and password that the text lacks
    /// are taken from `FIREARROW_USER` and `FIREARROW_PASSWORD`, then from `ISC_USER` and `ISC_PASSWORD`.
    pub fn parse_with_env(text: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let (config, front_end) = Self::parse_for_front_end(text, env)?;
        match front_end.into_iter().next() {
            Some((name, _)) => Err(ConfigError::FrontEndOption { name }),
            None => Ok(config),
        }
    }

    /// [`Config::parse_with_env`] for the ODBC and ADBC drivers, which have options of their own. These are
    /// returned as (name, value) with the names in lower case; the caller must refuse what it does not know.
    pub fn parse_for_front_end(
        text: &str,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<(String, String)>), ConfigError> {
        let (mut config, front_end) = options::collect(locator::read(text)?)?;
        let lookup = |names: [&str; 2]| names.into_iter().filter_map(env).find(|value| !value.is_empty());
        if config.user.is_none()
            && let Some(user) = lookup(["FIREARROW_USER", "ISC_USER"])
        {
            config.set("user", &user)?;
        }
        if config.password.is_none()
            && let Some(password) = lookup(["FIREARROW_PASSWORD", "ISC_PASSWORD"])
        {
            config.set("password", &password)?;
        }
        config.check()?;
        Ok((config, front_end))
    }

    /// Sets one option by any of its names; what was set before is replaced. The target cannot be set so.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ConfigError> {
        options::set(self, name, value)
    }

    /// The login to authenticate with; `SYSDBA` when none was given.
    pub fn login(&self) -> &str {
        self.user.as_deref().unwrap_or(DEFAULT_USER)
    }

    /// The whole configuration as one URL without its secrets: password, and a key or the command that fetches
    /// it. [`Config::parse`] understands it.
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

/// Options as (name, value), as they were written.
type Pairs = Vec<(String, String)>;

/// What a connection string says, before its options are understood. No `Debug`: the password is among them.
struct Draft {
    target: Target,
    pairs: Pairs,
}
