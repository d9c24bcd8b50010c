//! Statements.

use crate::abi::{self, Len, Return};
use crate::column::Column;
use crate::descriptor::of_column;
use crate::diagnostics::function::Function;
use crate::diagnostics::{Diagnostics, Failure, Result, State};
use crate::execute::{Control, NeedData};
use crate::fetch::{Bound, Cursor, GetData};
use crate::handle::{Id, Link, Record, Role, SharedDescriptor, StatementAttributes};
use crate::positioned::{Changer, Reference};
use crate::text::Text;
use firearrow_driver::Description;
use std::sync::Arc;

/// A statement: SQL, bindings, and a result.
pub(crate) struct Statement {
    pub(crate) id: Id,
    pub(crate) diagnostics: Diagnostics,
    pub(crate) link: Arc<Link>,
    pub(crate) attributes: StatementAttributes,
    /// The descriptors in use.
    pub(crate) ard: SharedDescriptor,
    pub(crate) apd: SharedDescriptor,
    pub(crate) ird: SharedDescriptor,
    pub(crate) ipd: SharedDescriptor,
    /// Those that were made with it: ARD, APD, IRD, IPD.
    pub(crate) implicit: [SharedDescriptor; 4],
    /// Their handles.
    pub(crate) descriptors: [Id; 4],
    /// The handles of explicit ones that replace the ARD and the APD.
    pub(crate) explicit: [Option<Id>; 2],
    pub(crate) driver: firearrow_driver::Statement,
    pub(crate) prepared: Option<Prepared>,
    pub(crate) state: Phase,
    pub(crate) cursor: Option<Cursor>,
    /// Changes rows of the cursor.
    pub(crate) changer: Option<Changer>,
    pub(crate) bound: Bound,
    pub(crate) get_data: GetData,
    /// The row of the row set that `SQLGetData` reads, counted from 0.
    pub(crate) position: u64,
    pub(crate) need: Option<NeedData>,
    pub(crate) cursor_name: Option<String>,
    pub(crate) row_count: Len,
    /// The connection's ends of transactions that were noticed.
    pub(crate) ends: u64,
}

/// How far a statement is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing was prepared, or executed directly.
    Allocated,
    Prepared,
    Executed,
}

/// SQL that was prepared.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) description: Arc<Description>,
    pub(crate) columns: Arc<[Column]>,
    pub(crate) parameters: Arc<[Column]>,
    /// Its text as the server gets it.
    pub(crate) sql: Arc<str>,
    /// The cursor whose current row it changes.
    pub(crate) reference: Option<Reference>,
    /// Of `{? = call …}`: the first parameter receives the value.
    pub(crate) returns_value: bool,
    /// The markers at the end that stand for outputs of a procedure.
    pub(crate) outputs: usize,
    /// Whether it was executed without being prepared by the application, which cannot execute it again.
    pub(crate) is_direct: bool,
    /// Whether it is an update or delete that looks for rows: finding none is `SQL_NO_DATA`.
    pub(crate) is_searched: bool,
    /// What it does to the transaction, if that is all that it does.
    pub(crate) control: Option<Control>,
    /// What diagnostics call it.
    pub(crate) function: Function,
}

impl Prepared {
    /// The number of markers, as the application counts: outputs are parameters to it.
    pub(crate) fn markers(&self) -> usize {
        usize::from(self.returns_value) + self.parameters.len() + self.outputs
    }

    /// The parameter with this number, counted from 1.
    pub(crate) fn marker(&self, number: usize) -> Option<&Column> {
        let at = number.checked_sub(1).filter(|at| *at < self.markers())?;
        let values = usize::from(self.returns_value);
        match at.checked_sub(values) {
            None => self.columns.get(at),
            Some(at) => {
                let output = || self.columns.get(values + at - self.parameters.len());
                self.parameters.get(at).or_else(output)
            }
        }
    }
}

impl Statement {
    pub(crate) fn new(
        id: Id,
        link: Arc<Link>,
        descriptors: [Id; 4],
        implicit: [SharedDescriptor; 4],
    ) -> Self {
        let [ard, apd, ird, ipd] = implicit.clone();
        let driver = firearrow_driver::Statement::new(&link.session, link.statement_options());
        let attributes = link.statement_attributes();
        let ends = link.ends();
        Self {
            id,
            diagnostics: Diagnostics::default(),
            link,
            attributes,
            ard,
            apd,
            ird,
            ipd,
            implicit,
            descriptors,
            explicit: [None; 2],
            driver,
            prepared: None,
            state: Phase::Allocated,
            cursor: None,
            changer: None,
            bound: Bound::default(),
            get_data: GetData::default(),
            position: 0,
            need: None,
            cursor_name: None,
            row_count: -1,
            ends,
        }
    }

    /// The descriptors of a new statement: ARD, APD, IRD, IPD.
    pub(crate) fn make_descriptors() -> [SharedDescriptor; 4] {
        let new = |role| SharedDescriptor::new(role, false);
        [new(Role::Application), new(Role::Application), new(Role::Columns), new(Role::Parameters)]
    }

    /// The open result.
    pub(crate) fn open_cursor(&mut self) -> Result<&mut Cursor> {
        match (&mut self.cursor, self.state) {
            (Some(cursor), _) => Ok(cursor),
            (None, Phase::Executed) => Err(Failure::new(State::CURSOR_STATE, "no cursor is open")),
            (None, _) => Err(Failure::new(State::SEQUENCE, "the statement has not been executed")),
        }
    }

    /// Refuses while a cursor is open.
    pub(crate) fn expect_no_cursor(&self) -> Result<()> {
        match self.cursor {
            Some(_) => Err(Failure::new(State::CURSOR_STATE, "a cursor is open: close it first")),
            None => Ok(()),
        }
    }

    /// What was prepared.
    pub(crate) fn expect_prepared(&self) -> Result<&Prepared> {
        let not_prepared =
            || Failure::new(State::SEQUENCE, "the statement has not been prepared or executed");
        self.prepared.as_ref().ok_or_else(not_prepared)
    }

    /// Rows of the open result, -1 as long as nobody knows.
    pub(crate) fn cursor_rows(&self) -> Len {
        let total = |cursor: &Cursor| cursor.total().and_then(|rows| Len::try_from(rows).ok()).unwrap_or(-1);
        self.cursor.as_ref().map_or(0, total)
    }

    /// Ends the result, if there is one. Bindings stay.
    pub(crate) fn close_cursor(&mut self) {
        // Values end before the result that they belong to.
        self.get_data.forget();
        self.bound.forget();
        self.cursor = None;
        self.position = 0;
        if self.state == Phase::Executed {
            // What was prepared can be executed again; what was executed directly is forgotten.
            match &self.prepared {
                Some(prepared) if !prepared.is_direct => self.state = Phase::Prepared,
                _ => self.forget(),
            }
        }
    }

    /// Closes the cursor if a transaction has ended since the last call.
    pub(crate) fn notice_ends(&mut self) {
        let ends = self.link.ends();
        if std::mem::replace(&mut self.ends, ends) != ends && self.cursor.is_some() {
            self.close_cursor();
            // The embedded engine complains that the cursor is closed already.
            if let Ok(connection) = self.link.session.connection() {
                drop(connection.take_statement_warnings());
            }
        }
    }

    /// Makes it as good as new, but for what was prepared and bound.
    pub(crate) fn reset(&mut self) {
        self.stop_waiting();
        self.close_cursor();
        self.attributes = self.link.initial;
        [self.ard, self.apd] = [self.implicit[0].clone(), self.implicit[1].clone()];
        self.explicit = [None; 2];
        self.implicit.iter().for_each(|descriptor| descriptor.lock().clear_header());
    }

    /// Forgets what was prepared.
    pub(crate) fn forget(&mut self) {
        (self.prepared, self.state) = (None, Phase::Allocated);
        self.undescribe();
    }

    /// The columns that it describes to applications: those of the open result, or of what was prepared.
    pub(crate) fn columns(&self) -> Result<Arc<[Column]>> {
        match (&self.cursor, &self.prepared) {
            (Some(cursor), _) => Ok(Arc::clone(&cursor.columns)),
            // It has returned nothing, or parameters have received it.
            (None, _) if self.state == Phase::Executed => Ok(Arc::default()),
            (None, Some(prepared)) => Ok(Arc::clone(&prepared.columns)),
            (None, None) => {
                Err(Failure::new(State::SEQUENCE, "the statement has not been prepared or executed"))
            }
        }
    }

    /// The IRD describes nothing any more.
    fn undescribe(&mut self) {
        let mut ird = self.ird.lock();
        ird.touch();
        ird.columns = None;
    }

    /// Sets the columns that the IRD describes.
    pub(crate) fn describe(&mut self, columns: &Arc<[Column]>) {
        let mut ird = self.ird.lock();
        ird.touch();
        ird.columns = Some(Arc::clone(columns));
    }

    /// Describes the parameters in the IPD, but for those that the application has described.
    pub(crate) fn describe_parameters(&mut self) {
        let Some(prepared) = self.prepared.as_ref().filter(|_| self.attributes.auto_ipd) else { return };
        let mut ipd = self.ipd.lock();
        // What is left of another statement goes.
        let given = ipd.records.iter().rposition(|record| record.is_given).map_or(0, |at| at + 1);
        ipd.records.truncate(given.max(prepared.parameters.len()));
        for (at, parameter) in prepared.parameters.iter().enumerate() {
            let record = ipd.record_mut(at + 1);
            if !record.is_given {
                let described = of_column(parameter, Role::Parameters);
                // Any parameter may be NULL, and none has a name.
                *record = Record { nullable: abi::NULLABLE, name: Text::default(), ..described };
            }
        }
    }

    /// `SQLSetCursorName`
    pub(crate) fn set_cursor_name(&mut self, name: &str) -> Result<Return> {
        self.expect_no_cursor()?;
        let name = name.trim();
        let upper = name.to_uppercase();
        if name.is_empty() || upper.starts_with("SQL_CUR") || upper.starts_with("SQLCUR") {
            return Err(Failure::new(
                State::CURSOR_NAME,
                "a cursor name must not be empty or begin with SQL_CUR",
            ));
        }
        let longest = self.link.longest_name();
        if name.chars().count() > longest as usize {
            let text = format!("a cursor name has {longest} characters at most");
            return Err(Failure::new(State::CURSOR_NAME, text));
        }
        if self.cursor_name.as_deref() == Some(name) {
            return DONE;
        }
        if !self.link.reserve_cursor_name(name, self.id) {
            return Err(Failure::new(
                State::CURSOR_NAME_TAKEN,
                format!("another statement's cursor is called {name}"),
            ));
        }
        if let Some(former) = self.cursor_name.replace(name.to_owned()) {
            self.link.release_cursor_name(&former);
        }
        DONE
    }

    /// The cursor's name, or one that only this statement has.
    pub(crate) fn cursor_name(&self) -> String {
        self.cursor_name.clone().unwrap_or_else(|| format!("SQL_CUR{:X}", self.id.handle().addr()))
    }

    /// Adds warnings that the server gave.
    pub(crate) fn warn(&mut self, state: State, text: impl Into<String>) {
        self.diagnostics.add(Failure::new(state, text));
    }
}

/// The code of a call that succeeded.
pub(crate) const DONE: Result<Return> = Ok(abi::SUCCESS);
