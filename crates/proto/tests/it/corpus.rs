//! Runs the bodies of the fuzz targets on all inputs kept so far: seeds made from the recordings, inputs that the
//! fuzzer found to reach new code (`fuzz/corpus/`), and former crashes (`fuzz/regressions/`).
//!
//! `cargo test -p firearrow-proto --test it -- --ignored write_fuzz_seeds` writes the seeds for the fuzzer.

use crate::bodies;
use crate::sessions::Session;
use crate::transcript::{NAMES, Transcript};
use firearrow_proto::api::event::event_block;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::xdr::Reader;
use firearrow_proto::wire::{Limits, Op};
use std::path::{Path, PathBuf};

/// A fuzz target: its body and its seeds.
struct Target {
    name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
}

const TARGETS: [Target; 12] = [
    Target { name: "array", run: bodies::array::run, seeds: noise },
    Target { name: "auth_data", run: bodies::auth_data::run, seeds: auth_data },
    Target { name: "completion", run: bodies::completion::run, seeds: noise },
    Target { name: "connection", run: bodies::connection::run, seeds: connection },
    Target { name: "decfloat", run: bodies::decfloat::run, seeds: decfloat },
    Target { name: "event", run: bodies::event::run, seeds: event },
    Target { name: "info", run: bodies::info::run, seeds: info },
    Target { name: "packed_row", run: bodies::packed_row::run, seeds: packed_row },
    Target { name: "packet", run: bodies::packet::run, seeds: packet },
    Target { name: "session", run: bodies::session::run, seeds: session },
    Target { name: "status", run: bodies::status::run, seeds: status },
    Target { name: "xdr", run: bodies::xdr::run, seeds: xdr },
];

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The inputs of a target and their names.
fn inputs(target: &Target) -> Vec<(String, Vec<u8>)> {
    let seeds = (target.seeds)().into_iter().enumerate();
    let mut inputs: Vec<_> = seeds.map(|(number, seed)| (format!("seed {number}"), seed)).collect();
    for kind in ["corpus", "regressions"] {
        let folder = fuzz_folder().join(kind).join(target.name);
        // Git keeps no empty folders: a target without crashes has none.
        for file in std::fs::read_dir(folder).into_iter().flatten() {
            let path = file.expect("a file").path();
            let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            inputs.push((path.display().to_string(), bytes));
        }
    }
    inputs
}

#[test]
fn every_kept_input_is_handled() {
    for target in &TARGETS {
        let inputs = inputs(target);
        assert!(inputs.len() > 1, "{}: nothing to run", target.name);
        for (name, bytes) in inputs {
            let done = std::panic::catch_unwind(|| (target.run)(&bytes));
            assert!(done.is_ok(), "fuzz target {}, {name}", target.name);
        }
    }
}

#[test]
fn the_targets_here_are_those_of_the_fuzzer() {
    let mut files: Vec<String> = std::fs::read_dir(fuzz_folder().join("fuzz_targets"))
        .expect("the fuzz targets")
        .map(|file| file.expect("a file").path().file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert_eq!(files, TARGETS.each_ref().map(|target| target.name));
}

#[test]
#[ignore = "writes files for the fuzzer"]
fn write_fuzz_seeds() {
    for target in &TARGETS {
        let folder = fuzz_folder().join("corpus").join(target.name);
        std::fs::create_dir_all(&folder).expect("a writable folder");
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number:02}")), seed).expect("a writable folder");
        }
    }
}

/// The bytes of the recorded servers, turn by turn, in plain text.
fn answers() -> Vec<Vec<u8>> {
    let plain = NAMES.into_iter().map(Transcript::load).filter(|transcript| !transcript.encrypted);
    plain
        .flat_map(|transcript| transcript.turns)
        .map(|turn| turn.server)
        .filter(|bytes| !bytes.is_empty())
        .collect()
}

fn distinct(mut seeds: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    seeds.sort();
    seeds.dedup();
    seeds
}

/// Bytes that look random, for bodies that can use any bytes.
fn noise() -> Vec<Vec<u8>> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    (1..=200).map(|length| (0..length).flat_map(|_| next()).collect()).collect()
}

fn event() -> Vec<Vec<u8>> {
    let block = event_block([("new order", 4), ("ä", 0), ("", 77)]);
    let packet = [&b"\0\0\0\x34\0\0\0\0\0\0\0\x07\x01\x01a\x02\0\0\0\0"[..], &[0; 11], &[7]].concat();
    let twice = [&packet[..], &[0, 0, 0, 71], &packet, &[0, 0, 0, 6]].concat();
    let mut seeds = vec![block, packet, twice, vec![2, 0, 0x0b, 0xea, 127, 0, 0, 1]];
    seeds.extend(noise().into_iter().take(30));
    seeds
}

/// The responses at the start of the answers, and the bytes of each after its operation word.
fn responses() -> Vec<(Response, Vec<u8>)> {
    let mut found = Vec::new();
    for answer in answers() {
        let mut reader = Reader::new(&answer);
        while reader.op() == Ok(Op::RESPONSE) {
            let start = reader.position();
            let Ok(response) = Response::decode(&mut reader, &Limits::default()) else { break };
            found.push((response, answer[start..reader.position()].to_vec()));
        }
    }
    found
}

fn xdr() -> Vec<Vec<u8>> {
    let short = answers().into_iter().filter(|answer| answer.len() < 200);
    distinct(short.map(|answer| [&[3; 8], &answer[..]].concat()).collect())
}

fn packet() -> Vec<Vec<u8>> {
    let with = |choice: u8, bytes: &[u8]| [&[choice], bytes].concat();
    let mut seeds: Vec<Vec<u8>> = responses().iter().map(|(_, bytes)| with(0, bytes)).collect();
    seeds.retain(|seed| seed.len() < 300);
    // Status vectors follow object, id and data.
    seeds.extend(
        responses()
            .iter()
            .filter(|(response, _)| response.data.is_empty())
            .map(|(_, all)| with(1, &all[16..])),
    );
    for answer in answers() {
        let choice = match answer[3] {
            3 => 4,
            94 => 5,
            92 => 7,
            _ => continue,
        };
        seeds.push(with(choice, &answer[4..]));
    }
    for op in [Op::BATCH_CS, Op::INLINE_BLOB] {
        let choice = if op == Op::BATCH_CS { 2 } else { 3 };
        for answer in answers() {
            let place = answer.windows(4).position(|word| word == op.0.to_be_bytes());
            seeds.extend(place.map(|place| with(choice, &answer[place + 4..])));
        }
    }
    seeds.extend([
        with(8, b"\0\0\0\x04key?\0\0\0\x20"),
        with(9, b"\0\0\0\0"),
        with(11, &[0; 8]),
        with(12, &[0; 4]),
        with(13, b"\0\0\0\x34\0\0\0\0\0\0\0\x07\x01\x01a\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x07"),
    ]);
    distinct(seeds)
}

/// The index of each type of the recorded table in the list of the body.
const KINDS: [&[u8]; 24] = [
    &[3],
    &[2],
    &[3],
    &[4],
    &[3],
    &[4],
    &[6],
    &[7],
    &[10],
    &[11],
    &[12],
    &[0, 40],
    &[1, 40],
    &[0, 5],
    &[1, 5],
    &[17],
    &[18],
    &[1, 40],
    &[5],
    &[5],
    &[8],
    &[9],
    &[13],
    &[15],
];

fn packed_row() -> Vec<Vec<u8>> {
    let answer = Transcript::load("fetch-nulls-p19").turns.swap_remove(4).server;
    let row = [0, 0, 0, 66, 0, 0, 0, 0, 0, 0, 0, 1];
    let rows = answer.windows(row.len()).enumerate().filter(|(_, window)| *window == row);
    let head = [&[24][..], &KINDS.concat()].concat();
    let mut seeds: Vec<Vec<u8>> = rows.map(|(at, _)| [&head, &answer[at + row.len()..]].concat()).collect();
    seeds.push([&[3, 2, 1, 10, 14][..], &[0; 40]].concat());
    distinct(seeds)
}

fn info() -> Vec<Vec<u8>> {
    let descriptions =
        responses().into_iter().map(|(response, _)| response.data).filter(|data| !data.is_empty());
    let mut seeds: Vec<Vec<u8>> = descriptions.collect();
    let cut = Session::load("describe-truncated-p19").play(crate::player::Delivery::whole());
    let cut: Vec<&[u8]> = cut.responses()[2..4].iter().map(|response| &response.data[..]).collect();
    seeds.push(cut.join(&b"\xffnext\xff"[..]));
    seeds.push(b"\x03LI-\x05V5.0.\x00".to_vec());
    distinct(seeds)
}

/// Each recording with damage of some kinds.
fn session() -> Vec<Vec<u8>> {
    let noise: Vec<Vec<u8>> = noise().into_iter().skip(4).step_by(12).take(8).collect();
    (0..NAMES.len() as u8)
        .flat_map(|recording| noise.iter().map(move |damage| [&[recording, 0][..], damage].concat()))
        .collect()
}

fn status() -> Vec<Vec<u8>> {
    let vectors = responses().into_iter().filter(|(response, _)| response.data.is_empty());
    let mut seeds: Vec<Vec<u8>> = vectors.map(|(_, bytes)| bytes[16..].to_vec()).collect();
    seeds.push(
        b"\0\0\0\x01\x14\0\x01\x3a\0\0\0\x13\0\0\0\x0542S02\0\0\0\0\0\0\x07\0\0\0\x02\0\0\0\0".to_vec(),
    );
    seeds.push(b"\x14\0\x01\x59INDEX|TABLE|@1".to_vec());
    distinct(seeds)
}

fn auth_data() -> Vec<Vec<u8>> {
    let accepted = answers().into_iter().filter(|answer| answer[3] == 94).take(5);
    // After the operation word: version, architecture, type, then a length and salt and key.
    let mut seeds: Vec<Vec<u8>> =
        accepted.zip(0_u8..).map(|(answer, plugin)| [&[plugin], &answer[20..20 + 324]].concat()).collect();
    for name in ["crypt-arc4-p15", "crypt-chacha-p19", "crypt-chacha64-p17"] {
        let ended = &Transcript::load(name).turns[1].server;
        let response =
            Response::decode(&mut Reader::new(&ended[4..]), &Limits::default()).expect("a recorded answer");
        seeds.extend([[&[6], &response.data[..]].concat(), [&[7], &response.data[..]].concat()]);
    }
    seeds.extend(
        ["sysdba", "\"Mixed \"\"Case\"", "'it''s'", "\"open"]
            .map(|login| [b"\x08", login.as_bytes()].concat()),
    );
    distinct(seeds)
}

fn connection() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for name in NAMES {
        let session = Session::load(name);
        // Options: some plugins, encryption disabled or enabled. Then the bytes of the server, as received.
        let mut seed = vec![if session.transcript.encrypted { 0b1110 } else { 0b0110 }];
        for (number, turn) in session.transcript.turns.iter().enumerate() {
            if number >= session.handshake {
                seed.extend([7, 0, 0, 7, 1, 3]); // a ping and a fetch, answered or not
            }
            seed.push(9);
            for piece in turn.server.chunks(200) {
                seed.extend([0, piece.len() as u8]);
                seed.extend(piece);
            }
        }
        seed.truncate(3000);
        seeds.push(seed);
    }
    // Bytes that choose packets rather than carry them.
    seeds.push((0..=255).collect());
    seeds.push((0..600_u32).map(|number| (number * 7 % 61) as u8).collect());
    distinct(seeds)
}

fn decfloat() -> Vec<Vec<u8>> {
    let texts =
        ["1.5", "-0", "1E+400", "NaN42", "-Infinity", "12345678901234567890123456789012.34", "0E-6176"];
    let mut seeds: Vec<Vec<u8>> = texts.map(|text| text.as_bytes().to_vec()).into();
    for bits in [0x2234_0000_0000_0015_u64, 0x77fc_ff3f_cff3_fcff, 0x7c00_0000_0000_00a5] {
        seeds.push([bits.to_be_bytes(), bits.to_be_bytes()].concat());
    }
    seeds
}
