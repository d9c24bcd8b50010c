//! Several connections that work on parts.

use super::joined;
use super::part::{Layout, PartWriter};
use super::plan::Plan;
use crate::failure::{Failure, Result};
use crate::folder::manifest::Part;
use crate::interrupt;
use crate::open::open;
use arrow::array::RecordBatch;
use firearrow::config::Config;
use firearrow::{BatchLimits, Connection, Cursor};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// Does work on each part, in several threads with a connection each. After a failure no more parts are begun.
pub(super) fn on_each<F>(config: &Config, threads: usize, parts: &[usize], work: F) -> Result<()>
where
    F: Fn(&Connection, usize, &AtomicBool) -> Result<()> + Sync,
{
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let all = || -> Result<()> {
        let connection = open(config)?;
        while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            interrupt::check()?;
            if failed.load(Ordering::Relaxed) {
                break;
            }
            work(&connection, *part, &failed)?;
        }
        Ok(())
    };
    let noted = || all().inspect_err(|_| failed.store(true, Ordering::Relaxed));
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.min(parts.len())).map(|_| scope.spawn(noted)).collect();
        let ended = threads.into_iter().map(joined);
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Reads a part and writes it, in a thread each, so that neither waits for the other. `None` if another part has failed.
pub(super) fn copy_part(
    connection: &Connection,
    plan: &Plan,
    layout: &Layout,
    part: usize,
    limits: BatchLimits,
    (progress, failed): (&(dyn Fn(u64) + Sync), &AtomicBool),
) -> Result<Option<Part>> {
    let partition = plan.parts().get(part).ok_or_else(|| Failure::other("a part is missing"))?;
    let cursor = connection.read_partition(partition, limits)?;
    if cursor.schema() != plan.schema {
        return Err(Failure::other("the table was altered while it was copied: its columns are others now"));
    }
    let mut writer = PartWriter::new(layout, part)?;
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(BATCHES_WAITING);
        let reader = scope.spawn(move || read(cursor, &sender, failed));
        let mut rows = 0;
        let write = || -> Result<()> {
            for batch in receiver {
                interrupt::check()?;
                writer.write(&batch)?;
                rows += batch.num_rows() as u64;
                progress(batch.num_rows() as u64);
            }
            Ok(())
        };
        let written = write();
        // The reading error comes first: its rows are those that were not written.
        let is_whole = joined(reader)?;
        written?;
        if !is_whole {
            return Ok(None);
        }
        Ok(Some(Part { part, rows, files: writer.finish()? }))
    })
}

/// Returns whether it has come to the end.
fn read(mut cursor: Cursor, sender: &SyncSender<RecordBatch>, failed: &AtomicBool) -> Result<bool> {
    while let Some(batch) = cursor.next_batch()? {
        interrupt::check()?;
        // The receiver is gone only after its own failure.
        if failed.load(Ordering::Relaxed) || sender.send(batch).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}

const BATCHES_WAITING: usize = 1;
