//! Handles: making and freeing them.

use super::guard;
use crate::abi::{self, Handle, Return, SmallInt, USmallInt};
use crate::diagnostics::{Diagnostics, Failure, Result, State};
use crate::handle::registry::{self, Object};
use crate::handle::{Connection, DescriptorHandle, Environment, Id, Role, SharedDescriptor, Statement};
use crate::platform;
use std::sync::Arc;

fn too_many() -> Failure {
    Failure::new(State::MEMORY, "there are too many handles")
}

fn no_place() -> Failure {
    Failure::new(State::NULL_POINTER, "the output pointer for the handle is NULL")
}

/// Hands out a new handle.
///
/// # Safety
/// `to` may be written.
unsafe fn hand_out(to: *mut Handle, id: Id) -> Result<Return> {
    // SAFETY: the caller's promise.
    unsafe { to.write_unaligned(id.handle()) };
    Ok(abi::SUCCESS)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLAllocHandle(kind: SmallInt, input: Handle, output: *mut Handle) -> Return {
    // SAFETY: as for this function.
    unsafe { allocate(kind, input, output) }
}

/// # Safety
/// `output` is NULL or may be written.
pub(super) unsafe fn allocate(kind: SmallInt, input: Handle, output: *mut Handle) -> Return {
    if !output.is_null() {
        // SAFETY: the application's place for a handle.
        unsafe { output.write_unaligned(std::ptr::null_mut()) };
    }
    match kind {
        abi::HANDLE_ENV => {
            platform::stay_loaded();
            // SAFETY: as above.
            guard::plain(|| unsafe { new_environment(output) })
        }
        abi::HANDLE_DBC => guard::environment(input, |environment| {
            if output.is_null() {
                return Err(no_place());
            }
            let is_odbc2 = environment.is_odbc2();
            let parent = Id::from(input);
            let new = |id| Object::Connection(Box::new(Connection::new(id, parent, is_odbc2)));
            let id = registry::add(new, None).ok_or_else(too_many)?;
            environment.connections.push(id);
            // SAFETY: as above.
            unsafe { hand_out(output, id) }
        }),
        abi::HANDLE_STMT => guard::connection(input, |connection| {
            if output.is_null() {
                return Err(no_place());
            }
            let id = new_statement(connection)?;
            // SAFETY: as above.
            unsafe { hand_out(output, id) }
        }),
        abi::HANDLE_DESC => guard::connection(input, |connection| {
            if output.is_null() {
                return Err(no_place());
            }
            connection.expect_open()?;
            let descriptor = SharedDescriptor::new(Role::Application, true);
            let id = new_descriptor(descriptor, connection.id, None)?;
            connection.descriptors.push(id);
            // SAFETY: as above.
            unsafe { hand_out(output, id) }
        }),
        _ => abi::INVALID_HANDLE,
    }
}

/// # Safety
/// `output` is NULL or may be written.
unsafe fn new_environment(output: *mut Handle) -> Return {
    if output.is_null() {
        return abi::ERROR;
    }
    match registry::add(|_| Object::Environment(Box::new(Environment::new())), None) {
        Some(id) => {
            // SAFETY: the caller's promise.
            unsafe { output.write_unaligned(id.handle()) };
            abi::SUCCESS
        }
        None => abi::ERROR,
    }
}

fn new_descriptor(descriptor: SharedDescriptor, connection: Id, statement: Option<Id>) -> Result<Id> {
    let new = |_| {
        Object::Descriptor(DescriptorHandle {
            diagnostics: Diagnostics::default(),
            descriptor,
            connection,
            statement,
        })
    };
    registry::add(new, None).ok_or_else(too_many)
}

fn new_statement(connection: &mut Connection) -> Result<Id> {
    let link = Arc::clone(connection.expect_open()?);
    let descriptors = Statement::make_descriptors();
    let mut ids = Vec::with_capacity(descriptors.len());
    for descriptor in &descriptors {
        match new_descriptor(descriptor.clone(), connection.id, None) {
            Ok(id) => ids.push(id),
            Err(failure) => {
                ids.into_iter().for_each(free_descriptor);
                return Err(failure);
            }
        }
    }
    let ids: [Id; 4] = ids.try_into().map_err(|_| too_many())?;
    let statement = |id| Statement::new(id, link, ids, descriptors);
    let added = registry::add(|id| Object::Statement(Box::new(statement(id))), None);
    let Some(id) = added else {
        ids.into_iter().for_each(free_descriptor);
        return Err(too_many());
    };
    for descriptor in ids {
        if let Some(mut in_use) = registry::get(descriptor)
            && let Some(handle) = in_use.descriptor()
        {
            handle.statement = Some(id);
        }
    }
    if let Some(mut in_use) = registry::get(id)
        && let Some(statement) = in_use.statement()
    {
        registry::set_activity(id, Some(Arc::clone(statement.driver.activity())));
    }
    connection.statements.push(id);
    Ok(id)
}

fn free_descriptor(id: Id) {
    drop(registry::remove(id, abi::HANDLE_DESC));
}

/// Frees a statement with its result and descriptors.
pub(super) fn free_statement(id: Id) -> bool {
    // Whatever runs in it would be waited for.
    match registry::remove(id, abi::HANDLE_STMT) {
        Some(Object::Statement(statement)) => {
            statement.descriptors.into_iter().for_each(free_descriptor);
            if let Some(name) = &statement.cursor_name {
                statement.link.release_cursor_name(name);
            }
            true
        }
        _ => false,
    }
}

/// Frees what belongs to a connection.
pub(super) fn free_children(connection: &mut Connection) {
    for id in std::mem::take(&mut connection.statements) {
        free_statement(id);
    }
    connection.descriptors.drain(..).for_each(free_descriptor);
}

/// Makes the statements of a connection use their implicit descriptors instead of this one.
fn revert(statements: &[Id], freed: &SharedDescriptor) {
    for id in statements {
        let Some(mut in_use) = registry::get(*id) else { continue };
        let Some(statement) = in_use.statement() else { continue };
        if statement.ard.is(freed) {
            statement.ard = statement.implicit[0].clone();
            statement.bound.forget();
        }
        if statement.apd.is(freed) {
            statement.apd = statement.implicit[1].clone();
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLFreeHandle(kind: SmallInt, handle: Handle) -> Return {
    free(kind, handle)
}

pub(super) fn free(kind: SmallInt, handle: Handle) -> Return {
    match kind {
        abi::HANDLE_ENV => {
            let code = guard::environment(handle, |environment| match environment.connections.is_empty() {
                true => Ok(abi::SUCCESS),
                false => {
                    Err(Failure::new(State::SEQUENCE, "the environment has connections: free them first"))
                }
            });
            freed(code, Id::from(handle), kind)
        }
        abi::HANDLE_DBC => {
            let mut environment = None;
            let code = guard::connection(handle, |connection| {
                if connection.link.is_some() {
                    return Err(Failure::new(State::SEQUENCE, "the connection is open: disconnect first"));
                }
                environment = Some(connection.environment);
                free_children(connection);
                Ok(abi::SUCCESS)
            });
            let id = Id::from(handle);
            if code == abi::SUCCESS
                && let Some(mut in_use) = environment.and_then(registry::get)
                && let Some(environment) = in_use.environment()
            {
                environment.connections.retain(|connection| *connection != id);
            }
            freed(code, id, kind)
        }
        abi::HANDLE_STMT => drop_statement(handle),
        abi::HANDLE_DESC => {
            let mut explicit = None;
            let code = guard::descriptor(handle, |descriptor| {
                if descriptor.statement.is_some() {
                    let text = "the descriptor belongs to a statement and goes with it";
                    return Err(Failure::new(State::IMPLICIT_DESCRIPTOR, text));
                }
                explicit = Some((descriptor.connection, descriptor.descriptor.clone()));
                Ok(abi::SUCCESS)
            });
            let id = Id::from(handle);
            if let Some((connection, descriptor)) = explicit {
                let statements = registry::get(connection).and_then(|mut in_use| {
                    let connection = in_use.connection()?;
                    connection.descriptors.retain(|other| *other != id);
                    Some(connection.statements.clone())
                });
                revert(&statements.unwrap_or_default(), &descriptor);
            }
            freed(code, id, kind)
        }
        _ => abi::INVALID_HANDLE,
    }
}

/// Frees the handle of a call that succeeded.
fn freed(code: Return, id: Id, kind: SmallInt) -> Return {
    if code == abi::SUCCESS {
        guard::plain(|| {
            drop(registry::remove(id, kind));
            abi::SUCCESS
        })
    } else {
        code
    }
}

fn drop_statement(handle: Handle) -> Return {
    let mut descriptor = None;
    // In a call, so that it does not go from under one of another thread.
    let code = guard::any_statement(handle, |statement| {
        statement.need = None;
        statement.close_cursor();
        descriptor = Some(statement.descriptors[0]);
        Ok(abi::SUCCESS)
    });
    if code != abi::SUCCESS {
        return code;
    }
    let id = Id::from(handle);
    let connection =
        descriptor.and_then(registry::get).and_then(|mut in_use| Some(in_use.descriptor()?.connection));
    guard::plain(|| {
        free_statement(id);
        if let Some(mut in_use) = connection.and_then(registry::get)
            && let Some(connection) = in_use.connection()
        {
            connection.statements.retain(|statement| *statement != id);
        }
        abi::SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLFreeStmt(handle: Handle, option: USmallInt) -> Return {
    match option {
        abi::CLOSE => guard::statement(handle, |statement| {
            statement.close_cursor();
            Ok(abi::SUCCESS)
        }),
        abi::DROP => drop_statement(handle),
        abi::UNBIND => guard::statement(handle, |statement| {
            statement.ard.lock().clear();
            Ok(abi::SUCCESS)
        }),
        abi::RESET_PARAMS => guard::statement(handle, |statement| {
            statement.apd.lock().clear();
            statement.ipd.lock().clear();
            statement.describe_parameters();
            Ok(abi::SUCCESS)
        }),
        _ => guard::any_statement(handle, |_| {
            Err(Failure::new(State::ATTRIBUTE, format!("SQLFreeStmt has no option {option}")))
        }),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLCloseCursor(handle: Handle) -> Return {
    guard::statement(handle, |statement| match statement.cursor {
        Some(_) => {
            statement.close_cursor();
            Ok(abi::SUCCESS)
        }
        None => Err(Failure::new(State::CURSOR_STATE, "no cursor is open")),
    })
}
