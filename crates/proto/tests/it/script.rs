//! A scripted server, for conversations that no recording contains.

use crate::player::Player;
use crate::transcript::unhex;
use firearrow_proto::api::pb::Dpb;
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::compress::{Deflate, Inflate};
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::crypt::{Cipher, CipherKind, new_cipher};
use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::xdr::{Reader, Writer};
use firearrow_proto::wire::{Limits, Op, ProtocolError, ProtocolVersion};

/// SRP vector 1 of an independent implementation: user SYSDBA, password masterkey.
pub(crate) mod vector {
    pub(crate) const PRIVATE: &str = "81B80B6607F3BF1BCA92E889C0FBF3586903B835108AA4486903844496DCF845";
    pub(crate) const SALT: &str = "2D545132C4D27A380212226752FCDDC5DC006032DABF22A4AFD143324233B177";
    pub(crate) const CLIENT_KEY: &str = "\
        16389470634B8E9A676062F2EFDCC2E32D0EBED914D7BF132D1B0FEDC141A64FB875D8939A4D3918772D38B5EA77D5AD\
        395A54B77872C7DCCBCC2A13EA9426C1BBA8D6C6F8C97A4942E63C2EDA48A0FF72EF5E862DEC6684209055D8A78AB238\
        FFA614B1135A757F3108FFEF395CC34DE32003943C292CC50FC559096F06856";
    pub(crate) const SERVER_KEY: &str = "\
        8F30ECA4A179C935A903DAE4DDFB404F3B1318F0FEF5D37E524E78E8E6F014ECBF9B7FC19F366459D0B266FBB5AF00FF\
        A1C7D7C51CC41310D94D6F1DFC8BDF8CE88037015872D8B8CB7419EA4C1611ED3FA5A2A0F3F8F617B07AEA6C74EAC851\
        AE0A69EA7C390E1BF7F586C3D5A46A52747BDFAD47D8D5EC4832CDA4CA99EC70";
    pub(crate) const SESSION_KEY: &str = "A01851D9FA5A0D2726C83C6390647227517D0F15";
    pub(crate) const SRP_PROOF: &str = "4BD58E78174F495A66149C2AC5077610934F5017";
    pub(crate) const SRP256_PROOF: &str = "88DE86381011396EC67F66948E02D7A5A3506CE118296B62666AB841ABBEC2B4";
}

/// Salt and public key of the vector as a server sends them.
pub(crate) fn server_data() -> Vec<u8> {
    let counted = |text: &str| [&(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
    [counted(vector::SALT), counted(vector::SERVER_KEY)].concat()
}

/// Options of a client that plays against the vector.
pub(crate) fn options() -> ConnectOptions {
    ConnectOptions {
        database: "test.fdb".into(),
        create: false,
        login: "sysdba".into(),
        password: "masterkey".into(),
        auth_plugins: vec![AuthPlugin::Srp256, AuthPlugin::Srp],
        wire_crypt: WireCrypt::Enabled,
        ciphers: ConnectOptions::DEFAULT_CIPHERS.to_vec(),
        // Many scripts test something else and omit the proof.
        allow_no_authentication: true,
        compress: false,
        versions: ConnectOptions::default_versions(),
        os_user: "tester".into(),
        host_name: "client".into(),
        dpb: Dpb::new(),
        srp_private: unhex(vector::PRIVATE),
    }
}

pub(crate) fn version(number: u16) -> ProtocolVersion {
    ProtocolVersion::new(number).expect("a version that this crate supports")
}

/// The server's end of a connection, with the stages it has switched on.
pub(crate) struct Server {
    pub(crate) client: Player,
    /// Everything that the client has written, plain.
    pub(crate) heard: Vec<u8>,
    deflate: Option<Deflate>,
    inflate: Option<Inflate>,
    ciphers: Option<[Box<dyn Cipher>; 2]>,
}

impl Server {
    /// A connection whose `op_connect` has arrived.
    pub(crate) fn listen(options: ConnectOptions, limits: Limits) -> Self {
        let client = Player::open(options, limits).expect("good options");
        let mut server = Self { client, heard: Vec::new(), deflate: None, inflate: None, ciphers: None };
        let connect = server.hears();
        assert!(connect.starts_with(&Op::CONNECT.0.to_be_bytes()));
        server
    }

    /// Sends packets, and lets the client read all of them at once.
    pub(crate) fn says(&mut self, packets: &[u8]) -> Result<(), ProtocolError> {
        let wire = self.transformed(packets);
        self.client.read(&wire)
    }

    /// Packets in wire form.
    pub(crate) fn transformed(&mut self, packets: &[u8]) -> Vec<u8> {
        let mut wire = Vec::new();
        match &mut self.deflate {
            Some(deflate) => deflate.append(packets, &mut wire).expect("a working compressor"),
            None => wire.extend_from_slice(packets),
        }
        if let Some([_, out]) = &mut self.ciphers {
            out.apply(&mut wire).expect("an endless keystream");
        }
        wire
    }

    /// What the client has written since the last call, plain.
    pub(crate) fn hears(&mut self) -> Vec<u8> {
        let mut wire = self.client.written().expect("a working connection");
        if let Some([input, _]) = &mut self.ciphers {
            input.apply(&mut wire).expect("an endless keystream");
        }
        let plain = match &mut self.inflate {
            Some(inflate) => {
                let mut plain = Vec::new();
                let progress = inflate.append(&wire, &mut plain, 1 << 20).expect("a good stream");
                assert_eq!(progress.used, wire.len());
                plain
            }
            None => wire,
        };
        self.heard.extend_from_slice(&plain);
        plain
    }

    pub(crate) fn start_compression(&mut self) {
        self.deflate = Some(Deflate::new());
        self.inflate = Some(Inflate::new());
    }

    /// Encrypts with the session key of the vector.
    pub(crate) fn start_encryption(&mut self, kind: CipherKind, iv: &[u8]) {
        let key = unhex(vector::SESSION_KEY);
        self.ciphers = Some([(); 2].map(|()| new_cipher(kind, &key, Some(iv)).expect("a good vector")));
    }
}

/// Bytes of packets.
pub(crate) fn packets(build: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    build(&mut Writer::new(&mut bytes));
    bytes
}

/// Lazy send, the packet type that this crate requests.
pub(crate) const LAZY: u16 = 5;
/// Added to the type: compression starts after this packet.
pub(crate) const COMPRESS: u16 = 0x100;

/// `op_accept`.
pub(crate) fn accept(number: u16, kind: u16) -> Vec<u8> {
    packets(|out| {
        out.op(Op::ACCEPT);
        // Real servers send these 16 bits sign-extended.
        out.word(0xffff_8000 | u32::from(number));
        out.word(1);
        out.short(kind);
    })
}

/// The authentication part of an answer to `op_connect`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Auth<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) plugin: &'a str,
    pub(crate) authenticated: bool,
    pub(crate) keys: &'a [u8],
}

/// `op_accept_data` or `op_cond_accept`.
pub(crate) fn accept_auth(op: Op, number: u16, kind: u16, auth: Auth<'_>) -> Vec<u8> {
    let mut bytes = accept(number, kind);
    bytes[..4].copy_from_slice(&op.0.to_be_bytes());
    bytes.extend(packets(|out| {
        out.cstr(auth.data);
        out.cstr(auth.plugin.as_bytes());
        out.short(auth.authenticated.into());
        out.cstr(auth.keys);
    }));
    bytes
}

/// `op_cont_auth`.
pub(crate) fn cont_auth(data: &[u8], plugin: &str) -> Vec<u8> {
    packets(|out| {
        out.op(Op::CONT_AUTH);
        for part in [data, plugin.as_bytes(), &[], &[]] {
            out.cstr(part);
        }
    })
}

/// `op_response` with these words as status vector.
pub(crate) fn response(object: u16, data: &[u8], status: &[u32]) -> Vec<u8> {
    packets(|out| {
        out.op(Op::RESPONSE);
        out.short(object);
        out.quad(0);
        out.cstr(data);
        for &word in status {
            out.word(word);
        }
    })
}

/// Success as a status vector.
pub(crate) const SUCCESS: [u32; 3] = [1, 0, 0];

/// `op_response` without an error.
pub(crate) fn ok(data: &[u8]) -> Vec<u8> {
    response(0, data, &SUCCESS)
}

/// The key block of a server with these ciphers and vectors.
pub(crate) fn keys(ciphers: &str, ivs: &[(&str, &[u8])]) -> Vec<u8> {
    let mut block = vec![0, 9];
    block.extend(b"Symmetric");
    block.extend([1, ciphers.len() as u8]);
    block.extend(ciphers.as_bytes());
    for (name, iv) in ivs {
        block.extend([3, (name.len() + 1 + iv.len()) as u8]);
        block.extend(name.as_bytes());
        block.push(0);
        block.extend(*iv);
    }
    block
}

pub(crate) fn listen(change: impl FnOnce(&mut ConnectOptions)) -> Server {
    let mut options = options();
    change(&mut options);
    Server::listen(options, Limits::default())
}

pub(crate) fn cond_accept(plugin: &str) -> Vec<u8> {
    accept_auth(Op::COND_ACCEPT, 19, LAZY, Auth { data: &server_data(), plugin, ..Auth::default() })
}

pub(crate) fn heard_attach(server: &mut Server) -> Vec<(u8, Vec<u8>)> {
    let bytes = server.hears();
    let mut reader = Reader::new(&bytes);
    assert_eq!((reader.op(), reader.short()), (Ok(Op::ATTACH), Ok(0)));
    assert_eq!(reader.cstr("path", 255), Ok(&b"test.fdb"[..]));
    let (form, mut rest) = reader.cstr("DPB", 10_000).expect("a DPB").split_first().expect("a version");
    assert_eq!(*form, 2, "the wide form");
    let mut items = Vec::new();
    while let [tag, a, b, c, d, tail @ ..] = rest {
        let (value, tail) = tail.split_at(u32::from_le_bytes([*a, *b, *c, *d]) as usize);
        items.push((*tag, value.to_vec()));
        rest = tail;
    }
    items
}

#[track_caller]
pub(crate) fn assert_no_proof(heard: &[u8]) {
    for proof in [vector::SRP_PROOF, vector::SRP256_PROOF, "QP3LMZ/MJh."] {
        assert!(!heard.windows(proof.len()).any(|window| window == proof.as_bytes()), "{proof} was sent");
    }
}

/// An attached connection at minimal cost: the key is tiny and there is no proof.
pub(crate) fn attached(version: ProtocolVersion, limits: Limits) -> Player {
    let mut private = vec![0; 32];
    private[31] = 7;
    let options = ConnectOptions { srp_private: private, wire_crypt: WireCrypt::Disabled, ..options() };
    let mut server = Server::listen(options, limits);
    let auth = Auth { authenticated: true, ..Auth::default() };
    let accepted = accept_auth(Op::ACCEPT_DATA, version.number(), LAZY, auth);
    server.says(&accepted).expect("a good packet");
    assert!(server.hears().starts_with(&Op::ATTACH.0.to_be_bytes()));
    server.says(&ok(&[])).expect("a good packet");
    assert!(server.client.is_attached());
    let mut player = server.client;
    player.said.clear();
    player
}
