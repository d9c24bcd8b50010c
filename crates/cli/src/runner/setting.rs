//! `SET` as isql has it, for settings of the command and not of the server.

use super::transaction::{refuse_endings, too_much};
use crate::failure::{Failure, Result};
use clap::ValueEnum;
use firearrow::sql::{Token, tokens};

/// How statements are run and shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Whether DDL runs in a transaction of its own, which is committed at once.
    pub(crate) auto_ddl: bool,
    /// Whether each statement is committed at once.
    pub(crate) auto_commit: bool,
    /// Whether rows are shown as one line per value.
    pub(crate) expanded: bool,
    /// Whether the time and the traffic of each statement are shown.
    pub(crate) timing: bool,
    /// The plan to show before each statement.
    pub(crate) plan: Option<PlanForm>,
    /// Whether plans are all that is wanted.
    pub(crate) plan_only: bool,
    /// Whether a script ends with its first error.
    pub(crate) bail: bool,
}

/// How a plan is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanForm {
    /// PLAN (T NATURAL)
    Legacy,
    /// A tree of record sources
    Explained,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            auto_ddl: true,
            auto_commit: false,
            expanded: false,
            timing: false,
            plan: None,
            plan_only: false,
            bail: true,
        }
    }
}

/// What a `SET` did.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// It is for the server.
    Server,
    /// It was obeyed; the text says what holds now.
    Done(String),
}

impl Settings {
    /// Obeys a `SET` that is not for the server.
    pub(super) fn set(&mut self, sql: &str) -> Result<Set> {
        let words: Vec<Token<'_>> = tokens(sql).filter(|token| token.text != ";").collect();
        let mut changed = *self;
        let set = changed.obey(&words)?;
        // SET SQL DIALECT 3, SET WIDTH column 20
        let most =
            if words.get(1).is_some_and(|name| name.is_word("SQL") || name.is_word("WIDTH")) { 4 } else { 3 };
        if let Set::Done(_) = &set {
            refuse_endings("SET", &words)?;
            if let Some(surplus) = words.get(most) {
                return Err(too_much("SET", surplus.text));
            }
        }
        *self = changed;
        Ok(set)
    }

    fn obey(&mut self, words: &[Token<'_>]) -> Result<Set> {
        let word = |index: usize| words.get(index).map(|token: &Token<'_>| token.text.to_ascii_uppercase());
        let Some(name) = word(1) else { return Ok(Set::Done(self.text())) };
        let value = word(2);
        // SET TIME ZONE is the server's, and so is SET BIND, for example.
        if name == "TIME" && value.as_deref() == Some("ZONE") {
            return Ok(Set::Server);
        }
        if let Some(reason) = NO_EFFECT.iter().find_map(|(known, reason)| (*known == name).then_some(reason))
        {
            return Ok(Set::Done(format!("SET {name} has no effect: {reason}")));
        }
        let field: (&str, &mut bool) = match name.as_str() {
            "AUTODDL" | "AUTO" => ("AUTODDL", &mut self.auto_ddl),
            "AUTOCOMMIT" => ("AUTOCOMMIT", &mut self.auto_commit),
            "LIST" => ("LIST", &mut self.expanded),
            "STATS" | "TIME" | "WIRE_STATS" | "WIRE" => ("STATS", &mut self.timing),
            "BAIL" => ("BAIL", &mut self.bail),
            "PLANONLY" => {
                let is_on = switch(&name, value.as_deref(), self.plan_only)?;
                self.plan_only = is_on;
                self.plan = self.plan.or(is_on.then_some(PlanForm::Legacy));
                return Ok(Set::Done(format!("PLANONLY is {}", on(is_on))));
            }
            "PLAN" | "EXPLAIN" => {
                let form = if name == "PLAN" { PlanForm::Legacy } else { PlanForm::Explained };
                let is_on = switch(&name, value.as_deref(), self.plan == Some(form))?;
                self.plan = is_on.then_some(form);
                self.plan_only &= is_on;
                return Ok(Set::Done(format!("{name} is {}", on(is_on))));
            }
            _ => return Ok(Set::Server),
        };
        let (name, field) = field;
        *field = switch(name, value.as_deref(), *field)?;
        Ok(Set::Done(format!("{name} is {}", on(*field))))
    }

    /// All of them.
    fn text(&self) -> String {
        let plan = |form| on(self.plan == Some(form));
        format!(
            "AUTODDL     {:3}  DDL is committed at once, in a transaction of its own\n\
             AUTOCOMMIT  {:3}  every statement is committed at once\n\
             BAIL        {:3}  a script ends with its first error\n\
             LIST        {:3}  rows are shown as one line per value\n\
             STATS       {:3}  time and traffic of each statement\n\
             PLAN        {:3}  the plan before each statement\n\
             EXPLAIN     {:3}  the same as a tree\n\
             PLANONLY    {:3}  plans, and nothing is run",
            on(self.auto_ddl),
            on(self.auto_commit),
            on(self.bail),
            on(self.expanded),
            on(self.timing),
            plan(PlanForm::Legacy),
            plan(PlanForm::Explained),
            on(self.plan_only),
        )
    }
}

/// `ON`, `OFF`, or nothing, which changes it.
fn switch(name: &str, value: Option<&str>, before: bool) -> Result<bool> {
    match value {
        None => Ok(!before),
        Some("ON") => Ok(true),
        Some("OFF") => Ok(false),
        Some(value) => Err(Failure::usage(format!("SET {name} takes ON or OFF, not {value}"))),
    }
}

fn on(is_on: bool) -> &'static str {
    if is_on { "ON" } else { "OFF" }
}

/// Settings of isql that scripts may have.
const NO_EFFECT: [(&str, &str); 14] = [
    ("BLOB", "BLOBs are shown as values"),
    ("BLOBDISPLAY", "BLOBs are shown as values"),
    ("COUNT", "rows are always counted"),
    ("ECHO", "errors show their statement"),
    ("HEADING", "choose another format for rows without names"),
    ("KEEP_TRAN_PARAMS", "SET TRANSACTION is for one transaction"),
    ("NAMES", "texts are UTF-8"),
    ("PER_TABLE_STATS", "MON$RECORD_STATS has these figures"),
    ("ROWCOUNT", "use SELECT FIRST n, or --limit"),
    ("MAXROWS", "use SELECT FIRST n, or --limit"),
    ("SQL", "the dialect is that of the database, or of ?dialect= in the URL"),
    ("SQLDA_DISPLAY", "\\d shows types"),
    ("WARNINGS", "warnings are always shown"),
    ("WIDTH", "columns are as wide as their values"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_switch() {
        let mut settings = Settings::default();
        for (sql, text) in [
            ("SET AUTODDL OFF", "AUTODDL is OFF"),
            ("set auto", "AUTODDL is ON"),
            ("SET LIST", "LIST is ON"),
            ("SET TIME ON", "STATS is ON"),
            ("SET PLANONLY ON", "PLANONLY is ON"),
            ("SET EXPLAIN ON", "EXPLAIN is ON"),
        ] {
            assert_eq!(settings.set(sql).unwrap(), Set::Done(text.to_owned()));
        }
        assert!(settings.auto_ddl && settings.expanded && settings.timing && settings.plan_only);
        assert_eq!(settings.plan, Some(PlanForm::Explained));
        settings.set("SET EXPLAIN OFF").unwrap();
        assert_eq!((settings.plan, settings.plan_only), (None, false));
        for sql in [
            "SET TIME ZONE 'UTC'",
            "SET GENERATOR g TO 1",
            "SET BIND OF INT128 TO TEXT",
            "SET STATISTICS INDEX i",
        ] {
            assert_eq!(settings.set(sql).unwrap(), Set::Server);
        }
        // A semicolon that was forgotten loses no statement, and nothing is set.
        for sql in
            ["SET LIST OFF\nUPDATE t SET a = 1", "SET SQL DIALECT 3\nDELETE FROM t", "SET NAMES UTF8 COMMIT"]
        {
            let error = settings.set(sql).unwrap_err().text(false);
            assert!(error.contains("is a semicolon missing") && settings.expanded, "{sql}: {error}");
        }
        assert!(settings.set("SET LIST perhaps").unwrap_err().text(false).contains("ON or OFF"));
        assert!(matches!(settings.set("SET NAMES utf8").unwrap(), Set::Done(text) if text.contains("UTF-8")));
        assert!(matches!(settings.set("SET").unwrap(), Set::Done(text) if text.lines().count() == 8));
    }
}
