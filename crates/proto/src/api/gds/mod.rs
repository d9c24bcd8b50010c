//! Engine messages by gds code: symbolic names, text templates, SQLSTATE and SQLCODE.
//!
//! The wire carries only codes and parameters, so the client has to know the texts.

#[rustfmt::skip]
mod table;

/// What the client library knows about one gds code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The code, `0x14000000 | facility << 16 | number`.
    pub code: i32,
    /// The name that `WHEN GDSCODE` takes, and `isc_` before it in `iberror.h`: `arith_except`. Empty if it has none.
    pub name: &'static str,
    /// Legacy SQLCODE; −999 when there is none.
    pub sqlcode: i16,
    /// Five characters; `00000` and `HY000` carry no information.
    pub sqlstate: &'static str,
    /// Template: `@1` … `@9` stand for parameters, `@@` for an at sign.
    pub text: &'static str,
}

/// Returns the message of `code`, or `None` for a code unknown to release 5.0.
pub fn message(code: i32) -> Option<&'static Message> {
    let index = table::MESSAGES.binary_search_by_key(&code, |message| message.code).ok()?;
    Some(&table::MESSAGES[index])
}

/// Returns the symbolic name of `code`, such as `arith_except`, if it has one.
pub fn name(code: i32) -> Option<&'static str> {
    message(code).map(|message| message.name).filter(|name| !name.is_empty())
}

/// Formats the text of `code` as the client library does.
pub fn format(code: i32, params: &[String]) -> String {
    match message(code) {
        Some(message) => fill(message.text, params),
        None => format!("unknown ISC error {code}"),
    }
}

/// Replaces `@1` … `@9` by the rules of `MsgPrint` in the client library.
fn fill(template: &str, params: &[String]) -> String {
    let mut text = String::with_capacity(template.len() + 32);
    let mut rest = template;
    while let Some(at) = rest.find('@') {
        text.push_str(&rest[..at]);
        let mut tail = rest[at + 1..].chars();
        match tail.next() {
            None => text.push_str("@(EOF)"),
            Some('@') => text.push('@'),
            Some(digit @ '0'..='9') => {
                let index = digit as usize - '0' as usize;
                match index.checked_sub(1).and_then(|index| params.get(index)) {
                    Some(param) => text.push_str(param),
                    None => {
                        text.push_str(&format!("<Missing arg #{index} - possibly status vector overflow>"));
                    }
                }
            }
            Some(_) => text.push_str("(error)"),
        }
        rest = tail.as_str();
    }
    text.push_str(rest);
    text
}

/// Codes on which the client bases decisions; named as in `iberror.h`.
#[allow(missing_docs, reason = "the table holds their texts")]
mod codes {
    pub const ISC_ARITH_EXCEPT: i32 = 335544321;
    pub const ISC_BAD_SEGSTR_ID: i32 = 335544329;
    pub const ISC_BAD_TRANS_HANDLE: i32 = 335544332;
    pub const ISC_BUG_CHECK: i32 = 335544333;
    pub const ISC_CONVERT_ERROR: i32 = 335544334;
    pub const ISC_DEADLOCK: i32 = 335544336;
    pub const ISC_IO_ERROR: i32 = 335544344;
    pub const ISC_LOCK_CONFLICT: i32 = 335544345;
    pub const ISC_NO_PRIV: i32 = 335544352;
    pub const ISC_OPEN_TRANS: i32 = 335544357;
    pub const ISC_REQ_SYNC: i32 = 335544364;
    pub const ISC_STREAM_EOF: i32 = 335544374;
    pub const ISC_UNAVAILABLE: i32 = 335544375;
    pub const ISC_WISH_LIST: i32 = 335544378;
    pub const ISC_WRONG_ODS: i32 = 335544379;
    pub const ISC_IMP_EXC: i32 = 335544381;
    pub const ISC_RANDOM: i32 = 335544382;
    pub const ISC_SQLERR: i32 = 335544436;
    pub const ISC_UPDATE_CONFLICT: i32 = 335544451;
    pub const ISC_OBJ_IN_USE: i32 = 335544453;
    pub const ISC_GENNOTDEF: i32 = 335544463;
    pub const ISC_FOREIGN_KEY: i32 = 335544466;
    pub const ISC_TRA_STATE: i32 = 335544468;
    pub const ISC_LOGIN: i32 = 335544472;
    pub const ISC_EXCEPT: i32 = 335544517;
    pub const ISC_SHUTDOWN: i32 = 335544528;
    pub const ISC_CHECK_CONSTRAINT: i32 = 335544558;
    pub const ISC_DSQL_ERROR: i32 = 335544569;
    pub const ISC_DSQL_CURSOR_OPEN_ERR: i32 = 335544576;
    pub const ISC_DSQL_RELATION_ERR: i32 = 335544580;
    pub const ISC_DSQL_PROCEDURE_ERR: i32 = 335544581;
    pub const ISC_DSQL_FUNCTION_ERR: i32 = 335544586;
    pub const ISC_DEPENDENCY: i32 = 335544630;
    pub const ISC_DSQL_TOKEN_UNK_ERR: i32 = 335544634;
    pub const ISC_SING_SELECT_ERR: i32 = 335544652;
    pub const ISC_UNIQUE_KEY_VIOLATION: i32 = 335544665;
    pub const ISC_UNPREPARED_STMT: i32 = 335544711;
    pub const ISC_NETWORK_ERROR: i32 = 335544721;
    pub const ISC_NET_READ_ERR: i32 = 335544726;
    pub const ISC_IO_OPEN_ERR: i32 = 335544734;
    pub const ISC_LOST_DB_CONNECTION: i32 = 335544741;
    pub const ISC_DDL_NOT_ALLOWED_BY_DB_SQL_DIAL: i32 = 335544793;
    pub const ISC_CANCELLED: i32 = 335544794;
    pub const ISC_SQL_DIALECT_DATATYPE_UNSUPPORT: i32 = 335544796;
    pub const ISC_ATT_SHUTDOWN: i32 = 335544856;
    pub const ISC_NOTHING_TO_CANCEL: i32 = 335544933;
    pub const ISC_INVALID_FETCH_OPTION: i32 = 335544993;
    pub const ISC_PMAN_CANNOT_LOAD_PLUGIN: i32 = 335545004;
    pub const ISC_BAD_RESULT_SET: i32 = 335545049;
    pub const ISC_WIRECRYPT_INCOMPATIBLE: i32 = 335545064;
    pub const ISC_MISS_WIRECRYPT: i32 = 335545065;
    pub const ISC_IDX_KEY_VALUE: i32 = 335545072;
    pub const ISC_DYN_NO_PRIV: i32 = 335545094;
    pub const ISC_LOGIN_ERROR: i32 = 335545106;
    pub const ISC_ALREADY_OPENED: i32 = 335545107;
    pub const ISC_BAD_CRYPT_KEY: i32 = 335545108;
    pub const ISC_CFG_STMT_TIMEOUT: i32 = 335545127;
    pub const ISC_ATT_STMT_TIMEOUT: i32 = 335545128;
    pub const ISC_REQ_STMT_TIMEOUT: i32 = 335545129;
    pub const ISC_ICU_LIBRARY: i32 = 335545167;
    pub const ISC_BATCH_POLICY: i32 = 335545176;
    pub const ISC_BATCH_OPEN: i32 = 335545184;
    pub const ISC_BATCH_TYPE: i32 = 335545185;
    pub const ISC_BATCH_BLOBS: i32 = 335545187;
    pub const ISC_BATCH_BLOB_ID: i32 = 335545197;
    pub const ISC_BATCH_TOO_BIG: i32 = 335545198;
    pub const ISC_TRA_SNAPSHOT_DOES_NOT_EXIST: i32 = 335545252;
    pub const ISC_SQL_DB_DIALECT_DTYPE_UNSUPPORT: i32 = 336003077;
    pub const ISC_DYN_NO_CREATE_PRIV: i32 = 335545264;
    pub const ISC_DSQL_LINE_COL_ERROR: i32 = 336397208;
}
pub use codes::*;

#[cfg(test)]
mod tests {
    use super::*;

    fn params(list: &[&str]) -> Vec<String> {
        list.iter().map(|each| each.to_string()).collect()
    }

    #[test]
    fn the_table_is_sorted_for_binary_search() {
        assert!(table::MESSAGES.is_sorted_by(|a, b| a.code < b.code));
    }

    #[test]
    fn constants_have_the_names_of_the_table() {
        let source = include_str!("mod.rs");
        let mut count = 0;
        for line in source.lines().filter_map(|line| line.trim().strip_prefix("pub const ISC_")) {
            let (constant, code) = line.split_once(": i32 = ").expect("a number");
            let code = code.trim_end_matches(';').parse().expect("a number");
            assert_eq!(name(code), Some(&*constant.to_ascii_lowercase()), "{code}");
            count += 1;
        }
        assert!(count > 50, "{count}");
    }

    #[test]
    fn messages_have_names_states_and_texts() {
        for (code, text) in [
            (ISC_RANDOM, "@1"),
            (ISC_SQLERR, "SQL error code = @1"),
            (ISC_NETWORK_ERROR, "Unable to complete network request to host \"@1\"."),
            (ISC_BATCH_TOO_BIG, "Internal buffer overflow - batch too big"),
        ] {
            assert_eq!(message(code).map(|message| message.text), Some(text));
        }
        let convert = message(ISC_CONVERT_ERROR).unwrap();
        assert_eq!((convert.name, convert.sqlstate, convert.sqlcode), ("convert_error", "22018", -413));
        // Those of the tools have texts only.
        let nameless = table::MESSAGES.iter().find(|message| message.name.is_empty()).unwrap();
        assert_eq!((name(nameless.code), name(1)), (None, None));
    }

    #[test]
    fn templates_are_filled_as_the_client_library_does() {
        assert_eq!(fill("a @1 b @2@1", &params(&["x", "y"])), "a x b yx");
        assert_eq!(fill("mail@@host, 100%", &[]), "mail@host, 100%");
        assert_eq!(fill("@2", &params(&["x"])), "<Missing arg #2 - possibly status vector overflow>");
        assert_eq!(fill("@", &[]), "@(EOF)");
        assert_eq!(fill("@é", &[]), "(error)");
        assert_eq!(format(1, &[]), "unknown ISC error 1");
    }

    #[test]
    fn parameters_are_not_expanded_again() {
        assert_eq!(fill("<@1>", &params(&["@2 @@"])), "<@2 @@>");
    }
}
