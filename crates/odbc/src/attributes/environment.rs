//! Attributes of environments.

use super::{bad_value, unknown, unsupported};
use crate::abi::Integer;
use crate::abi::attribute::environment as attribute;
use crate::diagnostics::{Failure, Result, State};
use crate::entry::Value;
use crate::handle::Environment;

pub(crate) fn set(environment: &mut Environment, number: Integer, value: usize) -> Result<()> {
    // The value is a number in a pointer, of which 32 bits count.
    let value32 = value as u32;
    match number {
        attribute::ODBC_VERSION => {
            if !environment.connections.is_empty() {
                let text = "the version is set before the first connection is allocated";
                return Err(Failure::new(State::SEQUENCE, text));
            }
            match value32 {
                attribute::ODBC2 | attribute::ODBC3 | attribute::ODBC3_80 => environment.version = value32,
                _ => return Err(bad_value(number, value)),
            }
        }
        attribute::CONNECTION_POOLING => environment.pooling = value32,
        attribute::CP_MATCH => environment.pool_matching = value32,
        attribute::OUTPUT_NTS if value32 == 1 => {}
        attribute::OUTPUT_NTS if value32 == 0 => {
            return Err(unsupported("text always has a terminator"));
        }
        attribute::OUTPUT_NTS => return Err(bad_value(number, value)),
        _ => return Err(unknown(number)),
    }
    Ok(())
}

pub(crate) fn get(environment: &Environment, number: Integer) -> Result<Value> {
    Ok(Value::Integer(match number {
        attribute::ODBC_VERSION => environment.version,
        attribute::CONNECTION_POOLING => environment.pooling,
        attribute::CP_MATCH => environment.pool_matching,
        attribute::OUTPUT_NTS => 1,
        _ => return Err(unknown(number)),
    }))
}
