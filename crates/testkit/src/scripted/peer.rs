//! The server's end of a connection.

use super::{Column, Request, Script, Shared, packet};
use firearrow_proto::wire::Op;
use firearrow_proto::wire::error::DecodeError;
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The server's end of one connection.
pub struct Peer {
    stream: TcpStream,
    protocol: u16,
    heard: Vec<u8>,
    shared: Arc<Shared>,
    /// Bytes that may still be sent.
    left: u64,
    last_handle: u16,
    last_transaction: u16,
    requests: usize,
    is_attached: bool,
}

/// No attack sends more than this: a client that takes all of it has failed its test.
const MOST_BYTES: u64 = 512 << 20;
/// No client is silent for so long.
const PATIENCE: Duration = Duration::from_secs(60);

impl Peer {
    pub(super) fn new(stream: &TcpStream, protocol: u16, shared: Arc<Shared>) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream: stream.try_clone()?,
            protocol,
            heard: Vec::new(),
            shared,
            left: MOST_BYTES,
            last_handle: 0,
            last_transaction: 0,
            requests: 0,
            is_attached: false,
        })
    }

    /// Serves until the client or the script ends the connection.
    pub(super) fn serve(&mut self, script: &Script) {
        while let Ok(Some(request)) = self.hear() {
            self.requests += 1;
            self.shared.requests.fetch_add(1, Ordering::Relaxed);
            if script(&request, self).is_err() {
                break;
            }
        }
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// The next request; `None` when the client has closed the connection.
    fn hear(&mut self) -> io::Result<Option<Request>> {
        loop {
            match Request::decode(&self.heard, self.protocol) {
                Ok((request, length)) => {
                    self.heard.drain(..length);
                    return Ok(Some(request));
                }
                Err(DecodeError::Incomplete) => {}
                Err(DecodeError::Invalid(error)) => return Err(io::Error::other(error.to_string())),
            }
            let mut bytes = [0; 16 << 10];
            match self.stream.read(&mut bytes)? {
                0 => return Ok(None),
                count => {
                    let bytes = &bytes[..count];
                    self.heard.extend_from_slice(bytes);
                    self.shared.heard.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
                }
            }
        }
    }

    /// Sends packets.
    ///
    /// # Errors
    /// The client has hung up, or has taken more than any client should.
    pub fn says(&mut self, packets: &[u8]) -> io::Result<()> {
        let left = self.left.checked_sub(packets.len() as u64);
        self.left = left.ok_or_else(|| io::Error::other("the client takes everything"))?;
        self.stream.write_all(packets)?;
        self.shared.sent.fetch_add(packets.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Sends the same packets until the client hangs up.
    ///
    /// # Errors
    /// Always: that is how it ends.
    pub fn floods(&mut self, packets: &[u8]) -> io::Result<()> {
        let many = packets.repeat((64 << 10) / packets.len().max(1) + 1);
        loop {
            self.says(&many)?;
        }
    }

    /// Whether [`behaves`](Self::behaves) has attached the client to a database.
    pub fn is_attached(&self) -> bool {
        self.is_attached
    }

    /// How many requests came on this connection, with the one that is being answered.
    pub fn requests(&self) -> usize {
        self.requests
    }

    /// The handle of the transaction that was started last.
    pub fn transaction(&self) -> u16 {
        self.last_transaction
    }

    /// The handle that was given last.
    pub fn last_handle(&self) -> u16 {
        self.last_handle
    }

    /// A new handle.
    pub fn handle(&mut self) -> u16 {
        // 0 is the database, 0xffff the object created last.
        self.last_handle = self.last_handle % 0xfffe + 1;
        self.last_handle
    }

    /// Answers as a server without any rows: all statements select one INTEGER named N.
    ///
    /// # Errors
    /// The client has hung up, or wants to.
    pub fn behaves(&mut self, request: &Request) -> io::Result<()> {
        let answer = match request.op {
            Op::CONNECT => packet::cond_accept(self.protocol),
            // Whatever proof it brought.
            Op::CONT_AUTH => packet::response(0, &[]),
            Op::ATTACH | Op::CREATE => {
                self.is_attached = true;
                packet::response(0, &[])
            }
            Op::TRANSACTION => {
                self.last_transaction = self.handle();
                packet::response(self.last_transaction, &[])
            }
            Op::ALLOCATE_STATEMENT | Op::OPEN_BLOB2 | Op::CREATE_BLOB2 => {
                packet::response(self.handle(), &[])
            }
            Op::PREPARE_STATEMENT => packet::response(0, &packet::description(&[Column::integer("N")], &[])),
            Op::EXECUTE | Op::EXEC_IMMEDIATE => packet::response(self.last_transaction, &[]),
            Op::EXECUTE2 => [packet::no_row(), packet::response(self.last_transaction, &[])].concat(),
            Op::FETCH | Op::FETCH_SCROLL => packet::fetch_end(true),
            Op::GET_SEGMENT => packet::response(packet::BLOB_END, &[]),
            Op::INFO_DATABASE | Op::INFO_TRANSACTION | Op::INFO_SQL | Op::INFO_BLOB => {
                packet::response(0, &[packet::INFO_END])
            }
            Op::DISCONNECT => return Err(io::ErrorKind::ConnectionAborted.into()),
            Op::DUMMY | Op::CANCEL => Vec::new(),
            _ => packet::response(0, &[]),
        };
        self.says(&answer)
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("protocol", &self.protocol).finish_non_exhaustive()
    }
}
