//! Conditions that divide the rows of a table: by its pages, which needs no index, or by its key.

use super::PartitionOptions;
use super::shape::PlainQuery;
use crate::answer;
use crate::backend::{Backend, TransactionId};
use crate::catalog::{BaseType, ConstraintKind, Name, View, identifier, literal, quoted};
use crate::error::Result;
use crate::parallel::WhyPlain;
use crate::params::Params;
use crate::session::Session;
use arrow::datatypes::Int64Type;
use firearrow_proto::api::dialect::Dialect;
use std::result;
use std::thread;

/// Data pages that are worth a connection of their own.
pub(crate) const LEAST_PAGES: i64 = 256;
/// Values of a key that are worth it.
const LEAST_KEYS: i64 = 10_000;
/// As a type whose name databases of dialect 1 do not take.
const BIGINT: &str = "TYPE OF COLUMN RDB$GENERATORS.RDB$INITIAL_VALUE";
/// Keys beyond it are not searched for: steps from there could leave BIGINT.
const LARGEST_START: i64 = 1 << 62;

/// The number of connections if the caller does not say.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get())
}

/// The condition that a row's page is at or after the first parameter, and before the second.
pub(crate) fn pages_between(query: &PlainQuery<'_>) -> String {
    let (column, value) = (format!("{}.RDB$DB_KEY", query.reference), page_key(&query.table, "?"));
    format!("{column} >= {value} AND {column} < {value}")
}

/// The key of the first row of a page in SQL.
fn page_key(table: &str, page: &str) -> String {
    format!("MAKE_DBKEY({}, 0, {page}, 0)", literal(table))
}

/// The property that divides the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// Data pages, in the order of the table (Firebird 4 and later, which have MAKE_DBKEY).
    Pages(String),
    /// Integers of the leading column of the primary key.
    Key(String),
}

impl Dimension {
    /// How rows of this table can be divided, or why they cannot.
    pub(super) async fn of<B: Backend>(
        session: &mut Session<B>,
        view: View,
        table: &str,
        has_pages: bool,
    ) -> Result<result::Result<Self, WhyPlain>> {
        if !view.is_ordinary_table(session, table).await? {
            return Ok(Err(WhyPlain::NoTable));
        }
        if has_pages {
            return Ok(Ok(Self::Pages(table.to_owned())));
        }
        let constraints = view.constraints(session, Name::Is(table)).await?;
        let key = constraints.into_iter().find(|constraint| constraint.kind == ConstraintKind::PrimaryKey);
        let Some(leading) = key.and_then(|key| key.columns.into_iter().next()) else {
            return Ok(Err(WhyPlain::NoKey));
        };
        let columns = view.columns(session, Name::Is(table), Name::Is(&leading)).await?;
        let is_integer = columns.iter().any(|column| {
            matches!(column.data_type.base, BaseType::SmallInt | BaseType::Integer | BaseType::BigInt)
        });
        Ok(if is_integer { Ok(Self::Key(leading)) } else { Err(WhyPlain::NoKey) })
    }

    /// Conditions of which each row of the query meets exactly one: one for each so many pages, or up to the wanted number,
    /// where 0 means as many as are worth it. None if the dialect of the query cannot say them.
    pub(super) async fn conditions<B: Backend>(
        &self,
        session: &mut Session<B>,
        transaction: TransactionId,
        dialect: Dialect,
        query: &PlainQuery<'_>,
        options: &PartitionOptions,
    ) -> Result<Vec<String>> {
        let column = match self {
            Self::Pages(_) => Some("RDB$DB_KEY".to_owned()),
            Self::Key(key) => identifier(dialect, key),
        };
        let Some(column) = column else { return Ok(Vec::new()) };
        let pages = i64::from(options.pages);
        let (start, end) = match self.extent(session, transaction, &query.table).await? {
            Some(extent) => extent,
            None if pages > 0 => (0, 0),
            None => return Ok(Vec::new()),
        };
        let extent = end.saturating_sub(start);
        let most = match options.wanted {
            _ if pages > 0 => extent.div_euclid(pages) + i64::from(extent.rem_euclid(pages) > 0),
            0 => {
                let least = if matches!(self, Self::Pages(_)) { LEAST_PAGES } else { LEAST_KEYS };
                (extent / least).min(i64::try_from(processors()).unwrap_or(i64::MAX))
            }
            wanted => extent.min(i64::try_from(wanted).unwrap_or(i64::MAX)),
        };
        // The first is open below and the last above, so that the borders decide on balance and never on rows. With fixed
        // borders a single part is a range of pages as well, from the first one.
        let border = |part: i64| match pages {
            0 => start + (i128::from(extent) * i128::from(part) / i128::from(most)) as i64,
            pages => start.saturating_add(part.saturating_mul(pages)),
        };
        let column = format!("{}.{column}", query.reference);
        let condition = |part: i64| {
            let lower = (part > 0 || pages > 0)
                .then(|| format!("{column} >= {}", self.value(&border(part).to_string())));
            let upper = (part + 1 < most)
                .then(|| format!("{column} < {}", self.value(&border(part + 1).to_string())));
            lower.into_iter().chain(upper).collect::<Vec<_>>().join(" AND ")
        };
        Ok(match (pages, most) {
            (0, ..2) => Vec::new(),
            (0, most) => (0..most).map(condition).collect(),
            // Even a table without rows has a part.
            (_, most) => (0..most.max(1)).map(condition).collect(),
        })
    }

    /// A number of this dimension in SQL.
    fn value(&self, number: &str) -> String {
        match self {
            Self::Pages(table) => page_key(table, number),
            Self::Key(_) => number.to_owned(),
        }
    }

    /// The first number that rows have, and the first after all of them; `None` without rows. The engine does the
    /// search, so this is one round trip.
    pub(crate) async fn extent<B: Backend>(
        &self,
        session: &mut Session<B>,
        transaction: TransactionId,
        table: &str,
    ) -> Result<Option<(i64, i64)>> {
        let from = quoted(table);
        let (first, column) = match self {
            Self::Pages(_) => ("0".to_owned(), "RDB$DB_KEY".to_owned()),
            Self::Key(key) => (format!("(SELECT MIN({}) FROM {from})", quoted(key)), quoted(key)),
        };
        let probe = |bound: &str| {
            format!("EXISTS(SELECT 1 FROM {from} WHERE {column} >= {}{bound})", self.value(":HERE"))
        };
        // The last step passes over all rows that the transaction does not see. Without a bound, each search between two
        // steps would pass over them again.
        let bound = format!(" AND {column} < {}", self.value(":BEHIND"));
        let (any, any_before) = (probe(""), probe(&bound));
        let block = format!(
            "EXECUTE BLOCK RETURNS (FIRST_ONE {BIGINT}, BEHIND {BIGINT}) AS \
             DECLARE STEP {BIGINT} = 1; DECLARE HERE {BIGINT}; DECLARE LAST_ONE {BIGINT}; BEGIN \
             FIRST_ONE = {first}; \
             IF (FIRST_ONE IS NULL OR FIRST_ONE >= {LARGEST_START}) THEN EXIT; \
             LAST_ONE = FIRST_ONE; HERE = FIRST_ONE + STEP; \
             WHILE (STEP < {}) DO BEGIN IF (NOT {any}) THEN LEAVE; \
             LAST_ONE = HERE; STEP = STEP * 2; HERE = FIRST_ONE + STEP; END \
             BEHIND = HERE; \
             WHILE (BEHIND - LAST_ONE > 1) DO BEGIN HERE = LAST_ONE + (BEHIND - LAST_ONE) / 2; \
             IF ({any_before}) THEN LAST_ONE = HERE; ELSE BEHIND = HERE; END \
             SUSPEND; END",
            LARGEST_START / 2
        );
        let Some(batch) = session.answer(&block, transaction, &Params::none()).await? else {
            return Ok(None);
        };
        let number = |column| answer::number::<Int64Type>(&batch, column, 0);
        Ok(number(0)?.zip(number(1)?))
    }
}
