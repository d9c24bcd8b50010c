//! Random rows in every C type and layout: none lost, none altered.

use super::buffers::{Buffers, Layout, Parameter};
use super::support::*;
use crate::abi::{SmallInt, c_type};
use crate::params::{Source, Supplied, read};
use arrow::array::*;
use arrow::compute::take;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::fmt::Debug;
use std::sync::Arc;

/// A parameter, and the column that it should become.
#[derive(Clone, Debug)]
struct Case {
    parameter: Parameter,
    expected: ArrayRef,
}

type Optional<T> = Vec<Option<T>>;

/// Values of one type, written as bytes in one way and as Arrow in another.
fn case<T: Clone + Debug + 'static>(
    sets: usize,
    (c_type, number): (SmallInt, u16),
    value: impl Strategy<Value = T> + 'static,
    bytes: impl Fn(&T) -> Vec<u8> + 'static,
    array: impl Fn(&Optional<T>) -> ArrayRef + 'static,
) -> BoxedStrategy<Case> {
    let values = vec(option::weighted(0.8, value), sets);
    let case = values.prop_map(move |values| {
        let written = values.iter().map(|value| value.as_ref().map(&bytes)).collect();
        // A column without a value need not have its type; there is always one in these.
        Case { parameter: parameter(c_type, number, written), expected: array(&values) }
    });
    case.boxed()
}

macro_rules! number {
    ($sets:expr, $c_type:ident, $number:expr, $native:ty, $array:ty, $arrow:ty) => {
        case(
            $sets,
            (c_type::$c_type, $number),
            any::<$native>(),
            |value| value.to_ne_bytes().to_vec(),
            |values| {
                let values = values.iter().map(|value| value.map(<$arrow>::from));
                Arc::new(<$array>::from(values.collect::<Vec<Option<$arrow>>>()))
            },
        )
    };
}

fn texts(values: &Optional<String>) -> ArrayRef {
    Arc::new(StringArray::from(values.clone()))
}

fn numeric((precision, scale, value): &(u8, i8, i128)) -> Vec<u8> {
    // The precision and the scale in the structure do not matter.
    let mut bytes = vec![*precision, *scale as u8, u8::from(*value >= 0)];
    bytes.extend(value.unsigned_abs().to_le_bytes());
    bytes
}

/// Days since 1970, as a structure of year, month and day.
fn date(days: &i32) -> Vec<u8> {
    let text = Date32Array::from(vec![*days]).value_as_date(0).expect("it is in the calendar").to_string();
    text.split('-').flat_map(|part| part.parse::<u16>().expect("a number").to_ne_bytes()).collect()
}

/// Microseconds, as hours, minutes and seconds.
fn clock(micros: i64) -> Vec<u8> {
    let seconds = micros / 1_000_000;
    [seconds / 3600, seconds / 60 % 60, seconds % 60]
        .iter()
        .flat_map(|&part| (part as u16).to_ne_bytes())
        .collect()
}

fn any_case(sets: usize) -> BoxedStrategy<Case> {
    let days = -719_162..=2_932_896;
    let micros = 0..86_400_000_000_i64;
    prop_oneof![
        number!(sets, STINYINT, INTEGER, i8, Int16Array, i16),
        number!(sets, UTINYINT, INTEGER, u8, Int16Array, i16),
        number!(sets, SHORT, INTEGER, i16, Int16Array, i16),
        number!(sets, USHORT, INTEGER, u16, Int32Array, i32),
        number!(sets, LONG, VARCHAR, i32, Int32Array, i32),
        number!(sets, ULONG, BIGINT, u32, Int64Array, i64),
        number!(sets, SBIGINT, BIGINT, i64, Int64Array, i64),
        number!(sets, UBIGINT, INT128, u32, Int64Array, i64).prop_map(|mut case| {
            for value in case.parameter.values.iter_mut().flatten() {
                let number = u32::from_ne_bytes(value[..].try_into().expect("four bytes"));
                *value = u64::from(number).to_ne_bytes().to_vec();
            }
            case
        }),
        number!(sets, FLOAT, FLOAT, f32, Float32Array, f32),
        number!(sets, DOUBLE, DOUBLE, f64, Float64Array, f64),
        case(
            sets,
            (c_type::BIT, BOOLEAN),
            any::<bool>(),
            |&value| vec![value.into()],
            |values| Arc::new(BooleanArray::from(values.clone())),
        ),
        case(sets, (c_type::NUMERIC, INT128), any::<(u8, i8, i128)>(), numeric, |values| {
            let values = values.iter().map(|value| value.map(|(_, _, value)| value));
            Arc::new(Decimal128Array::from_iter(values).with_precision_and_scale(38, 3).expect("valid"))
        }),
        case(sets, (c_type::CHAR, VARCHAR), "[^\0]{0,9}", |text| text.clone().into_bytes(), texts),
        case(sets, (c_type::WCHAR, BLOB), "[^\0]{0,9}", |text| wide(text), texts),
        case(sets, (c_type::BINARY, BLOB), vec(any::<u8>(), 0..9), Vec::clone, |values| {
            Arc::new(BinaryArray::from_iter(values))
        }),
        case(
            sets,
            (c_type::GUID, NULL),
            any::<(u32, u16, u16, u64)>(),
            |(first, second, third, rest)| {
                let parts = [
                    &first.to_ne_bytes()[..],
                    &second.to_ne_bytes(),
                    &third.to_ne_bytes(),
                    &rest.to_be_bytes(),
                ];
                parts.concat()
            },
            |values| {
                let in_order = |(first, second, third, rest): (u32, u16, u16, u64)| {
                    let high = u64::from(first) << 32 | u64::from(second) << 16 | u64::from(third);
                    (u128::from(high) << 64 | u128::from(rest)).to_be_bytes()
                };
                Arc::new(BinaryArray::from_iter(values.iter().map(|value| value.map(in_order))))
            }
        ),
        case(sets, (c_type::TYPE_DATE, DATE), days.clone(), date, |values| {
            Arc::new(Date32Array::from(values.clone()))
        }),
        case(
            sets,
            (c_type::TYPE_TIME, TIME),
            micros.clone(),
            |&micros| clock(micros),
            |values| {
                let whole = values.iter().map(|value| value.map(|micros| micros / 1_000_000 * 1_000_000));
                Arc::new(Time64MicrosecondArray::from_iter(whole))
            }
        ),
        case(
            sets,
            (c_type::TYPE_TIMESTAMP, TIMESTAMP),
            (days, micros),
            |(days, micros)| [date(days), clock(*micros), nanos(*micros).to_ne_bytes().to_vec()].concat(),
            |values| {
                let cut = |(days, micros): (i32, i64)| i64::from(days) * 86_400_000_000 + micros / 100 * 100;
                Arc::new(TimestampMicrosecondArray::from_iter(values.iter().map(|value| value.map(cut))))
            }
        ),
    ]
    .boxed()
}

fn nanos(micros: i64) -> u32 {
    (micros % 1_000_000) as u32 * 1000 + 999
}

/// Parameters of as many sets.
fn cases() -> impl Strategy<Value = (Vec<Case>, Vec<bool>)> {
    (1..40_usize).prop_flat_map(|sets| (vec(any_case(sets), 1..9), vec(any::<bool>(), sets)))
}

fn layout() -> impl Strategy<Value = Layout> {
    let parts = (any::<bool>(), 0..9_usize, any::<bool>());
    parts.prop_map(|(by_row, offset, has_indicators)| Layout { by_row, offset, has_indicators })
}

/// Reads some sets and compares all of their values.
fn check(cases: &[Case], wanted: &[usize], layout: Layout) {
    let parameters: Vec<Parameter> = cases.iter().map(|case| case.parameter.clone()).collect();
    let described: Vec<_> = parameters.iter().map(|parameter| parameter.described.clone()).collect();
    let buffers = Buffers::new(&parameters, layout);
    let supplied = Supplied::default();
    let source = Source { supplied: &supplied, sets: wanted, is_call: false };
    // SAFETY: the buffers have all sets.
    let read = unsafe { read(&buffers.bindings, source, &described) }.expect("everything is legal");
    assert_eq!(read.failed, []);
    assert_eq!((read.sets.as_slice(), read.batch.num_rows()), (wanted, wanted.len()));
    let rows = UInt64Array::from_iter_values(wanted.iter().map(|&set| set as u64));
    for (case, column) in cases.iter().zip(read.batch.columns()) {
        let expected = take(&case.expected, &rows, None).expect("all rows are there");
        assert_eq!(column, &expected, "{:?}", case.parameter);
    }
}

proptest! {
    #[test]
    fn no_value_is_lost_or_altered(
        (mut cases, operations) in cases(),
        layout in layout(),
        ends_with_zero in any::<bool>(),
    ) {
        for Case { parameter, .. } in &mut cases {
            let is_text = [c_type::CHAR, c_type::WCHAR].contains(&parameter.c_type);
            parameter.ends_with_zero = ends_with_zero && is_text;
            if parameter.c_type == c_type::NUMERIC {
                parameter.scale = 3;
            }
            if parameter.c_type == c_type::WCHAR {
                parameter.described.sub_type = 1;
            }
        }
        let all: Vec<usize> = (0..operations.len()).collect();
        check(&cases, &all, layout);
        let wanted: Vec<usize> = all.into_iter().filter(|&set| operations[set]).collect();
        check(&cases, &wanted, layout);
    }
}

#[test]
fn thousands_of_rows_are_read() {
    for by_row in [false, true] {
        let numbers: Vec<Option<i32>> = (0..100_000).map(|set| (set % 7 != 0).then_some(set * 31)).collect();
        let texts: Vec<Option<String>> =
            (0..100_000).map(|set| (set % 5 != 0).then(|| set.to_string())).collect();
        let bytes = |number: &Option<i32>| number.map(|number| number.to_ne_bytes().to_vec());
        let cases = [
            Case {
                parameter: parameter(c_type::SLONG, INTEGER, numbers.iter().map(bytes).collect()),
                expected: Arc::new(Int32Array::from(numbers)),
            },
            Case {
                parameter: parameter(
                    c_type::CHAR,
                    VARCHAR,
                    texts.iter().map(|text| text.clone().map(String::into_bytes)).collect(),
                ),
                expected: Arc::new(StringArray::from(texts)),
            },
        ];
        let layout = Layout { by_row, offset: 3, has_indicators: false };
        let all: Vec<usize> = (0..100_000).collect();
        check(&cases, &all, layout);
        check(&cases, &all[99_990..], layout);
    }
}
