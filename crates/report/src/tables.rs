//! Figures as Markdown, and every repetition as CSV.

use crate::figures::{CaseFigures, ContestantFigures, Figures, TableFigures};
use crate::record::{OURS, Record};
use crate::unit;
use serde_json::Value;
use std::collections::BTreeSet;

/// One line of a table for people: the case, the contestant, and a cell for each column.
pub(crate) struct Row<'a> {
    pub(crate) case: &'a str,
    pub(crate) contestant: &'a str,
    pub(crate) cells: Vec<String>,
}

/// The titles of a table's columns, after case and contestant. Rivals have a ratio for the first value.
pub(crate) fn titles(table: &TableFigures<'_>) -> Vec<String> {
    let mut titles: Vec<String> = shown(table).map(unit::title).collect();
    if has_ratios(table) && !titles.is_empty() {
        titles.insert(1, "÷ firearrow".to_owned());
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
                cells.push(ratio(contestant, column));
            }
        }
        Row { case: case.name, contestant: contestant.name, cells }
    };
    table
        .cases
        .iter()
        .flat_map(|case| case.contestants.iter().map(move |contestant| row(case, contestant)))
        .collect()
}

/// Whether there is somebody to compare firearrow with.
fn has_ratios(table: &TableFigures<'_>) -> bool {
    let contestants = table.contestants();
    contestants.len() > 1 && contestants.contains(&OURS)
}

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

fn ratio(contestant: &ContestantFigures<'_>, column: &str) -> String {
    match contestant.ratios.get(column) {
        _ if contestant.name == OURS => "1".to_owned(),
        None => "–".to_owned(),
        Some((spread, None)) => format!("{:.2}", spread.median),
        Some((spread, Some(interval))) => {
            format!("{:.2} [{:.2}; {:.2}]", spread.median, interval.low, interval.high)
        }
    }
}

/// How tables are to be read.
pub(crate) const HOW_TO_READ: &str = "Medians, with minimum and maximum in parentheses. ÷ firearrow: the median of the ratios of repetitions that ran one after \
the other, with its 95 % bootstrap interval if there are at least five.";

/// What a record must say of itself before anybody reads its figures.
pub(crate) fn warnings(record: &Record) -> Vec<String> {
    let mut warnings = Vec::new();
    match &record.end {
        None => warnings.push("The run was interrupted: this is a part of it.".to_owned()),
        Some(end) => {
            if !end.complete {
                warnings.push("Not everything could be measured.".to_owned());
            }
            warnings.extend(end.missing.iter().map(|missing| format!("Missing: {missing}")));
        }
    }
    let flag = |name: &str| record.head.environment.get(name).and_then(Value::as_bool);
    if flag("is_optimised") == Some(false) {
        warnings.push("A debug build was measured: its figures mean nothing.".to_owned());
    }
    if flag("is_full_size") == Some(false) {
        warnings.push("The tables were tiny: the figures mean nothing.".to_owned());
    }
    warnings
}

/// What was run where, as pairs of names and values; nested values are left out.
pub(crate) fn circumstances(record: &Record) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        Value::String(text) => Some(text.clone()),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::Number(number) => Some(number.to_string()),
    };
    let pair = |(name, value): (&String, &Value)| Some((name.replace('_', " "), text(value)?));
    record.head.environment.iter().filter_map(pair).collect()
}

/// Formats a table for a terminal, with its title and its notes.
#[must_use]
pub fn text(table: &TableFigures<'_>) -> String {
    let titles = [vec![String::new()], titles(table)].concat();
    let mut lines = vec![titles];
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
    for note in &table.head.notes {
        text += &format!("  {note}\n");
    }
    text
}

/// Formats records as Markdown.
#[must_use]
pub fn markdown(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        text += &format!("# {}: {}\n\n", escaped(&record.head.benchmark), escaped(&record.head.title));
        for warning in warnings(record) {
            text += &format!("**{}**\n\n", escaped(&warning));
        }
        for (name, value) in circumstances(record) {
            text += &format!("- {}: {}\n", escaped(&name), escaped(&value));
        }
        for table in &Figures::of(record).tables {
            text += &format!("\n## {}\n\n", escaped(&table.head.title));
            let titles: Vec<String> = titles(table).iter().map(|title| escaped(title)).collect();
            text += &format!("| | | {} |\n|---|---|{}\n", titles.join(" | "), "---:|".repeat(titles.len()));
            for row in rows(table) {
                let (case, contestant) = (escaped(row.case), escaped(row.contestant));
                text += &format!("| {case} | {contestant} | {} |\n", row.cells.join(" | "));
            }
            for note in &table.head.notes {
                text += &format!("\n{}\n", escaped(note));
            }
        }
        for check in record.end.iter().flat_map(|end| &end.checks) {
            text += &format!("\nChecked: {}\n", escaped(check));
        }
        text += &format!("\n{HOW_TO_READ}\n\n");
    }
    text
}

/// Text that Markdown shows as it is, on one line.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() => shown.push(' '),
            '<' => shown.push_str("&lt;"),
            '|' | '\\' | '`' | '*' | '[' | ']' | '#' => shown.extend(['\\', c]),
            c => shown.push(c),
        }
    }
    shown
}

/// Formats every repetition as CSV, with a header and a column for each value's name.
#[must_use]
pub fn csv(records: &[Record]) -> String {
    let names: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| record.samples.iter().flat_map(|sample| sample.values.keys().map(String::as_str)))
        .collect();
    let mut text = "record,benchmark,table,case,contestant,repetition".to_owned();
    for name in &names {
        text += &format!(",{}", quoted(name));
    }
    text += "\r\n";
    for (number, record) in records.iter().enumerate() {
        for sample in &record.samples {
            let first = [&record.head.benchmark, &sample.table, &sample.case, &sample.contestant];
            let first: Vec<String> = first.iter().map(|text| quoted(text)).collect();
            text += &format!("{},{},{}", number + 1, first.join(","), sample.repetition);
            for name in &names {
                let value = sample.values.get(*name).map_or_else(String::new, f64::to_string);
                text += &format!(",{value}");
            }
            text += "\r\n";
        }
    }
    text
}

/// A field. Spreadsheets must not take it for a formula.
fn quoted(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::record;

    #[test]
    fn columns_without_a_value_are_left_out() {
        let mut record = record();
        record.tables[0].columns.push("round_trips".into());
        assert!(!markdown(&[record]).contains("round trips"));
    }

    #[test]
    fn markdown_has_medians_and_ratios() {
        let text = markdown(&[record()]);
        assert!(text.contains("| one | firearrow | 3.00 s (1.00 s – 5.00 s) | 1 | 10 |"), "{text}");
        assert!(
            text.contains("| one | rival | 6.00 s (2.00 s – 10.0 s) | 2.00 [2.00; 2.00] | 10 |"),
            "{text}"
        );
        assert!(!text.contains("interrupted"), "{text}");
    }

    #[test]
    fn a_terminal_gets_aligned_columns() {
        let record = record();
        let text = text(&Figures::of(&record).tables[0]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1..4],
            ["Reading <rows>", "                                   wall        ÷ firearrow  rows", "  one"]
        );
        assert_eq!(lines[4], "    firearrow  3.00 s (1.00 s – 5.00 s)                  1    10");
    }

    #[test]
    fn parts_are_marked() {
        let mut part = record();
        part.end = None;
        assert!(markdown(&[part.clone()]).contains("**The run was interrupted"));
        part.head.environment.insert("is_optimised".into(), false.into());
        assert!(markdown(&[part]).contains("debug build"));
    }

    #[test]
    fn names_are_neither_markup_nor_formulas() {
        let mut record = record();
        for sample in &mut record.samples {
            sample.case = "=1+1 | <b>\n# x".into();
        }
        record.head.title = "`a` [b](c)".into();
        let markdown = markdown(&[record.clone()]);
        assert!(markdown.starts_with("# demo: \\`a\\` \\[b\\](c)\n"), "{markdown}");
        assert!(markdown.contains("| =1+1 \\| &lt;b> \\# x | firearrow |"), "{markdown}");
        assert!(csv(&[record]).contains(",\"'=1+1 | <b>\n# x\","));
    }

    #[test]
    fn csv_has_every_repetition() {
        let mut record = record();
        record.samples[0].case = "a, \"b\"".into();
        let text = csv(&[record]);
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(lines[0], "record,benchmark,table,case,contestant,repetition,rows,wall_s");
        assert_eq!(lines[1], "1,demo,t,\"a, \"\"b\"\"\",rival,1,10,2");
        assert_eq!(lines.len(), 1 + 15 + 1);
    }
}
