//! The packets that open a connection: offer, accept, authentication, encryption.

use super::Request;
use crate::wire::error::{DecodeError, invalid};
use crate::wire::limits::Limits;
use crate::wire::op::Op;
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::{Reader, Writer};

/// Strings of `op_connect` are UTF-8.
const CONNECT_VERSION3: u16 = 3;
/// The only architecture whose data travels in network order.
const ARCH_GENERIC: u32 = 1;
/// Lazy send: handle 0xFFFF and deferred answers.
const PTYPE_LAZY_SEND: u16 = 5;
/// Requests or confirms zlib compression.
const FLAG_COMPRESS: u16 = 0x100;
/// Servers before Firebird 6 read only the first ten entries.
pub(crate) const MAX_OFFERED_VERSIONS: usize = 10;

/// Tags of the user identification block.
mod cnct {
    pub(super) const USER: u8 = 1;
    pub(super) const HOST: u8 = 4;
    pub(super) const USER_VERIFICATION: u8 = 6;
    pub(super) const SPECIFIC_DATA: u8 = 7;
    pub(super) const PLUGIN_NAME: u8 = 8;
    pub(super) const LOGIN: u8 = 9;
    pub(super) const PLUGIN_LIST: u8 = 10;
    pub(super) const CLIENT_CRYPT: u8 = 11;
}

/// Whether a client wants wire encryption.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WireCrypt {
    /// Never encrypt.
    Disabled = 0,
    /// Encrypt if the server can.
    #[default]
    Enabled = 1,
    /// Fail rather than continue in plain text.
    Required = 2,
}

/// `op_connect`: the first packet.
#[derive(Clone, Debug)]
pub struct Connect<'a> {
    /// Database path or alias; selects the per-database configuration of the server.
    pub database: &'a str,
    /// Offered versions, ascending; at most ten.
    pub versions: &'a [ProtocolVersion],
    /// Whether to ask for compression.
    pub compress: bool,
    /// Login as entered.
    pub login: &'a str,
    /// Plugin that produced `auth_data`.
    pub plugin: &'a str,
    /// All plugins that the client would use.
    pub plugin_list: &'a str,
    /// First data of the plugin.
    pub auth_data: &'a [u8],
    /// Wanted encryption.
    pub wire_crypt: WireCrypt,
    /// Name of the operating system's user.
    pub os_user: &'a str,
    /// Name of the client's host.
    pub host_name: &'a str,
}

impl Connect<'_> {
    /// Appends the whole packet. This is not a [`Request`], because no version is known yet.
    pub fn encode(&self, out: &mut Writer<'_>) {
        out.op(Op::CONNECT);
        out.word(0);
        out.short(CONNECT_VERSION3);
        out.word(ARCH_GENERIC);
        out.cstr(self.database.as_bytes());
        out.short(self.versions.len() as u16);
        out.cstr(&self.user_identification());
        let compress = if self.compress { FLAG_COMPRESS } else { 0 };
        for (index, version) in self.versions.iter().enumerate() {
            out.short(version.to_wire());
            out.word(ARCH_GENERIC);
            out.short(0);
            out.short(PTYPE_LAZY_SEND | compress);
            out.short(2 * (index as u16 + 1)); // weight: the newest wins
        }
    }

    fn user_identification(&self) -> Vec<u8> {
        let mut block = Vec::new();
        clumplet(&mut block, cnct::LOGIN, self.login.as_bytes());
        clumplet(&mut block, cnct::PLUGIN_NAME, self.plugin.as_bytes());
        clumplet(&mut block, cnct::PLUGIN_LIST, self.plugin_list.as_bytes());
        for (part, data) in self.auth_data.chunks(254).enumerate() {
            let mut numbered = vec![part as u8];
            numbered.extend_from_slice(data);
            clumplet(&mut block, cnct::SPECIFIC_DATA, &numbered);
        }
        clumplet(&mut block, cnct::CLIENT_CRYPT, &(self.wire_crypt as u32).to_le_bytes());
        clumplet(&mut block, cnct::USER, self.os_user.as_bytes());
        clumplet(&mut block, cnct::HOST, self.host_name.as_bytes());
        clumplet(&mut block, cnct::USER_VERIFICATION, &[]);
        block
    }
}

/// Appends tag, length, data. Cuts data to 255 bytes; callers check data that must not be cut.
fn clumplet(block: &mut Vec<u8>, tag: u8, data: &[u8]) {
    let data = &data[..data.len().min(255)];
    block.extend([tag, data.len() as u8]);
    block.extend_from_slice(data);
}

/// What the server accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accept {
    /// The chosen version.
    pub version: ProtocolVersion,
    /// Whether both directions are compressed from here on.
    pub compress: bool,
    /// The authentication part, which a bare `op_accept` lacks.
    pub auth: Option<AcceptAuth>,
    /// Whether authentication must complete before attach (`op_cond_accept`).
    pub conditional: bool,
}

/// Authentication part of `op_accept_data` and `op_cond_accept`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptAuth {
    /// Data of the server's plugin.
    pub data: Vec<u8>,
    /// Plugin to continue with.
    pub plugin: String,
    /// Whether authentication is complete.
    pub authenticated: bool,
    /// Key clumplets.
    pub keys: Vec<u8>,
}

impl Accept {
    /// Reads everything after the operation word of `op_accept`, `op_accept_data` or `op_cond_accept`.
    pub fn decode(op: Op, reader: &mut Reader<'_>, limits: &Limits) -> Result<Self, DecodeError> {
        let word = reader.short()?;
        let version = ProtocolVersion::from_wire(word);
        let version = version.ok_or_else(|| invalid(format!("accepted protocol version {word:#x}")))?;
        let architecture = reader.word()?;
        if architecture != ARCH_GENERIC {
            return Err(invalid(format!("accepted architecture {architecture}")));
        }
        let kind = reader.short()?;
        if kind & 0xff != PTYPE_LAZY_SEND {
            return Err(invalid(format!("accepted packet type {}", kind & 0xff)));
        }
        let auth = if op == Op::ACCEPT {
            None
        } else {
            Some(AcceptAuth {
                data: reader.cstr("authentication data", limits.auth_data)?.to_vec(),
                plugin: text(reader.cstr("plugin name", 255)?),
                authenticated: reader.short()? != 0,
                keys: reader.cstr("key block", limits.auth_data)?.to_vec(),
            })
        };
        let compress = kind & FLAG_COMPRESS != 0;
        Ok(Self { version, compress, auth, conditional: op == Op::COND_ACCEPT })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// `op_cont_auth`: one step of authentication, in either direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContinueAuth {
    /// Data of the plugin.
    pub data: Vec<u8>,
    /// Name of the plugin.
    pub plugin: String,
    /// The client's plugins, in its first step only.
    pub plugin_list: String,
    /// Key clumplets (server to client).
    pub keys: Vec<u8>,
}

impl ContinueAuth {
    /// Reads everything after the operation word.
    pub fn decode(reader: &mut Reader<'_>, limits: &Limits) -> Result<Self, DecodeError> {
        Ok(Self {
            data: reader.cstr("authentication data", limits.auth_data)?.to_vec(),
            plugin: text(reader.cstr("plugin name", 255)?),
            plugin_list: text(reader.cstr("plugin list", limits.auth_data)?),
            keys: reader.cstr("key block", limits.auth_data)?.to_vec(),
        })
    }
}

impl Request for ContinueAuth {
    const OP: Op = Op::CONT_AUTH;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.cstr(&self.data);
        out.cstr(self.plugin.as_bytes());
        out.cstr(self.plugin_list.as_bytes());
        out.cstr(&self.keys);
    }
}

/// `op_crypt`: everything after its answer is encrypted.
#[derive(Clone, Copy, Debug)]
pub struct Crypt<'a> {
    /// Cipher plugin.
    pub plugin: &'a str,
    /// Key type, as named by the server.
    pub key: &'a str,
}

impl Request for Crypt<'_> {
    const OP: Op = Op::CRYPT;

    fn encode(&self, _: ProtocolVersion, out: &mut Writer<'_>) {
        out.cstr(self.plugin.as_bytes());
        out.cstr(self.key.as_bytes());
    }
}

/// `op_crypt_key_callback` from the server: a request for the key of an encrypted database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCallback {
    /// Data for the client's key holder.
    pub data: Vec<u8>,
    /// The longest reply that the server accepts; unknown in protocol 13.
    pub reply_limit: Option<u16>,
}

impl KeyCallback {
    /// Reads everything after the operation word. `version` is `None` before the server accepted one.
    pub fn decode(
        reader: &mut Reader<'_>,
        version: Option<ProtocolVersion>,
        limits: &Limits,
    ) -> Result<Self, DecodeError> {
        let data = reader.cstr("key callback data", limits.auth_data)?.to_vec();
        let sized = version.is_none_or(ProtocolVersion::has_callback_size);
        Ok(Self { data, reply_limit: if sized { Some(reader.short()?) } else { None } })
    }

    /// Appends the whole reply packet.
    pub(crate) fn encode_reply(reply: &[u8], version: Option<ProtocolVersion>, out: &mut Writer<'_>) {
        out.op(Op::CRYPT_KEY_CALLBACK);
        out.cstr(reply);
        if version.is_none_or(ProtocolVersion::has_callback_size) {
            out.short(0);
        }
    }
}
