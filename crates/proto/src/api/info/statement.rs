//! Items of `isc_dsql_sql_info`.

/// `isc_info_sql_select`: begins the description of the columns.
pub const SELECT: u8 = 4;
/// `isc_info_sql_bind`: begins the description of the parameters.
pub const BIND: u8 = 5;
/// `isc_info_sql_describe_vars`: the number of columns or parameters.
pub const DESCRIBE_VARS: u8 = 7;
/// `isc_info_sql_describe_end`: ends one column or parameter; has no value.
pub const DESCRIBE_END: u8 = 8;
/// `isc_info_sql_sqlda_seq`: the 1-based index of a column or parameter.
pub const SQLDA_SEQ: u8 = 9;
/// `isc_info_sql_type`: the SQL type; the lowest bit is set if the value may be NULL.
pub const TYPE: u8 = 11;
/// `isc_info_sql_sub_type`: the sub type.
pub const SUB_TYPE: u8 = 12;
/// `isc_info_sql_scale`: the decimal exponent.
pub const SCALE: u8 = 13;
/// `isc_info_sql_length`: the length in bytes.
pub const LENGTH: u8 = 14;
/// `isc_info_sql_field`: the name of the column.
pub const FIELD: u8 = 16;
/// `isc_info_sql_relation`: the name of the table.
pub const RELATION: u8 = 17;
/// `isc_info_sql_owner`: the owner of the table.
pub const OWNER: u8 = 18;
/// `isc_info_sql_alias`: the label of the column.
pub const ALIAS: u8 = 19;
/// `isc_info_sql_sqlda_start`: the index from which to continue a truncated description.
pub const SQLDA_START: u8 = 20;
/// `isc_info_sql_stmt_type`: the kind of the statement.
pub const STMT_TYPE: u8 = 21;
/// `isc_info_sql_get_plan`: the access plan in its short form.
pub const GET_PLAN: u8 = 22;
/// `isc_info_sql_records`: counts of affected rows, one nested item for each of `REQ_…_COUNT`.
pub const RECORDS: u8 = 23;
/// `isc_info_sql_relation_alias`: the alias of the table.
pub const RELATION_ALIAS: u8 = 25;
/// `isc_info_sql_explain_plan`: the access plan in its detailed form.
pub const EXPLAIN_PLAN: u8 = 26;
/// `isc_info_sql_stmt_flags`: bit 0 is set if the statement has a cursor.
pub const STMT_FLAGS: u8 = 27;

/// `isc_info_req_select_count`: rows read.
pub const REQ_SELECT_COUNT: u8 = 13;
/// `isc_info_req_insert_count`: rows inserted.
pub const REQ_INSERT_COUNT: u8 = 14;
/// `isc_info_req_update_count`: rows updated.
pub const REQ_UPDATE_COUNT: u8 = 15;
/// `isc_info_req_delete_count`: rows deleted.
pub const REQ_DELETE_COUNT: u8 = 16;
