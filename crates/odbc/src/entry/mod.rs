//! The C functions, by what they are about. Each finds its handle, takes its arguments apart and calls the object.

// The names are the standard's, and what they demand of their callers is written there.
#![allow(non_snake_case, unreachable_pub, missing_docs, clippy::missing_safety_doc)]

mod attributes;
mod binding;
mod catalog;
mod connect;
mod deprecated;
mod descriptors;
mod diagnostics;
mod execute;
mod guard;
mod handles;
mod information;
#[cfg(windows)]
mod installer;
mod output;
mod results;
mod transactions;

pub(crate) use attributes::Value;
