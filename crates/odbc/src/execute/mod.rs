//! Preparing and executing statements.

mod outputs;
mod parameters;
mod prepare;
mod run;

pub(crate) use parameters::NeedData;
pub(crate) use prepare::translate;
