//! The engine's detailed plans: which nodes they have, and what these mean for reading in parts.

use super::dimension::Dimension;
use crate::parallel::WhyPlain;

/// The nodes of a plan, one a line, without what shows their depth.
fn nodes(plan: &str) -> impl Iterator<Item = &str> {
    plan.lines().map(|line| line.trim().trim_start_matches("-> ")).filter(|node| !node.is_empty())
}

/// Whether the engine reads the divided query as intended: one table, from border to border, and nothing that would
/// make the parts together another result than the whole (aggregates, sorting, limits, sub-queries).
pub(crate) fn fits(dimension: &Dimension, plan: &str) -> bool {
    let mut queries = 0;
    let mut scans = 0;
    let is_known = nodes(plan).all(|node| {
        let is_scan = match dimension {
            Dimension::Pages(_) => {
                node.starts_with("Table ") && node.contains("Full Scan (") && node.contains("bound")
            }
            Dimension::Key(_) => node.starts_with("Index ") && node.contains("Range Scan"),
        };
        scans += usize::from(is_scan);
        queries += usize::from(node.starts_with("Select Expression"));
        is_scan
            || node == "Bitmap"
            || ["Select Expression", "Filter"].iter().any(|start| node.starts_with(start))
            || node.starts_with("Table ") && node.contains("Access By ID")
    });
    is_known && queries == 1 && scans == 1
}

/// Whether the engine reads one table, from its first page to its last, and does nothing more with the rows than
/// filtering them.
pub(crate) fn is_full_scan(plan: &str) -> bool {
    let mut scans = 0;
    let is_known = nodes(plan).all(|node| {
        let is_scan = node.starts_with("Table ") && node.ends_with("Full Scan");
        scans += usize::from(is_scan);
        is_scan || node.starts_with("Filter") || node.starts_with("Select Expression")
    });
    is_known && scans == 1
}

/// Why a query is read by one connection that the engine does not read from the first page to the last.
pub(crate) fn why_plain(plan: &str) -> WhyPlain {
    const REASONS: [(&str, WhyPlain); 8] = [
        ("Aggregate", WhyPlain::Aggregated),
        ("Window", WhyPlain::Aggregated),
        ("First N", WhyPlain::Limited),
        ("Skip N", WhyPlain::Limited),
        ("Sort", WhyPlain::Sorted),
        ("Unique Sort", WhyPlain::Sorted),
        ("Index", WhyPlain::Index),
        ("Write Lock", WhyPlain::Locks),
    ];
    if plan.matches("Select Expression").count() + plan.matches("Sub-query").count() > 1 {
        return WhyPlain::Subquery;
    }
    if nodes(plan).any(|node| node.contains("Join (")) {
        return WhyPlain::Join;
    }
    let found = REASONS.iter().find(|(start, _)| nodes(plan).any(|node| node.starts_with(start)));
    found.map_or(WhyPlain::Plan, |(_, why)| why.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCAN: &str = "\nSelect Expression\n    -> Filter\n        -> Table \"T\" Full Scan";

    #[test]
    fn plans_tell_why() {
        assert!(is_full_scan(SCAN));
        let index = "Select Expression\n    -> Filter\n        -> Table \"T\" Access By ID\n            \
            -> Bitmap\n                -> Index \"T_A\" Range Scan (full match)";
        let join = "Select Expression\n    -> Hash Join (inner)\n        -> Table \"T\" Full Scan";
        for (plan, why) in [
            (index, WhyPlain::Index),
            (join, WhyPlain::Join),
            ("Select Expression\n    -> Sort (record length: 28)", WhyPlain::Sorted),
            ("Sub-query\nSelect Expression", WhyPlain::Subquery),
            ("Select Expression\n    -> Procedure \"P\" Scan", WhyPlain::Plan),
        ] {
            assert!(!is_full_scan(plan));
            assert_eq!(why_plain(plan), why, "{plan}");
        }
    }

    #[test]
    fn parts_are_bounded_scans() {
        let (pages, key) = (Dimension::Pages("T".into()), Dimension::Key("ID".into()));
        let bounded = SCAN.replace("Full Scan", "Full Scan (lower bound, upper bound)");
        assert!(fits(&pages, &bounded) && !fits(&pages, SCAN) && !fits(&key, &bounded));
        assert!(!fits(&pages, &format!("Sub-query\n{bounded}")));
    }
}
