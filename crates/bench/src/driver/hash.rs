//! The hash of every cell of Arrow batches: the sum that [`checksum`] defines, for each column.

use super::column::unknown;
use super::widened::{Unfit, widened};
use crate::demo::checksum;
use crate::error::{Error, Result};
use arrow::array::{Array, RecordBatch};

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
            let values = widened(values).map_err(|unfit| match unfit {
                Unfit::Type => unknown(field.name(), values.data_type()),
                Unfit::Value(wanted) => {
                    Error::other(format!("column {} has values that {wanted} cannot hold", field.name()))
                }
            })?;
            *sum = sum.wrapping_add(checksum(&values)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        ArrayRef, Date64Array, Decimal256Array, DictionaryArray, Int8Array, Int64Array, NullArray,
        StringArray, Time32SecondArray, Time64MicrosecondArray, TimestampMicrosecondArray,
        TimestampNanosecondArray, TimestampSecondArray, UInt64Array,
    };
    use arrow::datatypes::{DataType, Int8Type, i256};
    use std::sync::Arc;

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
        let texts = sum(StringArray::from(vec![Some("a"), None, Some("a")]));
        assert_eq!(
            sum([Some("a"), None, Some("a")].into_iter().collect::<DictionaryArray<Int8Type>>()),
            texts
        );
        assert_eq!(sum(NullArray::new(2)), sum(StringArray::from(vec![None::<&str>, None])));
        let three = sum(TimestampMicrosecondArray::from(vec![Some(3), None]));
        assert_eq!(sum(TimestampNanosecondArray::from(vec![Some(3_000), None])), three);
    }

    #[test]
    fn values_that_would_be_changed_are_errors() {
        let wide = Decimal256Array::from(vec![i256::from_i128(i128::MAX)]);
        for array in [
            Arc::new(TimestampNanosecondArray::from(vec![3_001])) as ArrayRef,
            Arc::new(TimestampSecondArray::from(vec![i64::MAX])),
            Arc::new(Date64Array::from(vec![1])),
            Arc::new(wide.with_precision_and_scale(76, 0).unwrap()),
        ] {
            let batch = RecordBatch::try_from_iter([("X", array)]).unwrap();
            let error = Found::new(1).add(&batch).unwrap_err().to_string();
            assert!(error.contains("column X has values that"), "{error}");
        }
        let wide = Decimal256Array::from(vec![i256::MAX]).with_precision_and_scale(76, 3).unwrap();
        let batch = RecordBatch::try_from_iter([("X", Arc::new(wide) as ArrayRef)]).unwrap();
        let error = Found::new(1).add(&batch).unwrap_err().to_string();
        assert!(error.contains("Decimal128(38, 3) cannot hold"), "{error}");
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
