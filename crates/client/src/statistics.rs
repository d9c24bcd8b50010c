//! Numbers that an engine keeps: how large a database is, how old its transactions are, what was read and written. They
//! come as information items, in one round trip, and need neither SQL nor the monitoring tables.

use crate::backend::Backend;
use crate::error::{Error, Kind, Result};
use crate::session::Session;
use crate::session::info::is_truncated;
use firearrow_proto::api::info::{InfoReader, database as item, integer, table_counts};
use std::collections::BTreeMap;

/// The state of a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DatabaseStatistics {
    /// On-disk structure, such as `13.1`.
    pub ods: String,
    /// Bytes per page.
    pub page_size: u32,
    /// Pages of the files.
    pub pages: u64,
    /// Pages that hold something; unknown to some releases.
    pub pages_used: Option<u64>,
    /// Pages that can be used again.
    pub pages_free: Option<u64>,
    /// Pages that the server keeps in memory.
    pub page_buffers: u64,
    /// Distance between the oldest and the next transaction that makes the engine sweep; 0 = never.
    pub sweep_interval: u64,
    /// Whether writes wait for the disk.
    pub forced_writes: bool,
    /// The oldest transaction that is not committed (OIT): active, rolled back or in limbo.
    pub oldest_interesting: u64,
    /// The oldest active transaction (OAT).
    pub oldest_active: u64,
    /// What was the oldest active transaction when the oldest active one began (OST): record versions behind it are kept.
    pub oldest_snapshot: u64,
    /// The number of the transaction that began last, or the one after it, as the release counts.
    pub next_transaction: u64,
    /// Bytes of memory that the server uses, and the most that it has used.
    pub memory: u64,
    /// See [`memory`](Self::memory).
    pub max_memory: u64,
}

/// What an engine has done so far; [`since`](Self::since) gives what it did in between.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Pages read from disk. This and the next three are of the whole database, everybody's work, since the engine opened
    /// it.
    pub page_reads: u64,
    /// Pages written to disk.
    pub page_writes: u64,
    /// Pages looked at in the cache.
    pub page_fetches: u64,
    /// Pages changed in the cache.
    pub page_marks: u64,
    /// What this connection did to the rows of each table, by `RDB$RELATION_ID` of `RDB$RELATIONS`. Tables without work are
    /// left out.
    pub tables: BTreeMap<u16, TableCounters>,
}

/// What a connection did to the rows of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableCounters {
    /// Rows read in the order of storage.
    pub sequential_reads: u64,
    /// Rows read by means of an index.
    pub indexed_reads: u64,
    /// Rows inserted.
    pub inserts: u64,
    /// Rows updated.
    pub updates: u64,
    /// Rows deleted.
    pub deletes: u64,
    /// Row versions undone.
    pub backouts: u64,
    /// Old row versions removed, of rows that are still there.
    pub purges: u64,
    /// Deleted rows removed for good.
    pub expunges: u64,
}

/// What is asked for the state of the database. Counting its pages makes the server write its cache to the disk.
const STATE: [u8; 15] = [
    item::ODS_VERSION,
    item::ODS_MINOR_VERSION,
    item::PAGE_SIZE,
    item::ALLOCATION,
    item::PAGES_USED,
    item::PAGES_FREE,
    item::NUM_BUFFERS,
    item::SWEEP_INTERVAL,
    item::FORCED_WRITES,
    item::OLDEST_TRANSACTION,
    item::OLDEST_ACTIVE,
    item::OLDEST_SNAPSHOT,
    item::NEXT_TRANSACTION,
    item::CURRENT_MEMORY,
    item::MAX_MEMORY,
];

/// What is asked for its counters.
const WORK: [u8; 12] = [
    item::READS,
    item::WRITES,
    item::FETCHES,
    item::MARKS,
    item::READ_SEQ_COUNT,
    item::READ_IDX_COUNT,
    item::INSERT_COUNT,
    item::UPDATE_COUNT,
    item::DELETE_COUNT,
    item::BACKOUT_COUNT,
    item::PURGE_COUNT,
    item::EXPUNGE_COUNT,
];

impl<B: Backend> Session<B> {
    /// The state of the database, in one round trip. Counting pages makes the server write its cache to the disk.
    pub(crate) async fn statistics(&mut self) -> Result<DatabaseStatistics> {
        let answers = Answers::ask(self, &STATE).await?;
        Ok(DatabaseStatistics {
            ods: format!(
                "{}.{}",
                answers.number(item::ODS_VERSION)?,
                answers.number(item::ODS_MINOR_VERSION)?
            ),
            page_size: answers.number(item::PAGE_SIZE)? as u32,
            pages: answers.number(item::ALLOCATION)?,
            pages_used: answers.number(item::PAGES_USED).ok(),
            pages_free: answers.number(item::PAGES_FREE).ok(),
            page_buffers: answers.number(item::NUM_BUFFERS)?,
            sweep_interval: answers.number(item::SWEEP_INTERVAL)?,
            forced_writes: answers.number(item::FORCED_WRITES)? != 0,
            oldest_interesting: answers.number(item::OLDEST_TRANSACTION)?,
            oldest_active: answers.number(item::OLDEST_ACTIVE)?,
            oldest_snapshot: answers.number(item::OLDEST_SNAPSHOT)?,
            next_transaction: answers.number(item::NEXT_TRANSACTION)?,
            memory: answers.number(item::CURRENT_MEMORY)?,
            max_memory: answers.number(item::MAX_MEMORY)?,
        })
    }

    /// What the engine has done so far, in one round trip; more only when this connection has worked on more than a
    /// thousand tables.
    pub(crate) async fn counters(&mut self) -> Result<Counters> {
        let answers = Answers::ask(self, &WORK).await?;
        let mut counters = Counters {
            page_reads: answers.number(item::READS)?,
            page_writes: answers.number(item::WRITES)?,
            page_fetches: answers.number(item::FETCHES)?,
            page_marks: answers.number(item::MARKS)?,
            tables: BTreeMap::new(),
        };
        for (code, counter) in TableCounters::ITEMS {
            for (table, count) in answers.counts(code)? {
                *counter(counters.tables.entry(table).or_default()) = count;
            }
        }
        Ok(counters)
    }
}

impl Counters {
    /// What was done between `earlier` and now. Nothing is negative: after the engine has opened the database anew, what it
    /// did since then counts.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let tables = self.tables.iter().filter_map(|(table, counters)| {
            let work = counters.since(&earlier.tables.get(table).copied().unwrap_or_default());
            (work != TableCounters::default()).then_some((*table, work))
        });
        Self {
            page_reads: between(earlier.page_reads, self.page_reads),
            page_writes: between(earlier.page_writes, self.page_writes),
            page_fetches: between(earlier.page_fetches, self.page_fetches),
            page_marks: between(earlier.page_marks, self.page_marks),
            tables: tables.collect(),
        }
    }

    /// The sum over all tables, those of the system included.
    pub fn total(&self) -> TableCounters {
        let mut total = TableCounters::default();
        for mut table in self.tables.values().copied() {
            for (_, counter) in TableCounters::ITEMS {
                *counter(&mut total) += *counter(&mut table);
            }
        }
        total
    }
}

impl TableCounters {
    /// Each item and where its counts go.
    const ITEMS: [(u8, Counter); 8] = [
        (item::READ_SEQ_COUNT, |counters| &mut counters.sequential_reads),
        (item::READ_IDX_COUNT, |counters| &mut counters.indexed_reads),
        (item::INSERT_COUNT, |counters| &mut counters.inserts),
        (item::UPDATE_COUNT, |counters| &mut counters.updates),
        (item::DELETE_COUNT, |counters| &mut counters.deletes),
        (item::BACKOUT_COUNT, |counters| &mut counters.backouts),
        (item::PURGE_COUNT, |counters| &mut counters.purges),
        (item::EXPUNGE_COUNT, |counters| &mut counters.expunges),
    ];

    /// As [`Counters::since`].
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        let mut earlier = *earlier;
        for (_, counter) in Self::ITEMS {
            let now = counter(&mut self);
            *now = between(*counter(&mut earlier), *now);
        }
        self
    }
}

/// One of the counts.
type Counter = fn(&mut TableCounters) -> &mut u64;

/// A count that has become smaller began anew.
fn between(earlier: u64, now: u64) -> u64 {
    now.checked_sub(earlier).unwrap_or(now)
}

/// The answers to a set of items. What the engine does not know is an `isc_info_error` in place of the item, so that it is
/// missing here.
struct Answers(Vec<Vec<u8>>);

impl Answers {
    async fn ask<B: Backend>(session: &mut Session<B>, items: &[u8]) -> Result<Self> {
        let answers = session.database_items(items).await?;
        if answers.iter().any(|data| is_truncated(data)) {
            return Err(Error::new(Kind::Unsupported, "the answer to a single item is longer than 64 KB"));
        }
        Ok(Self(answers))
    }

    fn value(&self, code: u8) -> Option<&[u8]> {
        let mut items = self.0.iter().flat_map(|data| InfoReader::new(data));
        items.find(|item| item.code == code).map(|item| item.value)
    }

    fn number(&self, code: u8) -> Result<u64> {
        let value = self.value(code).and_then(integer);
        let missing = || Error::new(Kind::Unsupported, format!("the engine does not answer item {code}"));
        value.map(|value| value as u64).ok_or_else(missing)
    }

    fn counts(&self, code: u8) -> Result<Vec<(u16, u64)>> {
        let value = self.value(code).unwrap_or_default();
        let invalid =
            || Error::new(Kind::Protocol, format!("the answer to item {code} is not a list of counts"));
        table_counts(value).ok_or_else(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(fetches: u64, tables: &[(u16, u64, u64)]) -> Counters {
        let tables = tables.iter().map(|(table, inserts, deletes)| {
            (*table, TableCounters { inserts: *inserts, deletes: *deletes, ..TableCounters::default() })
        });
        Counters { page_fetches: fetches, tables: tables.collect(), ..Counters::default() }
    }

    #[test]
    fn differences_are_what_was_done_in_between() {
        let earlier = counters(100, &[(128, 5, 0), (129, 7, 7)]);
        let later = counters(150, &[(128, 8, 1), (129, 7, 7), (130, 2, 0)]);
        assert_eq!(later.since(&earlier), counters(50, &[(128, 3, 1), (130, 2, 0)]));
        assert_eq!(later.since(&later), Counters::default());
        // The engine has closed the database and opened it again.
        assert_eq!(counters(3, &[]).since(&earlier), counters(3, &[]));
    }

    #[test]
    fn totals_are_those_of_all_tables() {
        let total = counters(1, &[(1, 5, 2), (128, 8, 1)]).total();
        assert_eq!((total.inserts, total.deletes, total.updates), (13, 3, 0));
    }
}
