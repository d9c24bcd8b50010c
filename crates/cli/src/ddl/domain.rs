//! Domains.

use super::database::{Database, Scope};
use super::dependency::Deferred;
use super::name::name;
use super::script::Script;
use crate::failure::Result;
use firearrow::catalog::Domain;
use std::collections::HashMap;

/// Domains, with the segment lengths of those of BLOBs.
pub(super) struct Domains {
    domains: Vec<Domain>,
    segments: HashMap<String, Option<i32>>,
}

const SEGMENTS: &str = "SELECT F.RDB$FIELD_NAME, F.RDB$SEGMENT_LENGTH FROM RDB$FIELDS F \
     WHERE F.RDB$SEGMENT_LENGTH IS NOT NULL AND {only}";

impl Domains {
    pub(super) fn read(database: &Database, domain: Scope<'_>) -> Result<Self> {
        let segments =
            database.ask_scope(SEGMENTS, "F.RDB$FIELD_NAME", domain, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Self {
            domains: database.catalog.domains(domain.name())?,
            segments: segments.into_iter().collect(),
        })
    }

    /// Adds the domains with their comments, but no CHECK that needs other objects.
    pub(super) fn create(&self, database: &Database, deferred: &Deferred, script: &mut Script) -> Result<()> {
        for domain in &self.domains {
            let check = domain.check.as_ref().filter(|_| !deferred.has_domain(&domain.name));
            let sql = format!("CREATE DOMAIN {}", self.definition(database, domain, check)?);
            script.add("DOMAIN", &domain.name, sql);
            script.comment("DOMAIN", &domain.name, domain.remarks.as_ref());
        }
        Ok(())
    }

    /// Adds the CHECKs that [`create`](Self::create) has left out.
    pub(super) fn add_checks(&self, deferred: &Deferred, script: &mut Script) {
        for domain in self.domains.iter().filter(|domain| deferred.has_domain(&domain.name)) {
            let Some(check) = &domain.check else { continue };
            script.add("DOMAIN", &domain.name, format!("ALTER DOMAIN {} ADD {check}", name(&domain.name)));
        }
    }

    /// Returns what follows `CREATE DOMAIN`.
    fn definition(&self, database: &Database, domain: &Domain, check: Option<&String>) -> Result<String> {
        let segment = self.segments.get(&domain.name).copied().flatten();
        let sql_type = database.sql_type(&domain.data_type, segment)?;
        let mut sql = format!("{} AS {sql_type}", name(&domain.name));
        if let Some(default) = &domain.default {
            sql += &format!(" DEFAULT {default}");
        }
        if !domain.nullable {
            sql += " NOT NULL";
        }
        if let Some(check) = check {
            sql += &format!(" {check}");
        }
        Ok(sql + &database.collate(&domain.data_type))
    }
}
