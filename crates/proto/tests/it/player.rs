//! Drives a [`Connection`] with prepared bytes and records its events.

use firearrow_proto::api::decfloat::{decode64, decode128};
use firearrow_proto::api::layout::{FieldKind, RowLayout};
use firearrow_proto::api::row::{Packed, PackedRows, RowSource, ValueFormat};
use firearrow_proto::api::status::StatusVector;
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::batch::Completion;
use firearrow_proto::wire::packet::connect::KeyCallback;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::packet::{Answer, Request};
use firearrow_proto::wire::{Connection, Event, Limits, ProtocolError, Ticket};
use firearrow_testkit::Mutator;
use std::sync::Arc;

/// An [`Event`] without borrows. Rows come one by one: how many share an event depends on how bytes arrive.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Said {
    KeyCallback(KeyCallback),
    Attached(StatusVector),
    Response(Ticket, Response),
    Row(Ticket, Vec<Value>),
    FetchEnd(Ticket, bool),
    Completion(Ticket, Completion),
    InlineBlob { transaction: u16, id: u64, info: Vec<u8>, segments: Vec<u8> },
}

/// One decoded field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    /// SMALLINT to BIGINT, without its scale.
    Int(i64),
    Int128(i128),
    Float(f32),
    Double(f64),
    /// DECFLOAT, as text.
    Decimal(String),
    Bytes(Vec<u8>),
    Date(i32),
    Time(u32),
    Timestamp(i32, u32),
    TimeTz(u32, u16),
    TimestampTz(i32, u32, u16),
    Boolean(bool),
    Quad(u64),
}

impl Value {
    pub(crate) fn text(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }
}

/// [`Request`] as an object, so that conversations can be lists of them.
pub(crate) trait Ask {
    fn send(&self, connection: &mut Connection) -> Result<Ticket, ProtocolError>;
    fn format(&self) -> Option<Arc<PackedFormat>>;
}

impl<R: Request> Ask for R {
    fn send(&self, connection: &mut Connection) -> Result<Ticket, ProtocolError> {
        connection.send(self)
    }

    fn format(&self) -> Option<Arc<PackedFormat>> {
        match self.answer() {
            Answer::Rows(format, _) | Answer::Singleton(format) => Some(format),
            _ => None,
        }
    }
}

/// A connection, its events so far, and the formats of the requested rows.
pub(crate) struct Player {
    pub(crate) connection: Connection,
    pub(crate) said: Vec<Said>,
    /// The most rows in one event.
    pub(crate) largest_event: usize,
    formats: Vec<(Ticket, Arc<PackedFormat>)>,
}

impl Player {
    pub(crate) fn open(options: ConnectOptions, limits: Limits) -> Result<Self, ProtocolError> {
        let connection = Connection::open(options, limits)?;
        Ok(Self { connection, said: Vec::new(), largest_event: 0, formats: Vec::new() })
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.said.iter().any(|said| matches!(said, Said::Attached(_)))
    }

    pub(crate) fn send(&mut self, ask: &dyn Ask) -> Result<Ticket, ProtocolError> {
        let ticket = ask.send(&mut self.connection)?;
        self.formats.extend(ask.format().map(|format| (ticket, format)));
        Ok(ticket)
    }

    /// Everything that waits to be written.
    pub(crate) fn written(&mut self) -> Result<Vec<u8>, ProtocolError> {
        let bytes = self.connection.outgoing()?.to_vec();
        self.connection.sent();
        Ok(bytes)
    }

    /// One read from the link (more if there is no room) and all its events.
    pub(crate) fn read(&mut self, mut bytes: &[u8]) -> Result<(), ProtocolError> {
        // A request that was not handed out gets no answer.
        let _ = self.connection.outgoing();
        while !bytes.is_empty() {
            let space = self.connection.space()?;
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.connection.received(count)?;
            bytes = &bytes[count..];
            self.listen()?;
        }
        Ok(())
    }

    fn listen(&mut self) -> Result<(), ProtocolError> {
        while let Some(event) = self.connection.next_event()? {
            match event {
                Event::KeyCallback(callback) => self.said.push(Said::KeyCallback(callback)),
                Event::Attached(status) => self.said.push(Said::Attached(status)),
                Event::Response { ticket, response } => self.said.push(Said::Response(ticket, response)),
                Event::Rows { ticket, rows } => {
                    let format = self.formats.iter().find(|(asked, _)| *asked == ticket);
                    let (_, format) = format.expect("rows answer a request for rows");
                    self.largest_event = self.largest_event.max(rows.rows);
                    for row in 0..rows.rows {
                        self.said.push(Said::Row(ticket, values(format.layout(), &rows, row)));
                    }
                }
                Event::FetchEnd { ticket, cursor_end } => self.said.push(Said::FetchEnd(ticket, cursor_end)),
                Event::Completion { ticket, completion } => {
                    self.said.push(Said::Completion(ticket, completion));
                }
                Event::InlineBlob { blob, .. } => self.said.push(Said::InlineBlob {
                    transaction: blob.transaction,
                    id: blob.id,
                    info: blob.info.to_vec(),
                    segments: blob.segments.to_vec(),
                }),
            }
        }
        Ok(())
    }

    /// The peer closes the stream.
    pub(crate) fn close(&mut self) -> Result<(), ProtocolError> {
        self.connection.received(0)
    }

    /// Checks that the connection has ended with `error`, and that every further call returns it again.
    #[track_caller]
    pub(crate) fn assert_failed(&mut self, error: &ProtocolError) {
        let connection = &mut self.connection;
        for _ in 0..2 {
            assert_eq!(connection.failure(), Some(error));
            assert_eq!(connection.next_event().err().as_ref(), Some(error));
            assert_eq!(connection.space().err().as_ref(), Some(error));
            assert_eq!(connection.received(1).err().as_ref(), Some(error));
            assert_eq!(connection.received(0).err().as_ref(), Some(error));
            assert_eq!(connection.outgoing().err().as_ref(), Some(error));
            let ping = firearrow_proto::wire::packet::attach::Ping;
            assert_eq!(connection.send(&ping).err().as_ref(), Some(error));
            assert_eq!(connection.fail(ProtocolError::Closed), *error);
            connection.sent();
        }
    }
}

fn values(layout: &RowLayout, rows: &PackedRows<'_>, row: usize) -> Vec<Value> {
    let kinds = layout.fields().iter().map(|field| field.kind);
    kinds
        .enumerate()
        .map(|(column, kind)| rows.field(row, column).map_or(Value::Null, |at| value(kind, at)))
        .collect()
}

/// Decodes the value at the start of `bytes`. A measured row always has room for its values.
fn value(kind: FieldKind, bytes: &[u8]) -> Value {
    decode(kind, bytes).unwrap_or_else(|| panic!("{kind:?} in {} bytes", bytes.len()))
}

fn decode(kind: FieldKind, bytes: &[u8]) -> Option<Value> {
    Some(match kind {
        FieldKind::Text(length) => Value::Bytes(bytes.get(..usize::from(length))?.to_vec()),
        FieldKind::Varying(_) => Value::Bytes(Packed::varying(bytes)?.to_vec()),
        FieldKind::Short => Value::Int(Packed::i16(bytes)?.into()),
        FieldKind::Long => Value::Int(Packed::i32(bytes)?.into()),
        FieldKind::Int64 => Value::Int(Packed::i64(bytes)?),
        FieldKind::Int128 => Value::Int128(Packed::i128(bytes)?),
        FieldKind::Float => Value::Float(Packed::f32(bytes)?),
        FieldKind::Double => Value::Double(Packed::f64(bytes)?),
        FieldKind::Dec16 => Value::Decimal(decode64(Packed::dec16(bytes)?).to_string()),
        FieldKind::Dec34 => Value::Decimal(decode128(Packed::dec34(bytes)?).to_string()),
        FieldKind::Date => Value::Date(Packed::i32(bytes)?),
        FieldKind::Time => Value::Time(Packed::i32(bytes)?.cast_unsigned()),
        FieldKind::Timestamp => Packed::timestamp(bytes).map(|(date, time)| Value::Timestamp(date, time))?,
        FieldKind::TimeTz => Packed::time_tz(bytes).map(|(time, zone)| Value::TimeTz(time, zone))?,
        FieldKind::TimeTzEx => Packed::time_tz_ex(bytes).map(|(time, zone, _)| Value::TimeTz(time, zone))?,
        FieldKind::TimestampTz => {
            Packed::timestamp_tz(bytes).map(|(date, time, zone)| Value::TimestampTz(date, time, zone))?
        }
        FieldKind::TimestampTzEx => Packed::timestamp_tz_ex(bytes)
            .map(|(date, time, zone, _)| Value::TimestampTz(date, time, zone))?,
        FieldKind::Boolean => Value::Boolean(*bytes.first()? != 0),
        FieldKind::Blob | FieldKind::Array => Value::Quad(Packed::quad(bytes)?),
        FieldKind::Nothing => Value::Bytes(Vec::new()),
    })
}

/// The way a server's bytes arrive.
pub(crate) struct Delivery {
    /// The size of each next read.
    pub(crate) pieces: Box<dyn FnMut() -> usize>,
    /// Damages the byte at this place by XOR with a value.
    pub(crate) flip: Option<(usize, u8)>,
    /// The peer closes the stream at this place.
    pub(crate) cut: Option<usize>,
    /// Damages everything, before the rest.
    pub(crate) mutator: Option<Mutator>,
}

impl Delivery {
    /// All bytes of a turn arrive at once.
    pub(crate) fn whole() -> Self {
        Self::in_pieces(|| usize::MAX)
    }

    pub(crate) fn in_pieces(pieces: impl FnMut() -> usize + 'static) -> Self {
        Self { pieces: Box::new(pieces), flip: None, cut: None, mutator: None }
    }

    /// Pieces of 1 to `max` bytes, always the same ones for the same seed.
    pub(crate) fn random(seed: u64, max: usize) -> Self {
        let mut random = Random(seed);
        Self::in_pieces(move || 1 + random.below(max))
    }

    /// Delivers the server's bytes from position `at` of its stream.
    pub(crate) fn deliver(
        &mut self,
        player: &mut Player,
        at: usize,
        bytes: &[u8],
    ) -> Result<(), ProtocolError> {
        let mut bytes = bytes.to_vec();
        let mut ended = false;
        if let Some(mutator) = &mut self.mutator {
            let original = std::mem::take(&mut bytes);
            // Nothing waits here, so silence is an end like any other.
            ended = mutator.apply(&original, &mut bytes).is_some();
        }
        if let Some(byte) = self.flip.and_then(|(place, _)| bytes.get_mut(place.checked_sub(at)?)) {
            *byte ^= self.flip.expect("just used").1;
        }
        let end = self.cut.map_or(bytes.len(), |place| place.saturating_sub(at).min(bytes.len()));
        let mut rest = &bytes[..end];
        while !rest.is_empty() {
            let piece = (self.pieces)().min(rest.len());
            player.read(&rest[..piece])?;
            rest = &rest[piece..];
        }
        if ended || end < bytes.len() { player.close() } else { Ok(()) }
    }
}

/// Splitmix64: enough to choose places.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}
