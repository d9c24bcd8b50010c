//! What the driver, the server and the database are asked about through the C functions.

use crate::odbc::*;
use crate::support::{Connection, fresh, unconnected};
use firearrow_testkit::{Generation, Target, matrix};
use std::ptr::null_mut;

fn state(connection: &Connection) -> String {
    connection.records().first().map(|record| record.state.clone()).unwrap_or_default()
}

fn text(connection: &Connection, info: u16) -> String {
    let (mut buffer, mut length) = ([0xAA_u8; 8000], -1);
    // SAFETY: the buffer has its length.
    let code = unsafe { SQLGetInfo(connection.handle, info, buffer.as_mut_ptr().cast(), 8000, &mut length) };
    assert_eq!(code, SUCCESS, "{info}: {:?}", connection.records());
    let length = length as usize;
    // Nothing is written after the terminator.
    assert_eq!((buffer[length], buffer[length + 1]), (0, 0xAA), "{info}");
    String::from_utf8(buffer[..length].to_vec()).expect("UTF-8")
}

/// A number of exactly `N` bytes.
fn bytes<const N: usize>(connection: &Connection, info: u16) -> [u8; N] {
    let (mut buffer, mut length) = ([0xAA_u8; 16], -1);
    // SAFETY: the buffer is larger than any number.
    let code = unsafe { SQLGetInfo(connection.handle, info, buffer.as_mut_ptr().cast(), 0, &mut length) };
    assert_eq!((code, length as usize), (SUCCESS, N), "{info}: {:?}", connection.records());
    assert!(buffer[N..].iter().all(|byte| *byte == 0xAA), "{info} has {N} bytes");
    buffer[..N].try_into().expect("N bytes")
}

fn short(connection: &Connection, info: u16) -> u16 {
    u16::from_ne_bytes(bytes(connection, info))
}

fn long(connection: &Connection, info: u16) -> u32 {
    u32::from_ne_bytes(bytes(connection, info))
}

matrix!(
    all,
    fn the_database_and_the_driver_have_names(target: &Target) {
        let connection = fresh(target);
        assert_eq!((text(&connection, 77), text(&connection, 17)), ("03.80".into(), "Firebird".into()));
        let major = match target.generation() {
            Generation::V3_0 => "03.00.",
            Generation::V4_0 => "04.00.",
            Generation::V5_0 => "05.00.",
        };
        let version = text(&connection, 18);
        let engine = connection.texts("SELECT RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION') FROM RDB$DATABASE");
        let engine = engine[0][0].clone().expect("a version");
        assert!(version.starts_with(major) && version.contains(&engine), "{version} {engine}");
        assert!(
            version.as_bytes()[..10].iter().all(|byte| byte.is_ascii_digit() || *byte == b'.'),
            "{version}"
        );
        let user = connection.texts("SELECT TRIM(CURRENT_USER) FROM RDB$DATABASE")[0][0].clone();
        assert_eq!(Some(text(&connection, 47)), user);
        assert!(text(&connection, 16).ends_with(".fdb"), "{}", text(&connection, 16));
        assert_eq!((text(&connection, 2), text(&connection, 29)), ("".into(), "\"".into()));
        assert!(!text(&connection, 6).is_empty() && text(&connection, 7).len() >= 10);
        for (info, expected) in [
            (10003, "N"),
            (41, ""),
            (42, ""),
            (39, ""),
            (45, "table"),
            (40, "procedure"),
            (14, "\\"),
            (94, "$"),
            (19, "N"),
            (20, "N"),
            (25, "N"),
            (21, "Y"),
            (36, "N"),
            (37, "Y"),
            (111, "N"),
            (10000, "1995"),
        ] {
            assert_eq!(text(&connection, info), expected, "{info}");
        }
    },
    fn numbers_have_the_widths_of_the_standard(target: &Target) {
        let connection = fresh(target);
        let longest = if target.generation() == Generation::V3_0 { 31 } else { 63 };
        for (info, expected) in [
            (23, 1),
            (24, 1),
            (46, 2),
            (1, 0),
            (0, 0),
            (28, 1),
            (93, 3),
            (74, 2),
            (85, 1),
            (88, 2),
            (22, 0),
            (75, 1),
            (114, 0),
            (35, longest),
            (30, longest),
            (10005, longest),
            (32, 0),
        ] {
            assert_eq!(short(&connection, info), expected, "{info}");
        }
        for (info, expected) in [
            (26, 2),
            (72, 0x0E),
            (44, 0x11),
            (81, 0x1F),
            (10021, 0),
            (10022, 0),
            (10023, 0),
            (10025, 0),
            (153, 2),
            (154, 3),
            (118, 4),
            (96, 3),
            (95, 0x1F),
            (92, 0),
            (91, 0),
            (115, 0x7F),
        ] {
            assert_eq!(long(&connection, info), expected, "{info}");
        }
    },
    fn buffers_may_be_odd_small_or_absent(target: &Target) {
        let connection = fresh(target);
        let mut length = -1;
        let mut narrow = [0xAA_u8; 12];
        let mut wide = [0xAAAA_u16; 12];
        // SAFETY: the buffers are larger than the capacities.
        unsafe {
            let handle = connection.handle;
            assert_eq!(SQLGetInfo(handle, 17, null_mut(), 0, &mut length), SUCCESS);
            assert_eq!(length, 8);
            assert_eq!(SQLGetInfo(handle, 17, narrow.as_mut_ptr().cast(), 0, &mut length), SUCCESS_WITH_INFO);
            assert_eq!((length, narrow[0]), (8, 0xAA));
            assert_eq!(SQLGetInfo(handle, 17, narrow.as_mut_ptr().cast(), 5, &mut length), SUCCESS_WITH_INFO);
            assert_eq!((length, state(&connection).as_str(), &narrow[..6]), (8, "01004", &b"Fire\0\xAA"[..]));
            assert_eq!(SQLGetInfoW(handle, 17, null_mut(), 0, &mut length), SUCCESS);
            assert_eq!(length, 16);
            assert_eq!(SQLGetInfoW(handle, 17, wide.as_mut_ptr().cast(), 10, &mut length), SUCCESS_WITH_INFO);
            assert_eq!(
                (length, String::from_utf16_lossy(&wide[..4]), wide[4], wide[5]),
                (16, "Fire".into(), 0, 0xAAAA)
            );
            assert_eq!(SQLGetInfoW(handle, 17, wide.as_mut_ptr().cast(), 18, &mut length), SUCCESS);
            assert_eq!(
                (String::from_utf16_lossy(&wide[..8]), wide[8], wide[9]),
                ("Firebird".into(), 0, 0xAAAA)
            );
            for (bad, capacity) in [(17, 7), (17, -1), (17, i16::MIN)] {
                assert_eq!(SQLGetInfoW(handle, bad, wide.as_mut_ptr().cast(), capacity, &mut length), ERROR);
                assert_eq!(state(&connection), "HY090");
            }
            assert_eq!(SQLGetInfo(handle, 17, narrow.as_mut_ptr().cast(), -1, &mut length), ERROR);
            assert_eq!(SQLGetInfo(handle, 64_000, null_mut(), 0, null_mut()), ERROR);
            assert_eq!(state(&connection), "HY096");
            // Numbers do not care about the capacity.
            let mut number = 0_u16;
            assert_eq!(SQLGetInfoW(handle, 23, (&raw mut number).cast(), 1, null_mut()), SUCCESS);
            assert_eq!(number, 1);
        }
    },
    fn types_are_listed_in_order(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLGetTypeInfo(statement.handle, 0) }, SUCCESS);
        assert_eq!(statement.columns(), 19);
        let rows = statement.all_texts();
        let numbers: Vec<i32> =
            rows.iter().map(|row| row[1].clone().expect("a type").parse().expect("a number")).collect();
        assert!(numbers.is_sorted(), "{numbers:?}");
        let has = |name: &str| rows.iter().any(|row| row[0].as_deref() == Some(name));
        let is_new = target.generation() != Generation::V3_0;
        assert_eq!((has("INT128"), has("DECFLOAT"), has("TIME WITH TIME ZONE")), (is_new, is_new, is_new));
        for (sql_type, name) in
            [(12, "VARCHAR"), (4, "INTEGER"), (-5, "BIGINT"), (93, "TIMESTAMP"), (-7, "BOOLEAN")]
        {
            statement.close();
            // SAFETY: as above.
            assert_eq!(unsafe { SQLGetTypeInfoW(statement.handle, sql_type) }, SUCCESS);
            let rows = statement.all_texts();
            assert_eq!(rows[0][0].as_deref(), Some(name));
            assert!(rows.iter().all(|row| row[1] == Some(sql_type.to_string())));
        }
        statement.close();
        // SAFETY: as above. There are no intervals.
        assert_eq!(unsafe { SQLGetTypeInfo(statement.handle, 101) }, SUCCESS);
        assert_eq!(statement.fetch(), NO_DATA);
        statement.close();
        // SAFETY: as above.
        let unknown = unsafe { SQLGetTypeInfo(statement.handle, 4711) };
        assert_eq!((unknown, statement.state().as_str()), (ERROR, "HY004"));
    },
    fn the_lists_of_functions_agree(target: &Target) {
        let connection = fresh(target);
        let (mut all, mut former, mut one) = ([0_u16; 251], [0_u16; 101], 7_u16);
        (all[250], former[100]) = (0xAAAA, 0xAAAA);
        // SAFETY: the arrays have the sizes that the standard demands.
        unsafe {
            assert_eq!(SQLGetFunctions(connection.handle, 999, all.as_mut_ptr()), SUCCESS);
            assert_eq!(SQLGetFunctions(connection.handle, 0, former.as_mut_ptr()), SUCCESS);
            assert_eq!((all[250], former[100]), (0xAAAA, 0xAAAA));
            let mut count = 0;
            for id in 1..1100_u16 {
                if id == 999 || SQLGetFunctions(connection.handle, id, &mut one) != SUCCESS {
                    continue;
                }
                assert_eq!(all[usize::from(id >> 4)] >> (id & 15) & 1, one, "{id}");
                if id < 100 {
                    assert_eq!(former[usize::from(id)], one, "{id}");
                }
                count += one;
            }
            assert!(count > 70, "{count}");
            assert_eq!(SQLGetFunctions(connection.handle, 4711, &mut one), ERROR);
            assert_eq!(state(&connection), "HY095");
            assert_eq!(SQLGetFunctions(connection.handle, 6, null_mut()), ERROR);
            assert_eq!(state(&connection), "HY009");
        }
    },
);

#[test]
fn little_is_known_without_a_connection() {
    let connection = unconnected(380);
    assert_eq!(text(&connection, 77), "03.80");
    // SAFETY: nothing is written.
    assert_eq!(unsafe { SQLGetInfo(connection.handle, 18, null_mut(), 0, null_mut()) }, ERROR);
    assert_eq!(state(&connection), "08003");
}
