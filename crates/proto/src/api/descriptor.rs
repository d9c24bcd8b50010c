//! How the engine describes one column or parameter.

use super::array::ArrayShape;
use std::fmt;
use std::sync::Arc;

/// A Firebird SQL type number with the nullable bit cleared (`SQL_*` of the API).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SqlType(pub u16);

#[allow(missing_docs, reason = "the names are Firebird's own")]
impl SqlType {
    pub const VARYING: Self = Self(448);
    pub const TEXT: Self = Self(452);
    pub const DOUBLE: Self = Self(480);
    pub const FLOAT: Self = Self(482);
    pub const LONG: Self = Self(496);
    pub const SHORT: Self = Self(500);
    pub const TIMESTAMP: Self = Self(510);
    pub const BLOB: Self = Self(520);
    pub const D_FLOAT: Self = Self(530);
    pub const ARRAY: Self = Self(540);
    pub const QUAD: Self = Self(550);
    pub const TIME: Self = Self(560);
    pub const DATE: Self = Self(570);
    pub const INT64: Self = Self(580);
    pub const TIMESTAMP_TZ_EX: Self = Self(32748);
    pub const TIME_TZ_EX: Self = Self(32750);
    pub const INT128: Self = Self(32752);
    pub const TIMESTAMP_TZ: Self = Self(32754);
    pub const TIME_TZ: Self = Self(32756);
    pub const DEC16: Self = Self(32760);
    pub const DEC34: Self = Self(32762);
    pub const BOOLEAN: Self = Self(32764);
    pub const NULL: Self = Self(32766);

    /// The API's name of the type, or `None` for a number this crate does not know.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::VARYING => "VARYING",
            Self::TEXT => "TEXT",
            Self::DOUBLE => "DOUBLE",
            Self::FLOAT => "FLOAT",
            Self::LONG => "LONG",
            Self::SHORT => "SHORT",
            Self::TIMESTAMP => "TIMESTAMP",
            Self::BLOB => "BLOB",
            Self::D_FLOAT => "D_FLOAT",
            Self::ARRAY => "ARRAY",
            Self::QUAD => "QUAD",
            Self::TIME => "TIME",
            Self::DATE => "DATE",
            Self::INT64 => "INT64",
            Self::TIMESTAMP_TZ_EX => "TIMESTAMP_TZ_EX",
            Self::TIME_TZ_EX => "TIME_TZ_EX",
            Self::INT128 => "INT128",
            Self::TIMESTAMP_TZ => "TIMESTAMP_TZ",
            Self::TIME_TZ => "TIME_TZ",
            Self::DEC16 => "DEC16",
            Self::DEC34 => "DEC34",
            Self::BOOLEAN => "BOOLEAN",
            Self::NULL => "NULL",
            _ => return None,
        })
    }
}

impl fmt::Debug for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "SqlType({})", self.0),
        }
    }
}

/// One column of a result or one parameter of a statement, as the engine describes it.
///
/// Strings are in the connection character set; this crate always attaches with UTF8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Descriptor {
    /// Type number, nullable bit cleared.
    pub sql_type: SqlType,
    /// Whether the engine says the value may be NULL (not reliable for expressions).
    pub nullable: bool,
    /// Numerics: 0 plain, 1 NUMERIC, 2 DECIMAL. BLOB: the sub type. Text: character set id in the low byte,
    /// collation id in the high byte.
    pub sub_type: i32,
    /// Numerics: decimal exponent, ≤ 0. Text BLOB: character set id in the low byte.
    pub scale: i32,
    /// Bytes of the value, without the count word of VARYING.
    pub length: u32,
    /// Column name, or the name of the expression.
    pub field: String,
    /// Table name; empty for expressions.
    pub relation: String,
    /// Owner of the table.
    pub owner: String,
    /// Label of the column.
    pub alias: String,
    /// The shape of an array. The engine's description does not contain it; the client looks it up in the catalog and
    /// adds it.
    pub array: Option<Arc<ArrayShape>>,
}

impl Default for SqlType {
    fn default() -> Self {
        Self::NULL
    }
}

/// Character set ids that decide how bytes are read.
pub mod charset_id {
    /// Bytes as stored, unknown encoding.
    pub const NONE: u8 = 0;
    /// Binary strings.
    pub const OCTETS: u8 = 1;
    /// 7-bit ASCII.
    pub const ASCII: u8 = 2;
    /// UTF-8 with up to three bytes per character.
    pub const UNICODE_FSS: u8 = 3;
    /// UTF-8.
    pub const UTF8: u8 = 4;
    /// The character set of the attachment.
    pub const DYNAMIC: u8 = 127;

    /// Whether bytes of this character set are UTF-8 or have no known encoding.
    pub fn is_verbatim(id: u8) -> bool {
        matches!(id, NONE | OCTETS | ASCII | UNICODE_FSS | UTF8 | DYNAMIC)
    }
}

impl Descriptor {
    /// Character set id of a text or text BLOB value, else 0.
    pub fn charset(&self) -> u8 {
        match self.sql_type {
            SqlType::TEXT | SqlType::VARYING => self.sub_type as u8,
            SqlType::BLOB if self.sub_type == 1 => self.scale as u8,
            _ => 0,
        }
    }

    /// Whether this is CHAR or VARCHAR of CHARACTER SET OCTETS.
    pub fn is_octets(&self) -> bool {
        matches!(self.sql_type, SqlType::TEXT | SqlType::VARYING) && self.charset() == charset_id::OCTETS
    }

    /// The name under which a result column is shown.
    pub fn label(&self) -> &str {
        if self.alias.is_empty() { &self.field } else { &self.alias }
    }
}
