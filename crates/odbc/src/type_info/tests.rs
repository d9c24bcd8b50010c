use super::{HEADINGS, type_info};
use crate::abi::SmallInt;
use crate::diagnostics::State;
use crate::info::{Facts, Release};
use crate::table::Table;
use crate::types::TypeOptions;
use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int16Type, Int32Type};
use firearrow::Dialect;

fn facts(major: u16, dialect: Dialect) -> Facts {
    Facts { release: Release { major, ..Release::default() }, dialect, ..Facts::default() }
}

fn table(sql_type: SmallInt, major: u16, odbc2: bool) -> Table {
    type_info(sql_type, &facts(major, Dialect::Three), &TypeOptions::default(), odbc2).expect("a known type")
}

fn text<'a>(table: &'a Table, column: &str, row: usize) -> Option<&'a str> {
    let texts = table.batch.column_by_name(column).expect(column).as_string::<i32>();
    texts.is_valid(row).then(|| texts.value(row))
}

fn small(table: &Table, column: &str, row: usize) -> Option<i16> {
    let numbers = table.batch.column_by_name(column).expect(column).as_primitive::<Int16Type>();
    numbers.is_valid(row).then(|| numbers.value(row))
}

fn integer(table: &Table, column: &str, row: usize) -> Option<i32> {
    let numbers = table.batch.column_by_name(column).expect(column).as_primitive::<Int32Type>();
    numbers.is_valid(row).then(|| numbers.value(row))
}

/// Numbers, names and sizes of all rows.
fn summary(table: &Table) -> Vec<(i16, &str, i32)> {
    let row = |row| {
        let number = small(table, "DATA_TYPE", row).expect("a number");
        let name = text(table, "TYPE_NAME", row).expect("a name");
        (number, name, integer(table, "COLUMN_SIZE", row).expect("a size"))
    };
    (0..table.batch.num_rows()).map(row).collect()
}

#[test]
fn firebird_5_has_all_types_in_order() {
    let expected = [
        (-11, "CHAR(16) CHARACTER SET OCTETS", 36),
        (-10, "BLOB SUB_TYPE TEXT", i32::MAX),
        (-9, "VARCHAR", 8191),
        (-8, "CHAR", 8191),
        (-7, "BOOLEAN", 1),
        (-6, "SMALLINT", 5),
        (-5, "BIGINT", 19),
        (-4, "BLOB SUB_TYPE BINARY", i32::MAX),
        (-3, "VARBINARY", 32765),
        (-2, "BINARY", 32767),
        (-1, "BLOB SUB_TYPE TEXT", i32::MAX),
        (1, "CHAR", 8191),
        (2, "NUMERIC", 38),
        (2, "INT128", 38),
        (3, "DECIMAL", 38),
        (4, "INTEGER", 10),
        (5, "SMALLINT", 5),
        (6, "DOUBLE PRECISION", 53),
        (7, "FLOAT", 24),
        (8, "DOUBLE PRECISION", 53),
        (12, "VARCHAR", 8191),
        (12, "DECFLOAT", 34),
        (91, "DATE", 10),
        (92, "TIME", 13),
        (92, "TIME WITH TIME ZONE", 13),
        (93, "TIMESTAMP", 24),
        (93, "TIMESTAMP WITH TIME ZONE", 24),
    ];
    assert_eq!(summary(&table(0, 5, false)), expected);
}

#[test]
fn firebird_3_lacks_some() {
    let all = table(0, 3, false);
    let found = summary(&all);
    let new =
        ["INT128", "DECFLOAT", "TIME WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE", "BINARY", "VARBINARY"];
    assert!(found.iter().all(|(_, name, _)| !new.contains(name)), "{found:?}");
    assert!(found.contains(&(-3, "VARCHAR() CHARACTER SET OCTETS", 32765)));
    assert!(found.contains(&(-2, "CHAR() CHARACTER SET OCTETS", 32767)));
    assert!(found.contains(&(2, "NUMERIC", 18)) && found.contains(&(3, "DECIMAL", 18)));
    assert_eq!(small(&table(2, 3, false), "MAXIMUM_SCALE", 0), Some(18));
}

#[test]
fn rows_are_those_of_the_client() {
    for major in [3, 4, 5] {
        let table = table(0, major, false);
        let mut count = 0;
        for row in 0..table.batch.num_rows() {
            let name = text(&table, "TYPE_NAME", row).expect("a name");
            let number = small(&table, "DATA_TYPE", row).expect("a number");
            let mut types = firearrow::sql_types(major);
            let Some(info) = types.find(|info| info.name == name && info.odbc.data_type == number) else {
                continue;
            };
            count += 1;
            let expected = (
                i32::try_from(info.size).ok(),
                info.literal_prefix,
                info.create_params,
                info.maximum_scale,
                info.case_sensitive,
            );
            let found = (
                integer(&table, "COLUMN_SIZE", row),
                text(&table, "LITERAL_PREFIX", row),
                text(&table, "CREATE_PARAMS", row),
                small(&table, "MAXIMUM_SCALE", row),
                small(&table, "CASE_SENSITIVE", row) == Some(1),
            );
            assert_eq!(found, expected, "{name}");
        }
        // All but DECFLOAT, which the client has twice.
        let decfloats = if major == 3 { 0 } else { 2 };
        assert_eq!(count + decfloats, firearrow::sql_types(major).count(), "Firebird {major}");
    }
}

#[test]
fn dialect_1_lacks_some() {
    let of = |major| {
        let table =
            type_info(0, &facts(major, Dialect::One), &TypeOptions::default(), false).expect("all types");
        summary(&table).iter().map(|row| row.0).collect::<Vec<_>>()
    };
    for major in [3, 5] {
        let numbers = of(major);
        assert!(!numbers.contains(&-5) && !numbers.contains(&91) && !numbers.contains(&92));
        assert!(numbers.contains(&93));
    }
}

#[test]
fn rows_are_sorted_in_each_release() {
    for major in 3..=6 {
        for dialect in [Dialect::One, Dialect::Three] {
            for odbc2 in [false, true] {
                for decfloat_as_double in [false, true] {
                    let options = TypeOptions { decfloat_as_double, ..TypeOptions::default() };
                    let table = type_info(0, &facts(major, dialect), &options, odbc2).expect("all types");
                    let numbers: Vec<_> = summary(&table).iter().map(|row| row.0).collect();
                    assert!(numbers.is_sorted(), "{numbers:?}");
                }
            }
        }
    }
}

#[test]
fn a_number_selects_its_rows() {
    let names = |sql_type, odbc2| {
        let table = table(sql_type, 5, odbc2);
        summary(&table).iter().map(|row| (row.0, row.1.to_owned())).collect::<Vec<_>>()
    };
    let row = |number, name: &str| (number, name.to_owned());
    assert_eq!(names(12, false), [row(12, "VARCHAR"), row(12, "DECFLOAT")]);
    assert_eq!(names(-9, false), [row(-9, "VARCHAR")]);
    assert_eq!(names(93, false), [row(93, "TIMESTAMP"), row(93, "TIMESTAMP WITH TIME ZONE")]);
    assert_eq!(names(11, true), [row(11, "TIMESTAMP"), row(11, "TIMESTAMP WITH TIME ZONE")]);
    assert_eq!(names(91, true), [row(9, "DATE")]);
    assert_eq!(names(9, false), [row(91, "DATE")]);
    assert_eq!(names(101, false), [], "an interval");
    assert_eq!(names(110, true), []);
    assert_eq!(names(-85, true), []);
    let facts = facts(5, Dialect::Three);
    for nonsense in [-12, 13, 90, 94, 100, 114, 9999, i16::MIN, i16::MAX] {
        let failure = type_info(nonsense, &facts, &TypeOptions::default(), false).expect_err("no type");
        assert_eq!(failure.state, State::SQL_TYPE, "{nonsense}");
    }
}

#[test]
fn options_change_rows() {
    let facts = facts(5, Dialect::Three);
    let of = |sql_type, options| type_info(sql_type, &facts, &options, false).expect("a known type");
    let default = TypeOptions::default();
    let doubles = of(8, TypeOptions { decfloat_as_double: true, ..default });
    assert_eq!(summary(&doubles), [(8, "DOUBLE PRECISION", 53), (8, "DECFLOAT", 34)]);
    let blobs = of(-4, TypeOptions { blob_size: 70_000, ..default });
    assert_eq!(summary(&blobs), [(-4, "BLOB SUB_TYPE BINARY", 70_000)]);
    let narrow = of(0, TypeOptions { wide: false, guid: true, ..default });
    assert_eq!(summary(&narrow), summary(&of(0, default)));
}

#[test]
fn columns_have_the_standard_names_and_types() {
    let table = table(0, 5, false);
    let names: Vec<_> = table.batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let expected = "TYPE_NAME DATA_TYPE COLUMN_SIZE LITERAL_PREFIX LITERAL_SUFFIX CREATE_PARAMS NULLABLE CASE_SENSITIVE \
        SEARCHABLE UNSIGNED_ATTRIBUTE FIXED_PREC_SCALE AUTO_UNIQUE_VALUE LOCAL_TYPE_NAME MINIMUM_SCALE MAXIMUM_SCALE \
        SQL_DATA_TYPE SQL_DATETIME_SUB NUM_PREC_RADIX INTERVAL_PRECISION";
    assert_eq!(names.join(" "), expected);
    let former: Vec<_> = HEADINGS.iter().filter(|heading| heading.name != heading.former).collect();
    let former: Vec<_> = former.iter().map(|heading| heading.former).collect();
    assert_eq!(former, ["PRECISION", "MONEY", "AUTO_INCREMENT"]);
    for (heading, column) in HEADINGS.iter().zip(table.batch.columns()) {
        assert!(heading.nullable || column.null_count() == 0, "{}", heading.name);
    }
}

#[test]
fn facts_suit_the_kinds_of_types() {
    let all = table(0, 5, false);
    let at = |name: &str| summary(&all).iter().rposition(|row| row.1 == name).expect(name);
    let varchar = at("VARCHAR");
    assert_eq!(text(&all, "LITERAL_PREFIX", varchar), Some("'"));
    assert_eq!(text(&all, "CREATE_PARAMS", varchar), Some("length"));
    assert_eq!(small(&all, "CASE_SENSITIVE", varchar), Some(1));
    assert_eq!(small(&all, "SEARCHABLE", varchar), Some(3));
    assert_eq!(small(&all, "UNSIGNED_ATTRIBUTE", varchar), None);
    assert_eq!(integer(&all, "NUM_PREC_RADIX", varchar), None);
    let numeric = at("NUMERIC");
    assert_eq!(text(&all, "CREATE_PARAMS", numeric), Some("precision,scale"));
    assert_eq!(text(&all, "LITERAL_PREFIX", numeric), None);
    assert_eq!(
        (small(&all, "MINIMUM_SCALE", numeric), small(&all, "MAXIMUM_SCALE", numeric)),
        (Some(0), Some(38))
    );
    assert_eq!(small(&all, "UNSIGNED_ATTRIBUTE", numeric), Some(0));
    assert_eq!(small(&all, "AUTO_UNIQUE_VALUE", numeric), Some(0));
    assert_eq!(integer(&all, "NUM_PREC_RADIX", numeric), Some(10));
    assert_eq!(integer(&all, "NUM_PREC_RADIX", at("DOUBLE PRECISION")), Some(2));
    assert_eq!(
        (small(&all, "MAXIMUM_SCALE", at("INT128")), text(&all, "CREATE_PARAMS", at("INT128"))),
        (Some(0), None)
    );
    let timestamp = at("TIMESTAMP");
    assert_eq!(small(&all, "SQL_DATA_TYPE", timestamp), Some(9));
    assert_eq!(small(&all, "SQL_DATETIME_SUB", timestamp), Some(3));
    assert_eq!(small(&all, "MAXIMUM_SCALE", timestamp), Some(4));
    assert_eq!(text(&all, "LITERAL_PREFIX", timestamp), Some("TIMESTAMP '"));
    let blob = at("BLOB SUB_TYPE BINARY");
    assert_eq!((small(&all, "SEARCHABLE", blob), text(&all, "LITERAL_PREFIX", blob)), (Some(0), Some("x'")));
    let boolean = at("BOOLEAN");
    assert_eq!(
        (small(&all, "SEARCHABLE", boolean), small(&all, "SQL_DATA_TYPE", boolean)),
        (Some(2), Some(-7))
    );
    for row in 0..all.batch.num_rows() {
        assert_eq!(small(&all, "NULLABLE", row), Some(1));
        assert_eq!(small(&all, "FIXED_PREC_SCALE", row), Some(0));
        assert_eq!(small(&all, "INTERVAL_PRECISION", row), None);
        assert_eq!(text(&all, "LOCAL_TYPE_NAME", row), text(&all, "TYPE_NAME", row));
    }
}
