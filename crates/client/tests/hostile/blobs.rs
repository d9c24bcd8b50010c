//! BLOBs that do not end.

use crate::memory::peak;
use crate::{attack, packed, read};
use firearrow::Kind;
use firearrow_proto::wire::Op;
use firearrow_testkit::scripted::{Column, Peer, Request, packet};
use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::Mutex;

/// Two columns: a number, and a BLOB that is NULL in the first row.
fn rows(ids: impl Iterator<Item = u64>) -> Vec<u8> {
    let one = 1_u32.to_be_bytes();
    let mut rows = packet::row(&packed(0b10, &[&one]));
    for id in ids {
        rows.extend(packet::row(&packed(0, &[&one, &id.to_be_bytes()])));
    }
    rows.extend(packet::fetch_end(true));
    rows
}

fn described(peer: &mut Peer) -> io::Result<()> {
    let columns = [Column::integer("N"), Column::blob("NOTE")];
    peer.says(&packet::response(0, &packet::description(&columns, &[])))
}

fn endless(request: &Request, peer: &mut Peer) -> io::Result<()> {
    match request.op {
        Op::PREPARE_STATEMENT => described(peer),
        Op::FETCH => peer.says(&rows(7..8)),
        Op::GET_SEGMENT => peer.says(&packet::response(0, &packet::segment(&[b'x'; 60_000]))),
        _ => peer.behaves(request),
    }
}

#[test]
fn one_without_end_ends_at_max_blob() {
    let (server, connection) = attack(13, "max_blob=1000000", endless);
    let (bytes, (rows, result)) = peak(|| read(connection.query("SELECT n, note FROM t").expect("it runs")));
    let error = result.expect_err("it is longer than that");
    assert_eq!((rows, error.kind()), (0, Kind::Memory), "{error}");
    let text = error.to_string();
    assert!(text.contains("column 2 (\"NOTE\"), row 1") && text.contains("max_blob=1000000"), "{text}");
    assert!(bytes < 4 << 20, "{bytes} bytes");
    assert!(server.sent() < 2 << 20, "{} bytes were taken", server.sent());
    connection.ping().expect("nothing is wrong with the connection");
}

#[test]
fn one_that_is_longer_than_one_answer_may_be_too_long_as_well() {
    let (_server, connection) = attack(13, "max_blob=50000", |request, peer| match request.op {
        Op::GET_SEGMENT => peer.says(&packet::response(2, &packet::segment(&[b'x'; 60_000]))),
        _ => endless(request, peer),
    });
    let (_, result) = read(connection.query("SELECT n, note FROM t").expect("it runs"));
    let error = result.expect_err("it is longer than that");
    assert_eq!(error.kind(), Kind::Memory, "{error}");
    connection.ping().expect("nothing is wrong with the connection");
}

/// By their ids no column is known.
#[test]
fn one_that_is_read_by_its_id_ends_at_max_blob() {
    let (_server, connection) = attack(13, "max_blob=1000000&blobs=lazy", endless);
    let transaction = connection.begin(Default::default()).expect("it starts");
    let ids = arrow::array::UInt64Array::from(vec![None, Some(7)]);
    let (bytes, result) = peak(|| transaction.read_blobs(&ids));
    let error = result.expect_err("it is longer than that");
    assert_eq!(error.kind(), Kind::Memory, "{error}");
    assert!(error.to_string().contains("row 1") && error.to_string().contains("max_blob=1000000"), "{error}");
    assert!(bytes < 4 << 20, "{bytes} bytes");
}

/// Their length is what the server said: text may become four times as long in UTF-8.
#[test]
fn a_stream_holds_the_server_to_the_length_it_told() {
    for (length, is_good) in [(60_000, true), (15_000, true), (14_999, false), (0, false)] {
        let (_server, connection) = attack(13, "", move |request, peer| match request.op {
            Op::INFO_BLOB => {
                let mut info = Vec::new();
                packet::number(&mut info, 6, length);
                packet::number(&mut info, 7, 1);
                info.push(packet::INFO_END);
                peer.says(&packet::response(0, &info))
            }
            Op::GET_SEGMENT => peer.says(&packet::response(2, &packet::segment(&[b'x'; 60_000]))),
            _ => peer.behaves(request),
        });
        let transaction = connection.begin(Default::default()).expect("it starts");
        let mut contents = Vec::new();
        let read = transaction.open_blob(7).expect("it opens").read_to_end(&mut contents);
        assert_eq!(read.is_ok(), is_good, "{length}: {read:?}");
        assert_eq!(connection.is_failed(), !is_good, "{length}");
    }
}

/// A window of BLOBs is asked for before the first turns out to be long.
#[test]
fn long_ones_are_read_as_far_as_the_batch_has_room() {
    const SEGMENTS: u32 = 20;
    let opened = Mutex::new((0, HashMap::<u16, u32>::new()));
    let (server, connection) = attack(13, "", move |request, peer| match request.op {
        Op::PREPARE_STATEMENT => described(peer),
        Op::FETCH => peer.says(&rows(1..400)),
        Op::OPEN_BLOB2 => {
            peer.behaves(request)?;
            opened.lock().expect("no panic").0 = peer.last_handle();
            Ok(())
        }
        Op::GET_SEGMENT => {
            let mut opened = opened.lock().expect("no panic");
            let handle = if request.handle == 0xffff { opened.0 } else { request.handle };
            let read = opened.1.entry(handle).or_default();
            *read += 1;
            let state = if *read < SEGMENTS { 0 } else { packet::BLOB_END };
            peer.says(&packet::response(state, &packet::segment(&[b'x'; 60_000])))
        }
        _ => peer.behaves(request),
    });
    let mut cursor = connection.query("SELECT n, note FROM t").expect("it runs");
    let (bytes, batch) = peak(|| cursor.next_batch().expect("a batch").expect("rows"));
    assert!((2..30).contains(&batch.num_rows()), "{} rows", batch.num_rows());
    assert!(bytes < 64 << 20, "{bytes} bytes");
    assert!(server.sent() < 80 << 20, "{} bytes were taken", server.sent());
}
