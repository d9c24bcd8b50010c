//! Values and bits of what `SQLGetInfo` returns, as far as the driver claims them.

/// `SQL_CA1_…`: what a kind of cursors can do.
pub(crate) mod cursor1 {
    pub(crate) const NEXT: u32 = 0x1;
    pub(crate) const ABSOLUTE: u32 = 0x2;
    pub(crate) const RELATIVE: u32 = 0x4;
    pub(crate) const BOOKMARK: u32 = 0x8;
    pub(crate) const LOCK_NO_CHANGE: u32 = 0x40;
    pub(crate) const POS_POSITION: u32 = 0x200;
    pub(crate) const POS_UPDATE: u32 = 0x400;
    pub(crate) const POS_DELETE: u32 = 0x800;
    pub(crate) const POSITIONED_UPDATE: u32 = 0x2000;
    pub(crate) const POSITIONED_DELETE: u32 = 0x4000;
    pub(crate) const SELECT_FOR_UPDATE: u32 = 0x8000;
    pub(crate) const BULK_ADD: u32 = 0x1_0000;
    pub(crate) const BULK_UPDATE_BY_BOOKMARK: u32 = 0x2_0000;
    pub(crate) const BULK_DELETE_BY_BOOKMARK: u32 = 0x4_0000;
    pub(crate) const BULK_FETCH_BY_BOOKMARK: u32 = 0x8_0000;
}

/// `SQL_CA2_…`
pub(crate) mod cursor2 {
    pub(crate) const READ_ONLY_CONCURRENCY: u32 = 0x1;
    pub(crate) const OPT_VALUES_CONCURRENCY: u32 = 0x8;
    pub(crate) const MAX_ROWS_SELECT: u32 = 0x80;
    pub(crate) const MAX_ROWS_CATALOG: u32 = 0x800;
    pub(crate) const CRC_EXACT: u32 = 0x1000;
    pub(crate) const SIMULATE_UNIQUE: u32 = 0x8000;
}

/// `SQL_FD_…`
pub(crate) mod fetch_direction {
    pub(crate) const NEXT: u32 = 0x1;
    pub(crate) const FIRST: u32 = 0x2;
    pub(crate) const LAST: u32 = 0x4;
    pub(crate) const PRIOR: u32 = 0x8;
    pub(crate) const ABSOLUTE: u32 = 0x10;
    pub(crate) const RELATIVE: u32 = 0x20;
    pub(crate) const BOOKMARK: u32 = 0x80;
}

/// `SQL_CVT_…`: types of the results of conversions.
pub(crate) mod convert {
    pub(crate) const CHAR: u32 = 0x1;
    pub(crate) const NUMERIC: u32 = 0x2;
    pub(crate) const DECIMAL: u32 = 0x4;
    pub(crate) const INTEGER: u32 = 0x8;
    pub(crate) const SMALLINT: u32 = 0x10;
    pub(crate) const FLOAT: u32 = 0x20;
    pub(crate) const REAL: u32 = 0x40;
    pub(crate) const DOUBLE: u32 = 0x80;
    pub(crate) const VARCHAR: u32 = 0x100;
    pub(crate) const LONGVARCHAR: u32 = 0x200;
    pub(crate) const BINARY: u32 = 0x400;
    pub(crate) const VARBINARY: u32 = 0x800;
    pub(crate) const BIT: u32 = 0x1000;
    pub(crate) const TINYINT: u32 = 0x2000;
    pub(crate) const BIGINT: u32 = 0x4000;
    pub(crate) const DATE: u32 = 0x8000;
    pub(crate) const TIME: u32 = 0x1_0000;
    pub(crate) const TIMESTAMP: u32 = 0x2_0000;
    pub(crate) const LONGVARBINARY: u32 = 0x4_0000;
    pub(crate) const WCHAR: u32 = 0x20_0000;
    pub(crate) const WLONGVARCHAR: u32 = 0x40_0000;
    pub(crate) const WVARCHAR: u32 = 0x80_0000;
    pub(crate) const GUID: u32 = 0x100_0000;
}

/// `SQL_AT_…`
pub(crate) mod alter_table {
    /// Of ODBC 2, as the next.
    pub(crate) const ADD_COLUMN: u32 = 0x1;
    pub(crate) const DROP_COLUMN: u32 = 0x2;
    pub(crate) const ADD_CONSTRAINT: u32 = 0x8;
    pub(crate) const ADD_COLUMN_SINGLE: u32 = 0x20;
    pub(crate) const ADD_COLUMN_DEFAULT: u32 = 0x40;
    pub(crate) const ADD_COLUMN_COLLATION: u32 = 0x80;
    pub(crate) const SET_COLUMN_DEFAULT: u32 = 0x100;
    pub(crate) const DROP_COLUMN_DEFAULT: u32 = 0x200;
    pub(crate) const DROP_COLUMN_RESTRICT: u32 = 0x800;
    pub(crate) const ADD_TABLE_CONSTRAINT: u32 = 0x1000;
    pub(crate) const CONSTRAINT_NAME_DEFINITION: u32 = 0x8000;
}

/// `SQL_CT_…`
pub(crate) mod create_table {
    pub(crate) const CREATE_TABLE: u32 = 0x1;
    pub(crate) const COMMIT_PRESERVE: u32 = 0x2;
    pub(crate) const COMMIT_DELETE: u32 = 0x4;
    pub(crate) const GLOBAL_TEMPORARY: u32 = 0x8;
    pub(crate) const COLUMN_CONSTRAINT: u32 = 0x200;
    pub(crate) const COLUMN_DEFAULT: u32 = 0x400;
    pub(crate) const COLUMN_COLLATION: u32 = 0x800;
    pub(crate) const TABLE_CONSTRAINT: u32 = 0x1000;
    pub(crate) const CONSTRAINT_NAME_DEFINITION: u32 = 0x2000;
}

/// `SQL_CDO_…` and `SQL_AD_…`
pub(crate) mod domain {
    pub(crate) const CREATE_DOMAIN: u32 = 0x1;
    pub(crate) const DEFAULT: u32 = 0x2;
    pub(crate) const CONSTRAINT: u32 = 0x4;
    pub(crate) const COLLATION: u32 = 0x8;

    pub(crate) const ADD_CONSTRAINT: u32 = 0x2;
    pub(crate) const DROP_CONSTRAINT: u32 = 0x4;
    pub(crate) const ADD_DEFAULT: u32 = 0x8;
    pub(crate) const DROP_DEFAULT: u32 = 0x10;
}

/// `SQL_SP_…`
pub(crate) mod predicate {
    pub(crate) const EXISTS: u32 = 0x1;
    pub(crate) const ISNOTNULL: u32 = 0x2;
    pub(crate) const ISNULL: u32 = 0x4;
    pub(crate) const LIKE: u32 = 0x200;
    pub(crate) const IN: u32 = 0x400;
    pub(crate) const BETWEEN: u32 = 0x800;
    pub(crate) const COMPARISON: u32 = 0x1000;
    pub(crate) const QUANTIFIED_COMPARISON: u32 = 0x2000;
}

/// `SQL_SRJO_…`
pub(crate) mod join {
    pub(crate) const CROSS: u32 = 0x2;
    pub(crate) const FULL_OUTER: u32 = 0x8;
    pub(crate) const INNER: u32 = 0x10;
    pub(crate) const LEFT_OUTER: u32 = 0x40;
    pub(crate) const NATURAL: u32 = 0x80;
    pub(crate) const RIGHT_OUTER: u32 = 0x100;
}

/// `SQL_SSF_…`
pub(crate) mod string_function {
    pub(crate) const LOWER: u32 = 0x2;
    pub(crate) const UPPER: u32 = 0x4;
    pub(crate) const SUBSTRING: u32 = 0x8;
    pub(crate) const TRIM_BOTH: u32 = 0x20;
    pub(crate) const TRIM_LEADING: u32 = 0x40;
    pub(crate) const TRIM_TRAILING: u32 = 0x80;
}

/// `SQL_SG_…`
pub(crate) mod grant {
    pub(crate) const WITH_GRANT_OPTION: u32 = 0x10;
    pub(crate) const DELETE_TABLE: u32 = 0x20;
    pub(crate) const INSERT_TABLE: u32 = 0x40;
    pub(crate) const REFERENCES_TABLE: u32 = 0x100;
    pub(crate) const REFERENCES_COLUMN: u32 = 0x200;
    pub(crate) const SELECT_TABLE: u32 = 0x400;
    pub(crate) const UPDATE_TABLE: u32 = 0x800;
    pub(crate) const UPDATE_COLUMN: u32 = 0x1000;
}

/// `SQL_SR_…`
pub(crate) mod revoke {
    pub(crate) const GRANT_OPTION_FOR: u32 = 0x10;
    pub(crate) const DELETE_TABLE: u32 = 0x80;
    pub(crate) const INSERT_TABLE: u32 = 0x100;
    pub(crate) const REFERENCES_TABLE: u32 = 0x400;
    pub(crate) const REFERENCES_COLUMN: u32 = 0x800;
    pub(crate) const SELECT_TABLE: u32 = 0x1000;
    pub(crate) const UPDATE_TABLE: u32 = 0x2000;
    pub(crate) const UPDATE_COLUMN: u32 = 0x4000;
}
