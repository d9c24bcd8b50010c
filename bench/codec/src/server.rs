//! A connection whose server is a block of bytes.

use crate::shape::{ROWS, Shape};
use firearrow::codec::Decoder;
use firearrow_proto::api::pb::Dpb;
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::packet::statement::Fetch;
use firearrow_proto::wire::xdr::Writer;
use firearrow_proto::wire::{Connection, Event, Limits, Op};
use std::sync::Arc;

/// The largest read, as of a socket.
const READ: usize = 32 << 10;

/// A connection, and the answer to a fetch of [`ROWS`] rows.
pub struct Server {
    connection: Connection,
    fetch: Fetch,
    answer: Vec<u8>,
}

impl Server {
    /// Returns a connection that fetches these rows, in the decoder's format.
    pub fn new(shape: &Shape, decoder: &Decoder) -> Self {
        let format = decoder.format();
        let mut answer = Vec::new();
        let mut response = |rows: u32, packed: &[u8]| {
            let mut out = Writer::new(&mut answer);
            out.op(Op::FETCH_RESPONSE);
            out.word(0);
            out.word(rows);
            out.bytes(packed);
        };
        (0..ROWS).for_each(|row| response(1, &shape.packed(format, row)));
        response(0, &[]);
        let fetch = Fetch { statement: 1, output: Arc::clone(format), first: false, rows: ROWS as u16 };
        Self { connection: attached(), fetch, answer }
    }

    /// The length of the answer.
    pub fn bytes(&self) -> usize {
        self.answer.len()
    }

    /// Fetches, and decodes the rows as they come. Returns their number.
    pub fn fetch(&mut self, decoder: &mut Decoder) -> usize {
        let _ticket = self.connection.send(&self.fetch).expect("an attached connection");
        self.connection.outgoing().expect("a working connection");
        self.connection.sent();
        deliver(&mut self.connection, &self.answer, |event| match event {
            Event::Rows { rows, .. } => decoder.push(&rows).expect("good rows"),
            _ => 0,
        })
    }
}

/// Delivers bytes in pieces, and returns the sum of what the events bring.
fn deliver(connection: &mut Connection, bytes: &[u8], mut take: impl FnMut(Event<'_>) -> usize) -> usize {
    let mut taken = 0;
    let mut left = bytes;
    while !left.is_empty() {
        let space = connection.space().expect("a working connection");
        let (piece, rest) = left.split_at(space.len().min(left.len()).min(READ));
        space[..piece.len()].copy_from_slice(piece);
        left = rest;
        connection.received(piece.len()).expect("a working connection");
        while let Some(event) = connection.next_event().expect("good packets") {
            taken += take(event);
        }
    }
    taken
}

/// A connection whose server accepted everything.
fn attached() -> Connection {
    let options = ConnectOptions {
        database: "bench.fdb".into(),
        create: false,
        login: "sysdba".into(),
        password: "masterkey".into(),
        auth_plugins: vec![AuthPlugin::Srp256],
        wire_crypt: WireCrypt::Disabled,
        ciphers: Vec::new(),
        allow_no_authentication: true,
        compress: false,
        versions: ConnectOptions::default_versions(),
        os_user: String::new(),
        host_name: String::new(),
        dpb: Dpb::new(),
        srp_private: vec![7; 32],
    };
    let mut connection = Connection::open(options, Limits::default()).expect("good options");
    let mut answers = Vec::new();
    let mut out = Writer::new(&mut answers);
    out.op(Op::ACCEPT);
    [0x8013, 1, 5].into_iter().for_each(|word| out.word(word));
    out.op(Op::RESPONSE);
    [0, 0, 0, 0, 1, 0, 0].into_iter().for_each(|word| out.word(word));
    deliver(&mut connection, &answers, |_| 0);
    connection
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_decoded_to_what_it_holds() {
        for shape in Shape::values().into_iter().chain(Shape::rows()) {
            let mut decoder = Decoder::new(&shape.descriptors(), &Shape::options()).expect("known types");
            let mut server = Server::new(&shape, &decoder);
            for _ in 0..2 {
                assert_eq!(server.fetch(&mut decoder), ROWS, "{shape}");
                let batch = decoder.finish().expect("good rows").expect("rows");
                assert_eq!(batch, shape.batch(), "{shape}");
            }
        }
    }
}
