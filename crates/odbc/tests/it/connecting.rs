//! Connecting: what is wrong, what is missing, and what comes back.

use crate::odbc::*;
use crate::support::{Connection, fresh_string, unconnected};
use firearrow_testkit::{Generation, Target, matrix};
use std::ptr::null_mut;

fn state(connection: &Connection) -> String {
    connection.records().first().map(|record| record.state.clone()).unwrap_or_default()
}

/// The state of a failure to connect; the handle can be used again.
fn refused(text: &str) -> String {
    let connection = unconnected(380);
    assert_eq!(connection.try_connect(text), ERROR, "{text}");
    let found = state(&connection);
    assert!(!connection.records()[0].message.is_empty());
    // SAFETY: handles are checked.
    unsafe {
        assert_eq!(SQLDisconnect(connection.handle), ERROR);
    }
    assert_eq!(state(&connection), "08003");
    found
}

/// Connects, and returns the code and the whole connection string that had an effect.
fn connect(connection: &Connection, text: &str, capacity: i16) -> (Return, String, i16) {
    let (mut buffer, mut length) = (vec![0_u8; 4096], -1);
    // SAFETY: the text and the buffer have their lengths.
    let code = unsafe {
        SQLDriverConnect(
            connection.handle,
            null_mut(),
            text.as_ptr(),
            text.len() as i16,
            buffer.as_mut_ptr(),
            capacity,
            &mut length,
            0,
        )
    };
    let end = buffer.iter().position(|byte| *byte == 0).unwrap_or(0);
    buffer.truncate(end);
    (code, String::from_utf8(buffer).expect("UTF-8"), length)
}

fn browse(connection: &Connection, text: &str) -> (Return, String) {
    let (mut buffer, mut length) = ([0_u8; 4096], -1);
    // SAFETY: as above.
    let code = unsafe {
        let (text, count) = (text.as_ptr(), text.len() as i16);
        SQLBrowseConnect(connection.handle, text, count, buffer.as_mut_ptr(), 4096, &mut length)
    };
    (code, String::from_utf8(buffer[..length.max(0) as usize].to_vec()).expect("UTF-8"))
}

/// The address of a new database in the words of other drivers, without user and password.
fn address(target: &Target) -> String {
    let server = target.server();
    let path = server.fresh_database_path();
    server.create_database(&path).expect("a database");
    format!("DBNAME={}/{}:{}", server.host(), server.port(), path.display())
}

matrix!(
    wire,
    fn what_is_wrong_has_a_state_of_its_own(target: &Target) {
        let (address, server) = (address(target), target.server());
        let login = format!("UID={};PWD={}", server.user(), server.password());
        assert_eq!(refused(&format!("{address};UID={};PWD=wrong", server.user())), "28000");
        assert_eq!(refused(&format!("{address};UID=NOBODY;PWD=x")), "28000");
        assert_eq!(refused(&format!("{address}.missing;{login}")), "08001");
        assert_eq!(refused(&format!("DBNAME=no.such.host.invalid:x;{login}")), "08001");
        assert_eq!(refused(&format!("DBNAME=127.0.0.1/1:x;{login}")), "08001");
        let connection = unconnected(380);
        connection.connect(&format!("{address};{login}"));
        assert_eq!(connection.try_connect(&format!("{address};{login}")), ERROR);
        assert_eq!(state(&connection), "08002");
        assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE").len(), 1);
    },
    fn arguments_are_asked_for_one_after_the_other(target: &Target) {
        let (address, server) = (address(target), target.server());
        let connection = unconnected(380);
        let (code, asked) = browse(&connection, "DRIVER={Firebird}");
        assert_eq!(code, NEED_DATA);
        for word in ["DBNAME", "UID", "PWD"] {
            assert!(asked.contains(&format!("{word}:")), "{asked}");
        }
        let (code, asked) = browse(&connection, &format!("UID={};PWD={}", server.user(), server.password()));
        assert_eq!(code, NEED_DATA);
        assert!(asked.contains("DBNAME:") && !asked.contains("UID:"), "{asked}");
        let (code, text) = browse(&connection, &address);
        assert_eq!(code, SUCCESS, "{:?}", connection.records());
        assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE").len(), 1);
        let again = unconnected(380);
        again.connect(&text);
        // What was collected for a failed attempt, or before disconnecting, is forgotten.
        // SAFETY: handles are checked.
        unsafe {
            assert_eq!(SQLDisconnect(again.handle), SUCCESS);
        }
        assert_eq!(browse(&again, "UID=x").0, NEED_DATA);
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLDisconnect(again.handle) }, SUCCESS, "it ends browsing");
        again.connect(&text);
    },
);

matrix!(
    all,
    fn the_string_that_had_an_effect_connects_again(target: &Target) {
        let text = fresh_string(target) + ";ROLE={a;b}}c};QUERYTIMEOUT=7;PWD2=x;App={}";
        let connection = unconnected(380);
        let (code, out, length) = connect(&connection, &text, 4096);
        // PWD2 is unknown.
        assert_eq!((code, state(&connection).as_str()), (SUCCESS_WITH_INFO, "01S00"));
        assert_eq!(length as usize, out.len());
        assert!(out.contains("{a;b}}c}") && !out.contains("PWD2"), "{out}");
        let again = unconnected(380);
        let (code, same, _) = connect(&again, &out, 4096);
        assert_eq!((code, same.as_str()), (SUCCESS, out.as_str()), "{:?}", again.records());
        assert_eq!(again.statement().get(0), 7);
        // A buffer that is too small does not prevent connecting.
        for capacity in [0, 1, 10] {
            let cut = unconnected(380);
            let (code, part, length) = connect(&cut, &out, capacity);
            assert_eq!((code, length as usize), (SUCCESS_WITH_INFO, out.len()));
            assert_eq!(state(&cut), "01004");
            assert!(out.starts_with(&part) && part.len() < capacity.max(1) as usize);
            assert_eq!(cut.texts("SELECT 1 FROM RDB$DATABASE").len(), 1);
        }
        let refused = unconnected(380);
        assert_eq!(connect(&refused, &out, -1).0, ERROR);
        assert_eq!(state(&refused), "HY090");
    },
    fn settings_of_the_string_are_executed(target: &Target) {
        let text = fresh_string(target);
        let connection = unconnected(380);
        connection.connect(
            &(text.clone() + ";CONNSETTINGS={CREATE TABLE T (ID INTEGER); INSERT INTO T VALUES (5)}"),
        );
        assert_eq!(connection.texts("SELECT ID FROM T"), [[Some("5".to_owned())]]);
        let failing = unconnected(380);
        assert_eq!(failing.try_connect(&(text.clone() + ";CONNSETTINGS=SELEC")), ERROR);
        let record = &failing.records()[0];
        assert_eq!(record.state, "42000");
        assert!(record.message.contains("CONNSETTINGS 'SELEC': "), "{record:?}");
        // Firebird 3 has no such rules, and skips them.
        if target.generation() != Generation::V3_0 {
            assert_eq!(failing.try_connect(&(text.clone() + ";SETCOMPATBIND=NONSENSE")), ERROR);
            let record = &failing.records()[0];
            assert!(record.message.contains("SETCOMPATBIND: "), "{record:?}");
        }
        failing.connect(&text);
    },
    fn bad_arguments_are_refused(target: &Target) {
        let text = fresh_string(target);
        for bad in ["READONLY=perhaps", "ISOLATION=none", "QUERYTIMEOUT=-1", "LOCKTIMEOUT=x"] {
            assert!(matches!(refused(&format!("{text};{bad}")).as_str(), "HY000" | "01S00"), "{bad}");
        }
        let connection = unconnected(380);
        // SAFETY: the text has its length, or is refused.
        unsafe {
            let connect = |text: *const u8, length, completion| {
                SQLDriverConnect(
                    connection.handle,
                    null_mut(),
                    text,
                    length,
                    null_mut(),
                    0,
                    null_mut(),
                    completion,
                )
            };
            assert_eq!(connect(text.as_ptr(), text.len() as i16, 4), ERROR);
            assert_eq!(state(&connection), "HY110");
            assert_eq!(connect(text.as_ptr(), -7, 0), ERROR);
            assert_eq!(state(&connection), "HY090");
            assert_eq!(connect(std::ptr::null(), -3, 0), ERROR);
            assert_eq!(state(&connection), "HY009");
            for completion in [0, 1, 2, 3] {
                assert_eq!(connect(text.as_ptr(), text.len() as i16, completion), SUCCESS);
                assert_eq!(SQLDisconnect(connection.handle), SUCCESS);
            }
        }
        for broken in ["DBNAME={x", "=x", "URL=firebird:///"] {
            assert!(!refused(broken).is_empty(), "{broken}");
        }
    },
    fn wide_text_connects_as_well(target: &Target) {
        let text: Vec<u16> = fresh_string(target).encode_utf16().collect();
        let connection = unconnected(380);
        let (mut buffer, mut length) = ([0_u16; 2048], 0);
        // SAFETY: the text and the buffer have their lengths.
        let code = unsafe {
            let (from, count) = (text.as_ptr(), text.len() as i16);
            SQLDriverConnectW(
                connection.handle,
                null_mut(),
                from,
                count,
                buffer.as_mut_ptr(),
                2048,
                &mut length,
                0,
            )
        };
        assert_eq!(code, SUCCESS, "{:?}", connection.records());
        assert_eq!(buffer.iter().position(|unit| *unit == 0), Some(length as usize));
        assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE").len(), 1);
    },
);

#[test]
fn unknown_data_sources_are_refused() {
    let connection = unconnected(3);
    let name = "no such data source";
    // SAFETY: the text has its length.
    let code = unsafe {
        let none = std::ptr::null();
        SQLConnect(connection.handle, name.as_ptr(), name.len() as i16, none, 0, none, 0)
    };
    assert_eq!(code, ERROR);
    assert!(!state(&connection).is_empty());
}
