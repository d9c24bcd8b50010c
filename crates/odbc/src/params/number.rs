//! Integers and bits, and numbers as truth values.

use super::binding::Binding;
use super::cell::{Cells, Failed, Plain};
use super::column::no_conversion;
use super::target::Target;
use super::{decimal, float};
use crate::abi::c_type;
use crate::diagnostics::{Failure, Result, State};
use arrow::array::{ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{Int16Type, Int32Type, Int64Type};
use std::sync::Arc;

/// Numbers of any C type. This is also where unknown types end.
pub(super) fn column(
    cells: &Cells<'_>,
    binding: &Binding,
    target: Target,
    failed: &mut Failed,
) -> Result<ArrayRef> {
    let is_number = binding.fixed_size() != Some(0);
    if is_number && !target.takes_numbers() {
        return Err(no_conversion("a number"));
    }
    match binding.c_type {
        c_type::BIT => Ok(bits(cells, target, failed)),
        c_type::TINYINT | c_type::STINYINT => Ok(integers::<i8, Int16Type>(cells, target, failed)),
        c_type::UTINYINT => Ok(integers::<u8, Int16Type>(cells, target, failed)),
        c_type::SHORT | c_type::SSHORT => Ok(integers::<i16, Int16Type>(cells, target, failed)),
        c_type::USHORT => Ok(integers::<u16, Int32Type>(cells, target, failed)),
        c_type::LONG | c_type::SLONG => Ok(integers::<i32, Int32Type>(cells, target, failed)),
        c_type::ULONG => Ok(integers::<u32, Int64Type>(cells, target, failed)),
        c_type::SBIGINT => Ok(integers::<i64, Int64Type>(cells, target, failed)),
        c_type::UBIGINT => unsigned(cells, target, failed),
        c_type::FLOAT => float::column::<f32>(cells, binding, target, failed),
        c_type::DOUBLE => float::column::<f64>(cells, binding, target, failed),
        c_type::NUMERIC => decimal::column(cells, binding, target, failed),
        unknown => {
            Err(Failure::new(State::BUFFER_TYPE, format!("{unknown} is not the number of a C data type")))
        }
    }
}

/// Integers in the smallest Arrow type that Firebird has too.
fn integers<T, A>(cells: &Cells<'_>, target: Target, failed: &mut Failed) -> ArrayRef
where
    T: Plain + Into<A::Native> + Into<i64>,
    A: ArrowPrimitiveType,
{
    match target {
        Target::Boolean => booleans(cells.convert(failed, |value: T| truth(value.into())), cells.nulls()),
        _ => primitive::<A>(cells.convert(failed, |value: T| Ok(value.into())), cells.nulls()),
    }
}

/// BIGINT has no values beyond i64, but NUMERIC and text have.
fn unsigned(cells: &Cells<'_>, target: Target, failed: &mut Failed) -> Result<ArrayRef> {
    if target == Target::Boolean {
        // Whatever does not fit is neither 0 nor 1.
        let number = |value: u64| truth(i64::try_from(value).unwrap_or(i64::MAX));
        return Ok(booleans(cells.convert(failed, number), cells.nulls()));
    }
    let values: Vec<u64> = cells.convert(failed, Ok);
    let nulls = cells.nulls();
    let fitting: Result<Vec<i64>, _> = values.iter().map(|&value| i64::try_from(value)).collect();
    match fitting {
        Ok(values) => Ok(primitive::<Int64Type>(values, nulls)),
        Err(_) => decimal::array(values.into_iter().map(i128::from).collect(), nulls, 0),
    }
}

/// Bits are numbers for all parameters but truth values: 0 and 1 are their text as well.
fn bits(cells: &Cells<'_>, target: Target, failed: &mut Failed) -> ArrayRef {
    let values = cells.convert(failed, |value: u8| truth(value.into()));
    match target {
        Target::Boolean | Target::Any => booleans(values, cells.nulls()),
        _ => primitive::<Int16Type>(values.into_iter().map(i16::from).collect(), cells.nulls()),
    }
}

pub(super) fn primitive<A: ArrowPrimitiveType>(
    values: Vec<A::Native>,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<A>::new(values.into(), nulls))
}

pub(super) fn booleans(values: Vec<bool>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(BooleanArray::new(values.into(), nulls))
}

fn truth(number: i64) -> Result<bool> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(out_of_range(format!("{number} is neither 0 nor 1"))),
    }
}

/// The truth value of a number that may have a fraction.
pub(super) fn truth_of_float(number: f64) -> Result<bool> {
    match number {
        0.0 => Ok(false),
        1.0 => Ok(true),
        _ if number > 0.0 && number < 2.0 => Err(Failure::new(
            State::TOO_LONG,
            format!("{number} has a fraction, which a truth value cannot have"),
        )),
        _ => Err(out_of_range(format!("{number} is neither 0 nor 1"))),
    }
}

pub(super) fn out_of_range(message: impl Into<String>) -> Failure {
    Failure::new(State::OUT_OF_RANGE, message)
}
