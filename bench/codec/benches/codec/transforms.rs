//! What happens to bytes between the packets and the socket.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use firearrow::codec::Decoder;
use firearrow_codec::Shape;
use firearrow_proto::wire::compress::{Deflate, Inflate};
use firearrow_proto::wire::crypt::{CipherKind, new_cipher};

/// Bytes per iteration.
const BYTES: usize = 1 << 16;

#[divan::bench(args = CipherKind::ALL)]
fn byte_encrypt(bencher: Bencher<'_, '_>, kind: CipherKind) {
    let iv: &[u8] = if kind == CipherKind::ChaCha64 { &[7; 8] } else { &[7; 12] };
    let mut data = vec![0x55; BYTES];
    // A keystream ends, so each iteration gets a new one, created outside the measurement.
    let cipher = || new_cipher(kind, &[7; 20], Some(iv)).expect("a good vector");
    cipher().apply(&mut data).expect("a keystream");
    assert_ne!(data, vec![0x55; BYTES]);
    cipher().apply(&mut data).expect("a keystream");
    assert_eq!(data, vec![0x55; BYTES]);
    bencher
        .counter(ItemsCount::new(BYTES))
        .with_inputs(cipher)
        .bench_local_refs(|cipher| cipher.apply(black_box(&mut data)).expect("a keystream"));
}

/// Wide rows, which compress as rows do.
fn plain_rows() -> Vec<u8> {
    let shape = Shape::named("wide").expect("one of them");
    let decoder = Decoder::new(&shape.descriptors(), &Shape::options()).expect("known types");
    let mut rows: Vec<u8> = (0..).flat_map(|row| shape.packed(decoder.format(), row)).take(BYTES).collect();
    rows.truncate(BYTES);
    rows
}

#[divan::bench]
fn byte_inflate(bencher: Bencher<'_, '_>) {
    let plain = plain_rows();
    let mut compressed = Vec::new();
    Deflate::new().append(&plain, &mut compressed).expect("a working compressor");
    let mut out = Vec::with_capacity(2 * BYTES);
    bencher.counter(ItemsCount::new(BYTES)).with_inputs(Inflate::new).bench_local_refs(|inflate| {
        out.clear();
        let progress = inflate.append(black_box(&compressed), &mut out, 2 * BYTES).expect("a good stream");
        assert_eq!(progress.written, BYTES);
    });
    assert_eq!(out, plain);
}

#[divan::bench]
fn byte_deflate(bencher: Bencher<'_, '_>) {
    let plain = plain_rows();
    let mut out = Vec::with_capacity(2 * BYTES);
    bencher.counter(ItemsCount::new(BYTES)).with_inputs(Deflate::new).bench_local_refs(|deflate| {
        out.clear();
        deflate.append(black_box(&plain), &mut out).expect("a working compressor");
        assert!((1..BYTES).contains(&out.len()));
    });
    let mut again = Vec::new();
    let progress = Inflate::new().append(&out, &mut again, 2 * BYTES).expect("a good stream");
    assert_eq!(progress.written, BYTES);
    assert_eq!(again, plain);
}
