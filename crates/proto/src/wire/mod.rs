//! The remote protocol, versions 13 to 19, as a state machine that owns no socket.

pub mod auth;
pub mod compress;
pub mod connection;
pub mod crypt;
pub mod error;
pub mod limits;
pub mod op;
pub mod packed;
pub mod packet;
pub mod version;
pub mod xdr;

pub use connection::{Connection, Event, Ticket};
pub use error::ProtocolError;
pub use limits::Limits;
pub use op::Op;
pub use version::ProtocolVersion;
