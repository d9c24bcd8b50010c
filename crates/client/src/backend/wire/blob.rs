//! BLOBs: pipelines read and write many at a time; long ones have several segments in flight.
//!
//! Reading one BLOB takes three requests (open, get, close). The latter two name the BLOB as "the object created last",
//! so none of them has to wait. The server runs requests in order, so the chains of many BLOBs go out in one write
//! (wire-protocol notes: docs/protocol/pipelines.md).

use super::transaction::Handle;
use super::{Wire, success};
use crate::backend::link::Link;
use crate::backend::{Blobs, Take, TransactionId, Wanted};
use crate::error::{Error, Result};
use firearrow_proto::api::pb::STREAM_BPB;
use firearrow_proto::wire::packet::LAST_OBJECT;
use firearrow_proto::wire::packet::blob::{
    CloseBlob, CreateBlob, GetSegment, OpenBlob, PutSegment, STATE_END, append_segments,
};
use firearrow_proto::wire::{ProtocolError, Ticket};
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::time::Instant;

/// Bytes per `op_put_segment`; servers decode a packet again from the start whenever another 8 KB arrive.
pub(super) const PUT_SIZE: usize = 32 << 10;
/// Bytes of contents in flight.
pub(super) const PUT_AHEAD: usize = 512 << 10;
/// Segments of a long BLOB to request ahead; each brings up to 64 KB.
const SEGMENTS_AHEAD: usize = 4;

/// The requests for one BLOB.
struct Chain {
    index: usize,
    wanted: Wanted,
    open: Ticket,
    get: Ticket,
    close: Ticket,
}

impl<L: Link> Blobs for Wire<L> {
    /// Reads BLOBs and passes them to `take` in order until it has enough; text arrives in the connection character
    /// set. BLOBs already requested by then are still passed.
    async fn read_blobs(
        &mut self,
        transaction: TransactionId,
        blobs: &[Wanted],
        take: &mut Take<'_>,
    ) -> Result<()> {
        let ids_since = self.transactions.ids_since(transaction);
        let Handle(transaction) = self.transaction(transaction).await?;
        self.guard_open_blobs()?;
        let mut chains = VecDeque::new();
        let result = self.read_chains(transaction, ids_since, blobs, &mut chains, take).await;
        for Chain { open, get, close, .. } in chains {
            for ticket in [open, get, close] {
                self.router.ignore(ticket);
            }
        }
        result
    }

    /// Creates stream BLOBs; returns their ids, which are valid in this transaction until a row takes them.
    async fn write_blobs(&mut self, transaction: TransactionId, blobs: &[&[u8]]) -> Result<Vec<u64>> {
        let Handle(transaction) = self.transaction(transaction).await?;
        self.guard_open_blobs()?;
        let mut ids = Vec::with_capacity(blobs.len());
        let mut puts = VecDeque::new();
        let mut result = self.put_all(transaction, blobs, &mut puts, &mut ids).await;
        for put in puts {
            match result {
                Ok(()) => result = self.settle_put(put, &mut ids).await.map(|_| ()),
                Err(_) => self.router.ignore(put.ticket),
            }
        }
        result.map(|()| ids)
    }
}

impl<L: Link> Wire<L> {
    async fn read_chains(
        &mut self,
        transaction: u16,
        ids_since: Option<Ticket>,
        blobs: &[Wanted],
        chains: &mut VecDeque<Chain>,
        take: &mut Take<'_>,
    ) -> Result<()> {
        let mut next = 0;
        let mut go_on = true;
        let mut window = 0;
        let mut contents = Vec::new();
        loop {
            // BLOBs sent ahead are here already. To keep the order, use them only when no chain is in flight.
            while go_on
                && chains.is_empty()
                && let Some(wanted) = blobs.get(next)
            {
                let Some(blob) = self.cursors.inline.take(transaction, wanted, ids_since) else { break };
                if self.is_taken(wanted, blob.len())? {
                    go_on = take(next, &blob)?;
                }
                next += 1;
            }
            // Requests go out half a window at a time, so that they share writes.
            if go_on && chains.len() <= window / 2 {
                window = self.blob_window.size(&self.remembered.estimate);
                while chains.len() < window
                    && let Some(wanted) = blobs.get(next)
                {
                    chains.push_back(self.ask_for_blob(transaction, *wanted, next)?);
                    next += 1;
                }
            }
            let Some(chain) = chains.pop_front() else { return Ok(()) };
            self.check_interruption()?;
            let Chain { index, wanted, .. } = chain;
            contents.clear();
            if self.read_chain(chain, &mut contents).await? {
                self.blob_window.seen(contents.len());
                if self.is_taken(&wanted, contents.len())? {
                    go_on &= take(index, &contents)?;
                }
                continue;
            }
            if wanted.may_be_left_out {
                self.blob_window.seen_too_long();
                continue;
            }
            // The BLOB is too long for one answer, and closed already. The later chains are read first.
            self.blob_window.seen_too_long();
            let mut later = Vec::with_capacity(chains.len());
            while let Some(chain) = chains.pop_front() {
                let (index, wanted, mut contents) = (chain.index, chain.wanted, Vec::new());
                let is_whole = self.read_chain(chain, &mut contents).await?;
                later.push((index, wanted, is_whole.then_some(contents)));
            }
            for (index, wanted, held) in std::iter::once((index, wanted, None)).chain(later) {
                let held = match held {
                    Some(held) => held,
                    // The caller has enough; do not read a long BLOB again.
                    None if !go_on => return Ok(()),
                    None => {
                        contents.clear();
                        self.read_long_blob(transaction, wanted, &mut contents).await?;
                        std::mem::take(&mut contents)
                    }
                };
                self.check_length(&wanted, held.len())?;
                go_on &= take(index, &held)?;
            }
        }
    }

    fn ask_for_blob(&mut self, transaction: u16, wanted: Wanted, index: usize) -> Result<Chain> {
        Ok(Chain {
            index,
            wanted,
            open: self.ask(&OpenBlob { transaction, id: wanted.id, bpb: &[] })?,
            get: self.ask(&GetSegment { blob: LAST_OBJECT })?,
            close: self.ask(&CloseBlob { blob: LAST_OBJECT })?,
        })
    }

    /// Takes the three answers; `false` when the BLOB is longer than the contents received.
    async fn read_chain(&mut self, chain: Chain, out: &mut Vec<u8>) -> Result<bool> {
        let open = self.answer(chain.open).await?;
        let got = self.answer(chain.get).await?;
        self.answer(chain.close).await?;
        // When the first request fails, the others had no object.
        success(open)?;
        let got = success(got)?;
        append_segments(&got.data, out)?;
        Ok(got.object == STATE_END)
    }

    /// Whether a BLOB of this length is not left out.
    fn is_taken(&mut self, wanted: &Wanted, length: usize) -> Result<bool> {
        if wanted.may_be_left_out {
            return Ok(!wanted.is_exceeded_by(length));
        }
        self.check_length(wanted, length)?;
        Ok(true)
    }

    /// Checks the length of a BLOB or array. A server that sends more of an array than its type allows cannot be
    /// trusted any further.
    fn check_length(&mut self, wanted: &Wanted, length: usize) -> Result<()> {
        if !wanted.is_exceeded_by(length) {
            return Ok(());
        }
        let error: Error = wanted.too_long();
        if wanted.is_declared {
            self.connection.fail(ProtocolError::InvalidMessage(error.to_string()));
        }
        Err(error)
    }

    /// Appends the contents of a BLOB of any permitted length.
    async fn read_long_blob(&mut self, transaction: u16, wanted: Wanted, out: &mut Vec<u8>) -> Result<()> {
        let open = self.ask(&OpenBlob { transaction, id: wanted.id, bpb: &[] })?;
        let mut gets = VecDeque::new();
        for _ in 0..SEGMENTS_AHEAD {
            gets.push_back(self.ask(&GetSegment { blob: LAST_OBJECT })?);
        }
        let result = match self.success(open).await {
            Ok(opened) => {
                let read = self.read_segments(opened.object, &wanted, &mut gets, out).await;
                if self.connection.failure().is_none() {
                    self.tell(&CloseBlob { blob: opened.object })?;
                }
                read
            }
            Err(error) => Err(error),
        };
        for ticket in gets {
            self.router.ignore(ticket);
        }
        result
    }

    async fn read_segments(
        &mut self,
        blob: u16,
        wanted: &Wanted,
        gets: &mut VecDeque<Ticket>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut empty_since = None;
        while let Some(ticket) = gets.pop_front() {
            let got = self.success(ticket).await?;
            let length = out.len();
            append_segments(&got.data, out)?;
            self.check_length(wanted, out.len())?;
            if got.object == STATE_END {
                break;
            }
            self.check_contents(out.len() > length, &mut empty_since)?;
            gets.push_back(self.ask(&GetSegment { blob })?);
        }
        Ok(())
    }

    /// Checks limits between two segments. Answers without contents do not restart the time limit.
    pub(super) fn check_contents(
        &mut self,
        have_come: bool,
        empty_since: &mut Option<Instant>,
    ) -> Result<()> {
        let now = Instant::now();
        let since = *empty_since.get_or_insert(now);
        if have_come {
            *empty_since = None;
        } else if self.patience.is_too_long(since, now) {
            return Err(self.link_failed(ErrorKind::TimedOut.into()));
        }
        self.check_interruption()
    }

    /// Sends all contents, with a bounded number of bytes in flight.
    async fn put_all(
        &mut self,
        transaction: u16,
        blobs: &[&[u8]],
        puts: &mut VecDeque<Put>,
        ids: &mut Vec<u64>,
    ) -> Result<()> {
        let mut ahead = 0;
        for blob in blobs {
            let ticket = self.ask(&CreateBlob { transaction, bpb: &STREAM_BPB })?;
            puts.push_back(Put { ticket, length: PUT_COST, is_create: true });
            ahead += PUT_COST;
            for bytes in blob.chunks(PUT_SIZE) {
                self.check_interruption()?;
                while ahead > PUT_AHEAD
                    && let Some(put) = puts.pop_front()
                {
                    ahead -= self.settle_put(put, ids).await?;
                }
                let ticket = self.ask(&PutSegment { blob: LAST_OBJECT, bytes })?;
                puts.push_back(Put { ticket, length: bytes.len(), is_create: false });
                ahead += bytes.len();
            }
            let ticket = self.ask(&CloseBlob { blob: LAST_OBJECT })?;
            puts.push_back(Put { ticket, length: 0, is_create: false });
        }
        Ok(())
    }

    /// Takes the answer to one request and returns the size charged for it.
    async fn settle_put(&mut self, put: Put, ids: &mut Vec<u64>) -> Result<usize> {
        let response = self.success(put.ticket).await?;
        if put.is_create {
            ids.push(response.blob_id);
        }
        Ok(put.length)
    }
}

/// A request of creating BLOBs: create, put or close.
struct Put {
    ticket: Ticket,
    length: usize,
    is_create: bool,
}

/// The size in bytes charged for a create or close request.
const PUT_COST: usize = 128;
