//! Windows.

pub(crate) mod access;
pub(crate) mod folders;
pub(crate) mod handlers;
pub(crate) mod image;
pub(crate) mod loader;
pub(crate) mod names;
pub(crate) mod root;
mod sid;
