//! What tables show, for every form of report, and the form for terminals.

use crate::figures::{CaseFigures, ContestantFigures, Figures, TableFigures};
use crate::record::{Record, SampleLine};
use crate::unit;
use serde_json::Value;

/// One line of a table for people: the case, the contestant, and a cell for each column.
pub(crate) struct Row<'a> {
    pub(crate) case: &'a str,
    /// With how often it ran, if that is not as often as others did.
    pub(crate) contestant: String,
    pub(crate) cells: Vec<String>,
}

/// The titles of a table's columns, after case and contestant. Rivals have a ratio for the first value.
pub(crate) fn titles(table: &TableFigures<'_>) -> Vec<String> {
    let mut titles: Vec<String> = shown(table).map(unit::title).collect();
    if has_ratios(table) {
        titles.insert(1, RATIO.to_owned());
    }
    titles
}

/// A line for each contestant of each case.
pub(crate) fn rows<'a>(table: &'a TableFigures<'_>) -> Vec<Row<'a>> {
    let has_ratios = has_ratios(table);
    let row = |case: &'a CaseFigures<'_>, contestant: &'a ContestantFigures<'_>| {
        let mut cells: Vec<String> = Vec::new();
        for (at, column) in shown(table).enumerate() {
            cells.push(cell(contestant, column, at == 0));
            if at == 0 && has_ratios {
                cells.push(ratio(contestant, column, table.reference));
            }
        }
        Row { case: case.name, contestant: label(case, contestant), cells }
    };
    table
        .cases
        .iter()
        .flat_map(|case| case.contestants.iter().map(move |contestant| row(case, contestant)))
        .collect()
}

fn label(case: &CaseFigures<'_>, contestant: &ContestantFigures<'_>) -> String {
    let (name, ran, all) = (contestant.name, contestant.repetitions, case.repetitions());
    match () {
        () if contestant.is_elsewhere => format!("{name} (elsewhere)"),
        () if ran < all => format!("{name} ({ran} of {all})"),
        () => name.to_owned(),
    }
}

/// Whether somebody is compared with firearrow by the first column.
pub(crate) fn has_ratios(table: &TableFigures<'_>) -> bool {
    let first = shown(table).next();
    let mut all = table.cases.iter().flat_map(|case| &case.contestants);
    first.is_some_and(|column| all.any(|contestant| contestant.ratios.contains_key(column)))
}

/// What stands below a table: its notes, and who is missing where.
pub(crate) fn notes(table: &TableFigures<'_>) -> Vec<String> {
    let mut notes = table.head.notes.clone();
    for name in table.contestants() {
        if table.cases.iter().filter_map(|case| case.contestant(name)).all(|found| found.is_elsewhere) {
            continue;
        }
        let without = table.cases.iter().filter(|case| case.contestant(name).is_none());
        let cases: Vec<&str> = without.map(|case| case.name).collect();
        let more = match cases.len().saturating_sub(MOST_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        if !cases.is_empty() {
            notes.push(format!(
                "No figures of {name}: {}{more}.",
                cases[..cases.len().min(MOST_NAMED)].join("; ")
            ));
        }
    }
    notes
}

/// Of more cases, their number says enough.
const MOST_NAMED: usize = 5;

/// The columns of which somebody has a value.
fn shown<'a>(table: &'a TableFigures<'_>) -> impl Iterator<Item = &'a str> {
    let has = |column: &&str| {
        let mut all = table.cases.iter().flat_map(|case| &case.contestants);
        all.any(|contestant| contestant.values.contains_key(column))
    };
    table.head.columns.iter().map(String::as_str).filter(has)
}

/// The median; of the first column its spread as well, which shows how much the others vary.
fn cell(contestant: &ContestantFigures<'_>, column: &str, with_spread: bool) -> String {
    let show = |value| unit::show(column, value);
    match contestant.values.get(column) {
        None => "–".to_owned(),
        Some(spread) if with_spread && contestant.repetitions > 1 => spread.text(show),
        Some(spread) => show(spread.median),
    }
}

fn ratio(contestant: &ContestantFigures<'_>, column: &str, reference: &str) -> String {
    match contestant.ratios.get(column) {
        _ if contestant.name == reference => "1".to_owned(),
        None => "–".to_owned(),
        Some((spread, None)) => format!("{:.2}", spread.median),
        Some((spread, Some(interval))) => {
            format!("{:.2} [{:.2}; {:.2}]", spread.median, interval.low, interval.high)
        }
    }
}

const RATIO: &str = "ratio (above 1: firearrow is better)";

/// How tables are to be read.
pub(crate) fn how_to_read(figures: &Figures<'_>) -> String {
    let mut text = "Medians, with minimum and maximum in parentheses.".to_owned();
    if figures.tables.iter().any(has_ratios) {
        text += " Ratio: how many times as good firearrow is, in time or in rate: the median of the ratios of repetitions that \
            ran one after the other, with its 95 % bootstrap confidence interval if there are at least five.";
    }
    let mut cases = figures.tables.iter().flat_map(|table| &table.cases);
    if cases.any(|case| {
        case.contestants.iter().any(|each| !each.is_elsewhere && each.repetitions < case.repetitions())
    }) {
        text += " 1 of 10: fewer repetitions than the others in the same case.";
    }
    if figures.record.samples.iter().any(SampleLine::is_elsewhere) {
        text += " Elsewhere: somebody else's figure from another machine, compared with nothing.";
    }
    text
}

/// What a record must say of itself before anybody reads its figures.
pub(crate) fn warnings(figures: &Figures<'_>) -> Vec<String> {
    let record = figures.record;
    let mut warnings = Vec::new();
    match &record.end {
        None => warnings.push("The run was interrupted: this is a part of it.".to_owned()),
        Some(end) => {
            if !end.complete {
                warnings.push("Incomplete: some measurements failed.".to_owned());
            }
            warnings.extend(end.missing.iter().map(|missing| format!("Missing: {missing}")));
        }
    }
    if record.is_complete() && figures.tables.is_empty() {
        warnings.push("There are no figures in this record.".to_owned());
    }
    let flag = |name: &str| record.head.environment.get(name).and_then(Value::as_bool);
    if flag("is_optimised") == Some(false) {
        warnings.push("A debug build was measured: its figures mean nothing.".to_owned());
    }
    if flag("is_full_size") == Some(false) {
        warnings.push("The tables were tiny: the figures mean nothing.".to_owned());
    }
    if figures.tables.iter().any(is_smoke_test) {
        warnings.push(format!("Fewer than {FEWEST} repetitions: the figures are a smoke test."));
    }
    warnings
}

/// Whether something was timed, or compared, and not often enough. What runs for a given time does not repeat.
fn is_smoke_test(table: &TableFigures<'_>) -> bool {
    let most = table.cases.iter().map(CaseFigures::repetitions).max().unwrap_or(0);
    let is_timed =
        shown(table).next().is_some_and(|first| first.ends_with("_s") && !first.ends_with("_per_s"));
    (1..FEWEST).contains(&most) && (is_timed || has_ratios(table))
}

/// The fewest repetitions of published figures.
const FEWEST: usize = 5;

/// What was run where, as pairs of names and values; nested values are left out.
pub(crate) fn circumstances(record: &Record) -> Vec<(String, String)> {
    let text = |name: &str, value: &Value| match value {
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::Number(number) => Some(match number.as_f64().filter(|_| unit::is_known(name)) {
            Some(value) => unit::show(name, value),
            None => number.to_string(),
        }),
    };
    let pair = |(name, value): (&String, &Value)| Some((unit::title(name), text(name, value)?));
    record.head.environment.iter().filter_map(pair).collect()
}

/// Formats a table for a terminal, with its title and its notes.
#[must_use]
pub fn text(table: &TableFigures<'_>) -> String {
    // Terminals are narrow: what the ratio means stands below.
    let titles =
        titles(table).into_iter().map(|title| if title == RATIO { "ratio".to_owned() } else { title });
    let mut lines = vec![std::iter::once(String::new()).chain(titles).collect::<Vec<_>>()];
    let mut last = None;
    for row in rows(table) {
        if last != Some(row.case) {
            lines.push(vec![row.case.to_owned()]);
            last = Some(row.case);
        }
        lines.push([vec![format!("  {}", row.contestant)], row.cells].concat());
    }
    // The name of a case may be longer than any cell below it.
    let width = |at: usize| {
        let cells = lines.iter().filter(|line| line.len() > 1).filter_map(|line| line.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = format!("\n{}\n", table.head.title);
    for line in &lines {
        let mut shown = String::new();
        for (at, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width.saturating_sub(cell.chars().count()));
            shown += &if at == 0 { format!("  {cell}{gap}") } else { format!("  {gap}{cell}") };
        }
        text += shown.trim_end();
        text.push('\n');
    }
    if has_ratios(table) {
        text += &format!("  {RATIO}\n");
    }
    for note in notes(table) {
        text += &format!("  {note}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::record;
    use crate::record::OURS;

    fn of(record: &Record) -> (Vec<String>, Vec<String>) {
        let figures = Figures::of(record);
        (rows(&figures.tables[0]).into_iter().map(|row| row.contestant).collect(), notes(&figures.tables[0]))
    }

    #[test]
    fn a_terminal_gets_aligned_columns() {
        let record = record();
        let text = text(&Figures::of(&record).tables[0]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "Reading <rows>");
        let titles = "                                elapsed              ratio  rows";
        assert_eq!(lines[2..4], [titles, "  one"]);
        assert_eq!(lines[4], "    firearrow  3.00 s (1.00 s – 5.00 s)                  1    10");
        assert!(lines.contains(&"  ratio (above 1: firearrow is better)"));
        assert_eq!(lines.last(), Some(&"  No figures of rival: two."));
    }

    #[test]
    fn unequal_repetitions_and_who_is_missing_are_told() {
        let mut record = record();
        record.samples.retain(|sample| sample.contestant == OURS || sample.repetition == 1);
        let values = [("wall_s".to_owned(), 1.0)].into();
        record.samples.push(SampleLine::elsewhere("t", "one", "published", values));
        let (contestants, below) = of(&record);
        assert_eq!(contestants, [OURS, "rival (1 of 5)", "published (elsewhere)", OURS]);
        assert_eq!(below, ["A note & more.", "No figures of rival: two."]);
        let text = how_to_read(&Figures::of(&record));
        assert!(text.contains("1 of 10: fewer") && text.contains("Elsewhere: "), "{text}");
    }

    #[test]
    fn few_repetitions_are_a_smoke_test() {
        let smoke =
            |record: &Record| warnings(&Figures::of(record)).iter().any(|line| line.contains("smoke test"));
        let mut record = record();
        assert!(!smoke(&record));
        record.samples.retain(|sample| sample.repetition < 5);
        assert!(smoke(&record));
        record.samples.retain(|sample| sample.contestant == OURS);
        assert!(smoke(&record));
        // What runs for a given time is not repeated.
        for sample in &mut record.samples {
            sample.values.insert("operations_per_s".into(), 5.0);
        }
        record.tables[0].columns = vec!["operations_per_s".into()];
        assert!(!smoke(&record));
    }

    #[test]
    fn ratios_are_explained_where_there_are_some() {
        let mut record = record();
        assert!(how_to_read(&Figures::of(&record)).contains("Ratio: "));
        record.samples.retain(|sample| sample.contestant == OURS);
        assert_eq!(how_to_read(&Figures::of(&record)), "Medians, with minimum and maximum in parentheses.");
    }

    #[test]
    fn circumstances_have_their_units() {
        let mut record = record();
        for (name, value) in
            [("cache_bytes", 33_554_432.0), ("seconds_measured", 6.006_607_643), ("cores", 2.0)]
        {
            record.head.environment.insert(name.into(), value.into());
        }
        record.head.environment.insert("load_before".into(), 0.25.into());
        let shown = circumstances(&record);
        let of = |name: &str| shown.iter().find(|(found, _)| found == name).unwrap().1.as_str();
        assert_eq!([of("cache"), of("seconds measured"), of("load before")], ["32.0 MiB", "6.01 s", "0.25"]);
    }
}
