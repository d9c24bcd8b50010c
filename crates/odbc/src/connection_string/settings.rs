//! What the attributes mean.

use super::compatible::{self, Notes};
use super::keyword::Meaning;
use super::target;
use super::value::Value;
use super::{Attributes, OdbcOptions};
use crate::diagnostics::{Failure, Result, State};
use firearrow::Config;
use firearrow::config::{ConfigError, Target};
use firearrow_driver::{Level, SessionOptions};
use std::time::Duration;

/// Everything that a connection needs to know.
#[derive(Debug)]
pub(crate) struct Settings {
    /// What the client connects to, and how.
    pub(crate) config: Config,
    /// How transactions begin. It is also what a reset returns to.
    pub(crate) session: SessionOptions,
    pub(crate) odbc: OdbcOptions,
    /// 01S00 and 01S02.
    pub(crate) warnings: Vec<Failure>,
    /// The attributes that had an effect, for `OutConnectionString`.
    pub(crate) effective: Attributes,
}

/// In place of no limit, which the client does not have.
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

const LEVELS: [(&str, Level); 8] = [
    ("READCOMMITTED", Level::ReadCommitted),
    ("READUNCOMMITTED", Level::ReadUncommitted),
    ("SNAPSHOT", Level::Snapshot),
    ("CONCURRENCY", Level::Snapshot),
    ("REPEATABLEREAD", Level::RepeatableRead),
    ("CONSISTENCY", Level::Serializable),
    ("SERIALIZABLE", Level::Serializable),
    ("SNAPSHOTTABLESTABILITY", Level::Serializable),
];

/// Understands the attributes. `login_timeout` is `SQL_ATTR_LOGIN_TIMEOUT` in seconds, if the application has set it; the
/// keyword takes precedence: .NET always sets the attribute. User and password that are missing come from the environment.
pub(crate) fn settings(attributes: &Attributes, login_timeout: Option<u32>) -> Result<Settings> {
    settings_in(&|name| std::env::var(name).ok(), attributes, login_timeout)
}

/// As [`settings`], in an environment of the caller's choice.
pub(crate) fn settings_in(
    env: &dyn Fn(&str) -> Option<String>,
    attributes: &Attributes,
    login_timeout: Option<u32>,
) -> Result<Settings> {
    let mut notes = Notes::default();
    let (mut config, of_url) = target::read(attributes, &mut notes)?;
    let mut all = attributes.clone();
    all.merge(&of_url);
    let of = |keyword| Value::of(&all, keyword);
    let flag = |keyword| of(keyword).map_or(Ok(false), Value::flag);

    set_client_options(&mut config, &all, &mut notes)?;
    compatible::check_switches(&mut config, &mut notes)?;
    compatible::set_charset(&mut config, &all, &mut notes);
    compatible::bind_types(&mut config, of("ENABLECOMPATBIND").map_or(Ok(true), Value::flag)?);
    match of("TIMEOUT") {
        Some(value) => set_timeout(&mut config, value)?,
        None => set_login_timeout(&mut config, login_timeout),
    }
    if flag("CREATE_DB")? {
        config.create_if_missing = true;
    }
    // Elsewhere it has no effect, whatever it is.
    if let Some(size) = of("PAGESIZE").filter(|_| config.create_if_missing) {
        set(&mut config, "PAGESIZE", "page_size", size.text())?;
    }
    if let Some(library) = of("CLIENT") {
        match config.target {
            Target::Embedded { .. } => set(&mut config, "CLIENT", "client_library", library.text())?,
            Target::Remote { .. } => {
                notes.change("CLIENT", "the driver speaks to servers without a client library")
            }
        }
    }
    fill_from_environment(&mut config, env)?;
    config.check().map_err(|error| Failure::new(State::GENERAL, error.to_string()))?;

    let session = SessionOptions {
        read_only: flag("READONLY")?,
        level: of("ISOLATION").map_or(Ok(Level::Default), level)?,
        lock_timeout: lock_timeout(flag("NOWAIT")?, of("LOCKTIMEOUT"))?,
        ddl_autocommit: flag("AUTODDL")?,
        ..SessionOptions::default()
    };
    let odbc = OdbcOptions::read(&all)?;
    let effective = effective(attributes, &notes);
    Ok(Settings { config, session, odbc, warnings: notes.warnings, effective })
}

/// Passes on what the client knows: the keywords of the table, and all of its options under their own names.
fn set_client_options(config: &mut Config, all: &Attributes, notes: &mut Notes) -> Result<()> {
    let mut unknown = Vec::new();
    // The last one set counts, but the first one given should: the client has names that the table lacks.
    for each in all.iter().rev().filter(|each| each.meaning.is_none()) {
        if !each.is_registered && !each.value.is_empty() && Config::is_application_only(&each.name) {
            return Err(target::refused(&each.name));
        }
        match config.set(&each.name, &each.value) {
            Ok(()) => {}
            Err(ConfigError::UnknownOption { nearest, .. }) => unknown.push((&each.name, nearest)),
            Err(ConfigError::FrontEndOption { .. }) => unknown.push((&each.name, None)),
            // Templates leave empty what they do not use.
            Err(_) if each.value.is_empty() => {}
            Err(error) => return Err(target::failure(&firearrow_driver::shortened(&each.name), &error)),
        }
    }
    unknown.into_iter().rev().for_each(|(name, nearest)| notes.unknown(name, nearest));
    for each in all.iter().filter(|each| !each.value.is_empty()) {
        if let Some(Meaning::Client(option)) = each.meaning {
            set(config, &each.name, option, &each.value)?;
        }
    }
    Ok(())
}

fn set(config: &mut Config, keyword: &str, option: &str, value: &str) -> Result<()> {
    config.set(option, value).map_err(|error| target::failure(keyword, &error))
}

fn set_timeout(config: &mut Config, value: Value<'_>) -> Result<()> {
    // The client takes 2.5 and 500ms, too, but no 0.
    if value.text().bytes().all(|byte| byte.is_ascii_digit()) {
        set_login_timeout(config, Some(value.number(0..=u32::MAX)?));
        return Ok(());
    }
    set(config, "TIMEOUT", "connect_timeout", value.text())
}

fn set_login_timeout(config: &mut Config, seconds: Option<u32>) {
    match seconds {
        None => {}
        Some(0) => config.connect_timeout = YEAR,
        Some(seconds) => config.connect_timeout = Duration::from_secs(seconds.into()).min(YEAR),
    }
}

fn level(value: Value<'_>) -> Result<Level> {
    value.choice(&LEVELS, "READCOMMITTED, SNAPSHOT or CONSISTENCY")
}

/// Seconds to wait for locks. The official driver takes 0 as any time.
fn lock_timeout(no_wait: bool, timeout: Option<Value<'_>>) -> Result<Option<u16>> {
    // The server keeps it in 15 bits.
    let seconds = timeout.map_or(Ok(0), |value| value.number(0..=32_767))?;
    match no_wait {
        true => Ok(Some(0)),
        false => Ok(u16::try_from(seconds).ok().filter(|seconds| *seconds > 0)),
    }
}

/// Takes user, password and the key of the database from where the client would look for them.
fn fill_from_environment(config: &mut Config, env: &dyn Fn(&str) -> Option<String>) -> Result<()> {
    let is_wanted = |name: &str| match name {
        "FIREARROW_USER" | "ISC_USER" => config.user.is_none(),
        "FIREARROW_DB_KEY" => config.db_key.is_none(),
        "FIREARROW_DB_KEY_IN_CLEAR" => !config.db_key_in_clear,
        _ => config.password.is_none(),
    };
    let text = match config.target {
        Target::Remote { .. } => "inet://localhost/x",
        Target::Embedded { .. } => "embedded:x",
    };
    let found = Config::parse_with_env(text, &|name| env(name).filter(|_| is_wanted(name)));
    let found = found.map_err(|error| Failure::new(State::GENERAL, format!("environment: {error}")))?;
    config.user = config.user.take().or(found.user);
    config.password = config.password.take().or(found.password);
    config.db_key = config.db_key.take().or(found.db_key);
    config.db_key_in_clear |= found.db_key_in_clear;
    Ok(())
}

fn effective(attributes: &Attributes, notes: &Notes) -> Attributes {
    let source = attributes.iter().find(|each| each.meaning == Some(Meaning::Source));
    let source = source.map(|each| each.name.clone());
    let mut effective = attributes.clone();
    effective.retain(|each| match each.meaning {
        Some(Meaning::Manager | Meaning::Ignored) => false,
        Some(Meaning::Source) => Some(&each.name) == source.as_ref(),
        _ => !notes.has_ignored(&each.name),
    });
    effective
}
