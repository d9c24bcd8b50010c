//! One Python object as a value.

use super::column::list;
use crate::values::{adapt, blob_id, clock, date, datetime, decimal, enumeration, time, uuid};
use arrow::array::ArrayRef;
use firearrow::{Decimal, Descriptor, Scalar, Time, Timestamp, TimestampTz, ToParam};
use firearrow_proto::api::descriptor::SqlType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple};

/// A value, by the type that it has on the way to the server.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    Decimal(Decimal),
    Double(f64),
    Text(String),
    Bytes(Vec<u8>),
    /// Days since 1970.
    Date(i32),
    Time(Time),
    /// Microseconds since 1970.
    Moment(i64),
    Zoned(TimestampTz),
    /// The id of a BLOB that was written.
    Blob(u64),
    /// The elements of an array: a list with one value.
    Array(ArrayRef),
}

impl Value {
    /// The value of an object for a parameter that the server describes so.
    pub(crate) fn new(object: &Bound<'_, PyAny>, wanted: Option<&Descriptor>) -> PyResult<Self> {
        let py = object.py();
        // Exact classes first: nearly all values have one of them.
        if object.is_none() {
            return Ok(Self::Null);
        }
        if let Ok(text) = object.cast_exact::<PyString>() {
            return text_value(text);
        }
        if let Ok(number) = object.cast_exact::<PyInt>() {
            return integer(number, wanted);
        }
        if let Ok(number) = object.cast_exact::<PyFloat>() {
            return Ok(Self::Double(number.value()));
        }
        if let Ok(flag) = object.cast::<PyBool>() {
            return Ok(Self::Boolean(flag.is_true()).settled(wanted));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self::Bytes(bytes.as_bytes().to_vec()));
        }
        if object.is_instance(decimal(py)?)? {
            return decimal_value(object, wanted);
        }
        if object.is_instance(datetime(py)?)? {
            if object.get_type().name()? == "NaTType" {
                // pandas' NaT stands for no value.
                return Ok(Self::Null);
            }
            return moment(object, wanted);
        }
        if object.is_instance(date(py)?)? {
            return Ok(Self::Date(day(object)?));
        }
        if object.is_instance(time(py)?)? {
            return time_value(object, wanted);
        }
        if object.is_instance(uuid(py)?)? {
            return match wanted.is_some_and(Descriptor::is_octets) {
                true => Ok(Self::Bytes(object.getattr(intern!(py, "bytes"))?.extract()?)),
                false => text_value(&object.str()?),
            };
        }
        if object.is_instance(enumeration(py)?)? {
            return Self::new(&object.getattr(intern!(py, "value"))?, wanted);
        }
        // Subclasses.
        if let Ok(text) = object.cast::<PyString>() {
            return text_value(text);
        }
        if let Ok(number) = object.cast::<PyInt>() {
            if object.is_instance(blob_id(py)?)? {
                return Ok(Self::Blob(number.extract()?));
            }
            return integer(number, wanted);
        }
        if let Ok(number) = object.cast::<PyFloat>() {
            return Ok(Self::Double(number.value()));
        }
        if let Ok(bytes) = object.cast::<PyByteArray>() {
            return Ok(Self::Bytes(bytes.to_vec()));
        }
        if object.cast::<PyList>().is_ok() || object.cast::<PyTuple>().is_ok() {
            return elements(object, wanted);
        }
        let adapted = adapt(py)?.call1((object,))?;
        if !adapted.is(py.NotImplemented()) {
            return Self::new(&adapted, wanted);
        }
        if object.is_instance_of::<PyMemoryView>() {
            return Ok(Self::Bytes(object.call_method0(intern!(py, "tobytes"))?.extract()?));
        }
        let class = object.get_type().fully_qualified_name()?;
        Err(PyTypeError::new_err(format!(
            "objects of {class} cannot be parameters; see firearrow.register_adapter"
        )))
    }

    /// The value of an object that is the same for every parameter, up to [`settled`](Self::settled); `None` if that
    /// depends on the parameter, or the object is no value.
    pub(super) fn early(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = object.py();
        let is_plain = object.is_none()
            || object.is_exact_instance_of::<PyString>()
            || object.is_exact_instance_of::<PyInt>()
            || object.is_exact_instance_of::<PyFloat>()
            || object.is_exact_instance_of::<PyBool>()
            || object.is_exact_instance_of::<PyBytes>()
            || object.is_exact_instance(decimal(py)?)
            || object.is_exact_instance(date(py)?)
            || object.is_exact_instance(datetime(py)?) && object.getattr(intern!(py, "tzinfo"))?.is_none();
        // Errors say which parameter it is when the statement is known.
        Ok(if is_plain { Self::new(object, None).ok() } else { None })
    }

    /// The value as the parameter wants it.
    pub(super) fn settled(self, wanted: Option<&Descriptor>) -> Self {
        let is_flag = || wanted.is_some_and(|wanted| wanted.sql_type == SqlType::BOOLEAN);
        match self {
            Self::Boolean(flag) if is_integer(wanted) => Self::Integer(flag.into()),
            Self::Integer(number @ (0 | 1)) if is_flag() => Self::Boolean(number == 1),
            value => value,
        }
    }

    /// The value as the client takes it for one execution.
    pub(super) fn into_scalar(self) -> Scalar {
        match self {
            Self::Null => Scalar::Null(arrow::datatypes::DataType::Null),
            Self::Boolean(value) => Scalar::Boolean(value),
            Self::Integer(value) => Scalar::Int64(value),
            Self::Decimal(value) => value.to_scalar(),
            Self::Double(value) => Scalar::Double(value),
            Self::Text(value) => Scalar::Text(value),
            Self::Bytes(value) => Scalar::Bytes(value),
            Self::Date(days) => Scalar::Date(days),
            Self::Time(value) => value.to_scalar(),
            Self::Moment(micros) => Scalar::Timestamp(micros),
            Self::Zoned(value) => value.to_scalar(),
            Self::Blob(id) => id.to_scalar(),
            Self::Array(array) => Scalar::Array(array),
        }
    }
}

fn text_value(text: &Bound<'_, PyString>) -> PyResult<Value> {
    match text.to_cow() {
        Ok(text) => Ok(Value::Text(text.into_owned())),
        Err(_) => Err(PyValueError::new_err("the text contains a lone surrogate (not valid Unicode)")),
    }
}

fn is_integer(wanted: Option<&Descriptor>) -> bool {
    let numbers = [SqlType::SHORT, SqlType::LONG, SqlType::INT64, SqlType::INT128];
    wanted.is_some_and(|wanted| numbers.contains(&wanted.sql_type))
}

fn integer(number: &Bound<'_, PyInt>, wanted: Option<&Descriptor>) -> PyResult<Value> {
    if let Ok(value) = number.extract::<i64>() {
        return Ok(Value::Integer(value).settled(wanted));
    }
    match number.extract::<i128>() {
        Ok(value) => Ok(Value::Decimal(Decimal::new(value, 0))),
        // The server knows whether its type has room.
        Err(_) => Ok(Value::Text(number.str()?.to_string())),
    }
}

/// A number that fits is sent as one; others (NaN, infinities, exponents) as the text that DECFLOAT understands.
fn decimal_value(object: &Bound<'_, PyAny>, wanted: Option<&Descriptor>) -> PyResult<Value> {
    let text = object.str()?.to_string();
    Ok(match text.parse::<Decimal>() {
        // Its sign would be lost. Numbers without one take the text as well, but not as an element of an array.
        Ok(number) if number.unscaled == 0 && text.starts_with('-') => match wanted
            .map(|wanted| wanted.sql_type)
        {
            Some(SqlType::FLOAT | SqlType::DOUBLE | SqlType::D_FLOAT) => Value::Double(-0.0),
            Some(SqlType::SHORT | SqlType::LONG | SqlType::INT64 | SqlType::INT128) => Value::Decimal(number),
            _ => Value::Text(text),
        },
        Ok(number) => Value::Decimal(number),
        Err(_) => Value::Text(text),
    })
}

fn day(object: &Bound<'_, PyAny>) -> PyResult<i32> {
    let ordinal: i64 = object.call_method0(intern!(object.py(), "toordinal"))?.extract()?;
    // Years from 1 to 9999.
    Ok((ordinal - clock::EPOCH) as i32)
}

/// The microseconds of hour, minute, second and microsecond.
fn time_of_day(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = object.py();
    let hour: i64 = object.getattr(intern!(py, "hour"))?.extract()?;
    let minute: i64 = object.getattr(intern!(py, "minute"))?.extract()?;
    let second: i64 = object.getattr(intern!(py, "second"))?.extract()?;
    let micro: i64 = object.getattr(intern!(py, "microsecond"))?.extract()?;
    Ok(((hour * 60 + minute) * 60 + second) * 1_000_000 + micro)
}

/// Microseconds that the engine tells apart; it refuses texts with more digits.
const FINEST: i64 = 100;

fn moment(object: &Bound<'_, PyAny>, wanted: Option<&Descriptor>) -> PyResult<Value> {
    let py = object.py();
    let micros = i64::from(day(object)?) * 86_400_000_000 + time_of_day(object)?;
    let zone = object.getattr(intern!(py, "tzinfo"))?;
    if zone.is_none() {
        return Ok(Value::Moment(micros));
    }
    let Some(offset) = displacement(object)? else { return Ok(Value::Moment(micros)) };
    // A region is more than a displacement.
    let key = zone.getattr_opt(intern!(py, "key"))?.and_then(|key| key.extract::<String>().ok());
    let has_zone = wanted
        .is_some_and(|wanted| matches!(wanted.sql_type, SqlType::TIMESTAMP_TZ | SqlType::TIMESTAMP_TZ_EX));
    if let Some(region) = key.filter(|_| has_zone)
        && let Some(local) = Timestamp::from_unix_micros(micros - micros.rem_euclid(FINEST))
    {
        return Ok(Value::Text(format!("{local} {} {region}", signed(offset))));
    }
    let utc = Timestamp::from_unix_micros(micros - i64::from(offset) * 60_000_000);
    let zoned = utc.and_then(|utc| TimestampTz::with_offset(utc, offset));
    zoned.map(Value::Zoned).ok_or_else(|| PyValueError::new_err("the time is out of range in UTC"))
}

fn signed(minutes: i16) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// The displacement in minutes; `None` if the zone does not say one.
fn displacement(object: &Bound<'_, PyAny>) -> PyResult<Option<i16>> {
    let offset = object.call_method0(intern!(object.py(), "utcoffset"))?;
    if offset.is_none() {
        return Ok(None);
    }
    let seconds: f64 = offset.call_method0(intern!(object.py(), "total_seconds"))?.extract()?;
    if seconds % 60.0 != 0.0 {
        return Err(PyValueError::new_err("the UTC offset is not a whole number of minutes"));
    }
    Ok(Some((seconds / 60.0) as i16))
}

fn time_value(object: &Bound<'_, PyAny>, wanted: Option<&Descriptor>) -> PyResult<Value> {
    let micros = time_of_day(object)?;
    let time = Time::from_micros(micros);
    let time = time.ok_or_else(|| PyValueError::new_err("there is no such time"))?;
    let zone = object.getattr(intern!(object.py(), "tzinfo"))?;
    if zone.is_none() {
        return Ok(Value::Time(time));
    }
    let has_zone =
        wanted.is_some_and(|wanted| matches!(wanted.sql_type, SqlType::TIME_TZ | SqlType::TIME_TZ_EX));
    if !has_zone {
        return Err(PyValueError::new_err("the time has a zone, which the parameter would lose"));
    }
    let key = zone.getattr_opt(intern!(object.py(), "key"))?.and_then(|key| key.extract::<String>().ok());
    let zone = match (key, displacement(object)?) {
        (Some(region), _) => region,
        (None, Some(offset)) => signed(offset),
        (None, None) => return Ok(Value::Time(time)),
    };
    let time = Time::from_micros(micros - micros % FINEST).unwrap_or(time);
    Ok(Value::Text(format!("{time} {zone}")))
}

/// The elements of an array column.
fn elements(object: &Bound<'_, PyAny>, wanted: Option<&Descriptor>) -> PyResult<Value> {
    let Some(shape) = wanted.and_then(|wanted| wanted.array.as_deref()) else {
        return Err(PyTypeError::new_err("a list can only be the value of an array column"));
    };
    let depth = shape.bounds().len();
    list(object, depth, shape.element()).map(Value::Array)
}
