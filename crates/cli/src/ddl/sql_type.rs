//! Types as SQL has them.

use super::database::Database;
use super::name::name;
use crate::failure::{Failure, Result};
use firearrow::catalog::{BaseType, ColumnType};

impl Database {
    /// Returns a type with its sizes and character set, without its collation.
    pub(super) fn sql_type(&self, data_type: &ColumnType, segment: Option<i32>) -> Result<String> {
        let base = data_type.base;
        let characters = data_type.characters.unwrap_or(data_type.length);
        let element = match base {
            BaseType::Numeric | BaseType::Decimal => {
                let digits = data_type.digits().unwrap_or_default();
                format!("{}({digits}, {})", base.name(), data_type.scale)
            }
            BaseType::DecFloat => format!("DECFLOAT({})", data_type.digits().unwrap_or_default()),
            BaseType::Char | BaseType::VarChar => format!("{}({characters})", base.name()),
            // BINARY(n) is the same, from Firebird 4 on.
            BaseType::Binary => format!("CHAR({})", data_type.length),
            BaseType::VarBinary => format!("VARCHAR({})", data_type.length),
            BaseType::TextBlob => blob("TEXT", segment),
            BaseType::Blob => match data_type.sub_type.unwrap_or_default() {
                0 => blob("BINARY", segment),
                number => blob(&number.to_string(), segment),
            },
            BaseType::Other(number) => return Err(unknown(number)),
            _ => base.name().to_owned(),
        };
        Ok(element + &dimensions(data_type) + &self.charset(data_type))
    }

    /// Returns the type as people read it, with its collation.
    pub(super) fn shown_type(&self, data_type: &ColumnType) -> String {
        let text = self.sql_type(data_type, None).unwrap_or_else(|_| data_type.name().to_owned());
        text + &self.collate(data_type)
    }

    /// Returns ` CHARACTER SET` and its name, where it is not the database's.
    fn charset(&self, data_type: &ColumnType) -> String {
        match (data_type.base, &data_type.charset) {
            (BaseType::Binary | BaseType::VarBinary, _) => " CHARACTER SET OCTETS".to_owned(),
            (_, Some(charset)) if *charset != self.charset => format!(" CHARACTER SET {}", name(charset)),
            _ => String::new(),
        }
    }

    /// Returns ` COLLATE` and its name, where it is not the character set's.
    pub(super) fn collate(&self, data_type: &ColumnType) -> String {
        match (&data_type.charset, &data_type.collation) {
            (Some(charset), Some(collation)) if collation != self.default_collation(charset) => {
                format!(" COLLATE {}", name(collation))
            }
            _ => String::new(),
        }
    }
}

fn blob(sub_type: &str, segment: Option<i32>) -> String {
    match segment {
        Some(segment) if segment != DEFAULT_SEGMENT => {
            // The engine has a signed number for what goes up to 65535.
            format!("BLOB SUB_TYPE {sub_type} SEGMENT SIZE {}", segment & 0xffff)
        }
        _ => format!("BLOB SUB_TYPE {sub_type}"),
    }
}

/// Returns `[3, -1:2]` for an array.
fn dimensions(data_type: &ColumnType) -> String {
    if !data_type.is_array() {
        return String::new();
    }
    let bounds = data_type.dimensions.iter().map(|(lower, upper)| match lower {
        1 => upper.to_string(),
        _ => format!("{lower}:{upper}"),
    });
    format!("[{}]", bounds.collect::<Vec<_>>().join(", "))
}

fn unknown(number: i16) -> Failure {
    Failure::other(format!(
        "a column has the type {number} (RDB$FIELD_TYPE), which this version of firearrow does not know; \
         use the isql of the server"
    ))
}

const DEFAULT_SEGMENT: i32 = 80;
