//! Whether a query can be read by several connections, and what they need for it.

use super::why::WhyPlain;
use crate::answer;
use crate::arrow::{BlobPolicy, decoded};
use crate::backend::{Backend, Sql, TransactionId};
use crate::catalog::{View, literal};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::partition::dimension::{Dimension, LEAST_PAGES, pages_between, processors};
use crate::partition::explained;
use crate::partition::shape::{PlainQuery, catalog_name, has_volatile, is_volatile_text};
use crate::partition::{Identity, Snapshot};
use crate::session::fetch::empty_result;
use crate::session::reading::Reading;
use crate::session::run::How;
use crate::session::{Prepared, Session};
use crate::sql::{Token, tokens};
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::DataType;
use firearrow_proto::api::describe::{StatementInfo, StatementKind};
use firearrow_proto::api::descriptor::SqlType;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::transaction::{Isolation, TransactionOptions};
use std::result;
use std::sync::Arc;
use std::time::Duration;

/// A server with a longer round trip is not read by several connections unless the caller wants a number of them: each
/// range costs a round trip, and the link is most likely slower than one processor of the server.
const DISTANT: Duration = Duration::from_millis(3);
/// Readers that are not ready to read by then are not waited for. A distant server takes some round trips for each.
const START: Duration = Duration::from_secs(3);
const START_TRIPS: u32 = 30;
/// The most connections that one query opens.
const MOST_READERS: usize = 64;

/// What the readers of a query need.
pub(crate) struct ReadJob {
    pub(super) readers: usize,
    pub(super) config: Config,
    pub(super) database: String,
    pub(super) snapshot: Snapshot,
    pub(super) options: TransactionOptions,
    pub(super) dialect: Dialect,
    /// The query restricted to a range of pages; the borders are its last two parameters.
    pub(super) sql: String,
    pub(super) parameters: Option<RecordBatch>,
    pub(super) how: How,
    /// The query's description.
    pub(super) info: Arc<StatementInfo>,
    /// The first page number past the last row.
    pub(super) end: i64,
    pub(super) timeout: Option<Duration>,
    /// The longest that readers may take until they can read.
    pub(super) start: Duration,
}

/// A query that several connections will read.
pub(crate) struct ParallelPlan {
    pub(crate) job: ReadJob,
    /// Ends what belongs to the cursor; it has no rows.
    pub(crate) reading: Reading,
    /// A transaction that holds the snapshot, unless the query's own does.
    pub(crate) leader: Option<TransactionId>,
}

/// What ends the check.
pub(crate) enum Stop {
    Plain(WhyPlain),
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<WhyPlain> for Stop {
    fn from(why: WhyPlain) -> Self {
        Self::Plain(why)
    }
}

/// How many readers are wanted.
fn wanted(how: &How) -> usize {
    match how.parallel {
        None => 1,
        Some(0) => processors(),
        Some(wanted) => wanted,
    }
}

impl<B: Backend> Session<B> {
    /// Finds out whether several connections can read a query exactly as this one would in this transaction.
    pub(crate) async fn plan_parallel(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        parameters: &Params,
        how: &How,
    ) -> Result<result::Result<ParallelPlan, WhyPlain>> {
        self.expect_open(transaction)?;
        let mut leader = None;
        let checked = self.check_eligible(prepared, transaction, &mut leader, parameters, how).await;
        if let (Err(_), Some(leader)) = (&checked, leader) {
            self.give_up(leader).await;
        }
        match checked {
            Ok((job, reading)) => Ok(Ok(ParallelPlan { job, reading, leader })),
            Err(Stop::Plain(why)) => Ok(Err(why)),
            Err(Stop::Failed(error)) => Err(error),
        }
    }

    async fn check_eligible(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        leader: &mut Option<TransactionId>,
        parameters: &Params,
        how: &How,
    ) -> result::Result<(ReadJob, Reading), Stop> {
        // What is cheap comes first: nothing is asked about most queries.
        let wanted = self.check_server(how)?;
        let query = check_query(prepared, parameters, how)?;
        let begun = self.check_transaction(transaction)?;
        self.check_table(&query).await?;
        self.check_plan(prepared).await?;
        self.check_calls(&prepared.sql, &query.table).await?;
        if !begun.read_only && self.has_changes(transaction).await? {
            return Err(WhyPlain::Changes.into());
        }
        // Wrong parameters are errors now, as they would be without readers.
        drop(self.bind(prepared, transaction, parameters, &how.params()).await?);
        let options = TransactionOptions::reading()
            .lock_resolution(begun.lock_resolution)
            .ignore_limbo(begun.ignore_limbo);
        // A query of read consistency sees a snapshot of its own: this one.
        let holder = match begun.isolation {
            Isolation::Snapshot => transaction,
            _ => *leader.insert(self.begin_deferred(&options).await?),
        };
        let identity = Identity::of(self, holder, true, None).await?;
        let snapshot = identity.snapshot.ok_or(WhyPlain::OldEngine)?;
        let pages = Dimension::Pages(query.table.clone());
        let (_, end) = pages.extent(self, holder, &query.table).await?.ok_or(WhyPlain::Small)?;
        // Below `2 * LEAST_PAGES` pages, one connection reads.
        let worth = usize::try_from(end / LEAST_PAGES).unwrap_or(wanted);
        let readers = wanted.min(worth);
        if readers < 2 {
            return Err(WhyPlain::Small.into());
        }
        let start = START.max(self.backend.link_estimate().round_trip().saturating_mul(START_TRIPS));
        let mut config = self.facts.config.clone();
        config.connect_timeout = config.connect_timeout.min(start);
        let job = ReadJob {
            readers,
            config,
            database: identity.database,
            snapshot,
            options: options.at_snapshot(Some(snapshot.number)),
            dialect: prepared.dialect,
            sql: self.sql_of_range(prepared, holder, &query, &pages).await?,
            parameters: parameters.batch().cloned(),
            // Ranges are short batches already; their first ones would end even earlier.
            how: How { timeout: None, parallel: None, limits: how.limits.full(true), ..how.clone() },
            info: Arc::clone(&prepared.info),
            end,
            timeout: how.timeout.into_iter().chain(self.statement_limit).min(),
            start,
        };
        Ok((job, empty_result(prepared, transaction, how)?))
    }

    /// Returns how many readers are wanted, if this server can have several.
    fn check_server(&self, how: &How) -> result::Result<usize, WhyPlain> {
        let wanted = wanted(how).min(MOST_READERS);
        if wanted < 2 {
            return Err(WhyPlain::NotWanted);
        }
        if !self.backend.is_firebird4() {
            return Err(WhyPlain::OldEngine);
        }
        if how.parallel == Some(0) && self.backend.link_estimate().round_trip() > DISTANT {
            return Err(WhyPlain::Distant);
        }
        Ok(wanted)
    }

    /// Returns the options of the transaction, if it is one that others can see alike.
    fn check_transaction(&self, transaction: TransactionId) -> result::Result<TransactionOptions, WhyPlain> {
        if self.has_settings {
            return Err(WhyPlain::Settings);
        }
        let begun = self.options_of(transaction).ok_or(WhyPlain::Changes)?;
        let has_isolation =
            matches!(begun.isolation, Isolation::Snapshot | Isolation::ReadCommittedReadConsistency);
        if !has_isolation || begun.auto_commit {
            return Err(WhyPlain::Isolation);
        }
        Ok(begun)
    }

    /// Fails unless it is an ordinary table.
    async fn check_table(&mut self, query: &PlainQuery<'_>) -> result::Result<(), Stop> {
        let view = View { transaction: self.describing().await?, with_system: false };
        let is_ordinary = view.is_ordinary_table(self, &query.table).await?;
        if is_ordinary { Ok(()) } else { Err(WhyPlain::NoTable.into()) }
    }

    /// Fails unless the engine reads the table page by page.
    async fn check_plan(&mut self, prepared: &Prepared) -> result::Result<(), Stop> {
        let plan = self.plan(prepared, true).await?;
        if explained::is_full_scan(&plan) { Ok(()) } else { Err(explained::why_plain(&plan).into()) }
    }

    /// Returns the query restricted to a range of pages, if the engine reads it so.
    async fn sql_of_range(
        &mut self,
        prepared: &Prepared,
        transaction: TransactionId,
        query: &PlainQuery<'_>,
        pages: &Dimension,
    ) -> result::Result<String, Stop> {
        let sql = query.and(&pages_between(query));
        let part = self.prepare(Some(transaction), Sql::new(&sql, prepared.dialect)).await?;
        let plan = self.plan(&part, true).await;
        self.release(part.id).await;
        if explained::fits(pages, &plan?) { Ok(sql) } else { Err(WhyPlain::Plan.into()) }
    }

    /// Fails if the query or a computed column of its table calls what may have another value elsewhere, or a function
    /// of the database: it may depend on its connection, and even write.
    pub(crate) async fn check_calls(&mut self, sql: &str, table: &str) -> result::Result<(), Stop> {
        let transaction = self.describing().await?;
        let sources = format!(
            "SELECT F.RDB$COMPUTED_SOURCE FROM RDB$RELATION_FIELDS R JOIN RDB$FIELDS F \
             ON F.RDB$FIELD_NAME = R.RDB$FIELD_SOURCE \
             WHERE R.RDB$RELATION_NAME = {} AND F.RDB$COMPUTED_BLR IS NOT NULL",
            literal(table)
        );
        let mut called: Vec<String> = calls(sql).collect();
        if let Some(batch) = self.answer(&sources, transaction, &Params::none()).await? {
            for row in 0..batch.num_rows() {
                // A source that was removed says nothing.
                let Some(source) = answer::text(&batch, 0, row)? else {
                    return Err(WhyPlain::Volatile.into());
                };
                if has_volatile(source) || tokens(source).any(|token| token.is_word("SELECT")) {
                    return Err(WhyPlain::Volatile.into());
                }
                called.extend(calls(source));
            }
        }
        called.sort();
        called.dedup();
        if called.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = called.iter().map(|name| literal(name)).collect();
        let known =
            format!("SELECT FIRST 1 1 FROM RDB$FUNCTIONS WHERE RDB$FUNCTION_NAME IN ({})", names.join(", "));
        match self.answer(&known, transaction, &Params::none()).await? {
            Some(_) => Err(WhyPlain::Volatile.into()),
            None => Ok(()),
        }
    }
}

/// Returns the query, if its words are those of a plain query of one table.
fn check_query<'a>(
    prepared: &'a Prepared,
    parameters: &Params,
    how: &How,
) -> result::Result<PlainQuery<'a>, WhyPlain> {
    let info = &prepared.info;
    if info.kind == StatementKind::SelectForUpdate {
        return Err(WhyPlain::Locks);
    }
    if info.kind != StatementKind::Select || !info.has_cursor {
        return Err(WhyPlain::NoQuery);
    }
    if has_volatile(&prepared.sql) || has_volatile_text(parameters) {
        return Err(WhyPlain::Volatile);
    }
    let query = PlainQuery::of(&prepared.sql).ok_or_else(|| WhyPlain::of_sql(&prepared.sql))?;
    let has_blobs = info.columns.iter().any(|column| column.sql_type == SqlType::BLOB);
    if has_blobs && how.read.blobs == BlobPolicy::Lazy {
        return Err(WhyPlain::LazyBlobs);
    }
    Ok(query)
}

/// Whether a parameter is a text that means another time in each execution.
fn has_volatile_text(parameters: &Params) -> bool {
    let Some(batch) = parameters.batch() else { return false };
    batch.columns().iter().any(|column| {
        // What cannot be decoded is an error when the parameters are bound.
        let Ok(values) = decoded(Arc::clone(column)) else { return false };
        match values.data_type() {
            DataType::Utf8 => values.as_string::<i32>().iter().flatten().any(is_volatile_text),
            DataType::LargeUtf8 => values.as_string::<i64>().iter().flatten().any(is_volatile_text),
            DataType::Utf8View => values.as_string_view().iter().flatten().any(is_volatile_text),
            DataType::Binary => values.as_binary::<i32>().iter().any(is_volatile_value),
            DataType::LargeBinary => values.as_binary::<i64>().iter().any(is_volatile_value),
            DataType::BinaryView => values.as_binary_view().iter().any(is_volatile_value),
            DataType::FixedSizeBinary(_) => values.as_fixed_size_binary().iter().any(is_volatile_value),
            _ => false,
        }
    })
}

fn is_volatile_value(value: Option<&[u8]>) -> bool {
    value.and_then(|bytes| str::from_utf8(bytes).ok()).is_some_and(is_volatile_text)
}

/// Names that are followed by a parenthesis, as the catalog has them.
fn calls(sql: &str) -> impl Iterator<Item = String> + '_ {
    let mut before: Option<Token<'_>> = None;
    tokens(sql).filter_map(move |token| {
        let last = before.replace(token)?;
        if token.is_symbol('(') { catalog_name(&last) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::{calls, has_volatile_text};
    use crate::params::Params;
    use arrow::array::{
        Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray, Int32Array,
        LargeBinaryArray, LargeStringArray, RecordBatch, RunArray, StringArray, StringViewArray,
    };
    use arrow::datatypes::{Int8Type, Int32Type};
    use std::sync::Arc;

    #[test]
    fn texts_of_the_time_are_found_in_every_type_of_text() {
        let fixed = |text: &str| FixedSizeBinaryArray::try_from_iter([text.as_bytes()].into_iter()).unwrap();
        let runs = |text: &str| {
            RunArray::<Int32Type>::try_new(&Int32Array::from(vec![1]), &StringArray::from(vec![text]))
                .unwrap()
        };
        for (text, expected) in [("now", true), (" 'TODAY' ", true), ("known", false)] {
            let arrays: Vec<Arc<dyn Array>> = vec![
                Arc::new(StringArray::from(vec![text])),
                Arc::new(LargeStringArray::from(vec![text])),
                Arc::new(StringViewArray::from(vec![text])),
                Arc::new(BinaryArray::from(vec![text.as_bytes()])),
                Arc::new(LargeBinaryArray::from(vec![text.as_bytes()])),
                Arc::new(BinaryViewArray::from(vec![text.as_bytes()])),
                Arc::new(fixed(text)),
                Arc::new([Some(text)].into_iter().collect::<DictionaryArray<Int8Type>>()),
                Arc::new(runs(text)),
            ];
            for array in arrays {
                let what = format!("{text:?} as {}", array.data_type());
                let batch = RecordBatch::try_from_iter([("1", array as ArrayRef)]).unwrap();
                assert_eq!(has_volatile_text(&Params::from(batch)), expected, "{what}");
            }
        }
        let numbers = RecordBatch::try_from_iter([("1", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]);
        assert!(!has_volatile_text(&Params::from(numbers.unwrap())));
    }

    #[test]
    fn calls_are_found() {
        let names: Vec<String> =
            calls("SELECT Trim(a), \"f x\" (b), \"a\"\"\"(x), p.g(c) FROM t WHERE (a) IN (1)").collect();
        assert_eq!(names, ["TRIM", "f x", "a\"", "G", "WHERE", "IN"]);
    }
}
