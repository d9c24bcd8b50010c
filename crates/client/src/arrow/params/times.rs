//! Dates, times and timestamps as parameters.

use super::bytes::BytesPlan;
use super::error::{ParamErrorKind, Reason};
use super::options::{ParamOptions, TimeRounding};
use super::slots::{Plan, primitive};
use super::target::{Target, unsupported};
use arrow::array::{Array, AsArray};
use arrow::datatypes::{
    ArrowPrimitiveType, ArrowTimestampType, DataType, Date64Type, Fields, Int16Type, TimeUnit,
    TimestampMicrosecondType,
};
use firearrow_proto::api::layout::{FieldKind, FieldLayout};
use firearrow_proto::api::timezone;
use firearrow_proto::api::value::{
    CivilDate, MAX_DATE, MIN_DATE, TICKS_PER_DAY, TimeOfDay, UNIX_EPOCH, check_date, unix_days_to_date,
};

/// Ticks of 100 µs in a day.
const DAY: i64 = TICKS_PER_DAY as i64;

fn out_of_range(message: impl ToString) -> Reason {
    Reason::new(ParamErrorKind::OutOfRange, message.to_string())
}

fn inexact(message: impl Into<String>) -> Reason {
    Reason::new(ParamErrorKind::Inexact, message)
}

/// date32 and date64.
pub(super) fn date<A: ArrowPrimitiveType>(target: &Target) -> Plan
where
    A::Native: Into<i64>,
{
    let is_millis = A::DATA_TYPE == Date64Type::DATA_TYPE;
    let convert = move |value: A::Native| {
        let mut days = value.into();
        if is_millis {
            if days.rem_euclid(86_400_000) != 0 {
                return Err(inexact("a date64 with a time of day; cast the column to a timestamp"));
            }
            days = days.div_euclid(86_400_000);
        }
        let days = i32::try_from(days).unwrap_or(if days < 0 { i32::MIN } else { i32::MAX });
        unix_days_to_date(days).map_err(out_of_range)
    };
    if target.wants_text() {
        return BytesPlan::text_of::<A>(target, move |value| civil(convert(value)?));
    }
    primitive::<A, 4>(FieldLayout::plain(FieldKind::Date), move |value| Ok(convert(value)?.to_le_bytes()))
}

/// time32 and time64, in any unit.
pub(super) fn time<A: ArrowPrimitiveType>(target: &Target, options: &ParamOptions) -> Plan
where
    A::Native: Into<i64>,
{
    let rounding = options.time_rounding;
    let unit = match A::DATA_TYPE {
        DataType::Time32(unit) | DataType::Time64(unit) => unit,
        _ => TimeUnit::Microsecond,
    };
    let convert = move |value: A::Native| {
        let ticks = to_ticks(value.into(), unit, rounding)?;
        let time = u32::try_from(ticks).ok().and_then(|ticks| TimeOfDay::new(ticks).ok());
        time.ok_or_else(|| out_of_range("the time is not within one day"))
    };
    if target.wants_text() {
        return BytesPlan::text_of::<A>(target, move |value| Ok(convert(value)?.to_string()));
    }
    primitive::<A, 4>(FieldLayout::plain(FieldKind::Time), move |value| {
        Ok(convert(value)?.ticks().to_le_bytes())
    })
}

/// Timestamps in any unit, with or without a time zone.
pub(super) fn timestamp<A: ArrowTimestampType>(
    target: &Target,
    zone: Option<&str>,
    options: &ParamOptions,
) -> Result<Plan, Reason> {
    let rounding = options.time_rounding;
    let convert = move |value: i64| instant(to_ticks(value, A::UNIT, rounding)?);
    Ok(match (target.kind(), zone) {
        (FieldKind::Time | FieldKind::TimeTz | FieldKind::TimeTzEx, _) => {
            let message =
                format!("a timestamp for a {} parameter would lose its date; cast it to time64", target.name);
            return Err(unsupported(message));
        }
        (FieldKind::Date, Some(_)) => {
            let message =
                "a timestamp with time zone for a DATE parameter would lose its time; cast it to date32";
            return Err(unsupported(message));
        }
        (FieldKind::Date, None) => {
            primitive::<A, 4>(FieldLayout::plain(FieldKind::Date), move |value| match convert(value)? {
                (date, 0) => Ok(date.to_le_bytes()),
                (date, time) => {
                    let text = timestamp_text(date, time)?;
                    Err(inexact(format!(
                        "{text} for a DATE parameter would lose its time; cast it to date32"
                    )))
                }
            })
        }
        (_, Some(zone)) if options.has_time_zones => {
            let zone = zone_id(zone);
            primitive::<A, 12>(FieldLayout::plain(FieldKind::TimestampTz), move |value| {
                let (date, time) = convert(value)?;
                Ok(timestamp_tz(date, time, zone))
            })
        }
        _ if target.wants_text() => BytesPlan::text_of::<A>(target, move |value| {
            let (date, time) = convert(value)?;
            timestamp_text(date, time)
        }),
        _ => primitive::<A, 8>(FieldLayout::plain(FieldKind::Timestamp), move |value| {
            let (date, time) = convert(value)?;
            Ok(two_words(date, time))
        }),
    })
}

/// Whether this struct is the storage of the extension type `arrow.timestamp_with_offset`.
pub(super) fn is_timestamp_with_offset(fields: &Fields) -> bool {
    let types: Vec<_> = fields.iter().map(|field| field.data_type()).collect();
    matches!(types[..], [DataType::Timestamp(TimeUnit::Microsecond, Some(_)), DataType::Int16])
}

/// `arrow.timestamp_with_offset` in microseconds, as TIMESTAMP WITH TIME ZONE in an offset zone.
pub(super) fn timestamp_with_offset(target: &Target, options: &ParamOptions) -> Result<Plan, Reason> {
    if !matches!(target.kind(), FieldKind::TimestampTz | FieldKind::TimestampTzEx) {
        let message = format!("a timestamp with offset cannot go into a {} parameter", target.name);
        return Err(unsupported(message));
    }
    let rounding = options.time_rounding;
    Ok(Plan::Fixed {
        field: FieldLayout::plain(FieldKind::TimestampTz),
        write: Box::new(move |array, slots| {
            let array = array.as_struct();
            let instants = array.column(0).as_primitive::<TimestampMicrosecondType>();
            let offsets = array.column(1).as_primitive::<Int16Type>();
            slots.fill(array.nulls(), |row| {
                if instants.is_null(row) || offsets.is_null(row) {
                    let message = "a timestamp with offset of which one half is NULL";
                    return Err(Reason::new(ParamErrorKind::Malformed, message));
                }
                let (date, time) = instant(to_ticks(instants.value(row), TimeUnit::Microsecond, rounding)?)?;
                let minutes = offsets.value(row);
                let zone = 1439_u16.checked_add_signed(minutes).filter(|&id| is_legal_offset(id));
                let zone = zone.ok_or_else(|| out_of_range(format!("an offset of {minutes} minutes")))?;
                Ok(timestamp_tz(date, time, zone))
            })
        }),
    })
}

/// Parses text in the form of TIMESTAMP WITH TIME ZONE columns with `timestamptz=utf8`: `2020-01-02 03:04:05.6789
/// +01:00 Europe/Berlin`, without the last word in an offset zone. Returns `None` for any other text, which the engine
/// converts; the engine does not accept an offset together with a region.
pub(super) fn zoned_text(text: &str) -> Option<ZonedText> {
    let mut words = text.trim_matches(' ').split(' ');
    let (day, time, offset, region) = (words.next()?, words.next()?, words.next()?, words.next());
    if words.next().is_some() {
        return None;
    }
    let numbers = |text: &str, separator| -> Option<Vec<u32>> {
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        text.split(separator).map(|part| Some(part).filter(is_number)?.parse().ok()).collect()
    };
    let &[year, month, day] = numbers(day, '-')?.as_slice() else { return None };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let &[hour, minute, second] = numbers(time, ':')?.as_slice() else { return None };
    let &[digits] = numbers(fraction, '.')?.as_slice() else { return None };
    if fraction.len() > 4 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = digits * 10_u32.pow(4 - fraction.len() as u32);
    let offset = timezone::id(offset)?;
    let minutes = timezone::displacement(offset)?;
    let region = match region {
        Some(region) => Some(timezone::id(region).filter(|&id| timezone::displacement(id).is_none())?),
        None => None,
    };
    let date = CivilDate { year: year.try_into().ok()?, month, day }.to_date().ok()?;
    let local = i64::from(((hour * 60 + minute) * 60 + second) * 10_000 + fraction);
    let utc = local - i64::from(minutes) * 600_000;
    let date = check_date(date + utc.div_euclid(i64::from(TICKS_PER_DAY)) as i32).ok()?;
    let time = utc.rem_euclid(i64::from(TICKS_PER_DAY)) as u32;
    Some(ZonedText {
        value: timestamp_tz(date, time, region.unwrap_or(offset)),
        has_region: region.is_some(),
    })
}

/// See [`zoned_text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ZonedText {
    pub(super) value: [u8; 12],
    pub(super) has_region: bool,
}

/// Returns the ticks of 100 µs in this many units of time.
fn to_ticks(value: i64, unit: TimeUnit, rounding: TimeRounding) -> Result<i64, Reason> {
    let too_far = || out_of_range("the time is not in the years 1 to 9999");
    let (ticks, rest) = match unit {
        TimeUnit::Second => (value.checked_mul(10_000).ok_or_else(too_far)?, 0),
        TimeUnit::Millisecond => (value.checked_mul(10).ok_or_else(too_far)?, 0),
        TimeUnit::Microsecond => (value.div_euclid(100), value.rem_euclid(100)),
        TimeUnit::Nanosecond => (value.div_euclid(100_000), value.rem_euclid(100_000)),
    };
    if rest != 0 && rounding == TimeRounding::Error {
        return Err(inexact(
            "the time has digits below 100 µs, which Firebird does not store; set time_rounding=floor",
        ));
    }
    Ok(ticks)
}

/// Returns the date and time of day of this many ticks since 1970.
pub(super) fn instant(ticks: i64) -> Result<(i32, u32), Reason> {
    let days = ticks.div_euclid(DAY) + i64::from(UNIX_EPOCH);
    let date = i32::try_from(days).ok().and_then(|date| check_date(date).ok());
    let date = date.ok_or_else(|| out_of_range("the time is not in the years 1 to 9999"))?;
    Ok((date, ticks.rem_euclid(DAY) as u32))
}

pub(super) fn two_words(date: i32, time: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&date.to_le_bytes());
    bytes[4..].copy_from_slice(&time.to_le_bytes());
    bytes
}

/// Returns the native form of an instant in a zone. If the zone would move the local date out of the calendar, the
/// engine would refuse it, so the zone becomes UTC: only the instant matters.
fn timestamp_tz(date: i32, time: u32, zone: u16) -> [u8; 12] {
    let zone = if (MIN_DATE + 1..MAX_DATE).contains(&date) { zone } else { utc() };
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&two_words(date, time));
    bytes[8..10].copy_from_slice(&zone.to_le_bytes());
    bytes
}

fn utc() -> u16 {
    timezone::id("UTC").unwrap_or(1439) // +00:00
}

/// Returns the engine's id for an Arrow time zone; UTC if it has none.
fn zone_id(name: &str) -> u16 {
    timezone::id(name)
        .filter(|&id| timezone::displacement(id).is_none() || is_legal_offset(id))
        .unwrap_or_else(utc)
}

/// The engine accepts offsets of up to fourteen hours.
fn is_legal_offset(id: u16) -> bool {
    timezone::displacement(id).is_some_and(|minutes| minutes.unsigned_abs() <= 14 * 60)
}

fn civil(date: i32) -> Result<String, Reason> {
    CivilDate::from_date(date).map(|date| date.to_string()).map_err(out_of_range)
}

fn timestamp_text(date: i32, time: u32) -> Result<String, Reason> {
    let time = TimeOfDay::new(time).map_err(out_of_range)?;
    Ok(format!("{} {time}", civil(date)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_below_a_tick_go_towards_the_past() {
        let floor = |value, unit| to_ticks(value, unit, TimeRounding::Floor);
        assert_eq!(floor(43_200_123_456, TimeUnit::Microsecond), Ok(432_001_234));
        assert_eq!(floor(-42, TimeUnit::Microsecond), Ok(-1));
        assert_eq!(floor(-1, TimeUnit::Nanosecond), Ok(-1));
        assert_eq!(floor(-3, TimeUnit::Second), Ok(-30_000));
        assert!(to_ticks(-42, TimeUnit::Microsecond, TimeRounding::Error).is_err());
        assert_eq!(to_ticks(-100, TimeUnit::Microsecond, TimeRounding::Error), Ok(-1));
        for value in [i64::MIN, i64::MAX] {
            assert!(floor(value, TimeUnit::Second).is_err());
            assert!(instant(value).is_err());
        }
    }

    #[test]
    fn texts_with_offset_and_region_are_instants() {
        let berlin = timezone::id("Europe/Berlin").expect("a region");
        let native = |text: &str| {
            let ZonedText { value, has_region } = zoned_text(text)?;
            let word = |range: std::ops::Range<usize>| i32::from_le_bytes(value[range].try_into().unwrap());
            Some((word(0..4), word(4..8), u16::from_le_bytes(value[8..10].try_into().unwrap()), has_region))
        };
        for (text, expected) in [
            ("2024-10-27 02:30:00.0000 +02:00 Europe/Berlin", (60_610, 18_000_000, berlin, true)),
            ("2024-10-27 02:30:00.0000 +01:00 Europe/Berlin", (60_610, 54_000_000, berlin, true)),
            ("2024-10-27 00:30:00.5 +02:00", (60_609, 810_005_000, 1559, false)),
            ("2024-10-26 22:30:00 -02:00", (60_610, 18_000_000, 1319, false)),
        ] {
            assert_eq!(native(text), Some(expected), "{text}");
        }
        for text in [
            "2024-10-27 02:30:00.0000 Europe/Berlin",
            "2024-10-27 02:30:00.0000 +02:00 Europe/Nowhere",
            "2024-10-27 02:30:00.0000 +02:00 +02:00",
            "2024-10-27 02:30:00.0000 +02:00 Europe/Berlin x",
            "2024-10-27 24:30:00.0000 +02:00",
            "2024-10-27 02:30:00.00000 +02:00",
            "2024-02-30 02:30:00.0000 +02:00",
            "0001-01-01 00:00:00.0000 +02:00",
            "2024-10-27 02:30:00.-1 +02:00",
            "2024-10-27 99999999999:30:00 +02:00",
            "now",
            "",
        ] {
            assert_eq!(native(text), None, "{text}");
        }
    }

    #[test]
    fn zones_the_engine_does_not_have_are_utc() {
        assert_eq!(zone_id("+02:00"), 1559);
        assert_eq!(zone_id("-03:00"), 1259);
        for name in ["Mars/Olympus", "", "+20:00", "+02"] {
            assert_eq!(zone_id(name), utc(), "{name}");
        }
    }

    #[test]
    fn zones_at_the_ends_of_the_calendar_are_utc() {
        let zone = |date| u16::from_le_bytes(timestamp_tz(date, 0, 1559)[8..10].try_into().unwrap());
        assert_eq!(zone(MIN_DATE), utc());
        assert_eq!(zone(MAX_DATE), utc());
        assert_eq!(zone(MIN_DATE + 1), 1559);
    }
}
