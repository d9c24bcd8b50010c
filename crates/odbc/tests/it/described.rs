//! What is said about the columns of results.

use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Generation, Target, matrix};
use std::ptr::null_mut;

/// Of a column: its type, size, decimal digits, octets, display size, radix, name, and whether it is unsigned.
type Facts = (isize, usize, i16, isize, isize, isize, &'static str, isize);

const COLUMNS: &[(&str, Facts)] = &[
    ("SMALLINT", (5, 5, 0, 2, 6, 10, "SMALLINT", 0)),
    ("INTEGER", (4, 10, 0, 4, 11, 10, "INTEGER", 0)),
    ("BIGINT", (-5, 19, 0, 8, 20, 10, "BIGINT", 0)),
    ("NUMERIC(4,2)", (2, 4, 2, 7, 7, 10, "NUMERIC", 0)),
    ("DECIMAL(5,2)", (3, 9, 2, 12, 12, 10, "DECIMAL", 0)),
    ("NUMERIC(18,4)", (2, 18, 4, 21, 21, 10, "NUMERIC", 0)),
    ("FLOAT", (7, 24, 0, 4, 14, 2, "FLOAT", 0)),
    ("DOUBLE PRECISION", (8, 53, 0, 8, 24, 2, "DOUBLE PRECISION", 0)),
    ("BOOLEAN", (-7, 1, 0, 1, 1, 0, "BOOLEAN", 1)),
    ("DATE", (91, 10, 0, 6, 10, 0, "DATE", 1)),
    ("TIME", (92, 13, 4, 6, 13, 0, "TIME", 1)),
    ("TIMESTAMP", (93, 24, 4, 16, 24, 0, "TIMESTAMP", 1)),
    ("CHAR(5) CHARACTER SET UTF8", (1, 5, 0, 20, 5, 0, "CHAR", 1)),
    ("VARCHAR(7) CHARACTER SET UTF8", (12, 7, 0, 28, 7, 0, "VARCHAR", 1)),
    ("VARCHAR(7) CHARACTER SET WIN1252", (12, 7, 0, 28, 7, 0, "VARCHAR", 1)),
    ("BLOB SUB_TYPE TEXT", (-1, 2_147_483_647, 0, 2_147_483_647, 2_147_483_647, 0, "BLOB SUB_TYPE TEXT", 1)),
    ("BLOB", (-4, 2_147_483_647, 0, 2_147_483_647, 2_147_483_647, 0, "BLOB SUB_TYPE BINARY", 1)),
    (
        "BLOB SUB_TYPE TEXT CHARACTER SET OCTETS",
        (-4, 2_147_483_647, 0, 2_147_483_647, 2_147_483_647, 0, "BLOB SUB_TYPE BINARY", 1),
    ),
];

/// The server converts values with time zones for the driver, and calls them plain.
const OF_FIREBIRD_4: &[(&str, Facts)] = &[
    ("BINARY(4)", (-2, 4, 0, 4, 8, 0, "BINARY", 1)),
    ("VARBINARY(4)", (-3, 4, 0, 4, 8, 0, "VARBINARY", 1)),
    ("INT128", (2, 38, 0, 40, 40, 10, "INT128", 0)),
    ("NUMERIC(38,10)", (2, 38, 10, 41, 41, 10, "NUMERIC", 0)),
    ("DECFLOAT(16)", (12, 23, 0, 23, 23, 0, "DECFLOAT", 1)),
    ("DECFLOAT(34)", (12, 42, 0, 42, 42, 0, "DECFLOAT", 1)),
    ("TIME WITH TIME ZONE", (92, 13, 4, 6, 13, 0, "TIME", 1)),
    ("TIMESTAMP WITH TIME ZONE", (93, 24, 4, 16, 24, 0, "TIMESTAMP", 1)),
];

/// A number through `SQLColAttribute` and `SQLColAttributeW`, written in full.
fn number(statement: &Statement, column: u16, field: u16) -> isize {
    let (mut narrow, mut wide) = (-0x5555_5555_5555, -0x5555_5555_5555);
    // SAFETY: the places are there.
    unsafe {
        let code = SQLColAttribute(statement.handle, column, field, null_mut(), 0, null_mut(), &mut narrow);
        assert_eq!(code, SUCCESS, "{field}: {:?}", statement.records());
        let code = SQLColAttributeW(statement.handle, column, field, null_mut(), 0, null_mut(), &mut wide);
        assert_eq!(code, SUCCESS, "{field}: {:?}", statement.records());
    }
    assert_eq!(narrow, wide);
    narrow
}

/// A text through both.
fn attribute(statement: &Statement, column: u16, field: u16) -> String {
    let (mut bytes, mut units, mut length) = ([0_u8; 300], [0_u16; 300], -1);
    // SAFETY: the buffers have their lengths.
    unsafe {
        let to = bytes.as_mut_ptr().cast();
        let code = SQLColAttribute(statement.handle, column, field, to, 300, &mut length, null_mut());
        assert_eq!(code, SUCCESS, "{field}: {:?}", statement.records());
        let narrow = String::from_utf8(bytes[..length as usize].to_vec()).expect("UTF-8");
        let to = units.as_mut_ptr().cast();
        let code = SQLColAttributeW(statement.handle, column, field, to, 600, &mut length, null_mut());
        assert_eq!(code, SUCCESS, "{field}: {:?}", statement.records());
        // It counts bytes.
        assert_eq!(String::from_utf16(&units[..length as usize / 2]).expect("UTF-16"), narrow);
        narrow
    }
}

/// What `SQLDescribeCol` says: name, type, size, digits, nullable.
fn described(statement: &Statement, column: u16) -> (String, i16, usize, i16, i16) {
    let (mut name, mut length, mut sql_type, mut size, mut digits, mut nullable) =
        ([0_u8; 300], -1, -1, usize::MAX, -1, -1);
    let mut wide = [0_u16; 300];
    // SAFETY: the places are there.
    unsafe {
        let code = SQLDescribeCol(
            statement.handle,
            column,
            name.as_mut_ptr(),
            300,
            &mut length,
            &mut sql_type,
            &mut size,
            &mut digits,
            &mut nullable,
        );
        assert_eq!(code, SUCCESS, "{:?}", statement.records());
        let name = String::from_utf8(name[..length as usize].to_vec()).expect("UTF-8");
        let to = wide.as_mut_ptr();
        let code = SQLDescribeColW(
            statement.handle,
            column,
            to,
            300,
            &mut length,
            &mut sql_type,
            &mut size,
            &mut digits,
            &mut nullable,
        );
        assert_eq!(code, SUCCESS, "{:?}", statement.records());
        // It counts characters.
        assert_eq!(String::from_utf16(&wide[..length as usize]).expect("UTF-16"), name);
        (name, sql_type, size, digits, nullable)
    }
}

/// A number of the descriptor of the columns, in its width.
fn field<T: Default>(statement: &Statement, column: i16, field: i16) -> T {
    let ird = std::ptr::with_exposed_provenance_mut(statement.get(10012));
    let mut value = T::default();
    // SAFETY: the place is there.
    let code = unsafe { SQLGetDescField(ird, column, field, (&raw mut value).cast(), 0, null_mut()) };
    assert_eq!(code, SUCCESS, "{:?}", records(DESC, ird));
    value
}

fn check(target: &Target, is_wide: bool) {
    let connection = unconnected(380);
    connection.connect(&format!("{};WCHARTYPES={}", fresh_string(target), if is_wide { "Y" } else { "N" }));
    let columns: Vec<_> = match target.generation() {
        Generation::V3_0 => COLUMNS.to_vec(),
        _ => [COLUMNS, OF_FIREBIRD_4].concat(),
    };
    let declared = columns.iter().enumerate().map(|(at, (declared, _))| format!("C{at} {declared}"));
    connection.run(&format!("CREATE TABLE T ({})", declared.collect::<Vec<_>>().join(", ")));
    let statement = connection.statement();
    statement.prepare("SELECT * FROM T");
    for (at, (declared, facts)) in columns.iter().enumerate() {
        let column = at as u16 + 1;
        let (mut sql_type, size, digits, mut octets, mut display, radix, type_name, unsigned) = *facts;
        let is_text = !declared.starts_with("DECFLOAT") && matches!(sql_type, 1 | 12 | -1);
        if is_text && !is_wide {
            // PHP and Perl take it for the bytes of their buffers.
            display = octets;
        }
        if is_text && is_wide {
            octets = if sql_type == -1 { octets } else { 2 * size as isize };
            sql_type = match sql_type {
                1 => -8,
                12 => -9,
                _ => -10,
            };
        }
        let of = described(&statement, column);
        assert_eq!(of, (format!("C{at}"), sql_type as i16, size, digits, 1), "{declared}");
        let is_datetime = matches!(sql_type, 91..=93);
        let verbose = if is_datetime { 9 } else { sql_type };
        let precision = if is_datetime { digits as isize } else { size as isize };
        let scale = if matches!(sql_type, 2 | 3) { digits as isize } else { 0 };
        for (id, value) in [
            (2, sql_type),
            (1002, verbose),
            (1003, size as isize),
            (1013, octets),
            (6, display),
            (1005, precision),
            (1006, scale),
            (32, radix),
            (8, unsigned),
            (1008, 1),
            (1012, 0),
            (11, 0),
            (9, 0),
        ] {
            assert_eq!(number(&statement, column, id), value, "{declared}: field {id}");
        }
        assert_eq!(attribute(&statement, column, 14), type_name, "{declared}");
        // The descriptor says the same.
        let number = column as i16;
        assert_eq!(field::<i16>(&statement, number, 2), sql_type as i16, "{declared}");
        assert_eq!(field::<i16>(&statement, number, 1002), verbose as i16, "{declared}");
        assert_eq!(field::<usize>(&statement, number, 1003), size, "{declared}");
        assert_eq!(field::<isize>(&statement, number, 1013), octets, "{declared}");
        assert_eq!(field::<isize>(&statement, number, 6), display, "{declared}");
        if radix != 0 || is_datetime {
            assert_eq!(field::<i16>(&statement, number, 1005), precision as i16, "{declared}");
        }
        assert_eq!(field::<i16>(&statement, number, 1006), scale as i16, "{declared}");
        assert_eq!(field::<i32>(&statement, number, 32), radix as i32, "{declared}");
    }
    assert_eq!(field::<i16>(&statement, 0, 1001), columns.len() as i16);
    assert_eq!(number(&statement, 1, 1001), columns.len() as isize);
}

matrix!(
    all,
    fn narrow_applications_see_every_type_as_the_reference_says(target: &Target) {
        check(target, false);
    },
    fn wide_applications_see_every_type_as_the_reference_says(target: &Target) {
        check(target, true);
    },
    fn names_lead_to_tables_and_columns(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE \"Tä\" (\"Größe 1\" INTEGER NOT NULL, B VARCHAR(3))");
        let statement = connection.statement();
        statement.prepare("SELECT \"Größe 1\", B AS \"b 2\", \"Größe 1\" + 1 FROM \"Tä\" X");
        let text = |column, field| attribute(&statement, column, field);
        // Label, name, base column, base table, schema, catalog.
        assert_eq!(
            [18, 1011, 22, 23, 16, 17].map(|field| text(1, field)),
            ["Größe 1", "Größe 1", "Größe 1", "Tä", "", ""]
        );
        assert_eq!([18, 1011, 22, 23].map(|field| text(2, field)), ["b 2", "b 2", "B", "Tä"]);
        assert_eq!([22, 23, 15].map(|field| text(3, field)), ["", "", ""]);
        // Nullable and updatable.
        assert_eq!([1, 2, 3].map(|column| number(&statement, column, 1008)), [0, 1, 2]);
        assert_eq!([1, 2, 3].map(|column| number(&statement, column, 10)), [2, 2, 0]);
        // Whether case matters, whether it can be searched, and its literals.
        assert_eq!([12, 13].map(|field| number(&statement, 2, field)), [1, 3]);
        assert_eq!([27, 28].map(|field| text(2, field)), ["'", "'"]);
    },
    fn unknown_attributes_and_columns_are_refused(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        let ask = |column, field| {
            let mut value = 0;
            // SAFETY: the place is there.
            unsafe { SQLColAttribute(statement.handle, column, field, null_mut(), 0, null_mut(), &mut value) }
        };
        assert_eq!((ask(1, 2), statement.state().as_str()), (ERROR, "HY010"));
        statement.prepare("SELECT 1 FROM RDB$DATABASE");
        for field in [1211, 1212, 9999] {
            assert_eq!((ask(1, field), statement.state().as_str()), (ERROR, "HY091"));
        }
        assert_eq!((ask(2, 2), statement.state().as_str()), (ERROR, "07009"));
        assert_eq!((ask(0, 2), statement.state().as_str()), (ERROR, "07009"));
        statement.prepare("CREATE TABLE T (N INTEGER)");
        assert_eq!((ask(1, 2), statement.state().as_str()), (ERROR, "07005"));
        assert_eq!(statement.columns(), 0);
    },
    fn names_that_do_not_fit_are_cut_with_their_whole_length(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        statement.prepare("SELECT 1 AS \"éabc\" FROM RDB$DATABASE");
        let (mut name, mut length) = ([0x55_u8; 8], -1);
        let none = null_mut();
        // SAFETY: the buffer has its length.
        let code = unsafe {
            let (a, b, c, d) = (null_mut(), null_mut(), null_mut(), null_mut());
            SQLDescribeCol(statement.handle, 1, name.as_mut_ptr(), 3, &mut length, a, b, c, d)
        };
        assert_eq!((code, statement.state().as_str(), length), (SUCCESS_WITH_INFO, "01004", 5));
        assert_eq!(name, [0xC3, 0xA9, 0, 0x55, 0x55, 0x55, 0x55, 0x55]);
        let mut units = [0x5555_u16; 4];
        // SAFETY: the buffer has its length.
        let code = unsafe {
            let to = units.as_mut_ptr().cast();
            SQLColAttributeW(statement.handle, 1, 1011, to, 6, &mut length, none)
        };
        assert_eq!((code, length), (SUCCESS_WITH_INFO, 8));
        assert_eq!(units, [0xE9, 0x61, 0, 0x5555]);
    },
);
