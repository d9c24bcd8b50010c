//! Details of errors: single facts that programs ask for.

use firearrow::{CommitOutcome, Error, Kind, StatusArg, StatusVector, gds};

/// The subject of a detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Detail {
    /// The first gds code of the engine.
    Gds,
    /// All gds codes of the engine, separated by commas.
    GdsCodes,
    /// The symbolic names of these codes, separated by commas; nothing between two of them for a code without one.
    GdsNames,
    /// The legacy SQLCODE.
    Sqlcode,
    /// The SQLSTATE of the client's error.
    Sqlstate,
    /// The line of the SQL text.
    Line,
    /// The column of the SQL text.
    Column,
    /// The table that a constraint or an ingestion is about.
    Table,
    /// The constraint that was violated.
    Constraint,
    /// The key that violates a constraint.
    Key,
    /// The row of parameters, counted from 0.
    Row,
    /// Rows of an ingestion that are committed although it failed.
    RowsCommitted,
    /// The outcome of a commit whose response was lost: `committed`, `rolled_back` or `unknown`.
    Commit,
    /// The number of that commit's transaction.
    Transaction,
    /// The table that holds rows which were to replace others.
    StagingTable,
    /// `true` if the same work may succeed in a new transaction.
    Retryable,
}

impl Detail {
    /// Its name, such as `rows_committed`. Front ends may put a prefix before it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gds => "gds",
            Self::GdsCodes => "gds_codes",
            Self::GdsNames => "gds_names",
            Self::Sqlcode => "sqlcode",
            Self::Sqlstate => "sqlstate",
            Self::Line => "line",
            Self::Column => "column",
            Self::Table => "table",
            Self::Constraint => "constraint",
            Self::Key => "key",
            Self::Row => "row",
            Self::RowsCommitted => "rows_committed",
            Self::Commit => "commit",
            Self::Transaction => "transaction",
            Self::StagingTable => "staging_table",
            Self::Retryable => "retryable",
        }
    }
}

/// The details of a client's error.
pub(super) fn details(error: &Error) -> Vec<(Detail, String)> {
    let mut details = Vec::new();
    let mut add = |detail, value: String| details.push((detail, value));
    if let Some(vector) = error.status() {
        let codes = error.gds_codes();
        if let Some(first) = codes.first() {
            add(Detail::Gds, first.to_string());
        }
        let list: Vec<String> = codes.iter().map(i32::to_string).collect();
        add(Detail::GdsCodes, list.join(","));
        let names: Vec<&str> = codes.iter().map(|code| gds::name(*code).unwrap_or_default()).collect();
        add(Detail::GdsNames, names.join(","));
        add(Detail::Sqlcode, vector.sqlcode().to_string());
        for (detail, value) in named(vector) {
            add(detail, value);
        }
    }
    add(Detail::Sqlstate, error.sqlstate().to_owned());
    if matches!(error.kind(), Kind::Conflict | Kind::Changed) {
        add(Detail::Retryable, true.to_string());
    }
    if let Some(lost) = error.lost_commit() {
        let outcome = match lost.outcome {
            CommitOutcome::Committed => "committed",
            CommitOutcome::RolledBack => "rolled_back",
            CommitOutcome::Unknown => "unknown",
        };
        add(Detail::Commit, outcome.to_owned());
        if let Some(number) = lost.transaction {
            add(Detail::Transaction, number.to_string());
        }
    }
    let failed = error.rows_executed().and_then(|done| done.failures.first());
    if let Some(failure) = failed {
        add(Detail::Row, failure.row.to_string());
    }
    details
}

/// What the vector names: positions, tables, constraints and keys.
fn named(vector: &StatusVector) -> Vec<(Detail, String)> {
    let mut found: Vec<(Detail, String)> = Vec::new();
    let args = vector.error_args();
    for (index, arg) in args.iter().enumerate() {
        let StatusArg::Gds(code) = arg else { continue };
        let wanted: &[Detail] = match *code {
            gds::ISC_DSQL_LINE_COL_ERROR => &[Detail::Line, Detail::Column],
            gds::ISC_UNIQUE_KEY_VIOLATION | gds::ISC_FOREIGN_KEY | gds::ISC_CHECK_CONSTRAINT => {
                &[Detail::Constraint, Detail::Table]
            }
            gds::ISC_IDX_KEY_VALUE => &[Detail::Key],
            _ => continue,
        };
        let values = args[index + 1..].iter().map_while(|arg| match arg {
            StatusArg::Text(text) => Some(text.clone()),
            StatusArg::Number(number) => Some(number.to_string()),
            _ => None,
        });
        for (&detail, value) in wanted.iter().zip(values) {
            if !found.iter().any(|(known, _)| *known == detail) {
                found.push((detail, value));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violated_constraint_is_named_once() {
        let vector = StatusVector(vec![
            StatusArg::Gds(gds::ISC_UNIQUE_KEY_VIOLATION),
            StatusArg::Text("PK".into()),
            StatusArg::Text("T".into()),
            StatusArg::Gds(gds::ISC_IDX_KEY_VALUE),
            StatusArg::Text("(\"N\" = 1)".into()),
            StatusArg::Gds(gds::ISC_UNIQUE_KEY_VIOLATION),
            StatusArg::Text("OTHER".into()),
        ]);
        let expected = [(Detail::Constraint, "PK"), (Detail::Table, "T"), (Detail::Key, "(\"N\" = 1)")];
        assert_eq!(named(&vector), expected.map(|(detail, value)| (detail, value.to_owned())));
    }
}
