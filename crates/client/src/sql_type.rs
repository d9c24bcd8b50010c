//! The types of SQL as facts: what `SQLGetTypeInfo` of ODBC, XDBC and their relatives ask for.

mod table;

use crate::catalog::BaseType;

/// A type of SQL that columns can be declared with.
///
/// Some facts are the same for all of them and have no field: each can be [nullable](Self::NULLABLE), none has a
/// [fixed precision and scale](Self::FIXED_PREC_SCALE) as money types have, none generates [values of its own](Self::AUTO_UNIQUE)
/// (identity belongs to columns), and none is an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqlTypeInfo {
    /// The name, as columns are declared with. Parameters go into its parentheses, or after it if it has none; see
    /// [`declaration`](Self::declaration).
    pub name: &'static str,
    /// The type in the [`catalog`](crate::catalog).
    pub base: BaseType,
    /// The most digits of a decimal number (bits of a binary one, see [`radix`](Self::radix)), characters of text, or bytes; the
    /// length of the text of dates and times. As ODBC's COLUMN_SIZE. Text counts characters of UTF8; single-byte character
    /// sets have room for four times as many.
    pub size: u32,
    /// What a literal begins with.
    pub literal_prefix: Option<&'static str>,
    /// What a literal ends with.
    pub literal_suffix: Option<&'static str>,
    /// What stands in the parentheses of a declaration, with commas between.
    pub create_params: Option<&'static str>,
    /// Whether comparisons distinguish `a` from `A`, unless a collation says otherwise.
    pub case_sensitive: bool,
    /// Which predicates take it.
    pub searchable: Searchable,
    /// The fewest digits after the decimal point.
    pub minimum_scale: Option<i16>,
    /// The most digits after the decimal point.
    pub maximum_scale: Option<i16>,
    /// What the size counts: 10 for decimal digits, 2 for bits; `None` for types that are no numbers.
    pub radix: Option<u8>,
    /// The first release of Firebird that has it under this name, 3 or 4.
    pub since: u16,
    /// The last release that this entry describes; `None` if it describes the newest one.
    pub until: Option<u16>,
    /// Its numbers in ODBC 3, for applications that take text as bytes; see [`TypeCode::wide`] for the others. A type that ODBC
    /// lacks has the numbers of a type that it has: DECFLOAT those of VARCHAR, times with time zone those of plain times.
    pub odbc: TypeCode,
    /// Its numbers in XDBC, which has more types.
    pub xdbc: TypeCode,
}

/// Which predicates take a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Searchable {
    /// None.
    None,
    /// LIKE alone.
    Char,
    /// All but LIKE.
    Basic,
    /// All.
    Full,
}

impl Searchable {
    /// Returns the number that ODBC and XDBC have for it.
    pub const fn code(self) -> i16 {
        match self {
            Self::None => 0,
            Self::Char => 1,
            Self::Basic => 2,
            Self::Full => 3,
        }
    }
}

/// A type in the numbers of ODBC or XDBC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TypeCode {
    /// `DATA_TYPE`: the concise type.
    pub data_type: i16,
    /// `SQL_DATA_TYPE`: the same, but 9 for dates and times.
    pub sql_data_type: i16,
    /// `SQL_DATETIME_SUB`: which of the dates and times.
    pub datetime_sub: Option<i16>,
}

impl TypeCode {
    const fn plain(data_type: i16) -> Self {
        Self { data_type, sql_data_type: data_type, datetime_sub: None }
    }

    const fn datetime(data_type: i16, sub: i16) -> Self {
        Self { data_type, sql_data_type: 9, datetime_sub: Some(sub) }
    }

    /// Returns the code for applications that take text as UTF-16: WCHAR, WVARCHAR and WLONGVARCHAR for CHAR, VARCHAR and
    /// LONGVARCHAR, and all others as they are.
    #[must_use]
    pub const fn wide(self) -> Self {
        match self.data_type {
            1 => Self::plain(-8),
            12 => Self::plain(-9),
            -1 => Self::plain(-10),
            _ => self,
        }
    }
}

impl SqlTypeInfo {
    /// Whether columns of the type can be NULL.
    pub const NULLABLE: bool = true;
    /// Whether the type has a fixed precision and scale, as money types have.
    pub const FIXED_PREC_SCALE: bool = false;
    /// Whether the type generates values.
    pub const AUTO_UNIQUE: bool = false;

    /// Returns whether numbers of the type have no sign; `None` if it is no number.
    pub fn unsigned(&self) -> Option<bool> {
        self.radix.map(|_| false)
    }

    /// Returns the type as it is declared with these parameters, which may be none.
    ///
    /// ```
    /// use firearrow::catalog::BaseType;
    ///
    /// let declared = |firebird| {
    ///     let mut types = firearrow::sql_types(firebird);
    ///     types.find(|info| info.base == BaseType::Binary).map(|info| info.declaration("16"))
    /// };
    /// assert_eq!(declared(3).as_deref(), Some("CHAR(16) CHARACTER SET OCTETS"));
    /// assert_eq!(declared(5).as_deref(), Some("BINARY(16)"));
    /// ```
    pub fn declaration(&self, parameters: &str) -> String {
        match self.name.split_once("()") {
            _ if parameters.is_empty() => self.name.replacen("()", "", 1),
            Some((start, end)) => format!("{start}({parameters}){end}"),
            None => format!("{}({parameters})", self.name),
        }
    }
}

/// Returns the types that a major release of Firebird has (3, 4, 5 …), ordered by [`odbc`](SqlTypeInfo::odbc) number, the best match for
/// each first.
pub fn sql_types(major: u16) -> impl Iterator<Item = &'static SqlTypeInfo> + Clone {
    let is_there =
        move |info: &&SqlTypeInfo| info.since <= major && info.until.is_none_or(|last| major <= last);
    table::TYPES.iter().filter(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_release_has_each_name_once() {
        for (major, count) in [(3, 17), (4, 22), (5, 22), (6, 22)] {
            let names: HashSet<_> = sql_types(major).map(|info| info.name).collect();
            assert_eq!((names.len(), sql_types(major).count()), (count, count), "Firebird {major}");
        }
        assert_eq!(sql_types(2).count(), 0);
    }

    #[test]
    fn order_is_that_of_odbc() {
        for major in [3, 4] {
            let codes: Vec<_> = sql_types(major).map(|info| info.odbc.data_type).collect();
            assert!(codes.is_sorted(), "{codes:?}");
        }
        let first = sql_types(5).find(|info| info.odbc.data_type == 12);
        assert_eq!(first.map(|info| info.name), Some("VARCHAR"));
    }

    #[test]
    fn names_are_those_of_the_catalog() {
        for info in sql_types(5) {
            assert!(info.name.starts_with(info.base.name()), "{}", info.name);
        }
    }

    #[test]
    fn codes_of_dates_and_times_are_9() {
        for info in sql_types(5) {
            for code in [info.odbc, info.xdbc] {
                assert_eq!(code.sql_data_type == 9, code.datetime_sub.is_some());
                assert_eq!(code.sql_data_type == code.data_type, code.datetime_sub.is_none());
            }
        }
        assert_eq!(TypeCode::plain(12).wide(), TypeCode::plain(-9));
        assert_eq!(TypeCode::plain(4).wide(), TypeCode::plain(4));
    }

    #[test]
    fn numbers_have_a_radix_and_a_sign() {
        for info in sql_types(5) {
            let is_number = !info.name.contains("SUB_TYPE")
                && matches!(info.xdbc.data_type, -5 | 2 | 3 | 4 | 5 | 7 | 8 | -360);
            assert_eq!(info.unsigned(), is_number.then_some(false), "{}", info.name);
            assert_eq!(info.literal_prefix.is_some(), info.literal_suffix.is_some());
        }
    }
}
