//! Narrow text that is not UTF-8.

use crate::buffers::{Buffer, get, wide};
use crate::odbc::*;
use crate::parameter::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;
use windows_sys::Win32::Globalization::GetACP;

/// `SQL_C_CHAR` with room for so many bytes.
fn narrow(capacity: usize) -> Buffer {
    Buffer { c_type: C_CHAR, capacity }
}

matrix!(
    all,
    fn narrow_data_is_in_the_character_set_of_the_connection(target: &Target) {
        let connection = unconnected(380);
        connection.connect(&format!("{};CharacterSet=WIN1251", fresh_string(target)));
        connection
            .run("CREATE TABLE T (V VARCHAR(9) CHARACTER SET UTF8, B BLOB SUB_TYPE TEXT CHARACTER SET UTF8)");
        let insert = connection.statement();
        insert.prepare("INSERT INTO T VALUES (?, ?)");
        let (mut short, mut long) =
            (Values::one(C_CHAR, 12, b"\xC4\xE0"), Values::one(C_CHAR, -1, b"\xCD\xE5\xF2"));
        insert.bind(1, INPUT, &mut short);
        insert.bind(2, INPUT, &mut long);
        assert_eq!(insert.execute(), SUCCESS, "{:?}", insert.records());
        let statement = connection.statement();
        statement.run("SELECT V, B, CAST(V AS VARCHAR(9)), V FROM T");
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(get(&statement, 1, narrow(3)), (SUCCESS, b"\xC4\xE0\0".to_vec(), 2));
        assert_eq!(get(&statement, 2, narrow(3)), (SUCCESS_WITH_INFO, b"\xCD\xE5\0".to_vec(), 3));
        assert_eq!(get(&statement, 2, narrow(3)), (SUCCESS, b"\xF2\0\xAA".to_vec(), 1));
        assert_eq!(get(&statement, 3, narrow(2)), (SUCCESS_WITH_INFO, b"\xC4\0".to_vec(), 2));
        let expected = [wide("Да"), vec![0, 0]].concat();
        assert_eq!(get(&statement, 4, Buffer { c_type: C_WCHAR, capacity: 6 }), (SUCCESS, expected, 4));
    },
    fn what_the_character_set_lacks_is_refused(target: &Target) {
        let connection = unconnected(380);
        connection.connect(&format!("{};CharacterSet=WIN1251", fresh_string(target)));
        connection
            .run("CREATE TABLE T (V VARCHAR(9) CHARACTER SET UTF8, B BLOB SUB_TYPE TEXT CHARACTER SET UTF8)");
        connection.run("INSERT INTO T VALUES (_WIN1252 x'E9', _WIN1252 x'E9')");
        let statement = connection.statement();
        statement.run("SELECT V, B FROM T");
        assert_eq!(statement.fetch(), SUCCESS);
        for column in [1, 2] {
            assert_eq!(get(&statement, column, narrow(9)).0, ERROR);
            assert_eq!(statement.state(), "22018");
            let (code, data, length) = get(&statement, column, Buffer { c_type: C_WCHAR, capacity: 4 });
            assert_eq!((code, data, length), (SUCCESS, [wide("é"), vec![0, 0]].concat(), 2));
        }
        let insert = connection.statement();
        insert.prepare("INSERT INTO T (V) VALUES (?)");
        let mut nothing = Values::one(C_CHAR, 12, &[0x98]);
        insert.bind(1, INPUT, &mut nothing);
        assert_eq!((insert.execute(), insert.state().as_str()), (ERROR, "22018"));
    },
    fn wide_functions_need_no_code_page(target: &Target) {
        let connection = fresh(target);
        let execute = |sql: &str| {
            let statement = connection.statement();
            let text: Vec<u16> = sql.encode_utf16().collect();
            let length = i32::try_from(text.len()).expect("a short text");
            // SAFETY: the text has its length.
            let code = unsafe { SQLExecDirectW(statement.handle, text.as_ptr(), length) };
            (statement, code)
        };
        assert_eq!(execute("CREATE TABLE \"Таблица\" (\"价格\" INTEGER)").1, SUCCESS);
        let (statement, code) = execute("SELECT \"价格\" FROM \"Таблица\"");
        assert_eq!(code, SUCCESS, "{:?}", statement.records());
        let (mut name, mut length) = ([0_u16; 9], 0);
        // SAFETY: the buffer has its length, and nothing else is asked for.
        let code = unsafe {
            let (nothing, none, no_size) = (null_mut(), null_mut(), null_mut());
            SQLDescribeColW(
                statement.handle,
                1,
                name.as_mut_ptr(),
                9,
                &mut length,
                nothing,
                no_size,
                none,
                null_mut(),
            )
        };
        assert_eq!((code, length, String::from_utf16_lossy(&name[..2])), (SUCCESS, 2, "价格".into()));
    },
    fn messages_have_numbers_for_what_the_code_page_lacks(target: &Target) {
        // SAFETY: it has no preconditions.
        if unsafe { GetACP() } != 1252 {
            return;
        }
        let connection = fresh(target);
        let statement = connection.statement();
        let text: Vec<u16> = "SELECT 1 FROM \"Жé\"".encode_utf16().collect();
        let length = i32::try_from(text.len()).expect("a short text");
        // SAFETY: the text has its length; so has the buffer.
        let (code, message) = unsafe {
            assert_eq!(SQLExecDirectW(statement.handle, text.as_ptr(), length), ERROR);
            let (mut state, mut message, mut length) = ([0_u8; 6], [0_u8; 999], 0);
            let (to, capacity, native) = (message.as_mut_ptr(), 999, null_mut());
            let code = SQLGetDiagRec(
                STMT,
                statement.handle,
                1,
                state.as_mut_ptr(),
                native,
                to,
                capacity,
                &mut length,
            );
            (code, message[..usize::try_from(length).expect("a length")].to_vec())
        };
        assert_eq!(code, SUCCESS);
        let expected = b"\\u{416}\xE9";
        assert!(message.windows(expected.len()).any(|part| part == expected), "{message:?}");
    },
);
