//! Preparing and executing statements.

mod outputs;
mod parameters;
mod prepare;
mod run;
mod transaction;

pub(crate) use parameters::NeedData;
pub(crate) use prepare::translate;
pub(crate) use transaction::Control;
