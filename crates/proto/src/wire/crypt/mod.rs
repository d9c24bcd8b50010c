//! Wire encryption: which cipher to ask for, and the ciphers.
//!
//! Both directions use the same key and vector. Each has its own keystream, which runs over all bytes of the connection
//! regardless of packets. There is no integrity check: a byte changed in transit arrives changed.

mod arc4;
mod chacha;

use std::fmt;

/// The type of the keys that SRP logins produce, and so the only one that this client can use.
pub const KEY_TYPE: &str = "Symmetric";

/// The ciphers that this client supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CipherKind {
    /// ChaCha20 with a 64-bit counter.
    ChaCha64,
    /// ChaCha20 with a 32-bit counter: ends after 256 GB in one direction.
    ChaCha,
    /// RC4, the only cipher of Firebird 3. Barely better than plain text.
    Arc4,
}

impl CipherKind {
    /// All ciphers, in Firebird's order of preference.
    pub const ALL: [Self; 3] = [Self::ChaCha64, Self::ChaCha, Self::Arc4];

    /// The name used in packets and configuration files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ChaCha64 => "ChaCha64",
            Self::ChaCha => "ChaCha",
            Self::Arc4 => "Arc4",
        }
    }

    /// Whether it needs an initialization vector from the server.
    pub const fn needs_iv(self) -> bool {
        !matches!(self, Self::Arc4)
    }

    const fn accepts_iv(self, length: usize) -> bool {
        match self {
            Self::ChaCha64 => length == 8,
            Self::ChaCha => matches!(length, 12 | 16),
            Self::Arc4 => true,
        }
    }
}

/// One direction of an encrypted connection.
pub trait Cipher: Send {
    /// Encrypts or decrypts the next bytes of the stream in place. Leaves `data` unchanged on failure.
    fn apply(&mut self, data: &mut [u8]) -> Result<(), CryptError>;
}

impl fmt::Debug for dyn Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cipher")
    }
}

/// Starts a cipher; a connection needs two, one per direction. Ciphers without a vector ignore `iv`.
pub fn new_cipher(
    kind: CipherKind,
    session_key: &[u8],
    iv: Option<&[u8]>,
) -> Result<Box<dyn Cipher>, CryptError> {
    if session_key.is_empty() {
        return Err(CryptError::Key(0));
    }
    let iv = iv.unwrap_or_default();
    let wrong_iv = CryptError::Iv(kind, iv.len());
    Ok(match kind {
        CipherKind::ChaCha64 => Box::new(chacha::ChaCha64::new(session_key, iv).ok_or(wrong_iv)?),
        CipherKind::ChaCha => Box::new(chacha::ChaCha::new(session_key, iv).ok_or(wrong_iv)?),
        CipherKind::Arc4 => Box::new(arc4::Arc4::new(session_key)?),
    })
}

/// The server's offer for one type of key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyGroup {
    /// The type of the key, [`KEY_TYPE`] in all known servers.
    pub key_type: String,
    /// Names of the ciphers.
    pub plugins: Vec<String>,
    /// Initialization vectors by cipher name; from protocol 16 on.
    pub ivs: Vec<(String, Vec<u8>)>,
}

impl KeyGroup {
    /// A vector that the cipher can use.
    fn iv(&self, kind: CipherKind) -> Option<&[u8]> {
        let mut ivs = self.ivs.iter().filter(|(name, _)| name == kind.name()).map(|(_, iv)| iv.as_slice());
        ivs.find(|iv| kind.accepts_iv(iv.len()))
    }
}

/// The key block of an accept packet or of the response that ends authentication: clumplets of tag, length
/// (one byte each) and data.
///
/// | tag | data                                                                 |
/// |-----|----------------------------------------------------------------------|
/// | 0   | type of a key; begins a group                                        |
/// | 1   | names of the ciphers for it, separated by blanks                     |
/// | 2   | names of the server's authentication plugins; of no use here         |
/// | 3   | name of a cipher, a zero byte, its initialization vector             |
#[derive(Clone, Copy, Debug)]
pub struct KeyBlock;

impl KeyBlock {
    const KEY_TYPE: u8 = 0;
    const PLUGINS: u8 = 1;
    const PLUGIN_SPECIFIC: u8 = 3;

    /// Reads the groups of a key block; an empty block has none. Skips unknown tags.
    pub fn parse(mut bytes: &[u8]) -> Result<Vec<KeyGroup>, CryptError> {
        let mut groups: Vec<KeyGroup> = Vec::new();
        while let [tag, rest @ ..] = bytes {
            let (length, rest) = rest.split_first().ok_or(CryptError::KeyBlock("a length is missing"))?;
            let (data, rest) = rest
                .split_at_checked(usize::from(*length))
                .ok_or(CryptError::KeyBlock("a length exceeds the block"))?;
            bytes = rest;
            match *tag {
                Self::KEY_TYPE => groups.push(KeyGroup { key_type: text(data)?, ..KeyGroup::default() }),
                Self::PLUGINS => {
                    let names = text(data)?;
                    let names = names.split([' ', '\t', ',', ';']).filter(|name| !name.is_empty());
                    current(&mut groups)?.plugins.extend(names.map(str::to_owned));
                }
                Self::PLUGIN_SPECIFIC => {
                    let mut parts = data.splitn(2, |byte| *byte == 0);
                    let name = text(parts.next().unwrap_or_default())?;
                    let iv = parts.next().ok_or(CryptError::KeyBlock("a vector has no plugin name"))?;
                    current(&mut groups)?.ivs.push((name, iv.to_vec()));
                }
                _ => {}
            }
        }
        Ok(groups)
    }
}

fn current(groups: &mut [KeyGroup]) -> Result<&mut KeyGroup, CryptError> {
    groups.last_mut().ok_or(CryptError::KeyBlock("plugins come before the type of their key"))
}

fn text(bytes: &[u8]) -> Result<String, CryptError> {
    match str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(CryptError::KeyBlock("a name is not UTF-8")),
    }
}

/// The cipher to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The cipher; its name is the plugin of `op_crypt`.
    pub kind: CipherKind,
    /// The type of key; the key name of `op_crypt`.
    pub key_type: String,
    /// The initialization vector, for ciphers that need one.
    pub iv: Option<Vec<u8>>,
}

/// Chooses the first cipher of `preference` that the server offers for a [`KEY_TYPE`] key, with a usable vector if it
/// needs one.
///
/// Servers list ChaCha in every protocol version but send vectors only from 16 on (`protocol_has_iv`); before that,
/// only Arc4 can work.
pub fn choose(groups: &[KeyGroup], protocol_has_iv: bool, preference: &[CipherKind]) -> Option<Choice> {
    preference.iter().find_map(|&kind| {
        let mut offers = groups.iter().filter(|group| {
            group.key_type == KEY_TYPE && group.plugins.iter().any(|plugin| plugin == kind.name())
        });
        offers.find_map(|group| {
            let iv = match kind.needs_iv() {
                true if protocol_has_iv => Some(group.iv(kind)?.to_vec()),
                true => return None,
                false => None,
            };
            Some(Choice { kind, key_type: group.key_type.clone(), iv })
        })
    })
}

/// Why encryption failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CryptError {
    /// No cipher accepts a key of this length.
    #[error("a session key of {0} bytes cannot be used")]
    Key(usize),
    /// The initialization vector for a cipher is missing (0) or of the wrong length.
    #[error("{}", wrong_iv(*.0, *.1))]
    Iv(CipherKind, usize),
    /// The keystream has ended; only a new connection has more.
    #[error("the cipher's keystream has ended; reconnect, with ChaCha64 if the server has it")]
    Exhausted,
    /// The server's key block is malformed in this way.
    #[error("malformed key block from the server: {0}")]
    KeyBlock(&'static str),
}

fn wrong_iv(kind: CipherKind, length: usize) -> String {
    match length {
        0 => format!("the server sent no initialization vector for {}", kind.name()),
        _ => format!("the initialization vector for {} has {length} bytes", kind.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The session key of the first SRP vector.
    const KEY: &str = "A01851D9FA5A0D2726C83C6390647227517D0F15";

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).expect("ASCII"));
        digits.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
    }

    fn group(plugins: &[&str], ivs: &[(&str, usize)]) -> KeyGroup {
        KeyGroup {
            key_type: KEY_TYPE.into(),
            plugins: plugins.iter().map(|&plugin| plugin.into()).collect(),
            ivs: ivs.iter().map(|(plugin, length)| ((*plugin).into(), vec![7; *length])).collect(),
        }
    }

    #[test]
    fn keystreams() {
        for (kind, iv, expected) in [
            (
                CipherKind::ChaCha,
                Some("000102030405060708090A0B00000000"),
                "5BC486AC0C8A76EDAAE9A89B2E7881940D647FB3651598FAE1DEA61AB004D33E",
            ),
            (
                CipherKind::ChaCha64,
                Some("0001020304050607"),
                "56A1F5E8A284E972A30A40369DBCD4169745A349F81B33A51EF01D9BEE042B5D",
            ),
            (CipherKind::Arc4, None, "18987EF738C6E90F75239544D86A55814C52AE215C902B49EDBA8E057B9801C4"),
        ] {
            let iv = iv.map(bytes);
            let mut cipher = new_cipher(kind, &bytes(KEY), iv.as_deref()).expect("good parameters");
            let mut data = [0; 32];
            cipher.apply(&mut data).expect("far from the end");
            assert_eq!(data[..], bytes(expected), "{kind:?}");
        }
    }

    /// The key block, the client's choice and the first encrypted answer of recorded handshakes.
    #[test]
    fn decrypts_recorded_connections() {
        for (block, has_iv, kind, key, answer) in RECORDED {
            let groups = KeyBlock::parse(&bytes(block)).expect("well-formed");
            let choice = choose(&groups, has_iv, &[kind]).expect("offered");
            assert_eq!((choice.kind, choice.key_type.as_str()), (kind, KEY_TYPE));
            let mut cipher = new_cipher(kind, &bytes(key), choice.iv.as_deref()).expect("good parameters");
            let mut answer = bytes(answer);
            cipher.apply(&mut answer).expect("far from the end");
            assert_eq!(answer, bytes(PLAIN_RESPONSE), "{kind:?}");
        }
    }

    /// An `op_response` without object or data; its status vector is `isc_arg_gds 0`, end.
    const PLAIN_RESPONSE: &str = "0000000900000000000000000000000000000000000000010000000000000000";

    const RECORDED: [(&str, bool, CipherKind, &str, &str); 3] = [
        (
            "\
             000953796D6D65747269630114436861436861363420436861436861204172633403114368614368613634008A8F\
             5C3961A2AA62031743686143686100A4CC93A590644DCE931B060C00000000",
            true,
            CipherKind::ChaCha64,
            "218AE59690B61C0C7A6DBC343FE2DBBF1A91FEDF",
            "E0EE9C2CD11E6A3A2C98A6B16C74F02F8DC9239EBF78C4FCAFFF7B1AC9436BCF",
        ),
        (
            "\
             000953796D6D6574726963011443686143686136342043686143686120417263340311436861436861363400BD75\
             B4089A188B790317436861436861009501D8E5874615DCDE0638AA00000000",
            true,
            CipherKind::ChaCha,
            "824AA00EEF969CE755228D1C6AAE0B744075AE2F",
            "439EA1980C6CBD2692F16A6350EB7B593990F0171D7FEBB32926E2E4404A9102",
        ),
        (
            "000953796D6D6574726963010441726334",
            false,
            CipherKind::Arc4,
            "32BE3CE4CE937E7B29F5200580A93CEF8F0A7B71",
            "1919F8AB7043C97883905242562B87D4CD87CC667C79D5CB458AF7061E565FD7",
        ),
    ];

    #[test]
    fn reads_key_blocks() {
        let ivs = [&[3, 12][..], b"ChaCha64\0\x01\0\x02", &[3, 7], b"ChaCha\0"].concat();
        let block = [b"\x02\x03Srp\x00\x09Symmetric\x01\x0dChaCha64 Arc4\x09\x02??", ivs.as_slice()].concat();
        let expected = KeyGroup {
            ivs: vec![("ChaCha64".into(), vec![1, 0, 2]), ("ChaCha".into(), vec![])],
            ..group(&["ChaCha64", "Arc4"], &[])
        };
        assert_eq!(KeyBlock::parse(&block), Ok(vec![expected]));
        assert_eq!(KeyBlock::parse(b""), Ok(vec![]));
        assert_eq!(KeyBlock::parse(b"\0\0\0\x01x").map(|groups| groups.len()), Ok(2));
        for bad in
            [&b"\0"[..], b"\0\x02x", b"\x01\x04Arc4", b"\x03\x02x\0", b"\0\x01x\x03\x01y", b"\0\x01\xff"]
        {
            assert!(matches!(KeyBlock::parse(bad), Err(CryptError::KeyBlock(_))), "{bad:?}");
        }
    }

    #[test]
    fn chooses_by_preference_among_what_works() {
        use CipherKind::{Arc4, ChaCha, ChaCha64};
        let all = group(&["Arc4", "ChaCha", "ChaCha64"], &[("ChaCha", 16), ("ChaCha64", 8)]);
        let chosen = |group: &KeyGroup, has_iv, preference: &[CipherKind]| {
            choose(std::slice::from_ref(group), has_iv, preference).map(|choice| choice.kind)
        };
        assert_eq!(chosen(&all, true, &CipherKind::ALL), Some(ChaCha64));
        assert_eq!(chosen(&all, true, &[ChaCha, ChaCha64]), Some(ChaCha));
        assert_eq!(chosen(&all, false, &CipherKind::ALL), Some(Arc4));
        assert_eq!(chosen(&all, false, &[ChaCha64, ChaCha]), None);
        assert_eq!(chosen(&all, true, &[]), None);

        let wrong_length = group(&["ChaCha64", "ChaCha", "Arc4"], &[("ChaCha64", 12), ("ChaCha", 12)]);
        assert_eq!(chosen(&wrong_length, true, &CipherKind::ALL), Some(ChaCha));
        let unlisted = group(&["Arc4"], &[("ChaCha64", 8)]);
        assert_eq!(chosen(&unlisted, true, &CipherKind::ALL), Some(Arc4));
        let other = KeyGroup { key_type: "Other".into(), ..all };
        assert_eq!(chosen(&other, true, &CipherKind::ALL), None);
    }

    #[test]
    fn bad_parameters_are_errors() {
        for (kind, key, iv, error) in [
            (CipherKind::ChaCha64, 20, None, CryptError::Iv(CipherKind::ChaCha64, 0)),
            (CipherKind::ChaCha, 20, Some(8), CryptError::Iv(CipherKind::ChaCha, 8)),
            (CipherKind::ChaCha, 0, Some(16), CryptError::Key(0)),
            (CipherKind::Arc4, 257, None, CryptError::Key(257)),
        ] {
            let iv: Option<Vec<u8>> = iv.map(|length| vec![0; length]);
            assert_eq!(new_cipher(kind, &vec![1; key], iv.as_deref()).map(drop), Err(error));
        }
    }

    proptest! {
        #[test]
        fn any_key_block_is_read_or_refused(block in prop::collection::vec(0..5_u8, 0..64)) {
            if let Ok(groups) = KeyBlock::parse(&block) {
                choose(&groups, true, &CipherKind::ALL);
            }
        }
    }
}
