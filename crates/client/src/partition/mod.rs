//! One query read in parts, by several connections, as if by one.
//!
//! ```no_run
//! use firearrow::{Connection, PartitionOptions};
//!
//! # fn main() -> firearrow::Result<()> {
//! let url = "firebird://localhost/employee";
//! let leader = Connection::connect(url)?;
//! let query = leader.partition("SELECT * FROM SALES", (), &PartitionOptions::default())?;
//! for partition in query.partitions() {
//!     // On any thread, in any process, on any machine:
//!     for batch in Connection::connect(url)?.read_partition(partition, Default::default())? {
//!         println!("{} rows", batch.expect("rows").num_rows());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! From Firebird 4 on all partitions read the one snapshot of the leader, so that together they are exactly the result
//! of the query, whatever others change meanwhile. What can be divided is a plain query of one table; anything else is
//! one partition.

mod descriptor;
mod range;
mod shape;

use crate::answer;
use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::Sql;
use crate::connection::Connection;
use crate::cursor::Cursor;
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::transaction::Transaction;
use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{Int64Type, SchemaRef};
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_proto::api::transaction::TransactionOptions;
use range::Dimension;
use shape::PlainQuery;
use std::sync::Arc;

/// How a query is divided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartitionOptions {
    /// How many partitions there shall be at most. 0 is as many as this machine has processors, and no more than the
    /// table is worth; 1 never divides.
    pub wanted: usize,
    /// Divides on servers before Firebird 4, too, which have no snapshots to share: each partition sees what is
    /// committed when it is read, so that rows which others change meanwhile may be missing or come twice.
    pub without_snapshot: bool,
}

/// A query in parts. As long as it lives it holds the snapshot that they read.
#[derive(Debug)]
pub struct PartitionedQuery {
    schema: SchemaRef,
    partitions: Vec<Partition>,
    /// Its snapshot is the one that the partitions read.
    _leader: Transaction,
}

/// A part of a query: all that another connection needs to read it, except for where the database is and who asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// The database, by the name that it has itself.
    database: String,
    /// The snapshot to read; the reader's own without.
    snapshot: Option<Snapshot>,
    /// What the query was understood as when it was divided.
    dialect: Dialect,
    sql: String,
    parameters: Option<RecordBatch>,
    read: ReadOptions,
    index: u32,
    count: u32,
}

/// What all partitions read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Snapshot {
    number: u64,
    /// The transaction that holds it. Snapshots are counted anew when the last attachment has gone, transactions never: as
    /// long as this one is active the number means what it meant.
    leader: u64,
}

impl PartitionedQuery {
    /// Columns of every partition.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The parts, in the order of the table; at least one.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }
}

impl Partition {
    /// Which one it is, from 0 on.
    pub fn index(&self) -> usize {
        self.index as usize
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// The number of the snapshot that it reads; `None` if that is the reader's own.
    pub fn snapshot(&self) -> Option<u64> {
        self.snapshot.map(|snapshot| snapshot.number)
    }

    /// The query.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Whether it is of this database.
    fn check(&self, here: &Identity) -> Result<()> {
        if here.database == self.database {
            return Ok(());
        }
        let text = "the partition belongs to a query of another database";
        Err(Error::new(Kind::Configuration, format!("{text}: {}, not {}", self.database, here.database)))
    }

    fn gone(&self) -> String {
        let number = self.snapshot().unwrap_or_default();
        format!(
            "the query of this partition has ended and taken its snapshot {number} along; divide the query anew and keep \
             it until all partitions are read"
        )
    }
}

impl Connection {
    /// Divides a query, which may have one row of parameters, and begins the snapshot that its parts will read.
    ///
    /// # Errors
    /// [`Kind::Misuse`] for statements without rows, and for several rows of parameters.
    pub fn partition(
        &self,
        sql: &str,
        parameters: impl Into<Params>,
        options: &PartitionOptions,
    ) -> Result<PartitionedQuery> {
        self.partition_reading(sql, parameters, options, |_| Ok(self.read_options().clone()))
    }

    /// [`partition`](Self::partition), with other switches than the connection's for reading; `read` gives them for the
    /// columns of the query.
    pub fn partition_reading(
        &self,
        sql: &str,
        parameters: impl Into<Params>,
        options: &PartitionOptions,
        read: impl FnOnce(&[Descriptor]) -> Result<ReadOptions>,
    ) -> Result<PartitionedQuery> {
        let parameters = parameters.into().batch().cloned();
        if parameters.as_ref().is_some_and(|batch| batch.num_rows() != 1) {
            let text = "a query in partitions takes one row of parameters; run it once for each row";
            return Err(Error::new(Kind::Misuse, text));
        }
        let leader = self.begin_lazy(TransactionOptions::read_only())?;
        let whole = leader.prepare(sql)?;
        if !whole.has_rows() {
            return Err(Error::new(Kind::Misuse, "only queries, which give rows, can be read in partitions"));
        }
        let read = read(whole.columns())?;
        let whole = whole.with_read_options(read.clone());
        let schema = whole.schema()?;
        drop(whole);
        let Identity { database, snapshot, .. } = Identity::of(&leader, self.has_firebird4(), None)?;
        let may_divide = options.wanted != 1 && (snapshot.is_some() || options.without_snapshot);
        let parts = if may_divide {
            self.divide(sql, options.wanted, snapshot.is_some(), &leader)?
        } else {
            Vec::new()
        };
        let parts = if parts.is_empty() { vec![sql.to_owned()] } else { parts };
        let count = parts.len() as u32;
        let partitions = (0..).zip(parts).map(|(index, sql)| Partition {
            database: database.clone(),
            snapshot,
            dialect: self.dialect(),
            sql,
            parameters: parameters.clone(),
            read: read.clone(),
            index,
            count,
        });
        Ok(PartitionedQuery { schema, partitions: partitions.collect(), _leader: leader })
    }

    /// The queries that come to `sql` together; none if it cannot be divided.
    fn divide(
        &self,
        sql: &str,
        wanted: usize,
        has_snapshot: bool,
        leader: &Transaction,
    ) -> Result<Vec<String>> {
        let Some(query) = PlainQuery::of(sql) else { return Ok(Vec::new()) };
        let dimension = Dimension::of(&self.catalog()?, &query.table, has_snapshot)?;
        let Some(dimension) = dimension else { return Ok(Vec::new()) };
        let conditions = dimension.conditions(leader, self.dialect(), &query, wanted)?;
        let parts: Vec<String> = conditions.iter().map(|condition| query.and(condition)).collect();
        match parts.first() {
            Some(first) if dimension.fits(&leader.prepare(first)?.plan(true)?) => Ok(parts),
            _ => Ok(Vec::new()),
        }
    }

    /// Reads a part of a query that this or any other connection to the same database has divided.
    ///
    /// # Errors
    /// [`Kind::Configuration`] if it is a part of a query of another database. [`Kind::Misuse`] if the [`PartitionedQuery`]
    /// has gone, and its snapshot with it: another one is never read.
    pub fn read_partition(&self, partition: &Partition, limits: BatchLimits) -> Result<Cursor> {
        let options =
            TransactionOptions { at_snapshot: partition.snapshot(), ..TransactionOptions::read_only() };
        let leader = partition.snapshot.map(|snapshot| snapshot.leader);
        let transaction = match self.begin(options) {
            Err(error) if error.gds_codes().contains(&gds::ISC_TRA_SNAPSHOT_DOES_NOT_EXIST) => {
                let transaction = self.begin_lazy(TransactionOptions::read_only())?;
                partition.check(&Identity::of(&transaction, true, leader)?)?;
                return Err(error.context(partition.gone()));
            }
            begun => begun?,
        };
        let here = Identity::of(&transaction, leader.is_some(), leader)?;
        partition.check(&here)?;
        if leader.is_some() && !here.has_leader {
            return Err(Error::new(Kind::Misuse, partition.gone()));
        }
        let parameters = partition.parameters.clone().map_or(Params::none(), Params::from);
        let sql = Sql::new(&partition.sql, partition.dialect);
        let cursor = transaction.query_reading(sql, parameters, &partition.read, limits)?;
        Ok(cursor.owning(transaction))
    }
}

/// Where a transaction is.
struct Identity {
    /// What the database calls itself: its GUID and its file, or when it was created where there is no GUID.
    database: String,
    /// Its own snapshot, from Firebird 4 on.
    snapshot: Option<Snapshot>,
    /// Whether the leader that was asked for is active: its commit number is 0 then.
    has_leader: bool,
}

impl Identity {
    fn of(transaction: &Transaction, is_modern: bool, leader: Option<u64>) -> Result<Self> {
        const MODERN: &str = "SELECT CAST(RDB$GET_CONTEXT('SYSTEM', 'DB_GUID') || ' ' || \
            RDB$GET_CONTEXT('SYSTEM', 'DB_FILE_ID') AS VARCHAR(120)), CURRENT_TRANSACTION, \
            CAST(RDB$GET_CONTEXT('SYSTEM', 'SNAPSHOT_NUMBER') AS VARCHAR(20)), \
            RDB$GET_TRANSACTION_CN(CAST(? AS TYPE OF COLUMN MON$TRANSACTIONS.MON$TRANSACTION_ID)) FROM RDB$DATABASE";
        const OLD: &str = "SELECT CAST(MON$CREATION_DATE AS VARCHAR(60)) FROM MON$DATABASE";
        let leader: ArrayRef = Arc::new(UInt64Array::from(vec![leader]));
        let (sql, parameters) =
            if is_modern { (MODERN, Params::row([leader])) } else { (OLD, Params::none()) };
        let batch = transaction
            .query_reading(sql.into(), parameters, &ReadOptions::default(), BatchLimits::default())?
            .next_batch()?;
        let unknown = || Error::new(Kind::Protocol, "the database does not tell its identity");
        let batch = batch.ok_or_else(unknown)?;
        let text = |column| Ok::<_, Error>(answer::text(&batch, column, 0)?.unwrap_or_default().to_owned());
        let number = |column| answer::number::<Int64Type>(&batch, column, 0);
        let database = text(0)?;
        if !is_modern {
            return Ok(Self { database, snapshot: None, has_leader: false });
        }
        let leader = number(1)?.ok_or_else(unknown)? as u64;
        let snapshot = Snapshot { number: text(2)?.parse().map_err(|_| unknown())?, leader };
        Ok(Self { database, snapshot: Some(snapshot), has_leader: number(3)? == Some(0) })
    }
}
