//! Preparing and executing statements.

mod outputs;
mod parameters;
mod prepare;
mod run;
mod transaction;

pub(crate) use parameters::{Inputs, NeedData};
pub(crate) use prepare::{Text, translate};
pub(crate) use transaction::Control;
