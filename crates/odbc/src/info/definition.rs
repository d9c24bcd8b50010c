//! What statements can define, and where schemas may stand.

use super::{Answer, Facts};
use crate::abi::info;
use crate::abi::info_value::{alter_table, create_table, domain, grant, revoke};

const ALTER_TABLE: u32 = alter_table::ADD_COLUMN
    | alter_table::DROP_COLUMN
    | alter_table::ADD_CONSTRAINT
    | alter_table::ADD_COLUMN_SINGLE
    | alter_table::ADD_COLUMN_DEFAULT
    | alter_table::ADD_COLUMN_COLLATION
    | alter_table::SET_COLUMN_DEFAULT
    | alter_table::DROP_COLUMN_DEFAULT
    | alter_table::DROP_COLUMN_RESTRICT
    | alter_table::ADD_TABLE_CONSTRAINT
    | alter_table::CONSTRAINT_NAME_DEFINITION;
const CREATE_TABLE: u32 = create_table::CREATE_TABLE
    | create_table::COMMIT_PRESERVE
    | create_table::COMMIT_DELETE
    | create_table::GLOBAL_TEMPORARY
    | create_table::COLUMN_CONSTRAINT
    | create_table::COLUMN_DEFAULT
    | create_table::COLUMN_COLLATION
    | create_table::TABLE_CONSTRAINT
    | create_table::CONSTRAINT_NAME_DEFINITION;
const CREATE_DOMAIN: u32 = domain::CREATE_DOMAIN | domain::DEFAULT | domain::CONSTRAINT | domain::COLLATION;
const ALTER_DOMAIN: u32 =
    domain::ADD_CONSTRAINT | domain::DROP_CONSTRAINT | domain::ADD_DEFAULT | domain::DROP_DEFAULT;
const GRANT: u32 = grant::WITH_GRANT_OPTION
    | grant::DELETE_TABLE
    | grant::INSERT_TABLE
    | grant::REFERENCES_TABLE
    | grant::REFERENCES_COLUMN
    | grant::SELECT_TABLE
    | grant::UPDATE_TABLE
    | grant::UPDATE_COLUMN;
const REVOKE: u32 = revoke::GRANT_OPTION_FOR
    | revoke::DELETE_TABLE
    | revoke::INSERT_TABLE
    | revoke::REFERENCES_TABLE
    | revoke::REFERENCES_COLUMN
    | revoke::SELECT_TABLE
    | revoke::UPDATE_TABLE
    | revoke::UPDATE_COLUMN;

/// The statement as such, without a clause.
const PLAIN: u32 = 0x1;
/// `SQL_CV_CREATE_VIEW` and `SQL_CV_CHECK_OPTION`
const CREATE_VIEW: u32 = 0x1 | 0x2;
/// `SQL_DI_CREATE_INDEX` and `SQL_DI_DROP_INDEX`
const DDL_INDEX: u32 = 0x1 | 0x2;
/// `SQL_IK_ASC` and `SQL_IK_DESC`
const INDEX_KEYWORDS: u32 = 0x1 | 0x2;
/// `SQL_IS_INSERT_LITERALS` and `SQL_IS_INSERT_SEARCHED`
const INSERT: u32 = 0x1 | 0x2;
/// CASCADE, NO ACTION, SET DEFAULT and SET NULL, as `SQL_SFKD_…` and `SQL_SFKU_…`.
const FOREIGN_KEY_RULES: u32 = 0xF;
/// `SQL_NNC_NON_NULL`
const NON_NULL: u16 = 1;
/// Every `SQL_SU_…`
const SCHEMA_USAGE: u32 = 0x1F;

pub(super) fn answer(id: u16, facts: &Facts) -> Option<Answer> {
    let of_schemas = |bits| Answer::Long(if facts.release.has_schemas() { bits } else { 0 });
    Some(match id {
        info::CREATE_TABLE => Answer::Long(CREATE_TABLE),
        info::ALTER_TABLE => Answer::Long(ALTER_TABLE),
        info::CREATE_VIEW => Answer::Long(CREATE_VIEW),
        info::CREATE_DOMAIN => Answer::Long(CREATE_DOMAIN),
        info::ALTER_DOMAIN => Answer::Long(ALTER_DOMAIN),
        info::DROP_TABLE
        | info::DROP_VIEW
        | info::DROP_DOMAIN
        | info::CREATE_COLLATION
        | info::DROP_COLLATION => Answer::Long(PLAIN),
        info::CREATE_SCHEMA | info::DROP_SCHEMA => of_schemas(PLAIN),
        info::CREATE_ASSERTION
        | info::DROP_ASSERTION
        | info::CREATE_CHARACTER_SET
        | info::DROP_CHARACTER_SET
        | info::CREATE_TRANSLATION
        | info::DROP_TRANSLATION
        | info::INFO_SCHEMA_VIEWS => Answer::Long(0),
        info::DDL_INDEX => Answer::Long(DDL_INDEX),
        info::INDEX_KEYWORDS => Answer::Long(INDEX_KEYWORDS),
        info::INSERT_STATEMENT => Answer::Long(INSERT),
        info::SQL92_FOREIGN_KEY_DELETE_RULE | info::SQL92_FOREIGN_KEY_UPDATE_RULE => {
            Answer::Long(FOREIGN_KEY_RULES)
        }
        info::SQL92_GRANT => Answer::Long(GRANT),
        info::SQL92_REVOKE => Answer::Long(REVOKE),
        info::NON_NULLABLE_COLUMNS => Answer::Short(NON_NULL),
        info::SCHEMA_USAGE => of_schemas(SCHEMA_USAGE),
        info::CATALOG_USAGE => Answer::Long(0),
        info::CATALOG_LOCATION => Answer::Short(0),
        _ => return None,
    })
}
