//! Answers to the client's own questions.

use crate::{attack, packed, varying};
use firearrow::Kind;
use firearrow_proto::wire::Op;
use firearrow_testkit::scripted::{Column, packet};

/// What [`firearrow::Connection::info`] makes of this answer to its question.
fn info(columns: Vec<Column>, rows: Vec<u8>) -> Result<firearrow::ServerInfo, firearrow::Error> {
    let (_server, connection) = attack(13, "", move |request, peer| match request.op {
        Op::PREPARE_STATEMENT => peer.says(&packet::response(0, &packet::description(&columns, &[]))),
        Op::FETCH => peer.says(&[&rows[..], &packet::fetch_end(true)].concat()),
        _ => peer.behaves(request),
    });
    connection.info()
}

#[test]
fn facts_of_another_type_are_an_error() {
    let texts = || ["A", "B", "C", "D"].map(|name| Column::varchar(name, 63)).to_vec();
    let text = varying(b"5.0.4");
    let good = packet::row(&packed(0b1110, &[&text]));
    assert_eq!(info(texts(), good.clone()).expect("good facts").engine_version, "5.0.4");
    let number = packet::row(&packed(0, &[&[0, 0, 0, 7]]));
    let mut mixed = texts();
    mixed[3] = Column::integer("N");
    let cut = texts()[..2].to_vec();
    for (columns, rows) in
        [(vec![Column::integer("N")], number), (mixed, good.clone()), (cut, good), (texts(), Vec::new())]
    {
        let error = info(columns, rows).expect_err("the server lies");
        assert_eq!(error.kind(), Kind::Protocol, "{error}");
    }
}

/// A description may be continued forever, as long as each part has one more column.
#[test]
fn names_of_columns_are_bounded() {
    let (server, connection) = attack(13, "", |request, peer| match request.op {
        Op::PREPARE_STATEMENT | Op::INFO_SQL => {
            let index = request.items.get(2..4).map_or(1, |at| u16::from_le_bytes([at[0], at[1]]));
            let index = if request.op == Op::INFO_SQL { index } else { 1 };
            let mut info = Vec::new();
            if request.op == Op::PREPARE_STATEMENT {
                packet::number(&mut info, 21, 1);
                packet::number(&mut info, 27, 1);
                info.push(5);
                packet::number(&mut info, 7, 0);
            }
            info.push(4);
            packet::number(&mut info, 7, 30_000);
            packet::number(&mut info, 9, index.into());
            packet::number(&mut info, 11, 496);
            packet::number(&mut info, 14, 4);
            packet::item_of(&mut info, 16, &[b'x'; 60_000]);
            info.extend([8, 2]); // the end of a variable, then truncated
            peer.says(&packet::response(0, &info))
        }
        _ => peer.behaves(request),
    });
    let error = connection.query("SELECT * FROM t").expect_err("no names are that long");
    assert_eq!(error.kind(), Kind::Protocol, "{error}");
    assert!(error.to_string().contains("names of more than"), "{error}");
    assert!(server.sent() < 20 << 20, "{} bytes were taken", server.sent());
}
