//! Which objects need which others, and the order that follows.

use super::column::Column;
use super::database::Database;
use crate::failure::Result;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What an object depends on.
#[derive(Clone, Debug)]
struct Need {
    kind: i64,
    name: String,
    column: Option<String>,
}

/// The dependencies of all objects, by their kind and name.
pub(super) struct Dependencies(HashMap<(i64, String), Vec<Need>>);

/// What can be written only when the objects are there that it needs.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    /// Computed columns, by the name of the domain that the engine made for each.
    columns: HashSet<String>,
    /// CHECKs of tables, by their name.
    checks: HashSet<String>,
    /// Domains with a CHECK.
    domains: HashSet<String>,
}

/// An object whose place depends on others. The order is that of those which do not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Node {
    Procedure(String),
    Function(String),
    Package(String),
    View(String),
}

/// A step of the creation of the objects of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Create(Node),
    /// Creates a procedure or function without its body.
    Stub(Node),
    /// Gives it the body.
    Complete(Node),
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
    pub(super) fn read(database: &Database) -> Result<Self> {
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
        Ok(Self(all))
    }

    fn of(&self, kind: i64, name: &str) -> &[Need] {
        self.0.get(&(kind, name.to_owned())).map_or(&[], Vec::as_slice)
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
                if self.of(object::COMPUTED, &column.source).iter().any(is_later) {
                    deferred.columns.insert(column.source.clone());
                }
            }
        }
        let checks = database.ask(CHECKS, &[], |row| {
            Ok((row.get::<String>(0)?, row.get::<String>(1)?, row.get::<String>(2)?))
        })?;
        for (constraint, trigger, table) in checks {
            if self.of(object::TRIGGER, &trigger).iter().any(|need| need.is_outside(&table)) {
                deferred.checks.insert(constraint);
            }
        }
        let validations = self.0.iter().filter(|((kind, _), _)| *kind == object::VALIDATION);
        for ((_, domain), needs) in validations {
            if needs.iter().any(|need| need.is_outside("")) {
                deferred.domains.insert(domain.clone());
            }
        }
        Ok(deferred)
    }

    /// Returns the steps that create these objects. Where they need each other, procedures and functions are created
    /// without their bodies first.
    pub(super) fn steps(&self, nodes: &BTreeSet<Node>) -> Vec<Step> {
        let needs = |node: &Node| -> BTreeSet<Node> {
            let kind = match node {
                Node::View(_) => object::VIEW,
                Node::Procedure(_) => object::PROCEDURE,
                Node::Function(_) => object::FUNCTION,
                Node::Package(_) => object::PACKAGE,
            };
            let all = self.of(kind, node.name()).iter().filter_map(Need::node);
            all.filter(|need| need != node && nodes.contains(need)).collect()
        };
        steps(nodes.iter().map(|node| (node.clone(), needs(node))).collect())
    }
}

impl Deferred {
    pub(super) fn has_column(&self, source: &str) -> bool {
        self.columns.contains(source)
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

impl Node {
    pub(super) fn name(&self) -> &str {
        let (Self::Procedure(name) | Self::Function(name) | Self::Package(name) | Self::View(name)) = self;
        name
    }

    fn has_stub(&self) -> bool {
        matches!(self, Self::Procedure(_) | Self::Function(_))
    }
}

fn steps(mut needs: BTreeMap<Node, BTreeSet<Node>>) -> Vec<Step> {
    let mut steps = Vec::new();
    let core = in_circles(&needs);
    let stubs: BTreeSet<Node> = core.into_iter().filter(Node::has_stub).collect();
    for needs in needs.values_mut() {
        needs.retain(|need| !stubs.contains(need));
    }
    steps.extend(stubs.iter().cloned().map(Step::Stub));
    let mut dependents = HashMap::<Node, Vec<Node>>::new();
    for (node, needs) in &needs {
        for need in needs {
            dependents.entry(need.clone()).or_default().push(node.clone());
        }
    }
    let mut ready: BTreeSet<Node> =
        needs.iter().filter(|(_, needs)| needs.is_empty()).map(|(node, _)| node.clone()).collect();
    while let Some(node) = ready.pop_first() {
        needs.remove(&node);
        for dependent in dependents.remove(&node).unwrap_or_default() {
            let Some(left) = needs.get_mut(&dependent) else { continue };
            left.remove(&node);
            if left.is_empty() {
                ready.insert(dependent);
            }
        }
        steps.push(if stubs.contains(&node) { Step::Complete(node) } else { Step::Create(node) });
    }
    // Nothing should be left. What is has no better place than the end.
    steps.extend(needs.into_keys().map(Step::Create));
    steps
}

/// Returns the nodes that need each other, and those between such groups: what remains when those are removed, again
/// and again, that need no others or that no others need.
fn in_circles(needs: &BTreeMap<Node, BTreeSet<Node>>) -> BTreeSet<Node> {
    let mut left = needs.clone();
    loop {
        let before = left.len();
        let needed: BTreeSet<Node> = left.values().flatten().cloned().collect();
        left.retain(|node, needs| !needs.is_empty() && needed.contains(node));
        let remaining: BTreeSet<Node> = left.keys().cloned().collect();
        for needs in left.values_mut() {
            needs.retain(|need| remaining.contains(need));
        }
        if left.len() == before {
            return remaining;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(needs: &[(Node, &[Node])]) -> Vec<Step> {
        steps(needs.iter().map(|(node, needs)| (node.clone(), needs.iter().cloned().collect())).collect())
    }

    fn view(name: &str) -> Node {
        Node::View(name.into())
    }

    fn procedure(name: &str) -> Node {
        Node::Procedure(name.into())
    }

    #[test]
    fn objects_come_after_those_that_they_need() {
        use Step::Create;
        let found = order(&[
            (view("A"), &[view("C")]),
            (view("B"), &[]),
            (view("C"), &[procedure("P")]),
            (procedure("P"), &[]),
        ]);
        assert_eq!(found, [procedure("P"), view("B"), view("C"), view("A")].map(Create));
    }

    #[test]
    fn circles_begin_with_stubs() {
        use Step::{Complete, Create, Stub};
        let found = order(&[
            (procedure("P"), &[view("V")]),
            (view("V"), &[procedure("P")]),
            (procedure("Q"), &[procedure("P")]),
            (procedure("O"), &[]),
        ]);
        assert_eq!(
            found,
            [
                Stub(procedure("P")),
                Create(procedure("O")),
                Create(procedure("Q")),
                Create(view("V")),
                Complete(procedure("P")),
            ]
        );
    }
}
