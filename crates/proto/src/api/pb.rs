//! Parameter buffers: the options of an attachment, a transaction, a BLOB or a bulk operation.

/// DPB tags (`isc_dpb_*`).
#[allow(missing_docs, reason = "the names are Firebird's own")]
pub mod dpb {
    pub const PAGE_SIZE: u8 = 4;
    pub const NO_GARBAGE_COLLECT: u8 = 16;
    pub const FORCE_WRITE: u8 = 24;
    pub const USER_NAME: u8 = 28;
    pub const LC_CTYPE: u8 = 48;
    pub const OVERWRITE: u8 = 54;
    pub const SQL_ROLE_NAME: u8 = 60;
    pub const SQL_DIALECT: u8 = 63;
    pub const SET_DB_SQL_DIALECT: u8 = 65;
    pub const SET_DB_CHARSET: u8 = 68;
    pub const PROCESS_ID: u8 = 71;
    pub const NO_DB_TRIGGERS: u8 = 72;
    pub const PROCESS_NAME: u8 = 74;
    pub const UTF8_FILENAME: u8 = 77;
    pub const SPECIFIC_AUTH_DATA: u8 = 84;
    pub const AUTH_PLUGIN_LIST: u8 = 85;
    pub const AUTH_PLUGIN_NAME: u8 = 86;
    pub const CONFIG: u8 = 87;
    pub const SESSION_TIME_ZONE: u8 = 91;
    pub const SET_BIND: u8 = 93;
    pub const DECFLOAT_ROUND: u8 = 94;
    pub const DECFLOAT_TRAPS: u8 = 95;
    pub const PARALLEL_WORKERS: u8 = 100;
    /// Firebird 6 and later.
    pub const SEARCH_PATH: u8 = 105;
}

/// `isc_dpb_version2`: tag, 4-byte length, data. Every server from 3.0 on reads it.
const DPB_VERSION2: u8 = 2;

/// Builds a database parameter buffer in its wide form (version 2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dpb(Vec<u8>);

impl Default for Dpb {
    fn default() -> Self {
        Self(vec![DPB_VERSION2])
    }
}

impl Dpb {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds raw bytes. The caller keeps values far below the server's limit of 1 MB.
    pub fn bytes(&mut self, tag: u8, value: &[u8]) -> &mut Self {
        self.0.push(tag);
        self.0.extend_from_slice(&(value.len() as u32).to_le_bytes());
        self.0.extend_from_slice(value);
        self
    }

    /// Adds text.
    pub fn text(&mut self, tag: u8, value: &str) -> &mut Self {
        self.bytes(tag, value.as_bytes())
    }

    /// Adds a 4-byte integer.
    pub fn int(&mut self, tag: u8, value: i32) -> &mut Self {
        self.bytes(tag, &value.to_le_bytes())
    }

    /// Adds a tag without a value.
    pub fn flag(&mut self, tag: u8) -> &mut Self {
        self.bytes(tag, &[])
    }

    /// The finished buffer.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// The BPB that creates a BLOB as a stream, written in pieces of any length: `isc_bpb_version1`, then `isc_bpb_type`
/// with a value of 1 byte, `isc_bpb_type_stream`.
pub const STREAM_BPB: [u8; 4] = [1, 3, 1, 1];

/// Tags of the parameters of a bulk operation (`IBatch::TAG_*`).
#[allow(missing_docs, reason = "the names are Firebird's own")]
pub mod bulk {
    pub const MULTIERROR: u8 = 1;
    pub const RECORD_COUNTS: u8 = 2;
    pub const BUFFER_BYTES_SIZE: u8 = 3;
    pub const BLOB_POLICY: u8 = 4;
    pub const DETAILED_ERRORS: u8 = 5;

    /// A value of [`BLOB_POLICY`] (`IBatch::BLOB_STREAM`).
    pub const BLOB_STREAM: u32 = 3;
}

/// `IBatch::VERSION1`.
const BULK_VERSION1: u8 = 1;

/// Builds the parameter buffer of a bulk operation: tag, 4-byte length, 4-byte value.
pub fn bulk_parameters(values: impl IntoIterator<Item = (u8, u32)>) -> Vec<u8> {
    let mut block = vec![BULK_VERSION1];
    for (tag, value) in values {
        block.push(tag);
        block.extend_from_slice(&4_u32.to_le_bytes());
        block.extend_from_slice(&value.to_le_bytes());
    }
    block
}
