//! Everything that a peer could make grow is bounded, and memory stays within the bounds.

use crate::memory;
use crate::player::{Player, Said};
use crate::rows::{fetch, fetch_response, fetched, format, number_and_text};
use crate::script::{self, Auth, COMPRESS, LAZY, Server, accept, accept_auth, ok, packets, version};
use firearrow_proto::api::info::statement::RECORDS;
use firearrow_proto::api::layout::FieldKind;
use firearrow_proto::wire::compress::Deflate;
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::packet::attach::Ping;
use firearrow_proto::wire::packet::blob::GetSegment;
use firearrow_proto::wire::packet::info::{InfoDatabase, InfoSql};
use firearrow_proto::wire::packet::statement::Fetch;
use firearrow_proto::wire::packet::{Answer, Request};
use firearrow_proto::wire::xdr::Writer;
use firearrow_proto::wire::{Limits, Op, ProtocolError, ProtocolVersion};

/// Limits far below the buffers of a connection, so that tests reach the limits first.
fn small() -> Limits {
    Limits {
        response_data: 5000,
        status_text: 500,
        status_args: 64,
        row: 4000,
        inline_blob: 3000,
        ..Limits::default()
    }
}

fn attached(limits: Limits) -> Player {
    script::attached(version(19), limits)
}

struct RunBatch;

impl Request for RunBatch {
    const OP: Op = Op::BATCH_EXEC;

    fn encode(&self, _: ProtocolVersion, _: &mut Writer<'_>) {}

    fn answer(&self) -> Answer {
        Answer::Completion
    }
}

#[track_caller]
fn too_long(result: Result<(), ProtocolError>, field: &str, announced: u64) {
    match result {
        Err(ProtocolError::TooLong { what, length, .. }) => assert_eq!((what, length), (field, announced)),
        other => panic!("{field}: {other:?}"),
    }
}

/// Lengths of 2 GB are refused on arrival, not when the buffer is full.
#[test]
fn huge_lengths_are_refused_before_their_bytes_arrive() {
    const HUGE: u32 = 0x7fff_fffc;
    let huge = u64::from(HUGE);
    let response = |words: &[u32]| {
        packets(|out| {
            out.op(Op::RESPONSE);
            words.iter().for_each(|word| out.word(*word));
        })
    };
    for (what, packet) in [
        ("response data", response(&[0, 0, 0, HUGE])),
        ("status text", response(&[0, 0, 0, 0, 1, 335_544_569, 2, HUGE])),
        ("status text", response(&[0, 0, 0, 0, 5, HUGE])),
        ("status text", response(&[0, 0, 0, 0, 19, HUGE])),
    ] {
        let mut player = attached(Limits::default());
        let _ticket = player.send(&Ping).expect("attached");
        too_long(player.read(&packet), what, huge);
        let error = player.connection.failure().expect("a failure").clone();
        player.assert_failed(&error);
    }
    let blob = |words: &[u32]| {
        packets(|out| {
            out.op(Op::INLINE_BLOB);
            words.iter().for_each(|word| out.word(*word));
        })
    };
    for (what, packet) in
        [("inline BLOB info", blob(&[1, 0, 1, HUGE])), ("inline BLOB", blob(&[1, 0, 1, 0, HUGE]))]
    {
        let mut player = attached(Limits::default());
        let _ticket = fetch(&mut player, &number_and_text());
        too_long(player.read(&packet), what, huge);
    }
    for at in 0..4 {
        let accepted = packets(|out| {
            out.bytes(&accept(19, LAZY));
            for part in 0..4 {
                // The third field is not a string.
                out.word(if part == at && part != 2 { HUGE } else { 0 });
            }
        });
        let mut accepted = accepted;
        accepted[3] = Op::COND_ACCEPT.0 as u8;
        let mut server = Server::listen(script::options(), Limits::default());
        let what = ["authentication data", "plugin name", "", "key block"][at];
        if at != 2 {
            too_long(server.says(&accepted), what, huge);
        }
    }
}

/// A length whose upper half is all ones is a 16-bit number (a rule of the protocol), not 4 GB.
#[test]
fn sign_extended_lengths_are_short() {
    let mut player = attached(Limits::default());
    let _ticket = player.send(&Ping).expect("attached");
    let mut answer = ok(b"abcd");
    answer[16..18].fill(0xff);
    player.read(&answer).expect("four bytes");
    assert_eq!(player.said.len(), 1);
}

#[test]
fn announced_data_within_the_limit_costs_nothing_until_it_arrives() {
    let limits = Limits { response_data: 64 << 20, ..Limits::default() };
    let mut player = attached(limits);
    let question = InfoDatabase { object: 0, items: &[1], buffer_length: 64 << 20 };
    let _ticket = player.send(&question).expect("attached");
    let mut announced = ok(&[]);
    announced.truncate(20);
    announced[16..].copy_from_slice(&(64_u32 << 20).to_be_bytes());
    let (peak, result) = memory::peak(|| player.read(&announced));
    assert_eq!(result, Ok(()));
    assert!(peak < 1 << 20, "{peak} bytes");
}

#[test]
fn a_packet_that_never_ends_is_cut_off() {
    // Within the limits of each text and of the number of arguments, but never finished.
    let endless = |words: &[u32]| {
        let mut player = attached(small());
        let _ticket = player.send(&Ping).expect("attached");
        player
            .read(&packets(|out| {
                out.op(Op::RESPONSE);
                out.quad(0);
                out.quad(0);
            }))
            .expect("the beginning of an answer");
        let piece = packets(|out| words.iter().for_each(|word| out.word(*word)));
        let (peak, error) = memory::peak(|| (0..1_000_000).find_map(|_| player.read(&piece).err()));
        assert!(peak < 2 << 20, "{peak} bytes");
        let error = error.expect("an end");
        player.assert_failed(&error);
        error
    };
    for (words, field) in [
        (&[1, 335_544_569][..], "status vector"),
        (&[4, 1], "status vector"),
        (&[18, 335_544_808], "status vector"),
        (&[1, 0], "status vector"), // success, repeated
        (&[2, 0], "status vector"),
    ] {
        too_long(Err(endless(words)), field, 65);
    }
    let text = [&[2, 400][..], &[0x4141_4141; 100]].concat();
    too_long(Err(endless(&text)), "status texts", 5200);
}

/// Completion states begin with their sizes; no memory is reserved for them.
#[test]
fn completion_counts_reserve_no_memory() {
    let completion = |counts: [u32; 4]| {
        packets(|out| {
            out.op(Op::BATCH_CS);
            out.word(1);
            counts.iter().for_each(|count| out.word(*count));
        })
    };
    let mut player = attached(Limits::default());
    let _ticket = player.send(&RunBatch).expect("attached");
    let (peak, result) = memory::peak(|| player.read(&completion([u32::MAX, u32::MAX, 0, 0])));
    assert_eq!((result, player.said.len()), (Ok(()), 0));
    assert!(peak < 1 << 20, "{peak} bytes");
    for counts in [[4, 3, 0, 0], [4, 0, 5, 0], [4, 4, 2, 3], [0, 0, u32::MAX, u32::MAX]] {
        let mut player = attached(Limits::default());
        let _ticket = player.send(&RunBatch).expect("attached");
        let error = player.read(&completion(counts)).expect_err("counts that do not add up");
        assert!(matches!(error, ProtocolError::InvalidMessage(_)), "{counts:?}: {error}");
    }
}

/// A long list of counts arrives in many reads and must not be scanned on each of them.
#[test]
fn counts_are_not_read_before_all_have_arrived() {
    let mut player = attached(Limits::default());
    let _ticket = player.send(&RunBatch).expect("attached");
    let records = 10_000;
    let answer = packets(|out| {
        out.op(Op::BATCH_CS);
        [1, records, records, 0, 0].into_iter().for_each(|word| out.word(word));
        (0..records).for_each(|_| out.word(1));
    });
    let (last, front) = answer.split_last().expect("bytes");
    player.read(front).expect("half a packet");
    let (peak, result) = memory::peak(|| player.connection.next_event().map(|event| event.is_some()));
    assert_eq!((peak, result), (0, Ok(false)));
    player.read(&[*last]).expect("the other half");
    assert!(
        matches!(&player.said[..], [Said::Completion(_, completion)] if completion.updates.len() == 10_000)
    );
}

#[test]
fn endless_keep_alive_packets_take_no_memory() {
    let mut player = attached(Limits::default());
    let dummies = packets(|out| (0..16_384).for_each(|_| out.op(Op::DUMMY)));
    let (peak, ()) = memory::peak(|| {
        for _ in 0..500 {
            player.read(&dummies).expect("good packets");
        }
    });
    assert_eq!(player.connection.stats().packets_received, 2 + 500 * 16_384);
    assert!(peak < 1 << 20, "{peak} bytes for {} received", 500 * dummies.len());
}

#[test]
fn endless_rows_come_in_events_of_bounded_size() {
    let limits = Limits { rows_per_event: 100, ..Limits::default() };
    let mut player = attached(limits);
    let _ticket = fetch(&mut player, &number_and_text());
    let rows = fetched(7, Some("text")).repeat(2000);
    let (peak, ()) = memory::peak(|| {
        for _ in 0..32 {
            player.read(&rows).expect("good packets");
            assert_eq!(player.said.len(), 2000);
            player.said.clear();
        }
    });
    assert_eq!(player.largest_event, 100);
    assert_eq!(player.connection.pending(), 1, "the fetch is not answered before its terminator");
    // The list of events takes most of it.
    assert!(peak < 2 << 20, "{peak} bytes for {} received", 32 * rows.len());
}

/// Each fetch has its own count, whatever the others left.
#[test]
fn more_rows_than_requested_end_the_connection() {
    for per_event in [2, 8192] {
        let mut player = attached(Limits { rows_per_event: per_event, ..Limits::default() });
        let request = |rows| Fetch { statement: 1, output: number_and_text(), first: true, rows };
        let _first = player.send(&request(3)).expect("attached");
        let _second = player.send(&request(5)).expect("attached");
        // The first answer is short, which is legal.
        let good = [fetched(1, None), fetched(2, None), fetch_response(0, 0)].concat();
        player.read(&good).expect("good packets");
        player.read(&fetched(3, None).repeat(5)).expect("good packets");
        player.said.clear();
        let error = player.read(&fetched(8, None)).expect_err("the sixth of five rows");
        assert_eq!(error, ProtocolError::InvalidMessage("more rows than op_fetch asked for".into()));
        assert!(player.said.is_empty(), "{:?}", player.said);
        player.assert_failed(&error);
    }
}

/// A caller that needs rows would repeat the fetch, and never wait longer than for one answer.
#[test]
fn a_fetch_gives_rows_or_ends_the_cursor() {
    let mut player = attached(Limits::default());
    let fetch = Fetch { statement: 1, output: number_and_text(), first: true, rows: 3 };
    let _first = player.send(&fetch).expect("attached");
    let _second = player.send(&fetch).expect("attached");
    player.read(&[fetched(1, None), fetch_response(0, 0)].concat()).expect("one row");
    let error = player.read(&fetch_response(0, 0)).expect_err("neither rows nor the end");
    let text = "a fetch that gives no rows and does not end the cursor";
    assert_eq!(error, ProtocolError::InvalidMessage(text.into()));
    player.assert_failed(&error);
}

/// The requested rows are delivered before the extra one is reported.
#[test]
fn good_rows_come_before_the_extra_one() {
    let mut player = attached(Limits::default());
    let fetch = Fetch { statement: 1, output: number_and_text(), first: true, rows: 3 };
    let _ticket = player.send(&fetch).expect("attached");
    player.read(&fetched(7, None).repeat(4)).expect_err("the fourth of three rows");
    assert_eq!(player.said.len(), 3);
}

/// The request bounds the data of its answer.
#[test]
fn more_data_than_requested_are_refused_when_announced() {
    fn refused(request: &impl Request, most: usize) {
        for (length, is_good) in [(most, true), (most + 1, false)] {
            let mut player = attached(Limits::default());
            let _ticket = player.send(request).expect("attached");
            let answer = ok(&vec![0; length]);
            if is_good {
                player.read(&answer).expect("as long as it may be");
                assert_eq!(player.said.len(), 1);
            } else {
                too_long(player.read(&answer[..20]), "response data", length as u64);
            }
        }
    }
    refused(&InfoSql { object: 1, items: &[RECORDS], buffer_length: 128 }, 128);
    refused(&GetSegment { blob: 1 }, 65535);
    refused(&Ping, 65535);
}

#[test]
fn an_event_has_at_least_one_row() {
    let mut player = attached(Limits { rows_per_event: 0, ..Limits::default() });
    let _ticket = fetch(&mut player, &number_and_text());
    player
        .read(&[fetched(1, None), fetched(2, None), fetch_response(100, 0)].concat())
        .expect("good packets");
    assert_eq!((player.said.len(), player.largest_event), (3, 1));
}

#[test]
fn a_row_beyond_its_limit_is_refused_however_it_arrives() {
    // Declared for more than the limit of 4000 bytes; the first row is within it, the second is not.
    let output = format(&[FieldKind::Varying(3000), FieldKind::Varying(3000)]);
    let row = |first: usize, second: usize| {
        packets(|out| {
            out.bytes(&fetch_response(0, 1));
            out.word(0);
            out.cstr(&vec![b'x'; first]);
            out.cstr(&vec![b'y'; second]);
        })
    };
    let stream = [row(1900, 2000), row(10, 20), row(2000, 2100)].concat();
    for piece in [1, 700, 4096, usize::MAX] {
        let mut player = attached(small());
        let _ticket = fetch(&mut player, &output);
        let result = stream.chunks(piece).try_for_each(|piece| player.read(piece));
        assert!(
            matches!(result, Err(ProtocolError::TooLong { what: "row", .. })),
            "pieces of {piece}: {result:?}"
        );
        assert_eq!(player.said.len(), 2, "pieces of {piece}");
    }
}

/// The bound on packets follows the largest limit.
#[test]
fn a_large_limit_of_one_kind_does_not_depend_on_the_others() {
    let tight = Limits { response_data: 1000, row: 1000, inline_blob: 1000, ..Limits::default() };
    let blob = packets(|out| {
        out.op(Op::INLINE_BLOB);
        out.short(1);
        out.quad(1);
        out.cstr(&[]);
        out.cstr(&vec![b'x'; 200_000]);
    });
    let answer = ok(&vec![b'x'; 200_000]);
    for (limits, packet, is_blob) in [
        (Limits { inline_blob: 200_000, ..tight }, blob, true),
        (Limits { response_data: 200_000, ..tight }, answer, false),
    ] {
        let mut player = attached(limits);
        let _ticket = match is_blob {
            true => fetch(&mut player, &number_and_text()),
            false => {
                let question = InfoDatabase { object: 0, items: &[1], buffer_length: 200_000 };
                player.send(&question).expect("attached")
            }
        };
        packet.chunks(10_000).try_for_each(|piece| player.read(piece)).expect("within its limit");
        assert_eq!(player.said.len(), 1);
    }
}

/// Rows that are declared long but are short: none is too long, however many the buffer holds.
#[test]
fn many_short_rows_of_a_long_declaration_are_fine() {
    let output = format(&[FieldKind::Varying(30_000)]);
    let row = packets(|out| {
        out.bytes(&fetch_response(0, 1));
        out.word(0);
        out.cstr(b"short");
    });
    let mut player = attached(small());
    let _ticket = fetch(&mut player, &output);
    player.read(&row.repeat(2000)).expect("short rows");
    assert_eq!(player.said.len(), 2000);
}

#[test]
fn wide_rows_of_nulls_cost_no_more_than_their_positions() {
    // The worst ratio of memory to bytes: a bit on the wire becomes a position of four bytes.
    let columns = 32_767;
    let output = format(&vec![FieldKind::Long; columns]);
    let row = [fetch_response(0, 1), vec![0xff; columns.div_ceil(8).next_multiple_of(4)]].concat();
    let stream = row.repeat(20);
    let mut player = attached(Limits::default());
    let request = Fetch { statement: 1, output, first: true, rows: 20 };
    let _ticket = player.connection.send(&request).expect("attached");
    player.written().expect("it can be written");
    let (peak, rows) = memory::peak(|| {
        let mut left = stream.as_slice();
        while !left.is_empty() {
            let space = player.connection.space().expect("a working connection");
            let (piece, rest) = left.split_at(space.len().min(left.len()));
            space[..piece.len()].copy_from_slice(piece);
            player.connection.received(piece.len()).expect("good packets");
            left = rest;
        }
        match player.connection.next_event() {
            Ok(Some(firearrow_proto::wire::Event::Rows { rows, .. })) => rows.rows,
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(rows, 20);
    // The list of positions doubles as it grows.
    assert!(peak < 3 * 4 * columns * 20 + (1 << 20), "{peak} bytes");
}

#[test]
fn a_decompression_bomb_goes_off_in_small_pieces() {
    let mut server =
        Server::listen(ConnectOptions { compress: true, ..script::options() }, Limits::default());
    server.says(&accept(19, LAZY | COMPRESS)).expect("a good packet");
    server.start_compression();
    server.says(&ok(&[])).expect("a good packet");
    // Keep-alive packets: 64 MB of them are little on the wire.
    let dummies = packets(|out| (0..1 << 24).for_each(|_| out.op(Op::DUMMY)));
    let bomb = server.transformed(&dummies);
    assert!(bomb.len() < 400_000, "{} bytes", bomb.len());
    let (peak, result) = memory::peak(|| server.client.read(&bomb));
    assert_eq!(result, Ok(()));
    assert_eq!(server.client.connection.stats().packets_received, 2 + (1 << 24));
    assert!(peak < 2 << 20, "{peak} bytes");
}

/// Reads without ever taking an event, until the connection fails.
fn read_without_listening(player: &mut Player, wire: &[u8]) -> ProtocolError {
    let (peak, error) = memory::peak(|| {
        wire.chunks(500).cycle().take(100_000).find_map(|piece| {
            let space = match player.connection.space() {
                Ok(space) => space,
                Err(error) => return Some(error),
            };
            space[..piece.len()].copy_from_slice(piece);
            player.connection.received(piece.len()).err()
        })
    });
    assert!(peak < 3 << 20, "{peak} bytes");
    error.expect("a limit")
}

#[test]
fn input_is_bounded_even_if_no_events_are_taken() {
    let limits = Limits { response_data: 100_000, row: 100_000, ..Limits::default() };
    let mut player = attached(limits);
    let error = read_without_listening(&mut player, &[0; 5000]);
    assert!(matches!(error, ProtocolError::TooLong { what: "packet", .. }), "{error}");
    player.assert_failed(&error);

    let mut server = Server::listen(ConnectOptions { compress: true, ..script::options() }, limits);
    server.says(&accept(19, LAZY | COMPRESS)).expect("a good packet");
    let mut wire = Vec::new();
    Deflate::new().append(&vec![0; 1 << 26], &mut wire).expect("a working compressor");
    let error = read_without_listening(&mut server.client, &wire);
    assert!(matches!(error, ProtocolError::TooLong { what: "packet", .. }), "{error}");
    server.client.assert_failed(&error);
}

#[test]
fn accepted_authentication_data_are_bounded() {
    let limits = Limits { auth_data: 1000, ..Limits::default() };
    let data = vec![b'x'; 1001];
    for (what, auth) in [
        ("authentication data", Auth { data: &data, ..Auth::default() }),
        ("plugin name", Auth { plugin: &"x".repeat(256), ..Auth::default() }),
        ("key block", Auth { keys: &data, ..Auth::default() }),
    ] {
        let mut server = Server::listen(script::options(), limits);
        let result = server.says(&accept_auth(Op::COND_ACCEPT, 19, LAZY, auth));
        assert!(
            matches!(&result, Err(ProtocolError::TooLong { what: field, .. }) if *field == what),
            "{result:?}"
        );
    }
}
