//! Driver and server.

use crate::support::fresh;
use adbc_core::options::InfoCode;
use adbc_core::schemas::GET_INFO_SCHEMA;
use arrow::array::AsArray;
use arrow::datatypes::{Int32Type, Int64Type, UInt32Type};
use firearrow::{Connection, Dialect};
use firearrow_adbc::error::{Result, of};
use firearrow_adbc::metadata::info;
use firearrow_testkit::{Target, matrix};
use std::collections::HashSet;

fn version(connection: &Connection) -> Result<String> {
    Ok(connection.info().map_err(of)?.engine_version)
}

matrix!(
    all,
    fn facts_have_the_types_that_adbc_gives_them(target: &Target) {
        let connection = fresh(target);
        let batch = info(connection.dialect(), || version(&connection), None).expect("facts");
        assert_eq!(batch.schema(), *GET_INFO_SCHEMA);
        let codes = batch.column(0).as_primitive::<UInt32Type>().values().to_vec();
        assert_eq!(codes, [0, 1, 3, 4, 100, 101, 102, 103, 500, 501, 502, 503, 504]);
        let values = batch.column(1).as_union();
        let value = |code: u32| values.value(codes.iter().position(|&each| each == code).expect("a row"));
        let text = |code| value(code).as_string::<i32>().value(0).to_owned();
        assert_eq!(
            (text(0), text(100), text(504)),
            ("Firebird".into(), "ADBC Firebird Driver".into(), "\"".into())
        );
        assert!(text(1).starts_with(target.generation().number()), "{}", text(1));
        assert_eq!(text(101), env!("CARGO_PKG_VERSION"));
        assert!(text(102).starts_with("v60."), "{}", text(102));
        assert_eq!(value(103).as_primitive::<Int64Type>().value(0), 1_001_000);
        let flags: Vec<bool> = [3, 4, 500, 501, 502].map(|code| value(code).as_boolean().value(0)).to_vec();
        assert_eq!(flags, [true, false, false, false, true]);
        assert_eq!(value(503).as_primitive::<Int32Type>().value(0), 2);
    }
);

#[test]
fn unknown_codes_are_left_out() {
    let some = [InfoCode::VendorName, InfoCode::VendorArrowVersion, InfoCode::Other(999)];
    let unasked = || panic!("nobody wants the version");
    let batch = info(Dialect::Three, unasked, Some(HashSet::from(some))).expect("facts");
    assert_eq!((batch.schema(), batch.num_rows()), (GET_INFO_SCHEMA.clone(), 1));
    let batch = info(Dialect::Three, unasked, Some(HashSet::from([InfoCode::Other(77)]))).expect("facts");
    assert_eq!((batch.schema(), batch.num_rows()), (GET_INFO_SCHEMA.clone(), 0));
}
