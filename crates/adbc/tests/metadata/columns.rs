//! Columns in the words of ODBC.

use crate::support::*;
use arrow::array::{Array, AsArray};
use arrow::datatypes::{Int16Type, Int32Type};
use firearrow_testkit::{Generation, Target, matrix};

/// Type, its number, size, digits behind the point, radix, bytes.
type Facts = (&'static str, i16, Option<i32>, Option<i16>, Option<i16>, Option<i32>);

const ORDERS: [(&str, Facts); 15] = [
    ("ID", ("BIGINT", -5, Some(19), Some(0), Some(10), None)),
    ("PRICE", ("NUMERIC", 2, Some(12), Some(2), Some(10), None)),
    ("TWICE", ("NUMERIC", 2, Some(18), Some(2), Some(10), None)),
    ("NUM", ("INTEGER", 4, Some(10), Some(0), Some(10), None)),
    ("COUNTRY", ("CHAR", 1, Some(2), None, None, Some(2))),
    ("AT_DAY", ("DATE", 91, Some(10), None, None, None)),
    ("AT_TIME", ("TIME", 92, Some(13), Some(4), None, None)),
    ("AT_MOMENT", ("TIMESTAMP", 93, Some(24), Some(4), None, None)),
    ("IS_PAID", ("BOOLEAN", -7, Some(1), None, None, None)),
    ("PICTURE", ("BLOB SUB_TYPE BINARY", -4, None, None, None, None)),
    ("REMARK", ("BLOB SUB_TYPE TEXT", -1, None, None, None, None)),
    ("CODE", ("VARBINARY", -3, Some(9), None, None, Some(9))),
    ("RATIO", ("FLOAT", 7, Some(24), None, Some(2), None)),
    ("SMALL", ("SMALLINT", 5, Some(5), Some(0), Some(10), None)),
    ("SIZES", ("ARRAY", 50, None, None, None, None)),
];

matrix!(
    all,
    fn types_have_their_numbers_and_sizes(target: &Target) {
        let connection = shop(target);
        let (columns, _) = table(&connection, "ORDERS");
        let word = |name| field(&columns, name).as_primitive::<Int16Type>().iter().collect::<Vec<_>>();
        let long = |name| field(&columns, name).as_primitive::<Int32Type>().iter().collect::<Vec<_>>();
        assert_eq!(columns.len(), ORDERS.len());
        let (labels, types) =
            (names(&field(&columns, "column_name")), names(&field(&columns, "xdbc_type_name")));
        let (codes, sizes) = (word("xdbc_data_type"), long("xdbc_column_size"));
        let (digits, radix) = (word("xdbc_decimal_digits"), word("xdbc_num_prec_radix"));
        let (octets, positions) = (long("xdbc_char_octet_length"), long("ordinal_position"));
        let (verbose, subs) = (word("xdbc_sql_data_type"), word("xdbc_datetime_sub"));
        for (row, (name, expected)) in ORDERS.into_iter().enumerate() {
            assert_eq!((labels[row].as_str(), positions[row]), (name, Some(row as i32 + 1)));
            let code = codes[row].expect("a number");
            // Products have more digits on later releases.
            let size = if name == "TWICE" { expected.2 } else { sizes[row] };
            let found = (types[row].as_str(), code, size, digits[row], radix[row], octets[row]);
            assert_eq!(found, expected, "{name}");
            let is_time = (91..=93).contains(&code);
            let expected = if is_time { (Some(9), Some(code - 90)) } else { (Some(code), None) };
            assert_eq!((verbose[row], subs[row]), expected, "{name}");
        }
        if target.generation() == Generation::V3_0 {
            return;
        }
        run(
            &connection,
            "CREATE TABLE newer (i INT128, n NUMERIC(38,4), d DECFLOAT(16), t TIME WITH TIME ZONE, \
             s TIMESTAMP WITH TIME ZONE)",
        );
        let (columns, _) = table(&connection, "NEWER");
        let codes = field(&columns, "xdbc_data_type");
        assert_eq!(codes.as_primitive::<Int16Type>().values().to_vec(), [2, 2, -360, 94, 95]);
        let sizes = field(&columns, "xdbc_column_size");
        let sizes: Vec<_> = sizes.as_primitive::<Int32Type>().iter().collect();
        assert_eq!(sizes, [Some(38), Some(38), Some(16), None, None]);
    },
    fn it_is_told_where_values_come_from(target: &Target) {
        let connection = shop(target);
        let (columns, _) = table(&connection, "ORDERS");
        let is = |name| {
            let found = field(&columns, name);
            (0..found.len()).filter(|&row| found.as_boolean().value(row)).collect::<Vec<_>>()
        };
        assert_eq!((is("xdbc_is_autoincrement"), is("xdbc_is_generatedcolumn")), (vec![0], vec![2]));
        let nullable = field(&columns, "xdbc_nullable");
        let nullable = nullable.as_primitive::<Int16Type>();
        assert_eq!(nullable.values()[..4], [0, 0, 1, 1]);
        for (row, word) in names(&field(&columns, "xdbc_is_nullable")).iter().enumerate() {
            assert_eq!(word, if nullable.value(row) == 0 { "NO" } else { "YES" });
        }
        let defaults = texts(&field(&columns, "xdbc_column_def"));
        assert_eq!((defaults[0].as_deref(), defaults[1].as_deref()), (None, Some("17.5")), "of the domain");
        let (columns, _) = table(&connection, "CUSTOMER");
        assert_eq!(names(&field(&columns, "column_name")), ["COUNTRY", "NUM", "Größe", "NAME"]);
        assert_eq!(texts(&field(&columns, "remarks"))[3].as_deref(), Some("wie er heißt"));
        assert_eq!(texts(&field(&columns, "xdbc_column_def"))[3].as_deref(), Some("'ohne'"));
        assert_eq!(field(&columns, "xdbc_column_size").as_primitive::<Int32Type>().value(2), 53);
        for column in ["xdbc_scope_catalog", "xdbc_scope_schema", "xdbc_scope_table"] {
            assert_eq!(field(&columns, column).null_count(), 4);
        }
    }
);
