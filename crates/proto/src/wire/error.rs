//! Errors of a connection, sorted by who is at fault.

use super::{auth::AuthError, compress::CompressError, crypt::CryptError, op::Op};
use crate::api::status::StatusVector;

/// A failure that ends the connection. Later calls return the same error again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The peer sent bytes that no Firebird server sends.
    #[error("the server sent an invalid packet: {0}")]
    InvalidMessage(String),
    /// The peer sent a packet that does not answer the pending request.
    #[error("{}", unexpected(*op, waiting_for))]
    UnexpectedPacket {
        /// The packet that arrived.
        op: Op,
        /// The packet that was expected.
        waiting_for: &'static str,
    },
    /// The peer announced more data than this client accepts.
    #[error("the server announced {what} of {length}, more than the limit of {limit}")]
    TooLong {
        /// Which field.
        what: &'static str,
        /// The announced length in bytes (or number of elements).
        length: u64,
        /// The limit.
        limit: u64,
    },
    /// The peer closed the stream.
    #[error("the server closed the connection")]
    Closed,
    /// The server refused the connection, the login or the database, for the reason in its status vector.
    #[error("{0}")]
    Refused(StatusVector),
    /// `op_reject`: the server knows none of the offered protocol versions, or requires encryption that they lack.
    #[error(
        "the server rejected the connection: it knows none of the protocol versions 13 to 19 (Firebird 3.0 or newer \
         is needed)"
    )]
    Rejected,
    /// Client and server cannot agree; the text names the setting to change.
    #[error("{0}")]
    Incompatible(String),
    /// The server rejected the login; the text says what it wants instead.
    #[error("{0}")]
    LoginFailed(String),
    /// The peer accepted the client without any proof of the account.
    #[error(
        "the server asked for no proof of user and password: it authenticates nobody, or is not the intended server; \
         allow_no_authentication=yes connects anyway, but then anyone could be at the other end"
    )]
    Unauthenticated,
    /// The peer does not know the session key of the login: its answer to `op_crypt` is not encrypted with it.
    #[error(
        "the server's answer to op_crypt is not encrypted with the key of this login: it does not know the account's \
         password, or someone on the network path has changed the data"
    )]
    NotEncrypted,
    /// Authentication failed.
    #[error(transparent)]
    Auth(#[from] AuthError),
    /// Encryption failed.
    #[error(transparent)]
    Crypt(#[from] CryptError),
    /// The compressed stream is broken.
    #[error(transparent)]
    Compress(#[from] CompressError),
    /// The caller used the connection in a state that does not allow it.
    #[error("connection misused: {0}")]
    Misuse(&'static str),
}

/// Text where the number of a packet belongs comes from a server of another kind.
fn unexpected(op: Op, waiting_for: &str) -> String {
    let bytes = op.0.to_be_bytes();
    match std::str::from_utf8(&bytes) {
        Ok(text) if text.bytes().all(|byte| byte.is_ascii_graphic()) => {
            let service = if matches!(text, "HTTP" | "<!DO" | "<htm" | "<HTM") {
                ": it is a web server"
            } else if text == "SSH-" {
                ": it is an SSH server"
            } else {
                ""
            };
            format!(
                "the server sent \"{text}\", which is not Firebird's protocol{service}; check host and port"
            )
        }
        _ => format!("the server sent {op:?} while {waiting_for} was expected"),
    }
}

/// Why the available bytes could not be decoded as a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// More bytes are needed; this is not a failure.
    Incomplete,
    /// The bytes are not a valid packet.
    Invalid(ProtocolError),
}

impl From<ProtocolError> for DecodeError {
    fn from(error: ProtocolError) -> Self {
        Self::Invalid(error)
    }
}

/// Like `ok_or(Incomplete)`, which makes an error and drops it even if the bytes are there.
#[inline(always)]
pub(super) fn present<T>(found: Option<T>) -> Result<T, DecodeError> {
    match found {
        Some(found) => Ok(found),
        None => Err(DecodeError::Incomplete),
    }
}

/// Makes the decoding error for an invalid packet.
pub(crate) fn invalid(what: impl Into<String>) -> DecodeError {
    DecodeError::Invalid(ProtocolError::InvalidMessage(what.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_of_another_kind_are_recognized() {
        let text = |bytes: [u8; 4]| {
            ProtocolError::UnexpectedPacket { op: Op(u32::from_be_bytes(bytes)), waiting_for: "the answer" }
                .to_string()
        };
        assert_eq!(
            text(*b"HTTP"),
            "the server sent \"HTTP\", which is not Firebird's protocol: it is a web server; check host and port"
        );
        assert!(text(*b"SSH-").contains("an SSH server") && text(*b"220 ").contains("was expected"));
        assert_eq!(text([0, 0, 0, 9]), "the server sent op_response while the answer was expected");
    }
}
