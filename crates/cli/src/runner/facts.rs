//! `SHOW` as isql has it, and what the shell's `\d` commands show.

use super::Runner;
use crate::failure::{Failure, Result};
use firearrow::catalog::{Catalog, Name};
use firearrow::sql::{Token, TokenKind, tokens};
use firearrow_bench::text::aligned;

/// A kind of objects that can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    Tables,
    SystemTables,
    Views,
    Indexes,
    Procedures,
    Functions,
    Triggers,
    Sequences,
    Domains,
    Roles,
}

impl Runner {
    /// Obeys SHOW.
    pub(super) fn show(&mut self, sql: &str) -> Result<()> {
        let words: Vec<Token<'_>> = tokens(sql).collect();
        let text = |index: usize| words.get(index).map(|token: &Token<'_>| token.text.to_ascii_uppercase());
        let name = words.get(2).map(name_of);
        let listing = match text(1).as_deref() {
            Some("TABLE" | "TABLES") => Listing::Tables,
            Some("VIEW" | "VIEWS") => Listing::Views,
            Some("INDEX" | "INDEXES" | "INDICES" | "IND") => Listing::Indexes,
            Some("PROCEDURE" | "PROCEDURES" | "PROC") => Listing::Procedures,
            Some("FUNCTION" | "FUNCTIONS") => Listing::Functions,
            Some("TRIGGER" | "TRIGGERS" | "TRIG") => Listing::Triggers,
            Some("SEQUENCE" | "SEQUENCES" | "GENERATOR" | "GENERATORS" | "GEN") => Listing::Sequences,
            Some("DOMAIN" | "DOMAINS") => Listing::Domains,
            Some("ROLE" | "ROLES") => Listing::Roles,
            Some("SYSTEM") => Listing::SystemTables,
            Some("VERSION" | "DATABASE" | "DB") => return self.show_database(),
            Some("DDL") => return self.show_ddl(&name.unwrap_or_default()),
            _ => return Err(Failure::usage(SHOW)),
        };
        match name {
            Some(name) if listing != Listing::SystemTables => self.describe(&name),
            _ => self.list(listing, None),
        }
    }

    /// Lists objects whose names are like the pattern.
    pub(crate) fn list(&self, listing: Listing, pattern: Option<&str>) -> Result<()> {
        let catalog = self.connection.catalog()?;
        let upper = pattern.map(str::to_uppercase);
        let mut rows = rows(&self.connection, &catalog, listing, pattern)?;
        if rows.is_empty() {
            rows = self::rows(&self.connection, &catalog, listing, upper.as_deref())?;
        }
        if rows.is_empty() {
            return self.display.remark(&format!("there are no {}", listing.noun()));
        }
        let head = listing.head().iter().map(|head| (*head).to_owned()).collect();
        rows.insert(0, head);
        self.display.text(&aligned(&rows, rows[0].len()))
    }

    /// Shows facts of the database and of the connection.
    pub(crate) fn show_database(&self) -> Result<()> {
        self.display.text(&crate::info::text(&self.config, &self.connection)?)
    }

    /// Shows the statements that make an object.
    pub(crate) fn show_ddl(&self, name: &str) -> Result<()> {
        self.display.text(&crate::ddl::ddl(&self.connection, name)?)
    }

    /// Shows an object and all that belongs to it.
    pub(crate) fn describe(&self, name: &str) -> Result<()> {
        self.display.text(&crate::ddl::describe(&self.connection, name)?)
    }
}

fn rows(
    connection: &firearrow::Connection,
    catalog: &Catalog,
    listing: Listing,
    pattern: Option<&str>,
) -> Result<Vec<Vec<String>>> {
    let name = pattern.map_or(Name::Any, Name::Like);
    let text = |text: Option<String>| text.unwrap_or_default();
    Ok(match listing {
        Listing::Tables | Listing::Views | Listing::SystemTables => {
            use firearrow::catalog::TableKind;
            let with_system = listing == Listing::SystemTables;
            let catalog = connection.catalog()?.with_system_tables(with_system);
            let wanted = |kind: TableKind| match listing {
                Listing::Views => kind == TableKind::View,
                Listing::SystemTables => kind == TableKind::System,
                _ => kind != TableKind::View,
            };
            let tables = catalog.tables(name)?.into_iter().filter(|table| wanted(table.kind));
            tables.map(|table| vec![table.name, table.kind.name().to_owned(), text(table.remarks)]).collect()
        }
        Listing::Indexes => {
            let indexes = catalog.indexes(Name::Any)?.into_iter();
            let indexes = indexes.filter(|index| pattern.is_none_or(|pattern| is_like(&index.name, pattern)));
            indexes
                .map(|index| {
                    let columns: Vec<&str> =
                        index.segments.iter().map(|segment| segment.column.as_str()).collect();
                    let on = index.expression.unwrap_or_else(|| format!("({})", columns.join(", ")));
                    let kind = [
                        index.unique.then_some("unique"),
                        index.descending.then_some("descending"),
                        (!index.active).then_some("inactive"),
                    ];
                    let kind: Vec<&str> = kind.into_iter().flatten().collect();
                    vec![index.name, index.table, on, kind.join(", ")]
                })
                .collect()
        }
        Listing::Procedures => {
            let all = catalog.procedures(name)?.into_iter();
            all.map(|each| {
                let (inputs, outputs) = (each.inputs.to_string(), each.outputs.to_string());
                vec![packaged(each.package, &each.name), inputs, outputs, text(each.remarks)]
            })
            .collect()
        }
        Listing::Functions => {
            let all = catalog.functions(name)?.into_iter();
            all.map(|each| vec![packaged(each.package, &each.name), text(each.remarks)]).collect()
        }
        Listing::Triggers => {
            let all = catalog.triggers(Name::Any, name)?.into_iter();
            all.map(|each| {
                let active = if each.active { "" } else { "inactive" };
                vec![each.name, text(each.table), each.event.to_string(), active.to_owned()]
            })
            .collect()
        }
        Listing::Sequences => {
            let all = catalog.generators(name)?.into_iter();
            all.map(|each| {
                let value = catalog
                    .generator_value(&each.name)
                    .map_or_else(|_| String::new(), |value| value.to_string());
                vec![each.name, value, each.increment.to_string(), text(each.remarks)]
            })
            .collect()
        }
        Listing::Domains => {
            let all = catalog.domains(name)?.into_iter();
            all.map(|each| {
                let null = if each.nullable { "" } else { "NOT NULL" };
                vec![each.name, each.data_type.name().to_owned(), null.to_owned(), text(each.default)]
            })
            .collect()
        }
        Listing::Roles => {
            let sql = "SELECT TRIM(RDB$ROLE_NAME), TRIM(RDB$OWNER_NAME) FROM RDB$ROLES ORDER BY 1";
            let mut roles = Vec::new();
            for batch in catalog.transaction().query(sql)? {
                let batch = batch?;
                for row in firearrow::BatchExt::rows(&batch) {
                    let (role, owner): (String, Option<String>) = (row.get(0)?, row.get(1)?);
                    if pattern.is_none_or(|pattern| is_like(&role, pattern)) {
                        roles.push(vec![role, text(owner)]);
                    }
                }
            }
            roles
        }
    })
}

impl Listing {
    fn noun(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::SystemTables => "system tables",
            Self::Views => "views",
            Self::Indexes => "indexes",
            Self::Procedures => "procedures",
            Self::Functions => "functions",
            Self::Triggers => "triggers",
            Self::Sequences => "sequences",
            Self::Domains => "domains",
            Self::Roles => "roles",
        }
    }

    fn head(self) -> &'static [&'static str] {
        match self {
            Self::Tables | Self::SystemTables | Self::Views => &["NAME", "KIND", "REMARKS"],
            Self::Indexes => &["INDEX", "TABLE", "COLUMNS", "KIND"],
            Self::Procedures => &["PROCEDURE", "INPUTS", "OUTPUTS", "REMARKS"],
            Self::Functions => &["FUNCTION", "REMARKS"],
            Self::Triggers => &["TRIGGER", "TABLE", "EVENT", "STATE"],
            Self::Sequences => &["SEQUENCE", "VALUE", "INCREMENT", "REMARKS"],
            Self::Domains => &["DOMAIN", "TYPE", "NULL", "DEFAULT"],
            Self::Roles => &["ROLE", "OWNER"],
        }
    }
}

fn packaged(package: Option<String>, name: &str) -> String {
    package.map_or_else(|| name.to_owned(), |package| format!("{package}.{name}"))
}

/// A name as somebody wrote it in SQL.
fn name_of(token: &Token<'_>) -> String {
    match token.kind {
        TokenKind::QuotedName => token.text.trim_matches('"').replace("\"\"", "\""),
        _ => token.text.to_ascii_uppercase(),
    }
}

/// `LIKE`, for what the catalog cannot be asked for by a pattern.
fn is_like(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) = (name.chars().collect(), pattern.chars().collect());
    // Which beginnings of the name fit the pattern so far.
    let mut fits = vec![false; name.len() + 1];
    fits[0] = true;
    for wanted in pattern {
        let mut next = vec![false; name.len() + 1];
        for index in 0..=name.len() {
            next[index] = match wanted {
                '%' => fits[index] || index > 0 && next[index - 1],
                '_' => index > 0 && fits[index - 1],
                wanted => index > 0 && fits[index - 1] && name[index - 1] == wanted,
            };
        }
        fits = next;
    }
    fits[name.len()]
}

const SHOW: &str = "SHOW takes TABLES, VIEWS, INDEXES, PROCEDURES, FUNCTIONS, TRIGGERS, SEQUENCES, DOMAINS, ROLES, SYSTEM, \
                    VERSION or DATABASE; SHOW TABLE, VIEW, PROCEDURE … also with a name";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_like() {
        for (name, pattern, fits) in [
            ("SALES", "S%", true),
            ("SALES", "%", true),
            ("SALES", "S_LES", true),
            ("SALES", "S_ES", false),
            ("SALES", "%A%S", true),
            ("SALES", "sales", false),
            ("", "%%", true),
        ] {
            assert_eq!(is_like(name, pattern), fits, "{name} {pattern}");
        }
    }
}
