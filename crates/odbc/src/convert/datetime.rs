//! Dates, times and timestamps.

use super::calendar::{MICROS_PER_DAY, date, date_and_time, time};
use super::cell::{Convert, Converted};
use super::fault::Fault;
use super::number::fraction_cut;
use super::plan::Settings;
use super::rendered::{Render, Rendered};
use crate::abi::{Date, Time, Timestamp};
use arrow::array::{Date32Array, Time64MicrosecondArray, TimestampMicrosecondArray};

/// A timestamp with so many nanoseconds.
#[inline]
pub(super) fn timestamp(date: Date, time: Time, fraction: u32) -> Timestamp {
    let (Date { year, month, day }, Time { hour, minute, second }) = (date, time);
    Timestamp { year, month, day, hour, minute, second, fraction }
}

impl Convert<Date32Array> for Date {
    #[inline]
    fn convert(day: i32, _: &Settings) -> Converted<Self> {
        Ok((date(day.into())?, None))
    }
}

impl Convert<Date32Array> for Timestamp {
    #[inline]
    fn convert(day: i32, _: &Settings) -> Converted<Self> {
        Ok((timestamp(date(day.into())?, Time::default(), 0), None))
    }
}

impl Convert<Time64MicrosecondArray> for Time {
    #[inline]
    fn convert(micros: i64, _: &Settings) -> Converted<Self> {
        let (time, fraction) = time(micros)?;
        Ok((time, fraction_cut(fraction != 0)))
    }
}

impl Convert<Time64MicrosecondArray> for Timestamp {
    #[inline]
    fn convert(micros: i64, settings: &Settings) -> Converted<Self> {
        let (time, fraction) = time(micros)?;
        Ok((timestamp(settings.today, time, fraction * 1000), None))
    }
}

impl Convert<TimestampMicrosecondArray> for Date {
    #[inline]
    fn convert(micros: i64, _: &Settings) -> Converted<Self> {
        let date = date(micros.div_euclid(MICROS_PER_DAY))?;
        Ok((date, fraction_cut(micros % MICROS_PER_DAY != 0)))
    }
}

impl Convert<TimestampMicrosecondArray> for Time {
    #[inline]
    fn convert(micros: i64, _: &Settings) -> Converted<Self> {
        let (_, time, fraction) = date_and_time(micros)?;
        Ok((time, fraction_cut(fraction != 0)))
    }
}

impl Convert<TimestampMicrosecondArray> for Timestamp {
    #[inline]
    fn convert(micros: i64, _: &Settings) -> Converted<Self> {
        let (date, time, fraction) = date_and_time(micros)?;
        Ok((timestamp(date, time, fraction * 1000), None))
    }
}

impl Render for Date32Array {
    #[inline]
    fn render(day: i32, _: &Settings) -> Result<Rendered, Fault> {
        let mut text = Rendered::new();
        push_date(&mut text, date(day.into())?);
        text.end_whole();
        Ok(text)
    }
}

impl Render for Time64MicrosecondArray {
    #[inline]
    fn render(micros: i64, _: &Settings) -> Result<Rendered, Fault> {
        let (time, fraction) = time(micros)?;
        let mut text = Rendered::new();
        push_time(&mut text, time, fraction);
        Ok(text)
    }
}

impl Render for TimestampMicrosecondArray {
    #[inline]
    fn render(micros: i64, _: &Settings) -> Result<Rendered, Fault> {
        let (date, time, fraction) = date_and_time(micros)?;
        let mut text = Rendered::new();
        push_date(&mut text, date);
        text.push(b" ");
        push_time(&mut text, time, fraction);
        Ok(text)
    }
}

#[inline]
fn push_date(text: &mut Rendered, date: Date) {
    text.push_number::<4>(date.year.unsigned_abs().into());
    text.push(b"-");
    text.push_number::<2>(date.month.into());
    text.push(b"-");
    text.push_number::<2>(date.day.into());
}

#[inline]
fn push_time(text: &mut Rendered, time: Time, fraction: u32) {
    text.push_number::<2>(time.hour.into());
    text.push(b":");
    text.push_number::<2>(time.minute.into());
    text.push(b":");
    text.push_number::<2>(time.second.into());
    text.end_whole();
    if fraction == 0 {
        return;
    }
    text.push(b".");
    // The engine's unit is 100 microseconds; only other sources of arrays have more digits.
    match fraction % 100 {
        0 => text.push_number::<4>(fraction / 100),
        _ => text.push_number::<6>(fraction),
    }
}

#[cfg(test)]
mod tests {
    use super::super::calendar::MICROS_PER_SECOND;
    use super::*;
    use crate::abi::c_type;
    use crate::convert::testing::{texts, values, wanted};
    use arrow::array::{Array, StringArray};
    use proptest::prelude::*;

    const CUT: Option<&str> = Some("01S07");

    fn at(year: i16, month: u16, day: u16) -> Date {
        Date { year, month, day }
    }

    fn clock(hour: u16, minute: u16, second: u16) -> Time {
        Time { hour, minute, second }
    }

    #[test]
    fn dates_become_timestamps() {
        let array = Date32Array::from(vec![Some(-1), None, Some(i32::MAX)]);
        for c_type in [c_type::DATE, c_type::TYPE_DATE] {
            let expected = [Ok((at(1969, 12, 31), None)), Err("NULL"), Err("22008")];
            assert_eq!(values(&array, wanted(c_type)), expected);
        }
        assert_eq!(values(&array, wanted(c_type::BINARY))[0], Ok((at(1969, 12, 31), None)));
        for c_type in [c_type::TIMESTAMP, c_type::TYPE_TIMESTAMP] {
            let midnight = timestamp(at(1969, 12, 31), Time::default(), 0);
            assert_eq!(values(&array, wanted(c_type)), [Ok((midnight, None)), Err("NULL"), Err("22008")]);
        }
    }

    #[test]
    fn times_become_timestamps_of_today() {
        let micros = ((23 * 60 + 59) * 60 + 58) * MICROS_PER_SECOND;
        let array = Time64MicrosecondArray::from(vec![micros, micros + 123_400, MICROS_PER_DAY, -1]);
        let time = clock(23, 59, 58);
        let out = Err("22008");
        for c_type in [c_type::TIME, c_type::TYPE_TIME, c_type::BINARY] {
            assert_eq!(values(&array, wanted(c_type)), [Ok((time, None)), Ok((time, CUT)), out, out]);
        }
        let before = crate::convert::today::today();
        let stamps = values::<Timestamp>(&array, wanted(c_type::TYPE_TIMESTAMP));
        // Midnight may have passed.
        let dates = [before, crate::convert::today::today()];
        assert!(dates.map(|date| Ok((timestamp(date, time, 123_400_000), None))).contains(&stamps[1]));
    }

    #[test]
    fn timestamps_lose_their_other_part_with_a_warning() {
        let micros = -MICROS_PER_DAY;
        let array = TimestampMicrosecondArray::from(vec![
            micros,
            micros + 3_723_000_000,
            micros + 999_900,
            253_402_300_799_999_900,
            253_402_300_800_000_000,
            i64::MIN,
        ]);
        let (day, last, out) = (at(1969, 12, 31), at(9999, 12, 31), "22008");
        assert_eq!(
            values(&array, wanted(c_type::TYPE_DATE)),
            [Ok((day, None)), Ok((day, CUT)), Ok((day, CUT)), Ok((last, CUT)), Err(out), Err(out)]
        );
        assert_eq!(
            values(&array, wanted(c_type::TYPE_TIME)),
            [
                Ok((clock(0, 0, 0), None)),
                Ok((clock(1, 2, 3), None)),
                Ok((clock(0, 0, 0), CUT)),
                Ok((clock(23, 59, 59), CUT)),
                Err(out),
                Err(out)
            ]
        );
        for c_type in [c_type::TYPE_TIMESTAMP, c_type::BINARY] {
            assert_eq!(
                values(&array, wanted(c_type)),
                [
                    Ok((timestamp(day, clock(0, 0, 0), 0), None)),
                    Ok((timestamp(day, clock(1, 2, 3), 0), None)),
                    Ok((timestamp(day, clock(0, 0, 0), 999_900_000), None)),
                    Ok((timestamp(last, clock(23, 59, 59), 999_900_000), None)),
                    Err(out),
                    Err(out)
                ]
            );
        }
    }

    #[test]
    fn text_needs_room_for_all_but_the_fraction() {
        let fetch = |array: &dyn Array, capacity| texts(array, wanted(c_type::CHAR), capacity)[0].clone();
        let text = |text: &str, length, warning| Ok((text.to_owned(), length, warning));
        let (cut, out) = (Some("01004"), Err("22003"));
        let days = Date32Array::from(vec![-719_162]);
        assert_eq!((fetch(&days, 11), fetch(&days, 10)), (text("0001-01-01", 10, None), out.clone()));
        let times = Time64MicrosecondArray::from(vec![3_723_004_500]);
        assert_eq!(fetch(&times, 14), text("01:02:03.0045", 13, None));
        assert_eq!(fetch(&times, 9), text("01:02:03", 13, cut));
        assert_eq!(fetch(&times, 8), out);
        let stamps = TimestampMicrosecondArray::from(vec![253_402_300_799_999_900]);
        assert_eq!(fetch(&stamps, 25), text("9999-12-31 23:59:59.9999", 24, None));
        assert_eq!(fetch(&stamps, 20), text("9999-12-31 23:59:59", 24, cut));
        assert_eq!(fetch(&stamps, 19), out);
        let whole = TimestampMicrosecondArray::from(vec![0, 1]);
        assert_eq!(fetch(&whole, 25), text("1970-01-01 00:00:00", 19, None));
        let wide = texts(&whole, wanted(c_type::WCHAR), 30);
        assert_eq!(wide[0], text("1970-01-01 00:00:00", 38, None));
        assert_eq!(wide[1], text("1970-01-01 00:00:00.000001", 52, None));
    }

    proptest! {
        /// Text of timestamps, dates and times reads back as what they were.
        #[test]
        fn text_reads_back(micros in -62_135_596_800_000_000..=253_402_300_799_999_999_i64) {
            let check = |array: &dyn Array, c_type| {
                let text = texts(array, wanted(c_type::CHAR), 40)[0].clone().expect("text").0;
                let text = StringArray::from(vec![text]);
                match c_type {
                    c_type::TYPE_DATE => {
                        assert_eq!(values::<Date>(array, wanted(c_type)), values(&text, wanted(c_type)));
                    }
                    c_type::TYPE_TIME => {
                        assert_eq!(values::<Time>(array, wanted(c_type)), values(&text, wanted(c_type)));
                    }
                    _ => assert_eq!(values::<Timestamp>(array, wanted(c_type)), values(&text, wanted(c_type))),
                }
            };
            let (day, time) = (micros.div_euclid(MICROS_PER_DAY), micros.rem_euclid(MICROS_PER_DAY));
            let stamps = TimestampMicrosecondArray::from(vec![micros]);
            check(&stamps, c_type::TYPE_TIMESTAMP);
            check(&stamps, c_type::TYPE_DATE);
            check(&stamps, c_type::TYPE_TIME);
            check(&Date32Array::from(vec![day as i32]), c_type::TYPE_DATE);
            check(&Date32Array::from(vec![day as i32]), c_type::TYPE_TIMESTAMP);
            check(&Time64MicrosecondArray::from(vec![time]), c_type::TYPE_TIME);
        }
    }
}
