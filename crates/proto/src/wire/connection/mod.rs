//! The state machine: bytes in, events out; requests in, bytes out.
//!
//! ```no_run
//! # use firearrow_proto::wire::{Connection, Event, connection::ConnectOptions, Limits};
//! # fn drive(options: ConnectOptions, socket: &mut (impl std::io::Read + std::io::Write))
//! # -> Result<(), Box<dyn std::error::Error>> {
//! let mut connection = Connection::open(options, Limits::default())?;
//! loop {
//!     if let Some(event) = connection.next_event()? {
//!         if matches!(event, Event::Attached(_)) {
//!             break;
//!         }
//!         continue;
//!     }
//!     socket.write_all(connection.outgoing()?)?;
//!     connection.sent();
//!     let count = socket.read(connection.space()?)?;
//!     connection.received(count)?;
//! }
//! # Ok(())
//! # }
//! ```

mod handshake;
mod incoming;
mod outgoing;
mod pending;
mod stats;

pub use handshake::{ConnectOptions, PASSWORD_ADVICE};
pub use pending::Ticket;
pub use stats::WireStats;

use super::auth::AuthPlugin;
use super::crypt::{CipherKind, new_cipher};
use super::error::{DecodeError, ProtocolError};
use super::limits::Limits;
use super::op::Op;
use super::packed::PackedFormat;
use super::packet::Request;
use super::packet::attach::{Attach, Create};
use super::packet::batch::Completion;
use super::packet::blob::InlineBlob;
use super::packet::connect::{Accept, ContinueAuth, Crypt, KeyCallback};
use super::packet::response::Response;
use super::packet::row::{FetchStep, ROW_HEADER, decode_fetch_step, decode_sql_response};
use super::version::ProtocolVersion;
use super::xdr::{Reader, Writer};
use crate::api::row::PackedRows;
use crate::api::status::StatusVector;
use handshake::{Handshake, Phase, Step};
use incoming::Incoming;
use outgoing::Outgoing;
use pending::{Expected, Pending};
use std::fmt;

/// Something that the server sent.
#[derive(Debug)]
pub enum Event<'a> {
    /// The server wants the key of an encrypted database: answer with [`Connection::reply_key`].
    KeyCallback(KeyCallback),
    /// The database is attached, possibly with warnings; requests may be sent.
    Attached(StatusVector),
    /// The answer to a request.
    Response {
        /// The request.
        ticket: Ticket,
        /// The answer.
        response: Response,
    },
    /// Rows of a fetch, or the row of a singleton.
    Rows {
        /// The request.
        ticket: Ticket,
        /// Complete rows.
        rows: PackedRows<'a>,
    },
    /// A fetch is complete.
    FetchEnd {
        /// The request.
        ticket: Ticket,
        /// Whether the cursor has ended, too.
        cursor_end: bool,
    },
    /// The answer to the execution of a bulk operation.
    Completion {
        /// The request.
        ticket: Ticket,
        /// The outcome of the records.
        completion: Completion,
    },
    /// Contents of a BLOB that the next row refers to.
    InlineBlob {
        /// The request whose answer the row belongs to.
        ticket: Ticket,
        /// The contents.
        blob: InlineBlob<'a>,
    },
}

/// One connection, from its first byte to its last.
pub struct Connection {
    incoming: Incoming,
    outgoing: Outgoing,
    pending: Pending,
    handshake: Option<Box<Handshake>>,
    version: Option<ProtocolVersion>,
    cipher: Option<CipherKind>,
    auth_plugin: Option<AuthPlugin>,
    compressed: bool,
    limits: Limits,
    stats: WireStats,
    /// Whether nothing has been read since the last write.
    last_was_send: bool,
    positions: Vec<u32>,
    answers: u64,
    failed: Option<ProtocolError>,
}

/// The meaning of one packet (or a run of rows): [`Event`] without its borrows.
enum Decoded {
    Event(Event<'static>),
    Rows {
        ticket: Ticket,
        columns: usize,
        rows: usize,
    },
    InlineBlob(Ticket),
    /// Handled internally; decode the next packet.
    Internal,
}

impl Connection {
    /// Opens a connection: `op_connect` is ready to be sent.
    pub fn open(options: ConnectOptions, limits: Limits) -> Result<Self, ProtocolError> {
        let handshake = Handshake::new(options, &limits)?;
        let mut connection = Self {
            incoming: Incoming::new(largest_packet(&limits)),
            outgoing: Outgoing::default(),
            pending: Pending::default(),
            handshake: None,
            version: None,
            cipher: None,
            auth_plugin: None,
            compressed: false,
            limits,
            stats: WireStats::default(),
            last_was_send: false,
            positions: Vec::new(),
            answers: 0,
            failed: None,
        };
        connection.encode(|out| handshake.write_connect(out));
        connection.handshake = Some(Box::new(handshake));
        Ok(connection)
    }

    /// The negotiated version; `None` until the server accepted one.
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    /// The cipher in use.
    pub fn cipher(&self) -> Option<CipherKind> {
        self.cipher
    }

    /// The plugin that has logged in; `None` before.
    pub fn auth_plugin(&self) -> Option<AuthPlugin> {
        self.auth_plugin
    }

    /// Whether both directions are compressed.
    pub fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// The traffic of the connection so far.
    pub fn stats(&self) -> &WireStats {
        &self.stats
    }

    /// Number of answers so far, rows and BLOB contents included. Does not count what a peer could send forever: parts
    /// of packets, `op_dummy` and empty BLOBs.
    pub fn answers(&self) -> u64 {
        self.answers
    }

    /// Number of requests whose answers have not arrived.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// Whether a request that was sent has not been answered.
    pub fn is_awaiting(&self) -> bool {
        self.pending.front().is_some()
    }

    /// Number of pending requests whose answer is more than `op_response`. Servers never defer such answers, so all of
    /// these requests but the first are certainly queued at the server or still in transit.
    pub fn pending_results(&self) -> usize {
        self.pending.results()
    }

    /// Whether no request was queued after this one.
    pub fn is_last(&self, ticket: Ticket) -> bool {
        self.pending.last() == ticket
    }

    /// Returns the latest request queued.
    pub fn latest(&self) -> Ticket {
        self.pending.last()
    }

    /// Queues a request.
    pub fn send<R: Request>(&mut self, request: &R) -> Result<Ticket, ProtocolError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let (Some(version), None) = (self.version, &self.handshake) else {
            return Err(ProtocolError::Misuse("a request before the database is attached"));
        };
        self.encode(|out| {
            out.op(R::OP);
            request.encode(version, out);
        });
        Ok(self.pending.push(request.answer(), request.most_data()))
    }

    /// Answers [`Event::KeyCallback`]. An empty key means "none".
    pub fn reply_key(&mut self, key: &[u8]) {
        let version = self.version;
        self.encode(|out| KeyCallback::encode_reply(key, version, out));
    }

    fn encode(&mut self, packet: impl FnOnce(&mut Writer<'_>)) {
        let before = self.outgoing.plain_length();
        packet(&mut self.outgoing.writer());
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += (self.outgoing.plain_length() - before) as u64;
    }

    /// Returns the bytes to write to the link. Call [`sent`](Self::sent) afterwards.
    pub fn outgoing(&mut self) -> Result<&[u8], ProtocolError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        match self.outgoing.finish() {
            Ok(()) => {
                self.pending.hand_out();
                Ok(self.outgoing.wire())
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Reports that everything returned by [`outgoing`](Self::outgoing) has been written.
    pub fn sent(&mut self) {
        let written = self.outgoing.clear();
        if written > 0 {
            self.stats.sent(written);
            self.last_was_send = true;
        }
    }

    /// Returns the space for bytes from the link.
    pub fn space(&mut self) -> Result<&mut [u8], ProtocolError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if let Err(error) = self.incoming.reserve() {
            return Err(self.fail(error));
        }
        Ok(self.incoming.space())
    }

    /// Reports that `count` bytes were put into [`space`](Self::space); 0 means that the peer closed the stream.
    pub fn received(&mut self, count: usize) -> Result<(), ProtocolError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if count == 0 {
            return Err(self.fail(ProtocolError::Closed));
        }
        self.stats.received(count, std::mem::take(&mut self.last_was_send));
        match self.incoming.received(count) {
            Ok(plain) => {
                self.stats.bytes_received += plain as u64;
                Ok(())
            }
            // Bytes that do not decrypt do not inflate either.
            Err(_) if self.handshake.as_ref().is_some_and(|handshake| handshake.phase == Phase::Crypt) => {
                Err(self.fail(ProtocolError::NotEncrypted))
            }
            Err(error) => Err(self.fail(error)),
        }
    }

    /// Marks the connection as failed, for instance because its link failed. The first failure stays.
    pub fn fail(&mut self, error: ProtocolError) -> ProtocolError {
        self.failed.get_or_insert(error).clone()
    }

    /// The failure that ended the connection.
    pub fn failure(&self) -> Option<&ProtocolError> {
        self.failed.as_ref()
    }

    /// Returns the next event, or `None` if more bytes are needed.
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, ProtocolError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        loop {
            // A shortcut: the decoder would find the same.
            if self.incoming.has_nothing() {
                return Ok(None);
            }
            let step = match self.handshake {
                Some(_) => self.decode_handshake(),
                None => self.decode_packet(),
            };
            let (decoded, length) = match step {
                Ok(decoded) => decoded,
                Err(DecodeError::Incomplete) => match self.incoming.inflate() {
                    Ok(0) => return Ok(None),
                    Ok(plain) => {
                        self.stats.bytes_received += plain as u64;
                        continue;
                    }
                    Err(error) => return Err(self.fail(error)),
                },
                Err(DecodeError::Invalid(error)) => return Err(self.fail(error)),
            };
            let range = self.incoming.consume(length);
            match decoded {
                Decoded::Internal => {}
                Decoded::Event(event) => {
                    self.answers += 1;
                    return Ok(Some(event));
                }
                Decoded::Rows { ticket, columns, rows } => {
                    self.answers += 1;
                    let bytes = self.incoming.slice(range);
                    let rows = PackedRows { bytes, positions: &self.positions, columns, rows };
                    return Ok(Some(Event::Rows { ticket, rows }));
                }
                Decoded::InlineBlob(ticket) => {
                    let mut reader = Reader::new(self.incoming.slice(range));
                    let blob = reader.op().and_then(|_| InlineBlob::decode(&mut reader, &self.limits));
                    self.answers += u64::from(blob.as_ref().is_ok_and(|blob| !blob.segments.is_empty()));
                    return Ok(blob.ok().map(|blob| Event::InlineBlob { ticket, blob })); // it was decoded once already
                }
            }
        }
    }

    /// Decodes one packet, or as many complete rows as there are. Returns how many bytes it consumed.
    fn decode_packet(&mut self) -> Result<(Decoded, usize), DecodeError> {
        let data = self.incoming.data();
        let mut reader = Reader::new(data);
        let op = reader.op()?;
        match op {
            Op::DUMMY => {
                self.stats.packets_received += 1;
                return Ok((Decoded::Internal, reader.position()));
            }
            Op::EXIT | Op::DISCONNECT => return Err(ProtocolError::Closed.into()),
            _ => {}
        }
        let Some(expected) = self.pending.front() else {
            return Err(ProtocolError::UnexpectedPacket { op, waiting_for: "nothing" }.into());
        };
        let ticket = expected.ticket();
        let decoded = match (op, expected) {
            (Op::RESPONSE, expected) => {
                let response = Response::decode_within(&mut reader, expected.most_data(), &self.limits)?;
                self.pending.pop();
                Decoded::Event(Event::Response { ticket, response })
            }
            (Op::FETCH_RESPONSE, Expected::Rows(_, format, left, any)) => {
                let (left, any) = (usize::from(*left), *any);
                let (rows, end, packets) =
                    decode_rows(data, format, left, &self.limits, &mut self.positions)?;
                self.stats.packets_received += packets;
                if rows > 0 {
                    let columns = format.layout().fields().len();
                    self.pending.count_rows(rows);
                    return Ok((Decoded::Rows { ticket, columns, rows }, end));
                }
                let cursor_end = decode_fetch_step(&mut reader)? == FetchStep::CursorEnd;
                // A caller that repeated the fetch would do so forever.
                if !any && !cursor_end {
                    let text = "a fetch that gives no rows and does not end the cursor";
                    return Err(ProtocolError::InvalidMessage(text.into()).into());
                }
                self.pending.pop();
                return Ok((Decoded::Event(Event::FetchEnd { ticket, cursor_end }), end));
            }
            (Op::SQL_RESPONSE, Expected::Singleton(_, format)) => {
                let has_row = decode_sql_response(&mut reader)?;
                let mut end = reader.position();
                let columns = format.layout().fields().len();
                if has_row {
                    self.positions.clear();
                    end = measure_row(format, data, end, &self.limits, &mut self.positions)?;
                }
                self.pending.reduce_front();
                self.stats.packets_received += 1;
                let decoded =
                    if has_row { Decoded::Rows { ticket, columns, rows: 1 } } else { Decoded::Internal };
                return Ok((decoded, end));
            }
            (Op::BATCH_CS, Expected::Completion(_)) => {
                let completion = Completion::decode(&mut reader, &self.limits)?;
                self.pending.pop();
                Decoded::Event(Event::Completion { ticket, completion })
            }
            (Op::INLINE_BLOB, Expected::Rows(..) | Expected::Singleton(..)) => {
                InlineBlob::decode(&mut reader, &self.limits)?;
                Decoded::InlineBlob(ticket)
            }
            (op, expected) => {
                return Err(ProtocolError::UnexpectedPacket { op, waiting_for: expected.name() }.into());
            }
        };
        self.stats.packets_received += 1;
        Ok((decoded, reader.position()))
    }

    /// Decodes one packet of the handshake and queues the response.
    fn decode_handshake(&mut self) -> Result<(Decoded, usize), DecodeError> {
        let Some(handshake) = &mut self.handshake else {
            return Err(ProtocolError::Misuse("no handshake under way").into());
        };
        let mut reader = Reader::new(self.incoming.data());
        let op = reader.op()?;
        let phase = handshake.phase;
        let mut accepted = None;
        let mut decoded = Decoded::Internal;
        let step = match (op, phase) {
            (Op::DUMMY, _) => None,
            (Op::EXIT | Op::DISCONNECT, _) => return Err(ProtocolError::Closed.into()),
            (Op::REJECT, Phase::Connect) => return Err(ProtocolError::Rejected.into()),
            (Op::ACCEPT | Op::ACCEPT_DATA | Op::COND_ACCEPT, Phase::Connect) => {
                let accept = Accept::decode(op, &mut reader, &self.limits)?;
                let step = handshake.accepted(&accept)?;
                accepted = Some(accept);
                Some(step)
            }
            (Op::CONT_AUTH, Phase::Authenticate | Phase::Attach) => {
                let packet = ContinueAuth::decode(&mut reader, &self.limits)?;
                Some(handshake.continue_auth(&packet)?)
            }
            (Op::CRYPT_KEY_CALLBACK, Phase::Connect | Phase::Attach) => {
                let callback = KeyCallback::decode(&mut reader, self.version, &self.limits)?;
                decoded = Decoded::Event(Event::KeyCallback(callback));
                None
            }
            (Op::RESPONSE, phase) => {
                let response = Response::decode(&mut reader, &self.limits)?;
                if response.status.is_error() {
                    return Err(ProtocolError::Refused(response.status).into());
                }
                match (phase, self.version) {
                    (Phase::Connect, _) | (_, None) => {
                        let text = "success in answer to op_connect";
                        return Err(ProtocolError::InvalidMessage(text.into()).into());
                    }
                    // Encryption may start after this packet, so all of it must have arrived.
                    (Phase::Authenticate, Some(_)) if !self.incoming.is_flushed() => {
                        return Err(DecodeError::Incomplete);
                    }
                    (Phase::Authenticate, Some(version)) => {
                        Some(handshake.authenticated(version, &response.data)?)
                    }
                    (Phase::Crypt, Some(_)) => Some(handshake.attach(None)),
                    (Phase::Attach, Some(_)) => {
                        // Authentication may have completed during the attach.
                        handshake.check_proven()?;
                        self.auth_plugin = Some(handshake.plugin());
                        self.handshake = None;
                        decoded = Decoded::Event(Event::Attached(response.status));
                        None
                    }
                }
            }
            // A peer with the key would have sent a valid packet, even to report a failure.
            (_, Phase::Crypt) => return Err(ProtocolError::NotEncrypted.into()),
            (op, _) => {
                let waiting_for = match phase {
                    Phase::Connect => "the answer to op_connect",
                    Phase::Authenticate => "the answer to op_cont_auth",
                    Phase::Crypt => "the answer to op_crypt",
                    Phase::Attach => "the answer to op_attach",
                };
                return Err(ProtocolError::UnexpectedPacket { op, waiting_for }.into());
            }
        };
        let length = reader.position();
        self.stats.packets_received += 1;
        if accepted.is_none() && step.is_none() {
            return Ok((decoded, length));
        }
        // Consume this packet before the stages below start: the bytes after it belong to them.
        self.incoming.consume(length);
        if let Some(accept) = accepted {
            self.version = Some(accept.version);
            if accept.compress {
                self.compressed = true;
                self.outgoing.start_compression()?;
                self.incoming.start_compression()?;
            }
        }
        if let Some(step) = step {
            self.take(step)?;
        }
        Ok((decoded, 0))
    }

    fn take(&mut self, step: Step) -> Result<(), ProtocolError> {
        let version = self.version.ok_or(ProtocolError::Misuse("no version yet"))?;
        match step {
            Step::ContinueAuth(packet) => self.encode(|out| {
                out.op(ContinueAuth::OP);
                packet.encode(version, out);
            }),
            Step::Crypt(choice) => {
                let key = self.handshake.as_ref().and_then(|handshake| handshake.session_key().copied());
                let key = key.ok_or(ProtocolError::Misuse("encryption without a session key"))?;
                let packet = Crypt { plugin: choice.kind.name(), key: &choice.key_type };
                self.encode(|out| {
                    out.op(Crypt::OP);
                    packet.encode(version, out);
                });
                let cipher = || new_cipher(choice.kind, &key, choice.iv.as_deref());
                self.outgoing.start_encryption(cipher()?)?;
                self.incoming.start_encryption(cipher()?)?;
                self.cipher = Some(choice.kind);
                self.stats.encrypted = true;
            }
            Step::Attach(dpb) => {
                let Some(handshake) = &self.handshake else {
                    return Err(ProtocolError::Misuse("no handshake under way"));
                };
                let database = handshake.options.database.clone();
                let create = handshake.options.create;
                let attach = Attach { database: &database, dpb: dpb.as_bytes() };
                self.encode(|out| {
                    out.op(if create { Create::OP } else { Attach::OP });
                    attach.encode(version, out);
                });
            }
        }
        Ok(())
    }
}

/// Bounds the bytes of an incomplete packet. An `op_response` has data, and at most as much text.
fn largest_packet(limits: &Limits) -> usize {
    limits.row.max(2 * limits.response_data).max(2 * limits.inline_blob).max(2 * limits.auth_data)
}

/// Measures the run of complete rows at the start of `data`: number of rows, bytes and packets taken. Zero rows mean
/// that a terminator comes first; then returns its end. More than `left` rows were not requested.
fn decode_rows(
    data: &[u8],
    format: &PackedFormat,
    left: usize,
    limits: &Limits,
    positions: &mut Vec<u32>,
) -> Result<(usize, usize, u64), DecodeError> {
    positions.clear();
    let (mut rows, mut end) = (0, 0);
    while rows < limits.rows_per_event.max(1) {
        let (step, row) = match data[end..].starts_with(&ROW_HEADER) {
            true => (Ok(FetchStep::Row), end + ROW_HEADER.len()),
            false => {
                let mut reader = Reader::new(&data[end..]);
                let step = match reader.op() {
                    Ok(Op::FETCH_RESPONSE) => decode_fetch_step(&mut reader),
                    Ok(_) if rows > 0 => break,
                    Ok(op) => {
                        let waiting_for = "op_fetch_response";
                        return Err(ProtocolError::UnexpectedPacket { op, waiting_for }.into());
                    }
                    Err(error) => Err(error),
                };
                (step, end + reader.position())
            }
        };
        let next = match step {
            Ok(FetchStep::Row) if rows == left => Err(unasked_row().into()),
            Ok(FetchStep::Row) => measure_row(format, data, row, limits, positions),
            Ok(_) if rows > 0 => break, // the terminator is the next event
            Ok(_) => return Ok((0, row, 1)),
            Err(error) => Err(error),
        };
        match next {
            Ok(next) => end = next,
            // Delivers the good rows before reporting the bad packet after them.
            Err(_) if rows > 0 => break,
            Err(error) => return Err(error),
        }
        rows += 1;
    }
    Ok((rows, end, rows as u64))
}

fn unasked_row() -> ProtocolError {
    ProtocolError::InvalidMessage("more rows than op_fetch asked for".into())
}

/// Measures the row at `at`. A row that has not ended within the limit is too long, even if its end has arrived: the
/// way the bytes arrive must not matter.
fn measure_row(
    format: &PackedFormat,
    data: &[u8],
    at: usize,
    limits: &Limits,
    positions: &mut Vec<u32>,
) -> Result<usize, DecodeError> {
    let first = positions.len();
    let result = format.measure(data, at, positions);
    let length = match result {
        Ok(end) => end - at,
        Err(DecodeError::Incomplete) => data.len().saturating_sub(at),
        Err(_) => return result,
    };
    if length <= limits.row {
        return result;
    }
    positions.truncate(first);
    Err(ProtocolError::TooLong { what: "row", length: length as u64, limit: limits.row as u64 }.into())
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("version", &self.version)
            .field("cipher", &self.cipher)
            .field("compressed", &self.compressed)
            .field("pending", &self.pending.len())
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}
