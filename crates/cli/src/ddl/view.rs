//! Views.

use super::name::{name, names};
use super::script::Script;
use super::table::Tables;
use crate::failure::{Failure, Result};
use firearrow::catalog::Table;

impl Tables {
    /// Adds a view with its comments.
    pub(super) fn create_view(&self, view: &Table, script: &mut Script) -> Result<()> {
        let source = self.view_source(&view.name).ok_or_else(|| {
            Failure::other(format!(
                "view {} cannot be written: RDB$RELATIONS has no source of it, which somebody has deleted; \
                 ALTER VIEW gives it one",
                name(&view.name)
            ))
        })?;
        let columns = names(self.columns(&view.name).iter().map(|column| &column.column.name));
        let sql = format!("CREATE VIEW {} ({columns}) AS\n{source}", name(&view.name));
        script.add("VIEW", &view.name, sql);
        script.comment("VIEW", &view.name, view.remarks.as_ref());
        self.comment_columns(&view.name, script);
        Ok(())
    }
}
