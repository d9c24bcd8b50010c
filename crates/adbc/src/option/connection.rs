//! Transaction options of connections.

use super::{Keyed, bad_value, flag, milliseconds, number, within};
use crate::error::{Result, not_implemented};
use firearrow_driver::{Level, SessionOptions};
use std::time::Duration;

/// The prefix of the standard's isolation levels.
const ISOLATION: &str = "adbc.connection.transaction.isolation.";
/// Firebird's longest lock timeout, in seconds.
const LONGEST_WAIT: i64 = 32767;

const LEVELS: [(Level, &str); 6] = [
    (Level::Default, "default"),
    (Level::ReadUncommitted, "read_uncommitted"),
    (Level::ReadCommitted, "read_committed"),
    (Level::RepeatableRead, "repeatable_read"),
    (Level::Snapshot, "snapshot"),
    (Level::Serializable, "serializable"),
];

impl Keyed for SessionOptions {
    fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            "adbc.connection.autocommit" => self.autocommit = flag(key, value)?,
            "adbc.connection.readonly" => self.read_only = flag(key, value)?,
            "adbc.connection.transaction.isolation_level" => self.level = level(key, value)?,
            "adbc.firebird.lock_timeout" => {
                let seconds = within(key, value, -1..=LONGEST_WAIT, "-1, or seconds from 0 to 32767")?;
                self.lock_timeout = u16::try_from(seconds).ok();
            }
            "adbc.firebird.ddl_autocommit" => self.ddl_autocommit = flag(key, value)?,
            "adbc.firebird.snapshot_number" => {
                let snapshot = number(key, value, "the number of a snapshot, or 0")?;
                self.snapshot_number = (snapshot > 0).then_some(snapshot);
            }
            "adbc.firebird.statement_timeout" => {
                self.statement_timeout = milliseconds(key, value)?;
            }
            "adbc.firebird.idle_timeout" => {
                let seconds: u32 = number(key, value, "seconds from 0 to 4294967295")?;
                self.idle_timeout = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn get(&self, key: &str) -> Option<Result<String>> {
        Some(Ok(match key {
            "adbc.connection.autocommit" => self.autocommit.to_string(),
            "adbc.connection.readonly" => self.read_only.to_string(),
            "adbc.connection.transaction.isolation_level" => {
                let name =
                    LEVELS.iter().find(|(level, _)| *level == self.level).map_or("default", |(_, name)| name);
                format!("{ISOLATION}{name}")
            }
            "adbc.firebird.lock_timeout" => self.lock_timeout.map_or(-1, i32::from).to_string(),
            "adbc.firebird.ddl_autocommit" => self.ddl_autocommit.to_string(),
            "adbc.firebird.snapshot_number" => self.snapshot_number.unwrap_or(0).to_string(),
            "adbc.firebird.statement_timeout" => {
                self.statement_timeout.unwrap_or_default().as_millis().to_string()
            }
            "adbc.firebird.idle_timeout" => self.idle_timeout.unwrap_or_default().as_secs().to_string(),
            _ => return None,
        }))
    }
}

fn level(key: &str, value: &str) -> Result<Level> {
    let name = value.strip_prefix(ISOLATION).unwrap_or(value);
    if name == "linearizable" {
        return Err(not_implemented("Firebird has no linearizable transactions"));
    }
    let level = LEVELS.iter().find(|(_, known)| *known == name).map(|(level, _)| *level);
    let expected = "default, read_committed, repeatable_read, snapshot or serializable, with their prefix";
    level.ok_or_else(|| bad_value(key, value, expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_session() {
        let mut options = SessionOptions::default();
        for (key, value) in [
            ("adbc.connection.transaction.isolation_level", "serializable"),
            ("adbc.firebird.snapshot_number", "17"),
            ("adbc.firebird.statement_timeout", "1500"),
            ("adbc.firebird.idle_timeout", "60"),
        ] {
            assert!(options.set(key, value).expect("a value that it takes"), "{key}");
        }
        let expected = SessionOptions {
            level: Level::Serializable,
            snapshot_number: Some(17),
            statement_timeout: Some(Duration::from_millis(1500)),
            idle_timeout: Some(Duration::from_secs(60)),
            ..SessionOptions::default()
        };
        assert_eq!(options, expected);
        assert_eq!(options.get("adbc.firebird.statement_timeout"), Some(Ok("1500".into())));
    }

    #[test]
    fn locks_are_waited_for_as_told() {
        let mut options = SessionOptions::default();
        for (value, expected) in [("0", Some(0)), ("7", Some(7)), ("32767", Some(32767)), ("-1", None)] {
            options.set("adbc.firebird.lock_timeout", value).expect("in bounds");
            assert_eq!(options.lock_timeout, expected);
            assert_eq!(options.get("adbc.firebird.lock_timeout"), Some(Ok(value.into())));
        }
        for value in ["-2", "32768", "x", ""] {
            assert!(options.set("adbc.firebird.lock_timeout", value).is_err(), "{value}");
        }
    }
}
