//! Connections.

use crate::diagnostics::{Diagnostics, Failure, Result, State};
use crate::escape::Routine;
use crate::handle::{Id, StatementAttributes};
use crate::types::TypeOptions;
use firearrow::catalog::{Name, ProcedureKind};
use firearrow::{Dialect, ReadOptions};
use firearrow_driver::{Session, SessionOptions, StatementOptions};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection handle, connected or not.
pub(crate) struct Connection {
    pub(crate) id: Id,
    pub(crate) environment: Id,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) is_odbc2: bool,
    pub(crate) link: Option<Arc<Link>>,
    pub(crate) attributes: ConnectionAttributes,
    pub(crate) statements: Vec<Id>,
    /// Explicit descriptors.
    pub(crate) descriptors: Vec<Id>,
    /// Keywords that `SQLBrowseConnect` has collected.
    pub(crate) browsing: Option<String>,
}

/// Attributes of a connection, from before it is made to after its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionAttributes {
    pub(crate) autocommit: bool,
    pub(crate) read_only: Option<bool>,
    /// Bits of `SQL_ATTR_TXN_ISOLATION`; `None` = as the connection string says.
    pub(crate) isolation: Option<u32>,
    /// Seconds; `None` = as the connection string says.
    pub(crate) login_timeout: Option<u32>,
    pub(crate) connection_timeout: u32,
    pub(crate) quiet_mode: usize,
    pub(crate) metadata_id: bool,
    /// Seconds: the default of new statements.
    pub(crate) query_timeout: usize,
    pub(crate) disconnect_behavior: u32,
    /// Whether the driver manager calls wide functions for an application that calls narrow ones.
    pub(crate) ansi_app: bool,
}

impl Default for ConnectionAttributes {
    fn default() -> Self {
        Self {
            autocommit: true,
            read_only: None,
            isolation: None,
            login_timeout: None,
            connection_timeout: 0,
            quiet_mode: 0,
            metadata_id: false,
            query_timeout: 0,
            disconnect_behavior: 0,
            ansi_app: false,
        }
    }
}

/// An open connection, shared by its statements.
pub(crate) struct Link {
    pub(crate) session: Arc<Session>,
    pub(crate) dialect: Dialect,
    pub(crate) is_odbc2: bool,
    pub(crate) types: TypeOptions,
    /// How results are read.
    pub(crate) read: ReadOptions,
    /// Whether a SELECT without FROM gets one.
    pub(crate) fromless_select: bool,
    /// Whether an execution for an array of parameters fails if one of its sets does.
    pub(crate) failed_sets_are_errors: bool,
    /// The major and minor release of the server.
    pub(crate) release: (u16, u16),
    /// The names of cursors that applications have set, and their statements.
    pub(crate) cursor_names: Mutex<HashMap<String, Id>>,
    /// Attributes of new statements.
    pub(crate) defaults: Mutex<StatementAttributes>,
    /// Those that resetting the connection restores.
    pub(crate) initial: StatementAttributes,
    /// The options that resetting the connection restores.
    pub(crate) initial_session: SessionOptions,
    /// The handle of the connection.
    pub(crate) connection: Id,
    /// What `SQLGetInfo` tells.
    pub(crate) facts: crate::info::Facts,
    /// Counts the ends of transactions: cursors that were open then are closed, which their statements notice.
    pub(crate) ends: AtomicU64,
}

impl Link {
    /// Ends the transaction of manual mode, and all cursors: after a failure, too, since nothing is left to fetch.
    pub(crate) fn end(&self, commits: bool) -> Result<()> {
        let ended = self.session.end(commits);
        self.end_cursors();
        Ok(ended?)
    }

    pub(crate) fn end_cursors(&self) {
        self.ends.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn ends(&self) -> u64 {
        self.ends.load(Ordering::SeqCst)
    }

    pub(crate) fn statement_options(&self) -> StatementOptions {
        StatementOptions { read: self.read.clone(), ..StatementOptions::default() }
    }

    pub(crate) fn statement_attributes(&self) -> StatementAttributes {
        *self.defaults()
    }

    pub(crate) fn defaults(&self) -> MutexGuard<'_, StatementAttributes> {
        self.defaults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn names(&self) -> MutexGuard<'_, HashMap<String, Id>> {
        self.cursor_names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reserves a cursor name; `false` if another statement has it.
    pub(crate) fn reserve_cursor_name(&self, name: &str, statement: Id) -> bool {
        match self.names().entry(name.to_owned()) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(statement);
                true
            }
        }
    }

    /// The statement whose cursor is called exactly so, or else one whose name fits.
    pub(crate) fn cursor_named(&self, fits: impl Fn(&str) -> bool, exactly: &str) -> Option<Id> {
        let names = self.names();
        let fitting = || names.iter().find(|(name, _)| fits(name)).map(|(_, id)| *id);
        names.get(exactly).copied().or_else(fitting)
    }

    pub(crate) fn release_cursor_name(&self, name: &str) {
        self.names().remove(name);
    }

    /// What a name stands for in a call, as far as the catalog tells.
    pub(crate) fn routine(&self, package: Option<&str>, name: &str) -> Option<Routine> {
        let catalog = self.session.connection().ok()?.catalog().ok()?;
        let procedures = catalog.procedures(Name::Is(name)).ok()?;
        if let Some(found) = procedures.iter().find(|found| found.package.as_deref() == package) {
            return Some(Routine::Procedure {
                is_selectable: found.kind == Some(ProcedureKind::Selectable),
                inputs: found.inputs.into(),
            });
        }
        let functions = catalog.functions(Name::Is(name)).ok()?;
        functions.iter().any(|found| found.package.as_deref() == package).then_some(Routine::Function)
    }

    /// The longest name of an object, in characters.
    pub(crate) fn longest_name(&self) -> u32 {
        if self.release.0 < 4 { 31 } else { 63 }
    }
}

impl Connection {
    pub(crate) fn new(id: Id, environment: Id, is_odbc2: bool) -> Self {
        Self {
            id,
            environment,
            diagnostics: Diagnostics::default(),
            is_odbc2,
            link: None,
            attributes: ConnectionAttributes::default(),
            statements: Vec::new(),
            descriptors: Vec::new(),
            browsing: None,
        }
    }

    /// The open connection.
    pub(crate) fn expect_open(&self) -> Result<&Arc<Link>> {
        let closed = || Failure::new(State::NOT_CONNECTED, "the connection is not open");
        self.link.as_ref().ok_or_else(closed)
    }
}
