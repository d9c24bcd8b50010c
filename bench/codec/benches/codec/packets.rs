//! Packets and packed rows, as proto sees them.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use firearrow::codec::Decoder;
use firearrow_codec::{ROWS, Shape};
use firearrow_proto::wire::packet::Request;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::packet::statement::{Execute, ExecuteOptions, Parameters};
use firearrow_proto::wire::xdr::{Reader, Writer};
use firearrow_proto::wire::{Limits, ProtocolVersion};

#[divan::bench]
fn packet_execute(bencher: Bencher<'_, '_>) {
    let shape = Shape::named("ten_int").expect("one of them");
    let decoder = Decoder::new(&shape.descriptors(), &Shape::options()).expect("known types");
    let (blr, message) = (decoder.format().blr(), shape.packed(decoder.format(), 0));
    let mut out = Vec::with_capacity(1 << 10);
    bencher.counter(ItemsCount::new(1_usize)).bench_local(|| {
        out.clear();
        let parameters = Parameters { blr, message: &message };
        let options = ExecuteOptions { inline_blob_limit: 65535, ..ExecuteOptions::default() };
        let mut writer = Writer::new(&mut out);
        writer.op(Execute::OP);
        let execute = Execute { statement: 2, transaction: 1, parameters: black_box(parameters), options };
        execute.encode(ProtocolVersion::MAX, &mut writer);
        assert!(out.len() > message.len());
    });
    assert!(out.windows(message.len()).any(|part| part == message));
}

#[divan::bench(args = ["success", "error"])]
fn packet_response(bencher: Bencher<'_, '_>, kind: &str) {
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
    let decode = || Response::decode(&mut Reader::new(black_box(&bytes)), &limits).expect("a good response");
    assert_eq!(format!("{:?}", decode()).contains("335544569"), kind == "error");
    bencher.counter(ItemsCount::new(1_usize)).bench(decode);
}

/// Finding the values of a row.
#[divan::bench(args = ["five", "half_null", "ten_int", "wide"])]
fn row_measure(bencher: Bencher<'_, '_>, name: &str) {
    let shape = Shape::named(name).expect("one of them");
    let decoder = Decoder::new(&shape.descriptors(), &Shape::options()).expect("known types");
    let format = decoder.format();
    let block: Vec<u8> = (0..ROWS).flat_map(|row| shape.packed(format, row)).collect();
    let values = ROWS * format.layout().fields().len();
    let mut positions = Vec::new();
    bencher.counter(ItemsCount::new(ROWS)).counter(BytesCount::new(block.len())).bench_local(|| {
        positions.clear();
        let mut at = 0;
        while at < block.len() {
            at = format.measure(black_box(&block), at, &mut positions).expect("good rows");
        }
        assert_eq!(positions.len(), values);
    });
}
