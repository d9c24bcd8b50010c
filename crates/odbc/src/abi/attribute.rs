//! Attributes of environments, connections and statements, and their values.

use super::Integer;

pub(crate) mod environment {
    use super::Integer;

    pub(crate) const ODBC_VERSION: Integer = 200;
    pub(crate) const CONNECTION_POOLING: Integer = 201;
    pub(crate) const CP_MATCH: Integer = 202;
    pub(crate) const OUTPUT_NTS: Integer = 10001;

    /// Values of the version.
    pub(crate) const ODBC2: u32 = 2;
    pub(crate) const ODBC3: u32 = 3;
    pub(crate) const ODBC3_80: u32 = 380;
}

pub(crate) mod connection {
    use super::Integer;

    pub(crate) const ACCESS_MODE: Integer = 101;
    pub(crate) const AUTOCOMMIT: Integer = 102;
    pub(crate) const LOGIN_TIMEOUT: Integer = 103;
    pub(crate) const TRACE: Integer = 104;
    pub(crate) const TRACEFILE: Integer = 105;
    pub(crate) const TRANSLATE_LIB: Integer = 106;
    pub(crate) const TRANSLATE_OPTION: Integer = 107;
    pub(crate) const TXN_ISOLATION: Integer = 108;
    pub(crate) const CURRENT_CATALOG: Integer = 109;
    pub(crate) const ODBC_CURSORS: Integer = 110;
    pub(crate) const QUIET_MODE: Integer = 111;
    pub(crate) const PACKET_SIZE: Integer = 112;
    pub(crate) const CONNECTION_TIMEOUT: Integer = 113;
    pub(crate) const DISCONNECT_BEHAVIOR: Integer = 114;
    pub(crate) const ANSI_APP: Integer = 115;
    pub(crate) const RESET_CONNECTION: Integer = 116;
    pub(crate) const ASYNC_DBC_FUNCTIONS_ENABLE: Integer = 117;
    pub(crate) const DBC_INFO_TOKEN: Integer = 118;
    pub(crate) const ENLIST_IN_DTC: Integer = 1207;
    pub(crate) const CONNECTION_DEAD: Integer = 1209;
    pub(crate) const AUTO_IPD: Integer = 10001;
    pub(crate) const METADATA_ID: Integer = 10014;

    /// Bits of the isolation levels.
    pub(crate) const READ_UNCOMMITTED: u32 = 1;
    pub(crate) const READ_COMMITTED: u32 = 2;
    pub(crate) const REPEATABLE_READ: u32 = 4;
    pub(crate) const SERIALIZABLE: u32 = 8;
}

pub(crate) mod statement {
    use super::Integer;

    pub(crate) const QUERY_TIMEOUT: Integer = 0;
    pub(crate) const MAX_ROWS: Integer = 1;
    pub(crate) const NOSCAN: Integer = 2;
    pub(crate) const MAX_LENGTH: Integer = 3;
    pub(crate) const ASYNC_ENABLE: Integer = 4;
    pub(crate) const ROW_BIND_TYPE: Integer = 5;
    pub(crate) const CURSOR_TYPE: Integer = 6;
    pub(crate) const CONCURRENCY: Integer = 7;
    pub(crate) const KEYSET_SIZE: Integer = 8;
    pub(crate) const ROWSET_SIZE: Integer = 9;
    pub(crate) const SIMULATE_CURSOR: Integer = 10;
    pub(crate) const RETRIEVE_DATA: Integer = 11;
    pub(crate) const USE_BOOKMARKS: Integer = 12;
    pub(crate) const GET_BOOKMARK: Integer = 13;
    pub(crate) const ROW_NUMBER: Integer = 14;
    pub(crate) const ENABLE_AUTO_IPD: Integer = 15;
    pub(crate) const FETCH_BOOKMARK_PTR: Integer = 16;
    pub(crate) const PARAM_BIND_OFFSET_PTR: Integer = 17;
    pub(crate) const PARAM_BIND_TYPE: Integer = 18;
    pub(crate) const PARAM_OPERATION_PTR: Integer = 19;
    pub(crate) const PARAM_STATUS_PTR: Integer = 20;
    pub(crate) const PARAMS_PROCESSED_PTR: Integer = 21;
    pub(crate) const PARAMSET_SIZE: Integer = 22;
    pub(crate) const ROW_BIND_OFFSET_PTR: Integer = 23;
    pub(crate) const ROW_OPERATION_PTR: Integer = 24;
    pub(crate) const ROW_STATUS_PTR: Integer = 25;
    pub(crate) const ROWS_FETCHED_PTR: Integer = 26;
    pub(crate) const ROW_ARRAY_SIZE: Integer = 27;
    pub(crate) const CURSOR_SCROLLABLE: Integer = -1;
    pub(crate) const CURSOR_SENSITIVITY: Integer = -2;
    pub(crate) const APP_ROW_DESC: Integer = 10010;
    pub(crate) const APP_PARAM_DESC: Integer = 10011;
    pub(crate) const IMP_ROW_DESC: Integer = 10012;
    pub(crate) const IMP_PARAM_DESC: Integer = 10013;
    pub(crate) const METADATA_ID: Integer = 10014;

    /// Cursor types.
    pub(crate) const FORWARD_ONLY: usize = 0;
    pub(crate) const KEYSET_DRIVEN: usize = 1;
    pub(crate) const DYNAMIC: usize = 2;
    pub(crate) const STATIC: usize = 3;

    /// Concurrency.
    pub(crate) const CONCUR_READ_ONLY: usize = 1;
    pub(crate) const CONCUR_LOCK: usize = 2;
    pub(crate) const CONCUR_ROWVER: usize = 3;
    pub(crate) const CONCUR_VALUES: usize = 4;
}
