//! The bytes of requests that no recording contains, word by word: the examples of the protocol reference (appendix
//! A.5) and the fields that depend on the version.

use crate::rows::format;
use crate::transcript::unhex;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::event::event_block;
use firearrow_proto::api::info::statement as item;
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::pb::STREAM_BPB;
use firearrow_proto::api::scroll::Move;
use firearrow_proto::wire::ProtocolVersion;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::attach::{DropDatabase, Dummy, Ping};
use firearrow_proto::wire::packet::blob::{CancelBlob, CloseBlob, CreateBlob, GetSegment, PutSegment};
use firearrow_proto::wire::packet::event::{AbortAuxiliary, CancelEvents, QueueEvents, RequestAuxiliary};
use firearrow_proto::wire::packet::info::{InfoBlob, InfoDatabase, InfoTransaction};
use firearrow_proto::wire::packet::scroll::FetchScroll;
use firearrow_proto::wire::packet::statement::{
    AllocateStatement, Execute, ExecuteOptions, ExecuteSingleton, Fetch, FreeOption, FreeStatement,
    Parameters, PrepareStatement,
};
use firearrow_proto::wire::packet::transaction::{
    CommitRetaining, PrepareTransaction, Reconnect, RollbackRetaining,
};
use firearrow_proto::wire::packet::{LAST_OBJECT, Request};
use firearrow_proto::wire::xdr::Writer;
use std::sync::Arc;

fn encoded<R: Request>(request: &R, version: ProtocolVersion) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes);
    out.op(R::OP);
    request.encode(version, &mut out);
    bytes
}

#[track_caller]
fn check<R: Request>(request: &R, words: &str) {
    assert_eq!(encoded(request, ProtocolVersion::MAX), unhex(words), "{words}");
}

#[test]
fn requests_follow_the_reference_examples() {
    check(&Ping, "0000005D");
    check(&Dummy, "00000047");
    check(&AllocateStatement, "0000003E 00000000");
    check(
        &PrepareStatement {
            transaction: 1,
            statement: LAST_OBJECT,
            dialect: Dialect::Three,
            sql: "SELECT 1 FROM RDB$DATABASE",
            items: &[item::STMT_TYPE, item::STMT_FLAGS],
            buffer_length: 1024,
        },
        "00000044 00000001 0000FFFF 00000003 0000001A 53454C45 43542031 2046524F 4D205244 42244441 54414241 53450000 \
         00000002 151B0000 00000400",
    );
    let integer = format(&[FieldKind::Long]);
    check(
        &Fetch { statement: 2, output: Arc::clone(&integer), first: true, rows: 1000 },
        "00000041 00000002 0000000C 05020400 02000800 0700FF4C 00000000 000003E8",
    );
    let again = Fetch { statement: 2, output: integer, first: false, rows: 1000 };
    check(&again, "00000041 00000002 00000000 00000000 000003E8");
    check(&GetSegment { blob: LAST_OBJECT }, "00000024 0000FFFF 0000FFFF 00000000");
    check(&CloseBlob { blob: LAST_OBJECT }, "00000027 0000FFFF");
    check(&FreeStatement { statement: 2, option: FreeOption::Close }, "00000043 00000002 00000001");
}

#[test]
fn other_requests_follow_their_layouts() {
    check(&DropDatabase, "00000051 00000000");
    check(&CommitRetaining { transaction: 3 }, "00000032 00000003");
    check(&RollbackRetaining { transaction: 3 }, "00000056 00000003");
    let prepare = PrepareTransaction { transaction: 3, message: b"order 7" };
    check(&prepare, "00000033 00000003 00000007 6F726465 72203700");
    let reconnect = Reconnect { number: 0x1_0000_0002 };
    check(&reconnect, "00000021 00000000 00000008 02000000 01000000");
    check(&RequestAuxiliary, "00000035 00000001 00000000 00000000");
    check(&AbortAuxiliary, "0000005F");
    let block = event_block([("new", 258)]);
    let queue = QueueEvents { block: &block, id: 9 };
    check(&queue, "00000030 00000000 00000009 01036E65 77020100 00000000 00000000 00000000 00000009");
    check(&CancelEvents { id: 9 }, "00000031 00000000 00000009");
    check(&FreeStatement { statement: 2, option: FreeOption::Unprepare }, "00000043 00000002 00000004");
    // The name brings its own terminator, the type is 0.
    let create = CreateBlob { transaction: 3, bpb: &STREAM_BPB };
    check(&create, "00000039 00000004 01030101 00000003 00000000 00000000");
    check(&PutSegment { blob: 5, bytes: b"hello" }, "00000025 00000005 00000005 00000005 68656C6C 6F000000");
    check(&CancelBlob { blob: 5 }, "00000026 00000005");
    // Object, incarnation, items, length.
    let items = &[4, 12];
    let tail = "00000007 00000000 00000002 040C0000 00000100";
    check(&InfoDatabase { object: 7, items, buffer_length: 256 }, &format!("00000028 {tail}"));
    check(&InfoTransaction { object: 7, items, buffer_length: 256 }, &format!("0000002A {tail}"));
    check(&InfoBlob { object: 7, items, buffer_length: 256 }, &format!("0000002B {tail}"));
}

/// Section 7.2: as `op_fetch`, then the operation (16 bits, padded) and the position (32 bits, signed).
#[test]
fn a_scrolling_fetch_contains_its_move() {
    let output = format(&[FieldKind::Long]);
    let scroll = |to, first| {
        let fetch = Fetch { statement: 2, output: Arc::clone(&output), first, rows: 1000 };
        FetchScroll { fetch, to }
    };
    check(
        &scroll(Move::Next, true),
        "00000070 00000002 0000000C 05020400 02000800 0700FF4C 00000000 000003E8 00000000 00000000",
    );
    for (to, tail) in [
        (Move::Next, "00000000 00000000"),
        (Move::Prior, "00000001 00000000"),
        (Move::First, "00000002 00000000"),
        (Move::Last, "00000003 00000000"),
        (Move::Absolute(258), "00000004 00000102"),
        (Move::Absolute(-1), "00000004 FFFFFFFF"),
        (Move::Relative(i32::MIN), "00000005 80000000"),
        (Move::Relative(0), "00000005 00000000"),
    ] {
        check(&scroll(to, false), &format!("00000070 00000002 00000000 00000000 000003E8 {tail}"));
    }
}

#[test]
fn executions_end_in_the_fields_of_their_version() {
    let options = ExecuteOptions { timeout: 0x11, cursor_flags: 0x22, inline_blob_limit: 0x33 };
    let execute = Execute { statement: 2, transaction: 1, parameters: Parameters::default(), options };
    let front = "0000003F 00000002 00000001 00000000 00000000 00000000";
    let singleton = ExecuteSingleton {
        statement: 2,
        transaction: 1,
        parameters: Parameters::default(),
        output: format(&[FieldKind::Long]),
        options,
    };
    // The format of the row comes between the parameters and these fields.
    let singleton_front = format!("{front} 0000000C 05020400 02000800 0700FF4C 00000000").replace("3F", "4C");
    for (version, tail) in [
        (13, ""),
        (14, ""),
        (15, ""),
        (16, "00000011"),
        (17, "00000011"),
        (18, "00000011 00000022"),
        (19, "00000011 00000022 00000033"),
    ] {
        let version = ProtocolVersion::new(version).expect("a version that this crate supports");
        assert_eq!(encoded(&execute, version), unhex(&format!("{front}{tail}")), "{version}");
        assert_eq!(encoded(&singleton, version), unhex(&format!("{singleton_front}{tail}")), "{version}");
    }
}

#[test]
fn parameters_are_announced_by_a_message_count() {
    let mut text = FieldLayout::plain(FieldKind::Varying(20));
    text.charset = 4;
    let layout = RowLayout::new([text, FieldLayout::plain(FieldKind::Int64)]);
    let input = PackedFormat::new(Arc::new(layout));
    let mut native = vec![0; input.layout().native_length()];
    native[..5].copy_from_slice(b"\x03\0abc");
    let mut message = Vec::new();
    input.pack(&native, &mut message).expect("a full message");
    let blr = input.layout().blr();
    let parameters = Parameters { blr: &blr, message: &message };
    check(
        &Execute { statement: 2, transaction: 1, parameters, options: ExecuteOptions::default() },
        "0000003F 00000002 00000001 \
         00000013 05020400 04002604 00140007 00100007 00FF4C00 00000000 00000001 \
         00000000 00000003 61626300 00000000 00000000 00000000 00000000 00000000",
    );
}
