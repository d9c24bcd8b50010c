//! The names of cursors.

use crate::odbc::*;
use crate::support::{Statement, fresh};
use firearrow_testkit::{Generation, Target, matrix};
use std::ptr::null_mut;

fn set(statement: &Statement, name: &str) -> Return {
    // SAFETY: the text has its length.
    unsafe { SQLSetCursorName(statement.handle, name.as_ptr(), name.len() as i16) }
}

fn get(statement: &Statement) -> String {
    let (mut buffer, mut length) = ([0_u8; 200], 0);
    // SAFETY: the buffer has its length.
    let code = unsafe { SQLGetCursorName(statement.handle, buffer.as_mut_ptr(), 200, &mut length) };
    assert_eq!(code, SUCCESS);
    assert_eq!(buffer[length as usize], 0);
    String::from_utf8(buffer[..length as usize].to_vec()).expect("UTF-8")
}

fn refused(statement: &Statement, name: &str) -> String {
    assert_eq!(set(statement, name), ERROR, "{name}");
    statement.state()
}

matrix!(
    all,
    fn cursors_have_names_of_their_own(target: &Target) {
        let connection = fresh(target);
        let (one, other) = (connection.statement(), connection.statement());
        assert!(get(&one).starts_with("SQL_CUR") && get(&one).len() >= 8);
        assert_ne!(get(&one), get(&other));
        assert_eq!(get(&one), get(&one));
        assert_eq!((set(&one, "Größe 😀"), get(&one).as_str()), (SUCCESS, "Größe 😀"));
        assert_eq!(set(&one, "Größe 😀"), SUCCESS);
        assert_eq!(refused(&other, "Größe 😀"), "3C000");
        assert_eq!(set(&one, "C"), SUCCESS);
        // The former name is free, and so are those of statements that were freed.
        assert_eq!(set(&other, "Größe 😀"), SUCCESS);
        drop(one);
        assert_eq!((set(&other, "C"), get(&other).as_str()), (SUCCESS, "C"));
        let elsewhere = fresh(target);
        assert_eq!(set(&elsewhere.statement(), "C"), SUCCESS);
    },
    fn bad_names_are_refused(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        for name in ["SQL_CURX", "sql_cur1", "SQLCUR", "SqlCurX", "", "   "] {
            assert_eq!(refused(&statement, name), "34000", "{name:?}");
        }
        let longest = if target.generation() == Generation::V3_0 { 31 } else { 63 };
        assert_eq!(refused(&statement, &"é".repeat(longest + 1)), "34000");
        assert_eq!(set(&statement, &"é".repeat(longest)), SUCCESS);
        assert_eq!(get(&statement), "é".repeat(longest));
        // SAFETY: no text is read.
        unsafe {
            assert_eq!(SQLSetCursorName(statement.handle, std::ptr::null(), 3), ERROR);
            assert_eq!(statement.state(), "HY009");
            assert_eq!(SQLSetCursorName(statement.handle, c"C".as_ptr().cast(), -1), ERROR);
            assert_eq!(statement.state(), "HY090");
            assert_eq!(SQLGetCursorName(statement.handle, null_mut(), -1, null_mut()), ERROR);
            assert_eq!(statement.state(), "HY090");
        }
    },
    fn names_that_do_not_fit_are_cut(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(set(&statement, "añ😀b"), SUCCESS);
        let (mut narrow, mut wide, mut length) = ([0xAA_u8; 8], [0xAAAA_u16; 8], 0);
        // SAFETY: the buffers have their lengths.
        unsafe {
            let code = SQLGetCursorName(statement.handle, narrow.as_mut_ptr(), 5, &mut length);
            assert_eq!((code, length, &narrow[..5]), (SUCCESS_WITH_INFO, 8, &b"a\xC3\xB1\0\xAA"[..]));
            assert_eq!(statement.state(), "01004");
            let code = SQLGetCursorNameW(statement.handle, wide.as_mut_ptr(), 4, &mut length);
            assert_eq!((code, length, wide[..3].to_vec()), (SUCCESS_WITH_INFO, 5, vec![0x61, 0xF1, 0]));
            let code = SQLGetCursorNameW(statement.handle, wide.as_mut_ptr(), 6, &mut length);
            assert_eq!((code, length), (SUCCESS, 5));
            assert_eq!(String::from_utf16_lossy(&wide[..5]), "añ😀b");
            assert_eq!((wide[5], wide[6]), (0, 0xAAAA));
            assert_eq!(SQLGetCursorName(statement.handle, null_mut(), 0, &mut length), SUCCESS);
            assert_eq!(length, 8);
            let name: Vec<u16> = "ß😀".encode_utf16().collect();
            assert_eq!(SQLSetCursorNameW(statement.handle, name.as_ptr(), 3), SUCCESS);
        }
        assert_eq!(get(&statement), "ß😀");
    },
);
