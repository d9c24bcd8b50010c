//! Rows and their terminators: valid answers to a fetch or to the execution of a singleton.

use crate::player::{Player, Said, Value};
use crate::script::{self, SUCCESS, ok, packets, response, version};
use firearrow_proto::api::gds;
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::statement::{ExecuteOptions, ExecuteSingleton, Fetch, Parameters};
use firearrow_proto::wire::{Limits, Op, ProtocolError, Ticket};
use std::sync::Arc;

pub(crate) fn format(kinds: &[FieldKind]) -> Arc<PackedFormat> {
    let layout = RowLayout::new(kinds.iter().map(|&kind| FieldLayout::plain(kind)));
    Arc::new(PackedFormat::new(Arc::new(layout)))
}

/// INTEGER, VARCHAR(8).
pub(crate) fn number_and_text() -> Arc<PackedFormat> {
    format(&[FieldKind::Long, FieldKind::Varying(8)])
}

pub(crate) fn fetch(player: &mut Player, output: &Arc<PackedFormat>) -> Ticket {
    let request = Fetch { statement: 1, output: Arc::clone(output), first: true, rows: u16::MAX };
    player.send(&request).expect("an attached connection")
}

fn singleton(player: &mut Player) -> Ticket {
    let request = ExecuteSingleton {
        statement: 1,
        transaction: 1,
        parameters: Parameters::default(),
        output: number_and_text(),
        options: ExecuteOptions::default(),
    };
    player.send(&request).expect("an attached connection")
}

fn attached() -> Player {
    script::attached(version(19), Limits::default())
}

/// A row of [`number_and_text`]; no text is NULL.
pub(crate) fn row(number: i32, text: Option<&str>) -> Vec<u8> {
    packets(|out| {
        out.bytes(&[if text.is_none() { 2 } else { 0 }, 0, 0, 0]);
        out.word(number.cast_unsigned());
        if let Some(text) = text {
            out.cstr(text.as_bytes());
        }
    })
}

/// `op_fetch_response` without its row.
pub(crate) fn fetch_response(status: u32, messages: u32) -> Vec<u8> {
    packets(|out| {
        out.op(Op::FETCH_RESPONSE);
        out.word(status);
        out.word(messages);
    })
}

pub(crate) fn fetched(number: i32, text: Option<&str>) -> Vec<u8> {
    [fetch_response(0, 1), row(number, text)].concat()
}

fn sql_response(messages: u32) -> Vec<u8> {
    packets(|out| {
        out.op(Op::SQL_RESPONSE);
        out.word(messages);
    })
}

fn failure(code: i32) -> Vec<u8> {
    response(0, &[], &[1, code.cast_unsigned(), 0])
}

fn inline_blob(id: u64) -> Vec<u8> {
    packets(|out| {
        out.op(Op::INLINE_BLOB);
        out.short(1);
        out.quad(id);
        out.cstr(b"\x01");
        out.cstr(b"\x02\x00hi");
    })
}

fn said_row(ticket: Ticket, number: i64, text: Option<&str>) -> Said {
    Said::Row(ticket, vec![Value::Int(number), text.map_or(Value::Null, Value::text)])
}

/// One line per event.
fn summary(player: &Player) -> Vec<String> {
    let line = |said: &Said| match said {
        Said::Response(_, response) if response.status.is_error() => "error".into(),
        Said::Response(..) => "ok".into(),
        Said::Row(_, values) => format!("row {:?}", values[0]),
        Said::FetchEnd(_, cursor_end) => format!("end {cursor_end}"),
        Said::InlineBlob { id, .. } => format!("blob {id}"),
        other => panic!("{other:?}"),
    };
    player.said.iter().map(line).collect()
}

#[test]
fn a_singleton_returns_its_row_then_its_answer() {
    let mut player = attached();
    let (first, second) = (singleton(&mut player), player.send(&Ping).expect("attached"));
    let stream = [sql_response(1), row(7, Some("abc")), response(3, &[], &SUCCESS), ok(&[])].concat();
    player.read(&stream).expect("good packets");
    assert_eq!(player.said[0], said_row(first, 7, Some("abc")));
    assert!(
        matches!(&player.said[1], Said::Response(ticket, response) if *ticket == first && response.object == 3)
    );
    assert!(matches!(&player.said[2], Said::Response(ticket, _) if *ticket == second));
    assert_eq!((player.said.len(), player.connection.pending()), (3, 0));
    assert_eq!(player.connection.stats().packets_received, 2 + 3);
}

#[test]
fn a_singleton_may_have_no_row_or_fail_early_or_late() {
    for (stream, expected) in [
        (vec![sql_response(0), ok(&[])], &["ok"][..]),
        (vec![sql_response(0), failure(gds::ISC_STREAM_EOF)], &["error"]),
        (vec![failure(gds::ISC_UNPREPARED_STMT)], &["error"]),
        (vec![inline_blob(5), sql_response(1), row(1, None), ok(&[])], &["blob 5", "row Int(1)", "ok"]),
    ] {
        let stream = stream.concat();
        for cut in 0..=stream.len() {
            let mut player = attached();
            let _ticket = singleton(&mut player);
            player.read(&stream[..cut]).expect("good packets");
            player.read(&stream[cut..]).expect("good packets");
            assert_eq!(summary(&player), expected, "cut at {cut}");
            assert_eq!(player.connection.pending(), 0);
        }
    }
}

#[test]
fn a_singleton_has_one_row() {
    let mut player = attached();
    let _ticket = singleton(&mut player);
    player.read(&[sql_response(1), row(1, None)].concat()).expect("good packets");
    let error = player.read(&sql_response(1)).expect_err("a second row");
    assert_eq!(error, ProtocolError::UnexpectedPacket { op: Op::SQL_RESPONSE, waiting_for: "op_response" });
    player.assert_failed(&error);
    let mut player = attached();
    let _ticket = singleton(&mut player);
    assert!(matches!(player.read(&sql_response(2)), Err(ProtocolError::InvalidMessage(_))));
}

#[test]
fn terminators_separate_several_fetches_in_flight() {
    let mut player = attached();
    let output = number_and_text();
    let tickets = [fetch(&mut player, &output), fetch(&mut player, &output), fetch(&mut player, &output)];
    let stream = [
        fetched(1, Some("one")),
        fetched(2, None),
        fetch_response(0, 0),
        fetched(3, Some("")),
        fetch_response(100, 0),
        failure(gds::ISC_REQ_SYNC),
    ];
    player.read(&stream.concat()).expect("good packets");
    let expected = [
        said_row(tickets[0], 1, Some("one")),
        said_row(tickets[0], 2, None),
        Said::FetchEnd(tickets[0], false),
        said_row(tickets[1], 3, Some("")),
        Said::FetchEnd(tickets[1], true),
    ];
    assert_eq!(player.said[..5], expected);
    assert!(matches!(&player.said[5..], [Said::Response(ticket, _)] if *ticket == tickets[2]));
}

#[test]
fn rows_before_an_error_count() {
    let mut player = attached();
    let ticket = fetch(&mut player, &number_and_text());
    player
        .read(&[fetched(1, None), fetched(2, None), failure(gds::ISC_ARITH_EXCEPT)].concat())
        .expect("good packets");
    assert_eq!(summary(&player), ["row Int(1)", "row Int(2)", "error"]);
    assert!(matches!(&player.said[2], Said::Response(failed, _) if *failed == ticket));
    assert_eq!(player.connection.pending(), 0);
    // The same if the stream is invalid instead: complete rows are delivered first.
    let mut player = attached();
    let _ticket = fetch(&mut player, &number_and_text());
    let error =
        player.read(&[fetched(1, None), fetch_response(0, 7)].concat()).expect_err("seven rows at once");
    assert_eq!(summary(&player), ["row Int(1)"]);
    player.assert_failed(&error);
}

#[test]
fn keep_alive_and_inline_blobs_come_between_rows() {
    let dummy = packets(|out| out.op(Op::DUMMY));
    let mut player = attached();
    let _ticket = fetch(&mut player, &number_and_text());
    let stream = [fetched(1, None), dummy.clone(), inline_blob(9), inline_blob(10), dummy, fetched(2, None)];
    player.read(&stream.concat()).expect("good packets");
    player.read(&fetch_response(100, 0)).expect("a good packet");
    assert_eq!(summary(&player), ["row Int(1)", "blob 9", "blob 10", "row Int(2)", "end true"]);
}

#[test]
fn answers_are_whole_and_have_contents() {
    let dummy = packets(|out| out.op(Op::DUMMY));
    let mut player = attached();
    let _ticket = fetch(&mut player, &number_and_text());
    let before = player.connection.answers();
    let row = fetched(1, None);
    let (part, rest) = row.split_at(row.len() - 1);
    for bytes in [&dummy[..], &dummy.repeat(1000), part] {
        player.read(bytes).expect("good packets");
        assert_eq!(player.connection.answers(), before);
    }
    player.read(rest).expect("a row");
    assert_eq!(player.connection.answers(), before + 1);
    player.read(&inline_blob(9)).expect("a BLOB");
    assert_eq!(player.connection.answers(), before + 2);
    player.read(&fetch_response(100, 0)).expect("the end");
    assert_eq!(player.connection.answers(), before + 3);
}

#[test]
fn terminators_are_exact() {
    for (status, messages) in [(100, 1), (0, 2), (1, 0), (101, 0), (0, 0x8000)] {
        let mut player = attached();
        let _ticket = fetch(&mut player, &number_and_text());
        let error = player.read(&fetch_response(status, messages)).expect_err("no such terminator");
        assert!(matches!(error, ProtocolError::InvalidMessage(_)), "({status}, {messages}): {error}");
    }
    // The upper half of a 16-bit word is ignored.
    let mut player = attached();
    let _ticket = fetch(&mut player, &number_and_text());
    player.read(&fetch_response(100, 0xffff_0000)).expect("no rows");
    assert_eq!(summary(&player), ["end true"]);
}

#[test]
fn lengths_of_texts_are_16_bit_numbers_however_they_are_extended() {
    let output = format(&[FieldKind::Varying(65533)]);
    for (word, length) in [(255, 255), (256, 256), (32_765, 32_765), (0xffff_8000, 32_768), (0x7fff_0003, 3)]
    {
        let text = vec![b'x'; length];
        let mut player = attached();
        let _ticket = fetch(&mut player, &output);
        let row = packets(|out| {
            out.word(0);
            out.word(word);
            out.raw(&text);
        });
        player.read(&[fetch_response(0, 1), row, fetch_response(100, 0)].concat()).expect("good packets");
        assert!(
            matches!(&player.said[0], Said::Row(_, values) if values[..] == [Value::Bytes(text)]),
            "{word:#x}"
        );
        assert_eq!(player.said.len(), 2);
    }
    // One byte beyond the declaration is too much.
    let mut player = attached();
    let _ticket = fetch(&mut player, &number_and_text());
    assert!(player.read(&fetched(1, Some("12345678"))).is_ok());
    assert!(matches!(player.read(&fetched(1, Some("123456789"))), Err(ProtocolError::InvalidMessage(_))));
}

#[test]
fn rows_answer_only_a_request_for_rows() {
    let unexpected = |op, waiting_for| Err(ProtocolError::UnexpectedPacket { op, waiting_for });
    let mut player = attached();
    assert_eq!(player.read(&fetch_response(0, 0)), unexpected(Op::FETCH_RESPONSE, "nothing"));
    for (packet, op) in [
        (fetch_response(0, 1), Op::FETCH_RESPONSE),
        (sql_response(0), Op::SQL_RESPONSE),
        (inline_blob(1), Op::INLINE_BLOB),
        (packets(|out| out.op(Op::BATCH_CS)), Op::BATCH_CS),
    ] {
        let mut player = attached();
        let _ticket = player.send(&Ping).expect("attached");
        assert_eq!(player.read(&packet), unexpected(op, "op_response"));
    }
    let mut player = attached();
    let _ticket = singleton(&mut player);
    assert_eq!(player.read(&fetch_response(0, 1)), unexpected(Op::FETCH_RESPONSE, "op_sql_response"));
    let mut player = attached();
    let _ticket = fetch(&mut player, &number_and_text());
    assert_eq!(player.read(&sql_response(1)), unexpected(Op::SQL_RESPONSE, "op_fetch_response"));
}

#[test]
fn rows_of_null_only_columns_and_wide_bitmaps_are_read() {
    // Nine columns need a bitmap of two bytes, 33 one of five: both are padded to words.
    for columns in [9, 33] {
        let output = format(&vec![FieldKind::Short; columns]);
        let mut player = attached();
        let _ticket = fetch(&mut player, &output);
        let nulls = |last: bool| {
            packets(|out| {
                let mut bitmap = vec![0xff; columns.div_ceil(8)];
                if !last {
                    bitmap[(columns - 1) / 8] &= !(1 << ((columns - 1) % 8));
                }
                out.raw(&bitmap);
                if !last {
                    out.word(0xffff_fffe);
                }
            })
        };
        let stream =
            [fetch_response(0, 1), nulls(false), fetch_response(0, 1), nulls(true), fetch_response(0, 0)];
        player.read(&stream.concat()).expect("good packets");
        let [Said::Row(_, first), Said::Row(_, second), Said::FetchEnd(..)] = &player.said[..] else {
            panic!("{:?}", player.said);
        };
        assert_eq!((first[columns - 1].clone(), second[columns - 1].clone()), (Value::Int(-2), Value::Null));
        assert!(first[..columns - 1].iter().chain(second).all(|value| *value == Value::Null));
    }
}
