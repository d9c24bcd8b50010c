//! Nanoseconds for each cell: `cargo test --lib speed -- --ignored --nocapture`.

use super::testing::{Buffers, wanted};
use super::{fixed_size, plan};
use crate::abi::{SmallInt, c_type};
use arrow::array::{
    Array, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, StringArray,
    TimestampMicrosecondArray,
};
use std::time::Instant;

#[test]
#[ignore = "a measurement"]
fn nanoseconds_for_each_cell() {
    let numbers = || (0..1000_i64).map(|number| number * 7919 - 3_000_000);
    let integers = Int32Array::from_iter_values(numbers().map(|number| number as i32));
    let nullable: Int32Array = (0..1000).map(|number| (number % 5 != 0).then_some(number)).collect();
    let big = Int64Array::from_iter_values(numbers().map(|number| number << 20));
    let doubles = Float64Array::from_iter_values(numbers().map(|number| number as f64 / 8.0));
    let decimals = Decimal128Array::from_iter_values(numbers().map(i128::from));
    let decimals = decimals.with_precision_and_scale(18, 2).expect("a decimal");
    let text = StringArray::from_iter_values(numbers().map(|number| format!("name {number}")));
    let accents = StringArray::from_iter_values(numbers().map(|number| format!("größe {number}")));
    let days = Date32Array::from_iter_values(0..1000);
    let stamps = TimestampMicrosecondArray::from_iter_values(numbers().map(|number| number * 1_000_100));
    let flags: BooleanArray = (0..1000).map(|number| Some(number % 3 == 0)).collect();
    measure("Int32 -> SLONG", &integers, c_type::SLONG);
    measure("Int32 with NULLs -> SLONG", &nullable, c_type::SLONG);
    measure("Int32 -> SBIGINT", &integers, c_type::SBIGINT);
    measure("Int32 -> CHAR", &integers, c_type::CHAR);
    measure("Int64 -> SBIGINT", &big, c_type::SBIGINT);
    measure("Float64 -> DOUBLE", &doubles, c_type::DOUBLE);
    measure("Float64 -> CHAR", &doubles, c_type::CHAR);
    measure("Decimal -> CHAR", &decimals, c_type::CHAR);
    measure("Decimal -> WCHAR", &decimals, c_type::WCHAR);
    measure("Decimal -> DOUBLE", &decimals, c_type::DOUBLE);
    measure("Decimal -> NUMERIC", &decimals, c_type::NUMERIC);
    measure("Utf8 -> CHAR", &text, c_type::CHAR);
    measure("Utf8 -> WCHAR, ASCII", &text, c_type::WCHAR);
    measure("Utf8 -> WCHAR, other", &accents, c_type::WCHAR);
    measure("Date32 -> TYPE_DATE", &days, c_type::TYPE_DATE);
    measure("Timestamp -> TYPE_TIMESTAMP", &stamps, c_type::TYPE_TIMESTAMP);
    measure("Timestamp -> CHAR", &stamps, c_type::CHAR);
    measure("Boolean -> BIT", &flags, c_type::BIT);
}

fn measure(name: &str, array: &dyn Array, c_type: SmallInt) {
    const ROUNDS: usize = 500;
    let writer = plan(array.data_type(), &wanted(c_type)).expect("a conversion");
    let mut buffers = Buffers::new(array.len(), fixed_size(c_type).unwrap_or(80));
    let slots = buffers.slots();
    let best = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        // SAFETY: the buffers have these rows.
        unsafe {
            writer.write(array, 0..array.len(), &slots, &mut |row, failure| panic!("{row}: {failure:?}"))
        };
        start.elapsed()
    });
    let best = best.min().expect("rounds").as_nanos() as f64 / array.len() as f64;
    println!("{name:30} {best:6.1} ns");
}
