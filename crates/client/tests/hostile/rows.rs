//! Rows that nobody asked for.

use crate::memory::peak;
use crate::{attack, packed, read, varying};
use firearrow::Kind;
use firearrow_proto::wire::Op;
use firearrow_testkit::scripted::{Column, packet};

#[test]
fn more_than_were_asked_for_end_the_connection() {
    let (server, connection) = attack(13, "", |request, peer| match request.op {
        Op::FETCH => peer.floods(&packet::row(&packed(0, &[&[0, 0, 0, 7]]))),
        _ => peer.behaves(request),
    });
    let (bytes, (rows, result)) = peak(|| read(connection.query("SELECT n FROM t").expect("it runs")));
    let error = result.expect_err("no server sends so many");
    assert_eq!(error.kind(), Kind::Protocol, "{error}");
    assert!(error.to_string().contains("more rows than op_fetch asked for"), "{error}");
    assert!(rows <= 65535, "{rows} rows");
    assert!(connection.is_failed());
    assert!(bytes < 8 << 20, "{bytes} bytes");
    assert!(server.sent() < 32 << 20, "{} bytes were taken", server.sent());
}

/// While a BLOB is awaited, rows have nowhere to go.
#[test]
fn those_that_come_in_place_of_a_blob_are_bounded_by_their_number() {
    let (server, connection) = attack(13, "", |request, peer| match request.op {
        Op::PREPARE_STATEMENT => {
            let columns = [Column::integer("N"), Column::blob("NOTE")];
            peer.says(&packet::response(0, &packet::description(&columns, &[])))
        }
        Op::FETCH => peer.floods(&packet::row(&packed(0, &[&[0, 0, 0, 7], &7_u64.to_be_bytes()]))),
        _ => peer.behaves(request),
    });
    let (bytes, (_, result)) = peak(|| read(connection.query("SELECT n, note FROM t").expect("it runs")));
    let error = result.expect_err("no server sends so many");
    assert_eq!(error.kind(), Kind::Protocol, "{error}");
    assert!(error.to_string().contains("more rows than op_fetch asked for"), "{error}");
    assert!(bytes < 16 << 20, "{bytes} bytes");
    assert!(server.sent() < 16 << 20, "{} bytes were taken", server.sent());
}

/// And by their bytes, since 65,535 rows may be asked for.
#[test]
fn those_that_come_in_place_of_a_blob_are_bounded_by_their_bytes() {
    let (server, connection) = attack(13, "", |request, peer| match request.op {
        Op::PREPARE_STATEMENT => {
            let columns = [Column::varchar("WIDE", 32_000), Column::blob("NOTE")];
            peer.says(&packet::response(0, &packet::description(&columns, &[])))
        }
        Op::FETCH => {
            peer.floods(&packet::row(&packed(0, &[&varying(&[b'x'; 32_000]), &7_u64.to_be_bytes()])))
        }
        _ => peer.behaves(request),
    });
    let (bytes, (_, result)) = peak(|| read(connection.query("SELECT wide, note FROM t").expect("it runs")));
    let error = result.expect_err("no server sends so many");
    assert_eq!(error.kind(), Kind::Protocol, "{error}");
    assert!(error.to_string().contains("uncollected rows and answers"), "{error}");
    assert!(bytes < 256 << 20, "{bytes} bytes");
    assert!(server.sent() < 192 << 20, "{} bytes were taken", server.sent());
}
