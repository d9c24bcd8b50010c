//! Buffers of columns and parameters.

use super::guard;
use super::output::{DONE, put};
use crate::abi::{self, Handle, Len, Pointer, Return, SmallInt, ULen, USmallInt, c_type, sql_type};
use crate::convert;
use crate::diagnostics::{Failure, Result, State};
use crate::handle::Statement;

fn negative() -> Failure {
    Failure::new(State::BUFFER_LENGTH, "a buffer length is negative")
}

/// Whether a C type is one that the standard defines.
pub(super) fn check_c_type(concise: SmallInt) -> Result<()> {
    let is_known = concise == c_type::DEFAULT
        || concise == c_type::CHAR
        || concise == c_type::WCHAR
        || concise == c_type::BINARY
        || c_type::INTERVALS.contains(&concise)
        || convert::fixed_size(concise).is_some();
    match is_known {
        true => Ok(()),
        false => Err(Failure::new(State::BUFFER_TYPE, format!("there is no C type {concise}"))),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLBindCol(
    handle: Handle,
    number: USmallInt,
    concise: SmallInt,
    data: Pointer,
    capacity: Len,
    indicator: *mut Len,
) -> Return {
    guard::statement(handle, |statement| {
        if number == 0 && statement.attributes.bookmarks == 0 {
            return Err(Failure::new(
                State::BAD_INDEX,
                "column 0 is the bookmark: set SQL_ATTR_USE_BOOKMARKS",
            ));
        }
        check_c_type(concise)?;
        if capacity < 0 {
            return Err(negative());
        }
        let mut ard = statement.ard.lock();
        let record = ard.record_mut(usize::from(number));
        record.concise = concise;
        (record.data, record.octet_length) = (data.cast(), capacity);
        (record.octet_length_ptr, record.indicator_ptr) = (indicator, indicator);
        (record.precision, record.scale) = default_precision(concise);
        ard.trim();
        DONE
    })
}

/// Precision and scale of a C type where nobody says otherwise. A scale of -1 is the column's.
fn default_precision(concise: SmallInt) -> (SmallInt, SmallInt) {
    match concise {
        c_type::NUMERIC => (38, -1),
        c_type::TYPE_TIMESTAMP | c_type::TIMESTAMP => (6, 0),
        _ => (0, 0),
    }
}

/// What the application says about a parameter.
struct Parameter {
    number: USmallInt,
    direction: SmallInt,
    c_type: SmallInt,
    sql_type: SmallInt,
    size: ULen,
    digits: SmallInt,
    data: Pointer,
    capacity: Len,
    indicator: *mut Len,
}

/// Whether an SQL type is one that the standard defines.
fn check_sql_type(concise: SmallInt) -> Result<()> {
    let is_known = matches!(
        concise,
        sql_type::CHAR..=sql_type::VARCHAR
            | sql_type::TYPE_DATE..=sql_type::TYPE_TIMESTAMP
            | sql_type::GUID..=sql_type::LONGVARCHAR
    ) || c_type::INTERVALS.contains(&concise);
    match is_known {
        true => Ok(()),
        false => Err(Failure::new(State::SQL_TYPE, format!("there is no SQL type {concise}"))),
    }
}

fn bind(statement: &mut Statement, parameter: &Parameter) -> Result<Return> {
    let &Parameter { number, direction, c_type, sql_type, size, digits, data, capacity, indicator } =
        parameter;
    if number == 0 {
        return Err(Failure::new(State::BAD_INDEX, "parameters are numbered from 1"));
    }
    if !matches!(direction, abi::PARAM_INPUT | abi::PARAM_INPUT_OUTPUT | abi::PARAM_OUTPUT) {
        return Err(Failure::new(State::PARAMETER_TYPE, format!("{direction} is not a parameter direction")));
    }
    check_c_type(c_type)?;
    check_sql_type(sql_type)?;
    if capacity < 0 {
        return Err(negative());
    }
    if data.is_null() && indicator.is_null() && direction != abi::PARAM_OUTPUT {
        return Err(Failure::new(State::NULL_POINTER, "neither a value nor an indicator was given"));
    }
    let is_decimal = matches!(sql_type, sql_type::NUMERIC | sql_type::DECIMAL);
    if is_decimal && !(0..=38).contains(&digits) {
        return Err(Failure::new(State::PRECISION, format!("a number cannot have {digits} decimal digits")));
    }
    let mut apd = statement.apd.lock();
    let buffer = apd.record_mut(usize::from(number));
    buffer.concise = c_type;
    (buffer.data, buffer.octet_length) = (data.cast(), capacity);
    (buffer.octet_length_ptr, buffer.indicator_ptr) = (indicator, indicator);
    (buffer.precision, buffer.scale) = match c_type {
        // As the parameter, unless the descriptor is told otherwise.
        c_type::NUMERIC => (SmallInt::try_from(size).unwrap_or(38).min(38), digits),
        c_type => default_precision(c_type),
    };
    let mut ipd = statement.ipd.lock();
    let described = ipd.record_mut(usize::from(number));
    described.concise = sql_type;
    (described.length, described.scale) = (size, digits);
    described.precision = SmallInt::try_from(size).unwrap_or(SmallInt::MAX);
    (described.parameter_type, described.is_given) = (direction, true);
    DONE
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLBindParameter(
    handle: Handle,
    number: USmallInt,
    direction: SmallInt,
    c_type: SmallInt,
    sql_type: SmallInt,
    size: ULen,
    digits: SmallInt,
    data: Pointer,
    capacity: Len,
    indicator: *mut Len,
) -> Return {
    guard::statement(handle, |statement| {
        let parameter =
            Parameter { number, direction, c_type, sql_type, size, digits, data, capacity, indicator };
        bind(statement, &parameter)
    })
}

/// Binds an input of the older functions, which have no buffer length.
fn bind_input(handle: Handle, parameter: Parameter) -> Return {
    guard::statement(handle, |statement| bind(statement, &parameter))
}

/// Of X/Open.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLBindParam(
    handle: Handle,
    number: USmallInt,
    c_type: SmallInt,
    sql_type: SmallInt,
    size: ULen,
    digits: SmallInt,
    data: Pointer,
    indicator: *mut Len,
) -> Return {
    let (direction, capacity) = (abi::PARAM_INPUT, 0);
    bind_input(
        handle,
        Parameter { number, direction, c_type, sql_type, size, digits, data, capacity, indicator },
    )
}

/// Of ODBC 1.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLSetParam(
    handle: Handle,
    number: USmallInt,
    c_type: SmallInt,
    sql_type: SmallInt,
    size: ULen,
    digits: SmallInt,
    data: Pointer,
    indicator: *mut Len,
) -> Return {
    let (direction, capacity) = (abi::PARAM_INPUT, 0);
    bind_input(
        handle,
        Parameter { number, direction, c_type, sql_type, size, digits, data, capacity, indicator },
    )
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLNumParams(handle: Handle, count: *mut SmallInt) -> Return {
    guard::statement(handle, |statement| {
        let parameters = statement.expect_prepared()?.markers();
        // SAFETY: the application's place.
        unsafe { put(count, SmallInt::try_from(parameters).unwrap_or(SmallInt::MAX)) };
        DONE
    })
}

/// Whether values of a type are long. Their size as a parameter is 0, which is unknown: applications would make buffers of two
/// gigabytes for each row, where they supply such values while the execution waits otherwise.
fn is_long(concise: SmallInt) -> bool {
    matches!(concise, sql_type::LONGVARCHAR | sql_type::WLONGVARCHAR | sql_type::LONGVARBINARY)
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLDescribeParam(
    handle: Handle,
    number: USmallInt,
    sql_type: *mut SmallInt,
    size: *mut ULen,
    digits: *mut SmallInt,
    nullable: *mut SmallInt,
) -> Return {
    guard::statement(handle, |statement| {
        let is_odbc2 = statement.link.is_odbc2;
        let prepared = statement.expect_prepared()?;
        let count = prepared.markers();
        let none = || {
            Failure::new(
                State::BAD_INDEX,
                format!("there is no parameter {number}: the statement has {count}"),
            )
        };
        let parameter = prepared.marker(number.into()).ok_or_else(none)?;
        let of = &parameter.sql_type;
        // SAFETY: the application's places.
        unsafe {
            put(sql_type, if is_odbc2 { of.for_odbc2() } else { of.concise });
            put(size, if is_long(of.concise) { 0 } else { of.size });
            put(digits, of.digits);
            put(nullable, abi::NULLABLE);
        }
        DONE
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "system" fn SQLParamOptions(handle: Handle, sets: ULen, processed: *mut ULen) -> Return {
    guard::statement(handle, |statement| {
        if sets == 0 {
            return Err(Failure::new(State::ROW, "there is at least one set of parameters"));
        }
        let mut apd = statement.apd.lock();
        apd.touch();
        apd.array_size = sets;
        statement.ipd.lock().rows_processed_ptr = processed;
        DONE
    })
}
