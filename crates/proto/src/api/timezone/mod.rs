//! Time zone ids: offsets and named regions.
//!
//! ```text
//!      0 … 2878   offset zones, id = minutes + 1439        1439 = +00:00, 1769 = +05:30
//!  65535 … down   regions in the order of the table        65535 = GMT
//! ```

#[rustfmt::skip]
mod table;

use std::borrow::Cow;
use std::cmp::Ordering;

/// Minutes in a day, minus one: the largest displacement, and the id of the zone with displacement zero.
const LAST_MINUTE: u16 = 24 * 60 - 1;
/// The id of the first region; the others count down from it.
const GMT: u16 = 65535;

/// Returns the text of a zone id as the engine prints it: a region name, or `+02:00`.
pub fn name(id: u16) -> Option<Cow<'static, str>> {
    match displacement(id) {
        Some(minutes) => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.unsigned_abs();
            Some(Cow::Owned(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)))
        }
        None => table::REGIONS.get(usize::from(GMT - id)).map(|&region| Cow::Borrowed(region)),
    }
}

/// Returns the id of a region name (in any letter case) or of an offset such as `+02:00` or `-3:30`.
pub fn id(name: &str) -> Option<u16> {
    let name = name.trim_matches(' ');
    let (negative, digits) = match name.as_bytes().first()? {
        b'+' => (false, &name[1..]),
        b'-' => (true, &name[1..]),
        _ => return region(name),
    };
    let (hours, minutes) = digits.split_once(':')?;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let minutes = hours * 60 + minutes;
    Some(if negative { LAST_MINUTE - minutes } else { LAST_MINUTE + minutes })
}

/// Minutes east of Greenwich of an offset zone; `None` for regions, whose displacement depends on the date.
pub fn displacement(id: u16) -> Option<i16> {
    (id <= 2 * LAST_MINUTE).then(|| id as i16 - LAST_MINUTE as i16)
}

fn region(name: &str) -> Option<u16> {
    let index = table::BY_NAME
        .binary_search_by(|&index| compare_ignoring_case(table::REGIONS[usize::from(index)], name))
        .ok()?;
    Some(GMT - table::BY_NAME[index])
}

/// Decimal digits with spaces around them, as the engine's own parser accepts them.
fn number(text: &str) -> Option<u16> {
    let text = text.trim_matches(' ');
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None; // `u16::from_str` would accept a sign
    }
    text.parse().ok()
}

fn compare_ignoring_case(a: &str, b: &str) -> Ordering {
    a.bytes().map(|byte| byte.to_ascii_lowercase()).cmp(b.bytes().map(|byte| byte.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_index_is_sorted_and_complete() {
        let regions = table::REGIONS;
        assert_eq!(table::BY_NAME.len(), regions.len());
        let name = |index: &u16| regions[usize::from(*index)];
        assert!(table::BY_NAME.is_sorted_by(|a, b| compare_ignoring_case(name(a), name(b)).is_lt()));
    }

    #[test]
    fn offsets_print_and_parse_as_the_engine_does() {
        for (zone, text) in
            [(0, "-23:59"), (1438, "-00:01"), (1439, "+00:00"), (1769, "+05:30"), (2878, "+23:59")]
        {
            assert_eq!(name(zone).as_deref(), Some(text));
            assert_eq!(id(text), Some(zone));
        }
        assert_eq!(id(" - 3 : 30 "), Some(1439 - 210));
        for text in ["", "+", "+2", "+24:00", "+1:60", "+-1:00", "+1:", "+:30", "+1:00x"] {
            assert_eq!(id(text), None, "{text:?}");
        }
    }

    #[test]
    fn regions_are_found_in_any_letter_case() {
        assert_eq!((name(65535).as_deref(), id("gmt")), (Some("GMT"), Some(65535)));
        assert_eq!((name(65091).as_deref(), id("EUROPE/berlin")), (Some("Europe/Berlin"), Some(65091)));
        for (index, region) in table::REGIONS.iter().enumerate() {
            assert_eq!(id(region), Some(65535 - index as u16));
        }
        assert_eq!((name(2879), name(60000), id("Europe/Nowhere"), id("")), (None, None, None, None));
    }

    #[test]
    fn displacements_belong_to_offset_zones_only() {
        assert_eq!(displacement(1439), Some(0));
        assert_eq!(displacement(2878), Some(1439));
        assert_eq!(displacement(2879), None);
        assert_eq!(displacement(65535), None);
    }
}
