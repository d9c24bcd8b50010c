//! Keywords of the connection string that change results.

use crate::buffers::*;
use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;

fn connected(target: &Target, version: usize, keywords: &str) -> Connection {
    let connection = unconnected(version);
    connection.connect(&format!("{};{keywords}", fresh_string(target)));
    connection
}

/// The type and size of a column of what was prepared.
fn described(statement: &Statement, column: u16) -> (i16, usize) {
    let (mut sql_type, mut size) = (0, 0);
    // SAFETY: the places are there.
    let code = unsafe {
        let (name, length) = (null_mut(), null_mut());
        let (to_type, to_size) = (&mut sql_type, &mut size);
        SQLDescribeCol(statement.handle, column, name, 0, length, to_type, to_size, null_mut(), null_mut())
    };
    assert_eq!(code, SUCCESS, "{:?}", statement.records());
    (sql_type, size)
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

const UUID: &str = "A0B1C2D3-E4F5-0617-2839-4A5B6C7D8E9F";
/// `SQLGUID`: the first three numbers as the machine has them.
const GUID: [u8; 16] =
    [0xD3, 0xC2, 0xB1, 0xA0, 0xF5, 0xE4, 0x17, 0x06, 0x28, 0x39, 0x4A, 0x5B, 0x6C, 0x7D, 0x8E, 0x9F];

matrix!(
    all,
    fn sixteen_bytes_are_a_guid_on_request(target: &Target) {
        let sql = format!("SELECT CHAR_TO_UUID('{UUID}') FROM RDB$DATABASE");
        for (keywords, sql_type, expected) in
            [("GUID=BINARY", (-2, 16), UUID.replace('-', "")), ("GUID=GUID", (-11, 36), UUID.to_owned())]
        {
            let connection = connected(target, 380, keywords);
            let statement = connection.statement();
            statement.prepare(&sql);
            assert_eq!(described(&statement, 1), sql_type);
            assert_eq!(statement.execute(), SUCCESS);
            assert_eq!(statement.fetch(), SUCCESS);
            assert_eq!(statement.text(1), Some(expected));
            statement.close();
            statement.run(&sql);
            let rows = fetch_bound(&statement, &[Buffer { c_type: -11, capacity: 16 }], 2, Layout::Columns);
            assert_eq!(rows, [[Some(GUID.to_vec())]]);
        }
    },
    fn blobs_may_be_said_to_be_short(target: &Target) {
        let connection = connected(target, 380, "BLOBSIZE=4000");
        let statement = connection.statement();
        statement.prepare("SELECT CAST('x' AS BLOB SUB_TYPE TEXT), CAST('x' AS BLOB) FROM RDB$DATABASE");
        assert_eq!((described(&statement, 1), described(&statement, 2)), ((-1, 4000), (-4, 4000)));
    },
    fn applications_of_odbc_2_have_other_numbers_for_datetimes(target: &Target) {
        for (version, types) in [(2, [9, 10, 11]), (3, [91, 92, 93]), (380, [91, 92, 93])] {
            let connection = connected(target, version, "");
            let statement = connection.statement();
            statement.run("SELECT DATE '2024-02-29', TIME '10:11:12', TIMESTAMP '2024-02-29 10:11:12' FROM RDB$DATABASE");
            assert_eq!([1, 2, 3].map(|column| described(&statement, column).0), types);
            assert_eq!(statement.fetch(), SUCCESS);
            for (column, units) in [(1, vec![2024_u16, 2, 29]), (2, vec![10, 11, 12])] {
                let (code, data, length) = get(&statement, column, Buffer { c_type: 99, capacity: 6 });
                assert_eq!((code, length), (SUCCESS, 6));
                assert_eq!(data, units.into_iter().flat_map(u16::to_ne_bytes).collect::<Vec<_>>());
            }
        }
    },
);

matrix!(
    [firebird_4_0, firebird_5_0, embedded_5_0],
    fn decfloat_may_be_a_double(target: &Target) {
        let sql = "SELECT CAST(1.5 AS DECFLOAT) FROM RDB$DATABASE";
        for (keywords, sql_type) in [("DECFLOAT=VARCHAR", (12, 42)), ("DECFLOAT=DOUBLE", (8, 53))] {
            let connection = connected(target, 380, keywords);
            assert_eq!(connection.texts(sql), [[text("1.5")]]);
            let statement = connection.statement();
            statement.prepare(sql);
            assert_eq!(described(&statement, 1), sql_type);
        }
    },
    fn zones_may_be_part_of_the_text(target: &Target) {
        let sql = "SELECT TIMESTAMP '2024-07-01 12:30:00.5 +02:00' FROM RDB$DATABASE";
        let connection = connected(target, 380, "TIMEZONE=+05:00");
        assert_eq!(connection.texts(sql), [[text("2024-07-01 15:30:00.5000")]]);
        connection.run("SET TIME ZONE '-01:00'");
        assert_eq!(connection.texts(sql), [[text("2024-07-01 09:30:00.5000")]]);
        let connection = connected(target, 380, "SETBIND={TIMESTAMP WITH TIME ZONE TO VARCHAR}");
        assert_eq!(connection.texts(sql), [[text("2024-07-01 12:30:00.5000 +02:00")]]);
    },
);
