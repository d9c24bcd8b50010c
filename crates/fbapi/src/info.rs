//! Information calls, which fill a buffer of a given size.

use crate::Error;
use firearrow_proto::api::info::{End, InfoReader};

/// Smallest buffer worth a call.
const FIRST: usize = 32;
/// No answer is longer than this; older engines store the length of some answers in 16 bits.
const LIMIT: usize = 1 << 20;

/// Repeats a call with growing buffers until the answer fits.
pub(crate) fn answer(
    size: usize,
    mut call: impl FnMut(*mut u8, u32) -> Result<(), Error>,
) -> Result<Vec<u8>, Error> {
    let mut size = size.clamp(FIRST, LIMIT);
    loop {
        let mut buffer = vec![0; size];
        call(buffer.as_mut_ptr(), size as u32)?;
        let mut reader = InfoReader::new(&buffer);
        reader.by_ref().for_each(drop);
        if reader.end() != Some(End::Truncated) || size == LIMIT {
            return Ok(buffer);
        }
        size = (size * 4).min(LIMIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_answer_is_requested_again() {
        let mut sizes = Vec::new();
        let result = answer(10, |buffer, size| {
            sizes.push(size);
            let bytes: &[u8] = if size < 1000 { &[2] } else { &[14, 1, 0, 7, 1] };
            // SAFETY: the buffer has at least 32 bytes.
            unsafe { buffer.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
            Ok(())
        });
        assert_eq!(sizes, [32, 128, 512, 2048]);
        assert_eq!(result.unwrap()[..5], [14, 1, 0, 7, 1]);
    }

    #[test]
    fn growing_has_an_end() {
        let mut calls = 0;
        let result = answer(1, |buffer, _| {
            calls += 1;
            // SAFETY: the buffer has at least 32 bytes.
            unsafe { *buffer = 2 };
            Ok(())
        });
        assert_eq!(result.unwrap().len(), LIMIT);
        assert!(calls < 12);
    }
}
