//! Ends of transactions.

use super::guard;
use super::output::DONE;
use crate::abi::{self, Handle, Return, SmallInt, USmallInt};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::{Connection, registry};

fn end(connection: &mut Connection, completion: SmallInt) -> Result<Return> {
    let commits = commits(completion)?;
    let ended = connection.expect_open()?.end(commits);
    // Statements that are in use notice it with their next call.
    for id in &connection.statements {
        if let Some(mut in_use) = registry::try_get(*id)
            && let Some(statement) = in_use.statement()
        {
            statement.notice_ends();
        }
    }
    ended.map_err(Failure::of_unlimited)?;
    DONE
}

fn commits(completion: SmallInt) -> Result<bool> {
    match completion {
        abi::COMMIT => Ok(true),
        abi::ROLLBACK => Ok(false),
        _ => Err(Failure::new(State::COMPLETION, format!("{completion} is not a completion type"))),
    }
}

/// Ends the transactions of all connections of an environment, one after the other.
fn end_all(handle: Handle, completion: SmallInt) -> Return {
    guard::environment(handle, |environment| {
        commits(completion)?;
        let mut failed = 0;
        for id in environment.connections.clone() {
            let Some(mut in_use) = registry::get(id) else { continue };
            let Some(connection) = in_use.connection() else { continue };
            if connection.link.is_some()
                && let Err(failure) = end(connection, completion)
            {
                failed += 1;
                environment.diagnostics.add(failure);
            }
        }
        Ok(if failed == 0 { abi::SUCCESS } else { abi::ERROR })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLEndTran(kind: SmallInt, handle: Handle, completion: SmallInt) -> Return {
    match kind {
        abi::HANDLE_ENV => end_all(handle, completion),
        abi::HANDLE_DBC => guard::connection(handle, |connection| end(connection, completion)),
        _ => abi::INVALID_HANDLE,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLTransact(
    environment: Handle,
    connection: Handle,
    completion: USmallInt,
) -> Return {
    let completion = SmallInt::try_from(completion).unwrap_or(-1);
    match connection.is_null() {
        true => end_all(environment, completion),
        false => guard::connection(connection, |connection| end(connection, completion)),
    }
}
