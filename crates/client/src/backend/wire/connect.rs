//! Connects to a server and attaches to a database.

use super::Wire;
use super::blob_window::BlobWindow;
use super::cursor::OpenCursors;
use super::event::{EventChannel, EventRoute};
use super::formats::Formats;
use super::interruption::Interruption;
use super::known_links::{RememberedLink, gains_from_compression};
use super::known_plugins;
use super::new_blob::NewBlobStreams;
use super::open_blob::OpenBlobs;
use super::patience::Patience;
use super::router::Router;
use super::statement::StatementHandles;
use super::transaction::OpenTransactions;
use crate::backend::link::{Link, unreachable};
use crate::backend::{Backend, Reconnect};
use crate::config::{Config, Target, WireCompression, WireCrypt};
use crate::db_key::KeyHolder;
use crate::error::{Error, Kind, Result};
use crate::warning::Warning;
use firearrow_proto::wire::connection::{ConnectOptions, PASSWORD_ADVICE};
use firearrow_proto::wire::{Connection, Event, Limits};
use std::time::{Duration, Instant};

impl<L: Link> Reconnect for Wire<L> {
    async fn connect_again(&mut self, config: &Config, key: &mut KeyHolder<'_>) -> Result<Self> {
        match &config.target {
            Target::Remote { host, port, database } => {
                Self::connect(config, (host, *port), database, false, key).await
            }
            Target::Embedded { .. } => Err(Error::new(Kind::Misuse, "this is not a connection to a server")),
        }
    }
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
        let server = (host.to_owned(), port);
        let mut options = connect_options(config, database, create)?;
        options.compress |= config.compress == WireCompression::Auto && gains_from_compression(&server);
        known_plugins::put_first(&server, &mut options.auth_plugins);
        let has_password = !options.password.is_empty();
        let attached = Self::attach(link, options, key, deadline, config.read_timeout).await;
        known_plugins::remember(
            &server,
            attached.as_ref().ok().and_then(|wire| wire.connection.auth_plugin()),
        );
        // The handshake says it itself; the server only says that user name and password are not defined.
        let mut wire = attached.map_err(|error| match error.kind() {
            Kind::Login if !has_password && error.status().is_some() => {
                error.context(format_args!("no password was given for {}: {PASSWORD_ADVICE}", config.login()))
            }
            _ => error,
        })?;
        (wire.remembered.server, wire.remembered.is_compressed) =
            (Some(server), wire.connection.is_compressed());
        if wire.transport().cipher.is_none() {
            let warning = Warning::of_clear_text(config, &format!("{host}:{port}"), peer);
            wire.warnings.extend(warning);
        }
        wire.configure_inline_blobs(config.max_inline_blob_size, config.max_blob_cache_size);
        wire.events.route = Some(EventRoute::new(config, host, peer));
        Ok(wire)
    }

    /// Performs the whole handshake before `deadline`.
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
            cursors: OpenCursors::default(),
            statements: StatementHandles::default(),
            formats: Formats::default(),
            message: Vec::new(),
            transactions: OpenTransactions::default(),
            open_blobs: OpenBlobs::default(),
            new_blobs: NewBlobStreams::default(),
            blob_window: BlobWindow::default(),
            interruption: Interruption::default(),
            patience: Patience::until(deadline),
            remembered: RememberedLink::default(),
            events: EventChannel::default(),
            warnings: Vec::new(),
        };
        loop {
            match wire.connection.next_event()? {
                Some(Event::Attached(status)) => {
                    wire.warnings.extend(Warning::of_status(&status));
                    break;
                }
                Some(Event::KeyCallback(callback)) => {
                    let encrypted = wire.connection.cipher().is_some();
                    let answer = key.answer::<L>(callback.reply_limit, encrypted, deadline).await?;
                    wire.connection.reply_key(answer);
                }
                Some(_) => {}
                None => {
                    wire.exchange().await.map_err(|error| match error.kind() {
                        Kind::Timeout => error.context("connecting took longer than connect_timeout"),
                        _ => error,
                    })?;
                }
            }
        }
        wire.patience = Patience::for_each(read_timeout);
        Ok(wire)
    }

    /// Sets the longest BLOB that the server sends ahead of its row, and how many bytes of these BLOBs are kept; `None`
    /// = default.
    pub(crate) fn configure_inline_blobs(&mut self, longest: Option<u32>, limit: Option<u32>) {
        self.cursors.inline.configure(longest, limit);
    }
}

/// Length of the private key of an SRP exchange, in bytes.
const SRP_PRIVATE_BYTES: usize = 32;

/// The part of a [`Config`] that the handshake needs.
pub(crate) fn connect_options(config: &Config, database: &str, create: bool) -> Result<ConnectOptions> {
    let mut srp_private = vec![0; SRP_PRIVATE_BYTES];
    getrandom::fill(&mut srp_private).map_err(|error| {
        Error::new(Kind::Io, format!("the operating system provides no random bytes: {error}"))
    })?;
    let environment = |name: &str| std::env::var(name).unwrap_or_default();
    Ok(ConnectOptions {
        database: database.to_owned(),
        create,
        login: config.login().to_owned(),
        password: config.password.as_ref().map(|password| password.reveal().to_owned()).unwrap_or_default(),
        auth_plugins: config.auth_plugins.clone(),
        // If the user names a cipher, clear text is not acceptable.
        wire_crypt: if config.must_encrypt() { WireCrypt::Required } else { config.wire_crypt },
        ciphers: match config.ciphers.as_slice() {
            [] => ConnectOptions::DEFAULT_CIPHERS.to_vec(),
            ciphers => ciphers.to_vec(),
        },
        allow_no_authentication: config.allow_no_authentication,
        compress: config.compress == WireCompression::On,
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
