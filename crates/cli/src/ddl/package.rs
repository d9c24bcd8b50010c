//! Packages.

use super::database::{Database, Scope, is_set, text};
use super::name::name;
use super::routine::{MISSING, Routines};
use super::script::Script;
use super::table::security;
use crate::failure::Result;

/// A package.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) name: String,
    header: String,
    body: Option<String>,
    definer: Option<bool>,
    remarks: Option<String>,
}

/// A body may be there although somebody has deleted its source.
const PACKAGES: &str = "SELECT P.RDB$PACKAGE_NAME, P.RDB$PACKAGE_HEADER_SOURCE, P.RDB$PACKAGE_BODY_SOURCE, \
     {security}, P.RDB$DESCRIPTION, P.RDB$VALID_BODY_FLAG FROM RDB$PACKAGES P \
     WHERE COALESCE(P.RDB$SYSTEM_FLAG, 0) = 0 AND {only} ORDER BY 1";

/// Returns packages of users.
pub(super) fn read(database: &Database, package: Scope<'_>) -> Result<Vec<Package>> {
    let sql = PACKAGES.replace("{security}", database.since_4("P.RDB$SQL_SECURITY"));
    let missing = || format!("/* {MISSING} */\nBEGIN\nEND");
    database.ask_scope(&sql, "P.RDB$PACKAGE_NAME", package, |row| {
        let has_body = is_set(&row, 5)?;
        Ok(Package {
            name: row.get(0)?,
            header: text(&row, 1)?.unwrap_or_else(missing),
            body: text(&row, 2)?.or_else(|| has_body.then(missing)),
            definer: row.get(3)?,
            remarks: text(&row, 4)?,
        })
    })
}

impl Package {
    /// Adds the header, and the comments on what it declares.
    pub(super) fn create(&self, routines: &Routines, script: &mut Script) {
        let definer = self.definer.map_or_else(String::new, |definer| format!("\n{}", security(definer)));
        let sql = format!("CREATE PACKAGE {}{definer}\nAS\n{}", name(&self.name), self.header);
        script.add_body("PACKAGE", &self.name, sql);
        script.comment("PACKAGE", &self.name, self.remarks.as_ref());
        let is_own = |package: &Option<String>| package.as_ref() == Some(&self.name);
        for procedure in routines.procedures.iter().filter(|one| is_own(&one.package)) {
            routines.comment_procedure(procedure, script);
        }
        for function in routines.functions.iter().filter(|one| is_own(&one.package)) {
            routines.comment_function(function, script);
        }
    }

    /// Adds the body, if it has one.
    pub(super) fn create_body(&self, script: &mut Script) {
        if let Some(body) = &self.body {
            let sql = format!("CREATE PACKAGE BODY {}\nAS\n{body}", name(&self.name));
            script.add_body("PACKAGE BODY", &self.name, sql);
        }
    }
}
