//! What is copied into a folder, in which parts.

use super::args::CopyArgs;
use super::part::FILE_SIZE;
use super::sql;
use super::state::Before;
use crate::failure::{Failure, Result};
use crate::folder::manifest::{Column, Copy, State};
use crate::open::{open, refuse_blob_ids};
use crate::parameters::bind;
use crate::similar::{self, HintTime};
use arrow::datatypes::SchemaRef;
use firearrow::config::Config;
use firearrow::{
    Connection, Partition, PartitionOptions, PartitionedQuery, ReadOptions, Statement, Transaction,
    TransactionOptions, WhyPlain,
};
use std::collections::BTreeMap;

/// A query in parts, all of one snapshot.
pub(super) struct Plan {
    pub(super) schema: SchemaRef,
    pub(super) pages: u32,
    /// The state that the snapshot shows, if another run can compare it.
    pub(super) state: Option<State>,
    query: PartitionedQuery,
    /// As it was given: with names, if its parameters have some.
    sql: String,
    parameters: Vec<Option<String>>,
    options: ReadOptions,
    /// What values of expressions may depend on: CURRENT_USER, for example.
    session: BTreeMap<String, String>,
    dialect: u8,
    /// As long as it is prepared, nobody alters the table.
    _held: (Statement, Transaction),
    _leader: Connection,
}

impl Plan {
    /// Divides the query into parts of so many pages; `None` leaves the number to the size of files.
    pub(super) fn new(args: &CopyArgs, config: &Config, pages: Option<u32>) -> Result<Self> {
        let leader = open(config)?;
        refuse_blob_ids(&leader)?;
        let sql = sql(&args.source, config.dialect)?;
        let (bound, parameters) = bind(&sql, &args.parameters.0)?;
        let explained = |error| similar::explained(&leader, error, &bound, &HintTime::default());
        let transaction = leader.begin(TransactionOptions::reading())?;
        let before = leader.has_firebird4().then(|| Before::of(&transaction)).transpose()?;
        let held = transaction.prepare(&bound).map_err(|error| explained(error.into()))?;
        if !held.has_rows() {
            return Err(Failure::other("the statement returns no rows to copy"));
        }
        let info = leader.info()?;
        let pages = pages.unwrap_or_else(|| pages_of(args, info.page_size));
        let query = leader.partition(&bound, parameters, &PartitionOptions::default().pages(pages));
        let query = query.map_err(|error| explained(error.into()))?;
        let state = match (before, query.why_plain(), query.partitions().first()) {
            (Some(before), None, Some(first)) => before.state(&transaction, first)?,
            _ => None,
        };
        let mut session = BTreeMap::from([("user".to_owned(), info.user), ("role".to_owned(), info.role)]);
        if leader.has_firebird4() {
            let zone = "SELECT RDB$GET_CONTEXT('SYSTEM', 'SESSION_TIMEZONE') FROM RDB$DATABASE";
            session.insert("time_zone".to_owned(), transaction.query(zone)?.value::<String>()?);
        }
        Ok(Self {
            schema: query.schema(),
            pages,
            state,
            query,
            options: leader.read_options().clone(),
            session,
            dialect: leader.dialect().number(),
            sql: sql.clone(),
            parameters: args.parameters.0.clone(),
            _held: (held, transaction),
            _leader: leader,
        })
    }

    pub(super) fn parts(&self) -> &[Partition] {
        self.query.partitions()
    }

    /// Why it is one part, which no other run can continue.
    pub(super) fn why_plain(&self) -> Option<&WhyPlain> {
        self.query.why_plain()
    }

    /// What the manifest says of it.
    pub(super) fn copy(&self, partition_by: Vec<String>) -> Copy {
        let default = ReadOptions::default();
        let changed = |name: &&str| self.options.value(name) != default.value(name);
        let options = ReadOptions::NAMES.iter().filter(|name| changed(name));
        let options = options.filter_map(|name| Some(((*name).to_owned(), self.options.value(name)?)));
        let session = self.session.clone().into_iter();
        Copy {
            query: self.sql.clone(),
            parameters: self.parameters.clone(),
            dialect: self.dialect,
            options: options.chain(session).collect(),
            columns: Column::all(&self.schema),
            partition_by,
        }
    }
}

/// The pages of a part: about a file, or some files for each value, which would be small otherwise.
fn pages_of(args: &CopyArgs, page_size: u32) -> u32 {
    let factor = if args.partition_by.is_empty() { 1 } else { VALUES };
    let bytes = args.file_size.unwrap_or(FILE_SIZE).saturating_mul(factor);
    u32::try_from(bytes / u64::from(page_size.max(1))).unwrap_or(u32::MAX).max(1)
}

/// How much longer parts are whose rows go into the folders of many values.
const VALUES: u64 = 8;
