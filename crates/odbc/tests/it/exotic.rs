//! Values that few drivers return whole: 39 digits, special numbers, keys, arrays, and text of every length.

use crate::buffers::*;
use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Generation, Target, matrix};

const LARGEST: &str = "170141183460469231731687303715884105727";
const SMALLEST: &str = "-170141183460469231731687303715884105728";

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

matrix!(
    all,
    fn numbers_of_39_digits_are_text_but_no_numeric(target: &Target) {
        if target.generation() == Generation::V3_0 {
            return;
        }
        let connection = fresh(target);
        connection.run("CREATE TABLE T (N INTEGER, I INT128, D NUMERIC(38,4))");
        connection
            .run(&format!("INSERT INTO T VALUES (1, {LARGEST}, '17014118346046923173168730371588410.5727')"));
        connection.run(&format!("INSERT INTO T VALUES (2, -{LARGEST} - 1, 0)"));
        let rows = connection.texts("SELECT I, D FROM T ORDER BY N");
        let (large, none) = (text("17014118346046923173168730371588410.5727"), text("0.0000"));
        assert_eq!(rows, [[text(LARGEST), large], [text(SMALLEST), none]]);
        let statement = connection.statement();
        statement.run("SELECT I FROM T ORDER BY N");
        assert_eq!(statement.fetch(), SUCCESS);
        // SQL_NUMERIC_STRUCT has 38 digits.
        assert_eq!(get(&statement, 1, Buffer { c_type: 2, capacity: 19 }).0, ERROR);
        assert_eq!(statement.state(), "22003");
        // 64 bits are too few.
        assert_eq!(get(&statement, 1, Buffer { c_type: -25, capacity: 8 }).0, ERROR);
        assert_eq!(statement.state(), "22003");
        let (code, data, length) = get(&statement, 1, Buffer { c_type: 1, capacity: 40 });
        assert_eq!((code, length, &data[..39]), (SUCCESS, 39, LARGEST.as_bytes()));
    },
    fn special_values_of_decfloat_and_double_are_text(target: &Target) {
        let connection = fresh(target);
        if target.generation() != Generation::V3_0 {
            let sql = "SELECT CAST('NaN' AS DECFLOAT), CAST('-Infinity' AS DECFLOAT(16)), \
                       CAST('0E-6176' AS DECFLOAT(34)) FROM RDB$DATABASE";
            let rows = connection.texts(sql);
            assert_eq!(rows, [[text("NaN"), text("-Infinity"), text("0E-6176")]]);
        }
        // Powers of two are exact, however the engine computes them.
        let sql =
            "SELECT -POWER(2e0, 1000), POWER(2e0, -1000), CAST(-POWER(2e0, 100) AS FLOAT) FROM RDB$DATABASE";
        let rows = connection.texts(sql);
        let number = |at: usize| rows[0][at].as_deref().expect("a number");
        assert_eq!(number(0).parse::<f64>(), Ok(-2_f64.powi(1000)));
        assert_eq!(number(1).parse::<f64>(), Ok(2_f64.powi(-1000)));
        assert_eq!(number(2).parse::<f32>(), Ok(-2_f32.powi(100)));
        // As long as they are said to be at most.
        assert!(number(0).len() <= 24 && number(1).len() <= 24 && number(2).len() <= 14, "{rows:?}");
    },
    fn record_keys_lead_back_to_their_rows(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (N INTEGER)");
        for number in 1..=3 {
            connection.run(&format!("INSERT INTO T VALUES ({number})"));
        }
        let keys = connection.texts("SELECT RDB$DB_KEY, N FROM T ORDER BY N");
        for key in &keys {
            let hex = key[0].as_deref().expect("a key");
            assert_eq!(hex.len(), 16);
            let found = connection.texts(&format!("SELECT N FROM T WHERE RDB$DB_KEY = x'{hex}'"));
            assert_eq!(found, [[key[1].clone()]]);
        }
        let statement = connection.statement();
        statement.run("SELECT RDB$DB_KEY FROM T ORDER BY N");
        let rows = fetch_bound(&statement, &[Buffer { c_type: 99, capacity: 8 }], 3, Layout::Columns);
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
        let bound: Vec<_> = rows.iter().map(|row| row[0].as_deref().map(hex)).collect();
        assert_eq!(bound, keys.iter().map(|key| key[0].clone()).collect::<Vec<_>>());
    },
    fn arrays_are_text_in_braces(target: &Target) {
        let connection = fresh(target);
        // The demo database of Firebird has such columns; SQL cannot fill them.
        connection.run("CREATE TABLE T (N INTEGER, A INTEGER[3], B VARCHAR(4)[0:1, 1:2])");
        connection.run("INSERT INTO T (N) VALUES (1)");
        assert_eq!(connection.texts("SELECT A, B FROM T"), [[None, None]]);
        let statement = connection.statement();
        statement.prepare("SELECT A, B FROM T");
        assert_eq!(statement.columns(), 2);
    },
    fn times_keep_their_fraction_as_text_alone(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        statement.run("SELECT TIME '23:59:59.9999', TIMESTAMP '2024-02-29 00:00:00.5' FROM RDB$DATABASE");
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(
            (statement.text(1), statement.text(2)),
            (text("23:59:59.9999"), text("2024-02-29 00:00:00.5000"))
        );
        let (code, data, length) = get(&statement, 1, Buffer { c_type: 92, capacity: 6 });
        assert_eq!((code, length, statement.state().as_str()), (SUCCESS_WITH_INFO, 6, "01S07"));
        assert_eq!(data, [23_u16, 59, 59].map(u16::to_ne_bytes).concat());
        let (code, data, _) = get(&statement, 2, Buffer { c_type: 91, capacity: 6 });
        assert_eq!((code, statement.state().as_str()), (SUCCESS_WITH_INFO, "01S07"));
        assert_eq!(data, [2024_u16, 2, 29].map(u16::to_ne_bytes).concat());
        assert_eq!(get(&statement, 2, Buffer { c_type: 1, capacity: 30 }).0, NO_DATA);
        // Half a time means something else.
        assert_eq!(get(&statement, 1, Buffer { c_type: 1, capacity: 8 }).0, ERROR);
        assert_eq!(statement.state(), "22003");
    },
    fn text_of_every_length_is_whole(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (N INTEGER, V VARCHAR(8000) CHARACTER SET UTF8)");
        let lengths = [0, 1, 255, 256, 257, 511, 4095, 8000];
        for length in lengths {
            connection.run(&format!("INSERT INTO T VALUES ({length}, RPAD('', {length}, 'é'))"));
        }
        let rows = connection.texts("SELECT V FROM T ORDER BY N");
        let texts: Vec<_> = lengths.iter().map(|length| vec![Some("é".repeat(*length))]).collect();
        assert_eq!(rows, texts);
        let statement = connection.statement();
        statement.run("SELECT V FROM T ORDER BY N");
        let rows = fetch_bound(&statement, &[Buffer { c_type: -8, capacity: 16_002 }], 3, Layout::Rows);
        let units: Vec<_> = lengths.iter().map(|length| vec![Some(wide(&"é".repeat(*length)))]).collect();
        assert_eq!(rows, units);
    },
    fn text_without_character_set_is_decoded_as_the_connection_says(target: &Target) {
        let url = target.fresh_url();
        let string = |rest: &str| {
            let client = match target {
                Target::Embedded(embedded) => format!("CLIENT={{{}}};", embedded.engine.display()),
                Target::Wire(_) => String::new(),
            };
            format!("URL={{{url}}};{client}{rest}")
        };
        let connection = unconnected(380);
        connection.connect(&string(&format!("CREATE_DB=Y;{CODE_PAGE}=WIN1252")));
        connection
            .run("CREATE TABLE T (V VARCHAR(4) CHARACTER SET NONE, B BLOB SUB_TYPE TEXT CHARACTER SET NONE)");
        connection.run("INSERT INTO T VALUES (x'E980', x'E980')");
        assert_eq!(connection.texts("SELECT V, B FROM T"), [[text("é€"), text("é€")]]);
        let other = unconnected(380);
        other.connect(&string(""));
        let statement = other.statement();
        statement.run("SELECT V FROM T");
        assert_eq!(statement.fetch(), ERROR);
        assert_eq!(statement.state(), "22018");
    },
);
