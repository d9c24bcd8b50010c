//! BLR, the binary request language, as far as it describes messages and types (`blr.h`).

/// `blr_begin`.
pub const BEGIN: u8 = 2;
/// `blr_message`: begins a message; its number (1 byte) and its count of parameters (2 bytes) follow.
pub const MESSAGE: u8 = 4;
/// `blr_version5`: the first byte.
pub const VERSION5: u8 = 5;
/// `blr_eoc`: the last byte.
pub const EOC: u8 = 76;
/// `blr_end`.
pub const END: u8 = 255;

/// `blr_short`; the scale follows.
pub const SHORT: u8 = 7;
/// `blr_long`; the scale follows.
pub const LONG: u8 = 8;
/// `blr_quad`; the scale follows.
pub const QUAD: u8 = 9;
/// `blr_float`.
pub const FLOAT: u8 = 10;
/// `blr_d_float`: the VAX format of DOUBLE PRECISION; still occurs in catalogs.
pub const D_FLOAT: u8 = 11;
/// `blr_sql_date`.
pub const SQL_DATE: u8 = 12;
/// `blr_sql_time`.
pub const SQL_TIME: u8 = 13;
/// `blr_text`: CHAR in the catalog.
pub const TEXT: u8 = 14;
/// `blr_text2`; character set and length follow.
pub const TEXT2: u8 = 15;
/// `blr_int64`; the scale follows.
pub const INT64: u8 = 16;
/// `blr_blob2`; sub type and character set follow.
pub const BLOB2: u8 = 17;
/// `blr_bool`.
pub const BOOL: u8 = 23;
/// `blr_dec64`.
pub const DEC64: u8 = 24;
/// `blr_dec128`.
pub const DEC128: u8 = 25;
/// `blr_int128`; the scale follows.
pub const INT128: u8 = 26;
/// `blr_double`.
pub const DOUBLE: u8 = 27;
/// `blr_sql_time_tz`.
pub const SQL_TIME_TZ: u8 = 28;
/// `blr_timestamp_tz`.
pub const TIMESTAMP_TZ: u8 = 29;
/// `blr_ex_time_tz`.
pub const EX_TIME_TZ: u8 = 30;
/// `blr_ex_timestamp_tz`.
pub const EX_TIMESTAMP_TZ: u8 = 31;
/// `blr_timestamp`.
pub const TIMESTAMP: u8 = 35;
/// `blr_varying`: VARCHAR in the catalog.
pub const VARYING: u8 = 37;
/// `blr_cstring`: arguments of legacy functions in the catalog.
pub const CSTRING: u8 = 40;
/// `blr_varying2`; character set and length follow.
pub const VARYING2: u8 = 38;
/// `blr_blob`: BLOB in the catalog. BLR itself cannot contain it: its codes are single bytes.
pub const BLOB: u16 = 261;
