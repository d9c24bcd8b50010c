//! Dates, times and timestamps, with zones and without.

use super::super::error::{ColumnError, DecodeErrorKind, Fault};
use super::super::schema::offset_fields;
use super::bytes::Write;
use super::values::{Read, Values};
use arrow::array::{ArrayRef, Int16Array, PrimitiveArray, StructArray};
use arrow::datatypes::TimestampMicrosecondType;
use firearrow_proto::api::row::{RowSource, ValueFormat};
use firearrow_proto::api::{timezone, value};
use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

/// Microseconds of one tick of the engine's clock.
const TICK: i64 = 100;
/// Ticks of a day.
const DAY: u32 = 864_000_000;

/// DATE as days since 1970.
#[derive(Debug)]
pub(crate) struct Date;

impl Read for Date {
    type Value = i32;

    #[inline(always)]
    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<i32> {
        value::date_to_unix_days(F::i32(bytes)?).ok()
    }

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed("DATE")
    }
}

/// TIME, or TIME WITH TIME ZONE in UTC, as microseconds since midnight.
#[derive(Debug)]
pub(crate) struct Time;

impl Read for Time {
    type Value = i64;

    #[inline(always)]
    fn read<F: ValueFormat>(&self, bytes: &[u8]) -> Option<i64> {
        let ticks = F::i32(bytes)? as u32;
        (ticks < DAY).then_some(i64::from(ticks) * TICK)
    }

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed("TIME")
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

    fn fault<F: ValueFormat>(&self, _: &[u8]) -> Fault {
        Fault::malformed("TIMESTAMP")
    }
}
