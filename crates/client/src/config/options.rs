//! From pairs of name and value to a [`Config`], and back for those that differ from the defaults.

use super::error::{ConfigError, shorten};
use super::names::{Found, Key, Spec, find};
use super::secret::{KeySource, Password};
use super::value::{Value, write_duration};
use super::{
    AddressFamily, ClearTextWarning, Config, Draft, MAX_TEXT, Pairs, ServerMode, Target, Trust,
    WireCompression,
};
use crate::arrow::ReadOptions;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::crypt::CipherKind;
use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::version::ProtocolVersion;

/// The handshake has one byte for the length of a login.
const LONGEST_LOGIN: usize = 255;
/// Servers cannot send larger BLOBs inline.
const LARGEST_INLINE_BLOB: u32 = 65535;

const WIRE_CRYPT: [(&str, WireCrypt); 6] = [
    ("disabled", WireCrypt::Disabled),
    ("enabled", WireCrypt::Enabled),
    ("required", WireCrypt::Required),
    // Jaybird.
    ("default", WireCrypt::Enabled),
    // The Go driver.
    ("true", WireCrypt::Enabled),
    ("false", WireCrypt::Disabled),
];
const CLEAR_TEXT: [(&str, ClearTextWarning); 3] = [
    ("remote", ClearTextWarning::Remote),
    ("always", ClearTextWarning::Always),
    ("never", ClearTextWarning::Never),
];
const SERVER_MODE: [(&str, ServerMode); 2] = [("super", ServerMode::Super), ("classic", ServerMode::Classic)];
const ADDRESS_FAMILY: [(&str, AddressFamily); 4] = [
    ("any", AddressFamily::Any),
    ("inet", AddressFamily::Any),
    ("inet4", AddressFamily::V4),
    ("inet6", AddressFamily::V6),
];
const DIALECT: [(&str, Dialect); 3] = [("3", Dialect::Three), ("1", Dialect::One), ("", Dialect::Three)];
const PAGE_SIZE: [(&str, u32); 4] = [("4096", 4096), ("8192", 8192), ("16384", 16384), ("32768", 32768)];

/// Understands the pairs of a draft; those of front ends are handed back.
pub(super) fn collect(draft: Draft, trust: Trust) -> Result<(Config, Pairs), ConfigError> {
    let mut config = Config::new(draft.target);
    let mut front_end = Pairs::new();
    let mut taken: Vec<&'static str> = Vec::new();
    for (name, value) in draft.pairs {
        match find(&name)? {
            Found::Own(spec) if taken.contains(&spec.slot()) => {
                return Err(ConfigError::Duplicate(spec.slot().into()));
            }
            // The form of the text has dealt with it.
            Found::Own(spec) if spec.key == Key::Path => taken.push(spec.slot()),
            Found::Own(spec) => {
                taken.push(spec.slot());
                if trust == Trust::Outside {
                    refuse_code(&config, spec)?;
                }
                apply(&mut config, spec, &value)?;
            }
            Found::FrontEnd(name) if front_end.iter().any(|(known, _)| *known == name) => {
                return Err(ConfigError::Duplicate(name));
            }
            Found::FrontEnd(name) => front_end.push((name, value)),
        }
    }
    Ok((config, front_end))
}

/// Whether an option is refused in a text from outside, see [`Config::is_application_only`].
pub(super) fn is_application_only(name: &str) -> bool {
    matches!(find(name), Ok(Found::Own(spec)) if instead_of(spec.key).is_some())
}

/// Refuses what would let a text from outside choose code that this process runs, or secrets of this machine that are sent
/// to a server of its choice.
fn refuse_code(config: &Config, spec: &'static Spec) -> Result<(), ConfigError> {
    match instead_of(spec.key) {
        // For a server this option is refused anyway.
        Some(_) if spec.key == Key::EngineConfig && matches!(config.target, Target::Remote { .. }) => Ok(()),
        Some(instead) => Err(ConfigError::ApplicationOnly { option: spec.name, instead }),
        None => Ok(()),
    }
}

/// How an application sets what a text from outside may not set; `None` for all other options.
fn instead_of(key: Key) -> Option<&'static str> {
    Some(match key {
        Key::ClientLibrary => {
            "Config::set, adbc.firebird.client_library as an option of the database, or the environment variable \
             FIREARROW_ENGINE"
        }
        // Providers and other plugins are named there.
        Key::EngineConfig => "Config::set, or adbc.firebird.config as an option of the database",
        // It runs a command, or sends a file or a variable to the server.
        Key::Decryption => {
            "Config::db_key, adbc.firebird.db_key as an option of the database, or the environment variable \
             FIREARROW_DB_KEY"
        }
        // It gives the key away to whoever listens.
        Key::DecryptionInClear => {
            "Config::db_key_in_clear, adbc.firebird.db_key_in_clear as an option of the database, or the environment \
             variable FIREARROW_DB_KEY_IN_CLEAR"
        }
        // It replaces any file that the process may write to.
        Key::Overwrite => "Config::overwrite",
        _ => return None,
    })
}

/// Sets one option.
pub(super) fn set(config: &mut Config, name: &str, value: &str) -> Result<(), ConfigError> {
    if value.len() > MAX_TEXT {
        return Err(ConfigError::TooLong(MAX_TEXT));
    }
    if value.contains('\0') {
        return Err(ConfigError::NulByte);
    }
    match find(name)? {
        Found::Own(spec) => apply(config, spec, value),
        Found::FrontEnd(name) => Err(ConfigError::FrontEndOption { name }),
    }
}

fn apply(config: &mut Config, spec: &'static Spec, text: &str) -> Result<(), ConfigError> {
    let value = Value::new(spec.name, text);
    match spec.key {
        Key::Database | Key::Host | Key::Port => {
            return Err(ConfigError::Conflict(
                "the connection string names server and database already; remove the options host, port and database",
            ));
        }
        Key::Path => {
            return Err(ConfigError::Conflict("path=literal belongs in a URL, after the ?"));
        }
        Key::AddressFamily => {
            config.address_family = value.choice(&ADDRESS_FAMILY, "any, inet4 or inet6")?;
        }
        Key::User if text.len() > LONGEST_LOGIN => {
            return Err(value.error("a name of at most 255 bytes"));
        }
        Key::User => config.user = value.text(),
        Key::Password => config.password = Some(Password::new(text)),
        Key::Role => config.role = value.text(),
        Key::WireCrypt => {
            config.wire_crypt = value.choice(&WIRE_CRYPT, "disabled, enabled or required")?;
        }
        Key::Ciphers => {
            let expected = "a list of ChaCha64, ChaCha and Arc4";
            config.ciphers = value.list(&CipherKind::ALL, CipherKind::name, expected)?;
        }
        Key::ClearTextWarning => {
            config.clear_text_warning = value.choice(&CLEAR_TEXT, "remote, always or never")?;
        }
        Key::AllowNoAuthentication => config.allow_no_authentication = value.flag()?,
        Key::Compress => {
            let of = |is_on| if is_on { WireCompression::On } else { WireCompression::Off };
            config.compress = value.flag_or("auto", WireCompression::Auto, of, "true, false or auto")?;
        }
        Key::AuthPlugins => {
            let expected = "a list of Srp256, Srp, Srp512, Srp384, Srp224 and Legacy_Auth";
            config.auth_plugins = value.list(&AuthPlugin::ALL, AuthPlugin::name, expected)?;
        }
        Key::ConnectTimeout => {
            let expected = "more than 0 seconds; give the longest time you would wait for a connection";
            config.connect_timeout = value.limit()?.ok_or_else(|| value.error(expected))?;
        }
        Key::ReadTimeout => config.read_timeout = value.limit()?,
        Key::SocketTimeout => {
            config.read_timeout = Some(value.milliseconds()?).filter(|time| !time.is_zero());
        }
        Key::EventHost => config.event_host = value.text(),
        Key::EventPort => {
            let port = value.number(1..=u32::from(u16::MAX), "a port from 1 to 65535")?;
            config.event_port = u16::try_from(port).ok();
        }
        Key::Keepalive => config.keepalive = value.limit()?,
        Key::Protocol => {
            let all = ProtocolVersion::MIN.number()..=ProtocolVersion::MAX.number();
            config.protocol = value.versions(all)?;
        }
        Key::MaxInlineBlob => {
            let size = value.number(0..=LARGEST_INLINE_BLOB, "a number of bytes from 0 to 65535")?;
            config.max_inline_blob_size = Some(size);
        }
        Key::MaxBlobCache => {
            let size = value.number(0..=u32::MAX, "a number of bytes from 0 to 4294967295")?;
            config.max_blob_cache_size = Some(size);
        }
        Key::Charset => {
            if !["", "utf8", "utf-8"].contains(&text.to_ascii_lowercase().as_str()) {
                return Err(ConfigError::Charset(shorten(text)));
            }
        }
        Key::Dialect => {
            config.dialect = value.choice(&DIALECT, "3 or 1")?;
        }
        Key::TimeZone => config.session_time_zone = value.text(),
        Key::SetBind => config.set_bind = value.text(),
        Key::DecfloatRound => config.decfloat_round = value.text(),
        Key::DecfloatTraps => config.decfloat_traps = value.text(),
        Key::SearchPath => config.search_path = value.text(),
        Key::ParallelWorkers => {
            // The engine keeps it in 15 bits.
            let workers = value.number(1..=32767, "a number from 1 to 32767")?;
            config.parallel_workers = u16::try_from(workers).ok();
        }
        Key::NoDbTriggers => config.no_db_triggers = value.flag()?,
        Key::NoGc => config.no_gc = value.flag()?,
        Key::ProcessName => config.process_name = value.text(),
        Key::Decryption => {
            let expected = "env:NAME, file:PATH or cmd:COMMAND; a key itself does not belong here";
            config.db_key = Some(KeySource::parse(text).ok_or_else(|| value.error(expected))?);
        }
        Key::DecryptionInClear => config.db_key_in_clear = value.flag()?,
        Key::EngineConfig => config.engine_config = value.text(),
        Key::ClientLibrary => config.client_library = value.text(),
        Key::ServerMode => {
            config.server_mode = Some(value.choice(&SERVER_MODE, "super or classic")?);
        }
        Key::CreateIfMissing => config.create_if_missing = value.flag()?,
        Key::Overwrite => config.overwrite = value.flag()?,
        Key::PageSize => {
            config.page_size = Some(value.choice(&PAGE_SIZE, "4096, 8192, 16384 or 32768")?);
        }
        Key::DbCharset => config.db_charset = value.text(),
        Key::ForceWrites => config.force_writes = Some(value.flag()?),
        Key::Read => {
            set_read(&mut ReadOptions::default(), spec.name, text)?;
            config.read.retain(|(name, _)| name != spec.name);
            config.read.push((spec.name.into(), text.into()));
        }
        Key::Ignored => {}
    }
    Ok(())
}

/// Sets a switch of the type mapping.
pub(super) fn set_read(read: &mut ReadOptions, name: &str, value: &str) -> Result<(), ConfigError> {
    read.set(name, value).map_err(|error| match ReadOptions::NAMES.iter().find(|known| **known == name) {
        Some(known) => ConfigError::value(known, value, error.expected),
        None => ConfigError::UnknownOption { name: shorten(name), nearest: None },
    })
}

/// The options that differ from their defaults, as [`collect`] would read them; without user, and without
/// secrets.
pub(super) fn written(config: &Config) -> Vec<(&'static str, String)> {
    let default = Config::default();
    let mut pairs = Vec::new();
    let mut add = |name: &'static str, value: Option<String>| pairs.extend(value.map(|value| (name, value)));
    let flag = |flag: bool| flag.then(|| "true".to_owned());
    let number = |number: Option<u32>| number.map(|number| number.to_string());

    let family = config.address_family;
    add("address_family", (family != default.address_family).then(|| word(&ADDRESS_FAMILY, family)));
    add("role", config.role.clone());
    let crypt = config.wire_crypt;
    add("wire_crypt", (crypt != default.wire_crypt).then(|| word(&WIRE_CRYPT, crypt)));
    let ciphers = config.ciphers.iter().map(|cipher| cipher.name());
    add("wire_crypt_plugin", (config.ciphers != default.ciphers).then(|| join(ciphers)));
    let warning = config.clear_text_warning;
    add("clear_text_warning", (warning != default.clear_text_warning).then(|| word(&CLEAR_TEXT, warning)));
    add("allow_no_authentication", flag(config.allow_no_authentication));
    let compress = match config.compress {
        WireCompression::Off => None,
        WireCompression::On => flag(true),
        WireCompression::Auto => Some("auto".into()),
    };
    add("wire_compress", compress);
    let plugins = config.auth_plugins.iter().map(|plugin| plugin.name());
    add("auth_plugins", (config.auth_plugins != default.auth_plugins).then(|| join(plugins)));
    let connect = config.connect_timeout;
    add("connect_timeout", (connect != default.connect_timeout).then(|| write_duration(connect)));
    add("read_timeout", config.read_timeout.map(write_duration));
    add("event_host", config.event_host.clone());
    add("event_port", number(config.event_port.map(u32::from)));
    add("keepalive", config.keepalive.map(write_duration));
    let versions = || format!("{}-{}", config.protocol.start(), config.protocol.end());
    add("protocol", (config.protocol != default.protocol).then(versions));
    add("max_inline_blob_size", number(config.max_inline_blob_size));
    add("max_blob_cache_size", number(config.max_blob_cache_size));
    add("dialect", (config.dialect != default.dialect).then(|| word(&DIALECT, config.dialect)));
    add("session_time_zone", config.session_time_zone.clone());
    add("set_bind", config.set_bind.clone());
    add("decfloat_round", config.decfloat_round.clone());
    add("decfloat_traps", config.decfloat_traps.clone());
    add("search_path", config.search_path.clone());
    add("parallel_workers", number(config.parallel_workers.map(u32::from)));
    add("no_db_triggers", flag(config.no_db_triggers));
    add("no_gc", flag(config.no_gc));
    add("process_name", config.process_name.clone());
    add("db_key", config.db_key.as_ref().and_then(KeySource::public_text));
    add("db_key_in_clear", flag(config.db_key_in_clear));
    add("config", config.engine_config.clone());
    add("client_library", config.client_library.clone());
    add("server_mode", config.server_mode.map(|mode| word(&SERVER_MODE, mode)));
    add("create_if_missing", flag(config.create_if_missing));
    add("overwrite", flag(config.overwrite));
    add("page_size", number(config.page_size));
    add("db_charset", config.db_charset.clone());
    add("force_writes", config.force_writes.map(|force| force.to_string()));
    for (name, value) in &config.read {
        // The field is public: what is no switch of the type mapping stays out.
        if let Ok(Found::Own(spec)) = find(name)
            && spec.key == Key::Read
        {
            add(spec.name, Some(value.clone()));
        }
    }
    pairs
}

/// The first word that has this meaning.
fn word<T: PartialEq>(words: &[(&str, T)], meaning: T) -> String {
    words.iter().find(|(_, known)| *known == meaning).map(|(word, _)| (*word).into()).unwrap_or_default()
}

fn join<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(",")
}
