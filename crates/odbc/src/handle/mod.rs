//! What handles stand for: environments, connections, statements and descriptors.

mod attributes;
mod connection;
mod descriptor;
mod environment;
pub(crate) mod registry;
pub(crate) mod statement;

pub(crate) use attributes::StatementAttributes;
pub(crate) use connection::{Connection, ConnectionAttributes, Link};
pub(crate) use descriptor::{Descriptor, DescriptorHandle, Record, Role, SharedDescriptor};
pub(crate) use environment::Environment;
pub(crate) use registry::Id;
pub(crate) use statement::Statement;
