//! Options for reading and writing.

use super::{Keyed, Target, bad_value, flag, milliseconds, number, within};
use crate::error::{Result, not_implemented};
use firearrow_driver::StatementOptions;

/// The prefix of the type mapping's switches.
const TYPE: &str = "adbc.firebird.type.";

/// What a statement executes, according to its options: a query, or an ingestion into a table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Execution {
    pub(crate) options: StatementOptions,
    pub(crate) target: Target,
}

impl Execution {
    /// Returns the options of queries.
    pub(crate) fn options(&self) -> StatementOptions {
        // Parameter rows are written in the same way as ingested ones.
        StatementOptions { write: self.target.options.write, ..self.options.clone() }
    }
}

impl Keyed for Execution {
    fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        Ok(self.options.set(key, value)? || self.target.set(key, value)?)
    }

    fn get(&self, key: &str) -> Option<Result<String>> {
        self.options.get(key).or_else(|| self.target.get(key))
    }
}

impl Keyed for StatementOptions {
    fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        match key {
            "adbc.firebird.query.batch_rows" => self.limits.rows = at_least_one(key, value)?,
            "adbc.firebird.query.batch_bytes" => self.limits.bytes = at_least_one(key, value)?,
            "adbc.firebird.query.full_batches" => self.limits.full = flag(key, value)?,
            "adbc.firebird.query.timeout" => {
                self.timeout = milliseconds(key, value)?;
            }
            "adbc.firebird.query.prefetch" => {
                self.prefetch = within(key, value, 0..=1024, "a number of batches from 0 to 1024")?;
            }
            "adbc.firebird.query.parallel" => {
                self.parallel = Some(within(key, value, 0..=64, "a number of connections from 0 to 64")?);
            }
            "adbc.firebird.partitions" => {
                self.partitions.wanted = number(key, value, "a number from 0")?;
            }
            "adbc.firebird.partitions.unsafe" => self.partitions.without_snapshot = flag(key, value)?,
            "adbc.statement.bind_by_name" => self.by_name = flag(key, value)?,
            "adbc.statement.exec.incremental" => {
                if flag(key, value)? {
                    return Err(not_implemented(
                        "partitions always come all at once: exec.incremental is false",
                    ));
                }
            }
            _ => match switch(key) {
                Some(name) => {
                    self.read.set(name, value).map_err(|error| bad_value(key, value, &error.expected))?;
                }
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn get(&self, key: &str) -> Option<Result<String>> {
        Some(Ok(match key {
            "adbc.firebird.query.batch_rows" => self.limits.rows.to_string(),
            "adbc.firebird.query.batch_bytes" => self.limits.bytes.to_string(),
            "adbc.firebird.query.full_batches" => self.limits.full.to_string(),
            "adbc.firebird.query.timeout" => self.timeout.unwrap_or_default().as_millis().to_string(),
            "adbc.firebird.query.prefetch" => self.prefetch.to_string(),
            "adbc.firebird.query.parallel" => self.parallel.unwrap_or(1).to_string(),
            "adbc.firebird.partitions" => self.partitions.wanted.to_string(),
            "adbc.firebird.partitions.unsafe" => self.partitions.without_snapshot.to_string(),
            "adbc.statement.bind_by_name" => self.by_name.to_string(),
            "adbc.statement.exec.incremental" => "false".into(),
            _ => match switch(key) {
                Some(name) => self.read.value(name)?,
                None => return None,
            },
        }))
    }
}

/// Returns the client's name of a switch.
fn switch(key: &str) -> Option<&str> {
    let name = match key {
        "adbc.firebird.none_encoding" => "none_encoding",
        _ => key.strip_prefix(TYPE)?,
    };
    super::find(key)?;
    Some(name)
}

fn at_least_one(key: &str, value: &str) -> Result<usize> {
    within(key, value, 1..=usize::MAX, "a number from 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow::ReadOptions;

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
