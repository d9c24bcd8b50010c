//! ODBC escape sequences, and what else the driver has to know about SQL text.
//!
//! ```text
//!  text ─► legacy: the comment form becomes braces
//!            └─► scan: copies text, translates what is in braces
//!                  ├─► literal: {d} {t} {ts} {guid} {escape}
//!                  ├─► function: {fn} ─► interval, convert
//!                  └─► call: {call} {?=call}
//! ```
//!
//! Translated text has the same `?` markers in the same order, except the one that `{?=call}` begins with and those for outputs at
//! the end of a `{call}`. Escapes are translated wherever they are, in PSQL as well, where braces are not legal otherwise.

mod call;
pub(crate) mod claimed;
mod convert;
mod function;
mod interval;
mod legacy;
mod literal;
mod scan;
mod select;
#[cfg(test)]
mod tests;

use crate::diagnostics::{Failure, Result, State};
use firearrow::Dialect;
use firearrow::sql::tokens;
use scan::Translator;
use std::borrow::Cow;

pub(crate) use select::with_from;

/// What the translation depends on.
pub(crate) struct Context<'a> {
    pub(crate) dialect: Dialect,
    /// The server's version, such as (5, 0).
    pub(crate) release: (u16, u16),
    /// Looks up a routine by its package and name, as the catalog spells them. `None`: unknown, or the catalog could not
    /// be read. It is asked about `{call}` only.
    pub(crate) routine: &'a mut dyn FnMut(Option<&str>, &str) -> Option<Routine>,
}

/// How a routine is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routine {
    Procedure {
        /// Whether it returns rows.
        is_selectable: bool,
        /// The number of its inputs.
        inputs: usize,
    },
    Function,
}

/// SQL text without escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Translated<'a> {
    pub(crate) sql: Cow<'a, str>,
    /// Whether it was `{?=call …}`: parameter 1 of the application receives the first value, and the text has no marker
    /// for it.
    pub(crate) returns_value: bool,
    /// The number of markers at the end that stand for outputs of a procedure. The text has none for them.
    pub(crate) outputs: usize,
    pub(crate) is_call: bool,
}

/// Translates all escapes. Text without any is returned as it is.
///
/// # Errors
/// 42000 with the position of an escape that is malformed or unknown.
pub(crate) fn translate<'a>(sql: &'a str, context: &mut Context<'_>) -> Result<Translated<'a>> {
    let modern = legacy::modernize(sql);
    if !modern.contains('{') {
        return Ok(Translated { sql: Cow::Borrowed(sql), returns_value: false, outputs: 0, is_call: false });
    }
    let mut translator = Translator::new(&modern, context);
    let text = translator.whole()?;
    let Translator { is_call, returns_value, outputs, .. } = translator;
    let sql = text.map_or(Cow::Borrowed(sql), Cow::Owned);
    Ok(Translated { sql, returns_value, outputs, is_call })
}

/// The number of `?` markers.
pub(crate) fn markers(sql: &str) -> usize {
    if !sql.contains('?') {
        return 0;
    }
    tokens(sql).filter(|token| token.is_symbol('?')).count()
}

/// 42000 for the text after `offset` bytes.
fn syntax_error(sql: &str, offset: usize, what: &str) -> Failure {
    let before = sql.get(..offset).unwrap_or(sql);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() + 1;
    Failure::new(State::SYNTAX, format!("Syntax error at line {line}, column {column}: {what}"))
}
