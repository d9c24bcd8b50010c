//! The operations of an engine as exchanges over a link.

mod array;
mod blob;
mod cursor;
mod event;
#[cfg(test)]
mod in_step;
mod inline;
mod interruption;
mod open_blob;
mod patience;
mod router;
mod scroll;
mod series;
mod statement;
#[cfg(test)]
mod stuck;
mod transaction;
pub(crate) mod write;

use super::link::{Link, unreachable};
use super::{
    Backend, BlobId, Chunk, End, Executed, Message, Series, Sql, StatementId, Take, TransactionId, Transport,
    Wanted, Writer,
};
use crate::arrow::BatchBuilder;
use crate::cancel::Operation;
use crate::config::{Config, Target, WireCrypt};
use crate::db_key::KeyHolder;
use crate::error::{Error, Kind, Result};
use crate::event::Inbox;
use crate::stats::WireStats;
use crate::warning::Warning;
use blob::Window;
use cursor::Cursors;
use event::{EventRoute, Events};
use firearrow_proto::api::array::Slice;
use firearrow_proto::api::describe::StatementInfo;
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::scroll::Move;
use firearrow_proto::wire::connection::ConnectOptions;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::packet::transaction::{PrepareTransaction, Reconnect};
use firearrow_proto::wire::packet::{Request, attach, info};
use firearrow_proto::wire::{Connection, Event, Limits, ProtocolError, Ticket};
use interruption::Interruption;
use open_blob::OpenBlobs;
use patience::{Patience, Writing};
use router::Router;
pub(crate) use series::Lanes;
use statement::Statements;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};
use transaction::{Handle, Transactions};

/// The most that servers make use of: they keep the length of these answers in 16 bits.
const DATABASE_INFO_BUFFER: u32 = 65535;

/// A database attached over a link.
pub(crate) struct Wire<L> {
    connection: Connection,
    limits: Limits,
    link: L,
    router: Router,
    cursors: Cursors,
    statements: Statements,
    transactions: Transactions,
    open_blobs: OpenBlobs,
    window: Window,
    interruption: Interruption,
    patience: Patience,
    /// The shortest wait for an answer while connecting.
    round_trip: Duration,
    events: Events,
    /// About the connection itself.
    pub(crate) warnings: Vec<Warning>,
}

impl<L: Link> Wire<L> {
    /// Connects to a server and attaches to a database, within the time that the configuration allows.
    pub(crate) async fn connect(
        config: &Config,
        (host, port): (&str, u16),
        database: &str,
        create: bool,
        key: &mut KeyHolder<'_>,
    ) -> Result<Self> {
        let deadline = Instant::now() + config.connect_timeout;
        let link = L::connect(host, port, config.address_family, deadline).await;
        let link = link.map_err(|error| {
            let text = format!("cannot reach a Firebird server at {host}:{port}: {error}");
            unreachable(&error, text)
        })?;
        let peer = link.peer();
        let options = connect_options(config, database, create)?;
        let mut wire = Self::attach(link, options, key, deadline, config.read_timeout).await?;
        if wire.transport().cipher.is_none() {
            let warning = Warning::of_clear_text(config, &format!("{host}:{port}"), peer);
            wire.warnings.extend(warning);
        }
        wire.configure_inline_blobs(config.max_inline_blob_size, config.max_blob_cache_size);
        wire.events.route = Some(EventRoute::new(config, host, peer));
        Ok(wire)
    }

    /// Goes through the whole handshake before `deadline`.
    pub(crate) async fn attach(
        link: L,
        options: ConnectOptions,
        key: &mut KeyHolder<'_>,
        deadline: Instant,
        read_timeout: Option<Duration>,
    ) -> Result<Self> {
        let limits = Limits::default();
        let connection = Connection::open(options, limits)?;
        let mut wire = Self {
            connection,
            limits,
            link,
            router: Router::default(),
            cursors: Cursors::default(),
            statements: Statements::default(),
            transactions: Transactions::default(),
            open_blobs: OpenBlobs::default(),
            window: Window::default(),
            interruption: Interruption::default(),
            patience: Patience::until(deadline),
            round_trip: Duration::MAX,
            events: Events::default(),
            warnings: Vec::new(),
        };
        loop {
            match wire.connection.next_event()? {
                Some(Event::Attached(status)) => {
                    wire.warnings.extend(status.lines(true).into_iter().map(Warning::Server));
                    break;
                }
                Some(Event::KeyCallback(callback)) => {
                    let encrypted = wire.connection.cipher().is_some();
                    wire.connection.reply_key(key.answer(callback.reply_limit, encrypted, deadline)?);
                }
                Some(_) => {}
                None => {
                    let (start, trips) = (Instant::now(), wire.connection.stats().round_trips);
                    wire.exchange().await.map_err(|error| match error.kind() {
                        Kind::Timeout => error.context("connecting took longer than connect_timeout"),
                        _ => error,
                    })?;
                    if wire.connection.stats().round_trips > trips {
                        wire.round_trip = wire.round_trip.min(start.elapsed());
                    }
                }
            }
        }
        wire.patience = Patience::for_each(read_timeout);
        Ok(wire)
    }

    /// Longest BLOB that comes ahead of its row, and bytes of such that are kept; `None` for the usual.
    pub(crate) fn configure_inline_blobs(&mut self, longest: Option<u32>, limit: Option<u32>) {
        self.cursors.inline.configure(longest, limit);
    }

    /// Writes what is queued, then reads once.
    async fn exchange(&mut self) -> Result<()> {
        self.flush().await?;
        loop {
            let now = Instant::now();
            if self.patience.is_over(self.connection.answers(), now) {
                return Err(self.link_failed(ErrorKind::TimedOut.into()));
            }
            // Whether bytes come or not: a peer may send some every now and then, and never an answer.
            if self.interruption.is_time_to_look(now) {
                self.look_for_interruption().await?;
            }
            let space = self.connection.space()?;
            match self.link.read(space).await {
                Ok(count) => return Ok(self.connection.received(count)?),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.link_failed(error)),
            }
        }
    }

    /// Writes what is queued.
    async fn flush(&mut self) -> Result<()> {
        let bytes = self.connection.outgoing()?;
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(time) = self.events.settling() {
            L::pause(time).await;
        }
        let (mut taken, mut writing) = (0, Writing::begin());
        let failed = loop {
            match self.link.write(&bytes[taken..]).await {
                Ok(0) => break Some(ErrorKind::WriteZero.into()),
                Ok(count) => taken += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => break Some(error),
            }
            if taken == bytes.len() {
                break None;
            }
            if writing.is_over(taken, &self.patience) {
                break Some(ErrorKind::TimedOut.into());
            }
            // In the middle of a packet there is no other way to end.
            if self.interruption.is_overdue() {
                return Err(self.give_up());
            }
        };
        match failed {
            None => {
                self.connection.sent();
                self.interruption.has_sent();
                self.statements.has_sent();
                Ok(())
            }
            Some(error) => Err(self.link_failed(error)),
        }
    }

    /// A link that failed in the middle of a packet cannot be used again.
    fn link_failed(&mut self, error: std::io::Error) -> Error {
        self.connection.fail(ProtocolError::Closed);
        match error.kind() {
            ErrorKind::TimedOut => {
                Error::new(Kind::Timeout, "the server did not answer in time; the connection was closed")
            }
            _ => Error::new(Kind::Closed, format!("the connection to the server broke: {error}")),
        }
    }

    /// Queues a request whose answer somebody will wait for.
    fn ask<R: Request>(&mut self, request: &R) -> Result<Ticket> {
        self.transactions.sends(R::OP);
        Ok(self.connection.send(request)?)
    }

    /// Queues a request whose answer nobody waits for; the server may hold it back. Failures are logged.
    fn tell<R: Request>(&mut self, request: &R) -> Result<()> {
        self.transactions.sends(R::OP);
        let ticket = self.connection.send(request)?;
        self.router.ignore(ticket);
        Ok(())
    }

    /// Waits for the answer to `ticket`, whatever it says.
    async fn answer(&mut self, ticket: Ticket) -> Result<Response> {
        loop {
            if let Some(response) = self.router.take(ticket) {
                return Ok(response);
            }
            self.step().await?;
        }
    }

    /// Waits for the answer to `ticket`; an error status becomes an error.
    async fn success(&mut self, ticket: Ticket) -> Result<Response> {
        success(self.answer(ticket).await?)
    }

    /// Handles one event, or exchanges bytes when there is none.
    async fn step(&mut self) -> Result<()> {
        self.check_held()?;
        match self.connection.next_event()? {
            Some(event) => {
                self.router.route(event, &mut self.cursors);
                Ok(())
            }
            None => self.exchange().await,
        }
    }

    /// To be called before each event: what came unasked for must not grow without bounds while somebody waits for something
    /// else.
    fn check_held(&mut self) -> Result<()> {
        let (held, limit) = (self.router.held() + self.cursors.held(), self.limits.held);
        if held <= limit {
            return Ok(());
        }
        let (length, limit) = (held as u64, limit as u64);
        let what = "rows and answers that nobody has waited for";
        Err(self.connection.fail(ProtocolError::TooLong { what, length, limit }).into())
    }

    async fn call<R: Request>(&mut self, request: &R) -> Result<Response> {
        let ticket = self.ask(request)?;
        self.success(ticket).await
    }
}

/// An error status becomes an error.
fn success(response: Response) -> Result<Response> {
    if response.status.is_error() { Err(Error::engine(response.status)) } else { Ok(response) }
}

/// Handles of statements and BLOBs fit 16 bits on the wire; the wider ids of this crate come from them.
fn handle(id: u32) -> u16 {
    id as u16
}

impl<L: Link> Backend for Wire<L> {
    async fn connect_again(&mut self, config: &Config, key: &mut KeyHolder<'_>) -> Result<Self> {
        match &config.target {
            Target::Remote { host, port, database } => {
                Self::connect(config, (host, *port), database, false, key).await
            }
            Target::Embedded { .. } => Err(Error::new(Kind::Misuse, "this is no connection to a server")),
        }
    }

    async fn pause(&mut self, time: Duration) {
        L::pause(time).await;
    }

    async fn begin(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        self.start(tpb).await
    }

    async fn begin_deferred(&mut self, tpb: &[u8]) -> Result<TransactionId> {
        Ok(self.start_deferred(tpb))
    }

    fn will_change(&mut self, transaction: TransactionId) {
        self.transactions.want_number(transaction);
    }

    fn renumbered(&mut self, transaction: TransactionId) {
        self.transactions.forget_number(transaction);
    }

    fn is_open(&self, transaction: TransactionId) -> bool {
        self.transactions.has(transaction)
    }

    async fn end(&mut self, transaction: TransactionId, end: End) -> Result<()> {
        self.finish(transaction, end).await
    }

    async fn prepare_commit(&mut self, id: TransactionId, message: &[u8]) -> Result<()> {
        let Handle(transaction) = self.transaction(id).await?;
        self.call(&PrepareTransaction { transaction, message }).await.map(|_| ())
    }

    async fn recover(&mut self, number: u64) -> Result<TransactionId> {
        let handle = self.call(&Reconnect { number }).await?.object;
        Ok(self.transactions.take_over(Handle(handle), number))
    }

    async fn leave(&mut self, id: TransactionId) -> Result<()> {
        // There is no request for it: the server lets go when the connection ends, however it does.
        let handle = self.transaction(id).await?;
        self.cursors.inline.forget(handle);
        Ok(())
    }

    async fn transaction_info(&mut self, id: TransactionId, items: &[u8]) -> Result<Vec<u8>> {
        let Handle(object) = self.transaction(id).await?;
        let request = info::InfoTransaction { object, items, buffer_length: 1024 };
        Ok(self.call(&request).await?.data)
    }

    async fn database_info(&mut self, items: &[u8]) -> Result<Vec<u8>> {
        let request = info::InfoDatabase { object: 0, items, buffer_length: DATABASE_INFO_BUFFER };
        Ok(self.call(&request).await?.data)
    }

    async fn execute_immediate(&mut self, id: TransactionId, sql: Sql<'_>) -> Result<Executed> {
        self.transactions.note_change(id);
        self.run_immediate(id, sql).await
    }

    async fn prepare(&mut self, id: TransactionId, sql: Sql<'_>) -> Result<(StatementId, StatementInfo)> {
        self.prepare_statement(id, sql).await
    }

    async fn prepare_known(
        &mut self,
        transaction: TransactionId,
        sql: Sql<'_>,
        known: &Arc<StatementInfo>,
    ) -> Result<StatementId> {
        self.prepare_unconfirmed(transaction, sql, known).await
    }

    async fn statement_info(&mut self, statement: StatementId, items: &[u8]) -> Result<Vec<u8>> {
        let request = info::InfoSql { object: handle(statement.0), items, buffer_length: 65000 };
        Ok(self.call(&request).await?.data)
    }

    async fn execute(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: Option<(&Arc<RowLayout>, &mut BatchBuilder)>,
    ) -> Result<Executed> {
        self.transactions.note_change(transaction);
        self.run_statement(statement, transaction, parameters, output, None).await
    }

    async fn execute_and_commit(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
    ) -> Result<Executed> {
        // The commit that travels along succeeds even if the statement fails, and must find nothing that was done before.
        if self.transactions.has_work(transaction) {
            let executed = self.execute(statement, transaction, parameters, None).await?;
            self.finish(transaction, End::Commit).await?;
            return Ok(executed);
        }
        self.run_statement(statement, transaction, parameters, None, Some(End::Commit)).await
    }

    async fn open_batch(&mut self, writer: &Writer, layout: &Arc<RowLayout>) -> Result<bool> {
        self.start_batch(writer, layout).await
    }

    async fn write(&mut self, writer: &mut Writer, chunk: Chunk) -> Result<()> {
        let owner = writer.transaction;
        self.transactions.note_change(owner);
        let handle = self.transaction(owner).await?;
        self.ask_number(owner, handle)?;
        self.send_rows(writer, chunk).await
    }

    async fn settle(&mut self, writer: &mut Writer) -> Result<()> {
        self.settle_all(writer).await
    }

    async fn collect(
        &mut self,
        writer: &mut Writer,
        series: &mut Series,
        builder: &mut BatchBuilder,
    ) -> Result<bool> {
        self.collect_rows(writer, series, builder).await
    }

    async fn end_series(&mut self, writer: &mut Writer, series: &mut Series) -> Result<()> {
        self.finish_series(writer, series).await
    }

    async fn open_cursor(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        self.transactions.note_work(transaction);
        self.start_cursor(statement, transaction, parameters, output, false).await
    }

    fn can_scroll(&self) -> bool {
        self.connection.version().is_some_and(|version| version.has_cursor_flags())
    }

    async fn open_scrollable(
        &mut self,
        statement: StatementId,
        transaction: TransactionId,
        parameters: Option<Message<'_>>,
        output: &Arc<RowLayout>,
    ) -> Result<()> {
        self.transactions.note_work(transaction);
        self.start_cursor(statement, transaction, parameters, output, true).await
    }

    fn scroll(&mut self, statement: StatementId, to: Move, rows: usize) -> Result<()> {
        self.set_out(statement, to, rows)
    }

    async fn fetch(&mut self, statement: StatementId, builder: &mut BatchBuilder) -> Result<bool> {
        self.fill(statement, builder).await
    }

    async fn close_cursor(&mut self, statement: StatementId) -> Result<()> {
        self.leave_cursor(statement).await?;
        self.send_releases().await
    }

    async fn free_statement(&mut self, statement: StatementId) -> Result<()> {
        self.release_statement(statement)?;
        self.send_releases().await
    }

    fn expect_more(&mut self, follows: bool) {
        self.statements.expect_more(follows);
    }

    async fn read_blobs(
        &mut self,
        transaction: TransactionId,
        blobs: &[Wanted],
        take: &mut Take<'_>,
    ) -> Result<()> {
        let transaction = self.transaction(transaction).await?;
        self.read_many_blobs(transaction, blobs, take).await
    }

    async fn open_blob(&mut self, transaction: TransactionId, id: u64) -> Result<(BlobId, u64, bool)> {
        self.open_stream(transaction, id).await
    }

    async fn read_blob(&mut self, blob: BlobId, out: &mut Vec<u8>) -> Result<bool> {
        self.read_stream(blob, out).await
    }

    async fn seek_blob(&mut self, blob: BlobId, offset: u64) -> Result<u64> {
        self.seek_stream(blob, offset).await
    }

    async fn close_blob(&mut self, blob: BlobId) -> Result<()> {
        self.close_stream(blob)
    }

    async fn write_blobs(&mut self, transaction: TransactionId, blobs: &[&[u8]]) -> Result<Vec<u64>> {
        let transaction = self.transaction(transaction).await?;
        self.write_many_blobs(transaction, blobs).await
    }

    async fn write_arrays(&mut self, transaction: TransactionId, arrays: &[Slice<'_>]) -> Result<Vec<u64>> {
        let transaction = self.transaction(transaction).await?;
        self.write_many_arrays(transaction, arrays).await
    }

    async fn queue_events(&mut self, block: &[u8], inbox: &Arc<Inbox>) -> Result<()> {
        self.ask_for_events(block, inbox).await
    }

    async fn cancel_events(&mut self, inbox: &Arc<Inbox>) -> Result<()> {
        self.stop_asking(inbox).await
    }

    async fn ping(&mut self) -> Result<()> {
        self.call(&attach::Ping).await.map(|_| ())
    }

    async fn keep_alive(&mut self) -> Result<()> {
        let _ = self.connection.send(&attach::Dummy)?; // no answer will come
        self.flush().await
    }

    fn lost_commit(&mut self, transaction: TransactionId, error: Error) -> Error {
        self.error_of_lost_commit(transaction, error)
    }

    fn limit_patience(&mut self, time: Duration) {
        let until = Instant::now() + time;
        self.patience.until = Some(self.patience.until.map_or(until, |earlier| earlier.min(until)));
    }

    async fn detach(&mut self) -> Result<()> {
        let ticket = self.ask(&attach::Detach)?;
        let _ = self.connection.send(&attach::Disconnect)?; // no answer will come
        let result = self.success(ticket).await.map(|_| ());
        self.connection.fail(ProtocolError::Closed);
        result
    }

    async fn drop_database(&mut self) -> Result<()> {
        self.call(&attach::DropDatabase).await?;
        let _ = self.connection.send(&attach::Disconnect)?; // no answer will come
        self.flush().await?;
        self.connection.fail(ProtocolError::Closed);
        Ok(())
    }

    fn limit_inline_blobs(&mut self, longest: u32) {
        self.cursors.inline.next_limit = Some(longest);
    }

    fn begin_call(&mut self, operation: &Operation) {
        self.patience.begin_call();
        self.interruption.begin_call(operation);
    }

    fn end_call(&mut self) {
        if let Err(error) = self.end_interruption() {
            // The connection says so when it is used.
            tracing::debug!(%error, "an interruption may be pending");
        }
    }

    fn set_timeout(&mut self, _: StatementId, timeout: Option<Duration>) -> Result<()> {
        self.interruption.timeout = timeout;
        Ok(())
    }

    fn is_late(&self) -> bool {
        self.interruption.is_late()
    }

    fn transport(&self) -> Transport {
        Transport {
            protocol: self.connection.version().map(|version| version.number()),
            cipher: self.connection.cipher().map(|cipher| cipher.name()),
            compressed: self.connection.is_compressed(),
        }
    }

    fn has_time_zones(&self) -> bool {
        // Protocol 16 came with Firebird 4, as these types did.
        self.connection.version().is_some_and(|version| version.has_statement_timeout())
    }

    fn wire_stats(&self) -> WireStats {
        *self.connection.stats()
    }

    fn abort(&mut self) {
        self.connection.fail(ProtocolError::Closed);
        self.link.shut_down();
    }

    fn is_failed(&self) -> bool {
        self.connection.failure().is_some()
    }
}

/// The private key of one SRP exchange.
const SRP_PRIVATE_BYTES: usize = 32;

/// What the handshake needs of a [`Config`].
pub(crate) fn connect_options(config: &Config, database: &str, create: bool) -> Result<ConnectOptions> {
    let mut srp_private = vec![0; SRP_PRIVATE_BYTES];
    getrandom::fill(&mut srp_private)
        .map_err(|error| Error::new(Kind::Io, format!("no randomness from the operating system: {error}")))?;
    let environment = |name: &str| std::env::var(name).unwrap_or_default();
    Ok(ConnectOptions {
        database: database.to_owned(),
        create,
        login: config.login().to_owned(),
        password: config.password.as_ref().map(|password| password.reveal().to_owned()).unwrap_or_default(),
        auth_plugins: config.auth_plugins.clone(),
        // Whoever names a cipher wants that one, not clear text.
        wire_crypt: if config.must_encrypt() { WireCrypt::Required } else { config.wire_crypt },
        ciphers: match config.ciphers.as_slice() {
            [] => ConnectOptions::DEFAULT_CIPHERS.to_vec(),
            ciphers => ciphers.to_vec(),
        },
        allow_no_authentication: config.allow_no_authentication,
        compress: config.compress,
        versions: ConnectOptions::default_versions()
            .into_iter()
            .filter(|version| config.protocol.contains(&version.number()))
            .collect(),
        os_user: environment("USER"),
        host_name: environment("HOSTNAME"),
        dpb: if create { config.dpb_for_create() } else { config.dpb() },
        srp_private,
    })
}
