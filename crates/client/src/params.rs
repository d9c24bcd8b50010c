//! Parameters of statements.

mod to_param;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;
pub use to_param::ToParam;

/// Makes one row of [`Params`] from Rust values, each of a type that is [`ToParam`]. Values are borrowed. An Arrow array
/// (`ArrayRef`) of n values makes n rows; all arrays must then have n.
///
/// ```no_run
/// use firearrow::{Connection, Date, Decimal, params};
///
/// # fn main() -> Result<(), firearrow::Error> {
/// let connection = Connection::connect("firebird://db.example/employee")?;
/// let name = String::from("Ada");
/// connection.execute_with(
///     "INSERT INTO staff (id, name, salary, hired, manager) VALUES (?, ?, ?, ?, ?)",
///     params![1, name, Decimal::new(345_000, 2), Date::new(2026, 11, 2), None::<i32>],
/// )?;
/// for batch in connection.query_with("SELECT * FROM staff WHERE name = ?", params!["Ada"])? {
///     println!("{} rows", batch?.num_rows());
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Panics
/// When arrays differ in length.
#[macro_export]
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        $crate::Params::row([$($crate::ToParam::to_param(&$value)),*])
    };
}

/// Rows of parameters: one column per `?`, in order. Names do not matter.
///
/// [`params!`](crate::params!) makes one row of values of different types; arrays and slices of one type convert into one row; a
/// [`RecordBatch`] is as many rows as it has.
#[derive(Clone, Debug, Default)]
pub struct Params(Option<RecordBatch>);

impl Params {
    /// No parameters.
    pub fn none() -> Self {
        Self(None)
    }

    /// One row of texts (`None` = NULL); the server converts each to the type that its parameter has.
    pub fn texts<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        Self::row(values.into_iter().map(|value| Arc::new(StringArray::from(vec![value])) as ArrayRef))
    }

    /// One parameter per array; the arrays must have equal lengths, the number of rows.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn row(columns: impl IntoIterator<Item = ArrayRef>) -> Self {
        let columns: Vec<ArrayRef> = columns.into_iter().collect();
        let fields: Vec<Field> = columns
            .iter()
            .enumerate()
            .map(|(index, column)| Field::new(format!("{}", index + 1), column.data_type().clone(), true))
            .collect();
        let rows = columns.first().map_or(1, |column| column.len());
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options);
        Self(Some(batch.expect("parameter columns have equal lengths")))
    }

    pub(crate) fn batch(&self) -> Option<&RecordBatch> {
        // A batch without columns and a statement without parameters fit.
        self.0.as_ref().filter(|batch| batch.num_columns() > 0)
    }
}

impl From<RecordBatch> for Params {
    fn from(batch: RecordBatch) -> Self {
        Self(Some(batch))
    }
}

impl From<&RecordBatch> for Params {
    fn from(batch: &RecordBatch) -> Self {
        Self(Some(batch.clone()))
    }
}

/// One row: a parameter for each value.
impl<T: ToParam, const N: usize> From<[T; N]> for Params {
    fn from(values: [T; N]) -> Self {
        Self::from(values.as_slice())
    }
}

/// One row: a parameter for each value.
impl<T: ToParam> From<&[T]> for Params {
    fn from(values: &[T]) -> Self {
        Self::row(values.iter().map(T::to_param))
    }
}

/// One row: a parameter for each value.
impl<T: ToParam> From<Vec<T>> for Params {
    fn from(values: Vec<T>) -> Self {
        Self::from(values.as_slice())
    }
}

impl From<()> for Params {
    fn from((): ()) -> Self {
        Self::none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchExt, Date, Decimal, Value};
    use arrow::array::Int32Array;

    fn values(params: &Params) -> Vec<Value<'_>> {
        let row = params.batch().and_then(|batch| batch.rows().next()).expect("a row");
        (0..row.columns()).map(|column| row.get(column).expect("a value")).collect()
    }

    #[test]
    fn values_of_all_types_make_a_row() {
        let name = String::from("Ada");
        let array: ArrayRef = Arc::new(Int32Array::from(vec![7]));
        let day = Date::new(2026, 11, 22).expect("a day");
        let made = params![1, "a", name, None::<i32>, b"\0", Decimal::new(5, 1), Some(day), array, 1_i128,];
        let expected = [
            Value::Integer(1),
            Value::Text("a"),
            Value::Text("Ada"),
            Value::Null,
            Value::Bytes(b"\0"),
            Value::Decimal(Decimal::new(5, 1)),
            Value::Date(day),
            Value::Integer(7),
            Value::Decimal(Decimal::new(1, 0)),
        ];
        assert_eq!(values(&made), expected);
        // Values are borrowed.
        assert_eq!((name.as_str(), array.len()), ("Ada", 1));
    }

    #[test]
    fn no_values_are_no_parameters() {
        assert!(params![].batch().is_none());
        assert!(Params::from([0_i32; 0]).batch().is_none());
    }

    #[test]
    fn values_of_one_type_make_a_row() {
        let expected = [Value::Text("a"), Value::Null];
        assert_eq!(values(&Params::from([Some("a"), None])), expected);
        assert_eq!(values(&Params::from(vec![Some("a"), None])), expected);
        assert_eq!(values(&Params::from(&expected[..])), expected);
        let mixed: [&dyn ToParam; 2] = [&"a", &None::<i32>];
        assert_eq!(values(&Params::from(mixed)), expected);
    }
}
