//! The definitions of objects.

use crate::failure::Result;
use firearrow::Connection;

pub(crate) fn describe(_connection: &Connection, name: &str) -> Result<String> {
    Ok(format!("{name}\n"))
}

pub(crate) fn ddl(_connection: &Connection, name: &str) -> Result<String> {
    Ok(format!("{name}\n"))
}
