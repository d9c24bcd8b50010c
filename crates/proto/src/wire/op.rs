//! Packet types.

use std::fmt;

/// The operation word that begins every packet. Unknown values are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Op(pub u32);

macro_rules! ops {
    ($($name:ident = $number:literal),* $(,)?) => {
        #[allow(missing_docs, reason = "the names are Firebird's own")]
        impl Op {
            $(pub const $name: Self = Self($number);)*

            /// Firebird's name without the prefix `op_`, upper case.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

ops! {
    CONNECT = 1, EXIT = 2, ACCEPT = 3, REJECT = 4, DISCONNECT = 6, RESPONSE = 9,
    ATTACH = 19, CREATE = 20, DETACH = 21,
    TRANSACTION = 29, COMMIT = 30, ROLLBACK = 31, PREPARE = 32, RECONNECT = 33,
    CREATE_BLOB = 34, OPEN_BLOB = 35, GET_SEGMENT = 36, PUT_SEGMENT = 37, CANCEL_BLOB = 38, CLOSE_BLOB = 39,
    INFO_DATABASE = 40, INFO_TRANSACTION = 42, INFO_BLOB = 43,
    QUE_EVENTS = 48, CANCEL_EVENTS = 49, COMMIT_RETAINING = 50, PREPARE2 = 51, EVENT = 52, CONNECT_REQUEST = 53,
    OPEN_BLOB2 = 56, CREATE_BLOB2 = 57, GET_SLICE = 58, PUT_SLICE = 59, SLICE = 60, SEEK_BLOB = 61,
    ALLOCATE_STATEMENT = 62, EXECUTE = 63, EXEC_IMMEDIATE = 64, FETCH = 65, FETCH_RESPONSE = 66,
    FREE_STATEMENT = 67, PREPARE_STATEMENT = 68, SET_CURSOR = 69, INFO_SQL = 70, DUMMY = 71,
    EXEC_IMMEDIATE2 = 75, EXECUTE2 = 76, SQL_RESPONSE = 78, DROP_DATABASE = 81,
    SERVICE_ATTACH = 82, SERVICE_DETACH = 83, SERVICE_INFO = 84, SERVICE_START = 85, ROLLBACK_RETAINING = 86,
    CANCEL = 91, CONT_AUTH = 92, PING = 93, ACCEPT_DATA = 94, ABORT_AUX_CONNECTION = 95, CRYPT = 96,
    CRYPT_KEY_CALLBACK = 97, COND_ACCEPT = 98,
    BATCH_CREATE = 99, BATCH_MSG = 100, BATCH_EXEC = 101, BATCH_RLS = 102, BATCH_CS = 103, BATCH_REGBLOB = 104,
    BATCH_BLOB_STREAM = 105, BATCH_SET_BPB = 106, BATCH_CANCEL = 109, BATCH_SYNC = 110, INFO_BATCH = 111,
    FETCH_SCROLL = 112, INFO_CURSOR = 113, INLINE_BLOB = 114,
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "op_{}", name.to_ascii_lowercase()),
            None => write!(f, "op {:#x}", self.0),
        }
    }
}
