//! The state machine: requests and bytes in any order, against a model of what is still unanswered.

use arbitrary::{Result, Unstructured};
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
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
};

/// The largest buffer that these limits allow: a packet, a read or a step of inflating, doubled once.
const BUFFER: usize = 2 << 20;

/// A tiny private key: what the arithmetic costs does not matter here.
const PRIVATE: [u8; 32] = {
    let mut private = [0; 32];
    private[31] = 7;
    private
};

/// A salt and a public key of a server.
static SERVER_DATA: LazyLock<Vec<u8>> = LazyLock::new(|| [&[4, 0][..], b"salt", &[3, 0], b"ABC"].concat());

/// The session key that a login with them ends in.
static SESSION_KEY: LazyLock<[u8; 20]> = LazyLock::new(|| {
    let client = srp::Client::new(&PRIVATE).expect("a long enough key");
    client.respond(AuthPlugin::Srp, "SYSDBA", "masterkey", &SERVER_DATA).expect("good data").session_key
});

const IV: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

static FORMATS: LazyLock<[Arc<PackedFormat>; 3]> = LazyLock::new(|| {
    let layouts: [&[FieldKind]; 3] = [
        &[FieldKind::Long],
        &[FieldKind::Varying(8), FieldKind::Int64, FieldKind::Text(3)],
        // May exceed the limit for rows.
        &[FieldKind::Varying(400), FieldKind::Boolean, FieldKind::Varying(400)],
    ];
    layouts.map(|kinds| {
        let layout = RowLayout::new(kinds.iter().map(|&kind| FieldLayout::plain(kind)));
        Arc::new(PackedFormat::new(Arc::new(layout)))
    })
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

/// A connection and what must be true of it.
struct Session {
    connection: Connection,
    attached: bool,
    /// Requests with an answer to come, and the format of its rows.
    unanswered: VecDeque<(Ticket, Option<Arc<PackedFormat>>)>,
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
            compress: flags & 0x20 != 0,
            versions: ConnectOptions::default_versions(),
            os_user: String::new(),
            host_name: String::new(),
            dpb: Dpb::new(),
            srp_private: PRIVATE.to_vec(),
        };
        let connection = match Connection::open(options, LIMITS) {
            Ok(connection) => connection,
            Err(ProtocolError::Incompatible(_)) => return Err(arbitrary::Error::IncorrectFormat),
            Err(other) => panic!("{other}"),
        };
        let unanswered = VecDeque::new();
        Ok(Self { connection, attached: false, unanswered, deflate: None, cipher: None })
    }

    fn step(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        match input.int_in_range(0..=9)? {
            0 => {
                let length = input.int_in_range(0..=200)?.min(input.len());
                let bytes = input.bytes(length)?.to_vec();
                self.deliver(&bytes);
            }
            1..=4 => {
                // Packets as a server makes them, in pieces and with the stages that are switched on.
                let mut bytes = Vec::new();
                for _ in 0..input.int_in_range(1..=4)? {
                    packet(input, &mut Writer::new(&mut bytes))?;
                }
                let mut bytes = self.transformed(&bytes);
                if input.ratio(1, 8)? {
                    let place = input.choose_index(bytes.len())?;
                    bytes[place] ^= input.arbitrary::<u8>()?;
                }
                let first = input.int_in_range(0..=bytes.len())?;
                self.deliver(&bytes[..first]);
                self.deliver(&bytes[first..]);
            }
            5 | 6 => self.ask(input)?,
            7 => {
                let waiting = self.connection.outgoing().map(<[u8]>::len);
                assert_eq!(self.connection.outgoing().map(<[u8]>::len), waiting, "asking changes nothing");
                self.connection.sent();
                if self.connection.failure().is_none() {
                    assert_eq!(self.connection.outgoing(), Ok(&[][..]));
                }
            }
            8 => self.connection.reply_key(&input.arbitrary::<[u8; 3]>()?),
            _ if input.ratio(1, 20)? => {
                assert_eq!(self.connection.received(0), Err(ProtocolError::Closed));
            }
            _ => {}
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

    /// Bytes as they travel. The server's stages follow those of the connection.
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

    /// Takes all events and holds each against the oldest unanswered request.
    fn listen(&mut self) {
        let front = |unanswered: &VecDeque<(Ticket, _)>| unanswered.front().map(|(ticket, _)| *ticket);
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
                    assert!(response.data.len() <= LIMITS.response_data);
                    assert_eq!(self.unanswered.pop_front().map(|(ticket, _)| ticket), Some(ticket));
                }
                Event::Rows { ticket, rows } => {
                    let (asked, format) = self.unanswered.front().expect("rows answer something");
                    assert_eq!(*asked, ticket);
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
                Event::InlineBlob(blob) => {
                    assert!(blob.id != 0 && blob.segments.len() <= LIMITS.inline_blob);
                    assert!(front(&self.unanswered).is_some(), "it belongs to rows that are awaited");
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

/// A packet much like those of a server.
fn packet(input: &mut Unstructured<'_>, out: &mut Writer<'_>) -> Result<()> {
    let plugins = ["Srp", "Srp256", "Legacy_Auth", "", "Win_Sspi"];
    match input.int_in_range(0..=12)? {
        op @ 0..=2 => {
            let op = [Op::ACCEPT, Op::ACCEPT_DATA, Op::COND_ACCEPT][op];
            out.op(op);
            out.short(0x8000 | input.int_in_range(12..=20)?);
            out.word(1);
            out.short(if input.arbitrary()? { 5 } else { 0x105 });
            if op != Op::ACCEPT {
                out.cstr(if input.ratio(3, 4)? { &SERVER_DATA } else { &[] });
                out.cstr(input.choose(&plugins)?.as_bytes());
                out.short(input.ratio(1, 4)?.into());
                out.cstr(&keys(input)?);
            }
        }
        3 => {
            out.op(Op::CONT_AUTH);
            out.cstr(if input.ratio(3, 4)? { &SERVER_DATA } else { &[] });
            out.cstr(input.choose(&plugins)?.as_bytes());
            out.quad(0);
        }
        4..=6 => {
            out.op(Op::RESPONSE);
            out.short(input.arbitrary()?);
            out.quad(0);
            let data = if input.arbitrary()? { keys(input)? } else { bytes(input, 60)?.to_vec() };
            out.cstr(&data);
            status(input, out)?;
        }
        7 => {
            out.op(Op::FETCH_RESPONSE);
            let (status, messages) = *input.choose(&[(0, 1), (0, 1), (0, 0), (100, 0)])?;
            out.word(status);
            out.word(messages);
            if messages == 1 {
                row(input, out)?;
            }
        }
        8 => {
            out.op(Op::SQL_RESPONSE);
            let messages: bool = input.arbitrary()?;
            out.short(messages.into());
            if messages {
                row(input, out)?;
            }
        }
        9 => {
            out.op(Op::INLINE_BLOB);
            out.short(1);
            out.quad(input.int_in_range(0..=3)?);
            out.cstr(bytes(input, 8)?);
            out.cstr(bytes(input, 40)?);
        }
        10 => {
            out.op(Op::BATCH_CS);
            out.short(1);
            let records = input.int_in_range(0..=3)?;
            let errors = input.int_in_range(0..=records)?;
            [records, records, errors, 0].into_iter().for_each(|word| out.word(word));
            (0..records).for_each(|_| out.word(1));
            for record in 0..errors {
                out.word(record);
                status(input, out)?;
            }
        }
        11 => {
            out.op(Op::CRYPT_KEY_CALLBACK);
            out.cstr(bytes(input, 12)?);
            if input.ratio(3, 4)? {
                out.short(32);
            }
        }
        _ => out.op(*input.choose(&[Op::DUMMY, Op::DUMMY, Op::DUMMY, Op::EXIT, Op::REJECT])?),
    }
    Ok(())
}

fn bytes<'a>(input: &mut Unstructured<'a>, max: usize) -> Result<&'a [u8]> {
    let length = input.int_in_range(0..=max)?.min(input.len());
    input.bytes(length)
}

fn keys(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let cipher = *input.choose(&["ChaCha64", "Arc4", "None", ""])?;
    let mut block = [&[0, 9][..], b"Symmetric", &[1, cipher.len() as u8], cipher.as_bytes()].concat();
    if cipher == "ChaCha64" {
        block.extend([&[3, 17][..], b"ChaCha64\0", &IV].concat());
    }
    Ok(if cipher.is_empty() { Vec::new() } else { block })
}

/// Success, a warning or an error.
fn status(input: &mut Unstructured<'_>, out: &mut Writer<'_>) -> Result<()> {
    let words: &[u32] = match input.int_in_range(0..=5)? {
        0 => &[1, 335_544_569, 4, 7, 1, 335_544_382, 2, 4, 0x4141_4141, 0],
        1 => &[1, 0, 18, 335_544_808, 0],
        _ => &[1, 0, 0],
    };
    words.iter().for_each(|word| out.word(*word));
    Ok(())
}

/// A row of one of the formats; that of another one is damage of its own.
fn row(input: &mut Unstructured<'_>, out: &mut Writer<'_>) -> Result<()> {
    let nulls = input.int_in_range(0..=7)?;
    out.bytes(&[nulls, 0, 0, 0]);
    let is_null = |column: u8| nulls >> column & 1 != 0;
    match input.int_in_range(0..=2)? {
        0 if !is_null(0) => out.word(7),
        0 => {}
        1 => {
            if !is_null(0) {
                out.cstr(bytes(input, 9)?);
            }
            if !is_null(1) {
                out.quad(7);
            }
            if !is_null(2) {
                out.raw(b"abc");
            }
        }
        _ => {
            for column in 0..3 {
                if !is_null(column) {
                    if column == 1 {
                        out.raw(&[1]);
                    } else {
                        out.cstr(&vec![b'x'; input.int_in_range(0..=400)?]);
                    }
                }
            }
        }
    }
    Ok(())
}
