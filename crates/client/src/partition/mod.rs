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
//!         println!("{} rows", batch?.num_rows());
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! From Firebird 4 on all partitions read the one snapshot of the leader, so that together they are exactly the result
//! of the query, whatever others change meanwhile. Only a plain query of one table can be divided; anything else is one
//! partition.

mod descriptor;
pub(crate) mod dimension;
pub(crate) mod explained;
pub(crate) mod shape;

use crate::answer;
use crate::arrow::{BatchLimits, ReadOptions, schema};
use crate::backend::{Backend, Sql, TransactionId};
use crate::catalog::View;
use crate::error::{Error, Kind, Result};
use crate::parallel::{Stop, WhyPlain};
use crate::params::Params;
use crate::session::reading::Reading;
use crate::session::run::How;
use crate::session::{Session, has_rows};
use arrow::array::{ArrayRef, RecordBatch, UInt64Array};
use arrow::datatypes::{Int64Type, SchemaRef};
use dimension::{Dimension, processors};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_proto::api::transaction::TransactionOptions;
use shape::PlainQuery;
use std::result;
use std::sync::Arc;

/// How a query is divided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PartitionOptions {
    /// The maximum number of partitions. 0 means as many as this machine has processors, and no more than the table is
    /// worth; 1 never divides.
    pub wanted: usize,
    /// Divides on servers before Firebird 4, too, which have no snapshots to share: each partition sees what is
    /// committed when it is read, so rows that others change meanwhile may be missing or appear twice.
    pub without_snapshot: bool,
    /// Gives each partition this many data pages, whatever `wanted` says (0 means that it decides). The borders stay
    /// where they are when the table grows, so the partitions of a later snapshot can be compared with these. Needs
    /// Firebird 4. Queries that call functions of the database are not divided.
    pub pages: u32,
}

firearrow_proto::setters! { PartitionOptions { wanted: usize, without_snapshot: bool, pages: u32 } }

/// A query in parts, and the transaction whose snapshot they read.
pub(crate) struct Divided {
    pub(crate) schema: SchemaRef,
    pub(crate) partitions: Vec<Partition>,
    /// Why it has one part only, if so.
    pub(crate) why_plain: Option<WhyPlain>,
    pub(crate) leader: TransactionId,
}

/// A part of a query: everything that another connection needs to read it, except the database's address and the
/// credentials.
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    /// The database, by the name that it has itself.
    database: String,
    /// The snapshot to read; the reader's own without.
    snapshot: Option<Snapshot>,
    /// The description of the query when it was divided.
    dialect: Dialect,
    sql: String,
    parameters: Option<RecordBatch>,
    read: ReadOptions,
    index: u32,
    count: u32,
}

/// Common to all partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) number: u64,
    /// The transaction that holds it. Snapshots are counted anew when the last attachment has gone, transactions never: as
    /// long as this one is active the number means what it meant.
    pub(crate) leader: u64,
}

impl Partition {
    /// Returns its index, from 0.
    pub fn index(&self) -> usize {
        self.index as usize
    }

    /// Returns the number of partitions.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Returns the number of the snapshot that it reads; `None` if that is the reader's own.
    pub fn snapshot(&self) -> Option<u64> {
        self.snapshot.map(|snapshot| snapshot.number)
    }

    /// The query.
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns a partition with other columns of the same rows, such as `COUNT(*)`. Only partitions of a query that was
    /// divided have one.
    pub fn with_columns(&self, columns: &str) -> Option<Self> {
        let sql = PlainQuery::of(&self.sql)?.with_columns(columns);
        // The declared precisions are those of the columns before.
        let read = ReadOptions { declared_precision: Vec::new(), ..self.read.clone() };
        Some(Self { sql, read, ..self.clone() })
    }

    /// Whether it belongs to this database.
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

impl<B: Backend> Session<B> {
    /// Divides a query, which may have one parameter row, and begins the snapshot that its parts will read.
    pub(crate) async fn partition(
        &mut self,
        sql: &str,
        parameters: Option<&RecordBatch>,
        options: &PartitionOptions,
        read: &ReadOptions,
    ) -> Result<Divided> {
        if parameters.is_some_and(|batch| batch.num_rows() != 1) {
            let text = "a query in partitions takes one row of parameters; run it once for each row";
            return Err(Error::new(Kind::Misuse, text));
        }
        let leader = self.begin_deferred(&TransactionOptions::reading()).await?;
        let divided = self.partition_in(leader, sql, parameters, options, read).await;
        if divided.is_err() {
            self.give_up(leader).await;
        }
        divided
    }

    async fn partition_in(
        &mut self,
        leader: TransactionId,
        sql: &str,
        parameters: Option<&RecordBatch>,
        options: &PartitionOptions,
        read: &ReadOptions,
    ) -> Result<Divided> {
        let is_modern = self.backend.is_firebird4();
        let Identity { database, snapshot, .. } = Identity::of(self, leader, is_modern, None).await?;
        let place = Place { database, snapshot };
        if snapshot.is_none() {
            return self.partition_at(place, leader, leader, sql, parameters, options, read).await;
        }
        // A transaction that has used a table keeps others from dropping it, and the leader lives long.
        let planner = self.begin_deferred(&TransactionOptions::reading().at_snapshot(place.number())).await?;
        let divided = self.partition_at(place, leader, planner, sql, parameters, options, read).await;
        self.give_up(planner).await;
        divided
    }

    #[allow(clippy::too_many_arguments)] // Those of `partition`, and what it has begun.
    async fn partition_at(
        &mut self,
        place: Place,
        leader: TransactionId,
        planner: TransactionId,
        sql: &str,
        parameters: Option<&RecordBatch>,
        options: &PartitionOptions,
        read: &ReadOptions,
    ) -> Result<Divided> {
        let Place { database, snapshot } = place;
        let dialect = self.facts.dialect;
        let whole = self.prepare(Some(planner), Sql::new(sql, dialect)).await?;
        self.release(whole.id).await;
        if !has_rows(&whole.info) {
            return Err(Error::new(Kind::Misuse, "only queries, which give rows, can be read in partitions"));
        }
        let read = self.declared(&whole.info.columns, read).await?;
        let schema = schema(&whole.info.columns, &read)?;
        let parts = match (options.pages, options.wanted) {
            (0, 1) => Err(WhyPlain::NotWanted),
            (0, _) if snapshot.is_none() && !options.without_snapshot => Err(WhyPlain::OldEngine),
            (1.., _) if snapshot.is_none() => Err(WhyPlain::OldEngine),
            _ => self.divide(sql, options, snapshot.is_some(), planner).await?,
        };
        let (parts, why_plain) = match parts {
            Ok(parts) => (parts, None),
            Err(why) => (vec![sql.to_owned()], Some(why)),
        };
        let count = parts.len() as u32;
        let partitions = (0..).zip(parts).map(|(index, sql)| Partition {
            database: database.clone(),
            snapshot,
            dialect,
            sql,
            parameters: parameters.cloned(),
            read: read.clone(),
            index,
            count,
        });
        Ok(Divided { schema, partitions: partitions.collect(), why_plain, leader })
    }

    /// The queries that come to `sql` together, or why it cannot be divided.
    async fn divide(
        &mut self,
        sql: &str,
        options: &PartitionOptions,
        has_snapshot: bool,
        planner: TransactionId,
    ) -> Result<result::Result<Vec<String>, WhyPlain>> {
        let Some(query) = PlainQuery::of(sql) else { return Ok(Err(WhyPlain::of_sql(sql))) };
        let view = View { transaction: self.describing().await?, with_system: false };
        let dimension = Dimension::of(self, view, &query.table, has_snapshot).await?;
        let dimension = match dimension {
            Ok(dimension) => dimension,
            Err(why) => return Ok(Err(why)),
        };
        if options.pages > 0 {
            match self.check_calls(sql, &query.table).await {
                Ok(()) => {}
                Err(Stop::Plain(why)) => return Ok(Err(why)),
                Err(Stop::Failed(error)) => return Err(error),
            }
        }
        let dialect = self.facts.dialect;
        let conditions = dimension.conditions(self, planner, dialect, &query, options).await?;
        let parts: Vec<String> = conditions.iter().map(|condition| query.and(condition)).collect();
        let Some(first) = parts.first() else {
            return Ok(Err(if options.wanted == 0 && processors() < 2 {
                WhyPlain::NotWanted
            } else {
                WhyPlain::Small
            }));
        };
        let part = self.prepare(Some(planner), Sql::new(first, dialect)).await?;
        let plan = self.plan(&part, true).await;
        self.release(part.id).await;
        let plan = plan?;
        Ok(if explained::fits(&dimension, &plan) { Ok(parts) } else { Err(explained::why_plain(&plan)) })
    }

    /// Reads a part of a query that this or any other connection to the same database has divided.
    pub(crate) async fn open_partition(
        &mut self,
        partition: &Partition,
        limits: BatchLimits,
    ) -> Result<Reading> {
        let options = TransactionOptions::reading().at_snapshot(partition.snapshot());
        let leader = partition.snapshot.map(|snapshot| snapshot.leader);
        let transaction = match self.begin(&options).await {
            Err(error) if error.gds_codes().contains(&gds::ISC_TRA_SNAPSHOT_DOES_NOT_EXIST) => {
                let transaction = self.describing().await?;
                partition.check(&Identity::of(self, transaction, true, leader).await?)?;
                return Err(error.context(partition.gone()));
            }
            begun => begun?,
        };
        let opened = self.open_partition_in(transaction, partition, leader, limits).await;
        if opened.is_err() {
            self.give_up(transaction).await;
        }
        Ok(opened?.owning(transaction))
    }

    async fn open_partition_in(
        &mut self,
        transaction: TransactionId,
        partition: &Partition,
        leader: Option<u64>,
        limits: BatchLimits,
    ) -> Result<Reading> {
        let here = Identity::of(self, transaction, leader.is_some(), leader).await?;
        partition.check(&here)?;
        if leader.is_some() && !here.has_leader {
            return Err(Error::new(Kind::Misuse, partition.gone()));
        }
        let sql = Sql::new(&partition.sql, partition.dialect);
        let how = How { read: partition.read.clone(), limits, ..How::default() };
        let parameters = partition.parameters.clone().map_or_else(Params::none, Params::from);
        self.query(sql, transaction, &parameters, &how).await
    }
}

/// What the partitions of a query belong to.
struct Place {
    database: String,
    snapshot: Option<Snapshot>,
}

impl Place {
    fn number(&self) -> Option<u64> {
        self.snapshot.map(|snapshot| snapshot.number)
    }
}

/// Where a transaction is.
pub(crate) struct Identity {
    /// The database's identity: its GUID and its file, or its creation time and the hash of its name where there is no GUID. A copy
    /// has the GUID and the creation time of its original.
    pub(crate) database: String,
    /// Its own snapshot, from Firebird 4 on.
    pub(crate) snapshot: Option<Snapshot>,
    /// Whether the leader that was asked for is active: its commit number is 0 then.
    pub(crate) has_leader: bool,
}

impl Identity {
    pub(crate) async fn of<B: Backend>(
        session: &mut Session<B>,
        transaction: TransactionId,
        is_modern: bool,
        leader: Option<u64>,
    ) -> Result<Self> {
        const MODERN: &str = "SELECT CAST(RDB$GET_CONTEXT('SYSTEM', 'DB_GUID') || ' ' || \
            RDB$GET_CONTEXT('SYSTEM', 'DB_FILE_ID') AS VARCHAR(120)), CURRENT_TRANSACTION, \
            CAST(RDB$GET_CONTEXT('SYSTEM', 'SNAPSHOT_NUMBER') AS VARCHAR(20)), \
            RDB$GET_TRANSACTION_CN(CAST(? AS TYPE OF COLUMN MON$TRANSACTIONS.MON$TRANSACTION_ID)) FROM RDB$DATABASE";
        // The name itself may have characters that the connection's character set lacks.
        const OLD: &str = "SELECT CAST(MON$CREATION_DATE || ' ' || HASH(MON$DATABASE_NAME) AS VARCHAR(60)) FROM MON$DATABASE";
        let leader: ArrayRef = Arc::new(UInt64Array::from(vec![leader]));
        let (sql, parameters) =
            if is_modern { (MODERN, Params::row([leader])) } else { (OLD, Params::none()) };
        let batch = session.answer(sql, transaction, &parameters).await?;
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
