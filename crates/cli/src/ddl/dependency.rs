//! Which objects need which others.

use super::column::Column;
use super::database::Database;
use super::order::{Node, Step, steps};
use crate::failure::Result;
use firearrow::sql::{TokenKind, tokens};
use std::collections::{BTreeSet, HashMap, HashSet};

/// What an object depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Need {
    kind: i64,
    name: String,
    column: Option<String>,
}

/// The dependencies of all objects.
pub(super) struct Dependencies {
    /// By the kind and name of the object that has them.
    needs: HashMap<(i64, String), Vec<Need>>,
    /// The domain of each column, by which the dependencies of its expression are noted.
    sources: HashMap<String, HashMap<String, String>>,
}

/// What can be written only when the objects are there that it needs.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    /// Computed columns, by their table and name.
    columns: HashSet<(String, String)>,
    /// CHECKs of tables, by their name.
    checks: HashSet<String>,
    /// Domains with a CHECK.
    domains: HashSet<String>,
}

/// `obj_…` of `jrd/obj.h`.
mod object {
    pub(super) const TABLE: i64 = 0;
    pub(super) const VIEW: i64 = 1;
    pub(super) const TRIGGER: i64 = 2;
    pub(super) const COMPUTED: i64 = 3;
    pub(super) const VALIDATION: i64 = 4;
    pub(super) const PROCEDURE: i64 = 5;
    pub(super) const FUNCTION: i64 = 15;
    pub(super) const PACKAGE: i64 = 18;
}

const DEPENDENCIES: &str = "SELECT D.RDB$DEPENDENT_TYPE, D.RDB$DEPENDENT_NAME, D.RDB$DEPENDED_ON_TYPE, \
     D.RDB$DEPENDED_ON_NAME, D.RDB$FIELD_NAME, D.RDB$PACKAGE_NAME FROM RDB$DEPENDENCIES D";

/// The triggers of CHECKs, by the name of the constraint.
const CHECKS: &str = "SELECT K.RDB$CONSTRAINT_NAME, K.RDB$TRIGGER_NAME, C.RDB$RELATION_NAME \
     FROM RDB$CHECK_CONSTRAINTS K \
     JOIN RDB$RELATION_CONSTRAINTS C ON C.RDB$CONSTRAINT_NAME = K.RDB$CONSTRAINT_NAME \
     WHERE C.RDB$CONSTRAINT_TYPE = 'CHECK'";

impl Dependencies {
    pub(super) fn read(database: &Database, columns: &HashMap<String, Vec<Column>>) -> Result<Self> {
        let mut all = HashMap::<_, Vec<Need>>::new();
        for (dependent, need) in database.ask(DEPENDENCIES, &[], |row| {
            // What is in a package is there as soon as the package is.
            let package: Option<String> = row.get(5)?;
            let need = match package {
                Some(package) => Need { kind: object::PACKAGE, name: package, column: None },
                None => Need { kind: row.get(2)?, name: row.get(3)?, column: row.get(4)? },
            };
            Ok(((row.get(0)?, row.get(1)?), need))
        })? {
            all.entry(dependent).or_default().push(need);
        }
        let sources = columns.iter().map(|(table, columns)| {
            let of_table = columns.iter().map(|column| (column.column.name.clone(), column.source.clone()));
            (table.clone(), of_table.collect())
        });
        Ok(Self { needs: all, sources: sources.collect() })
    }

    /// Returns what an object needs, with what the expressions of computed columns need that it refers to: the engine
    /// notes those sometimes, depending on what it has in its cache.
    fn of(&self, kind: i64, name: &str) -> HashSet<&Need> {
        let direct = |kind: i64, name: &str| self.needs.get(&(kind, name.to_owned())).into_iter().flatten();
        let mut all = HashSet::new();
        let mut left: Vec<&Need> = direct(kind, name).collect();
        while let Some(need) = left.pop() {
            if !all.insert(need) {
                continue;
            }
            let column = need.column.as_ref();
            let source = column.and_then(|column| self.sources.get(&need.name)?.get(column));
            left.extend(source.into_iter().flat_map(|source| direct(object::COMPUTED, source)));
        }
        all
    }

    /// Returns what cannot be written with its table or domain, because it needs other objects.
    pub(super) fn deferred(
        &self,
        database: &Database,
        columns: &HashMap<String, Vec<Column>>,
    ) -> Result<Deferred> {
        let mut deferred = Deferred::default();
        for (table, columns) in columns {
            let places: HashMap<&str, usize> =
                columns.iter().enumerate().map(|(at, column)| (column.column.name.as_str(), at)).collect();
            for (at, column) in columns.iter().enumerate() {
                let is_later = |need: &Need| {
                    let place = need.column.as_deref().and_then(|column| places.get(column));
                    need.is_outside(table) || (need.name == *table && place.is_some_and(|place| *place > at))
                };
                let needs = self.of(object::COMPUTED, &column.source);
                // Firebird 3 and 4 forget the needs of a column whose type the parameters of a package have.
                let is_unknown = needs.is_empty() && column.column.computed.as_deref().is_some_and(has_names);
                if is_unknown || needs.into_iter().any(is_later) {
                    deferred.columns.insert((table.clone(), column.column.name.clone()));
                }
            }
        }
        let checks = database.ask(CHECKS, &[], |row| {
            Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<String>(2)?))
        })?;
        for (constraint, trigger, table) in checks {
            if self.of(object::TRIGGER, &trigger).into_iter().any(|need| need.is_outside(&table)) {
                deferred.checks.insert(constraint);
            }
        }
        let validations = self.needs.iter().filter(|((kind, _), _)| *kind == object::VALIDATION);
        for ((_, domain), needs) in validations {
            if needs.iter().any(|need| need.is_outside("")) {
                deferred.domains.insert(domain.clone());
            }
        }
        Ok(deferred)
    }

    /// Returns the steps that create these objects. Where they need each other, procedures and functions are created
    /// without their bodies first. `types` has what the types of parameters need, which the engine does not note for
    /// headers of packages.
    pub(super) fn steps(
        &self,
        nodes: &BTreeSet<Node>,
        columns: &HashMap<String, Vec<Column>>,
        types: &HashMap<Node, BTreeSet<Node>>,
    ) -> Vec<Step> {
        let needs = |node: &Node| -> BTreeSet<Node> {
            let kind = match node {
                Node::View(_) => object::VIEW,
                Node::Procedure(_) => object::PROCEDURE,
                Node::Function(_) => object::FUNCTION,
                Node::Package(_) => object::PACKAGE,
            };
            let own = self.of(kind, node.name()).into_iter();
            // What the expressions of a view need is noted for its columns.
            let of_view = columns.get(node.name()).filter(|_| kind == object::VIEW).into_iter().flatten();
            let expressions = of_view.flat_map(|column| self.of(object::COMPUTED, &column.source));
            let all = own.chain(expressions).filter_map(Need::node);
            let all = all.chain(types.get(node).into_iter().flatten().cloned());
            all.filter(|need| need != node && nodes.contains(need)).collect()
        };
        steps(nodes.iter().map(|node| (node.clone(), needs(node))).collect())
    }
}

impl Deferred {
    pub(super) fn has_column(&self, column: &Column) -> bool {
        self.columns.contains(&(column.column.table.clone(), column.column.name.clone()))
    }

    pub(super) fn has_check(&self, constraint: &str) -> bool {
        self.checks.contains(constraint)
    }

    pub(super) fn has_domain(&self, domain: &str) -> bool {
        self.domains.contains(domain)
    }
}

impl Need {
    /// Whether it is created after the tables, or is another table.
    fn is_outside(&self, table: &str) -> bool {
        match self.kind {
            object::TABLE => self.name != table,
            object::VIEW | object::PROCEDURE | object::FUNCTION | object::PACKAGE => true,
            _ => false,
        }
    }

    /// Views are noted as tables, too.
    fn node(&self) -> Option<Node> {
        let name = self.name.clone();
        Some(match self.kind {
            object::TABLE | object::VIEW => Node::View(name),
            object::PROCEDURE => Node::Procedure(name),
            object::FUNCTION => Node::Function(name),
            object::PACKAGE => Node::Package(name),
            _ => return None,
        })
    }
}

/// Whether an expression is more than constants.
fn has_names(expression: &str) -> bool {
    tokens(expression).any(|token| matches!(token.kind, TokenKind::Word | TokenKind::QuotedName))
}
