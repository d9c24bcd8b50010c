//! What a parameter accepts, and how values of each Arrow type get there.
//!
//! Nothing is rounded, cut off or converted through a narrower type on the way: a value that would change is an error.
//! A float for an exact number counts by the decimal digits that its type keeps, since arithmetic changes those behind them.
//! Where the engine's own conversion is exact, values are sent in their own type and the engine converts.
//!
//! | parameter → | integers | decimals | floats | text | dates, times |
//! |---|---|---|---|---|---|
//! | INTEGER, NUMERIC … | as they are | rescaled | as 15 digits (FLOAT: 6) | as text, if exact | (engine objects) |
//! | FLOAT, DOUBLE | if exact | if they survive | nearest | as text | (engine objects) |
//! | DECFLOAT | encoded | encoded | by their shortest decimal | encoded | (engine objects) |
//! | CHAR, VARCHAR | as they are | as text | as shortest text | as text | as ISO text |
//! | DATE, TIMESTAMP … | (engine objects) | (engine objects) | (engine objects) | as text | as they are |
//! | BLOB | as text | as text | as shortest text | as BLOBs | as ISO text |
//!
//! UINT64 for a BLOB is not a number but a BLOB id: of a BLOB that was created in the transaction and that no row has
//! taken yet. The contents are interpreted as UTF-8 if the BLOB is a text BLOB.
//!
//! Lists go into array columns, and their elements as values of their own type.

use super::super::schema::sql_name;
use super::array::{ArrayPlan, ArrayTarget};
use super::bytes::{BytesPlan, render};
use super::error::{ParamErrorKind, Reason};
use super::options::ParamOptions;
use super::slots::Plan;
use super::{numbers, times};
use arrow::array::{Array, AsArray};
use arrow::datatypes::*;
use firearrow_proto::api::descriptor::{Descriptor, charset_id};
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};

/// A described parameter.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) field: FieldLayout,
    /// The SQL type, for messages.
    pub(super) name: &'static str,
    /// The array type, if it is an array.
    pub(super) array: Option<ArrayTarget>,
}

impl Target {
    pub(super) fn new(parameter: &Descriptor) -> Result<Self, Reason> {
        let layout = RowLayout::for_descriptors(std::slice::from_ref(parameter))
            .map_err(|error| Reason::new(ParamErrorKind::Unsupported, error.reason))?;
        let field =
            layout.fields().first().cloned().unwrap_or_else(|| FieldLayout::plain(FieldKind::Nothing));
        Ok(Self { field, name: sql_name(parameter), array: ArrayTarget::new(parameter) })
    }

    pub(super) fn kind(&self) -> FieldKind {
        self.field.kind
    }

    /// Returns the digits after the decimal point for SMALLINT, INTEGER, BIGINT, INT128, NUMERIC or DECIMAL.
    pub(super) fn exact_scale(&self) -> Option<u8> {
        let exact =
            matches!(self.kind(), FieldKind::Short | FieldKind::Long | FieldKind::Int64 | FieldKind::Int128);
        exact.then(|| self.field.scale.unsigned_abs())
    }

    /// Whether it is text of CHARACTER SET NONE, whose encoding the engine does not know.
    pub(super) fn is_none_text(&self) -> bool {
        is_none_text(&self.field)
    }

    /// Whether the client should convert everything except text into text.
    pub(super) fn wants_text(&self) -> bool {
        matches!(self.kind(), FieldKind::Text(_) | FieldKind::Varying(_) | FieldKind::Blob)
    }
}

/// Whether this field is text of CHARACTER SET NONE.
pub(super) fn is_none_text(field: &FieldLayout) -> bool {
    let is_text = match field.kind {
        FieldKind::Text(_) | FieldKind::Varying(_) => true,
        FieldKind::Blob => field.sub_type == 1,
        _ => false,
    };
    is_text && field.charset == charset_id::NONE
}

/// Returns the error for all values of a type.
pub(super) fn unsupported(message: impl Into<String>) -> Reason {
    Reason::new(ParamErrorKind::Unsupported, message)
}

/// Returns the plan for values of this Arrow type into this parameter.
pub(super) fn plan(target: &Target, data_type: &DataType, options: &ParamOptions) -> Result<Plan, Reason> {
    match (target.kind(), data_type) {
        (FieldKind::Nothing, _) => return Ok(Plan::Flag),
        (_, DataType::Null) => return Ok(Plan::Null(target.field.clone())),
        (FieldKind::Array, _) => return ArrayPlan::new(target, data_type, options).map(Plan::Array),
        _ => {}
    }
    Ok(match data_type {
        // Dictionaries are decoded first; so are half floats.
        DataType::Dictionary(_, values) => plan(target, values, options)?,
        DataType::RunEndEncoded(_, values) => plan(target, values.data_type(), options)?,
        DataType::Boolean => boolean(target),
        DataType::Int8 => numbers::integer::<Int8Type>(target, FieldKind::Short),
        DataType::Int16 => numbers::integer::<Int16Type>(target, FieldKind::Short),
        DataType::Int32 => numbers::integer::<Int32Type>(target, FieldKind::Long),
        DataType::Int64 => numbers::integer::<Int64Type>(target, FieldKind::Int64),
        DataType::UInt8 => numbers::integer::<UInt8Type>(target, FieldKind::Short),
        DataType::UInt16 => numbers::integer::<UInt16Type>(target, FieldKind::Long),
        DataType::UInt32 => numbers::integer::<UInt32Type>(target, FieldKind::Int64),
        DataType::UInt64 if target.kind() == FieldKind::Blob => blob_ids(target),
        DataType::UInt64 => numbers::integer::<UInt64Type>(target, FieldKind::Int128),
        DataType::Float16 | DataType::Float32 => numbers::float::<Float32Type>(target, FieldKind::Float),
        DataType::Float64 => numbers::float::<Float64Type>(target, FieldKind::Double),
        &DataType::Decimal32(_, scale) => numbers::decimal::<Decimal32Type>(target, scale),
        &DataType::Decimal64(_, scale) => numbers::decimal::<Decimal64Type>(target, scale),
        &DataType::Decimal128(_, scale) => numbers::decimal::<Decimal128Type>(target, scale),
        &DataType::Decimal256(_, scale) => numbers::decimal::<Decimal256Type>(target, scale),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => numbers::text(target, options),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            if !target.wants_text() {
                let message = format!("{data_type} values cannot go into a {} parameter", target.name);
                return Err(unsupported(message));
            }
            Plan::Bytes(BytesPlan::binary(target))
        }
        DataType::Date32 => times::date::<Date32Type>(target),
        DataType::Date64 => times::date::<Date64Type>(target),
        DataType::Time32(TimeUnit::Second) => times::time::<Time32SecondType>(target, options),
        DataType::Time32(TimeUnit::Millisecond) => times::time::<Time32MillisecondType>(target, options),
        DataType::Time64(TimeUnit::Microsecond) => times::time::<Time64MicrosecondType>(target, options),
        DataType::Time64(TimeUnit::Nanosecond) => times::time::<Time64NanosecondType>(target, options),
        DataType::Timestamp(unit, zone) => {
            let zone = zone.as_deref();
            match unit {
                TimeUnit::Second => times::timestamp::<TimestampSecondType>(target, zone, options)?,
                TimeUnit::Millisecond => times::timestamp::<TimestampMillisecondType>(target, zone, options)?,
                TimeUnit::Microsecond => times::timestamp::<TimestampMicrosecondType>(target, zone, options)?,
                TimeUnit::Nanosecond => times::timestamp::<TimestampNanosecondType>(target, zone, options)?,
            }
        }
        DataType::Struct(fields) if times::is_timestamp_with_offset(fields) => {
            times::timestamp_with_offset(target, options)?
        }
        DataType::Duration(_) => {
            return Err(unsupported(format!("{data_type} has no counterpart in Firebird; cast it to int64")));
        }
        _ => return Err(unsupported(format!("{data_type} has no counterpart in Firebird"))),
    })
}

/// Returns the plan for ids of existing BLOBs.
fn blob_ids(target: &Target) -> Plan {
    let (sub_type, charset) = match target.field.sub_type {
        1 if target.field.charset != charset_id::OCTETS => (1, charset_id::UTF8),
        sub_type => (sub_type, charset_id::NONE),
    };
    Plan::Ids(FieldLayout { sub_type, charset, ..FieldLayout::plain(FieldKind::Blob) })
}

fn boolean(target: &Target) -> Plan {
    if target.kind() == FieldKind::Blob {
        return Plan::Bytes(BytesPlan::rendered(target, |array| {
            let array = array.as_boolean();
            let text = |value: bool| Ok(if value { "TRUE" } else { "FALSE" }.to_owned());
            render(array, |row| array.value(row), text)
        }));
    }
    Plan::Fixed {
        field: FieldLayout::plain(FieldKind::Boolean),
        write: Box::new(|array, slots| {
            let array = array.as_boolean();
            slots.fill(array.nulls(), |row| Ok([u8::from(array.value(row))]))
        }),
    }
}
