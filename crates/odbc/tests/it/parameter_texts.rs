//! Text, bytes, GUIDs and long values as parameters, compared with literals on the server.

use crate::odbc::*;
use crate::parameter::*;
use crate::support::{CODE_PAGE, Connection, fresh, fresh_string, unconnected};
use firearrow_testkit::{Target, matrix};

/// The number of rows of T, which had one value stored, that meet a condition, or the SQLSTATE.
fn matching(connection: &Connection, value: &mut Values, condition: &str) -> Result<String, String> {
    connection.run("DELETE FROM T");
    let statement = connection.statement();
    statement.prepare("INSERT INTO T VALUES (?)");
    statement.bind(1, INPUT, value);
    if statement.execute() != SUCCESS {
        return Err(statement.state());
    }
    let count = connection.texts(&format!("SELECT COUNT(*) FROM T WHERE {condition}"));
    Ok(count[0][0].clone().unwrap_or_default())
}

fn check(target: &Target, of: &str, cases: Vec<(Values, &str)>, failing: Vec<(Values, &str)>) {
    let connection = fresh(target);
    connection.run(&format!("CREATE TABLE T (V {of})"));
    for (mut value, condition) in cases {
        assert_eq!(
            matching(&connection, &mut value, condition),
            Ok("1".into()),
            "{of}: {condition} {value:?}"
        );
        value.lengths[0] = NULL_DATA;
        assert_eq!(matching(&connection, &mut value, "V IS NULL"), Ok("1".into()), "{of}: NULL {value:?}");
    }
    for (mut value, state) in failing {
        assert_eq!(matching(&connection, &mut value, "1 = 1"), Err(state.into()), "{of}: {value:?}");
        assert_eq!(connection.texts("SELECT COUNT(*) FROM T")[0][0].as_deref(), Some("0"));
    }
}

const GUID: [u8; 16] = [0x78, 0x56, 0x34, 0x12, 0xBC, 0x9A, 0xF0, 0xDE, 1, 2, 3, 4, 5, 6, 7, 8];
const GUID_TEXT: &str = "12345678-9ABC-DEF0-0102-030405060708";

matrix!(
    all,
    fn text_without_character_set_is_in_the_code_page_of_the_connection(target: &Target) {
        let connection = unconnected(380);
        connection.connect(&format!("{};{CODE_PAGE}=WIN1252", fresh_string(target)));
        for of in ["VARCHAR(10)", "CHAR(6)", "BLOB SUB_TYPE TEXT"] {
            connection.run(&format!("RECREATE TABLE T (V {of} CHARACTER SET NONE)"));
            for mut value in [Values::text("Jörg €"), Values::wide("Jörg €")] {
                let condition = "CAST(V AS VARCHAR(10) CHARACTER SET OCTETS) = x'4AF672672080'";
                assert_eq!(matching(&connection, &mut value, condition), Ok("1".into()), "{of}: {value:?}");
                assert_eq!(connection.texts("SELECT V FROM T"), [[Some("Jörg €".to_owned())]], "{of}");
                let found = connection.statement();
                found.prepare("SELECT COUNT(*) FROM T WHERE V = ?");
                found.bind(1, INPUT, &mut value);
                assert_eq!((found.execute(), found.fetch()), (SUCCESS, SUCCESS), "{:?}", found.records());
                assert_eq!(found.text(1).as_deref(), Some("1"), "{of}");
            }
            let state = matching(&connection, &mut Values::text("Ł"), "1 = 1");
            assert_eq!(state, Err("22018".into()), "{of}");
        }
    },
    fn text_is_stored_as_it_is(target: &Target) {
        let emoji = "aé€😀 ' z";
        let condition = format!("V = '{}' AND CHAR_LENGTH(V) = 8", emoji.replace('\'', "''"));
        let cases = vec![
            (Values::text(emoji), condition.as_str()),
            (Values::wide(emoji), condition.as_str()),
            (Values::text(""), "V = '' AND CHAR_LENGTH(V) = 0"),
            (Values::wide(""), "V = '' AND CHAR_LENGTH(V) = 0"),
            (Values::text("0123456789"), "V = '0123456789'"),
            (Values::text("a\0b"), "V = 'a' || ASCII_CHAR(0) || 'b'"),
            (Values::text("end  "), "CHAR_LENGTH(V) = 5"),
            (Values::one(C_SLONG, 4, &(-12_i32).to_ne_bytes()), "V = '-12'"),
            (Values::one(C_DOUBLE, 8, &0.1_f64.to_ne_bytes()), "V = '0.1'"),
            (Values::one(C_BIT, -7, &[1]), "V = '1'"),
            (Values::one(C_DATE, 91, &[0xE8, 7, 1, 0, 2, 0]), "V = '2024-01-02'"),
        ];
        let failing = vec![
            (Values::text("12345678901"), "22001"),
            (Values::wide("12345678901"), "22001"),
            (Values::one(C_CHAR, 12, &[b'a', 0xFF]), "22018"),
            (Values::one(C_WCHAR, -9, &[0x3D, 0xD8]), "22018"),
        ];
        check(target, "VARCHAR(10) CHARACTER SET UTF8", cases, failing);
    },
    fn characters_that_a_character_set_lacks_are_refused(target: &Target) {
        let cases = vec![(Values::text("é€"), "V = 'é€'"), (Values::wide("é€"), "V = 'é€'")];
        let failing = vec![(Values::text("😀"), "22018"), (Values::wide("Ж"), "22018")];
        check(target, "VARCHAR(10) CHARACTER SET WIN1252", cases, failing);
    },
    fn terminators_end_text_without_a_length(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (V VARCHAR(10))");
        let mut text = Values::one(C_CHAR, 12, b"ab\0cd");
        text.lengths[0] = NTS;
        assert_eq!(matching(&connection, &mut text, "V = 'ab'"), Ok("1".into()));
        let mut wide = Values::wide("é\0x");
        wide.lengths[0] = NTS;
        assert_eq!(matching(&connection, &mut wide, "V = 'é'"), Ok("1".into()));
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?)");
        // SAFETY: the text has a terminator, and there is no indicator.
        let code = unsafe {
            let data = c"nts".as_ptr().cast_mut().cast();
            SQLBindParameter(statement.handle, 1, INPUT, C_CHAR, 12, 3, 0, data, 4, std::ptr::null_mut())
        };
        assert_eq!((code, statement.execute()), (SUCCESS, SUCCESS), "{:?}", statement.records());
        assert_eq!(connection.texts("SELECT V FROM T WHERE V = 'nts'").len(), 1);
    },
    fn bytes_are_stored_as_they_are(target: &Target) {
        let cases = vec![
            (Values::one(C_BINARY, -3, &[0, 0xFF, 0x80]), "V = x'00FF80' AND OCTET_LENGTH(V) = 3"),
            (Values::one(C_BINARY, -2, b""), "OCTET_LENGTH(V) = 0"),
            (Values { sql_type: -3, ..Values::text("00ff80") }, "V = x'00FF80'"),
            (Values { sql_type: -3, ..Values::wide("00FF80") }, "V = x'00FF80'"),
            (Values::text("abc"), "V = x'616263'"),
            (Values::one(C_GUID, -11, &GUID), "UUID_TO_CHAR(V) = '12345678-9ABC-DEF0-0102-030405060708'"),
            (
                Values { sql_type: -11, ..Values::text(GUID_TEXT) },
                "V = CHAR_TO_UUID('12345678-9abc-def0-0102-030405060708')",
            ),
        ];
        let failing = vec![
            (Values::one(C_BINARY, -3, &[7; 17]), "22001"),
            (Values { sql_type: -3, ..Values::text("0g") }, "22018"),
            (Values { sql_type: -3, ..Values::text("000") }, "22018"),
            (Values { sql_type: -11, ..Values::text("12345678") }, "22018"),
        ];
        check(target, "VARCHAR(16) CHARACTER SET OCTETS", cases, failing);
        let guid = vec![(
            Values::one(C_GUID, -11, &GUID),
            "UUID_TO_CHAR(V) = '12345678-9ABC-DEF0-0102-030405060708'",
        )];
        check(target, "CHAR(16) CHARACTER SET OCTETS", guid, vec![]);
        let text = vec![(Values::one(C_GUID, 1, &GUID), "V = '12345678-9ABC-DEF0-0102-030405060708'")];
        check(target, "VARCHAR(36)", text, vec![]);
    },
    fn long_values_go_into_blobs(target: &Target) {
        let long = "é😀x".repeat(100_000);
        let cases = vec![
            (Values::text("short"), "V = 'short'"),
            (Values::wide("é😀"), "V = 'é😀'"),
            (Values::text(""), "CHAR_LENGTH(V) = 0"),
            (
                Values::text(&long),
                "CHAR_LENGTH(V) = 300000 AND OCTET_LENGTH(V) = 700000 AND V STARTING WITH 'é😀xé'",
            ),
            (Values::wide(&long), "CHAR_LENGTH(V) = 300000 AND SUBSTRING(V FROM 299998 FOR 3) = 'é😀x'"),
            (Values::one(C_SLONG, 4, &7_i32.to_ne_bytes()), "V = '7'"),
        ];
        check(
            target,
            "BLOB SUB_TYPE TEXT CHARACTER SET UTF8",
            cases,
            vec![(Values::one(C_CHAR, -1, &[0xFF]), "22018")],
        );
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
        let cases = vec![
            (Values::one(C_BINARY, -4, &bytes), "OCTET_LENGTH(V) = 300000 AND V STARTING WITH x'000102'"),
            (Values::one(C_BINARY, -4, &[]), "OCTET_LENGTH(V) = 0"),
            (
                Values { sql_type: -4, ..Values::text("00ff") },
                "OCTET_LENGTH(V) = 2 AND V STARTING WITH x'00FF'",
            ),
        ];
        check(target, "BLOB", cases, vec![]);
    },
    fn values_after_nulls_are_values_again(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER, D DATE, S TIMESTAMP, N NUMERIC(9, 2), V VARCHAR(300))");
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?, ?, ?, ?, ?)");
        let mut id = Values::integers(&[Some(1)]);
        let mut day = Values::one(C_DATE, 91, &[0xE8, 7, 1, 0, 2, 0]);
        let mut stamp = Values::text("2024-01-02 03:04:05.6789");
        let mut number = Values::text("-1.25");
        let mut text = Values::one(C_CHAR, 12, &[b'x'; 300]).with_digits(1, 0);
        for (number, values) in (1..).zip([&mut id, &mut day, &mut stamp, &mut number, &mut text]) {
            statement.bind(number, INPUT, values);
        }
        for round in 0..3_i32 {
            let given = [10, 24, 5, 300].map(|length| if round == 1 { NULL_DATA } else { length });
            id.data.copy_from_slice(&round.to_ne_bytes());
            for (values, length) in [&mut day, &mut stamp, &mut number, &mut text].into_iter().zip(given) {
                values.lengths[0] = length;
            }
            assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
        }
        let rows = connection.texts(
            "SELECT ID, CAST(D AS VARCHAR(30)), CAST(S AS VARCHAR(30)), CAST(N AS VARCHAR(30)), CHAR_LENGTH(V) FROM T ORDER BY ID",
        );
        let full = |id: &str| {
            [id, "2024-01-02", "2024-01-02 03:04:05.6789", "-1.25", "300"]
                .map(|text| Some(text.to_owned()))
                .to_vec()
        };
        let nulls = vec![Some("1".to_owned()), None, None, None, None];
        assert_eq!(rows, [full("0"), nulls, full("2")]);
    },
);
