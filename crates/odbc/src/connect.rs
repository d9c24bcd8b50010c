//! Connecting and disconnecting.

use crate::attributes::connection::{bit as isolation_bit, has_transaction, level};
use crate::connection_string::{Attributes, Settings, of_connecting, of_statement, settings};
use crate::diagnostics::{Failure, Result, State};
use crate::handle::{Connection, Link, StatementAttributes, registry};
use crate::info::{Facts, Release};
use crate::types::{self, TypeOptions};
use firearrow::config::Target;
use firearrow::{Config, Dialect, ReadOptions};
use firearrow_driver::{Activity, Session, Statement, StatementOptions};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

impl Connection {
    /// Connects, and returns the attributes that had an effect. `wide` says whether the application called a wide
    /// function.
    pub(crate) fn connect(&mut self, attributes: &Attributes, wide: bool) -> Result<Attributes> {
        if self.link.is_some() {
            return Err(Failure::new(State::CONNECTED, "the connection is open already"));
        }
        self.browsing = None;
        let mut settings = settings(attributes, self.attributes.login_timeout)?;
        self.apply(&mut settings);
        for warning in std::mem::take(&mut settings.warnings) {
            self.diagnostics.add(warning);
        }
        let activity = Arc::<Activity>::default();
        registry::set_activity(self.id, Some(Arc::clone(&activity)));
        let opened = self.open(&settings, wide, &activity);
        registry::set_activity(self.id, None);
        let link = opened.map_err(while_connecting)?;
        self.attributes.query_timeout = link.initial.query_timeout;
        self.link = Some(Arc::new(link));
        Ok(settings.effective)
    }

    /// Attributes that were set before connecting take precedence.
    fn apply(&self, settings: &mut Settings) {
        let attributes = &self.attributes;
        settings.session.autocommit = attributes.autocommit;
        if let Some(read_only) = attributes.read_only {
            settings.session.read_only = read_only;
        }
        if let Some(level) = attributes.isolation.and_then(level) {
            settings.session.level = level;
        }
        if attributes.connection_timeout > 0 {
            settings.config.read_timeout = Some(Duration::from_secs(attributes.connection_timeout.into()));
        }
    }

    fn open(&self, settings: &Settings, wide: bool, activity: &Arc<Activity>) -> Result<Link> {
        let task = Activity::begin(&[activity]);
        let session = task.run(|| Session::open(&settings.config, settings.session.clone()));
        let session = session.map_err(|error| {
            let failure = Failure::from(error);
            Failure { text: of_connecting(&failure.text), ..failure }
        })?;
        let session = Arc::new(session);
        for sql in &settings.odbc.connect_sql {
            let mut statement = Statement::new(&session, StatementOptions::default());
            statement.set_query(sql).and_then(|()| statement.update()).map_err(|error| {
                let failure = Failure::from(error);
                Failure { text: of_statement(sql, &failure.text), ..failure }
            })?;
        }
        let connection = session.connection()?;
        let dialect = connection.dialect();
        let info = session.info()?;
        let server = match &settings.config.target {
            Target::Remote { host, .. } => host.clone(),
            _ => String::new(),
        };
        let facts = Facts {
            release: Release::read(&info.implementation),
            dialect,
            data_source: settings.odbc.dsn.clone(),
            server,
            database: settings.config.target.database().to_owned(),
            user: info.user.clone(),
            is_read_only: info.read_only || settings.session.read_only,
            page_size: info.page_size,
            isolation: isolation_bit(settings.session.level),
            commits_ddl: settings.session.ddl_autocommit,
            is_sensitive: settings.odbc.sensitive_identifiers,
            has_quotes: settings.odbc.quoted_identifiers,
        };
        let initial = StatementAttributes {
            query_timeout: settings.odbc.query_timeout as usize,
            metadata_id: self.attributes.metadata_id,
            ..StatementAttributes::default()
        };
        let types = TypeOptions {
            has_binary: facts.release.is_4(),
            ..settings.odbc.types(wide && !self.attributes.ansi_app)
        };
        Ok(Link {
            dialect,
            is_odbc2: self.is_odbc2,
            types,
            read: types::read_options(switches(&settings.config)?, &types),
            fromless_select: settings.odbc.fromless_select && dialect == Dialect::Three,
            failed_sets_are_errors: settings.odbc.failed_sets_are_errors,
            release: (facts.release.major, facts.release.minor),
            cursor_names: Mutex::new(HashMap::new()),
            defaults: Mutex::new(initial),
            initial,
            initial_session: settings.session.clone(),
            connection: self.id,
            facts,
            session,
            ends: AtomicU64::new(0),
        })
    }

    /// `SQLDisconnect`
    pub(crate) fn disconnect(&mut self, free_children: impl FnOnce(&mut Self)) -> Result<()> {
        if self.browsing.take().is_some() {
            // Nothing was opened yet.
            return Ok(());
        }
        let link = Arc::clone(self.expect_open()?);
        let is_dead = link.session.connection().is_ok_and(firearrow::Connection::is_failed);
        if !is_dead && has_transaction(&link)? {
            let text = "a transaction is open: commit or roll back before disconnecting";
            return Err(Failure::new(State::TRANSACTION_STATE, text));
        }
        free_children(self);
        self.link = None;
        link.session.release();
        Ok(())
    }
}

/// The switches of the type mapping that a connection string may set.
fn switches(config: &Config) -> Result<ReadOptions> {
    let mut read = ReadOptions::default();
    for (name, value) in &config.read {
        read.set(name, value).map_err(|error| Failure::new(State::GENERAL, format!("{name}: {error}")))?;
    }
    Ok(read)
}

/// The SQLSTATEs of failures have other names while a connection is made.
fn while_connecting(failure: Failure) -> Failure {
    let state = match failure.state {
        State::LINK_FAILURE => State::CANNOT_CONNECT,
        state => state,
    };
    Failure { state, ..failure }
}
