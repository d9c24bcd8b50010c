//! The order of objects that need others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

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

impl Node {
    pub(super) fn name(&self) -> &str {
        let (Self::Procedure(name) | Self::Function(name) | Self::Package(name) | Self::View(name)) = self;
        name
    }

    fn has_stub(&self) -> bool {
        matches!(self, Self::Procedure(_) | Self::Function(_))
    }
}

/// Returns the steps that create objects, each with what it needs.
pub(super) fn steps(mut needs: BTreeMap<Node, BTreeSet<Node>>) -> Vec<Step> {
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
