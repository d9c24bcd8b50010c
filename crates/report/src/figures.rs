//! From the repetitions of records to figures: by table, case and contestant.

use crate::record::{OURS, Record, SampleLine, TableHead};
use crate::statistics::{Interval, Spread, interval_of_median};
use crate::unit::Better;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The figures of one record.
#[derive(Clone, Debug)]
pub struct Figures<'a> {
    /// What they were made of.
    pub record: &'a Record,
    /// Its tables that have samples.
    pub tables: Vec<TableFigures<'a>>,
}

/// The figures of one table.
#[derive(Clone, Debug)]
pub struct TableFigures<'a> {
    /// Its title, its notes and its charts.
    pub head: &'a TableHead,
    /// Whom others are compared with: [`OURS`]; without it, the first of firearrow's contestants.
    pub reference: &'a str,
    /// Its cases, in the order in which they first ran.
    pub cases: Vec<CaseFigures<'a>>,
}

/// The figures of one case.
#[derive(Clone, Debug)]
pub struct CaseFigures<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whoever took part, firearrow first.
    pub contestants: Vec<ContestantFigures<'a>>,
}

/// The figures of one contestant in one case.
#[derive(Clone, Debug)]
pub struct ContestantFigures<'a> {
    /// Its name.
    pub name: &'a str,
    /// How often it ran.
    pub repetitions: usize,
    /// What was measured, by name.
    pub values: BTreeMap<&'a str, Spread>,
    /// Whether it was measured elsewhere, so that it is compared with nothing.
    pub is_elsewhere: bool,
    /// How many times as good as its value firearrow's of the same repetition is, by name: above 1, firearrow is better.
    /// Only values of which less or more is better have one, and the table's reference has none.
    pub ratios: BTreeMap<&'a str, (Spread, Option<Interval>)>,
}

impl<'a> Figures<'a> {
    /// Works out the figures of a record.
    #[must_use]
    pub fn of(record: &'a Record) -> Self {
        let table = |head: &'a TableHead| {
            let samples = record.samples.iter().filter(|sample| sample.table == head.id);
            let reference = reference(samples.clone().map(|sample| sample.contestant.as_str()));
            let cases = grouped(samples, |sample| sample.case.as_str());
            let cases = cases
                .into_iter()
                .map(|(name, samples)| case(name, &samples, reference, &head.columns))
                .collect();
            TableFigures { head, reference, cases }
        };
        let tables = record.tables.iter().map(table).filter(|table| !table.cases.is_empty()).collect();
        Self { record, tables }
    }
}

impl CaseFigures<'_> {
    /// The contestant of this name.
    #[must_use]
    pub fn contestant(&self, name: &str) -> Option<&ContestantFigures<'_>> {
        self.contestants.iter().find(|contestant| contestant.name == name)
    }

    /// How often a contestant ran if nothing stopped it.
    #[must_use]
    pub fn repetitions(&self) -> usize {
        let here = self.contestants.iter().filter(|contestant| !contestant.is_elsewhere);
        here.map(|contestant| contestant.repetitions).max().unwrap_or(0)
    }
}

impl TableFigures<'_> {
    /// The contestants of all cases, the reference first.
    #[must_use]
    pub fn contestants(&self) -> Vec<&str> {
        let all = self.cases.iter().flat_map(|case| &case.contestants).map(|contestant| contestant.name);
        let mut names = in_order(all);
        names.sort_by_key(|name| *name != self.reference);
        names
    }
}

fn reference<'a>(mut names: impl Iterator<Item = &'a str> + Clone) -> &'a str {
    let is_one_of_ours = |name: &&str| name.strip_prefix(OURS).is_some_and(|rest| rest.starts_with(' '));
    match names.clone().any(|name| name == OURS) {
        true => OURS,
        false => names.find(is_one_of_ours).unwrap_or(OURS),
    }
}

/// Only values that are `shown` are compared, because an interval takes thousands of samples.
fn case<'a>(name: &'a str, samples: &[&'a SampleLine], reference: &str, shown: &[String]) -> CaseFigures<'a> {
    let mut groups = grouped(samples.iter().copied(), |sample| sample.contestant.as_str());
    groups.sort_by_key(|(name, _)| *name != reference);
    let ours: HashMap<usize, &SampleLine> = groups
        .iter()
        .filter(|(name, _)| *name == reference)
        .flat_map(|(_, samples)| samples.iter().map(|sample| (sample.repetition, *sample)))
        .collect();
    let contestants =
        groups.iter().map(|(name, samples)| contestant(name, samples, &ours, reference, shown)).collect();
    CaseFigures { name, contestants }
}

/// Samples by name, in the order in which names come first.
fn grouped<'a>(
    samples: impl Iterator<Item = &'a SampleLine>,
    name: impl Fn(&'a SampleLine) -> &'a str,
) -> Vec<(&'a str, Vec<&'a SampleLine>)> {
    let mut places = HashMap::new();
    let mut groups: Vec<(&str, Vec<&SampleLine>)> = Vec::new();
    for sample in samples {
        let name = name(sample);
        let at = *places.entry(name).or_insert_with(|| {
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(sample);
    }
    groups
}

fn contestant<'a>(
    name: &'a str,
    samples: &[&'a SampleLine],
    ours: &HashMap<usize, &SampleLine>,
    reference: &str,
    shown: &[String],
) -> ContestantFigures<'a> {
    // What was measured here says more, and the two are not mixed.
    let is_elsewhere = samples.iter().all(|sample| sample.is_elsewhere());
    let samples: Vec<&SampleLine> =
        samples.iter().copied().filter(|sample| is_elsewhere || !sample.is_elsewhere()).collect();
    let names: BTreeSet<&str> =
        samples.iter().flat_map(|sample| sample.values.keys().map(String::as_str)).collect();
    let all = |value: &str| -> Vec<f64> {
        samples.iter().filter_map(|sample| sample.values.get(value).copied()).collect()
    };
    let values = names.iter().filter_map(|value| Some((*value, Spread::of(all(value))?))).collect();
    // Machines drift: only what ran one after the other is compared.
    let ratios = |value: &str| -> Vec<f64> {
        let Some(better) = Better::of(value) else { return Vec::new() };
        let pairs = samples.iter().filter(|_| !is_elsewhere).filter_map(|sample| {
            let ours = ours.get(&sample.repetition)?.values.get(value)?;
            let theirs = sample.values.get(value)?;
            Some(match better {
                Better::Less => theirs / ours,
                Better::More => ours / theirs,
            })
        });
        pairs.filter(|ratio| ratio.is_finite()).collect()
    };
    let wanted =
        names.iter().filter(|value| name != reference && shown.iter().any(|column| column == *value));
    let compared = wanted.filter_map(|value| {
        let all = ratios(value);
        Some((*value, (Spread::of(all.iter().copied())?, interval_of_median(&all))))
    });
    let ratios = compared.collect();
    ContestantFigures { name, repetitions: samples.len(), values, is_elsewhere, ratios }
}

fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known = HashSet::new();
    names.filter(|name| known.insert(*name)).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::{Chart, End, Mark};
    use serde_json::Map;

    #[test]
    fn without_firearrow_itself_the_first_of_its_contestants_is_the_reference() {
        let of = |names: &[&'static str]| reference(names.iter().copied());
        assert_eq!(of(&["rival", "firearrow crate", OURS]), OURS);
        assert_eq!(of(&["rival", "firearrow crate", "firearrow Python"]), "firearrow crate");
        assert_eq!(of(&["firearrowlike", "home"]), OURS);
    }

    /// Two cases; the rival takes twice the time in the first one, and is missing in the second.
    pub(crate) fn record() -> Record {
        let mut record = Record::new("demo", "A demonstration", Map::new());
        record.head.environment.insert("engine".into(), "5.0.4".into());
        record.tables.push(TableHead {
            id: "t".into(),
            title: "Reading <rows>".into(),
            notes: vec!["A note & more.".into()],
            columns: vec!["wall_s".into(), "rows".into()],
            charts: vec![Chart {
                title: "Time".into(),
                mark: Mark::Bars,
                y: "wall_s".into(),
                ..Chart::default()
            }],
        });
        let mut add = |case: &str, contestant: &str, repetition: usize, wall_s: f64| {
            record.samples.push(SampleLine {
                table: "t".into(),
                case: case.into(),
                contestant: contestant.into(),
                repetition,
                values: [("wall_s".to_owned(), wall_s), ("rows".to_owned(), 10.0)].into(),
            });
        };
        for repetition in 1..=5 {
            let drift = repetition as f64;
            add("one", "rival", repetition, 2.0 * drift);
            add("one", OURS, repetition, drift);
            add("two", OURS, repetition, 0.5);
        }
        record.end = Some(End { complete: true, ..End::default() });
        record
    }

    #[test]
    fn ratios_are_those_of_the_same_repetition() {
        let record = record();
        let figures = Figures::of(&record);
        let table = &figures.tables[0];
        assert_eq!(table.contestants(), [OURS, "rival"]);
        let case = &table.cases[0];
        let (ours, rival) = (&case.contestants[0], &case.contestants[1]);
        assert_eq!((ours.name, ours.values["wall_s"].median, ours.ratios.len()), (OURS, 3.0, 0));
        let (ratio, interval) = rival.ratios["wall_s"];
        assert_eq!((ratio.min, ratio.median, ratio.max), (2.0, 2.0, 2.0));
        assert_eq!(interval.unwrap(), Interval { low: 2.0, high: 2.0 });
        assert_eq!(table.cases[1].contestants.len(), 1);
        assert!(table.cases[1].contestant("rival").is_none());
    }

    #[test]
    fn a_ratio_above_one_is_better_for_firearrow() {
        let mut record = record();
        record.tables[0].columns = ["wall_s", "rows_per_s", "max_id", "rows"].map(str::to_owned).into();
        for sample in &mut record.samples {
            let values = if sample.contestant == OURS { [100.0, 10.0] } else { [10.0, 1.0] };
            sample.values.extend([("rows_per_s".to_owned(), values[0]), ("max_id".to_owned(), values[1])]);
        }
        let figures = Figures::of(&record);
        let rival = figures.tables[0].cases[0].contestant("rival").unwrap();
        assert_eq!(rival.ratios["rows_per_s"].0.median, 10.0);
        assert_eq!(rival.ratios["wall_s"].0.median, 2.0);
        // Of ids neither is better, nor of rows.
        assert_eq!(rival.ratios.keys().copied().collect::<Vec<_>>(), ["rows_per_s", "wall_s"]);
        // What nobody sees is not compared.
        record.tables[0].columns = vec!["wall_s".to_owned()];
        let figures = Figures::of(&record);
        let rival = figures.tables[0].cases[0].contestant("rival").unwrap();
        assert_eq!(rival.ratios.keys().copied().collect::<Vec<_>>(), ["wall_s"]);
    }

    #[test]
    fn what_was_measured_elsewhere_is_compared_with_nothing() {
        let mut record = record();
        let values = [("wall_s".to_owned(), 1.0)].into();
        record.samples.push(SampleLine::elsewhere("t", "one", "published", values));
        let figures = Figures::of(&record);
        let case = &figures.tables[0].cases[0];
        let published = case.contestant("published").unwrap();
        assert!(published.is_elsewhere && published.ratios.is_empty());
        assert_eq!((published.values["wall_s"].median, case.repetitions()), (1.0, 5));
    }

    #[test]
    fn what_was_measured_elsewhere_is_not_mixed_with_what_was_measured_here() {
        let mut record = record();
        for contestant in ["rival", OURS] {
            let values = [("wall_s".to_owned(), 1e6), ("other_s".to_owned(), 1.0)].into();
            record.samples.push(SampleLine::elsewhere("t", "one", contestant, values));
        }
        let figures = Figures::of(&record);
        let case = &figures.tables[0].cases[0];
        for (name, median) in [("rival", 6.0), (OURS, 3.0)] {
            let found = case.contestant(name).unwrap();
            assert_eq!(
                (found.repetitions, found.values["wall_s"].median, found.is_elsewhere),
                (5, median, false)
            );
            assert!(!found.values.contains_key("other_s"));
        }
        assert_eq!(case.contestant("rival").unwrap().ratios["wall_s"].0.max, 2.0);
    }
}
