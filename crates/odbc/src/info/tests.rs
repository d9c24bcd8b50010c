use super::{Answer, Facts, Release, answer, needs_connection};
use crate::abi::info;
use crate::abi::info_value::{convert, cursor1, fetch_direction};
use crate::escape::claimed;
use firearrow::Dialect;
use proptest::prelude::{prop_assert, proptest};

fn facts(text: &str) -> Facts {
    Facts {
        release: Release::read(text),
        data_source: "sales".into(),
        server: "db.example".into(),
        database: "/data/sales.fdb".into(),
        user: "ALICE".into(),
        page_size: 16384,
        ..Facts::default()
    }
}

fn firebird_5() -> Facts {
    facts("LI-V5.0.4.1812 Firebird 5.0")
}

fn text(id: u16, facts: &Facts) -> String {
    match answer(id, facts) {
        Some(Answer::Text(text)) => text,
        other => panic!("{id}: {other:?}"),
    }
}

fn short(id: u16, facts: &Facts) -> u16 {
    match answer(id, facts) {
        Some(Answer::Short(number)) => number,
        other => panic!("{id}: {other:?}"),
    }
}

fn long(id: u16) -> u32 {
    long_of(id, &firebird_5())
}

fn long_of(id: u16, facts: &Facts) -> u32 {
    match answer(id, facts) {
        Some(Answer::Long(number)) => number,
        other => panic!("{id}: {other:?}"),
    }
}

/// The types of all information, as the standard has them.
const TEXTS: &[u16] = &[
    2, 6, 7, 11, 13, 14, 16, 17, 18, 19, 20, 21, 25, 27, 29, 36, 37, 38, 39, 40, 41, 42, 45, 47, 73, 77, 87,
    89, 90, 94, 103, 111, 113, 10000, 10002, 10003, 10004,
];
const SHORTS: &[u16] = &[
    0, 1, 9, 12, 15, 22, 23, 24, 28, 30, 31, 32, 33, 34, 35, 46, 74, 75, 84, 85, 88, 93, 97, 98, 99, 100,
    101, 106, 107, 114, 116, 10005,
];
/// Numbers that mean nothing, or something of the driver manager's.
const UNKNOWN: &[u16] = &[3, 4, 5, 10, 76, 135, 171];

#[test]
fn every_answer_has_the_standard_type() {
    let facts = firebird_5();
    let is_long = |id: u16| matches!(id, 8..=173 | 1750 | 10001 | 10021..=10025 | 65003);
    for id in 0..=u16::MAX {
        let kind = answer(id, &facts).map(|answer| match answer {
            Answer::Text(_) => 't',
            Answer::Short(_) => 's',
            Answer::Long(_) => 'l',
        });
        let expected = match id {
            id if UNKNOWN.contains(&id) => None,
            id if TEXTS.contains(&id) => Some('t'),
            id if SHORTS.contains(&id) => Some('s'),
            id if is_long(id) => Some('l'),
            _ => None,
        };
        assert_eq!(kind, expected, "{id}");
    }
}

#[test]
fn products_have_names_and_versions() {
    let facts = firebird_5();
    assert_eq!(text(info::DBMS_NAME, &facts), "Firebird");
    assert_eq!(text(info::DBMS_VER, &facts), "05.00.1812 LI-V5.0.4.1812 Firebird 5.0");
    assert_eq!(text(info::DRIVER_ODBC_VER, &facts), "03.80");
    let version = text(info::DRIVER_VER, &facts);
    let pattern: String =
        version.chars().take(10).map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
    assert_eq!(pattern, "99.99.9999", "{version}");
    assert!(text(info::DRIVER_NAME, &facts).contains("firearrowodbc."));
    assert_eq!(text(info::DATA_SOURCE_NAME, &facts), "sales");
    assert_eq!(text(info::SERVER_NAME, &facts), "db.example");
    assert_eq!(text(info::DATABASE_NAME, &facts), "/data/sales.fdb");
    assert_eq!(text(info::USER_NAME, &facts), "ALICE");
    assert_eq!(text(info::COLLATION_SEQ, &facts), "");
    assert_eq!(text(info::DATA_SOURCE_READ_ONLY, &facts), "N");
    assert_eq!(text(info::DATA_SOURCE_READ_ONLY, &Facts { is_read_only: true, ..facts }), "Y");
}

#[test]
fn releases_are_read_from_what_servers_say() {
    let version = |text| Release::read(text).version();
    assert_eq!(version("LI-V3.0.11.33637 Firebird 3.0"), "03.00.33637 LI-V3.0.11.33637 Firebird 3.0");
    assert_eq!(version("WI-T6.0.0.712 Firebird 6.0"), "06.00.0712 WI-T6.0.0.712 Firebird 6.0");
    assert_eq!(version("LI-V12.3"), "12.03.0000 LI-V12.3");
    assert_eq!(version(""), "00.00.0000");
    assert_eq!(version("LI-V99999999999.1"), "00.01.0000 LI-V99999999999.1");
    assert_eq!(Release::read("4.0.5.3140").build, 3140);
}

#[test]
fn releases_differ() {
    let old = facts("LI-V3.0.11.33637");
    let new = facts("LI-V6.0.0.1");
    let names = [
        info::MAX_IDENTIFIER_LEN,
        info::MAX_TABLE_NAME_LEN,
        info::MAX_COLUMN_NAME_LEN,
        info::MAX_PROCEDURE_NAME_LEN,
        info::MAX_CURSOR_NAME_LEN,
        info::MAX_USER_NAME_LEN,
    ];
    for id in names {
        assert_eq!((short(id, &old), short(id, &firebird_5())), (31, 63), "{id}");
    }
    let schema = |facts: &Facts| {
        let length = short(info::MAX_SCHEMA_NAME_LEN, facts);
        (length, text(info::SCHEMA_TERM, facts), long_of(info::SCHEMA_USAGE, facts))
    };
    assert_eq!(schema(&firebird_5()), (0, String::new(), 0));
    assert_eq!(schema(&new), (63, "schema".to_owned(), 0x1F));
    assert_eq!(long_of(info::CREATE_SCHEMA, &new), 1);
    assert_eq!(long_of(info::SQL92_ROW_VALUE_CONSTRUCTOR, &old), 3);
    assert_eq!(long(info::SQL92_ROW_VALUE_CONSTRUCTOR), 7);
    assert_eq!(long(info::MAX_INDEX_SIZE), 4096);
}

#[test]
fn keywords_are_sorted_and_not_of_odbc() {
    let words = |release| text(info::KEYWORDS, &facts(release));
    for (release, count) in [("LI-V3.0.0.0", 58), ("LI-V4.0.0.0", 74), ("LI-V5.0.0.0", 75)] {
        let text = words(release);
        let words: Vec<&str> = text.split(',').collect();
        assert_eq!(words.len(), count);
        assert!(words.is_sorted_by(|a, b| a < b), "{text}");
        assert!(!words.contains(&"SELECT") && words.contains(&"RECREATE"));
        assert!(
            words
                .iter()
                .all(|word| word.bytes().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$')))
        );
    }
    assert!(!words("LI-V3.0.0.0").contains("DECFLOAT"));
    assert!(words("LI-V4.0.0.0").contains("DECFLOAT"));
}

#[test]
fn dialect_1_has_less() {
    let three = firebird_5();
    let one = Facts { dialect: Dialect::One, ..firebird_5() };
    assert_eq!(text(info::IDENTIFIER_QUOTE_CHAR, &three), "\"");
    assert_eq!(text(info::IDENTIFIER_QUOTE_CHAR, &one), " ");
    let unquoted = Facts { has_quotes: false, ..three.clone() };
    assert_eq!(text(info::IDENTIFIER_QUOTE_CHAR, &unquoted), " ");
    assert_eq!((long_of(info::DATETIME_LITERALS, &three), long_of(info::DATETIME_LITERALS, &one)), (7, 4));
    let gone = convert::BIGINT | convert::DATE | convert::TIME;
    for id in [info::CONVERT_VARCHAR, info::CONVERT_INTEGER, info::CONVERT_TIMESTAMP] {
        assert_eq!(long_of(id, &one), long_of(id, &three) & !gone, "{id}");
    }
    let joins = info::SQL92_RELATIONAL_JOIN_OPERATORS;
    assert_eq!((long_of(joins, &three), long_of(joins, &one)), (0x1DA, 0x15A));
}

#[test]
fn keywords_of_the_connection_string_count() {
    let facts = firebird_5();
    let case = |is_sensitive| short(info::IDENTIFIER_CASE, &Facts { is_sensitive, ..firebird_5() });
    assert_eq!((case(false), case(true)), (1, 3));
    let capable = |commits_ddl| short(info::TXN_CAPABLE, &Facts { commits_ddl, ..firebird_5() });
    assert_eq!((capable(false), capable(true)), (2, 3));
    assert_eq!(long_of(info::DEFAULT_TXN_ISOLATION, &facts), 2);
    assert_eq!(long_of(info::DEFAULT_TXN_ISOLATION, &Facts { isolation: 8, ..facts }), 8);
}

#[test]
fn functions_are_those_of_escapes() {
    assert_eq!(long(info::STRING_FUNCTIONS), claimed::STRING_FUNCTIONS);
    assert_eq!(long(info::NUMERIC_FUNCTIONS), claimed::NUMERIC_FUNCTIONS);
    assert_eq!(long(info::TIMEDATE_FUNCTIONS), claimed::TIMEDATE_FUNCTIONS);
    assert_eq!(long(info::SYSTEM_FUNCTIONS), claimed::SYSTEM_FUNCTIONS);
    assert_eq!(long(info::TIMEDATE_ADD_INTERVALS), claimed::TIMEDATE_ADD_INTERVALS);
    assert_eq!(long(info::TIMEDATE_DIFF_INTERVALS), claimed::TIMEDATE_DIFF_INTERVALS);
    assert_eq!(long(info::CONVERT_FUNCTIONS), claimed::CONVERT_FUNCTIONS);
    assert_eq!(claimed::STRING_FUNCTIONS, 0xFF_FFFF & !0x8000 & !0x2_0000, "all but DIFFERENCE and SOUNDEX");
    assert_eq!((claimed::NUMERIC_FUNCTIONS, claimed::TIMEDATE_FUNCTIONS), (0xFF_FFFF, 0x1F_FFFF));
    assert_eq!((claimed::SYSTEM_FUNCTIONS, claimed::TIMEDATE_ADD_INTERVALS), (0x7, 0x1FF));
}

#[test]
fn claims_of_odbc_2_and_3_agree() {
    let of_static = long(info::STATIC_CURSOR_ATTRIBUTES1);
    let of_forward = long(info::FORWARD_ONLY_CURSOR_ATTRIBUTES1);
    let directions = long(info::FETCH_DIRECTION);
    for (cursor, direction) in [
        (cursor1::NEXT, fetch_direction::NEXT),
        (cursor1::ABSOLUTE, fetch_direction::ABSOLUTE),
        (cursor1::ABSOLUTE, fetch_direction::FIRST | fetch_direction::LAST),
        (cursor1::RELATIVE, fetch_direction::RELATIVE | fetch_direction::PRIOR),
        (cursor1::BOOKMARK, fetch_direction::BOOKMARK),
    ] {
        assert_eq!(of_static & cursor != 0, directions & direction == direction, "{direction:#x}");
    }
    // (bit of 3.x, bit of 2.x)
    let agree = |bits: u32, former: u32, pairs: &[(u32, u32)]| {
        pairs.iter().all(|&(bit, other)| (bits & bit != 0) == (former & other != 0))
    };
    // POSITION, REFRESH, UPDATE, DELETE, ADD
    let operations = [(0x200, 1), (0x1000, 2), (0x400, 4), (0x800, 8), (0x1_0000, 16)];
    assert!(agree(of_static | of_forward, long(info::POS_OPERATIONS), &operations));
    // NO_CHANGE, EXCLUSIVE, UNLOCK
    assert!(agree(of_static | of_forward, long(info::LOCK_TYPES), &[(0x40, 1), (0x80, 2), (0x100, 4)]));
    // DELETE, UPDATE, SELECT FOR UPDATE
    let positioned = [(0x4000, 1), (0x2000, 2), (0x8000, 4)];
    assert!(agree(of_forward, long(info::POSITIONED_STATEMENTS), &positioned));
    let attributes2 = long(info::STATIC_CURSOR_ATTRIBUTES2) | long(info::FORWARD_ONLY_CURSOR_ATTRIBUTES2);
    assert_eq!(attributes2 & 0xF, long(info::SCROLL_CONCURRENCY));
    assert_eq!((attributes2 >> 4) & 0x7, long(info::STATIC_SENSITIVITY));
    // Forward-only and static cursors, and no others.
    let kinds = [
        (0x1, info::FORWARD_ONLY_CURSOR_ATTRIBUTES1),
        (0x2, info::KEYSET_CURSOR_ATTRIBUTES1),
        (0x4, info::DYNAMIC_CURSOR_ATTRIBUTES1),
        (0x10, info::STATIC_CURSOR_ATTRIBUTES1),
    ];
    for (bit, id) in kinds {
        assert_eq!(long(info::SCROLL_OPTIONS) & bit != 0, long(id) != 0, "{id}");
    }
    assert_eq!(of_forward & (cursor1::ABSOLUTE | cursor1::RELATIVE | cursor1::BOOKMARK), 0);
    assert_eq!(long(info::OJ_CAPABILITIES), long(info::OJ_CAPABILITIES_2));
}

#[test]
fn masks_have_their_documented_values() {
    for (id, value) in [
        (info::STATIC_CURSOR_ATTRIBUTES1, 0xF_EE4F),
        (info::STATIC_CURSOR_ATTRIBUTES2, 0x9889),
        (info::FORWARD_ONLY_CURSOR_ATTRIBUTES1, 0x1_EE41),
        (info::FORWARD_ONLY_CURSOR_ATTRIBUTES2, 0x8889),
        (info::SCROLL_CONCURRENCY, 0x9),
        (info::POS_OPERATIONS, 0x1D),
        (info::POSITIONED_STATEMENTS, 0x7),
        (info::STATIC_SENSITIVITY, 0),
        (info::BOOKMARK_PERSISTENCE, 0x50),
        (info::GETDATA_EXTENSIONS, 0x1F),
        (info::SCROLL_OPTIONS, 0x11),
        (info::TXN_ISOLATION_OPTION, 0xE),
        (info::SUBQUERIES, 0x1F),
        (info::SQL92_PREDICATES, 0x3E07),
        (info::SQL92_STRING_FUNCTIONS, 0xEE),
        (info::SQL92_GRANT, 0x1F70),
        (info::SQL92_REVOKE, 0x7D90),
        (info::CREATE_TABLE, 0x3E0F),
        (info::ALTER_TABLE, 0x9BEB),
        (info::CREATE_DOMAIN, 0xF),
        (info::ALTER_DOMAIN, 0x1E),
        (info::CONVERT_VARCHAR, 0x1E7_FFFF),
        (info::CONVERT_INTEGER, 0xE0_63FF),
        (info::CONVERT_DATE, 0xE2_8301),
        (info::CONVERT_INTERVAL_DAY_TIME, 0),
    ] {
        assert_eq!(long(id), value, "{id}: {:#x}", long(id));
    }
}

#[test]
fn the_driver_answers_for_itself_without_a_connection() {
    let ids = (0..=u16::MAX).filter(|&id| !needs_connection(id));
    assert_eq!(ids.collect::<Vec<_>>(), [6, 7, 77, 10023, 10024, 10025]);
    for id in [6, 7, 77, 10023, 10024, 10025] {
        assert_eq!(answer(id, &Facts::default()), answer(id, &firebird_5()));
    }
}

proptest! {
    #[test]
    fn any_words_of_a_server_are_a_release(words in "[A-Z]{0,2}-?[A-Z]?[0-9.]{0,30}.{0,20}") {
        let version = Release::read(&words).version();
        let mut parts = version.split(['.', ' ']);
        for width in [2, 2, 4] {
            let part = parts.next().unwrap_or_default();
            prop_assert!(part.len() >= width && part.bytes().all(|byte| byte.is_ascii_digit()), "{version}");
        }
    }
}
