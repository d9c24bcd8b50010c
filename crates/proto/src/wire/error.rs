//! What can go wrong on a connection, sorted by who is at fault.

use super::{auth::AuthError, compress::CompressError, crypt::CryptError, op::Op};
use crate::api::status::StatusVector;

/// A failure that ends the connection. Later calls return the same error again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The peer sent bytes that no Firebird server sends.
    #[error("the server sent an invalid packet: {0}")]
    InvalidMessage(String),
    /// The peer sent a packet that answers no request.
    #[error("the server sent {op:?} while {waiting_for} was expected")]
    UnexpectedPacket {
        /// What came.
        op: Op,
        /// What was being waited for.
        waiting_for: &'static str,
    },
    /// The peer announced more than this client accepts.
    #[error("the server announced {what} of {length}, more than the limit of {limit}")]
    TooLong {
        /// Which field.
        what: &'static str,
        /// Announced length in bytes (or number of elements).
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// The peer closed the stream.
    #[error("the server closed the connection")]
    Closed,
    /// The server refused the connection, the login or the database: its status vector says why.
    #[error("{0}")]
    Refused(StatusVector),
    /// `op_reject`: the server knows none of the offered protocol versions, or demands encryption that they lack.
    #[error(
        "the server rejected the connection: it knows none of the protocol versions 13 to 19 (Firebird 3.0 or newer \
         is needed)"
    )]
    Rejected,
    /// The two sides cannot agree; the text names the setting to change.
    #[error("{0}")]
    Incompatible(String),
    /// The login was not accepted; the text says what the server wants instead.
    #[error("{0}")]
    LoginFailed(String),
    /// The peer let the client in without any proof of the account.
    #[error(
        "the server asked for no proof of user and password: it authenticates nobody, or is not the server that \
         was meant; allow_no_authentication=yes connects all the same, and then anybody can be at the other end"
    )]
    Unauthenticated,
    /// The peer does not know the key that the login made: its answer to `op_crypt` is not encrypted with it.
    #[error(
        "the server's answer to op_crypt is not encrypted with the key of this login: it does not know the account's \
         password, or somebody on the way has changed what was sent"
    )]
    NotEncrypted,
    /// Authentication cannot go on.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// A cipher cannot go on.
    #[error(transparent)]
    Crypt(#[from] CryptError),
    /// The compressed stream is broken.
    #[error(transparent)]
    Compress(#[from] CompressError),
    /// The caller used the connection in a state that does not allow it.
    #[error("connection misused: {0}")]
    Misuse(&'static str),
}

/// Why a packet could not be decoded from the bytes at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// More bytes are needed; nothing is wrong.
    Incomplete,
    /// The bytes are no valid packet.
    Invalid(ProtocolError),
}

impl From<ProtocolError> for DecodeError {
    fn from(error: ProtocolError) -> Self {
        Self::Invalid(error)
    }
}

/// Shorthand for the decoding error "this is no valid packet".
pub(crate) fn invalid(what: impl Into<String>) -> DecodeError {
    DecodeError::Invalid(ProtocolError::InvalidMessage(what.into()))
}
