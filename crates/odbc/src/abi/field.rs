//! Fields of descriptors and of diagnostics, and attributes of columns.

use super::SmallInt;

pub(crate) mod descriptor {
    use super::SmallInt;

    pub(crate) const CONCISE_TYPE: SmallInt = 2;
    pub(crate) const DISPLAY_SIZE: SmallInt = 6;
    pub(crate) const UNSIGNED: SmallInt = 8;
    pub(crate) const FIXED_PREC_SCALE: SmallInt = 9;
    pub(crate) const UPDATABLE: SmallInt = 10;
    pub(crate) const AUTO_UNIQUE_VALUE: SmallInt = 11;
    pub(crate) const CASE_SENSITIVE: SmallInt = 12;
    pub(crate) const SEARCHABLE: SmallInt = 13;
    pub(crate) const TYPE_NAME: SmallInt = 14;
    pub(crate) const TABLE_NAME: SmallInt = 15;
    pub(crate) const SCHEMA_NAME: SmallInt = 16;
    pub(crate) const CATALOG_NAME: SmallInt = 17;
    pub(crate) const LABEL: SmallInt = 18;
    pub(crate) const ARRAY_SIZE: SmallInt = 20;
    pub(crate) const ARRAY_STATUS_PTR: SmallInt = 21;
    pub(crate) const BASE_COLUMN_NAME: SmallInt = 22;
    pub(crate) const BASE_TABLE_NAME: SmallInt = 23;
    pub(crate) const BIND_OFFSET_PTR: SmallInt = 24;
    pub(crate) const BIND_TYPE: SmallInt = 25;
    pub(crate) const DATETIME_INTERVAL_PRECISION: SmallInt = 26;
    pub(crate) const LITERAL_PREFIX: SmallInt = 27;
    pub(crate) const LITERAL_SUFFIX: SmallInt = 28;
    pub(crate) const LOCAL_TYPE_NAME: SmallInt = 29;
    pub(crate) const NUM_PREC_RADIX: SmallInt = 32;
    pub(crate) const PARAMETER_TYPE: SmallInt = 33;
    pub(crate) const ROWS_PROCESSED_PTR: SmallInt = 34;
    pub(crate) const ROWVER: SmallInt = 35;
    pub(crate) const COUNT: SmallInt = 1001;
    pub(crate) const TYPE: SmallInt = 1002;
    pub(crate) const LENGTH: SmallInt = 1003;
    pub(crate) const OCTET_LENGTH_PTR: SmallInt = 1004;
    pub(crate) const PRECISION: SmallInt = 1005;
    pub(crate) const SCALE: SmallInt = 1006;
    pub(crate) const DATETIME_INTERVAL_CODE: SmallInt = 1007;
    pub(crate) const NULLABLE: SmallInt = 1008;
    pub(crate) const INDICATOR_PTR: SmallInt = 1009;
    pub(crate) const DATA_PTR: SmallInt = 1010;
    pub(crate) const NAME: SmallInt = 1011;
    pub(crate) const UNNAMED: SmallInt = 1012;
    pub(crate) const OCTET_LENGTH: SmallInt = 1013;
    pub(crate) const ALLOC_TYPE: SmallInt = 1099;
}

/// Column attributes of ODBC 2 that have no field of a descriptor with the same meaning.
pub(crate) mod column {
    pub(crate) const COUNT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const LENGTH: u16 = 3;
    pub(crate) const PRECISION: u16 = 4;
    pub(crate) const SCALE: u16 = 5;
    pub(crate) const NULLABLE: u16 = 7;
}

pub(crate) mod diagnostic {
    use super::SmallInt;

    pub(crate) const RETURNCODE: SmallInt = 1;
    pub(crate) const NUMBER: SmallInt = 2;
    pub(crate) const ROW_COUNT: SmallInt = 3;
    pub(crate) const SQLSTATE: SmallInt = 4;
    pub(crate) const NATIVE: SmallInt = 5;
    pub(crate) const MESSAGE_TEXT: SmallInt = 6;
    pub(crate) const DYNAMIC_FUNCTION: SmallInt = 7;
    pub(crate) const CLASS_ORIGIN: SmallInt = 8;
    pub(crate) const SUBCLASS_ORIGIN: SmallInt = 9;
    pub(crate) const CONNECTION_NAME: SmallInt = 10;
    pub(crate) const SERVER_NAME: SmallInt = 11;
    pub(crate) const DYNAMIC_FUNCTION_CODE: SmallInt = 12;
    pub(crate) const CURSOR_ROW_COUNT: SmallInt = -1249;
    pub(crate) const ROW_NUMBER: SmallInt = -1248;
    pub(crate) const COLUMN_NUMBER: SmallInt = -1247;

    pub(crate) const NO_ROW_NUMBER: isize = -1;
    pub(crate) const ROW_NUMBER_UNKNOWN: isize = -2;
    pub(crate) const NO_COLUMN_NUMBER: i32 = -1;
}
