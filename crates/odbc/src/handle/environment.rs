//! Environments.

use crate::abi::attribute::environment::{ODBC2, ODBC3};
use crate::diagnostics::Diagnostics;
use crate::handle::Id;

/// An environment: the version that its application speaks, and its connections.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) diagnostics: Diagnostics,
    /// The version that the application speaks.
    pub(crate) version: u32,
    /// What belongs to the driver manager, kept to be told again.
    pub(crate) pooling: u32,
    pub(crate) pool_matching: u32,
    pub(crate) connections: Vec<Id>,
}

impl Environment {
    pub(crate) fn new() -> Self {
        Self {
            diagnostics: Diagnostics::default(),
            version: ODBC3,
            pooling: 0,
            pool_matching: 0,
            connections: Vec::new(),
        }
    }

    /// Whether the application speaks ODBC 2, whose datetime types have other numbers.
    pub(crate) fn is_odbc2(&self) -> bool {
        self.version == ODBC2
    }
}
