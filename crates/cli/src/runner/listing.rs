//! `SHOW` as isql has it, and what the shell's `\d` commands show.

use super::Runner;
use super::transaction::{refuse_endings, too_much};
use crate::failure::{Failure, Result};
use crate::tables::{self, Kind};
use crate::terminal;
use firearrow::arrow::NoneEncoding;
use firearrow::catalog::{Catalog, Domain, Name, TableKind};
use firearrow::sql::{Token, TokenKind, tokens};
use firearrow::{BatchExt, Connection, Params, ReadOptions};
use firearrow_bench::text::aligned;

/// A kind of objects that can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    Exceptions,
    Packages,
    Roles,
}

impl Runner {
    /// Obeys SHOW.
    pub(super) fn show(&mut self, sql: &str) -> Result<()> {
        let words: Vec<Token<'_>> = tokens(sql).collect();
        let text = |index: usize| words.get(index).map(|token: &Token<'_>| token.text.to_ascii_uppercase());
        let name = words.get(2).map(name_of);
        refuse_endings("SHOW", &words)?;
        if words.len() > 3 {
            // Whoever forgets a semicolon goes on in the next line.
            if sql[words[1].end()..words[2].start].contains('\n') {
                return Err(too_much("SHOW", words[2].text));
            }
            return Err(Failure::usage(format!("SHOW takes one name, and not {}", words[3].text)));
        }
        let listing = match text(1).as_deref() {
            Some("TABLE" | "TABLES") => Listing::Tables,
            Some("VIEW" | "VIEWS") => Listing::Views,
            Some("INDEX" | "INDEXES" | "INDICES" | "IND") => Listing::Indexes,
            Some("PROCEDURE" | "PROCEDURES" | "PROC") => Listing::Procedures,
            Some("FUNCTION" | "FUNCTIONS") => Listing::Functions,
            Some("TRIGGER" | "TRIGGERS" | "TRIG") => Listing::Triggers,
            Some("SEQUENCE" | "SEQUENCES" | "GENERATOR" | "GENERATORS" | "GEN") => Listing::Sequences,
            Some("DOMAIN" | "DOMAINS") => Listing::Domains,
            Some("EXCEPTION" | "EXCEPTIONS") => Listing::Exceptions,
            Some("PACKAGE" | "PACKAGES" | "PACK") => Listing::Packages,
            Some("ROLE" | "ROLES") => Listing::Roles,
            Some("GRANT" | "GRANTS") => return self.show_grants(name.as_deref()),
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

    /// Lists objects whose names are like the pattern, as written or in upper case.
    pub(crate) fn list(&self, listing: Listing, pattern: Option<&str>) -> Result<()> {
        let kinds = match listing {
            Listing::Tables => Some([Kind::Table, Kind::Temporary, Kind::External].as_slice()),
            Listing::Views => Some([Kind::View].as_slice()),
            Listing::SystemTables => Some([Kind::System].as_slice()),
            _ => None,
        };
        if let Some(kinds) = kinds {
            let found = tables::tables(&self.connection, pattern, kinds, listing == Listing::SystemTables)?;
            return match found.is_empty() {
                true => self.nothing(listing, pattern),
                false => self.display.text(&tables::text(&found)),
            };
        }
        let catalog = self.connection.catalog()?;
        let rows = |pattern| match listing {
            Listing::Domains => domains(&self.connection, pattern),
            _ => rows(&catalog, listing, pattern),
        };
        let mut found = rows(pattern)?;
        if let (Some(pattern), true) = (pattern, found.is_empty()) {
            found = rows(Some(&pattern.to_uppercase()))?;
        }
        if found.is_empty() {
            return self.nothing(listing, pattern);
        }
        for cell in found.iter_mut().flatten() {
            *cell = terminal::line(cell).into_owned();
        }
        found.insert(0, listing.head().iter().map(|head| (*head).to_owned()).collect());
        self.display.text(&aligned(&found, usize::MAX))
    }

    fn nothing(&self, listing: Listing, pattern: Option<&str>) -> Result<()> {
        self.display.remark(&match pattern {
            Some(pattern) => format!("no {} match {}", listing.noun(), terminal::line(pattern)),
            None => format!("there are no {}", listing.noun()),
        })
    }

    /// Shows facts of the database and of the connection.
    pub(crate) fn show_database(&self) -> Result<()> {
        self.display.text(&crate::info::text(&self.config, &self.connection)?)
    }

    /// Shows the statements that make an object.
    pub(crate) fn show_ddl(&self, name: &str) -> Result<()> {
        self.display.text(&crate::ddl::ddl(&self.connection, name)?)
    }

    /// Shows who may do what with an object, or with everything.
    pub(crate) fn show_grants(&self, name: Option<&str>) -> Result<()> {
        let grants = crate::ddl::grants(&self.connection, name)?;
        match grants.is_empty() {
            true => self.display.remark("there are no grants beside those of the owners"),
            false => self.display.text(&grants),
        }
    }

    /// Shows an object and all that belongs to it.
    pub(crate) fn describe(&self, name: &str) -> Result<()> {
        self.display.text(&crate::ddl::describe(&self.connection, name)?)
    }
}

/// The names of all objects of a kind. Views are among the tables, since they are used like them; what belongs to packages is
/// left out.
pub(crate) fn names(connection: &Connection, listing: Listing) -> Result<Vec<String>> {
    let catalog = connection.catalog()?;
    let rows = match listing {
        Listing::Tables => {
            return Ok(catalog.tables(Name::Any)?.into_iter().map(|table| table.name).collect());
        }
        Listing::Views => {
            let all = catalog.tables(Name::Any)?.into_iter().filter(|table| table.kind == TableKind::View);
            return Ok(all.map(|view| view.name).collect());
        }
        Listing::SystemTables => {
            let all = catalog.with_system_tables(true).tables(Name::Any)?.into_iter();
            return Ok(all.filter(|table| table.kind == TableKind::System).map(|table| table.name).collect());
        }
        Listing::Procedures => {
            let all = catalog.procedures(Name::Any)?.into_iter().filter(|each| each.package.is_none());
            return Ok(all.map(|each| each.name).collect());
        }
        Listing::Functions => {
            let all = catalog.functions(Name::Any)?.into_iter().filter(|each| each.package.is_none());
            return Ok(all.map(|each| each.name).collect());
        }
        // Their values would take a question each.
        Listing::Sequences => {
            return Ok(catalog.generators(Name::Any)?.into_iter().map(|each| each.name).collect());
        }
        Listing::Domains => domains(connection, None)?,
        _ => rows(&catalog, listing, None)?,
    };
    Ok(rows.into_iter().filter_map(|row| row.into_iter().next()).collect())
}

fn rows(catalog: &Catalog, listing: Listing, pattern: Option<&str>) -> Result<Vec<Vec<String>>> {
    let name = pattern.map_or(Name::Any, Name::Like);
    let text = |text: Option<String>| text.unwrap_or_default();
    Ok(match listing {
        Listing::Tables | Listing::Views | Listing::SystemTables | Listing::Domains => Vec::new(),
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
        Listing::Exceptions => pairs(
            catalog,
            "SELECT TRIM(RDB$EXCEPTION_NAME), RDB$MESSAGE FROM RDB$EXCEPTIONS ORDER BY 1",
            pattern,
        )?,
        Listing::Packages => pairs(
            catalog,
            "SELECT TRIM(RDB$PACKAGE_NAME), TRIM(RDB$OWNER_NAME) FROM RDB$PACKAGES \
             WHERE COALESCE(RDB$SYSTEM_FLAG, 0) = 0 ORDER BY 1",
            pattern,
        )?,
        Listing::Roles => pairs(
            catalog,
            "SELECT TRIM(RDB$ROLE_NAME), TRIM(RDB$OWNER_NAME) FROM RDB$ROLES ORDER BY 1",
            pattern,
        )?,
    })
}

fn domains(connection: &Connection, pattern: Option<&str>) -> Result<Vec<Vec<String>>> {
    let all = crate::ddl::domains(connection, pattern.map_or(Name::Any, Name::Like))?.into_iter();
    let row = |(domain, data_type): (Domain, String)| {
        let null = if domain.nullable { "" } else { "NOT NULL" };
        vec![domain.name, data_type, null.to_owned(), domain.default.unwrap_or_default()]
    };
    Ok(all.map(row).collect())
}

/// Names, and a fact about each.
fn pairs(catalog: &Catalog, sql: &str, pattern: Option<&str>) -> Result<Vec<Vec<String>>> {
    let mut rows = Vec::new();
    let transaction = catalog.transaction();
    // Messages carry no character set and are only displayed; the connection's text options are for data.
    let options = ReadOptions::default().none_encoding(NoneEncoding::Utf8Lossy);
    let statement = transaction.prepare(sql)?.with_read_options(options);
    for batch in statement.query(transaction, Params::none())? {
        for row in batch?.rows() {
            let (name, fact): (String, Option<String>) = (row.get(0)?, row.get(1)?);
            if pattern.is_none_or(|pattern| is_like(&name, pattern)) {
                rows.push(vec![name, fact.unwrap_or_default()]);
            }
        }
    }
    Ok(rows)
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
            Self::Exceptions => "exceptions",
            Self::Packages => "packages",
            Self::Roles => "roles",
        }
    }

    fn head(self) -> &'static [&'static str] {
        match self {
            Self::Tables | Self::SystemTables | Self::Views => &[],
            Self::Indexes => &["index", "table", "columns", "kind"],
            Self::Procedures => &["procedure", "inputs", "outputs", "remark"],
            Self::Functions => &["function", "remark"],
            Self::Triggers => &["trigger", "table", "event", "state"],
            Self::Sequences => &["sequence", "value", "increment", "remark"],
            Self::Domains => &["domain", "type", "null", "default"],
            Self::Exceptions => &["exception", "message"],
            Self::Packages => &["package", "owner"],
            Self::Roles => &["role", "owner"],
        }
    }
}

fn packaged(package: Option<String>, name: &str) -> String {
    package.map_or_else(|| name.to_owned(), |package| format!("{package}.{name}"))
}

/// A name as written in SQL. A quoted name keeps its quotes and matches exactly.
fn name_of(token: &Token<'_>) -> String {
    match token.kind {
        TokenKind::QuotedName => token.text.to_owned(),
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

const SHOW: &str = "SHOW takes TABLES, VIEWS, INDEXES, PROCEDURES, FUNCTIONS, TRIGGERS, SEQUENCES, DOMAINS, EXCEPTIONS, \
                    PACKAGES, ROLES, GRANTS, SYSTEM, VERSION or DATABASE; SHOW TABLE, VIEW, PROCEDURE … also with a name";

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
