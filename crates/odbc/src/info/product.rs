//! Names, versions and conformance of the driver and the server.

use super::{Answer, Facts, keywords};
use crate::abi::info;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};

/// `SQL_OAC_LEVEL1`
const API_LEVEL1: u16 = 1;
/// `SQL_OSCC_COMPLIANT`
const CLI_COMPLIANT: u16 = 1;
/// `SQL_OSC_CORE`
const GRAMMAR_CORE: u16 = 1;
/// `SQL_OIC_LEVEL1`
const INTERFACE_LEVEL1: u32 = 2;
/// `SQL_SC_SQL92_INTERMEDIATE`
const SQL92_INTERMEDIATE: u32 = 4;
/// `SQL_SCC_XOPEN_CLI_VERSION1` and `SQL_SCC_ISO92_CLI`
const CLI_STANDARDS: u32 = 0x1 | 0x2;
/// `SQL_FILE_NOT_SUPPORTED`
const NO_FILES: u16 = 0;

pub(super) fn answer(id: u16, facts: &Facts) -> Option<Answer> {
    Some(match id {
        info::DRIVER_NAME => Answer::Text(format!("{DLL_PREFIX}firearrowodbc{DLL_SUFFIX}")),
        info::DRIVER_VER => Answer::Text(driver_version()),
        info::DRIVER_ODBC_VER => Answer::text("03.80"),
        info::DBMS_NAME => Answer::text("Firebird"),
        info::DBMS_VER => Answer::Text(facts.release.version()),
        info::DATA_SOURCE_NAME => Answer::text(&facts.data_source),
        info::SERVER_NAME => Answer::text(&facts.server),
        info::DATABASE_NAME => Answer::text(&facts.database),
        info::USER_NAME => Answer::text(&facts.user),
        info::DATA_SOURCE_READ_ONLY => Answer::yes(facts.is_read_only),
        info::COLLATION_SEQ => Answer::text(""),
        info::KEYWORDS => Answer::Text(keywords::of(&facts.release).join(",")),
        info::XOPEN_CLI_YEAR => Answer::text("1995"),
        info::ODBC_API_CONFORMANCE => Answer::Short(API_LEVEL1),
        info::ODBC_SAG_CLI_CONFORMANCE => Answer::Short(CLI_COMPLIANT),
        info::ODBC_SQL_CONFORMANCE => Answer::Short(GRAMMAR_CORE),
        info::ODBC_INTERFACE_CONFORMANCE => Answer::Long(INTERFACE_LEVEL1),
        info::SQL_CONFORMANCE => Answer::Long(SQL92_INTERMEDIATE),
        info::STANDARD_CLI_CONFORMANCE => Answer::Long(CLI_STANDARDS),
        info::FILE_USAGE => Answer::Short(NO_FILES),
        // Lists are not limited to what the user may read.
        info::ACCESSIBLE_TABLES | info::ACCESSIBLE_PROCEDURES => Answer::yes(false),
        info::ASYNC_MODE
        | info::ASYNC_DBC_FUNCTIONS
        | info::ASYNC_NOTIFICATION
        | info::DRIVER_AWARE_POOLING_SUPPORTED
        | info::DTC_TRANSITION_COST => Answer::Long(0),
        info::DESCRIBE_PARAMETER => Answer::yes(true),
        info::NEED_LONG_DATA_LEN => Answer::yes(false),
        info::TABLE_TERM => Answer::text("table"),
        info::PROCEDURE_TERM => Answer::text("procedure"),
        info::SCHEMA_TERM => Answer::text(if facts.release.has_schemas() { "schema" } else { "" }),
        info::CATALOG_NAME => Answer::yes(false),
        info::CATALOG_TERM | info::CATALOG_NAME_SEPARATOR => Answer::text(""),
        _ => return None,
    })
}

fn driver_version() -> String {
    let number = |text: &str| text.parse::<u32>().unwrap_or_default();
    let major = number(env!("CARGO_PKG_VERSION_MAJOR"));
    let minor = number(env!("CARGO_PKG_VERSION_MINOR"));
    let patch = number(env!("CARGO_PKG_VERSION_PATCH"));
    format!("{major:02}.{minor:02}.{patch:04} firearrow")
}
