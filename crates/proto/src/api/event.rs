//! Event blocks: names of events and how often each was posted. Both directions use the same format.
//!
//! ```text
//!  1 | length, name, count (4 bytes, little-endian) | length, name, count | …
//! ```
//!
//! An engine counts the postings of each event that anyone waits for. It answers a block as soon as one of its counts
//! has reached the requested one. The answer has all counts, each one higher than the engine's own. So the engine
//! answers a block of zeros at once, an answer serves as the next request, and the difference between two answers is
//! the number of postings between them.

/// Longest name, in bytes.
pub const MAX_NAME: usize = 255;
/// Longest block, in bytes: engines store the length in 16 bits.
pub const MAX_BLOCK: usize = 65535;

/// The first byte of a block.
const VERSION: u8 = 1;
/// Bytes of an event besides its name.
const OVERHEAD: usize = 1 + 4;

/// The length in bytes of a block with these event names.
pub fn block_length<'a>(names: impl IntoIterator<Item = &'a str>) -> usize {
    1 + names.into_iter().map(|name| OVERHEAD + name.len()).sum::<usize>()
}

/// Builds a block. Names longer than [`MAX_NAME`] are cut off.
pub fn event_block<'a>(events: impl IntoIterator<Item = (&'a str, u32)>) -> Vec<u8> {
    let mut block = vec![VERSION];
    for (name, count) in events {
        let name = &name.as_bytes()[..name.len().min(MAX_NAME)];
        block.push(name.len() as u8);
        block.extend_from_slice(name);
        block.extend_from_slice(&count.to_le_bytes());
    }
    block
}

/// Returns the events of a block in order, or `None` if the block is invalid.
pub fn events(block: &[u8]) -> Option<Vec<(&[u8], u32)>> {
    let (&VERSION, mut rest) = block.split_first()? else { return None };
    let mut events = Vec::new();
    while let Some((&length, tail)) = rest.split_first() {
        let (name, tail) = tail.split_at_checked(length.into())?;
        let (count, tail) = tail.split_first_chunk()?;
        events.push((name, u32::from_le_bytes(*count)));
        rest = tail;
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_as_they_were_built() {
        let longest = "x".repeat(MAX_NAME);
        let given = [("a", 0), ("new order", 0x0403_0201), ("ä", u32::MAX), (&longest, 7)];
        let block = event_block(given);
        assert_eq!(block[..7], [1, 1, b'a', 0, 0, 0, 0]);
        assert_eq!(block[7..21], *b"\x09new order\x01\x02\x03\x04");
        assert_eq!(block.len(), block_length(given.map(|(name, _)| name)));
        let read = events(&block).expect("a block");
        assert!(read.into_iter().eq(given.map(|(name, count)| (name.as_bytes(), count))));
        assert_eq!(events(&[1]), Some(Vec::new()));
    }

    #[test]
    fn invalid_blocks_are_refused() {
        let block = event_block([("first", 1), ("second", 2)]);
        let borders = [1, 11, block.len()];
        for cut in 0..=block.len() {
            assert_eq!(events(&block[..cut]).is_some(), borders.contains(&cut), "cut at {cut}");
        }
        assert_eq!(events(&[2, 1, b'a', 0, 0, 0, 0]), None);
        assert_eq!(events(&[1, 255, b'a', 0, 0, 0, 0]), None);
    }
}
