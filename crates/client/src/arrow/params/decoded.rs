//! Dictionaries, runs and half floats, as the values that they stand for.
//!
//! `arrow`'s `cast` does that, too; but it brings every conversion between two types into each program, 2 MB of code.

use arrow::array::{Array, ArrayRef, AsArray, RunArray, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{
    DataType, Float16Type, Float32Type, Int16Type, Int32Type, Int64Type, RunEndIndexType,
};
use arrow::error::ArrowError;
use std::sync::Arc;

/// Returns the values themselves; half floats in single precision.
///
/// # Errors
/// There are more texts than one array of their type can hold.
pub(crate) fn decoded(mut array: ArrayRef) -> Result<ArrayRef, ArrowError> {
    loop {
        array = match array.data_type() {
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary();
                take(dictionary.values(), dictionary.keys(), None)?
            }
            DataType::RunEndEncoded(ends, _) => match ends.data_type() {
                DataType::Int16 => repeated::<Int16Type>(&array)?,
                DataType::Int32 => repeated::<Int32Type>(&array)?,
                _ => repeated::<Int64Type>(&array)?,
            },
            DataType::Float16 => {
                let halves = array.as_primitive::<Float16Type>();
                Arc::new(halves.unary::<_, Float32Type>(f32::from))
            }
            _ => return Ok(array),
        };
    }
}

fn repeated<E: RunEndIndexType>(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let runs: &RunArray<E> = array.as_run();
    let places = (0..runs.len()).map(|row| runs.get_physical_index(row) as u64);
    take(runs.values(), &UInt64Array::from_iter_values(places), None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, Float16Array, Int32Array, StringArray};
    use arrow::datatypes::Int8Type;

    #[test]
    fn runs_are_repeated_also_in_slices() {
        let ends = Int32Array::from(vec![2, 3, 6]);
        let values = StringArray::from(vec![Some("a"), None, Some("c")]);
        let runs: ArrayRef = Arc::new(RunArray::try_new(&ends, &values).unwrap());
        for (start, length, expected) in [
            (0, 6, vec![Some("a"), Some("a"), None, Some("c"), Some("c"), Some("c")]),
            (1, 3, vec![Some("a"), None, Some("c")]),
            (4, 2, vec![Some("c"), Some("c")]),
            (3, 0, vec![]),
        ] {
            let slice = decoded(runs.slice(start, length)).ok().unwrap();
            assert_eq!(slice.as_string::<i32>(), &StringArray::from(expected), "{start}, {length}");
        }
    }

    #[test]
    fn dictionaries_may_have_runs_half_floats_and_nulls() {
        let keys = arrow::array::Int8Array::from(vec![Some(1), None, Some(0), Some(2)]);
        let halves = [Some(1.5), Some(-2.0), None].map(|value: Option<f32>| value.map(half));
        let values = Arc::new(Float16Array::from_iter(halves));
        let dictionary: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys, values));
        let plain = decoded(Arc::clone(&dictionary)).ok().unwrap();
        let found: Vec<_> = plain.as_primitive::<Float32Type>().iter().collect();
        assert_eq!(found, [Some(-2.0), None, Some(1.5), None]);
        assert_eq!(decoded(dictionary.slice(2, 1)).ok().unwrap().as_primitive::<Float32Type>().value(0), 1.5);
    }

    fn half(value: f32) -> <Float16Type as arrow::array::ArrowPrimitiveType>::Native {
        <Float16Type as arrow::array::ArrowPrimitiveType>::Native::from_f32(value)
    }
}
