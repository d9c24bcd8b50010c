//! Reads recorded conversations; see `tests/data/transcripts/README.md`.

use firearrow_proto::wire::ProtocolVersion;
use firearrow_proto::wire::xdr::Reader;

/// One recorded conversation and the inputs of its client.
#[derive(Debug)]
pub(crate) struct Transcript {
    pub(crate) name: &'static str,
    pub(crate) version: ProtocolVersion,
    /// The versions that the client offered.
    pub(crate) offered: Vec<ProtocolVersion>,
    pub(crate) database: String,
    pub(crate) user: String,
    pub(crate) password: String,
    /// Plugin whose data were in `op_connect`.
    pub(crate) plugin: String,
    pub(crate) encrypted: bool,
    pub(crate) private_key: Vec<u8>,
    pub(crate) turns: Vec<Turn>,
}

/// The client's bytes up to a read, and the answer. The last answer may be empty.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    pub(crate) client: Vec<u8>,
    pub(crate) server: Vec<u8>,
}

/// Lists the recordings. Their texts are compiled in, because the fuzzer is built in another folder.
macro_rules! recordings {
    ($($name:literal),+ $(,)?) => {
        /// Every recording.
        pub(crate) const NAMES: [&str; [$($name),+].len()] = [$($name),+];

        const TEXTS: [&str; NAMES.len()] =
            [$(include_str!(concat!("../data/transcripts/", $name, ".txt"))),+];
    };
}

recordings![
    "batch-error-p17",
    "batch-error-p19",
    "crypt-arc4-p15",
    "crypt-chacha-p19",
    "crypt-chacha64-p17",
    "describe-truncated-p19",
    "describe-types-p19",
    "errors-p15",
    "errors-p19",
    "fetch-nulls-p19",
    "handshake-p13",
    "handshake-p15",
    "handshake-p17",
    "handshake-p19",
    "handshake-p19-contauth",
    "inline-blob-p19",
    "params-types-p19",
];

impl Transcript {
    pub(crate) fn load(name: &'static str) -> Self {
        let place = NAMES.iter().position(|each| *each == name);
        let text = TEXTS[place.unwrap_or_else(|| panic!("no recording {name}"))];
        let between = |before: &str, after: &str| {
            let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{name}: no {before:?}"));
            rest.split(after).next().unwrap_or_default().to_owned()
        };
        let number = between("negotiated protocol: ", ";").parse().expect("a number");
        let turns = turns(text);
        Self {
            name,
            version: ProtocolVersion::new(number).expect("a version that this crate supports"),
            offered: offered(&turns[0].client),
            database: between("database name ", " "),
            user: between("user ", ","),
            password: between("password ", ";"),
            plugin: between("plugin offered first: ", ","),
            encrypted: !text.contains("wire encryption off"),
            private_key: unhex(&between("SRP private key a (hex): ", "\n")),
            turns,
        }
    }
}

/// The versions in an `op_connect`; not all headers name them.
fn offered(connect: &[u8]) -> Vec<ProtocolVersion> {
    let mut reader = Reader::new(&connect[16..]);
    let _database = reader.cstr("database", 255).expect("a path");
    let count = reader.short().expect("a number of versions");
    (13..13 + count).filter_map(ProtocolVersion::new).collect()
}

fn turns(text: &str) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for line in text.lines() {
        if let Some(hex) = line.strip_prefix("> ") {
            if turns.last().is_none_or(|turn| !turn.server.is_empty()) {
                turns.push(Turn::default());
            }
            turns.last_mut().expect("just pushed").client.extend(unhex(hex));
        } else if let Some(hex) = line.strip_prefix("< ") {
            turns.last_mut().expect("the client speaks first").server.extend(unhex(hex));
        } else {
            assert!(line.starts_with('#'), "neither bytes nor a comment: {line:?}");
        }
    }
    turns
}

/// Decodes hexadecimal digits; skips anything else.
pub(crate) fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|digit| u8::try_from(digit).expect("a nibble"))
        .collect();
    assert!(digits.len().is_multiple_of(2), "half a byte in {text:?}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn every_recording_is_listed_and_reads_well() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transcripts");
    let mut found: Vec<String> = std::fs::read_dir(folder)
        .expect("the recordings")
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".txt").map(str::to_owned))
        .collect();
    found.sort();
    assert_eq!(found, NAMES);
    for name in NAMES {
        let transcript = Transcript::load(name);
        assert!(name.contains(&format!("-p{}", transcript.version)), "{name}: {}", transcript.version);
        assert_eq!(transcript.private_key.len(), 32);
        let (last, others) = transcript.turns.split_last().expect("turns");
        assert!(last.server.is_empty() && others.iter().all(|turn| !turn.server.is_empty()), "{name}");
    }
}
