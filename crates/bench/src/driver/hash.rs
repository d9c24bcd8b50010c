//! The hash of every cell of Arrow batches: the sum that [`checksum`] defines, for each column.

use super::column::unknown;
use crate::demo::checksum;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use std::sync::Arc;

/// The rows that were read, and the sum of each column's hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) rows: u64,
    /// Empty if rows were only counted.
    pub(crate) sums: Vec<u64>,
}

impl Found {
    /// Nothing yet, of so many columns; of none if rows are only counted.
    pub(crate) fn new(columns: usize) -> Self {
        Self { rows: 0, sums: vec![0; columns] }
    }

    /// Adds a batch. Columns are hashed unless rows are only counted.
    pub(crate) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.rows += batch.num_rows() as u64;
        for ((sum, values), field) in self.sums.iter_mut().zip(batch.columns()).zip(batch.schema().fields()) {
            *sum = sum.wrapping_add(match common(values.data_type()) {
                None => checksum(values)?,
                Some(_) => checksum(&converted(field.name(), values)?)?,
            });
        }
        Ok(())
    }
}

/// The type as which values of this type are hashed, if that is another one.
fn common(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Int8 | DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Float16 => DataType::Float32,
        DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => {
            DataType::Decimal128(*precision, *scale)
        }
        DataType::Decimal256(_, scale) => DataType::Decimal128(38, *scale),
        DataType::Timestamp(TimeUnit::Microsecond, None) => return None,
        DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        DataType::Date64 => DataType::Date32,
        DataType::Time64(TimeUnit::Microsecond) => return None,
        DataType::Time32(_) | DataType::Time64(_) => DataType::Time64(TimeUnit::Microsecond),
        DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::Null => DataType::Utf8,
        DataType::Dictionary(_, values) => common(values).unwrap_or_else(|| (**values).clone()),
        _ => return None,
    })
}

fn converted(name: &str, values: &ArrayRef) -> Result<ArrayRef> {
    let Some(wanted) = common(values.data_type()) else { return Ok(Arc::clone(values)) };
    let new = cast(values, &wanted).map_err(|_| unknown(name, values.data_type()))?;
    if new.null_count() != values.null_count() {
        return Err(Error::other(format!("column {name} has values that {wanted} cannot hold")));
    }
    Ok(match wanted {
        // The moment, whatever the zone in which it is shown.
        DataType::Timestamp(_, Some(_)) => {
            Arc::new(new.as_primitive::<TimestampMicrosecondType>().clone().with_timezone_opt(None::<&str>))
        }
        _ => new,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        Date64Array, Decimal256Array, Int8Array, Int64Array, StringArray, Time32SecondArray,
        Time64MicrosecondArray, TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
    };
    use arrow::datatypes::i256;

    fn sum(array: impl Array + 'static) -> u64 {
        let batch = RecordBatch::try_from_iter([("X", Arc::new(array) as ArrayRef)]).unwrap();
        let mut found = Found::new(1);
        found.add(&batch).unwrap();
        found.sums[0]
    }

    #[test]
    fn the_same_values_of_other_types_have_the_same_hash() {
        let seven = sum(Int64Array::from(vec![Some(7), None]));
        assert_eq!(sum(Int8Array::from(vec![Some(7), None])), seven);
        assert_eq!(sum(UInt64Array::from(vec![Some(7), None])), seven);
        let wide = Decimal256Array::from(vec![Some(i256::from_i128(7)), None]);
        assert_eq!(sum(wide.with_precision_and_scale(50, 0).unwrap()), seven);
        let moment = sum(TimestampMicrosecondArray::from(vec![1_000_000]));
        assert_eq!(sum(TimestampSecondArray::from(vec![1])), moment);
        assert_eq!(sum(TimestampSecondArray::from(vec![1]).with_timezone("+05:00")), moment);
        assert_eq!(sum(TimestampMicrosecondArray::from(vec![1_000_000]).with_timezone("+05:00")), moment);
        let hour = sum(Time64MicrosecondArray::from(vec![3_600_000_000]));
        assert_eq!(sum(Time32SecondArray::from(vec![3600])), hour);
        assert_ne!(sum(Date64Array::from(vec![86_400_000])), sum(Int64Array::from(vec![1])));
    }

    #[test]
    fn counting_hashes_nothing_and_unknown_types_are_named() {
        let batch = RecordBatch::try_from_iter([("X", Arc::new(StringArray::from(vec!["a"])) as ArrayRef)]);
        let batch = batch.unwrap();
        let mut found = Found::new(0);
        found.add(&batch).unwrap();
        assert_eq!(found, Found { rows: 1, sums: vec![] });
        assert!(
            super::super::column::Column::of_schema(&arrow::datatypes::Schema::new(vec![
                arrow::datatypes::Field::new("L", DataType::new_list(DataType::Int32, true), true)
            ]))
            .unwrap_err()
            .to_string()
            .contains("column L is")
        );
    }
}
