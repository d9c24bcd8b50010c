//! Descriptions of statements, by their SQL, so that a known one can be prepared and executed in one write.
//!
//! Only the description is kept, not the prepared statement: that would lock the metadata of tables no longer in use,
//! and other connections could not alter them.

use super::reuse::Reusable;
use firearrow_proto::api::describe::{StatementInfo, StatementKind};
use firearrow_proto::api::descriptor::Descriptor;
use std::collections::HashMap;
use std::sync::Arc;

/// Statements remembered.
const CAPACITY: usize = 256;
/// Longest text remembered, in bytes.
const LONGEST: usize = 32 << 10;
/// Longest description remembered, in bytes: a thousand columns or so.
const LONGEST_DESCRIPTION: usize = 512 << 10;

/// The descriptions of recent statements.
#[derive(Debug, Default)]
pub(crate) struct KnownStatements {
    by_sql: HashMap<Arc<str>, Known>,
    clock: u64,
}

#[derive(Debug)]
struct Known {
    info: Arc<StatementInfo>,
    reusable: Arc<Reusable>,
    last_used: u64,
}

impl KnownStatements {
    pub(super) fn recall(&mut self, sql: &str) -> Option<(Arc<StatementInfo>, Arc<Reusable>)> {
        self.clock += 1;
        let known = self.by_sql.get_mut(sql)?;
        known.last_used = self.clock;
        Some((Arc::clone(&known.info), Arc::clone(&known.reusable)))
    }

    /// Keeps the description of a statement that reads or changes rows. Returns what its executions use again.
    pub(super) fn remember(&mut self, sql: &str, info: &Arc<StatementInfo>) -> Arc<Reusable> {
        use StatementKind::{Delete, ExecuteProcedure, Insert, Select, SelectForUpdate, Update};
        let is_plain =
            matches!(info.kind, Select | SelectForUpdate | Insert | Update | Delete | ExecuteProcedure);
        if !is_plain || sql.len() > LONGEST || weight(info) > LONGEST_DESCRIPTION {
            return Arc::default();
        }
        let same = self.by_sql.get(sql).filter(|known| known.info == *info);
        let reusable = same.map(|known| Arc::clone(&known.reusable)).unwrap_or_default();
        if self.by_sql.len() >= CAPACITY && !self.by_sql.contains_key(sql) {
            let oldest = self.by_sql.iter().min_by_key(|(_, known)| known.last_used);
            if let Some(oldest) = oldest.map(|(sql, _)| Arc::clone(sql)) {
                self.by_sql.remove(&oldest);
            }
        }
        self.clock += 1;
        let known = Known { info: Arc::clone(info), reusable: Arc::clone(&reusable), last_used: self.clock };
        self.by_sql.insert(sql.into(), known);
        reusable
    }

    pub(super) fn forget(&mut self, sql: &str) {
        self.by_sql.remove(sql);
    }

    /// Tables may have been altered.
    pub(super) fn clear(&mut self) {
        self.by_sql.clear();
    }
}

/// The size of a kept description, in bytes.
fn weight(info: &StatementInfo) -> usize {
    let described = info.columns.iter().chain(&info.parameters);
    let names = |of: &Descriptor| of.field.len() + of.relation.len() + of.owner.len() + of.alias.len();
    described.map(|descriptor| size_of::<Descriptor>() + names(descriptor)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(kind: StatementKind) -> Arc<StatementInfo> {
        Arc::new(StatementInfo { kind, ..StatementInfo::default() })
    }

    #[test]
    fn the_statement_not_used_for_longest_is_forgotten() {
        let mut known = KnownStatements::default();
        for n in 0..CAPACITY {
            known.remember(&format!("select {n}"), &info(StatementKind::Select));
        }
        assert!(known.recall("select 0").is_some());
        known.remember("one more", &info(StatementKind::Insert));
        assert!(known.recall("select 0").is_some());
        assert!(known.recall("select 1").is_none());
        assert!(known.recall("one more").is_some());
        known.forget("one more");
        assert!(known.recall("one more").is_none());
        known.clear();
        assert!(known.recall("select 0").is_none());
    }

    #[test]
    fn what_alters_tables_or_is_very_long_is_not_kept() {
        let mut known = KnownStatements::default();
        known.remember("create", &info(StatementKind::Ddl));
        assert!(known.recall("create").is_none());
        let long = "x".repeat(LONGEST + 1);
        known.remember(&long, &info(StatementKind::Select));
        assert!(known.recall(&long).is_none());
        for (length, is_kept) in [(100, true), (1000, false)] {
            let column = Descriptor { alias: "x".repeat(length), ..Descriptor::default() };
            let wide = StatementInfo { columns: vec![column; 500], ..(*info(StatementKind::Select)).clone() };
            known.remember("wide", &Arc::new(wide));
            assert_eq!(known.recall("wide").is_some(), is_kept);
            known.forget("wide");
        }
    }
}
