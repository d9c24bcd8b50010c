//! BLOBs that arrived ahead of their rows (protocol 19), kept until they are read.
//!
//! An id can pass to another BLOB: the engine reuses those of BLOBs that the transaction has replaced, and the new one
//! may come without its contents, being too long. So contents are kept with the request that they answer. Rows
//! read at once take what came since their own execution; ids that a caller has kept, what came since the
//! latest execution of all.

use super::{handle, transaction::Handle};
use crate::backend::Wanted;
use firearrow_proto::wire::Ticket;
use firearrow_proto::wire::packet::blob::{InlineBlob, append_segments};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// Contents by transaction and id. Contents without room are dropped and read like any other BLOB.
#[derive(Debug)]
pub(super) struct InlineBlobs<Request = Ticket> {
    contents: HashMap<(u16, u64), (Request, Vec<u8>)>,
    /// The request before the latest execution of each statement whose rows bring BLOBs.
    executions: FxHashMap<u16, Request>,
    bytes: usize,
    /// Longest BLOB that servers should send ahead.
    longest: u32,
    /// Maximum number of bytes kept.
    limit: usize,
    /// Whether BLOBs should come with their rows in the next execution.
    pub(super) is_wanted: bool,
}

impl<Request> Default for InlineBlobs<Request> {
    fn default() -> Self {
        Self {
            contents: HashMap::new(),
            executions: FxHashMap::default(),
            bytes: 0,
            longest: LONGEST,
            limit: LIMIT,
            is_wanted: true,
        }
    }
}

/// The server's limit for inline BLOBs.
const LONGEST: u32 = 65535;
/// libfbclient's default.
const LIMIT: usize = 10 << 20;
/// Overhead per entry, so that short and empty BLOBs count, too.
const ENTRY: usize = 128;

impl<Request: Copy + Ord> InlineBlobs<Request> {
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
    pub(super) fn keep(&mut self, answering: Request, blob: &InlineBlob<'_>) {
        self.remove((blob.transaction, blob.id));
        if self.bytes + ENTRY + blob.segments.len() > self.limit {
            return;
        }
        let mut contents = Vec::with_capacity(blob.segments.len());
        if append_segments(blob.segments, &mut contents).is_ok() {
            self.bytes += ENTRY + contents.len();
            self.contents.insert((blob.transaction, blob.id), (answering, contents));
        }
    }

    /// Notes that a statement is executed after this request, with a length limit for BLOBs that come with its rows.
    pub(super) fn executes(&mut self, statement: u16, latest: Request, limit: u32) {
        match limit {
            0 => self.executions.remove(&statement),
            _ => self.executions.insert(statement, latest),
        };
    }

    pub(super) fn released(&mut self, statement: u16) {
        self.executions.remove(&statement);
    }

    /// Takes the contents of a BLOB if they are still its own.
    pub(super) fn take(
        &mut self,
        transaction: u16,
        wanted: &Wanted,
        ids_since: Option<Request>,
    ) -> Option<Vec<u8>> {
        let since = match wanted.source {
            Some(statement) => self.executions.get(&handle(statement.0)).copied(),
            None => ids_since,
        };
        let key = (transaction, wanted.id);
        let (answering, _) = self.contents.get(&key)?;
        if since.is_some_and(|since| *answering > since) { self.remove(key) } else { None }
    }

    /// Drops the contents of a transaction: its ids end with it, and some of them when it is retained.
    pub(super) fn forget(&mut self, Handle(transaction): Handle) {
        self.contents.retain(|key, _| key.0 != transaction);
        self.bytes = self.contents.values().map(|(_, contents)| ENTRY + contents.len()).sum();
    }

    /// Whether rows should wait until their BLOBs have been read.
    pub(super) fn is_half_full(&self) -> bool {
        self.bytes > self.limit / 2
    }

    fn remove(&mut self, key: (u16, u64)) -> Option<Vec<u8>> {
        let contents = self.contents.remove(&key).map(|(_, contents)| contents);
        self.bytes -= contents.as_ref().map_or(0, |contents| ENTRY + contents.len());
        contents
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::MaxBlob;
    use crate::backend::StatementId;

    fn blob(id: u64, segments: &[u8]) -> InlineBlob<'_> {
        InlineBlob { transaction: 1, id, info: &[], segments }
    }

    /// By an id that a caller has kept, when nothing has been executed since the first request.
    fn take(blobs: &mut InlineBlobs<u32>, id: u64) -> Option<Vec<u8>> {
        blobs.take(1, &Wanted::blob(id, MaxBlob::default()), Some(0))
    }

    #[test]
    fn the_newest_contents_count_and_are_taken_once() {
        let mut blobs = InlineBlobs::default();
        blobs.keep(1, &blob(7, &[1, 0, b'a']));
        blobs.keep(2, &blob(7, &[1, 0, b'b', 1, 0, b'c']));
        assert_eq!(take(&mut blobs, 7).as_deref(), Some(&b"bc"[..]));
        assert_eq!((take(&mut blobs, 7), blobs.bytes), (None, 0));
    }

    #[test]
    fn room_is_bounded_and_given_back_with_the_transaction() {
        let mut blobs = InlineBlobs::default();
        blobs.configure(None, Some(ENTRY as u32 + 4));
        blobs.keep(1, &blob(1, &[1, 0, b'a']));
        assert_eq!(blobs.bytes, ENTRY + 1);
        blobs.keep(1, &blob(2, &[2, 0, b'b', b'b']));
        assert_eq!(take(&mut blobs, 2), None);
        blobs.forget(Handle(1));
        assert_eq!((take(&mut blobs, 1), blobs.bytes), (None, 0));
        blobs.keep(1, &blob(3, &[9, 0, b'c']));
        assert_eq!(take(&mut blobs, 3), None, "a segment that is too short");
        blobs.configure(None, Some(0));
        assert_eq!(blobs.take_longest(), 0);
    }

    #[test]
    fn empty_ones_count_as_well() {
        let mut blobs = InlineBlobs::default();
        blobs.configure(None, Some(100 * ENTRY as u32));
        for id in 1..10_000 {
            blobs.keep(1, &blob(id, &[]));
        }
        assert_eq!((blobs.contents.len(), blobs.bytes), (100, 100 * ENTRY));
        assert!(blobs.is_half_full());
        assert_eq!(take(&mut blobs, 100).as_deref(), Some(&[][..]));
        assert_eq!(blobs.bytes, 99 * ENTRY);
    }

    #[test]
    fn contents_of_earlier_executions_are_not_those_of_later_ones() {
        let mut blobs = InlineBlobs::default();
        let kept = Wanted::blob(7, MaxBlob::default());
        let [first, second] = [3, 4].map(|statement| kept.of(StatementId(statement)));
        blobs.executes(3, 10, 100);
        blobs.keep(12, &blob(7, &[1, 0, b'a']));
        blobs.executes(4, 12, 100);
        assert_eq!(blobs.take(1, &second, None), None, "it came before");
        assert_eq!(blobs.take(1, &kept, Some(12)), None);
        assert_eq!(blobs.take(1, &kept, None), None, "nothing was executed");
        assert_eq!(blobs.take(1, &first, Some(12)).as_deref(), Some(&b"a"[..]));
        blobs.keep(13, &blob(7, &[1, 0, b'a']));
        // Without BLOBs, or as another statement.
        blobs.executes(3, 14, 0);
        blobs.released(4);
        assert_eq!([first, second].map(|wanted| blobs.take(1, &wanted, None)), [None, None]);
        assert!(blobs.take(1, &kept, Some(12)).is_some());
    }
}
