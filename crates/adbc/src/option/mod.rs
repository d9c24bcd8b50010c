//! Options: one table lists all of them; their values are text.
//!
//! Every value is stored as the text that a connection string would have for it. Numbers and bytes are only other ways
//! to write and read the same text. So typed profiles and untyped URIs can express the same options.

mod connection;
mod ingest;
mod statement;
mod table;

pub(crate) use firearrow_driver::shortened;
pub(crate) use ingest::Target;
pub(crate) use statement::Execution;
pub use table::{Access, CONNECTION, DATABASE, Kind, OPTIONS, STATEMENT, Scope, Spec, find};

use crate::error::{Result, invalid_argument, invalid_state, new, not_implemented};
use adbc_core::error::{Error, Status};
use adbc_core::options::OptionValue;
use firearrow_driver::SessionOptions;
use std::ops::RangeInclusive;
use std::time::Duration;

/// Options of the driver as text.
pub(crate) trait Keyed {
    /// Sets the option with this key; `false` if there is none.
    fn set(&mut self, key: &str, value: &str) -> Result<bool>;
    /// Returns the value of the option with this key, if it has one.
    fn get(&self, key: &str) -> Option<Result<String>>;
}

/// The defaults of new connections and statements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    pub(crate) connection: SessionOptions,
    pub(crate) statement: Execution,
}

impl Keyed for Defaults {
    fn set(&mut self, key: &str, value: &str) -> Result<bool> {
        Ok(self.connection.set(key, value)? || self.statement.set(key, value)?)
    }

    fn get(&self, key: &str) -> Option<Result<String>> {
        self.connection.get(key).or_else(|| self.statement.get(key))
    }
}

/// A handle with options as text.
pub(crate) trait Options {
    /// Sets the option with this key.
    fn set(&mut self, key: &str, value: &str) -> Result<()>;
    /// Returns the value of the option, as [`set`](Self::set) accepts it.
    fn get(&self, key: &str) -> Result<String>;
    /// Marks the handle as unusable after a panic.
    fn broken(&self);
}

/// Implements ADBC's calls with [`Options`].
macro_rules! optionable {
    ($handle:ty, $option:ty) => {
        impl adbc_core::Optionable for $handle {
            type Option = $option;

            fn set_option(
                &mut self,
                key: $option,
                value: adbc_core::options::OptionValue,
            ) -> $crate::error::Result<()> {
                let key = AsRef::<str>::as_ref(&key);
                let value = $crate::option::text(key, value)?;
                // A panic while setting leaves the option either old or new.
                $crate::panic::contain(|| (), || $crate::option::Options::set(self, key, &value))
            }

            fn get_option_string(&self, key: $option) -> $crate::error::Result<String> {
                let broken = || $crate::option::Options::broken(self);
                $crate::panic::contain(broken, || $crate::option::Options::get(self, key.as_ref()))
            }

            fn get_option_bytes(&self, key: $option) -> $crate::error::Result<Vec<u8>> {
                self.get_option_string(key).map(String::into_bytes)
            }

            fn get_option_int(&self, key: $option) -> $crate::error::Result<i64> {
                let text = self.get_option_string(key.clone())?;
                $crate::option::int(key.as_ref(), &text)
            }

            fn get_option_double(&self, key: $option) -> $crate::error::Result<f64> {
                let text = self.get_option_string(key.clone())?;
                $crate::option::double(key.as_ref(), &text)
            }
        }
    };
}

pub(crate) use optionable;

/// Converts a value to text.
pub(crate) fn text(key: &str, value: OptionValue) -> Result<String> {
    match value {
        OptionValue::String(text) => Ok(text),
        OptionValue::Int(number) => Ok(number.to_string()),
        OptionValue::Double(number) => Ok(number.to_string()),
        OptionValue::Bytes(bytes) => String::from_utf8(bytes)
            .map_err(|_| invalid_argument(format!("option {key}: the bytes are not UTF-8 text"))),
        _ => Err(invalid_argument(format!("option {key}: a value of unknown type"))),
    }
}

pub(crate) fn int(key: &str, text: &str) -> Result<i64> {
    let whole =
        |number: f64| (number.fract() == 0.0 && number.abs() < 2f64.powi(63)).then_some(number as i64);
    let number = text.parse().ok().or_else(|| text.parse().ok().and_then(whole));
    number.ok_or_else(|| invalid_argument(format!("option {key} is '{text}', which is not an integer")))
}

pub(crate) fn double(key: &str, text: &str) -> Result<f64> {
    text.parse().map_err(|_| invalid_argument(format!("option {key} is '{text}', which is not a number")))
}

/// Parses `true` or `false`.
pub(crate) fn flag(key: &str, text: &str) -> Result<bool> {
    match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(bad_value(key, text, "true or false")),
    }
}

/// Parses a number of type `T`.
pub(crate) fn number<T: TryFrom<i64>>(key: &str, text: &str, expected: &str) -> Result<T> {
    let number = int(key, text).ok().and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| bad_value(key, text, expected))
}

/// Parses a number within a range.
pub(crate) fn within<T>(key: &str, text: &str, range: RangeInclusive<T>, expected: &str) -> Result<T>
where
    T: TryFrom<i64> + PartialOrd,
{
    let number = number(key, text, expected)?;
    if range.contains(&number) { Ok(number) } else { Err(bad_value(key, text, expected)) }
}

/// Parses a time limit in milliseconds; 0 = no limit.
pub(crate) fn milliseconds(key: &str, text: &str) -> Result<Option<Duration>> {
    let limit: u32 = number(key, text, "milliseconds from 0 to 4294967295")?;
    Ok((limit > 0).then(|| Duration::from_millis(limit.into())))
}

/// Returns the error for an invalid value of a known option.
pub(crate) fn bad_value(key: &str, text: &str, expected: &str) -> Error {
    invalid_argument(format!("option {key} cannot be '{}'; it takes {expected}", shortened(text)))
}

/// Returns the option with this key, if handles of this kind accept a value for it.
pub(crate) fn settable(key: &str, scope: Scope) -> Result<&'static Spec> {
    find(key)
        .filter(|spec| spec.scope.has(scope) && spec.access != Access::Read)
        .ok_or_else(|| cannot_set(key, scope))
}

/// Returns the error for setting an option that this kind of handle does not have, or that is read-only.
fn cannot_set(key: &str, scope: Scope) -> Error {
    match find(key) {
        Some(spec) if spec.scope.has(scope) && spec.access == Access::Read => {
            invalid_state(format!("option {key} is read-only"))
        }
        Some(spec) => not_implemented(format!("option {key} applies only to: {}", spec.scope)),
        None => not_implemented(format!("there is no option '{}'", shortened(key))),
    }
}

/// Returns the error for reading an option that this kind of handle does not have, or that has no value.
pub(crate) fn not_found(key: &str) -> Error {
    new(Status::NotFound, format!("option '{}' is unknown or has no value", shortened(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_convert_where_nothing_is_lost() {
        assert_eq!(text("k", OptionValue::Int(-5)).expect("text"), "-5");
        assert_eq!(text("k", OptionValue::Double(2.5)).expect("text"), "2.5");
        assert_eq!(text("k", OptionValue::Double(2.0)).expect("text"), "2");
        assert_eq!(text("k", OptionValue::Bytes(b"x".to_vec())).expect("text"), "x");
        assert!(text("k", OptionValue::Bytes(vec![0xff])).is_err());
        assert_eq!(int("k", "7").expect("a number"), 7);
        assert_eq!(int("k", "7.0").expect("a whole number"), 7);
        assert!(int("k", "7.5").is_err() && int("k", "").is_err() && int("k", "1e30").is_err());
        assert_eq!(double("k", "7").expect("a number").to_bits(), 7f64.to_bits());
    }

    #[test]
    fn defaults_are_what_the_table_says() {
        let defaults = Defaults::default();
        for spec in OPTIONS.iter().filter(|spec| spec.access == Access::Write) {
            if let Some(value) = defaults.get(spec.key) {
                assert_eq!(value.unwrap_or_default(), spec.default, "{}", spec.key);
            } else {
                assert!(spec.scope.has(DATABASE) && !spec.scope.has(STATEMENT), "{}", spec.key);
            }
        }
    }
}
