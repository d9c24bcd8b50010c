//! What can go wrong on a connection, sorted by who is at fault.

use super::{auth::AuthError, compress::CompressError, crypt::CryptError, op::Op};
use crate::api::status::StatusVector;
use std::fmt;

/// A failure that ends the connection. Later calls return the same error again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProtocolError {
    /// The peer sent bytes that no Firebird server sends.
    InvalidMessage(String),
    /// The peer sent a packet that answers no request.
    UnexpectedPacket {
        /// What came.
        op: Op,
        /// What was being waited for.
        waiting_for: &'static str,
    },
    /// The peer announced more than this client accepts.
    TooLong {
        /// Which field.
        what: &'static str,
        /// Announced length in bytes (or number of elements).
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// The peer closed the stream.
    Closed,
    /// The server refused the connection, the login or the database: its status vector says why.
    Refused(StatusVector),
    /// `op_reject`: the server knows none of the offered protocol versions, or demands encryption that they lack.
    Rejected,
    /// The two sides cannot agree; the text names the setting to change.
    Incompatible(String),
    /// The login was not accepted; the text says what the server wants instead.
    LoginFailed(String),
    /// The peer let the client in without any proof of the account.
    Unauthenticated,
    /// The peer does not know the key that the login made: its answer to `op_crypt` is not encrypted with it.
    NotEncrypted,
    /// Authentication cannot go on.
    Auth(AuthError),
    /// A cipher cannot go on.
    Crypt(CryptError),
    /// The compressed stream is broken.
    Compress(CompressError),
    /// The caller used the connection in a state that does not allow it.
    Misuse(&'static str),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidMessage(what) => write!(f, "the server sent an invalid packet: {what}"),
            Self::UnexpectedPacket { op, waiting_for } => {
                write!(f, "the server sent {op:?} while {waiting_for} was expected")
            }
            Self::TooLong { what, length, limit } => {
                write!(f, "the server announced {what} of {length}, more than the limit of {limit}")
            }
            Self::Closed => f.write_str("the server closed the connection"),
            Self::Refused(status) => write!(f, "{status}"),
            Self::Rejected => f.write_str(
                "the server rejected the connection: it knows none of the protocol versions 13 to 19 \
                 (Firebird 3.0 or newer is needed)",
            ),
            Self::Incompatible(text) | Self::LoginFailed(text) => f.write_str(text),
            Self::Unauthenticated => f.write_str(
                "the server asked for no proof of user and password: it authenticates nobody, or is not the server that \
                 was meant; allow_no_authentication=yes connects all the same, and then anybody can be at the other end",
            ),
            Self::NotEncrypted => f.write_str(
                "the server's answer to op_crypt is not encrypted with the key of this login: it does not know the \
                 account's password, or somebody on the way has changed what was sent",
            ),
            Self::Auth(error) => write!(f, "{error}"),
            Self::Crypt(error) => write!(f, "{error}"),
            Self::Compress(error) => write!(f, "{error}"),
            Self::Misuse(text) => write!(f, "connection misused: {text}"),
        }
    }
}

impl std::error::Error for ProtocolError {}

impl From<AuthError> for ProtocolError {
    fn from(error: AuthError) -> Self {
        Self::Auth(error)
    }
}

impl From<CryptError> for ProtocolError {
    fn from(error: CryptError) -> Self {
        Self::Crypt(error)
    }
}

impl From<CompressError> for ProtocolError {
    fn from(error: CompressError) -> Self {
        Self::Compress(error)
    }
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
