//! Attributes of connections.

use super::{bad_value, changed, statement, unknown, unsupported};
use crate::abi::Integer;
use crate::abi::attribute::connection as attribute;
use crate::diagnostics::{Failure, Result, State};
use crate::entry::Value;
use crate::handle::{Connection, Link};
use firearrow_driver::{Level, SessionOptions};

/// Sets an attribute. `text` is its value if it has text.
pub(crate) fn set(
    connection: &mut Connection,
    number: Integer,
    value: usize,
    text: &dyn Fn() -> Result<String>,
) -> Result<()> {
    let value32 = value as u32;
    let flag = || match value32 {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(bad_value(number, value)),
    };
    match number {
        attribute::AUTOCOMMIT => {
            let autocommit = flag()?;
            configure(connection, |options| options.autocommit = autocommit)?;
            let before = std::mem::replace(&mut connection.attributes.autocommit, autocommit);
            if let Some(link) = connection.link.as_ref().filter(|_| autocommit && !before) {
                // Its transaction was committed.
                link.end_cursors();
            }
        }
        attribute::ACCESS_MODE => {
            let read_only = flag()?;
            configure(connection, |options| options.read_only = read_only)?;
            connection.attributes.read_only = Some(read_only);
        }
        attribute::TXN_ISOLATION => set_isolation(connection, number, value32)?,
        attribute::LOGIN_TIMEOUT => connection.attributes.login_timeout = Some(value32),
        attribute::CONNECTION_TIMEOUT => {
            connection.attributes.connection_timeout = value32;
            if connection.link.is_some() {
                let text = "the time limit of the connection applies when it is opened again";
                connection.diagnostics.add(changed(text));
            }
        }
        attribute::QUIET_MODE => connection.attributes.quiet_mode = value,
        attribute::METADATA_ID => {
            connection.attributes.metadata_id = flag()?;
            change_defaults(connection, |defaults, attributes| defaults.metadata_id = attributes.metadata_id);
        }
        attribute::PACKET_SIZE => {
            connection.diagnostics.add(changed("the driver chooses the size of packets"));
        }
        attribute::ANSI_APP => connection.attributes.ansi_app = value32 != 0,
        attribute::ODBC_CURSORS | attribute::TRACE => {}
        attribute::TRACEFILE => {
            text()?;
        }
        attribute::DISCONNECT_BEHAVIOR => connection.attributes.disconnect_behavior = value32,
        attribute::CURRENT_CATALOG => {
            return Err(unsupported("Firebird has no catalogs: a connection belongs to one database"));
        }
        attribute::TRANSLATE_LIB | attribute::TRANSLATE_OPTION => {
            return Err(unsupported("the driver does not support translation libraries"));
        }
        attribute::ENLIST_IN_DTC => {
            return Err(unsupported("the driver does not support distributed transactions"));
        }
        attribute::ASYNC_DBC_FUNCTIONS_ENABLE if value32 == 0 => {}
        attribute::ASYNC_DBC_FUNCTIONS_ENABLE => return Err(no_async()),
        attribute::RESET_CONNECTION if value32 == 1 => reset(connection)?,
        attribute::RESET_CONNECTION => return Err(bad_value(number, value)),
        attribute::AUTO_IPD | attribute::CONNECTION_DEAD => {
            return Err(Failure::new(State::ATTRIBUTE, format!("attribute {number} is read-only")));
        }
        crate::abi::attribute::statement::ASYNC_ENABLE if value == 0 => {}
        crate::abi::attribute::statement::ASYNC_ENABLE => return Err(no_async()),
        // Applications of ODBC 2 set the defaults of statements here.
        crate::abi::attribute::statement::QUERY_TIMEOUT..=crate::abi::attribute::statement::ROWSET_SIZE
            if connection.is_odbc2 =>
        {
            set_default(connection, number, value)?;
        }
        _ => return Err(unknown(number)),
    }
    Ok(())
}

fn no_async() -> Failure {
    unsupported("calls are not asynchronous: use threads")
}

/// Changes the options of the open session.
fn configure(connection: &Connection, change: impl FnOnce(&mut SessionOptions)) -> Result<()> {
    if let Some(link) = &connection.link {
        let mut options = link.session.options();
        change(&mut options);
        link.session.configure(options)?;
    }
    Ok(())
}

/// The isolation level with this bit.
pub(crate) fn level(bit: u32) -> Option<Level> {
    match bit {
        attribute::READ_UNCOMMITTED | attribute::READ_COMMITTED => Some(Level::ReadCommitted),
        attribute::REPEATABLE_READ => Some(Level::RepeatableRead),
        attribute::SERIALIZABLE => Some(Level::Serializable),
        _ => None,
    }
}

/// The bit of an isolation level.
pub(crate) fn bit(level: Level) -> u32 {
    match level {
        Level::RepeatableRead | Level::Snapshot => attribute::REPEATABLE_READ,
        Level::Serializable => attribute::SERIALIZABLE,
        _ => attribute::READ_COMMITTED,
    }
}

fn set_isolation(connection: &mut Connection, number: Integer, bit: u32) -> Result<()> {
    let level = level(bit).ok_or_else(|| bad_value(number, bit as usize))?;
    if let Some(link) = &connection.link
        && has_transaction(link)?
    {
        return Err(Failure::new(State::NOT_NOW, "a transaction is open: commit or roll back first"));
    }
    configure(connection, |options| options.level = level)?;
    let bit = match bit {
        attribute::READ_UNCOMMITTED => {
            connection
                .diagnostics
                .add(changed("Firebird does not read uncommitted rows: READ COMMITTED instead"));
            attribute::READ_COMMITTED
        }
        bit => bit,
    };
    connection.attributes.isolation = Some(bit);
    Ok(())
}

/// Whether a transaction of manual mode is open.
pub(crate) fn has_transaction(link: &Link) -> Result<bool> {
    Ok(link.session.ask_transaction(|_| Ok(()))?.is_some())
}

/// Changes the attributes of new statements.
fn change_defaults(
    connection: &Connection,
    change: impl FnOnce(&mut crate::handle::StatementAttributes, &crate::handle::ConnectionAttributes),
) {
    if let Some(link) = &connection.link {
        change(&mut link.defaults(), &connection.attributes);
    }
}

fn set_default(connection: &mut Connection, number: Integer, value: usize) -> Result<()> {
    let Some(link) = connection.link.clone() else {
        return Err(Failure::new(State::NOT_CONNECTED, "the connection is not open"));
    };
    statement::set_plain(&mut link.defaults(), &mut connection.diagnostics, number, value)
}

/// Makes an open connection as good as new.
fn reset(connection: &mut Connection) -> Result<()> {
    let link = std::sync::Arc::clone(connection.expect_open()?);
    for id in &connection.statements {
        if let Some(mut in_use) = crate::handle::registry::get(*id)
            && let Some(statement) = in_use.statement()
        {
            statement.reset();
        }
    }
    link.end(false)?;
    link.session.connection()?.reset()?;
    link.session.configure(SessionOptions { autocommit: true, ..link.initial_session.clone() })?;
    *link.defaults() = link.initial;
    let attributes = &mut connection.attributes;
    (attributes.autocommit, attributes.read_only, attributes.isolation) = (true, None, None);
    attributes.metadata_id = link.initial.metadata_id;
    Ok(())
}

pub(crate) fn get(connection: &Connection, number: Integer) -> Result<Value> {
    let attributes = &connection.attributes;
    let options = || connection.link.as_ref().map(|link| link.session.options());
    Ok(Value::Integer(match number {
        attribute::AUTOCOMMIT => attributes.autocommit.into(),
        attribute::ACCESS_MODE => {
            options().map_or(attributes.read_only.unwrap_or(false), |options| options.read_only).into()
        }
        attribute::TXN_ISOLATION => options()
            .map_or(attributes.isolation.unwrap_or(attribute::READ_COMMITTED), |options| bit(options.level)),
        attribute::LOGIN_TIMEOUT => attributes.login_timeout.unwrap_or(0),
        attribute::CONNECTION_TIMEOUT => attributes.connection_timeout,
        attribute::PACKET_SIZE => 0,
        attribute::METADATA_ID => attributes.metadata_id.into(),
        attribute::AUTO_IPD => 1,
        attribute::CONNECTION_DEAD => match &connection.link {
            Some(link) => (!link.session.connection().is_ok_and(firearrow::Connection::is_alive)).into(),
            None => return Err(Failure::new(State::NOT_CONNECTED, "the connection is not open")),
        },
        attribute::ASYNC_DBC_FUNCTIONS_ENABLE
        | attribute::ODBC_CURSORS
        | attribute::TRACE
        | crate::abi::attribute::statement::ASYNC_ENABLE => 0,
        attribute::DISCONNECT_BEHAVIOR => attributes.disconnect_behavior,
        attribute::ANSI_APP => connection.attributes.ansi_app.into(),
        attribute::QUIET_MODE => return Ok(Value::Length(attributes.quiet_mode)),
        attribute::CURRENT_CATALOG => {
            let link = connection.expect_open()?;
            return Ok(Value::Text(link.facts.database.as_str().into()));
        }
        attribute::TRACEFILE => return Ok(Value::Text("".into())),
        attribute::TRANSLATE_LIB | attribute::TRANSLATE_OPTION => {
            return Err(unsupported("the driver does not support translation libraries"));
        }
        attribute::ENLIST_IN_DTC => {
            return Err(unsupported("the driver does not support distributed transactions"));
        }
        crate::abi::attribute::statement::QUERY_TIMEOUT => {
            let link = connection.expect_open()?;
            return Ok(Value::Length(link.statement_attributes().query_timeout));
        }
        _ => return Err(unknown(number)),
    }))
}
