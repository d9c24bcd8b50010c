//! The only place that lists both backends.

#[cfg(feature = "embedded")]
use super::embedded::Embedded;
use super::link::Link;
use super::wire::Wire;
use super::{
    Backend, BlobId, Chunk, End, Executed, Message, Series, Sql, StatementId, Take, TransactionId, Transport,
    Wanted, Writer,
};
use crate::arrow::BatchBuilder;
use crate::cancel::Operation;
use crate::config::{Config, Target};
use crate::db_key::KeyHolder;
use crate::error::{Error, Result};
use crate::event::Inbox;
use crate::stats::WireStats;
use crate::warning::Warning;
use firearrow_proto::api::array::Slice;
use firearrow_proto::api::describe::StatementInfo;
#[cfg(feature = "embedded")]
use firearrow_proto::api::gds;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::scroll::Move;
use std::sync::Arc;
use std::time::Duration;

/// A database, wherever it is.
pub(crate) enum AnyBackend<L> {
    Wire(Box<Wire<L>>),
    #[cfg(feature = "embedded")]
    Embedded(Box<Embedded>),
}

impl<L: Link> AnyBackend<L> {
    pub(crate) async fn attach(config: &Config, create: bool, key: &mut KeyHolder<'_>) -> Result<Self> {
        match &config.target {
            Target::Remote { host, port, database } => {
                let wire = Wire::connect(config, (host, *port), database, create, key).await?;
                Ok(Self::Wire(Box::new(wire)))
            }
            #[cfg(feature = "embedded")]
            Target::Embedded { path } => {
                embedded(config, path, create).map(|embedded| Self::Embedded(Box::new(embedded)))
            }
            #[cfg(not(feature = "embedded"))]
            Target::Embedded { path } => Err(Error::new(
                crate::error::Kind::Unsupported,
                format!("{path} names a local database, but this build has no embedded engine"),
            )),
        }
    }

    /// What the user should know about it.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        match self {
            Self::Wire(wire) => wire.warnings.clone(),
            #[cfg(feature = "embedded")]
            Self::Embedded(embedded) => embedded.warnings.clone(),
        }
    }
}

#[cfg(feature = "embedded")]
fn embedded(config: &Config, path: &str, create: bool) -> Result<Embedded> {
    use firearrow_fbapi::{Library, LoadOptions, Runtime, RuntimeHint, ServerMode};
    let hint = match &config.client_library {
        Some(library) => RuntimeHint::at(library),
        None => RuntimeHint::default(),
    };
    let runtime = Runtime::discover(&hint)?;
    let options = LoadOptions {
        server_mode: match config.server_mode {
            None | Some(crate::config::ServerMode::Super) => ServerMode::Super,
            Some(crate::config::ServerMode::Classic) => ServerMode::Classic,
        },
        ..LoadOptions::default()
    };
    let library = Library::load(&runtime, &options)?;
    let attachment = if create {
        library.create(path, config.dpb_for_create().as_bytes())
    } else {
        library.attach(path, config.dpb().as_bytes())
    };
    let attachment = attachment.map_err(|error| shared(error.into()))?;
    let warnings = attachment.warnings().lines(true).into_iter().map(Warning::Server).collect();
    Ok(Embedded::new(attachment, warnings))
}

/// How processes share a database, if that is what failed.
#[cfg(feature = "embedded")]
fn shared(error: Error) -> Error {
    if !error.gds_codes().contains(&gds::ISC_ALREADY_OPENED) {
        return error;
    }
    error.context(
        "another process has this database open in its own engine; to share it, open it with server_mode=classic in every process",
    )
}

macro_rules! each {
    ($self:ident, $backend:ident => $call:expr) => {
        match $self {
            Self::Wire($backend) => $call,
            #[cfg(feature = "embedded")]
            Self::Embedded($backend) => $call,
        }
    };
}

impl<L: Link> Backend for AnyBackend<L> {
    async fn connect_again(&mut self, config: &Config, key: &mut KeyHolder<'_>) -> Result<Self> {
        Self::attach(config, false, key).await
    }

    async fn pause(&mut self, time: Duration) {
        each!(self, backend => backend.pause(time).await)
    }

    async fn begin(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        each!(self, backend => backend.begin(tpb).await)
    }

    async fn begin_deferred(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        each!(self, backend => backend.begin_deferred(tpb).await)
    }

    fn will_change(&mut self, transaction: TransactionId) {
        each!(self, backend => backend.will_change(transaction));
    }

    fn renumbered(&mut self, transaction: TransactionId) {
        each!(self, backend => backend.renumbered(transaction));
    }

    fn is_open(&self, transaction: TransactionId) -> bool {
        each!(self, backend => backend.is_open(transaction))
    }

    async fn end(&mut self, transaction: TransactionId, end: End) -> Result<()> {
        each!(self, backend => backend.end(transaction, end).await)
    }

    async fn prepare_commit(&mut self, transaction: TransactionId, message: &[u8]) -> Result<()> {
        each!(self, backend => backend.prepare_commit(transaction, message).await)
    }

    async fn recover(&mut self, number: u64) -> Result<TransactionId> {
        each!(self, backend => backend.recover(number).await)
    }

    async fn leave(&mut self, transaction: TransactionId) -> Result<()> {
        each!(self, backend => backend.leave(transaction).await)
    }

    async fn transaction_info(&mut self, transaction: TransactionId, items: &[u8]) -> Result<Vec<u8>> {
        each!(self, backend => backend.transaction_info(transaction, items).await)
    }

    async fn database_info(&mut self, items: &[u8]) -> Result<Vec<u8>> {
        each!(self, backend => backend.database_info(items).await)
    }

    async fn execute_immediate(&mut self, transaction: TransactionId, sql: Sql<'_>) -> Result<Executed> {
        each!(self, backend => backend.execute_immediate(transaction, sql).await)
    }

    async fn prepare(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
    ) -> Result<(StatementId, StatementInfo)> {
        each!(self, backend => backend.prepare(transaction, sql).await)
    }

    async fn prepare_known(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
        known: &Arc<StatementInfo>,
    ) -> Result<StatementId> {
        each!(self, backend => backend.prepare_known(transaction, sql, known).await)
    }

    async fn statement_info(&mut self, statement: StatementId, items: &[u8]) -> Result<Vec<u8>> {
        each!(self, backend => backend.statement_info(statement, items).await)
    }

    async fn execute(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
    ) -> Result<Executed> {
        each!(self, backend => backend.execute(statement, transaction, parameters, output).await)
    }

    async fn execute_and_commit(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
    ) -> Result<Executed> {
        each!(self, backend => backend.execute_and_commit(statement, transaction, parameters).await)
    }

    async fn open_batch(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<bool> {
        each!(self, backend => backend.open_batch(writer, layout).await)
    }

    async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        each!(self, backend => backend.write(writer, chunk).await)
    }

    async fn settle(&mut self, writer: &mut Writer) -> Result<()> {
        each!(self, backend => backend.settle(writer).await)
    }

    async fn collect(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        builder: &mut BatchBuilder,
    ) -> Result<bool> {
        each!(self, backend => backend.collect(writer, series, builder).await)
    }

    async fn end_series(&mut self, writer: &mut Writer, series: &mut Series) -> Result<()> {
        each!(self, backend => backend.end_series(writer, series).await)
    }

    async fn open_cursor(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        each!(self, backend => backend.open_cursor(statement, transaction, parameters, output).await)
    }

    fn can_scroll(&self) -> bool {
        each!(self, backend => backend.can_scroll())
    }

    async fn open_scrollable(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        each!(self, backend => backend.open_scrollable(statement, transaction, parameters, output).await)
    }

    fn scroll(&mut self, statement: StatementId, to: Move, rows: usize) -> Result<()> {
        each!(self, backend => backend.scroll(statement, to, rows))
    }

    async fn fetch(&mut self, statement: StatementId, builder: &mut BatchBuilder) -> Result<bool> {
        each!(self, backend => backend.fetch(statement, builder).await)
    }

    async fn close_cursor(&mut self, statement: StatementId) -> Result<()> {
        each!(self, backend => backend.close_cursor(statement).await)
    }

    async fn free_statement(&mut self, statement: StatementId) -> Result<()> {
        each!(self, backend => backend.free_statement(statement).await)
    }

    fn expect_more(&mut self, follows: bool) {
        each!(self, backend => backend.expect_more(follows))
    }

    async fn read_blobs(
        &mut self,
        transaction: TransactionId,
        blobs: &[Wanted],
        take: &mut Take<'_>,
    ) -> Result<()> {
        each!(self, backend => backend.read_blobs(transaction, blobs, take).await)
    }

    async fn open_blob(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)> {
        each!(self, backend => backend.open_blob(transaction, id).await)
    }

    async fn read_blob(&mut self, blob: BlobId, out: &mut Vec<u8>) -> Result<bool> {
        each!(self, backend => backend.read_blob(blob, out).await)
    }

    async fn seek_blob(&mut self, blob: BlobId, offset: u64) -> Result<u64> {
        each!(self, backend => backend.seek_blob(blob, offset).await)
    }

    async fn close_blob(&mut self, blob: BlobId) -> Result<()> {
        each!(self, backend => backend.close_blob(blob).await)
    }

    async fn write_blobs(&mut self, transaction: TransactionId, blobs: &[&[u8]]) -> Result<Vec<u64>> {
        each!(self, backend => backend.write_blobs(transaction, blobs).await)
    }

    async fn write_arrays(&mut self, transaction: TransactionId, arrays: &[Slice<'_>]) -> Result<Vec<u64>> {
        each!(self, backend => backend.write_arrays(transaction, arrays).await)
    }

    async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()> {
        each!(self, backend => backend.queue_events(block, inbox).await)
    }

    async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()> {
        each!(self, backend => backend.cancel_events(inbox).await)
    }

    async fn ping(&mut self) -> Result<()> {
        each!(self, backend => backend.ping().await)
    }

    async fn keep_alive(&mut self) -> Result<()> {
        each!(self, backend => backend.keep_alive().await)
    }

    fn lost_commit(&mut self, transaction: TransactionId, error: Error) -> Error {
        each!(self, backend => backend.lost_commit(transaction, error))
    }

    fn limit_patience(&mut self, time: Duration) {
        each!(self, backend => backend.limit_patience(time))
    }

    async fn detach(&mut self) -> Result<()> {
        each!(self, backend => backend.detach().await)
    }

    async fn drop_database(&mut self) -> Result<()> {
        each!(self, backend => backend.drop_database().await)
    }

    fn limit_inline_blobs(&mut self, longest: u32) {
        each!(self, backend => backend.limit_inline_blobs(longest));
    }

    fn begin_call(&mut self, operation: &Operation) {
        each!(self, backend => backend.begin_call(operation))
    }

    fn end_call(&mut self) {
        each!(self, backend => backend.end_call())
    }

    fn set_timeout(&mut self, statement: StatementId, timeout: Option<Duration>) -> Result<()> {
        each!(self, backend => backend.set_timeout(statement, timeout))
    }

    fn is_late(&self) -> bool {
        each!(self, backend => backend.is_late())
    }

    fn transport(&self) -> Transport {
        each!(self, backend => backend.transport())
    }

    fn has_time_zones(&self) -> bool {
        each!(self, backend => backend.has_time_zones())
    }

    fn wire_stats(&self) -> WireStats {
        each!(self, backend => backend.wire_stats())
    }

    fn abort(&mut self) {
        each!(self, backend => backend.abort());
    }

    fn is_failed(&self) -> bool {
        each!(self, backend => backend.is_failed())
    }
}
