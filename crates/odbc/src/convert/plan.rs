//! The choice of a writer.

use super::binary::{Binary, Bytes, Hex};
use super::cell::{Column, Convert, Fixed, Raw};
use super::decimal::MAX_SCALE;
use super::number::{Bit, Numeric};
use super::paged::Paged;
use super::rendered::{AsText, Render};
use super::text::{Narrow, Wide};
use super::today::today;
use super::writer::Writer;
use crate::abi::{self, Date, Guid, SmallInt, Time, Timestamp, c_type};
use crate::diagnostics::{Failure, Result, State};
use crate::text::{NarrowEncoding, floor_char_boundary};
use arrow::array::{
    BinaryArray, BooleanArray, Date32Array, Decimal128Array, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int16Array, Int32Array, Int64Array, StringArray, Time64MicrosecondArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, TimeUnit};

/// What an application wants of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// The C type, one of [`c_type`], but neither `SQL_C_DEFAULT` nor `SQL_ARD_TYPE`.
    pub(crate) c_type: SmallInt,
    /// The precision of `SQL_C_NUMERIC`; 0 stands for 38.
    pub(crate) precision: u8,
    /// The scale of `SQL_C_NUMERIC`; `None` for that of the column, which is 0 unless it is an exact numeric.
    pub(crate) scale: Option<i8>,
    /// `SQL_ATTR_MAX_LENGTH`: the bytes of text (in UTF-8) and binary values that count; 0 for all.
    pub(crate) max_length: usize,
    /// Whether the column is described as `SQL_GUID`: then 16 bytes become the text of a GUID, not hex digits.
    pub(crate) is_guid: bool,
    /// The encoding of `SQL_C_CHAR`.
    pub(crate) narrow: NarrowEncoding,
}

/// What a writer knows besides the types.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// Of the column, if it is an exact numeric.
    pub(super) scale: u8,
    /// Of `SQL_C_NUMERIC`.
    pub(super) precision: u8,
    pub(super) numeric_scale: i8,
    pub(super) max_length: usize,
    /// The encoding of `SQL_C_CHAR`.
    pub(super) narrow: NarrowEncoding,
    /// The date of times that become timestamps: that of the plan, so that all rows have the same.
    pub(super) today: Date,
}

impl Settings {
    /// The text that an application may see.
    #[inline]
    pub(super) fn limited<'a>(&self, text: &'a str) -> &'a str {
        match text.len() <= self.max_length {
            true => text,
            false => &text[..floor_char_boundary(text, self.max_length)],
        }
    }
}

/// Plans how values of a column become those of a C type.
///
/// A time becomes a timestamp of the current date: the local one on 64-bit systems, that of UTC on others.
///
/// # Errors
/// HY003 if there is no such C type, 07006 if the column does not convert to it.
pub(crate) fn plan(source: &DataType, wanted: &Wanted) -> Result<Writer> {
    let c_type = wanted.c_type;
    if !is_known(c_type) {
        return Err(Failure::new(State::BUFFER_TYPE, format!("There is no C type {c_type}")));
    }
    let scale = match *source {
        DataType::Decimal128(_, scale) => u8::try_from(scale).ok().filter(|&scale| scale <= MAX_SCALE),
        _ => Some(0),
    };
    let writer = scale.and_then(|scale| {
        let settings = Settings {
            scale,
            precision: if wanted.precision == 0 { 38 } else { wanted.precision },
            numeric_scale: wanted.scale.unwrap_or(scale.cast_signed()),
            max_length: if wanted.max_length == 0 { usize::MAX } else { wanted.max_length },
            narrow: wanted.narrow,
            today: today_if(source, c_type),
        };
        choose(source, wanted, settings)
    });
    writer.ok_or_else(|| {
        let text = format!("A column of type {source} does not convert to the C type {c_type}");
        Failure::new(State::NO_CONVERSION, text)
    })
}

fn is_known(c_type: SmallInt) -> bool {
    super::fixed_size(c_type).is_some()
        || matches!(c_type, c_type::CHAR | c_type::WCHAR | c_type::BINARY)
        || c_type::INTERVALS.contains(&c_type)
}

/// Only these need a clock.
fn today_if(source: &DataType, c_type: SmallInt) -> Date {
    let is_timestamp = matches!(c_type, c_type::TIMESTAMP | c_type::TYPE_TIMESTAMP);
    match is_timestamp && matches!(source, DataType::Time64(_) | DataType::Utf8) {
        true => today(),
        false => Date::default(),
    }
}

fn choose(source: &DataType, wanted: &Wanted, settings: Settings) -> Option<Writer> {
    let c_type = wanted.c_type;
    match *source {
        DataType::Int16 => exact::<Int16Array, i16>(c_type, settings),
        DataType::Int32 => exact::<Int32Array, i32>(c_type, settings),
        DataType::Int64 => exact::<Int64Array, i64>(c_type, settings),
        DataType::Decimal128(..) => exact::<Decimal128Array, abi::Numeric>(c_type, settings),
        DataType::Float32 => exact::<Float32Array, f32>(c_type, settings),
        DataType::Float64 => exact::<Float64Array, f64>(c_type, settings),
        DataType::Boolean => exact::<BooleanArray, Bit>(c_type, settings),
        DataType::Date32 => match c_type {
            c_type::DATE | c_type::TYPE_DATE => fixed::<Date32Array, Date>(settings),
            c_type::TIMESTAMP | c_type::TYPE_TIMESTAMP => fixed::<Date32Array, Timestamp>(settings),
            _ => text_or_raw::<Date32Array, Date>(c_type, settings),
        },
        DataType::Time64(TimeUnit::Microsecond) => match c_type {
            c_type::TIME | c_type::TYPE_TIME => fixed::<Time64MicrosecondArray, Time>(settings),
            c_type::TIMESTAMP | c_type::TYPE_TIMESTAMP => {
                fixed::<Time64MicrosecondArray, Timestamp>(settings)
            }
            _ => text_or_raw::<Time64MicrosecondArray, Time>(c_type, settings),
        },
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            datetime::<TimestampMicrosecondArray>(c_type, settings)
                .or_else(|| text_or_raw::<TimestampMicrosecondArray, Timestamp>(c_type, settings))
        }
        DataType::Utf8 => text(c_type, settings),
        DataType::Binary => binary::<BinaryArray>(wanted, settings),
        DataType::FixedSizeBinary(size) if c_type == c_type::GUID && size != 16 => None,
        DataType::FixedSizeBinary(_) => binary::<FixedSizeBinaryArray>(wanted, settings),
        _ => None,
    }
}

fn fixed<C: Column, T: Convert<C>>(settings: Settings) -> Option<Writer> {
    Some(Writer::new::<Fixed<C, T>>(settings))
}

/// Numbers, whose own C type is `R`.
fn exact<C: Numeric + Render, R: Convert<C>>(c_type: SmallInt, settings: Settings) -> Option<Writer> {
    number::<C>(c_type, settings).or_else(|| text_or_raw::<C, R>(c_type, settings))
}

fn number<C: Numeric>(c_type: SmallInt, settings: Settings) -> Option<Writer> {
    match c_type {
        c_type::BIT => fixed::<C, Bit>(settings),
        c_type::TINYINT | c_type::STINYINT => fixed::<C, i8>(settings),
        c_type::UTINYINT => fixed::<C, u8>(settings),
        c_type::SHORT | c_type::SSHORT => fixed::<C, i16>(settings),
        c_type::USHORT => fixed::<C, u16>(settings),
        c_type::LONG | c_type::SLONG => fixed::<C, i32>(settings),
        c_type::ULONG => fixed::<C, u32>(settings),
        c_type::SBIGINT => fixed::<C, i64>(settings),
        c_type::UBIGINT => fixed::<C, u64>(settings),
        c_type::FLOAT => fixed::<C, f32>(settings),
        c_type::DOUBLE => fixed::<C, f64>(settings),
        c_type::NUMERIC => fixed::<C, abi::Numeric>(settings),
        _ => None,
    }
}

fn datetime<C: Column>(c_type: SmallInt, settings: Settings) -> Option<Writer>
where
    Date: Convert<C>,
    Time: Convert<C>,
    Timestamp: Convert<C>,
{
    match c_type {
        c_type::DATE | c_type::TYPE_DATE => fixed::<C, Date>(settings),
        c_type::TIME | c_type::TYPE_TIME => fixed::<C, Time>(settings),
        c_type::TIMESTAMP | c_type::TYPE_TIMESTAMP => fixed::<C, Timestamp>(settings),
        _ => None,
    }
}

fn text_or_raw<C: Render, R: Convert<C>>(c_type: SmallInt, settings: Settings) -> Option<Writer> {
    Some(match c_type {
        c_type::CHAR => Writer::new::<AsText<C, u8>>(settings),
        c_type::WCHAR => Writer::new::<AsText<C, u16>>(settings),
        c_type::BINARY => Writer::new::<Raw<C, R>>(settings),
        _ => return None,
    })
}

fn text(c_type: SmallInt, settings: Settings) -> Option<Writer> {
    Some(match c_type {
        c_type::CHAR => match settings.narrow {
            NarrowEncoding::Utf8 => Writer::new::<Narrow>(settings),
            NarrowEncoding::Page(_) => Writer::new::<Paged>(settings),
        },
        c_type::WCHAR => Writer::new::<Wide>(settings),
        c_type::BINARY => Writer::new::<Bytes<StringArray>>(settings),
        c_type::GUID => return fixed::<StringArray, Guid>(settings),
        _ => {
            return datetime::<StringArray>(c_type, settings)
                .or_else(|| number::<StringArray>(c_type, settings));
        }
    })
}

fn binary<C: Binary + Render>(wanted: &Wanted, settings: Settings) -> Option<Writer>
where
    Guid: Convert<C>,
{
    Some(match wanted.c_type {
        c_type::BINARY => Writer::new::<Bytes<C>>(settings),
        c_type::CHAR if wanted.is_guid => Writer::new::<AsText<C, u8>>(settings),
        c_type::WCHAR if wanted.is_guid => Writer::new::<AsText<C, u16>>(settings),
        c_type::CHAR => Writer::new::<Hex<C, u8>>(settings),
        c_type::WCHAR => Writer::new::<Hex<C, u16>>(settings),
        c_type::GUID => return fixed::<C, Guid>(settings),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::wanted;
    use super::*;

    const TEXT: &[SmallInt] = &[c_type::CHAR, c_type::WCHAR, c_type::BINARY];
    const NUMBERS: &[SmallInt] = &[
        c_type::BIT,
        c_type::TINYINT,
        c_type::STINYINT,
        c_type::UTINYINT,
        c_type::SHORT,
        c_type::SSHORT,
        c_type::USHORT,
        c_type::LONG,
        c_type::SLONG,
        c_type::ULONG,
        c_type::SBIGINT,
        c_type::UBIGINT,
        c_type::FLOAT,
        c_type::DOUBLE,
        c_type::NUMERIC,
    ];
    const DATES: &[SmallInt] = &[c_type::DATE, c_type::TYPE_DATE];
    const TIMES: &[SmallInt] = &[c_type::TIME, c_type::TYPE_TIME];
    const STAMPS: &[SmallInt] = &[c_type::TIMESTAMP, c_type::TYPE_TIMESTAMP];
    const GUIDS: &[SmallInt] = &[c_type::GUID];

    /// Every C type that there could be, from every column type.
    #[test]
    fn only_the_conversions_of_the_standard_are_planned() {
        let micros = TimeUnit::Microsecond;
        let sources: &[(DataType, &[&[SmallInt]])] = &[
            (DataType::Int16, &[TEXT, NUMBERS]),
            (DataType::Int32, &[TEXT, NUMBERS]),
            (DataType::Int64, &[TEXT, NUMBERS]),
            (DataType::Decimal128(38, 4), &[TEXT, NUMBERS]),
            (DataType::Float32, &[TEXT, NUMBERS]),
            (DataType::Float64, &[TEXT, NUMBERS]),
            (DataType::Boolean, &[TEXT, NUMBERS]),
            (DataType::Date32, &[TEXT, DATES, STAMPS]),
            (DataType::Time64(micros), &[TEXT, TIMES, STAMPS]),
            (DataType::Timestamp(micros, None), &[TEXT, DATES, TIMES, STAMPS]),
            (DataType::Utf8, &[TEXT, NUMBERS, DATES, TIMES, STAMPS, GUIDS]),
            (DataType::Binary, &[TEXT, GUIDS]),
            (DataType::FixedSizeBinary(16), &[TEXT, GUIDS]),
            (DataType::FixedSizeBinary(8), &[TEXT]),
            (DataType::UInt64, &[]),
            (DataType::Time64(TimeUnit::Nanosecond), &[]),
            (DataType::Timestamp(micros, Some("UTC".into())), &[]),
        ];
        let known: Vec<_> = [TEXT, NUMBERS, DATES, TIMES, STAMPS, GUIDS].concat();
        for (source, targets) in sources {
            let targets = targets.concat();
            for c_type in SmallInt::MIN..=SmallInt::MAX {
                let expected = match c_type {
                    _ if targets.contains(&c_type) => None,
                    101..=113 => Some("07006"),
                    _ if known.contains(&c_type) => Some("07006"),
                    _ => Some("HY003"),
                };
                let state = plan(source, &wanted(c_type)).err().map(|failure| failure.state.as_str());
                assert_eq!(state, expected, "{source} as {c_type}");
            }
        }
    }
}
