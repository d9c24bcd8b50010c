//! Memory for messages.

use crate::Error;

/// The alignment that messages may need.
pub(crate) const ALIGNMENT: usize = 8;

/// Memory for one message or an array of them, aligned for every type and initially zero.
#[derive(Clone, Default)]
pub struct MessageBuffer {
    words: Vec<u64>,
    length: usize,
}

impl MessageBuffer {
    /// Creates a buffer of `length` bytes.
    pub fn new(length: usize) -> Self {
        Self { words: vec![0; length.div_ceil(ALIGNMENT)], length }
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Grows to at least `length` bytes; keeps the contents.
    pub fn grow(&mut self, length: usize) {
        if length > self.length {
            self.words.resize(length.div_ceil(ALIGNMENT), 0);
            self.length = length;
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the words hold at least `length` bytes, and any byte is a valid u8.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr().cast(), self.length) }
    }

    /// The bytes, mutable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the words hold at least `length` bytes, any bytes make valid words, and `self` is borrowed.
        unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast(), self.length) }
    }
}

impl std::fmt::Debug for MessageBuffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageBuffer").field("length", &self.length).finish()
    }
}

/// The requirements on a buffer for messages of one format. The engine itself checks nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// End of the last null indicator.
    pub(crate) length: usize,
    /// Largest alignment of a field.
    pub(crate) alignment: usize,
}

impl Shape {
    /// Distance between messages in an array.
    pub(crate) fn stride(self) -> usize {
        self.length.next_multiple_of(self.alignment)
    }

    /// Address of a buffer that can hold one message.
    pub(crate) fn message(self, bytes: &mut [u8]) -> Result<*mut u8, Error> {
        let start = bytes.as_mut_ptr();
        if bytes.len() < self.length || !(start as usize).is_multiple_of(self.alignment) {
            return Err(self.misfit(bytes.len()));
        }
        Ok(start)
    }

    /// Address of an array of messages, and how many it can hold.
    pub(crate) fn array(self, bytes: &mut [u8], stride: usize) -> Result<(*mut u8, usize), Error> {
        if stride < self.length || stride == 0 || !stride.is_multiple_of(self.alignment) {
            return Err(self.misfit(stride));
        }
        let start = self.message(bytes)?;
        Ok((start, (bytes.len() - self.length) / stride + 1))
    }

    /// Address of `count` messages to read, each followed by the gap before the next one, including the last.
    pub(crate) fn messages(self, bytes: &[u8], count: usize) -> Result<*const u8, Error> {
        let start = bytes.as_ptr();
        let needed = self.stride().saturating_mul(count);
        let is_aligned = needed == 0 || (start as usize).is_multiple_of(self.alignment);
        if bytes.len() < needed || !is_aligned {
            return Err(Error::Buffer { needed, given: bytes.len(), alignment: self.alignment });
        }
        Ok(start)
    }

    fn misfit(self, given: usize) -> Error {
        Error::Buffer { needed: self.length, given, alignment: self.alignment }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_keep_their_contents() {
        let mut buffer = MessageBuffer::new(13);
        assert_eq!((buffer.len(), buffer.bytes().as_ptr() as usize % ALIGNMENT), (13, 0));
        buffer.bytes_mut()[12] = 7;
        buffer.grow(100);
        buffer.grow(20);
        assert_eq!((buffer.len(), buffer.bytes()[12], buffer.bytes()[99]), (100, 7, 0));
    }

    #[test]
    fn arrays_are_measured_by_their_last_message() {
        let shape = Shape { length: 18, alignment: 8 };
        let mut buffer = MessageBuffer::new(24 + 18);
        assert_eq!(shape.array(buffer.bytes_mut(), 24).unwrap().1, 2);
        assert!(shape.array(buffer.bytes_mut(), 20).is_err(), "stride not aligned");
        assert!(shape.array(buffer.bytes_mut(), 16).is_err(), "stride too short");
        assert!(shape.array(&mut buffer.bytes_mut()[..17], 24).is_err(), "no room for one");
        assert!(shape.message(&mut buffer.bytes_mut()[1..]).is_err(), "not aligned");
    }

    #[test]
    fn messages_to_read_include_the_last_gap() {
        let shape = Shape { length: 18, alignment: 8 };
        let buffer = MessageBuffer::new(2 * 24);
        assert!(shape.messages(buffer.bytes(), 2).is_ok());
        assert!(shape.messages(&buffer.bytes()[..24 + 18], 2).is_err(), "without the gap");
        assert!(shape.messages(&buffer.bytes()[4..], 1).is_err(), "not aligned");
        assert!(shape.messages(buffer.bytes(), usize::MAX).is_err(), "more than there can be");
        assert!(shape.messages(&[], 0).is_ok());
    }

    #[test]
    fn a_message_without_fields_needs_no_buffer() {
        let shape = Shape { length: 0, alignment: 2 };
        assert!(shape.message(MessageBuffer::default().bytes_mut()).is_ok());
    }
}
