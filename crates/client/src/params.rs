//! Parameters of statements.

mod scalar;
mod to_param;

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
pub use scalar::Scalar;
use std::sync::{Arc, OnceLock};
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
        $crate::Params::values(::std::vec![$($crate::ToParam::to_scalar(&$value)),*])
    };
}

/// Rows of parameters: one column per `?`, in order. Names do not matter.
///
/// [`params!`](crate::params!) makes one row of values of different types; arrays and slices of one type convert into one row; a
/// [`RecordBatch`] is as many rows as it has.
#[derive(Clone, Debug, Default)]
pub struct Params(Given);

#[derive(Clone, Debug, Default)]
enum Given {
    #[default]
    Nothing,
    Batch(RecordBatch),
    /// One row of values that may need no arrays; the batch of them is made when somebody asks for it.
    Values(Vec<Scalar>, OnceLock<RecordBatch>),
}

impl Params {
    /// No parameters.
    pub fn none() -> Self {
        Self::default()
    }

    /// One row of values, or as many as arrays among them have.
    ///
    /// # Panics
    /// When their lengths differ.
    #[doc(hidden)]
    pub fn values(values: Vec<Scalar>) -> Self {
        let is_row = |value: &Scalar| !matches!(value, Scalar::Array(array) if array.len() != 1);
        match values.iter().all(is_row) {
            _ if values.is_empty() => Self::none(),
            true => Self(Given::Values(values, OnceLock::new())),
            false => Self::row(values.iter().map(Scalar::to_array)),
        }
    }

    /// One row of texts (`None` = NULL); the server converts each to the type that its parameter has.
    pub fn texts<'a>(values: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        Self::values(values.into_iter().map(|value| value.map(str::to_owned).to_scalar()).collect())
    }

    /// One parameter per array; the arrays must have equal lengths, the number of rows.
    ///
    /// # Panics
    /// When the lengths differ.
    pub fn row(columns: impl IntoIterator<Item = ArrayRef>) -> Self {
        Self(Given::Batch(batch_of(columns.into_iter().collect())))
    }

    /// The rows; `None` without parameters.
    pub(crate) fn batch(&self) -> Option<&RecordBatch> {
        let batch = match &self.0 {
            Given::Nothing => return None,
            Given::Batch(batch) => batch,
            Given::Values(values, batch) => {
                batch.get_or_init(|| batch_of(values.iter().map(Scalar::to_array).collect()))
            }
        };
        // A batch without columns and a statement without parameters fit.
        Some(batch).filter(|batch| batch.num_columns() > 0)
    }

    /// The values of a row that was not given as arrays.
    pub(crate) fn scalars(&self) -> Option<&[Scalar]> {
        match &self.0 {
            Given::Values(values, _) => Some(values),
            _ => None,
        }
    }

    /// The number of rows; `None` without parameters.
    pub(crate) fn rows(&self) -> Option<usize> {
        match self.scalars() {
            Some(_) => Some(1),
            None => self.batch().map(RecordBatch::num_rows),
        }
    }

    /// Whether it is executed once: no parameters, or one row of them.
    pub(crate) fn is_single(&self) -> bool {
        self.rows().is_none_or(|rows| rows == 1)
    }
}

fn batch_of(columns: Vec<ArrayRef>) -> RecordBatch {
    let fields: Vec<Field> = columns
        .iter()
        .enumerate()
        .map(|(index, column)| Field::new(format!("{}", index + 1), column.data_type().clone(), true))
        .collect();
    let rows = columns.first().map_or(1, |column| column.len());
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), columns, &options);
    batch.expect("parameter columns have equal lengths")
}

impl From<RecordBatch> for Params {
    fn from(batch: RecordBatch) -> Self {
        Self(Given::Batch(batch))
    }
}

impl From<&RecordBatch> for Params {
    fn from(batch: &RecordBatch) -> Self {
        Self(Given::Batch(batch.clone()))
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
        Self::values(values.iter().map(T::to_scalar).collect())
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
