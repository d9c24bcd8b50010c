//! Arrays, and what the catalog says of them.

use crate::memory::peak;
use crate::{attack, packed, read, varying};
use firearrow::{Error, Kind};
use firearrow_proto::wire::Op;
use firearrow_testkit::scripted::{Column, ScriptedServer, packet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

/// What a server answers when it is asked for the arrays of a relation.
#[derive(Clone)]
struct Catalog {
    columns: Vec<Column>,
    rows: Vec<u8>,
    is_endless: bool,
}

/// As the client expects it.
fn columns() -> Vec<Column> {
    let numbers = ["TYPE", "SUB_TYPE", "SCALE", "LENGTH", "CHARSET", "LOWER", "UPPER"];
    let names = [Column::varchar("NAME", 252)];
    names.into_iter().chain(numbers.map(Column::integer)).collect()
}

/// A dimension of the array A of INTEGERs.
fn dimension(upper: i32) -> Vec<u8> {
    let name = varying(b"A");
    let numbers = [8, 0, 0, 4, 0, 1, upper].map(i32::to_be_bytes);
    let values: Vec<&[u8]> = [&name[..]].into_iter().chain(numbers.iter().map(|n| &n[..])).collect();
    packet::row(&packed(0, &values))
}

/// Reads an array column of a server with this catalog, whose arrays do not end; the error, and whether the connection has
/// failed.
fn fails(catalog: Catalog) -> (ScriptedServer, Error, bool) {
    // The statement that asks the catalog; a fetch may follow the last one.
    let question = AtomicU16::new(0);
    let catalog = Arc::new(catalog);
    let (server, connection) = attack(13, "", move |request, peer| match request.op {
        Op::PREPARE_STATEMENT => {
            let asks = request.sql.contains("RDB$FIELD_DIMENSIONS");
            if asks {
                let handle = if request.handle == 0xffff { peer.last_handle() } else { request.handle };
                question.store(handle, Ordering::Relaxed);
            }
            let description = match asks {
                true => packet::description(&catalog.columns, &[Column::varchar("RELATION", 252)]),
                false => packet::description(&[Column::array("A", "T")], &[]),
            };
            peer.says(&packet::response(0, &description))
        }
        Op::FETCH if request.handle == question.load(Ordering::Relaxed) => {
            if catalog.is_endless {
                peer.says(&catalog.rows.repeat(usize::from(request.count)))?;
                return peer.says(&packet::fetch_end(false));
            }
            peer.says(&[&catalog.rows[..], &packet::fetch_end(true)].concat())
        }
        Op::FETCH => {
            let row = packet::row(&packed(0, &[&9_u64.to_be_bytes()]));
            peer.says(&[row, packet::fetch_end(true)].concat())
        }
        Op::GET_SEGMENT => peer.says(&packet::response(0, &packet::segment(&[0; 60_000]))),
        _ => peer.behaves(request),
    });
    let (bytes, error) = peak(|| match connection.query("SELECT a FROM t") {
        Ok(cursor) => read(cursor).1.expect_err("the server lies"),
        Err(error) => error,
    });
    assert!(bytes < 24 << 20, "{bytes} bytes: {error}");
    let is_failed = connection.is_failed();
    (server, error, is_failed)
}

#[test]
fn one_that_is_longer_than_declared_ends_the_connection() {
    let catalog = Catalog { columns: columns(), rows: dimension(20_000), is_endless: false };
    let (server, error, is_failed) = fails(catalog);
    assert_eq!(error.kind(), Kind::Protocol, "{error}");
    let text = error.to_string();
    assert!(text.contains("column 1 (\"A\"), row 0") && text.contains("more than the 80040 bytes"), "{text}");
    assert!(is_failed);
    assert!(server.sent() < 1 << 20, "{} bytes were taken", server.sent());
}

#[test]
fn a_catalog_with_other_types_is_an_error() {
    let number = packet::row(&packed(0, &[&[0, 0, 0, 7]]));
    let mut swapped = columns();
    swapped.swap(0, 1);
    let name = varying(b"A");
    let values = [&8_i32.to_be_bytes()[..], &name, &[0; 24]];
    for (columns, rows) in [
        (vec![Column::integer("N")], number),
        (swapped, packet::row(&packed(0, &values))),
        // NULL in place of everything, and of the bounds alone.
        (columns(), packet::row(&packed(0xff, &[]))),
        (columns(), packet::row(&packed(0b1100_0000, &[&name, &[0; 20]]))),
    ] {
        let (_server, error, _) = fails(Catalog { columns, rows, is_endless: false });
        assert_eq!(error.kind(), Kind::Protocol, "{error}");
    }
}

#[test]
fn a_catalog_with_dimensions_without_end_is_an_error() {
    let catalog = Catalog { columns: columns(), rows: dimension(2), is_endless: true };
    let (_server, error, _) = fails(catalog);
    assert_eq!(error.kind(), Kind::Protocol, "{error}");
    assert!(error.to_string().contains("more arrays in T than there can be"), "{error}");
}
