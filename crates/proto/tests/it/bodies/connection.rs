//! The state machine: requests and bytes in any order, against a model of the unanswered requests.

#[path = "connection_packets.rs"] // as a module of this file wherever this file is a module
mod packets;

use arbitrary::{Result, Unstructured};
use firearrow_proto::api::layout::FieldKind;
use firearrow_proto::api::pb::Dpb;
use firearrow_proto::api::row::{PackedRows, RowSource};
use firearrow_proto::wire::auth::{AuthPlugin, srp};
use firearrow_proto::wire::compress::Deflate;
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::crypt::{Cipher, CipherKind, new_cipher};
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::attach::{Dummy, Ping};
use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::packet::statement::{ExecuteOptions, ExecuteSingleton, Fetch, Parameters};
use firearrow_proto::wire::packet::{Answer, Request};
use firearrow_proto::wire::xdr::Writer;
use firearrow_proto::wire::{Connection, Event, Limits, Op, ProtocolError, ProtocolVersion, Ticket};
use packets::{FORMATS, IV, SERVER_DATA, accept, bytes, completion, good_row, keys, packet, response};
use std::collections::VecDeque;
use std::sync::{Arc, LazyLock};

/// Low enough for short inputs to reach them.
const LIMITS: Limits = Limits {
    response_data: 2000,
    status_text: 300,
    status_args: 20,
    auth_data: 600,
    row: 500,
    inline_blob: 300,
    auth_steps: 4,
    rows_per_event: 3,
    held: 1 << 20,
    answer: 1 << 20,
};

/// The largest buffer that these limits allow: a packet, a read or a step of inflating, doubled once.
const BUFFER: usize = 2 << 20;

/// A tiny private key, to keep the arithmetic cheap.
const PRIVATE: [u8; 32] = {
    let mut private = [0; 32];
    private[31] = 7;
    private
};

/// The session key that a login with them ends in.
static SESSION_KEY: LazyLock<[u8; 20]> = LazyLock::new(|| {
    let client = srp::Client::new(&PRIVATE).expect("a long enough key");
    client.respond(AuthPlugin::Srp, "SYSDBA", "masterkey", &SERVER_DATA).expect("good data").session_key
});

pub(crate) fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(mut session) = Session::open(&mut input) else { return };
    while !input.is_empty() && session.step(&mut input).is_ok() {
        if let Some(error) = session.connection.failure().cloned() {
            session.check_failed(&error);
            return;
        }
        assert_eq!(session.connection.pending(), session.unanswered.len());
    }
}

/// A connection and its invariants.
struct Session {
    connection: Connection,
    /// Whether compression was asked for.
    compress: bool,
    attached: bool,
    /// Requests with an answer to come, and the format of its rows.
    unanswered: VecDeque<(Ticket, Option<Arc<PackedFormat>>)>,
    /// The last of them that a server can have seen.
    written: Option<Ticket>,
    deflate: Option<Deflate>,
    cipher: Option<Box<dyn Cipher>>,
}

impl Session {
    fn open(input: &mut Unstructured<'_>) -> Result<Self> {
        let flags: u8 = input.arbitrary()?;
        let options = ConnectOptions {
            database: "test.fdb".into(),
            create: flags & 1 != 0,
            login: "sysdba".into(),
            password: "masterkey".into(),
            auth_plugins: match flags >> 1 & 3 {
                0 => vec![AuthPlugin::Legacy],
                1 => vec![AuthPlugin::Srp],
                _ => vec![AuthPlugin::Srp, AuthPlugin::Srp256, AuthPlugin::Legacy],
            },
            wire_crypt: [WireCrypt::Disabled, WireCrypt::Enabled, WireCrypt::Required]
                [usize::from(flags >> 3 & 3) % 3],
            ciphers: CipherKind::ALL.to_vec(),
            allow_no_authentication: flags & 0x40 == 0,
            compress: flags & 0x20 != 0,
            versions: ConnectOptions::default_versions(),
            os_user: String::new(),
            host_name: String::new(),
            dpb: Dpb::new(),
            srp_private: PRIVATE.to_vec(),
        };
        let compress = options.compress;
        let connection = match Connection::open(options, LIMITS) {
            Ok(connection) => connection,
            Err(ProtocolError::Incompatible(_)) => return Err(arbitrary::Error::IncorrectFormat),
            Err(other) => panic!("{other}"),
        };
        let unanswered = VecDeque::new();
        let (written, deflate, cipher) = (None, None, None);
        Ok(Self { connection, compress, attached: false, unanswered, written, deflate, cipher })
    }

    fn step(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        match input.int_in_range(0..=11)? {
            0 => {
                let bytes = bytes(input, 200)?.to_vec();
                self.deliver(&bytes);
            }
            1 | 2 => {
                let mut bytes = Vec::new();
                for _ in 0..input.int_in_range(1..=4)? {
                    packet(input, &mut Writer::new(&mut bytes))?;
                }
                self.say(input, &bytes)?;
            }
            3..=6 => {
                // An answer to an unwritten request ends the connection.
                self.write();
                let mut bytes = Vec::new();
                self.good_answer(input, &mut Writer::new(&mut bytes))?;
                self.say(input, &bytes)?;
            }
            7 | 8 => self.ask(input)?,
            9 => {
                self.write();
                let waiting = self.connection.outgoing().map(<[u8]>::len);
                assert_eq!(self.connection.outgoing().map(<[u8]>::len), waiting, "asking changes nothing");
                self.connection.sent();
                if self.connection.failure().is_none() {
                    assert_eq!(self.connection.outgoing(), Ok(&[][..]));
                }
            }
            10 => self.connection.reply_key(&input.arbitrary::<[u8; 3]>()?),
            _ if input.ratio(1, 20)? => {
                assert_eq!(self.connection.received(0), Err(ProtocolError::Closed));
            }
            _ => {}
        }
        Ok(())
    }

    fn write(&mut self) {
        if self.connection.outgoing().is_ok() {
            self.written = self.unanswered.back().map(|(ticket, _)| *ticket).or(self.written);
        }
    }

    /// Sends packets through the active stages, in two pieces, sometimes damaged.
    fn say(&mut self, input: &mut Unstructured<'_>, packets: &[u8]) -> Result<()> {
        let mut bytes = self.transformed(packets);
        if input.ratio(1, 16)? {
            let place = input.choose_index(bytes.len())?;
            bytes[place] ^= input.arbitrary::<u8>()?;
        }
        let first = input.int_in_range(0..=bytes.len())?;
        self.deliver(&bytes[..first]);
        self.deliver(&bytes[first..]);
        Ok(())
    }

    /// A valid next packet from the server.
    fn good_answer(&self, input: &mut Unstructured<'_>, out: &mut Writer<'_>) -> Result<()> {
        let waiting = self.unanswered.front().map(|(_, format)| format);
        match waiting {
            None if self.connection.version().is_none() => {
                let version = input.int_in_range(13..=19)?;
                let op = *input.choose(&[Op::COND_ACCEPT, Op::COND_ACCEPT, Op::ACCEPT_DATA, Op::ACCEPT])?;
                accept(op, version, if self.compress { 0x105 } else { 5 }, out);
                if op != Op::ACCEPT {
                    out.cstr(&SERVER_DATA);
                    out.cstr(b"Srp");
                    out.word(0);
                    out.cstr(&[]);
                }
            }
            // Success may answer any packet of a handshake.
            None if !self.attached => response(&keys(input)?, out),
            None => out.op(Op::DUMMY),
            Some(None) if input.ratio(1, 4)? => completion(input, out)?,
            Some(None) => response(bytes(input, 60)?, out),
            Some(Some(format)) => match input.int_in_range(0..=5)? {
                0 => response(&[], out),
                1 | 2 => {
                    out.op(Op::FETCH_RESPONSE);
                    out.quad(if input.arbitrary()? { 100 << 32 } else { 0 });
                }
                3 => {
                    out.op(Op::SQL_RESPONSE);
                    out.word(1);
                    good_row(format, input, out)?;
                }
                _ => {
                    for _ in 0..input.int_in_range(1..=5)? {
                        out.op(Op::FETCH_RESPONSE);
                        out.quad(1);
                        good_row(format, input, out)?;
                    }
                }
            },
        }
        Ok(())
    }

    fn ask(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let output = Arc::clone(input.choose(&*FORMATS)?);
        let (result, format) = match input.int_in_range(0..=4)? {
            0 => (self.connection.send(&Ping), Some(None)),
            1 => (self.connection.send(&Dummy), None),
            2 => (self.connection.send(&RunBatch), Some(None)),
            3 => {
                let request = Fetch { statement: 1, output: Arc::clone(&output), first: true, rows: 9 };
                (self.connection.send(&request), Some(Some(output)))
            }
            _ => {
                let request = ExecuteSingleton {
                    statement: 1,
                    transaction: 1,
                    parameters: Parameters::default(),
                    output: Arc::clone(&output),
                    options: ExecuteOptions::default(),
                };
                (self.connection.send(&request), Some(Some(output)))
            }
        };
        match (result, format) {
            (Ok(ticket), Some(format)) => {
                assert!(self.attached);
                assert!(self.unanswered.iter().all(|(other, _)| *other < ticket), "tickets ascend");
                self.unanswered.push_back((ticket, format));
            }
            (Ok(_), None) => assert!(self.attached),
            (Err(error), _) => {
                assert!(matches!(error, ProtocolError::Misuse(_)) && !self.attached, "{error}");
            }
        }
        Ok(())
    }

    /// Bytes in wire form. The server's stages follow those of the connection.
    fn transformed(&mut self, packets: &[u8]) -> Vec<u8> {
        if self.connection.is_compressed() && self.deflate.is_none() {
            self.deflate = Some(Deflate::new());
        }
        let mut wire = Vec::new();
        match &mut self.deflate {
            Some(deflate) => deflate.append(packets, &mut wire).expect("the compressor takes anything"),
            None => wire.extend_from_slice(packets),
        }
        if let Some(kind) = self.connection.cipher() {
            let new = || new_cipher(kind, &*SESSION_KEY, Some(&IV)).expect("the vector of the template");
            // Other vectors come from damaged key blocks; their streams are noise anyway.
            self.cipher.get_or_insert_with(new).apply(&mut wire).expect("an endless keystream");
        }
        wire
    }

    fn deliver(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Ok(space) = self.connection.space() else { return };
            assert!(!space.is_empty() && space.len() <= BUFFER, "{} bytes", space.len());
            let count = space.len().min(bytes.len());
            space[..count].copy_from_slice(&bytes[..count]);
            if self.connection.received(count).is_err() {
                return;
            }
            bytes = &bytes[count..];
            self.listen();
        }
    }

    /// Takes all events and checks each against the oldest unanswered request.
    fn listen(&mut self) {
        while let Ok(Some(event)) = self.connection.next_event() {
            match event {
                Event::KeyCallback(callback) => {
                    assert!(!self.attached && callback.data.len() <= LIMITS.auth_data);
                }
                Event::Attached(status) => {
                    assert!(!self.attached && !status.is_error());
                    self.attached = true;
                }
                Event::Response { ticket, response } => {
                    assert!(self.written >= Some(ticket), "an answer before its question");
                    assert!(response.data.len() <= LIMITS.response_data);
                    assert_eq!(self.unanswered.pop_front().map(|(ticket, _)| ticket), Some(ticket));
                }
                Event::Rows { ticket, rows } => {
                    let (asked, format) = self.unanswered.front().expect("rows answer something");
                    assert_eq!(*asked, ticket);
                    assert!(self.written >= Some(ticket), "rows before their question");
                    check_rows(format.as_ref().expect("rows were asked for"), &rows);
                }
                Event::FetchEnd { ticket, .. } => {
                    let (asked, format) = self.unanswered.pop_front().expect("an end answers something");
                    assert!(asked == ticket && format.is_some());
                }
                Event::Completion { ticket, completion } => {
                    assert!(completion.errors.len() <= completion.records as usize);
                    assert_eq!(self.unanswered.pop_front().map(|(ticket, _)| ticket), Some(ticket));
                }
                Event::InlineBlob { ticket, blob } => {
                    assert_eq!(self.unanswered.front().map(|(ticket, _)| *ticket), Some(ticket));
                    assert!(blob.id != 0 && blob.segments.len() <= LIMITS.inline_blob);
                    assert!(matches!(self.unanswered.front(), Some((_, Some(_)))), "rows are awaited");
                }
            }
        }
    }

    fn check_failed(&mut self, error: &ProtocolError) {
        assert!(!error.to_string().is_empty() || matches!(error, ProtocolError::Refused(_)));
        for _ in 0..2 {
            assert_eq!(self.connection.next_event().err().as_ref(), Some(error));
            assert_eq!(self.connection.space().err().as_ref(), Some(error));
            assert_eq!(self.connection.received(0).err().as_ref(), Some(error));
            assert_eq!(self.connection.outgoing().err().as_ref(), Some(error));
            assert_eq!(self.connection.send(&Ping).err().as_ref(), Some(error));
            self.connection.sent();
        }
    }
}

fn check_rows(format: &PackedFormat, rows: &PackedRows<'_>) {
    let fields = format.layout().fields();
    assert!((1..=LIMITS.rows_per_event).contains(&rows.row_count()));
    assert_eq!((rows.columns, rows.positions.len()), (fields.len(), fields.len() * rows.row_count()));
    for row in 0..rows.row_count() {
        for (column, field) in fields.iter().enumerate() {
            let Some(value) = rows.field(row, column) else { continue };
            match field.kind {
                FieldKind::Varying(max) => {
                    use firearrow_proto::api::row::{Packed, ValueFormat};
                    assert!(Packed::varying(value).is_some_and(|text| text.len() <= usize::from(max)));
                }
                kind => assert!(kind.packed().is_some_and(|width| value.len() >= width)),
            }
        }
    }
}

struct RunBatch;

impl Request for RunBatch {
    const OP: Op = Op::BATCH_EXEC;

    fn encode(&self, _: ProtocolVersion, _: &mut Writer<'_>) {}

    fn answer(&self) -> Answer {
        Answer::Completion
    }
}
