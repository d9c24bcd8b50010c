//! Declared types of columns.

use super::question::Row;
use firearrow_proto::api::blr;

/// The declared type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// The type without its sizes; that of the elements for an array.
    pub base: BaseType,
    /// Digits that NUMERIC, DECIMAL and DECFLOAT were declared with. Columns of views that compute something have none.
    pub precision: Option<u8>,
    /// Digits after the decimal point.
    pub scale: u8,
    /// Bytes that a value takes at most, or always; of a BLOB, its id.
    pub length: u32,
    /// Characters of CHAR and VARCHAR.
    pub characters: Option<u32>,
    /// `SUB_TYPE` of a BLOB.
    pub sub_type: Option<i16>,
    /// Character set of text.
    pub charset: Option<String>,
    /// Collation of text.
    pub collation: Option<String>,
    /// First and last subscript of each dimension of an array; empty for other columns.
    pub dimensions: Vec<(i32, i32)>,
}

/// A type without its sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of SQL")]
pub enum BaseType {
    SmallInt,
    Integer,
    BigInt,
    Int128,
    Numeric,
    Decimal,
    Float,
    DoublePrecision,
    DecFloat,
    Boolean,
    Date,
    Time,
    TimeWithTimeZone,
    Timestamp,
    TimestampWithTimeZone,
    Char,
    VarChar,
    Binary,
    VarBinary,
    TextBlob,
    Blob,
    /// A number of `RDB$FIELD_TYPE` that this crate does not know.
    Other(i16),
}

impl BaseType {
    /// The name in SQL, and in the metadata `FIREBIRD:type` of Arrow fields.
    pub fn name(self) -> &'static str {
        match self {
            Self::SmallInt => "SMALLINT",
            Self::Integer => "INTEGER",
            Self::BigInt => "BIGINT",
            Self::Int128 => "INT128",
            Self::Numeric => "NUMERIC",
            Self::Decimal => "DECIMAL",
            Self::Float => "FLOAT",
            Self::DoublePrecision => "DOUBLE PRECISION",
            Self::DecFloat => "DECFLOAT",
            Self::Boolean => "BOOLEAN",
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::TimeWithTimeZone => "TIME WITH TIME ZONE",
            Self::Timestamp => "TIMESTAMP",
            Self::TimestampWithTimeZone => "TIMESTAMP WITH TIME ZONE",
            Self::Char => "CHAR",
            Self::VarChar => "VARCHAR",
            Self::Binary => "BINARY",
            Self::VarBinary => "VARBINARY",
            Self::TextBlob => "BLOB SUB_TYPE TEXT",
            Self::Blob => "BLOB SUB_TYPE BINARY",
            Self::Other(_) => "UNKNOWN",
        }
    }
}

impl ColumnType {
    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        !self.dimensions.is_empty()
    }

    /// [`BaseType::name`], or `ARRAY`.
    pub fn name(&self) -> &'static str {
        if self.is_array() { "ARRAY" } else { self.base.name() }
    }

    /// Most decimal digits of a number: the declared ones, or what its storage is meant to hold.
    pub fn digits(&self) -> Option<u8> {
        Some(match self.base {
            BaseType::SmallInt => 5,
            BaseType::Integer => 10,
            BaseType::BigInt => 19,
            BaseType::Int128 => 38,
            BaseType::DecFloat => {
                if self.length == 8 {
                    16
                } else {
                    34
                }
            }
            BaseType::Numeric | BaseType::Decimal => self.precision.unwrap_or(match self.length {
                2 => 4,
                4 => 9,
                8 => 18,
                _ => 38,
            }),
            _ => return None,
        })
    }
}

/// A row of `RDB$FIELDS`.
pub(super) struct Field<'a> {
    pub(super) field_type: i16,
    pub(super) sub_type: i16,
    /// Decimal exponent.
    pub(super) scale: i16,
    pub(super) precision: Option<u8>,
    pub(super) length: u32,
    pub(super) characters: Option<u32>,
    pub(super) bytes_per_character: u32,
    pub(super) is_octets: bool,
    pub(super) charset: Option<&'a str>,
    pub(super) collation: Option<&'a str>,
}

impl<'a> Field<'a> {
    /// How many columns [`read`](Self::read) takes.
    pub(super) const WIDTH: usize = 10;

    /// Reads the columns from `first` on: type, sub-type, scale, precision, length, length in characters, character set,
    /// its bytes per character, its name, and the collation.
    pub(super) fn read(row: &'a Row<'_>, first: usize) -> Self {
        Field {
            field_type: row.number(first),
            sub_type: row.number(first + 1),
            scale: row.number(first + 2),
            precision: row.integer(first + 3).and_then(|precision| u8::try_from(precision).ok()),
            length: row.number(first + 4),
            characters: row.integer(first + 5).and_then(|length| u32::try_from(length).ok()),
            bytes_per_character: row.number(first + 7),
            is_octets: row.integer(first + 6) == Some(1),
            charset: row.text(first + 8),
            collation: row.text(first + 9),
        }
    }

    pub(super) fn data_type(&self, dimensions: Vec<(i32, i32)>) -> ColumnType {
        let base = self.base();
        let is_string = matches!(base, BaseType::Char | BaseType::VarChar);
        let is_text = is_string || base == BaseType::TextBlob;
        let is_exact = matches!(base, BaseType::Numeric | BaseType::Decimal);
        let characters = || self.characters.unwrap_or(self.length / self.bytes_per_character.max(1));
        let text = |name: Option<&str>| name.filter(|_| is_text).map(str::to_owned);
        ColumnType {
            base,
            precision: match base {
                BaseType::DecFloat => Some(if self.length == 8 { 16 } else { 34 }),
                _ => self.precision.filter(|precision| is_exact && (1..=38).contains(precision)),
            },
            scale: if is_exact { u8::try_from(-self.scale).unwrap_or_default() } else { 0 },
            length: self.length,
            characters: is_string.then(characters),
            sub_type: matches!(base, BaseType::Blob | BaseType::TextBlob).then_some(self.sub_type),
            charset: text(self.charset),
            collation: text(self.collation),
            dimensions,
        }
    }

    /// `RDB$FIELD_TYPE` is the type's number in BLR (`blr.h`).
    fn base(&self) -> BaseType {
        let exact = |plain| match self.sub_type {
            2 => BaseType::Decimal,
            1 => BaseType::Numeric,
            // Columns of views that compute something have a scale alone.
            _ if self.scale != 0 => BaseType::Numeric,
            _ => plain,
        };
        if self.field_type.cast_unsigned() == blr::BLOB {
            return if self.sub_type == 1 { BaseType::TextBlob } else { BaseType::Blob };
        }
        let Ok(code) = u8::try_from(self.field_type) else { return BaseType::Other(self.field_type) };
        match code {
            blr::SHORT => exact(BaseType::SmallInt),
            blr::LONG => exact(BaseType::Integer),
            blr::INT64 => exact(BaseType::BigInt),
            blr::INT128 => exact(BaseType::Int128),
            blr::FLOAT => BaseType::Float,
            blr::D_FLOAT | blr::DOUBLE => BaseType::DoublePrecision,
            blr::SQL_DATE => BaseType::Date,
            blr::SQL_TIME => BaseType::Time,
            blr::TEXT if self.is_octets => BaseType::Binary,
            blr::TEXT => BaseType::Char,
            blr::BOOL => BaseType::Boolean,
            blr::DEC64 | blr::DEC128 => BaseType::DecFloat,
            blr::SQL_TIME_TZ => BaseType::TimeWithTimeZone,
            blr::TIMESTAMP_TZ => BaseType::TimestampWithTimeZone,
            blr::TIMESTAMP => BaseType::Timestamp,
            blr::VARYING if self.is_octets => BaseType::VarBinary,
            blr::VARYING => BaseType::VarChar,
            // Arguments of legacy functions.
            blr::CSTRING => BaseType::VarChar,
            _ => BaseType::Other(self.field_type),
        }
    }
}
