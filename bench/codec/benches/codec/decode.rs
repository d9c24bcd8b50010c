//! Responses to columns.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use firearrow::codec::Decoder;
use firearrow_codec::{ROWS, Server, Shape};
use firearrow_proto::api::row::PackedRows;

fn decoder(shape: &Shape) -> Decoder {
    Decoder::new(&shape.descriptors(), &Shape::options()).expect("known types")
}

/// One value: from its bytes in the receive buffer to its place in a finished array.
#[divan::bench(args = Shape::values())]
fn value(bencher: Bencher<'_, '_>, shape: &Shape) {
    let mut decoder = decoder(shape);
    let format = decoder.format().clone();
    let bytes: Vec<u8> = (0..ROWS).flat_map(|row| shape.packed(&format, row)).collect();
    let mut positions = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        at = format.measure(&bytes, at, &mut positions).expect("good rows");
    }
    let rows = PackedRows { bytes: &bytes, positions: &positions, columns: 1, rows: ROWS };
    let mut decode = move || {
        assert_eq!(decoder.push(black_box(&rows)).expect("good rows"), ROWS);
        decoder.finish().expect("good rows").expect("a batch")
    };
    assert_eq!(decode(), shape.batch());
    bencher.counter(ItemsCount::new(ROWS)).bench_local(decode);
}

/// A row: from the bytes of the server's response to columns.
#[divan::bench(args = Shape::rows())]
fn row(bencher: Bencher<'_, '_>, shape: &Shape) {
    let mut decoder = decoder(shape);
    let mut server = Server::new(shape, &decoder);
    let bytes = BytesCount::new(server.bytes());
    let mut fetch = move || {
        assert_eq!(server.fetch(&mut decoder), ROWS);
        decoder.finish().expect("good rows").expect("a batch")
    };
    assert_eq!(fetch(), shape.batch());
    bencher.counter(ItemsCount::new(ROWS)).counter(bytes).bench_local(fetch);
}
