//! Windows.

pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod process;
pub(crate) mod terminal;
