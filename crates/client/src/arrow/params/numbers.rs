//! Numbers as parameters, and text for numeric parameters. A value that would change is an error.

use super::bytes::{ByteValues, BytesPlan};
use super::digits::{
    Real, decimal_of, exact_decimal, fraction_digits, misfit, plain_text, round_trip, survives,
};
use super::error::{ParamErrorKind, Reason};
use super::options::ParamOptions;
use super::slots::{Plan, primitive};
use super::target::Target;
use arrow::datatypes::{ArrowPrimitiveType, DecimalType, i256};
use firearrow_proto::api::decfloat::{Decimal, ParseDecimalError, encode64, encode128};
use firearrow_proto::api::layout::{FieldKind, FieldLayout};
use std::fmt::Display;
use std::str::FromStr;

fn inexact(message: impl Into<String>) -> Reason {
    Reason::new(ParamErrorKind::Inexact, message)
}

fn out_of_range(message: impl Into<String>) -> Reason {
    Reason::new(ParamErrorKind::OutOfRange, message)
}

/// Integers. `natural` is the smallest Firebird integer that holds all values of the type.
pub(super) fn integer<A: ArrowPrimitiveType>(target: &Target, natural: FieldKind) -> Plan
where
    A::Native: Into<i128>,
{
    let plain = FieldLayout::plain;
    match (target.kind(), natural) {
        (FieldKind::Double, _) => primitive::<A, 8>(plain(FieldKind::Double), |value| {
            let (value, double) = (value.into(), value.into() as f64);
            // A power of two too large for i128 saturates to i128::MAX, which no 64-bit value equals.
            if double as i128 == value {
                Ok(double.to_le_bytes())
            } else {
                Err(inexact_integer(value, "float64"))
            }
        }),
        (FieldKind::Float, _) => primitive::<A, 4>(plain(FieldKind::Float), |value| {
            let (value, float) = (value.into(), value.into() as f32);
            if float as i128 == value {
                Ok(float.to_le_bytes())
            } else {
                Err(inexact_integer(value, "float32"))
            }
        }),
        (FieldKind::Dec16 | FieldKind::Dec34, _) => {
            decfloat::<A>(target, |value| Ok(Decimal::from_i128_scaled(value.into(), 0)))
        }
        (FieldKind::Blob, _) => BytesPlan::text_of::<A>(target, |value| Ok(value.into().to_string())),
        (FieldKind::Text(_) | FieldKind::Varying(_), FieldKind::Int128) => {
            BytesPlan::text_of::<A>(target, |value| Ok(value.into().to_string()))
        }
        (_, FieldKind::Short) => {
            primitive::<A, 2>(plain(FieldKind::Short), |value| Ok((value.into() as i16).to_le_bytes()))
        }
        (_, FieldKind::Long) => {
            primitive::<A, 4>(plain(FieldKind::Long), |value| Ok((value.into() as i32).to_le_bytes()))
        }
        (FieldKind::Int128, FieldKind::Int128) => {
            primitive::<A, 16>(plain(FieldKind::Int128), |value| Ok(value.into().to_le_bytes()))
        }
        _ => primitive::<A, 8>(plain(FieldKind::Int64), |value| {
            let value = value.into();
            let bigint =
                i64::try_from(value).map_err(|_| out_of_range(format!("{value} is beyond BIGINT")))?;
            Ok(bigint.to_le_bytes())
        }),
    }
}

fn inexact_integer(value: i128, float: &str) -> Reason {
    inexact(format!("{value} is not exact in a binary float; cast the column to {float} to round it"))
}

/// Floats. A FLOAT parameter takes the nearest float32 of a float64: only values out of its range are errors.
pub(super) fn float<A: ArrowPrimitiveType>(target: &Target, natural: FieldKind) -> Plan
where
    A::Native: Real,
{
    let plain = FieldLayout::plain;
    if let Some(scale) = target.exact_scale() {
        let name = target.name;
        return scaled::<A>(target, move |value| {
            let fast = round_trip(value.double(), scale).filter(|_| natural == FieldKind::Double);
            fast.map_or_else(|| decimal_of(value, scale, name), Ok)
        });
    }
    match (target.kind(), natural) {
        (FieldKind::Dec16 | FieldKind::Dec34, _) => decfloat::<A>(target, |value| {
            let negative = value.double().is_sign_negative();
            match value.double() {
                double if double.is_nan() => Ok(Decimal::NaN { negative, signaling: false, payload: 0 }),
                double if double.is_infinite() => Ok(Decimal::Infinity { negative }),
                _ => parse(&value.shortest()),
            }
        }),
        _ if target.wants_text() => BytesPlan::text_of::<A>(target, |value| Ok(value.shortest())),
        (FieldKind::Float, FieldKind::Double) => primitive::<A, 4>(plain(FieldKind::Float), |value| {
            let float = value.float();
            if float.is_infinite() && value.double().is_finite() {
                return Err(out_of_range(format!("{value} is beyond FLOAT")));
            }
            Ok(float.to_le_bytes())
        }),
        (_, FieldKind::Float) => {
            primitive::<A, 4>(plain(FieldKind::Float), |value| Ok(value.float().to_le_bytes()))
        }
        _ => primitive::<A, 8>(plain(FieldKind::Double), |value| Ok(value.double().to_le_bytes())),
    }
}

/// Unscaled values of Arrow decimals.
pub(super) trait Unscaled: Copy + Display + Send + Sync + 'static {
    /// Returns the value in 128 bits, if it fits.
    fn to_i128(self) -> Option<i128>;
}

impl Unscaled for i32 {
    fn to_i128(self) -> Option<i128> {
        Some(self.into())
    }
}

impl Unscaled for i64 {
    fn to_i128(self) -> Option<i128> {
        Some(self.into())
    }
}

impl Unscaled for i128 {
    fn to_i128(self) -> Option<i128> {
        Some(self)
    }
}

impl Unscaled for i256 {
    fn to_i128(self) -> Option<i128> {
        i256::to_i128(self)
    }
}

/// Decimals of this Arrow scale.
pub(super) fn decimal<A: DecimalType>(target: &Target, scale: i8) -> Plan
where
    A::Native: Unscaled,
{
    if let Some(wanted) = target.exact_scale() {
        let name = target.name;
        return scaled::<A>(target, move |value| match value.to_i128() {
            Some(value) if i16::from(scale) == i16::from(wanted) => Ok(value),
            Some(value) => Decimal::from_i128_scaled(value, -i32::from(scale))
                .to_i128_scaled(-i32::from(wanted))
                .ok_or_else(|| misfit(&plain_text(value, scale), wanted, name)),
            None => exact_decimal(&plain_text(value, scale), wanted, name),
        });
    }
    match target.kind() {
        FieldKind::Double => primitive::<A, 8>(FieldLayout::plain(FieldKind::Double), move |value| {
            let text = plain_text(value, scale);
            let double: f64 = text.parse().unwrap_or(f64::NAN);
            if survives(&text, double, 15, scale) {
                Ok(double.to_le_bytes())
            } else {
                Err(rounded(&text, "DOUBLE PRECISION"))
            }
        }),
        FieldKind::Float => primitive::<A, 4>(FieldLayout::plain(FieldKind::Float), move |value| {
            let text = plain_text(value, scale);
            let float: f32 = text.parse().unwrap_or(f32::NAN);
            if survives(&text, float, 6, scale) {
                Ok(float.to_le_bytes())
            } else {
                Err(rounded(&text, "FLOAT"))
            }
        }),
        FieldKind::Dec16 | FieldKind::Dec34 => decfloat::<A>(target, move |value| match value.to_i128() {
            Some(value) => Ok(Decimal::from_i128_scaled(value, -i32::from(scale))),
            None => parse(&plain_text(value, scale)),
        }),
        _ => BytesPlan::text_of::<A>(target, move |value| Ok(plain_text(value, scale))),
    }
}

fn rounded(text: &str, name: &str) -> Reason {
    inexact(format!("{text} has more digits than {name} keeps; cast the column to a float to round it"))
}

/// A plan for values that become scaled integers: INTEGER, NUMERIC and the like.
fn scaled<A: ArrowPrimitiveType>(
    target: &Target,
    unscaled: impl Fn(A::Native) -> Result<i128, Reason> + Send + Sync + 'static,
) -> Plan {
    let (field, name) = (target.field.clone(), target.name);
    let digits = field.scale;
    let beyond = move |value: i128, storage: &str| {
        out_of_range(format!("{} is beyond {name} stored as {storage}", plain_text(value, -digits)))
    };
    match field.kind {
        FieldKind::Short => primitive::<A, 2>(field, move |value| {
            let value = unscaled(value)?;
            Ok(i16::try_from(value).map_err(|_| beyond(value, "SMALLINT"))?.to_le_bytes())
        }),
        FieldKind::Long => primitive::<A, 4>(field, move |value| {
            let value = unscaled(value)?;
            Ok(i32::try_from(value).map_err(|_| beyond(value, "INTEGER"))?.to_le_bytes())
        }),
        FieldKind::Int64 => primitive::<A, 8>(field, move |value| {
            let value = unscaled(value)?;
            Ok(i64::try_from(value).map_err(|_| beyond(value, "BIGINT"))?.to_le_bytes())
        }),
        _ => primitive::<A, 16>(field, move |value| Ok(unscaled(value)?.to_le_bytes())),
    }
}

/// A plan for values that become DECFLOAT.
fn decfloat<A: ArrowPrimitiveType>(
    target: &Target,
    decimal: impl Fn(A::Native) -> Result<Decimal, Reason> + Send + Sync + 'static,
) -> Plan {
    match target.kind() {
        FieldKind::Dec16 => {
            primitive::<A, 8>(FieldLayout::plain(FieldKind::Dec16), move |value| dec16(&decimal(value)?))
        }
        _ => primitive::<A, 16>(FieldLayout::plain(FieldKind::Dec34), move |value| dec34(&decimal(value)?)),
    }
}

fn dec16(decimal: &Decimal) -> Result<[u8; 8], Reason> {
    let bits = encode64(decimal).map_err(|_| inexact(format!("{decimal} does not fit DECFLOAT(16)")))?;
    Ok(bits.to_le_bytes())
}

fn dec34(decimal: &Decimal) -> Result<[u8; 16], Reason> {
    let bits = encode128(decimal).map_err(|_| inexact(format!("{decimal} does not fit DECFLOAT(34)")))?;
    Ok(bits.to_le_bytes())
}

fn parse(text: &str) -> Result<Decimal, Reason> {
    Decimal::from_str(text).map_err(|error| {
        let kind = match error {
            ParseDecimalError::Syntax => ParamErrorKind::Malformed,
            _ => ParamErrorKind::Inexact,
        };
        Reason::new(kind, format!("'{text}' cannot become DECFLOAT: {error}"))
    })
}

/// Text for any parameter. The engine reads it, but would round it for exact numbers. DECFLOAT values are text in
/// Arrow, so they are encoded as DECFLOAT.
pub(super) fn text(target: &Target, options: &ParamOptions) -> Plan {
    if let Some(scale) = target.exact_scale() {
        let name = target.name;
        return Plan::Bytes(BytesPlan::checked(target, move |text| match fraction_digits(text) {
            Some(digits) if digits > i64::from(scale) => Err(misfit(text.trim(), scale, name)),
            _ => Ok(()),
        }));
    }
    match target.kind() {
        FieldKind::Dec16 => text_as::<8>(FieldKind::Dec16, |text| dec16(&parse(text.trim())?)),
        FieldKind::Dec34 => text_as::<16>(FieldKind::Dec34, |text| dec34(&parse(text.trim())?)),
        _ => Plan::Bytes(BytesPlan::paged(target, options.none_page.filter(|_| target.is_none_text()))),
    }
}

fn text_as<const N: usize>(kind: FieldKind, convert: fn(&str) -> Result<[u8; N], Reason>) -> Plan {
    Plan::Fixed {
        field: FieldLayout::plain(kind),
        write: Box::new(move |array, slots| {
            let Some(values) = ByteValues::of(array) else { return Ok(()) };
            let text = |row| std::str::from_utf8(values.value(row)).unwrap_or_default();
            slots.fill(array.nulls(), |row| convert(text(row)))
        }),
    }
}
