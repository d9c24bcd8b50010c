//! Linux, and what is close enough to it to compile.

pub(crate) mod access;
mod descriptors;
pub(crate) mod folders;
pub(crate) mod handlers;
pub(crate) mod image;
pub(crate) mod loader;
pub(crate) mod names;
pub(crate) mod root;
mod user;
