//! Parameters: Python objects as values of the client, one row at a time or many rows as columns.

mod column;
mod value;

use crate::error;
use crate::failure::Failure;
use arrow::array::RecordBatch;
use column::Column;
use firearrow::{Descriptor, Params};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyFrozenSet, PyList, PySet, PyString, PyTuple};
pub(crate) use value::Value;

/// SQL as the server wants it, and the names of its markers if it has names instead of `?`.
pub(crate) struct Sql {
    pub(crate) text: String,
    names: Option<Vec<String>>,
}

impl Sql {
    /// Names count only if the parameters have names, too: `:name` has a meaning of its own in PSQL.
    pub(crate) fn new(py: Python<'_>, text: &str, is_named: bool) -> PyResult<Self> {
        let text = firearrow_driver::sql::without_end(text);
        if text.contains('\0') {
            return Err(error::programming(py, "the SQL contains a NUL"));
        }
        let named = match is_named {
            true => firearrow_driver::sql::named(text).map_err(|failed| error::of(py, failed))?,
            false => None,
        };
        Ok(match named {
            Some(named) => Self { text: named.sql, names: Some(named.names) },
            None => Self { text: text.to_owned(), names: None },
        })
    }

    /// The values of one row, in the order of the markers.
    pub(crate) fn values(
        &self,
        py: Python<'_>,
        given: Option<&Bound<'_, PyAny>>,
        descriptors: &[Descriptor],
    ) -> PyResult<Vec<Value>> {
        let values = self.each(py, given, |index, object| {
            Value::new(object, descriptors.get(index))
                .map_err(|failed| named_error(py, failed, index, descriptors))
        })?;
        self.check_count(values.len(), descriptors).map_err(|failed| failed.into_exception(py))?;
        Ok(values)
    }

    /// The same before the statement is known; `None` if some value depends on it.
    pub(crate) fn early_values(
        &self,
        py: Python<'_>,
        given: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Vec<Value>>> {
        let values = self.each(py, given, |_, object| Value::early(object))?;
        Ok(values.into_iter().collect())
    }

    /// Early values as the statement wants them.
    pub(crate) fn settle(
        &self,
        values: Vec<Value>,
        descriptors: &[Descriptor],
    ) -> Result<Vec<Value>, Failure> {
        self.check_count(values.len(), descriptors)?;
        Ok(values.into_iter().zip(descriptors).map(|(value, wanted)| value.settled(Some(wanted))).collect())
    }

    /// What `value` makes of each object of a row, by the number of its marker.
    fn each<T>(
        &self,
        py: Python<'_>,
        given: Option<&Bound<'_, PyAny>>,
        value: impl Fn(usize, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> PyResult<Vec<T>> {
        let Some(given) = given.filter(|given| !given.is_none()) else { return Ok(Vec::new()) };
        if let Some(names) = &self.names {
            let values = names.iter().enumerate().map(|(index, name)| match given.get_item(name) {
                Ok(object) => value(index, &object),
                Err(_) => {
                    Err(error::programming(py, format!("there is no parameter :{name} among those given")))
                }
            });
            return values.collect();
        }
        if let Ok(tuple) = given.cast::<PyTuple>() {
            return tuple.iter().enumerate().map(|(index, object)| value(index, &object)).collect();
        }
        if let Ok(list) = given.cast::<PyList>() {
            return list.iter().enumerate().map(|(index, object)| value(index, &object)).collect();
        }
        if is_mapping(given) {
            return Err(error::programming(
                py,
                "parameters with names need markers such as :name in the SQL; for ? give a sequence",
            ));
        }
        if is_text(given) {
            return Err(error::programming(
                py,
                "the parameters are a sequence of values; for a single one write (value,)",
            ));
        }
        if given.is_instance_of::<PySet>() || given.is_instance_of::<PyFrozenSet>() {
            return Err(error::programming(
                py,
                "the parameters are a set, which has no order: give a list or a tuple",
            ));
        }
        let objects = given.try_iter().map_err(|_| {
            error::programming(
                py,
                "the parameters must be a sequence, or a mapping for markers such as :name",
            )
        })?;
        objects.enumerate().map(|(index, object)| value(index, &object?)).collect()
    }

    /// Refuses too many and too few.
    fn check_count(&self, given: usize, descriptors: &[Descriptor]) -> Result<(), Failure> {
        let wanted = descriptors.len();
        if given == wanted {
            return Ok(());
        }
        Err(Failure::Parameters(match &self.names {
            Some(names) => format!("the statement needs values for :{}", names.join(", :")),
            None => format!("the statement has {wanted} parameters, {given} were given"),
        }))
    }
}

/// Whether parameters come by name.
pub(crate) fn is_mapping(given: &Bound<'_, PyAny>) -> bool {
    given.is_instance_of::<PyDict>() || given.cast::<pyo3::types::PyMapping>().is_ok()
}

fn is_text(given: &Bound<'_, PyAny>) -> bool {
    given.is_instance_of::<PyString>()
        || given.is_instance_of::<PyBytes>()
        || given.is_instance_of::<PyByteArray>()
}

/// Says which parameter it is about.
fn named_error(py: Python<'_>, failed: PyErr, index: usize, descriptors: &[Descriptor]) -> PyErr {
    let column = descriptors.get(index).map(|descriptor| descriptor.field.as_str()).unwrap_or_default();
    let column = if column.is_empty() { String::new() } else { format!(" ({column})") };
    error::data(py, format!("parameter {}{column}: {}", index + 1, failed.value(py)))
}

/// One row.
pub(crate) fn single(values: Vec<Value>) -> Params {
    Params::values(values.into_iter().map(Value::into_scalar).collect())
}

/// Many rows, collected by column. Each batch has one type for each column.
pub(crate) struct Many {
    columns: Vec<Column>,
    rows: usize,
}

impl Many {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns: (0..columns).map(|_| Column::default()).collect(), rows: 0 }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Whether a row has the types of those before it.
    pub(crate) fn fits(&self, row: &[Value]) -> bool {
        self.columns.iter().zip(row).all(|(column, value)| column.fits(value))
    }

    pub(crate) fn push(&mut self, row: Vec<Value>) {
        for (column, value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
        self.rows += 1;
    }

    /// Takes the rows.
    pub(crate) fn take(&mut self) -> RecordBatch {
        let arrays = self.columns.iter_mut().map(Column::take).collect();
        let rows = std::mem::take(&mut self.rows);
        column::batch(arrays, rows)
    }
}
