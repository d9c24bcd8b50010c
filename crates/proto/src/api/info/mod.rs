//! Info buffers: items in, tag-length-value answers out.
//!
//! Each kind of object has a module with its item numbers, named as in Firebird's `inf_pub.h`, without the prefix.

pub mod blob;
pub mod database;
pub mod statement;
pub mod transaction;

/// `isc_info_end`.
pub const END: u8 = 1;
/// `isc_info_truncated`.
pub const TRUNCATED: u8 = 2;
/// `isc_info_flag_end`.
const FLAG_END: u8 = 127;

/// Why reading an info buffer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All items were read.
    Complete,
    /// The buffer was too small for the answer.
    Truncated,
    /// An item claims more bytes than the buffer has.
    Malformed,
}

/// Walks the items of an info buffer. Stops at the end marker, a truncation or the end of the bytes.
#[derive(Clone, Debug)]
pub struct InfoReader<'a> {
    rest: &'a [u8],
    end: Option<End>,
}

/// One item of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The item number.
    pub code: u8,
    /// Its value; empty for single-byte items.
    pub value: &'a [u8],
}

impl<'a> InfoReader<'a> {
    /// Reads `bytes`, which may be padded with zeros after the end marker.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, end: None }
    }

    /// Returns the next byte without consuming it, to recognise the single-byte markers of SQL info.
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Consumes one byte.
    pub fn skip_marker(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Why the walk ended; `None` until then.
    pub fn end(&self) -> Option<End> {
        self.end
    }
}

impl<'a> Iterator for InfoReader<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        if self.end.is_some() {
            return None;
        }
        loop {
            let Some((&code, rest)) = self.rest.split_first() else {
                self.end = Some(End::Complete);
                return None;
            };
            match code {
                END => self.end = Some(End::Complete),
                TRUNCATED => self.end = Some(End::Truncated),
                FLAG_END => {
                    self.rest = rest;
                    continue;
                }
                _ => {
                    let value = rest.first_chunk::<2>().and_then(|length| {
                        let length = usize::from(u16::from_le_bytes(*length));
                        rest.get(2..2 + length)
                    });
                    match value {
                        Some(value) => {
                            self.rest = &rest[2 + value.len()..];
                            return Some(Item { code, value });
                        }
                        None => self.end = Some(End::Malformed),
                    }
                }
            }
            return None;
        }
    }
}

impl Item<'_> {
    /// The value as a little-endian, sign-extended integer of 0 to 8 bytes; longer values read as `None`.
    pub fn integer(&self) -> Option<i64> {
        integer(self.value)
    }
}

/// A little-endian, sign-extended integer of 0 to 8 bytes.
pub fn integer(value: &[u8]) -> Option<i64> {
    if value.len() > 8 {
        return None;
    }
    let fill = if value.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let mut bytes = [fill; 8];
    bytes[..value.len()].copy_from_slice(value);
    Some(i64::from_le_bytes(bytes))
}

/// The length-prefixed strings of an answer such as `isc_info_firebird_version`: count, then length and text.
pub fn counted_strings(value: &[u8]) -> Vec<String> {
    let Some((&count, mut rest)) = value.split_first() else { return Vec::new() };
    let mut strings = Vec::new();
    for _ in 0..count {
        let Some((&length, tail)) = rest.split_first() else { break };
        let Some(text) = tail.get(..usize::from(length)) else { break };
        strings.push(String::from_utf8_lossy(text).into_owned());
        rest = &tail[text.len()..];
    }
    strings
}

/// The counts of an answer such as `isc_info_insert_count`: pairs of a table's id and a number of 4 bytes, or of 8 if
/// it is above 2³¹ − 1. Nothing marks the length, but ids ascend and 4-byte numbers are positive, which leaves only one
/// reading. `None` if the value is not such a list.
pub fn table_counts(value: &[u8]) -> Option<Vec<(u16, u64)>> {
    let mut counts: Vec<(u16, u64)> = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        let (id, tail) = rest.split_first_chunk::<2>()?;
        let id = u16::from_le_bytes(*id);
        if counts.last().is_some_and(|(last, _)| *last >= id) {
            return None;
        }
        let (short, behind) = tail.split_first_chunk::<4>()?;
        let short = i32::from_le_bytes(*short);
        let goes_on =
            behind.is_empty() || behind.first_chunk().is_some_and(|next| u16::from_le_bytes(*next) > id);
        let (count, behind) = match u64::try_from(short) {
            Ok(count) if count > 0 && goes_on => (count, behind),
            _ => {
                let (long, behind) = tail.split_first_chunk::<8>()?;
                (u64::from_le_bytes(*long), behind)
            }
        };
        counts.push((id, count));
        rest = behind;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(pairs: &[(u16, u64)]) -> Vec<u8> {
        let mut value = Vec::new();
        for (id, count) in pairs {
            value.extend(id.to_le_bytes());
            let length = if *count > i32::MAX as u64 { 8 } else { 4 };
            value.extend(&count.to_le_bytes()[..length]);
        }
        value
    }

    #[test]
    fn counts_have_four_or_eight_bytes() {
        for list in [
            &[][..],
            &[(0, 1), (1, 7), (128, 2_147_483_647)],
            &[(128, 2_147_483_648)],
            &[(5, 3), (128, 3_000_000_000), (129, 9), (130, 5_000_000_000), (131, 1)],
            &[(128, 1 << 32), (129, (1 << 32) + 7), (300, 1 << 40)],
            &[(128, 8_589_934_592), (65535, u64::MAX >> 1)],
        ] {
            assert_eq!(table_counts(&pairs(list)).as_deref(), Some(list));
        }
        for value in [&[1][..], &[1, 0, 1], &[1, 0, 0, 0, 0, 0], &[2, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0]] {
            assert_eq!(table_counts(value), None, "{value:?}");
        }
    }

    #[test]
    fn stops_at_the_end_marker_and_ignores_the_tail() {
        let mut reader = InfoReader::new(&[14, 2, 0, 0, 32, END, 9, 9, 9]);
        assert_eq!(reader.next().and_then(|item| item.integer()), Some(8192));
        assert_eq!(reader.next(), None);
        assert_eq!(reader.end(), Some(End::Complete));
    }

    #[test]
    fn distinguishes_truncated_from_malformed() {
        let mut reader = InfoReader::new(&[TRUNCATED, 0, 0]);
        assert_eq!((reader.next(), reader.end()), (None, Some(End::Truncated)));
        let mut reader = InfoReader::new(&[14, 200, 0, 1]);
        assert_eq!((reader.next(), reader.end()), (None, Some(End::Malformed)));
    }

    #[test]
    fn integers_are_sign_extended() {
        assert_eq!(integer(&[0xfe]), Some(-2));
        assert_eq!(integer(&[0xfe, 0]), Some(254));
        assert_eq!(integer(&[]), Some(0));
        assert_eq!(integer(&[0; 9]), None);
    }
}
