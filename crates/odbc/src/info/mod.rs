//! What `SQLGetInfo` and `SQLGetFunctions` return.

mod conversion;
mod cursor;
mod definition;
mod facts;
pub(crate) mod functions;
mod keywords;
mod limit;
mod product;
mod query;
#[cfg(test)]
mod tests;

pub(crate) use facts::{Facts, Release};

use crate::abi::info;

/// A piece of information, in the type that the standard gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Text(String),
    /// `SQLUSMALLINT`
    Short(u16),
    /// `SQLUINTEGER`
    Long(u32),
}

impl Answer {
    fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn yes(is_so: bool) -> Self {
        Self::text(if is_so { "Y" } else { "N" })
    }
}

/// Returns a piece of information; `None` if it is unknown (`HY096`) or the driver manager's.
pub(crate) fn answer(id: u16, facts: &Facts) -> Option<Answer> {
    product::answer(id, facts)
        .or_else(|| limit::answer(id, facts))
        .or_else(|| cursor::answer(id, facts))
        .or_else(|| query::answer(id, facts))
        .or_else(|| definition::answer(id, facts))
        .or_else(|| conversion::answer(id, facts))
}

/// Returns whether a piece of information is of a connection. The rest is of the driver: driver managers ask for some of it
/// before they connect, and the facts may be the default ones.
pub(crate) fn needs_connection(id: u16) -> bool {
    !matches!(
        id,
        info::DRIVER_NAME
            | info::DRIVER_VER
            | info::DRIVER_ODBC_VER
            | info::ASYNC_DBC_FUNCTIONS
            | info::ASYNC_NOTIFICATION
            | info::DRIVER_AWARE_POOLING_SUPPORTED
    )
}
