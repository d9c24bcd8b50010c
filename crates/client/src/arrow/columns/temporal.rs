//! Dates, times and timestamps, with and without zones.

use super::super::error::{ColumnError, DecodeErrorKind, Fault};
use super::super::schema::{offset_fields, utc_timestamp};
use super::Column;
use super::bytes::{Output, Write};
use super::values::{Read, Values};
use arrow::array::{ArrayRef, Int16Array, StructArray, TimestampMicrosecondArray};
use arrow::buffer::ScalarBuffer;
use firearrow_proto::api::row::{RowSource, ValueFormat};
use firearrow_proto::api::timezone;
use firearrow_proto::api::value::{
    self, CivilDate, TICKS_PER_DAY, TimeOfDay, TimeTz as TimeTzText, ValueError,
};
use std::borrow::Cow;
use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

fn out_of_range(error: ValueError) -> Fault {
    Fault::new(DecodeErrorKind::Malformed, error.to_string())
}

/// DATE as days since 1970.
#[derive(Debug)]
pub(crate) struct Date;

impl Read for Date {
    type Value = i32;

    #[inline(always)]
    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<i32> {
        value::check_date(F::i32(bytes)?).ok().map(value::date_to_unix_days)
    }

    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        let error = F::i32(bytes).and_then(|date| value::check_date(date).err());
        error.map_or_else(|| Fault::malformed("DATE"), out_of_range)
    }
}

/// TIME, or TIME WITH TIME ZONE in UTC, as microseconds since midnight.
#[derive(Debug)]
pub(crate) struct Time;

impl Read for Time {
    type Value = i64;

    #[inline(always)]
    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<i64> {
        value::time_to_micros(F::i32(bytes)? as u32).ok()
    }

    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        let error = F::i32(bytes).and_then(|time| value::check_time(time as u32).err());
        error.map_or_else(|| Fault::malformed("TIME"), out_of_range)
    }
}

/// TIMESTAMP, or the instant of a TIMESTAMP WITH TIME ZONE, as microseconds since 1970.
#[derive(Debug)]
pub(crate) struct Timestamp;

impl Read for Timestamp {
    type Value = i64;

    #[inline(always)]
    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<i64> {
        let (date, time) = F::timestamp(bytes)?;
        value::timestamp_to_micros(date, time).ok()
    }

    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        let error = F::timestamp(bytes).and_then(|(date, time)| value::timestamp_to_micros(date, time).err());
        error.map_or_else(|| Fault::malformed("TIMESTAMP"), out_of_range)
    }
}

/// The source of a zone's displacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Displacement {
    /// The row, in the EX types.
    Sent,
    /// The zone itself: only offset zones and UTC have one.
    OfZone,
}

/// Returns the displacement of a zone with a constant one.
fn displacement_of(zone: u16) -> Option<i16> {
    let is_utc = || timezone::name(zone).is_some_and(|name| matches!(name.as_ref(), "GMT" | "UTC"));
    timezone::displacement(zone).or_else(|| is_utc().then_some(0))
}

fn unknown_zone(zone: u16) -> Fault {
    let name = timezone::name(zone).unwrap_or_else(|| zone.to_string().into());
    let message = format!(
        "the row has no displacement for zone {name}; fetch the column in its EX form, or single elements of an array"
    );
    Fault::new(DecodeErrorKind::UnknownZone, message)
}

/// The zone `+00:00`.
const UTC_OFFSET: u16 = 1439;

/// Returns the name of a zone, or its displacement if the zone is newer than this crate's table.
fn zone_name(zone: u16, displacement: i16) -> Cow<'static, str> {
    let offset = || timezone::name(UTC_OFFSET.checked_add_signed(displacement)?);
    timezone::name(zone).or_else(offset).unwrap_or(Cow::Borrowed("UTC"))
}

/// TIME WITH TIME ZONE as text.
#[derive(Debug)]
pub(crate) struct TimeTz(pub(crate) Displacement);

impl TimeTz {
    fn parts<F: ValueFormat>(&self, bytes: &[u8]) -> Option<(u32, u16, Option<i16>)> {
        match self.0 {
            Displacement::Sent => F::time_tz_ex(bytes).map(|(time, zone, offset)| (time, zone, Some(offset))),
            Displacement::OfZone => F::time_tz(bytes).map(|(time, zone)| (time, zone, displacement_of(zone))),
        }
    }
}

impl Write for TimeTz {
    fn max(&self) -> usize {
        64 // 13 for the time, and the longest name of a region has 32
    }

    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output) -> Option<()> {
        let (time, zone, displacement) = self.parts::<F>(bytes)?;
        let name = zone_name(zone, displacement?);
        write!(out, "{}", TimeTzText::from_utc(time, &name, displacement?).ok()?).ok()
    }

    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        match self.parts::<F>(bytes) {
            Some((_, zone, None)) => unknown_zone(zone),
            Some((time, ..)) => value::check_time(time)
                .err()
                .map_or_else(|| Fault::malformed("TIME WITH TIME ZONE"), out_of_range),
            None => Fault::malformed("TIME WITH TIME ZONE"),
        }
    }
}

/// TIMESTAMP WITH TIME ZONE and the source of its displacement.
#[derive(Debug)]
pub(crate) struct TimestampTz(pub(crate) Displacement);

impl TimestampTz {
    fn parts<F: ValueFormat>(&self, bytes: &[u8]) -> Option<(i32, u32, u16, Option<i16>)> {
        match self.0 {
            Displacement::Sent => {
                let (date, time, zone, offset) = F::timestamp_tz_ex(bytes)?;
                Some((date, time, zone, Some(offset)))
            }
            Displacement::OfZone => {
                let (date, time, zone) = F::timestamp_tz(bytes)?;
                Some((date, time, zone, displacement_of(zone)))
            }
        }
    }

    fn explain<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        let malformed = || Fault::malformed("TIMESTAMP WITH TIME ZONE");
        match self.parts::<F>(bytes) {
            Some((_, _, zone, None)) => unknown_zone(zone),
            Some((date, time, ..)) => {
                value::timestamp_to_micros(date, time).err().map_or_else(malformed, out_of_range)
            }
            None => malformed(),
        }
    }
}

/// As text: `2020-01-02 03:04:05.6789 +01:00 Europe/Berlin`, without the last word in an offset zone. Without the
/// offset, one hour in autumn would be ambiguous.
impl Write for TimestampTz {
    fn max(&self) -> usize {
        80
    }

    fn write<F: ValueFormat>(&self, bytes: &[u8], out: &mut Output) -> Option<()> {
        let (date, time, zone, displacement) = self.parts::<F>(bytes)?;
        let displacement = displacement?;
        value::timestamp_to_micros(date, time).ok()?;
        let shifted = i64::from(time) + i64::from(displacement) * i64::from(TICKS_PER_DAY / 1440);
        let local = date + shifted.div_euclid(i64::from(TICKS_PER_DAY)) as i32;
        let (day, time) = (CivilDate::from_date(local).ok()?, TimeOfDay::local(time, displacement).ok()?);
        let offset = timezone::name(UTC_OFFSET.checked_add_signed(displacement)?)?;
        match timezone::name(zone).filter(|_| timezone::displacement(zone).is_none()) {
            Some(region) => write!(out, "{day} {time} {offset} {region}").ok(),
            None => write!(out, "{day} {time} {offset}").ok(),
        }
    }

    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        self.explain::<F>(bytes)
    }
}

/// As an instant and a displacement.
impl Read for TimestampTz {
    type Value = (i64, i16);

    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<(i64, i16)> {
        let (date, time, _, displacement) = self.parts::<F>(bytes)?;
        Some((value::timestamp_to_micros(date, time).ok()?, displacement?))
    }

    fn fault<F: ValueFormat>(&self, bytes: &[u8]) -> Fault {
        self.explain::<F>(bytes)
    }
}

/// TIMESTAMP WITH TIME ZONE as `arrow.timestamp_with_offset`.
#[derive(Debug)]
pub(crate) struct OffsetColumn {
    read: TimestampTz,
    values: Values<(i64, i16)>,
}

impl OffsetColumn {
    pub(crate) fn new(displacement: Displacement) -> Self {
        Self { read: TimestampTz(displacement), values: Values::new() }
    }
}

impl Column for OffsetColumn {
    fn push<S: RowSource>(
        &mut self,
        rows: &S,
        range: Range<usize>,
        column: usize,
    ) -> Result<(), ColumnError> {
        self.values.extend(&self.read, rows, range, column)
    }

    fn byte_len(&self) -> usize {
        self.values.len() * self.width()
    }

    fn width(&self) -> usize {
        size_of::<i64>() + size_of::<i16>()
    }

    fn finish(&mut self, rows: usize) -> Result<ArrayRef, ColumnError> {
        let (values, nulls) = self.values.take(rows);
        let micros: ScalarBuffer<i64> = values.iter().map(|value| value.0).collect();
        let minutes: ScalarBuffer<i16> = values.iter().map(|value| value.1).collect();
        let instants = TimestampMicrosecondArray::new(micros, None).with_data_type(utc_timestamp());
        let minutes = Int16Array::new(minutes, None);
        let children: Vec<ArrayRef> = vec![Arc::new(instants), Arc::new(minutes)];
        Ok(Arc::new(StructArray::new(offset_fields(), children, nulls)))
    }
}
