//! BLOBs that arrived ahead of their rows (protocol 19), kept until they are read.

use super::transaction::Handle;
use firearrow_proto::wire::packet::blob::{InlineBlob, append_segments};
use std::collections::HashMap;

/// Contents by transaction and id. Contents without room are dropped and read like any other BLOB.
#[derive(Debug)]
pub(super) struct InlineBlobs {
    contents: HashMap<(u16, u64), Vec<u8>>,
    bytes: usize,
    /// Longest BLOB that servers should send ahead.
    longest: u32,
    /// Maximum number of bytes kept.
    limit: usize,
    /// Whether BLOBs should come with their rows in the next execution.
    pub(super) is_wanted: bool,
}

impl Default for InlineBlobs {
    fn default() -> Self {
        Self { contents: HashMap::new(), bytes: 0, longest: LONGEST, limit: LIMIT, is_wanted: true }
    }
}

/// The server's limit for inline BLOBs.
const LONGEST: u32 = 65535;
/// libfbclient's default.
const LIMIT: usize = 10 << 20;
/// Overhead per entry, so that short and empty BLOBs count, too.
const ENTRY: usize = 128;

impl InlineBlobs {
    pub(super) fn configure(&mut self, longest: Option<u32>, limit: Option<u32>) {
        self.longest = longest.unwrap_or(LONGEST).min(LONGEST);
        self.limit = limit.map_or(LIMIT, |limit| limit as usize);
    }

    /// Returns the longest BLOB to request when a statement with BLOB columns is executed; 0 = none.
    pub(super) fn take_longest(&mut self) -> u32 {
        let is_wanted = std::mem::replace(&mut self.is_wanted, true);
        if self.limit == 0 || !is_wanted { 0 } else { self.longest }
    }

    /// Keeps the contents. Ids of temporary BLOBs are reused within a transaction, so the newest contents win.
    pub(super) fn keep(&mut self, blob: &InlineBlob<'_>) {
        self.remove((blob.transaction, blob.id));
        if self.bytes + ENTRY + blob.segments.len() > self.limit {
            return;
        }
        let mut contents = Vec::with_capacity(blob.segments.len());
        if append_segments(blob.segments, &mut contents).is_ok() {
            self.bytes += ENTRY + contents.len();
            self.contents.insert((blob.transaction, blob.id), contents);
        }
    }

    pub(super) fn take(&mut self, transaction: u16, id: u64) -> Option<Vec<u8>> {
        self.remove((transaction, id))
    }

    /// Drops the contents of a transaction: its ids end with it, and some of them when it is retained.
    pub(super) fn forget(&mut self, Handle(transaction): Handle) {
        self.contents.retain(|key, _| key.0 != transaction);
        self.bytes = self.contents.values().map(|contents| ENTRY + contents.len()).sum();
    }

    /// Whether rows should wait until their BLOBs have been read.
    pub(super) fn is_half_full(&self) -> bool {
        self.bytes > self.limit / 2
    }

    fn remove(&mut self, key: (u16, u64)) -> Option<Vec<u8>> {
        let contents = self.contents.remove(&key);
        self.bytes -= contents.as_ref().map_or(0, |contents| ENTRY + contents.len());
        contents
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(id: u64, segments: &[u8]) -> InlineBlob<'_> {
        InlineBlob { transaction: 1, id, info: &[], segments }
    }

    #[test]
    fn the_newest_contents_count_and_are_taken_once() {
        let mut blobs = InlineBlobs::default();
        blobs.keep(&blob(7, &[1, 0, b'a']));
        blobs.keep(&blob(7, &[1, 0, b'b', 1, 0, b'c']));
        assert_eq!(blobs.take(1, 7).as_deref(), Some(&b"bc"[..]));
        assert_eq!((blobs.take(1, 7), blobs.bytes), (None, 0));
    }

    #[test]
    fn room_is_bounded_and_given_back_with_the_transaction() {
        let mut blobs = InlineBlobs::default();
        blobs.configure(None, Some(ENTRY as u32 + 4));
        blobs.keep(&blob(1, &[1, 0, b'a']));
        assert_eq!(blobs.bytes, ENTRY + 1);
        blobs.keep(&blob(2, &[2, 0, b'b', b'b']));
        assert_eq!(blobs.take(1, 2), None);
        blobs.forget(Handle(1));
        assert_eq!((blobs.take(1, 1), blobs.bytes), (None, 0));
        blobs.keep(&blob(3, &[9, 0, b'c']));
        assert_eq!(blobs.take(1, 3), None, "a segment that is too short");
        blobs.configure(None, Some(0));
        assert_eq!(blobs.take_longest(), 0);
    }

    #[test]
    fn empty_ones_count_as_well() {
        let mut blobs = InlineBlobs::default();
        blobs.configure(None, Some(100 * ENTRY as u32));
        for id in 1..10_000 {
            blobs.keep(&blob(id, &[]));
        }
        assert_eq!((blobs.contents.len(), blobs.bytes), (100, 100 * ENTRY));
        assert!(blobs.is_half_full());
        assert_eq!(blobs.take(1, 100).as_deref(), Some(&[][..]));
        assert_eq!(blobs.bytes, 99 * ENTRY);
    }
}
