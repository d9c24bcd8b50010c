//! The cost of the codec, without sockets and Arrow: `cargo bench -p firearrow-proto`.
//!
//! Two shapes of rows: ten INTEGER columns, and the wide table of the fetch benchmarks (22 columns, about 430 bytes
//! on the wire).

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::pb::Dpb;
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::compress::{Deflate, Inflate};
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::crypt::{CipherKind, new_cipher};
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::Request;
use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::packet::statement::{Execute, ExecuteOptions, Fetch, Parameters};
use firearrow_proto::wire::xdr::{Reader, Writer};
use firearrow_proto::wire::{Connection, Event, Limits, Op, ProtocolVersion};
use std::sync::Arc;

fn main() {
    divan::main();
}

/// Rows per iteration: a fetch returns hundreds to thousands.
const ROWS: usize = 1000;
const MEGABYTE: usize = 1 << 20;

/// A shape of rows.
#[derive(Clone, Copy, Debug)]
enum Shape {
    TenInt,
    Wide,
}

const SHAPES: [Shape; 2] = [Shape::TenInt, Shape::Wide];

impl Shape {
    fn format(self) -> PackedFormat {
        let kinds: Vec<FieldKind> = match self {
            Self::TenInt => vec![FieldKind::Long; 10],
            Self::Wide => {
                let mut kinds = vec![
                    FieldKind::Int64,
                    FieldKind::Short,
                    FieldKind::Short,
                    FieldKind::Boolean,
                    FieldKind::Double,
                    FieldKind::Int64,
                    FieldKind::Int128,
                    FieldKind::Int64,
                    FieldKind::Timestamp,
                    FieldKind::Date,
                ];
                kinds.extend([10, 20, 40, 80, 120, 200, 10, 20, 40, 80].map(FieldKind::Varying));
                kinds.extend([FieldKind::Text(32); 2]);
                kinds
            }
        };
        PackedFormat::new(Arc::new(RowLayout::new(kinds.into_iter().map(FieldLayout::plain))))
    }

    /// A message in the engine's layout: numbers, texts of half their length, the fourth and each twelfth NULL.
    fn message(self, format: &PackedFormat) -> Vec<u8> {
        let layout = format.layout();
        let mut message: Vec<u8> = (0..layout.native_length()).map(|at| b'0' + (at % 10) as u8).collect();
        for (index, field) in layout.fields().iter().enumerate() {
            let is_null = index % 12 == 3 && matches!(self, Self::Wide);
            message[field.null_offset..][..2].fill(if is_null { 0xff } else { 0 });
            if let FieldKind::Varying(max) = field.kind {
                message[field.offset..][..2].copy_from_slice(&(max / 2).to_le_bytes());
            }
        }
        message
    }

    fn packed(self, format: &PackedFormat) -> Vec<u8> {
        let mut row = Vec::new();
        format.pack(&self.message(format), &mut row).expect("a full message");
        row
    }
}

#[divan::bench]
fn encode_execute(bencher: Bencher<'_, '_>) {
    let format = Shape::TenInt.format();
    let (blr, message) = (format.layout().blr(), Shape::TenInt.packed(&format));
    let mut out = Vec::with_capacity(1 << 10);
    bencher.bench_local(|| {
        out.clear();
        let parameters = Parameters { blr: &blr, message: &message };
        let options = ExecuteOptions { inline_blob_limit: 65535, ..ExecuteOptions::default() };
        let mut writer = Writer::new(&mut out);
        writer.op(Execute::OP);
        let execute = Execute { statement: 2, transaction: 1, parameters: black_box(parameters), options };
        execute.encode(ProtocolVersion::MAX, &mut writer);
        black_box(out.len())
    });
}

#[divan::bench]
fn write_words(bencher: Bencher<'_, '_>) {
    let mut out = Vec::with_capacity(8 << 10);
    bencher.counter(ItemsCount::new(ROWS)).bench_local(|| {
        out.clear();
        let mut writer = Writer::new(&mut out);
        (0..ROWS as u32).for_each(|word| writer.word(black_box(word)));
        black_box(out.len())
    });
}

#[divan::bench(args = ["success", "error"])]
fn decode_response(bencher: Bencher<'_, '_>, kind: &str) {
    let status: &[u32] = match kind {
        "success" => &[1, 0, 0],
        _ => &[1, 335_544_569, 1, 335_544_436, 4, 0xffff_ff98, 1, 335_544_382, 2, 4, 0x6672_6f6d, 0],
    };
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes);
    out.short(1);
    out.quad(0);
    out.cstr(&[]);
    status.iter().for_each(|word| out.word(*word));
    let limits = Limits::default();
    bencher.bench(|| Response::decode(&mut Reader::new(black_box(&bytes)), &limits));
}

#[divan::bench(args = SHAPES)]
fn measure_rows(bencher: Bencher<'_, '_>, shape: Shape) {
    let format = shape.format();
    let block = shape.packed(&format).repeat(ROWS);
    let mut positions = Vec::new();
    bencher.counter(ItemsCount::new(ROWS)).counter(BytesCount::new(block.len())).bench_local(|| {
        positions.clear();
        let mut at = 0;
        while at < block.len() {
            at = format.measure(black_box(&block), at, &mut positions).expect("good rows");
        }
        black_box(positions.len())
    });
}

#[divan::bench(args = SHAPES)]
fn pack_rows(bencher: Bencher<'_, '_>, shape: Shape) {
    let format = shape.format();
    let message = shape.message(&format);
    let mut out = Vec::new();
    let bytes = shape.packed(&format).len() * ROWS;
    bencher.counter(ItemsCount::new(ROWS)).counter(BytesCount::new(bytes)).bench_local(|| {
        out.clear();
        for _ in 0..ROWS {
            format.pack(black_box(&message), &mut out).expect("a full message");
        }
        black_box(out.len())
    });
}

/// The whole receive path without stages, from packets to blocks of rows.
#[divan::bench(args = SHAPES)]
fn fetch_through_a_connection(bencher: Bencher<'_, '_>, shape: Shape) {
    let format = Arc::new(shape.format());
    let mut row = Vec::new();
    let mut out = Writer::new(&mut row);
    out.op(Op::FETCH_RESPONSE);
    out.quad(1); // status 0, one message
    out.bytes(&shape.packed(&format));
    let mut stream = row.repeat(ROWS);
    let mut out = Writer::new(&mut stream);
    out.op(Op::FETCH_RESPONSE);
    out.quad(0);
    let mut connection = attached();
    let fetch = Fetch { statement: 1, output: format, first: false, rows: ROWS as u16 };
    bencher.counter(ItemsCount::new(ROWS)).counter(BytesCount::new(stream.len())).bench_local(|| {
        let _ticket = connection.send(&fetch).expect("an attached connection");
        connection.outgoing().expect("a working connection");
        connection.sent();
        assert_eq!(deliver(&mut connection, &stream), ROWS);
    });
}

/// Delivers bytes in reads of at most 32 KiB and returns how many rows they brought.
fn deliver(connection: &mut Connection, bytes: &[u8]) -> usize {
    let mut rows_seen = 0;
    let mut left = bytes;
    while !left.is_empty() {
        let space = connection.space().expect("a working connection");
        let (piece, rest) = left.split_at(space.len().min(left.len()).min(32 << 10));
        space[..piece.len()].copy_from_slice(piece);
        left = rest;
        connection.received(piece.len()).expect("a working connection");
        while let Some(event) = connection.next_event().expect("good packets") {
            if let Event::Rows { rows, .. } = event {
                rows_seen += black_box(rows).rows;
            }
        }
    }
    rows_seen
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
    deliver(&mut connection, &answers);
    connection
}

#[divan::bench(args = CipherKind::ALL)]
fn encrypt_a_megabyte(bencher: Bencher<'_, '_>, kind: CipherKind) {
    let iv: &[u8] = if kind == CipherKind::ChaCha64 { &[7; 8] } else { &[7; 12] };
    let mut data = vec![0x55; MEGABYTE];
    // A keystream ends, so each iteration gets a new one, created outside the measurement.
    let cipher = || new_cipher(kind, &[7; 20], Some(iv)).expect("a good vector");
    bencher
        .counter(BytesCount::new(MEGABYTE))
        .with_inputs(cipher)
        .bench_local_refs(|cipher| cipher.apply(black_box(&mut data)));
}

/// A megabyte of wide rows that differ in a key and in a hexadecimal text, and so compress as rows do.
fn plain_rows() -> Vec<u8> {
    let format = Shape::Wide.format();
    let mut message = Shape::Wide.message(&format);
    let text = format.layout().fields()[21].offset;
    let mut state = 1_u32;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 24
    };
    let mut rows = Vec::new();
    while rows.len() < MEGABYTE {
        message[..8].fill_with(|| random() as u8);
        message[text..text + 32].fill_with(|| b"0123456789abcdef"[random() as usize % 16]);
        format.pack(&message, &mut rows).expect("a full message");
    }
    rows.truncate(MEGABYTE);
    rows
}

#[divan::bench]
fn inflate_a_megabyte(bencher: Bencher<'_, '_>) {
    let plain = plain_rows();
    let mut compressed = Vec::new();
    Deflate::new().append(&plain, &mut compressed).expect("a working compressor");
    let mut out = Vec::with_capacity(2 * MEGABYTE);
    bencher.counter(BytesCount::new(plain.len())).with_inputs(Inflate::new).bench_local_refs(|inflate| {
        out.clear();
        let progress = inflate.append(black_box(&compressed), &mut out, 2 * MEGABYTE).expect("a good stream");
        assert_eq!(progress.written, plain.len());
    });
}

#[divan::bench]
fn deflate_a_megabyte(bencher: Bencher<'_, '_>) {
    let plain = plain_rows();
    let mut out = Vec::with_capacity(2 * MEGABYTE);
    bencher.counter(BytesCount::new(plain.len())).with_inputs(Deflate::new).bench_local_refs(|deflate| {
        out.clear();
        deflate.append(black_box(&plain), &mut out).expect("a working compressor");
        black_box(out.len())
    });
}
