//! What every call begins and ends with: the handle, its diagnostics, and panics.

use crate::abi::{self, Handle, Return};
use crate::diagnostics::{Diagnostics, Failure, Result, State};
use crate::handle::{Connection, DescriptorHandle, Environment, Id, Statement, registry};
use std::panic::{AssertUnwindSafe, catch_unwind};

trait Diagnosed {
    fn diagnostics(&mut self) -> &mut Diagnostics;
}

macro_rules! diagnosed {
    ($($type:ty),*) => {
        $(impl Diagnosed for $type {
            fn diagnostics(&mut self) -> &mut Diagnostics {
                &mut self.diagnostics
            }
        })*
    };
}

diagnosed!(Environment, Connection, Statement, DescriptorHandle);

/// Runs a call; its failure, or panic, becomes a record.
fn run<T: Diagnosed>(object: Option<&mut T>, work: impl FnOnce(&mut T) -> Result<Return>) -> Return {
    let Some(object) = object else { return abi::INVALID_HANDLE };
    object.diagnostics().clear();
    let result = catch_unwind(AssertUnwindSafe(|| work(object)));
    let result = result.unwrap_or_else(|panic| {
        let text = firearrow_driver::panic::text(&*panic);
        Err(Failure::new(State::GENERAL, format!("the driver panicked: {text}")))
    });
    let diagnostics = object.diagnostics();
    let code = match result {
        Ok(abi::SUCCESS) if !diagnostics.is_empty() => abi::SUCCESS_WITH_INFO,
        Ok(code) => code,
        Err(failure) => {
            diagnostics.add(failure);
            abi::ERROR
        }
    };
    diagnostics.code = code;
    code
}

pub(super) fn environment(handle: Handle, work: impl FnOnce(&mut Environment) -> Result<Return>) -> Return {
    let Some(mut in_use) = registry::get(Id::from(handle)) else { return abi::INVALID_HANDLE };
    run(in_use.environment(), work)
}

pub(super) fn connection(handle: Handle, work: impl FnOnce(&mut Connection) -> Result<Return>) -> Return {
    let Some(mut in_use) = registry::get(Id::from(handle)) else { return abi::INVALID_HANDLE };
    run(in_use.connection(), work)
}

pub(super) fn descriptor(
    handle: Handle,
    work: impl FnOnce(&mut DescriptorHandle) -> Result<Return>,
) -> Return {
    let Some(mut in_use) = registry::get(Id::from(handle)) else { return abi::INVALID_HANDLE };
    run(in_use.descriptor(), work)
}

/// A call on a statement that does not wait for data.
pub(super) fn statement(handle: Handle, work: impl FnOnce(&mut Statement) -> Result<Return>) -> Return {
    any_statement(handle, |statement| match statement.need {
        Some(_) => Err(Failure::new(State::SEQUENCE, "the statement waits for SQLParamData and SQLPutData")),
        None => work(statement),
    })
}

/// A call on a statement that may wait for data.
pub(super) fn any_statement(handle: Handle, work: impl FnOnce(&mut Statement) -> Result<Return>) -> Return {
    let Some(mut in_use) = registry::get(Id::from(handle)) else { return abi::INVALID_HANDLE };
    run(in_use.statement(), |statement| {
        statement.notice_ends();
        work(statement)
    })
}

/// A call without diagnostics; a panic is a plain error.
pub(super) fn plain(work: impl FnOnce() -> Return) -> Return {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(abi::ERROR)
}
