//! SQL text: its escapes, and what the server says about it.

use crate::abi::Return;
use crate::column::Column;
use crate::diagnostics::{Failure, Result, State, function};
use crate::escape::{self, Context};
use crate::execute::Control;
use crate::handle::statement::{DONE, Phase, Prepared};
use crate::handle::{Link, Statement};
use crate::positioned::Reference;

use firearrow_driver::Description;
use std::sync::Arc;

/// `isc_command_end_err2`: unexpected end of command.
const UNEXPECTED_END: i32 = 335_544_851;
/// `isc_dsql_token_unk_err`: token unknown.
const UNKNOWN_TOKEN: i32 = 335_544_634;

/// SQL as the server is to get it.
pub(crate) struct Text {
    pub(crate) sql: String,
    pub(crate) returns_value: bool,
    pub(crate) outputs: usize,
    /// The cursor whose current row it changes.
    pub(crate) reference: Option<Reference>,
}

impl Statement {
    /// Translates escapes, unless the application has switched that off.
    pub(crate) fn translate(&self, sql: &str) -> Result<Text> {
        // Some applications count the terminator.
        let sql = sql.trim_end_matches('\0');
        if sql.trim().is_empty() {
            return Err(Failure::new(State::SYNTAX, "the statement is empty"));
        }
        if self.attributes.no_scan {
            return Ok(Text { sql: sql.to_owned(), returns_value: false, outputs: 0, reference: None });
        }
        translate(&self.link, sql)
    }

    /// `SQLPrepare`
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Return> {
        self.expect_no_cursor()?;
        self.forget();
        let mut text = self.translate(sql)?;
        self.refer(&mut text)?;
        self.describe_query(&text)?;
        self.state = Phase::Prepared;
        DONE
    }

    /// Asks the server about the query.
    pub(crate) fn describe_query(&mut self, text: &Text) -> Result<()> {
        self.driver.options.timeout = self.timeout();
        let description = self.with_from(&text.sql, firearrow_driver::Statement::description)?;
        self.set_prepared(description, text)
    }

    /// Runs or prepares a query. Firebird has no SELECT without FROM: if it complains, one is added.
    pub(super) fn with_from<T>(
        &mut self,
        sql: &str,
        attempt: impl Fn(&mut firearrow_driver::Statement) -> firearrow_driver::Result<T>,
    ) -> Result<T> {
        self.driver.set_query(sql)?;
        let error = match attempt(&mut self.driver) {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let may_lack = self.link.fromless_select && is_syntax_error(&error);
        let Some(with_from) = may_lack.then(|| escape::with_from(sql)).flatten() else {
            return Err(error.into());
        };
        self.driver.set_query(&with_from)?;
        attempt(&mut self.driver).map_err(|second| {
            // The application knows the text of the first one.
            if is_syntax_error(&second) { error.into() } else { second.into() }
        })
    }

    fn set_prepared(&mut self, description: Arc<Description>, text: &Text) -> Result<()> {
        let prepared = Prepared::new(&self.link, description, text)?;
        self.describe(&prepared.columns);
        self.prepared = Some(prepared);
        self.describe_parameters();
        Ok(())
    }
}

impl Prepared {
    pub(super) fn columns(link: &Link, of: &[firearrow::Descriptor]) -> Arc<[Column]> {
        of.iter().map(|descriptor| Column::new(descriptor, link.dialect, &link.types)).collect()
    }

    pub(crate) fn new(link: &Link, description: Arc<Description>, text: &Text) -> Result<Self> {
        use firearrow::StatementKind::{Delete, Update};
        // Those that stand for WHERE CURRENT OF come last, and the application does not see them.
        let hidden = text.reference.as_ref().map_or(0, |reference| reference.hidden);
        let visible = description.parameters.len().saturating_sub(hidden);
        Ok(Self {
            columns: Self::columns(link, &description.columns),
            parameters: Self::columns(link, &description.parameters[..visible]),
            sql: text.sql.as_str().into(),
            reference: text.reference.clone(),
            returns_value: text.returns_value,
            outputs: text.outputs,
            is_direct: false,
            is_searched: matches!(description.kind, Update | Delete) && text.reference.is_none(),
            control: Control::new(description.kind, &text.sql)?,
            function: function::of_sql(&text.sql),
            description,
        })
    }
}

/// Translates the escapes of SQL text for a connection.
pub(crate) fn translate(link: &Link, sql: &str) -> Result<Text> {
    let mut routine = |package: Option<&str>, name: &str| link.routine(package, name);
    let mut context = Context { dialect: link.dialect, release: link.release, routine: &mut routine };
    let translated = escape::translate(sql, &mut context)?;
    let escape::Translated { sql, returns_value, outputs, .. } = translated;
    Ok(Text { sql: sql.into_owned(), returns_value, outputs, reference: None })
}

/// Whether the server expected more text, or other text.
fn is_syntax_error(error: &firearrow_driver::Error) -> bool {
    let is_one = |code: &i32| [UNEXPECTED_END, UNKNOWN_TOKEN].contains(code);
    error.client().is_some_and(|client| client.gds_codes().iter().any(is_one))
}
