//! One query read in parts, by several connections, as if by one.
//!
//! ```no_run
//! use firearrow::{Connection, PartitionOptions};
//!
//! # fn main() -> firearrow::Result<()> {
//! let url = "firebird://SYSDBA:secret@localhost/employee";
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

use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::Sql;
use crate::connection::Connection;
use crate::cursor::Cursor;
use crate::error::{Error, Kind, Result};
use crate::params::Params;
use crate::transaction::Transaction;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::SchemaRef;
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_proto::api::transaction::TransactionOptions;
use range::Dimension;
use shape::PlainQuery;

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
    snapshot: Option<u64>,
    /// What the query was understood as when it was divided.
    dialect: Dialect,
    sql: String,
    parameters: Option<RecordBatch>,
    read: ReadOptions,
    index: u32,
    count: u32,
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
        self.snapshot
    }

    /// The query.
    pub fn sql(&self) -> &str {
        &self.sql
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
        let snapshot = match leader.snapshot_number() {
            Ok(number) => Some(number),
            Err(error) if error.kind() == Kind::Unsupported => None,
            Err(error) => return Err(error),
        };
        let may_divide = options.wanted != 1 && (snapshot.is_some() || options.without_snapshot);
        let parts =
            if may_divide { self.divide(sql, options.wanted, snapshot, &leader)? } else { Vec::new() };
        let parts = if parts.is_empty() { vec![sql.to_owned()] } else { parts };
        let database = database(&leader, snapshot.is_some())?;
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
        snapshot: Option<u64>,
        leader: &Transaction,
    ) -> Result<Vec<String>> {
        let Some(query) = PlainQuery::of(sql) else { return Ok(Vec::new()) };
        let dimension = Dimension::of(&self.catalog()?, &query.table, snapshot.is_some())?;
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
    /// [`Kind::Misuse`] if it is a part of a query of another database, or if the [`PartitionedQuery`] has gone, and its
    /// snapshot with it. It is never another snapshot that is read then.
    pub fn read_partition(&self, partition: &Partition, limits: BatchLimits) -> Result<Cursor> {
        let options =
            TransactionOptions { at_snapshot: partition.snapshot, ..TransactionOptions::read_only() };
        let transaction = self.begin(options).map_err(|error| explained(error, partition))?;
        let here = database(&transaction, partition.snapshot.is_some())?;
        if here != partition.database {
            let text = "the partition belongs to a query of another database";
            return Err(Error::new(Kind::Misuse, format!("{text}: {}, not {here}", partition.database)));
        }
        let parameters = partition.parameters.clone().map_or(Params::none(), Params::from);
        let sql = Sql::new(&partition.sql, partition.dialect);
        let cursor = transaction.query_reading(sql, parameters, &partition.read, limits)?;
        Ok(cursor.owning(transaction))
    }
}

fn explained(error: Error, partition: &Partition) -> Error {
    match partition.snapshot {
        Some(number) if error.gds_codes().contains(&gds::ISC_TRA_SNAPSHOT_DOES_NOT_EXIST) => error.context(format!(
            "the query of this partition has ended and taken its snapshot {number} along, or it is another \
             server's; divide the query anew and keep it until all partitions are read"
        )),
        _ => error,
    }
}

/// What a database calls itself: its GUID, or when it was created where there is none (before Firebird 4).
fn database(transaction: &Transaction, has_guid: bool) -> Result<String> {
    let sql = match has_guid {
        true => "SELECT CAST(RDB$GET_CONTEXT('SYSTEM', 'DB_GUID') AS VARCHAR(60)) FROM RDB$DATABASE",
        false => "SELECT CAST(MON$CREATION_DATE AS VARCHAR(60)) FROM MON$DATABASE",
    };
    let batch = transaction
        .query_reading(sql.into(), Params::none(), &ReadOptions::default(), BatchLimits::default())?
        .next_batch()?;
    let name = batch.and_then(|batch| {
        let names = batch.column(0).as_string_opt::<i32>()?;
        (!names.is_empty() && names.is_valid(0)).then(|| names.value(0).to_owned())
    });
    name.ok_or_else(|| Error::new(Kind::Protocol, "the database does not tell its identity"))
}
