use super::{Type, TypeOptions};
use crate::abi::{Len, SmallInt, ULen, sql_type};
use firearrow::catalog::{BaseType, ColumnType};
use firearrow::{ArrayShape, Descriptor, Dialect};
use firearrow_proto::api::descriptor::SqlType;
use proptest::prelude::{any, prop_assert, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};
use std::sync::Arc;

fn column(sql_type: SqlType, sub_type: i32, scale: i32, length: u32) -> Descriptor {
    Descriptor { sql_type, sub_type, scale, length, ..Descriptor::default() }
}

fn described(sql_type: SqlType, sub_type: i32, scale: i32, length: u32) -> Type {
    described_with(sql_type, sub_type, scale, length, &TypeOptions::default())
}

fn described_with(sql_type: SqlType, sub_type: i32, scale: i32, length: u32, options: &TypeOptions) -> Type {
    Type::of_descriptor(&column(sql_type, sub_type, scale, length), Dialect::Three, options)
}

/// Concise type, name, size, digits, octets and display size.
type Facts = (SmallInt, &'static str, ULen, SmallInt, Len, Len);

fn facts(of: &Type) -> Facts {
    (of.concise, of.name, of.size, of.digits, of.octets, of.display)
}

#[test]
fn numbers_have_the_sizes_of_their_storage() {
    let expected: [((SqlType, i32, i32, u32), Facts); 19] = [
        ((SqlType::SHORT, 0, 0, 2), (5, "SMALLINT", 5, 0, 2, 6)),
        ((SqlType::LONG, 0, 0, 4), (4, "INTEGER", 10, 0, 4, 11)),
        ((SqlType::INT64, 0, 0, 8), (-5, "BIGINT", 19, 0, 8, 20)),
        ((SqlType::INT128, 0, 0, 16), (2, "INT128", 38, 0, 40, 40)),
        ((SqlType::SHORT, 1, -2, 2), (2, "NUMERIC", 4, 2, 7, 7)),
        ((SqlType::SHORT, 1, 0, 2), (2, "NUMERIC", 4, 0, 6, 6)),
        ((SqlType::LONG, 1, -3, 4), (2, "NUMERIC", 9, 3, 12, 12)),
        ((SqlType::LONG, 2, 0, 4), (3, "DECIMAL", 9, 0, 11, 11)),
        ((SqlType::INT64, 2, -4, 8), (3, "DECIMAL", 18, 4, 21, 21)),
        ((SqlType::INT64, 0, -1, 8), (2, "NUMERIC", 18, 1, 21, 21)),
        ((SqlType::INT64, 0, -20, 8), (2, "NUMERIC", 20, 20, 23, 23)),
        ((SqlType::INT128, 1, -3, 16), (2, "NUMERIC", 38, 3, 41, 41)),
        ((SqlType::INT128, 2, 0, 16), (3, "DECIMAL", 38, 0, 40, 40)),
        ((SqlType::FLOAT, 0, 0, 4), (7, "FLOAT", 24, 0, 4, 14)),
        ((SqlType::DOUBLE, 0, 0, 8), (8, "DOUBLE PRECISION", 53, 0, 8, 24)),
        ((SqlType::DOUBLE, 1, -4, 8), (8, "DOUBLE PRECISION", 53, 0, 8, 24)),
        ((SqlType::D_FLOAT, 0, 0, 8), (8, "DOUBLE PRECISION", 53, 0, 8, 24)),
        ((SqlType::DEC16, 0, 0, 8), (12, "DECFLOAT", 23, 0, 23, 23)),
        ((SqlType::DEC34, 0, 0, 16), (12, "DECFLOAT", 42, 0, 42, 42)),
    ];
    for ((sql_type, sub_type, scale, length), expected) in expected {
        let found = described(sql_type, sub_type, scale, length);
        assert_eq!(facts(&found), expected, "{sql_type:?} {sub_type} {scale}");
        let radix = match found.concise {
            7 | 8 => 2,
            12 => 0,
            _ => 10,
        };
        assert_eq!((found.radix, found.is_unsigned), (radix, radix == 0), "{sql_type:?}");
    }
}

#[test]
fn the_rest_has_its_sizes() {
    let expected: [((SqlType, i32, i32, u32), Facts); 19] = [
        ((SqlType::BOOLEAN, 0, 0, 1), (-7, "BOOLEAN", 1, 0, 1, 1)),
        ((SqlType::DATE, 0, 0, 4), (91, "DATE", 10, 0, 6, 10)),
        ((SqlType::TIME, 0, 0, 4), (92, "TIME", 13, 4, 6, 13)),
        ((SqlType::TIMESTAMP, 0, 0, 8), (93, "TIMESTAMP", 24, 4, 16, 24)),
        ((SqlType::TIME_TZ, 0, 0, 8), (92, "TIME WITH TIME ZONE", 13, 4, 6, 13)),
        ((SqlType::TIME_TZ_EX, 0, 0, 8), (92, "TIME WITH TIME ZONE", 13, 4, 6, 13)),
        ((SqlType::TIMESTAMP_TZ, 0, 0, 12), (93, "TIMESTAMP WITH TIME ZONE", 24, 4, 16, 24)),
        ((SqlType::TIMESTAMP_TZ_EX, 0, 0, 16), (93, "TIMESTAMP WITH TIME ZONE", 24, 4, 16, 24)),
        ((SqlType::TEXT, 4, 0, 20), (-8, "CHAR", 5, 0, 10, 5)),
        ((SqlType::VARYING, 4, 0, 40), (-9, "VARCHAR", 10, 0, 20, 10)),
        ((SqlType::VARYING, 3, 0, 93), (-9, "VARCHAR", 31, 0, 62, 31)),
        ((SqlType::VARYING, 127, 0, 40), (-9, "VARCHAR", 10, 0, 20, 10)),
        ((SqlType::VARYING, 0, 0, 10), (-9, "VARCHAR", 10, 0, 20, 10)),
        ((SqlType::VARYING, 0, 0, 0), (-9, "VARCHAR", 0, 0, 0, 0)),
        ((SqlType::TEXT, 1, 0, 8), (-2, "BINARY", 8, 0, 8, 16)),
        ((SqlType::VARYING, 1, 0, 10), (-3, "VARBINARY", 10, 0, 10, 20)),
        ((SqlType::TEXT, 1, 0, 16), (-2, "BINARY", 16, 0, 16, 32)),
        ((SqlType::NULL, 0, 0, 0), (-9, "VARCHAR", 8191, 0, 16382, 8191)),
        ((SqlType(999), 0, 0, 4), (0, "UNKNOWN", 0, 0, 0, 0)),
    ];
    for ((sql_type, sub_type, scale, length), expected) in expected {
        let found = described(sql_type, sub_type, scale, length);
        assert_eq!(facts(&found), expected, "{sql_type:?} {sub_type}");
        assert!(found.is_unsigned && found.radix == 0, "{sql_type:?}");
    }
}

#[test]
fn blobs_have_the_size_of_the_option() {
    const MOST: ULen = i32::MAX as ULen;
    const MOST_LEN: Len = i32::MAX as Len;
    let text = (-10, "BLOB SUB_TYPE TEXT", MOST, 0, MOST_LEN, MOST_LEN);
    let binary = (-4, "BLOB SUB_TYPE BINARY", MOST, 0, MOST_LEN, MOST_LEN);
    assert_eq!(facts(&described(SqlType::BLOB, 1, 4, 8)), text);
    assert_eq!(facts(&described(SqlType::BLOB, 1, 0, 8)), text);
    for (sub_type, charset) in [(0, 0), (2, 0), (-5, 0), (1, 1)] {
        assert_eq!(facts(&described(SqlType::BLOB, sub_type, charset, 8)), binary, "{sub_type}");
    }
    let options = TypeOptions { blob_size: 1000, wide: false, ..TypeOptions::default() };
    let text = described_with(SqlType::BLOB, 1, 4, 8, &options);
    assert_eq!(facts(&text), (-1, "BLOB SUB_TYPE TEXT", 1000, 0, 4000, 4000));
    let binary = described_with(SqlType::BLOB, 0, 0, 8, &options);
    assert_eq!(facts(&binary), (-4, "BLOB SUB_TYPE BINARY", 1000, 0, 1000, 2000));
    assert_eq!((text.searchable, binary.searchable), (3, 0));
}

#[test]
fn options_choose_types() {
    let with = |sql_type, sub_type, length, options: TypeOptions| {
        facts(&described_with(sql_type, sub_type, 0, length, &options))
    };
    let default = TypeOptions::default();
    let narrow = TypeOptions { wide: false, ..default };
    assert_eq!(with(SqlType::TEXT, 4, 20, narrow), (1, "CHAR", 5, 0, 20, 20));
    assert_eq!(with(SqlType::VARYING, 4, 20, narrow), (12, "VARCHAR", 5, 0, 20, 20));
    let double = TypeOptions { decfloat_as_double: true, ..default };
    assert_eq!(with(SqlType::DEC34, 0, 16, double), (8, "DECFLOAT", 53, 0, 8, 24));
    let guid = TypeOptions { guid: true, ..default };
    assert_eq!(with(SqlType::TEXT, 1, 16, guid), (-11, "CHAR(16) CHARACTER SET OCTETS", 36, 0, 16, 36));
    assert_eq!(with(SqlType::TEXT, 1, 8, guid), (-2, "BINARY", 8, 0, 8, 16));
    assert_eq!(with(SqlType::VARYING, 1, 16, guid), (-3, "VARBINARY", 16, 0, 16, 32));
    let former = TypeOptions { has_binary: false, ..default };
    assert_eq!(with(SqlType::TEXT, 1, 8, former), (-2, "CHAR() CHARACTER SET OCTETS", 8, 0, 8, 16));
    assert_eq!(with(SqlType::VARYING, 1, 8, former), (-3, "VARCHAR() CHARACTER SET OCTETS", 8, 0, 8, 16));
}

#[test]
fn some_collations_ignore_case() {
    let is_case_sensitive = |sub_type| described(SqlType::VARYING, sub_type, 0, 40).is_case_sensitive;
    assert!(is_case_sensitive(4) && is_case_sensitive(4 | 1 << 8) && is_case_sensitive(53 | 3 << 8));
    assert!(!is_case_sensitive(4 | 3 << 8) && !is_case_sensitive(4 | 4 << 8));
    assert!(!described(SqlType::LONG, 0, 0, 4).is_case_sensitive);
}

#[test]
fn literals_depend_on_the_dialect() {
    let literal = |sql_type, dialect| {
        Type::of_descriptor(&column(sql_type, 0, 0, 0), dialect, &TypeOptions::default()).literal
    };
    assert_eq!(literal(SqlType::DATE, Dialect::Three), ("DATE '", "'"));
    assert_eq!(literal(SqlType::DATE, Dialect::One), ("'", "'"));
    assert_eq!(literal(SqlType::TIME, Dialect::One), ("'", "'"));
    assert_eq!(literal(SqlType::TIMESTAMP, Dialect::One), ("TIMESTAMP '", "'"));
    assert_eq!(literal(SqlType::BOOLEAN, Dialect::Three), ("", ""));
}

#[test]
fn arrays_have_room_for_their_text() {
    let of = |element, bounds: &[(i32, i32)]| {
        let shape = ArrayShape::new(element, bounds.to_vec()).map(Arc::new);
        let array = Descriptor { array: shape, ..column(SqlType::ARRAY, 0, 0, 8) };
        Type::of_descriptor(&array, Dialect::Three, &TypeOptions::default())
    };
    let long = || column(SqlType::LONG, 0, 0, 4);
    let widest = "{{-2147483648, -2147483648}, {-2147483648, -2147483648}, {-2147483648, -2147483648}}";
    let found = of(long(), &[(1, 3), (0, 1)]);
    assert_eq!(facts(&found), (-9, "ARRAY", widest.len(), 0, 2 * widest.len() as Len, widest.len() as Len));
    assert_eq!(of(long(), &[]).size, 32_765, "of unknown shape");
    let many = column(SqlType::VARYING, 0, 0, 30_000);
    assert_eq!(of(many, &[(1, 100_000), (1, 10_000)]).size, i32::MAX as ULen);
}

fn declared(base: BaseType) -> ColumnType {
    ColumnType {
        base,
        precision: None,
        scale: 0,
        length: 8,
        characters: None,
        sub_type: None,
        charset: None,
        collation: None,
        dimensions: Vec::new(),
    }
}

fn type_of(column: &ColumnType) -> Type {
    Type::of_declared(column, Dialect::Three, &TypeOptions::default())
}

#[test]
fn declared_types_have_declared_sizes() {
    use BaseType as B;
    let exact = |base, precision, scale, length| ColumnType { precision, scale, length, ..declared(base) };
    let text = |base, characters, length| ColumnType { characters, length, ..declared(base) };
    let blob = |charset: &str| ColumnType { charset: Some(charset.into()), ..declared(B::TextBlob) };
    let array = ColumnType { dimensions: vec![(1, 2)], ..declared(B::Integer) };
    let expected: [(ColumnType, Facts, Option<i32>); 25] = [
        (declared(B::SmallInt), (5, "SMALLINT", 5, 0, 2, 6), None),
        (declared(B::Integer), (4, "INTEGER", 10, 0, 4, 11), None),
        (declared(B::BigInt), (-5, "BIGINT", 19, 0, 8, 20), None),
        (declared(B::Int128), (2, "INT128", 38, 0, 40, 40), None),
        (exact(B::Numeric, Some(5), 2, 4), (2, "NUMERIC", 5, 2, 8, 8), None),
        (exact(B::Decimal, Some(12), 0, 8), (3, "DECIMAL", 12, 0, 14, 14), None),
        (exact(B::Numeric, None, 2, 4), (2, "NUMERIC", 9, 2, 12, 12), None),
        (exact(B::Numeric, Some(38), 38, 16), (2, "NUMERIC", 38, 38, 41, 41), None),
        (declared(B::Float), (7, "FLOAT", 24, 0, 4, 14), None),
        (declared(B::DoublePrecision), (8, "DOUBLE PRECISION", 53, 0, 8, 24), None),
        (exact(B::DecFloat, Some(16), 0, 8), (12, "DECFLOAT", 23, 0, 23, 23), Some(23)),
        (exact(B::DecFloat, Some(34), 0, 16), (12, "DECFLOAT", 42, 0, 42, 42), Some(42)),
        (declared(B::Boolean), (-7, "BOOLEAN", 1, 0, 1, 1), None),
        (declared(B::Date), (91, "DATE", 10, 0, 6, 10), None),
        (declared(B::Time), (92, "TIME", 13, 4, 6, 13), None),
        (declared(B::TimeWithTimeZone), (92, "TIME WITH TIME ZONE", 13, 4, 6, 13), None),
        (declared(B::Timestamp), (93, "TIMESTAMP", 24, 4, 16, 24), None),
        (declared(B::TimestampWithTimeZone), (93, "TIMESTAMP WITH TIME ZONE", 24, 4, 16, 24), None),
        (text(B::Char, Some(5), 20), (-8, "CHAR", 5, 0, 10, 5), Some(10)),
        (text(B::VarChar, Some(8191), 32764), (-9, "VARCHAR", 8191, 0, 16382, 8191), Some(16382)),
        (text(B::Binary, None, 16), (-2, "BINARY", 16, 0, 16, 32), Some(16)),
        (text(B::VarBinary, None, 9), (-3, "VARBINARY", 9, 0, 9, 18), Some(9)),
        (array, (-9, "ARRAY", 32765, 0, 65530, 32765), Some(65530)),
        (blob("OCTETS"), facts(&described(SqlType::BLOB, 0, 0, 8)), Some(i32::MAX)),
        (blob("UTF8"), facts(&described(SqlType::BLOB, 1, 4, 8)), Some(i32::MAX)),
    ];
    for (column, expected, char_octets) in expected {
        let found = type_of(&column);
        assert_eq!(facts(&found), expected, "{column:?}");
        assert_eq!((found.char_octet_length(), found.buffer_length() as Len), (char_octets, found.octets));
    }
    assert_eq!(type_of(&declared(B::Other(77))).concise, sql_type::UNKNOWN);
    assert_eq!(type_of(&declared(B::Blob)).concise, sql_type::LONGVARBINARY);
}

#[test]
fn datetimes_have_other_numbers_elsewhere() {
    let numbers = |sql_type| {
        let found = described(sql_type, 0, 0, 4);
        (found.concise, found.verbose(), found.for_odbc2())
    };
    assert_eq!(numbers(SqlType::DATE), (91, (9, Some(1)), 9));
    assert_eq!(numbers(SqlType::TIME), (92, (9, Some(2)), 10));
    assert_eq!(numbers(SqlType::TIMESTAMP), (93, (9, Some(3)), 11));
    assert_eq!(numbers(SqlType::LONG), (4, (4, None), 4));
    assert_eq!(numbers(SqlType::VARYING), (-9, (-9, None), -9));
}

#[test]
fn display_sizes_fit_every_stored_number() {
    for (sql_type, digits, lowest) in [
        (SqlType::SHORT, 4, i128::from(i16::MIN)),
        (SqlType::LONG, 9, i128::from(i32::MIN)),
        (SqlType::INT64, 18, i128::from(i64::MIN)),
        (SqlType::INT128, 38, i128::MIN),
    ] {
        for scale in 0..=digits {
            let figures = format!("{:0>width$}", lowest.unsigned_abs(), width = scale + 1);
            let point = usize::from(scale > 0);
            let text = 1 + figures.len() + point;
            let found = described(sql_type, 1, -(scale as i32), 0);
            assert_eq!(found.display as usize, text.max(digits + 2 + point), "{sql_type:?} {scale}");
        }
    }
}

fn sql_types() -> impl Strategy<Value = u16> {
    let known = [448, 452, 480, 482, 496, 500, 510, 520, 530, 540, 550, 560, 570, 580];
    let new = [32748, 32750, 32752, 32754, 32756, 32760, 32762, 32764, 32766];
    let all: Vec<u16> = known.into_iter().chain(new).collect();
    prop_oneof![(0..all.len()).prop_map(move |at| all[at]), any::<u16>(), Just(0)]
}

proptest! {
    #[test]
    fn any_description_has_a_type(
        sql_type in sql_types(),
        sub_type in any::<i32>(),
        scale in any::<i32>(),
        length in any::<u32>(),
        wide in any::<bool>(),
        blob_size in any::<u32>(),
    ) {
        let options = TypeOptions { wide, blob_size, ..TypeOptions::default() };
        let found = described_with(SqlType(sql_type), sub_type, scale, length, &options);
        prop_assert!((0..=i32::MAX as Len).contains(&found.display), "{found:?}");
        prop_assert!((0..=i32::MAX as Len).contains(&found.octets), "{found:?}");
        prop_assert!(found.is_unsigned == (found.radix == 0), "{found:?}");
        prop_assert!(!found.is_text() || !found.is_binary());
    }
}
