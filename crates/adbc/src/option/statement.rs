//! How statements read and write.

use super::{IngestOptions, bad_value, flag, number, within};
use crate::error::{Result, not_implemented};
use firearrow::{BatchLimits, PartitionOptions, ReadOptions};
use std::time::Duration;

/// What the switches of the type mapping begin with.
const TYPE: &str = "adbc.firebird.type.";

/// Options of statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatementOptions {
    pub(crate) read: ReadOptions,
    pub(crate) limits: BatchLimits,
    /// Batches to read ahead.
    pub(crate) prefetch: usize,
    /// Milliseconds; 0 = no limit.
    timeout: u32,
    pub(crate) by_name: bool,
    pub(crate) ingest: IngestOptions,
    pub(crate) partitions: PartitionOptions,
}

impl StatementOptions {
    /// The time limit of an execution.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        (self.timeout > 0).then(|| Duration::from_millis(self.timeout.into()))
    }

    /// Sets the option that has this key; `false` if there is none.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            "adbc.firebird.query.batch_rows" => self.limits.rows = at_least_one(key, value)?,
            "adbc.firebird.query.batch_bytes" => self.limits.bytes = at_least_one(key, value)?,
            "adbc.firebird.query.timeout" => {
                self.timeout = number(key, value, "milliseconds from 0 to 4294967295")?;
            }
            "adbc.firebird.query.prefetch" => {
                self.prefetch = within(key, value, 0..=1024, "a number of batches from 0 to 1024")?;
            }
            "adbc.firebird.partitions" => {
                self.partitions.wanted = number(key, value, "a number from 0 on")?;
            }
            "adbc.firebird.partitions.unsafe" => self.partitions.without_snapshot = flag(key, value)?,
            "adbc.statement.bind_by_name" => self.by_name = flag(key, value)?,
            "adbc.statement.exec.incremental" => {
                if flag(key, value)? {
                    return Err(not_implemented("partitions come all at once: exec.incremental is false"));
                }
            }
            _ => match switch(key) {
                Some(name) => {
                    self.read.set(name, value).map_err(|error| bad_value(key, value, &error.expected))?;
                }
                None => return self.ingest.set(key, value),
            },
        }
        Ok(true)
    }

    pub(crate) fn get(&self, key: &str) -> Option<Result<String>> {
        Some(Ok(match key {
            "adbc.firebird.query.batch_rows" => self.limits.rows.to_string(),
            "adbc.firebird.query.batch_bytes" => self.limits.bytes.to_string(),
            "adbc.firebird.query.timeout" => self.timeout.to_string(),
            "adbc.firebird.query.prefetch" => self.prefetch.to_string(),
            "adbc.firebird.partitions" => self.partitions.wanted.to_string(),
            "adbc.firebird.partitions.unsafe" => self.partitions.without_snapshot.to_string(),
            "adbc.statement.bind_by_name" => self.by_name.to_string(),
            "adbc.statement.exec.incremental" => "false".into(),
            _ => match switch(key) {
                Some(name) => self.read.value(name)?,
                None => return self.ingest.get(key),
            },
        }))
    }
}

/// The client's name of a switch.
fn switch(key: &str) -> Option<&str> {
    let name = match key {
        "adbc.firebird.none_encoding" => "none_encoding",
        _ => key.strip_prefix(TYPE)?,
    };
    super::find(key)?;
    Some(name)
}

fn at_least_one(key: &str, value: &str) -> Result<usize> {
    within(key, value, 1..=usize::MAX, "a number from 1 on")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_of_the_client_has_a_key() {
        let mut options = StatementOptions::default();
        for name in ReadOptions::NAMES {
            let key = if name == "none_encoding" {
                "adbc.firebird.none_encoding".into()
            } else {
                format!("{TYPE}{name}")
            };
            let value = options.get(&key).expect("it is there").expect("it has a value");
            assert!(options.set(&key, &value).expect("its own value"), "{key}");
            assert!(options.set(&key, "no such thing").is_err(), "{key}");
        }
        assert!(!options.set("adbc.firebird.type.colour", "red").expect("not ours"));
    }
}
