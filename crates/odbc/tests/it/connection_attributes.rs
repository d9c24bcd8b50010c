//! Attributes of environments and connections.

use crate::odbc::*;
use crate::support::{Connection, fresh, fresh_string, number, records, unconnected};
use crate::transactions::integer;
use firearrow_testkit::{Generation, Target, matrix};
use std::ffi::c_void;
use std::ptr::null_mut;

const ODBC_VERSION: i32 = 200;
const OUTPUT_NTS: i32 = 10001;
const ACCESS_MODE: i32 = 101;
const AUTOCOMMIT: i32 = 102;
const ISOLATION: i32 = 108;
const CURRENT_CATALOG: i32 = 109;
const PACKET_SIZE: i32 = 112;
const RESET_CONNECTION: i32 = 116;
const METADATA_ID: i32 = 10014;

fn state(connection: &Connection) -> String {
    connection.records().first().map(|record| record.state.clone()).unwrap_or_default()
}

fn refused(connection: &Connection, attribute: i32, value: usize) -> String {
    assert_eq!(connection.set(attribute, value), ERROR, "{attribute} = {value}");
    state(connection)
}

fn of_environment(environment: Handle, attribute: i32) -> u32 {
    let (mut value, mut length) = ([0xAAAA_AAAA_u32; 2], 0);
    // SAFETY: the place is there.
    let code = unsafe { SQLGetEnvAttr(environment, attribute, value.as_mut_ptr().cast(), 0, &mut length) };
    assert_eq!((code, length, value[1]), (SUCCESS, 4, 0xAAAA_AAAA));
    value[0]
}

#[test]
fn environments_speak_three_versions() {
    for version in [2, 3, 380] {
        let connection = unconnected(version);
        assert_eq!(of_environment(connection.environment, ODBC_VERSION), version as u32);
    }
    let mut environment = null_mut();
    // SAFETY: the place is there; no other value is an address.
    unsafe {
        assert_eq!(SQLAllocHandle(ENV, null_mut(), &mut environment), SUCCESS);
        let set = |attribute, value| match SQLSetEnvAttr(environment, attribute, number(value), 0) {
            ERROR => records(ENV, environment)[0].state.clone(),
            code => code.to_string(),
        };
        for bad in [0, 1, 4, 300, 381] {
            assert_eq!(set(ODBC_VERSION, bad), "HY024");
        }
        assert_eq!(
            (set(OUTPUT_NTS, 1), set(OUTPUT_NTS, 0), set(OUTPUT_NTS, 7)),
            ("0".into(), "HYC00".into(), "HY024".into())
        );
        assert_eq!((set(201, 1), set(202, 1), set(4711, 1)), ("0".into(), "0".into(), "HY092".into()));
        assert_eq!((of_environment(environment, 201), of_environment(environment, OUTPUT_NTS)), (1, 1));
        assert_eq!(SQLGetEnvAttr(environment, 4711, null_mut(), 0, null_mut()), ERROR);
        let mut connection = null_mut();
        assert_eq!(SQLAllocHandle(DBC, environment, &mut connection), SUCCESS);
        assert_eq!(SQLSetEnvAttr(environment, ODBC_VERSION, number(3), 0), ERROR);
        assert_eq!(records(ENV, environment)[0].state, "HY010");
        assert_eq!(SQLFreeHandle(DBC, connection), SUCCESS);
        assert_eq!(SQLFreeHandle(ENV, environment), SUCCESS);
        // The older function is of ODBC 2.
        assert_eq!(SQLAllocEnv(&mut environment), SUCCESS);
        assert_eq!(of_environment(environment, ODBC_VERSION), 2);
        assert_eq!(SQLAllocConnect(environment, &mut connection), SUCCESS);
        assert_eq!((SQLFreeConnect(connection), SQLFreeEnv(environment)), (SUCCESS, SUCCESS));
    }
}

matrix!(
    all,
    fn attributes_are_told_as_they_were_set(target: &Target) {
        let text = fresh_string(target);
        let connection = unconnected(380);
        // Before and after connecting.
        for is_open in [false, true] {
            if is_open {
                connection.connect(&text);
            }
            for (attribute, values) in [
                (ACCESS_MODE, [1, 0]),
                (AUTOCOMMIT, [0, 1]),
                (103, [9, 3]),
                (ISOLATION, [8, 2]),
                (METADATA_ID, [1, 0]),
                (114, [1, 0]),
            ] {
                for value in values {
                    assert_eq!(
                        connection.set(attribute, value),
                        SUCCESS,
                        "{attribute}: {:?}",
                        connection.records()
                    );
                    assert_eq!(integer(&connection, attribute), value as u32, "{attribute}");
                }
            }
            for (attribute, value) in [(115, 0), (115, 1), (4, 0), (117, 0), (110, 2), (104, 0)] {
                assert_eq!(connection.set(attribute, value), SUCCESS, "{attribute}");
            }
            for (attribute, value, expected) in [
                (ACCESS_MODE, 2, "HY024"),
                (AUTOCOMMIT, 7, "HY024"),
                (ISOLATION, 32, "HY024"),
                (4, 1, "HYC00"),
                (117, 1, "HYC00"),
                (106, 0, "HYC00"),
                (107, 0, "HYC00"),
                (1207, 0, "HYC00"),
                (CURRENT_CATALOG, 0, "HYC00"),
                (10001, 1, "HY092"),
                (1209, 0, "HY092"),
                (99_999, 0, "HY092"),
                (0, 5, "HY092"),
                (6, 3, "HY092"),
                (RESET_CONNECTION, 2, "HY024"),
            ] {
                assert_eq!(refused(&connection, attribute, value), expected, "{attribute}");
            }
            assert_eq!(connection.set(PACKET_SIZE, 4096), SUCCESS_WITH_INFO);
            assert_eq!((state(&connection).as_str(), integer(&connection, PACKET_SIZE)), ("01S02", 0));
            let (mut window, mut length) = (0_usize, 0);
            // SAFETY: the place is there.
            let code = unsafe {
                assert_eq!(connection.set(111, usize::MAX - 6), SUCCESS);
                SQLGetConnectAttr(connection.handle, 111, (&raw mut window).cast(), 0, &mut length)
            };
            assert_eq!((code, window), (SUCCESS, usize::MAX - 6));
            assert_eq!(integer(&connection, 10001), 1);
            assert_eq!(integer(&connection, 4), 0);
        }
        assert_eq!(integer(&connection, 1209), 0);
        let closed = unconnected(380);
        let mut value = 0_u32;
        // SAFETY: the place is there.
        let code = unsafe { SQLGetConnectAttr(closed.handle, 1209, (&raw mut value).cast(), 4, null_mut()) };
        assert_eq!((code, state(&closed).as_str()), (ERROR, "08003"));
    },
    fn what_was_set_before_connecting_holds_afterwards(target: &Target) {
        let text = fresh_string(target);
        let first = unconnected(380);
        first.connect(&text);
        first.run("CREATE TABLE T (ID INTEGER)");
        let connection = unconnected(380);
        for (attribute, value) in [(AUTOCOMMIT, 0), (ISOLATION, 4), (METADATA_ID, 1)] {
            assert_eq!(connection.set(attribute, value), SUCCESS);
        }
        connection.connect(&text);
        let statement = connection.statement();
        assert_eq!(statement.get(METADATA_ID), 1);
        statement.run("SELECT COUNT(*) FROM T");
        first.run("INSERT INTO T VALUES (1)");
        assert_eq!(connection.texts("SELECT COUNT(*) FROM T"), [[Some("0".to_owned())]]);
        assert_eq!(connection.end(0), SUCCESS);
        assert_eq!(connection.texts("SELECT COUNT(*) FROM T"), [[Some("1".to_owned())]]);
    },
    fn the_catalog_is_the_database(target: &Target) {
        let connection = fresh(target);
        let (mut narrow, mut wide, mut length) = ([0_u8; 1000], [0_u16; 1000], 0);
        let whole =
            connection.texts("SELECT MON$DATABASE_NAME FROM MON$DATABASE")[0][0].clone().expect("a name");
        // SAFETY: the buffers have their lengths.
        unsafe {
            let get = |buffer: *mut c_void, capacity, length| {
                SQLGetConnectAttr(connection.handle, CURRENT_CATALOG, buffer, capacity, length)
            };
            assert_eq!(get(narrow.as_mut_ptr().cast(), 1000, &mut length), SUCCESS);
            let told = String::from_utf8(narrow[..length as usize].to_vec()).expect("UTF-8");
            assert_eq!(told.rsplit('/').next(), whole.rsplit('/').next());
            assert_eq!(get(narrow.as_mut_ptr().cast(), 5, &mut length), SUCCESS_WITH_INFO);
            assert_eq!((length as usize, narrow[4], state(&connection).as_str()), (told.len(), 0, "01004"));
            let mut get = |capacity, length| {
                SQLGetConnectAttrW(
                    connection.handle,
                    CURRENT_CATALOG,
                    wide.as_mut_ptr().cast(),
                    capacity,
                    length,
                )
            };
            assert_eq!(get(2000, &mut length), SUCCESS);
            assert_eq!(length as usize, 2 * told.encode_utf16().count());
            assert_eq!(get(7, &mut length), ERROR);
            assert_eq!(state(&connection), "HY090");
            assert_eq!(String::from_utf16_lossy(&wide[..told.len()]), told);
        }
    },
    fn a_reset_makes_it_as_good_as_new(target: &Target) {
        let connection = unconnected(380);
        assert_eq!(connection.set(AUTOCOMMIT, 0), SUCCESS);
        connection.connect(&(fresh_string(target) + ";QUERYTIMEOUT=7"));
        connection.run("CREATE TABLE T (ID INTEGER)");
        assert_eq!(connection.end(0), SUCCESS);
        let (statement, cursor) = (connection.statement(), connection.statement());
        let descriptor = crate::handles::allocate(DESC, connection.handle);
        let implicit = statement.get(10010);
        for (attribute, value) in [(0, 3), (1, 5), (27, 4), (22, 2), (5, 16), (10010, descriptor.addr())] {
            assert_eq!(statement.set(attribute, value), SUCCESS, "{attribute}");
        }
        connection.run("INSERT INTO T VALUES (1)");
        cursor.run("SELECT * FROM T");
        if target.generation() != Generation::V3_0 {
            connection.run("SET TIME ZONE 'Pacific/Auckland'");
        }
        assert_eq!(connection.set(RESET_CONNECTION, 1), SUCCESS, "{:?}", connection.records());
        assert_eq!((integer(&connection, AUTOCOMMIT), integer(&connection, ISOLATION)), (1, 2));
        for (attribute, value) in [(0, 7), (1, 0), (27, 1), (22, 1), (5, 0), (10010, implicit)] {
            assert_eq!(statement.get(attribute), value, "{attribute}");
        }
        assert_eq!(cursor.fetch(), ERROR);
        // The open work was rolled back, and autocommit really is on.
        statement.run("INSERT INTO T VALUES (2)");
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLEndTran(DBC, connection.handle, 1) }, SUCCESS);
        assert_eq!(connection.texts("SELECT ID FROM T"), [[Some("2".to_owned())]]);
        if target.generation() != Generation::V3_0 {
            let zone =
                connection.texts("SELECT RDB$GET_CONTEXT('SYSTEM', 'SESSION_TIMEZONE') FROM RDB$DATABASE");
            assert_ne!(zone, [[Some("Pacific/Auckland".to_owned())]]);
        }
    },
    fn applications_of_odbc_2_set_the_defaults_of_statements(target: &Target) {
        let connection = unconnected(2);
        connection.connect(&fresh_string(target));
        let before = connection.statement();
        // SAFETY: the values are no addresses, the places are there.
        unsafe {
            assert_eq!(SQLSetConnectOption(connection.handle, 0, 9), SUCCESS);
            assert_eq!(SQLSetConnectOption(connection.handle, 1, 20), SUCCESS);
            assert_eq!(SQLSetConnectOption(connection.handle, 102, 0), SUCCESS);
            let mut value = [0xAAAA_AAAA_u32; 2];
            assert_eq!(SQLGetConnectOption(connection.handle, 102, value.as_mut_ptr().cast()), SUCCESS);
            assert_eq!(value, [0, 0xAAAA_AAAA]);
            let after = connection.statement();
            assert_eq!((after.get(0), after.get(1), before.get(0)), (9, 20, 0));
            let mut rows = 0_usize;
            assert_eq!(SQLSetStmtOption(after.handle, 1, 30), SUCCESS);
            assert_eq!(SQLGetStmtOption(after.handle, 1, (&raw mut rows).cast()), SUCCESS);
            assert_eq!(rows, 30);
            assert_eq!(SQLSetScrollOptions(after.handle, 1, -3, 5), SUCCESS);
            assert_eq!((after.get(6), after.get(9)), (3, 5));
            assert_eq!(SQLParamOptions(after.handle, 3, &mut rows), SUCCESS);
            assert_eq!((after.get(22), after.get(21)), (3, (&raw mut rows).addr()));
            assert_eq!(SQLTransact(null_mut(), connection.handle, 0), SUCCESS);
        }
        // A search in vain is a success here.
        connection.run("CREATE TABLE T (ID INTEGER)");
        assert_eq!(connection.end(0), SUCCESS);
        assert_eq!(connection.statement().execute_directly("DELETE FROM T"), SUCCESS);
    },
);
