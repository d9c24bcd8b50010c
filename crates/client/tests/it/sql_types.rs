//! The table of SQL types against the engines: what it says can be executed.

use crate::support::{fresh, query};
use firearrow::catalog::BaseType;
use firearrow::{BatchExt, Connection, Searchable, SqlTypeInfo, sql_types};
use firearrow_testkit::{Generation, Target, matrix};

fn major(target: &Target) -> u16 {
    match target.generation() {
        Generation::V3_0 => 3,
        Generation::V4_0 => 4,
        Generation::V5_0 => 5,
    }
}

/// A value of the type, as a literal has it between prefix and suffix.
fn sample(info: &SqlTypeInfo) -> &'static str {
    match info.base {
        BaseType::Boolean => "TRUE",
        BaseType::Date => "2024-02-29",
        BaseType::Time => "13:45:31.1234",
        BaseType::TimeWithTimeZone => "13:45:31.1234 -03:00",
        BaseType::Timestamp => "2024-02-29 13:45:31.1234",
        BaseType::TimestampWithTimeZone => "2024-02-29 13:45:31.1234 Europe/Berlin",
        BaseType::Char | BaseType::VarChar | BaseType::TextBlob => "abc",
        BaseType::Binary | BaseType::VarBinary | BaseType::Blob => "00ff",
        _ => "1",
    }
}

fn literal(info: &SqlTypeInfo) -> String {
    format!("{}{}{}", info.literal_prefix.unwrap_or(""), sample(info), info.literal_suffix.unwrap_or(""))
}

/// The type with its parameters at `size`.
fn declared(info: &SqlTypeInfo, size: u32) -> String {
    match (info.create_params, info.maximum_scale) {
        (None, _) => info.declaration(""),
        (Some("precision,scale"), Some(scale)) => info.declaration(&format!("{size},{scale}")),
        (Some(_), _) => {
            let charset = if info.case_sensitive { " CHARACTER SET UTF8" } else { "" };
            info.declaration(&size.to_string()) + charset
        }
    }
}

/// The type with few digits, characters or bytes.
fn small(info: &SqlTypeInfo) -> String {
    match info.create_params {
        Some("precision,scale") => info.declaration("9,2"),
        _ => declared(info, 10),
    }
}

/// What the engine says that the type of an expression is, and its length in characters or bytes.
fn described(connection: &Connection, expression: &str) -> (String, Option<u32>) {
    let schema = query(connection, &format!("SELECT {expression} FROM RDB$DATABASE")).schema();
    let entry = |key: &str| schema.field(0).metadata().get(key).cloned();
    let length = entry("FIREBIRD:length").and_then(|length| length.parse().ok());
    (entry("FIREBIRD:type").unwrap_or_default(), length)
}

fn is_accepted(connection: &Connection, expression: &str) -> bool {
    connection.prepare(&format!("SELECT {expression} FROM RDB$DATABASE")).is_ok()
}

matrix!(
    all,
    fn names_and_sizes_are_those_of_the_engine(target: &Target) {
        let connection = fresh(target);
        for info in sql_types(major(target)) {
            let declared = declared(info, info.size);
            let (name, length) = described(&connection, &format!("CAST(NULL AS {declared})"));
            assert_eq!(name, info.base.name(), "{declared}");
            if info.create_params == Some("length") {
                assert_eq!(length, Some(info.size), "{declared}");
            }
        }
    },
    fn sizes_and_scales_are_the_largest(target: &Target) {
        let connection = fresh(target);
        let has_limit = |info: &&SqlTypeInfo| {
            // The engine takes VARBINARY(32767), although it documents 32765 and refuses the same as VARCHAR of OCTETS.
            info.create_params.is_some() && info.name != "VARBINARY"
        };
        for info in sql_types(major(target)).filter(has_limit) {
            let larger = declared(info, info.size + 1);
            assert!(!is_accepted(&connection, &format!("CAST(NULL AS {larger})")), "{larger}");
            if let Some(scale) = info.maximum_scale {
                let larger = info.declaration(&format!("{},{}", info.size, scale + 1));
                assert!(!is_accepted(&connection, &format!("CAST(NULL AS {larger})")), "{larger}");
            }
        }
    },
    fn literals_are_values_of_their_types(target: &Target) {
        let connection = fresh(target);
        for info in sql_types(major(target)) {
            let (literal, declared) = (literal(info), small(info));
            let batch =
                query(&connection, &format!("SELECT CAST({literal} AS {declared}) FROM RDB$DATABASE"));
            assert!(!batch.column(0).is_null(0), "{declared}: {literal}");
            // Literals of text and bytes are CHAR and BINARY; there are none of BLOBs.
            let (name, _) = described(&connection, &literal);
            let expected = match info.base {
                BaseType::Char | BaseType::VarChar | BaseType::TextBlob => "CHAR",
                BaseType::Binary | BaseType::VarBinary | BaseType::Blob => "BINARY",
                _ if info.literal_prefix.is_some() || info.base == BaseType::Boolean => info.base.name(),
                _ => "INTEGER",
            };
            assert_eq!(name, expected, "{literal}");
        }
    },
    fn predicates_take_what_is_searchable(target: &Target) {
        let connection = fresh(target);
        for info in sql_types(major(target)) {
            let value = format!("CAST({} AS {})", literal(info), small(info));
            let holds = |predicate: &str| {
                let sql = format!("SELECT 1 FROM RDB$DATABASE WHERE {predicate}");
                let rows = connection.query(&sql).and_then(|mut cursor| cursor.next_batch());
                rows.is_ok_and(|batch| batch.is_some_and(|batch| batch.num_rows() == 1))
            };
            let basic = holds(&format!("{value} = {value} AND {value} BETWEEN {value} AND {value}"));
            let like = holds(&format!("{value} LIKE '%'"));
            let found = match (basic, like) {
                (true, true) => Searchable::Full,
                (true, false) => Searchable::Basic,
                (false, true) => Searchable::Char,
                (false, false) => Searchable::None,
            };
            assert_eq!(found, info.searchable, "{}", info.name);
        }
    },
    fn case_matters_where_the_table_says_so(target: &Target) {
        let connection = fresh(target);
        for info in sql_types(major(target)).filter(|info| info.case_sensitive) {
            let declared = small(info);
            let sql = format!("SELECT CAST('a' AS {declared}) = CAST('A' AS {declared}) FROM RDB$DATABASE");
            let batch = query(&connection, &sql);
            let is_equal: bool = batch.rows().next().expect("a row").get(0).expect("a value");
            assert!(!is_equal, "{declared}");
        }
    },
    fn newer_types_are_not_in_older_releases(target: &Target) {
        let connection = fresh(target);
        let major = major(target);
        for info in sql_types(5).filter(|info| !sql_types(major).any(|own| own == *info)) {
            let declared = declared(info, info.size);
            assert!(!is_accepted(&connection, &format!("CAST(NULL AS {declared})")), "{declared}");
        }
    }
);
