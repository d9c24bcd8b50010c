//! The figures of reading, phase by phase, as text, Markdown and JSON; and lines common to all reports.

use super::machine::Environment;
use super::measure::Run;
use crate::text::{size, thousands, time};
use console::measure_text_width;
use firearrow_report::Spread;
use serde_json::{Value, json};

/// All repetitions of reading the rows of one query.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The name in the report, for example that of the table.
    pub name: String,
    /// The query.
    pub sql: String,
    /// Rows of the result.
    pub rows: u64,
    /// Columns of the result.
    pub columns: usize,
    /// Whether checksums were available and correct.
    pub is_verified: bool,
    /// The repetitions of firearrow.
    pub ours: Vec<Run>,
    /// The repetitions of the reference, turn by turn with those of firearrow; empty if there is none.
    pub reference: Vec<Run>,
}

/// One line of a table of figures.
struct Line {
    what: &'static str,
    ours: String,
    reference: String,
    ratio: String,
}

/// Returns the circumstances, one per line.
pub(crate) fn heading(environment: &Environment) -> String {
    let mut text = place(environment);
    if environment.is_embedded {
        text += "CPU and memory are those of this process, the engine included.\n";
    } else {
        let encryption = environment.encryption.as_deref().unwrap_or("none");
        let compression = if environment.compressed { "zlib" } else { "none" };
        text += &format!(
            "encryption {encryption}, compression {compression}; CPU and memory are the client's.\n"
        );
    }
    if environment.consume {
        text += "Ours adds up the bytes of all values while draining; the reference does not.\n";
    }
    text +=
        "first row: until it can be used; for ours, a whole batch, so compare only the sum with the drain.\n";
    match (&environment.reference, &environment.no_reference) {
        (Some(name), _) => text += &format!("reference: raw fetchNext loop, no conversion, {name}\n"),
        (None, Some(reason)) => text += &format!("reference: none; {reason}\n"),
        (None, None) => {}
    }
    text + &warnings(environment)
}

/// The line of a report that explains the figures of its tables.
pub const HOW_TO_READ: &str = "Medians (minimum – maximum). Ratios: how many times as good ours is as the reference of the same turn (above 1: ours is better), median of the turns; that of CPU is per row.\n";

/// Formats versions, transport, machine and date, one per line.
#[must_use]
pub fn place(environment: &Environment) -> String {
    let Environment { cpu, cores, system, .. } = environment;
    let memory = environment.memory_bytes.map_or_else(String::new, |bytes| format!(", {}", size(bytes)));
    let mut text = format!("firearrow {}, Firebird {}\n", environment.firearrow, environment.engine);
    text += &format!("{}\n", environment.transport);
    text + &format!("{cpu}, {cores} cores{memory}, {system}, {}\n", environment.date)
}

/// Formats the reasons to distrust the figures, one per line: few repetitions, or a debug build.
#[must_use]
pub fn warnings(environment: &Environment) -> String {
    let mut text = String::new();
    if environment.repetitions < FEWEST {
        text += &format!("Fewer than {FEWEST} repetitions: the figures are a smoke test.\n");
    }
    if !environment.is_optimised {
        text += "This is a debug build: the figures are meaningless.\n";
    }
    text
}

impl Measured {
    /// Formats the figures as an aligned table with its title.
    #[must_use]
    pub fn text(&self) -> String {
        table(self)
    }
}

/// Formats the figures of one query for a terminal.
fn table(measured: &Measured) -> String {
    let lines = lines(measured);
    let has_reference = !measured.reference.is_empty();
    let width = |cells: &dyn Fn(&Line) -> &str, title: &str| {
        lines.iter().map(|line| measure_text_width(cells(line))).max().unwrap_or(0).max(title.len())
    };
    let (first, second) = (width(&|line| line.what, ""), width(&|line| &line.ours, "ours"));
    let third = width(&|line| &line.reference, "reference");
    let mut text = format!("\n{}\n", title(measured));
    let mut row = |what: &str, ours: &str, reference: &str, ratio: &str| {
        let line = match has_reference {
            true => format!("  {what:first$}  {ours:second$}  {reference:third$}  {ratio:>6}"),
            false => format!("  {what:first$}  {ours}"),
        };
        text += line.trim_end();
        text.push('\n');
    };
    row("", "ours", "reference", "ratio");
    for line in &lines {
        row(line.what, &line.ours, &line.reference, &line.ratio);
    }
    text
}

/// Formats the whole report as Markdown.
pub(crate) fn markdown(environment: &Environment, all: &[Measured]) -> String {
    let mut text = "# firearrow bench fetch\n\n".to_owned();
    for line in heading(environment).lines() {
        text += &format!("- {line}\n");
    }
    text += "\nMedian (minimum – maximum) of each figure by itself. Ratio: how many times as good ours is as the\nreference of the same turn (above 1: ours is better), median of the turns; rows/s from execute to the last row.\n";
    for measured in all {
        text += &format!("\n## {}\n\n`{}`\n\n", title(measured), measured.sql);
        text += "| | ours | reference | ratio |\n|---|---|---|---|\n";
        for Line { what, ours, reference, ratio } in lines(measured) {
            text += &format!("| {what} | {ours} | {reference} | {ratio} |\n");
        }
    }
    text
}

/// Returns everything as JSON.
pub(crate) fn json(environment: &Environment, all: &[Measured]) -> Value {
    let tables: Vec<Value> = all
        .iter()
        .map(|measured| {
            json!({
                "name": measured.name,
                "sql": measured.sql,
                "rows": measured.rows,
                "columns": measured.columns,
                "checksums_verified": measured.is_verified,
                "ours": measured.ours,
                "reference": measured.reference,
                "medians": {
                    "ours_total_s": median(&measured.ours, Run::total),
                    "ours_cpu_s": median(&measured.ours, Run::cpu),
                    "ours_rows_per_second": median(&measured.ours, Run::rows_per_second),
                    "reference_total_s": median(&measured.reference, Run::total),
                    "reference_cpu_s": median(&measured.reference, Run::cpu),
                    "reference_rows_per_second": median(&measured.reference, Run::rows_per_second),
                },
            })
        })
        .collect();
    json!({ "environment": environment, "tables": tables })
}

fn title(measured: &Measured) -> String {
    let checks = if measured.is_verified { "checksums right" } else { "no checksums known" };
    let (rows, repetitions) = (thousands(measured.rows), measured.ours.len());
    format!(
        "{}: {rows} rows × {} columns, {checks}, {repetitions} repetitions",
        measured.name, measured.columns
    )
}

fn lines(measured: &Measured) -> Vec<Line> {
    let mut lines = Lines { measured, lines: Vec::new() };
    for (index, (what, _)) in Run::default().phases().into_iter().enumerate() {
        // The first row ends, and the drain starts, at different points: see the heading.
        let comparison = if matches!(index, 2 | 3) { Comparison::Unlike } else { Comparison::Times };
        lines.add(what, comparison, |run| Some(run.phases()[index].1.wall_s), time);
        if index == 3 {
            lines.add("first + drain", Comparison::Times, |run| Some(run.fetch()), time);
        }
    }
    lines.add("total", Comparison::Times, |run| Some(run.total()), time);
    lines.add("rows/s", Comparison::Rates, |run| Some(run.rows_per_second()), |rate| thousands(rate as u64));
    for (index, what) in
        ["CPU connect", "CPU execute", "CPU first row", "CPU drain", "CPU release"].into_iter().enumerate()
    {
        lines.add(what, Comparison::Unlike, |run| run.phases()[index].1.cpu_s, time);
    }
    lines.add("CPU user", Comparison::Times, |run| Some(run.cpu_user_s), time);
    lines.add("CPU system", Comparison::Times, |run| Some(run.cpu_system_s), time);
    lines.add("CPU total", Comparison::Times, |run| Some(run.cpu()), time);
    let bytes = |bytes| size(bytes as u64);
    lines.add("peak RSS", Comparison::Unlike, |run| run.peak_rss_bytes.map(|bytes| bytes as f64), bytes);
    lines.add("received", Comparison::Unlike, |run| run.wire.map(|wire| wire.bytes_received as f64), bytes);
    lines.add("sent", Comparison::Unlike, |run| run.wire.map(|wire| wire.bytes_sent as f64), bytes);
    let trips = |run: &Run| run.wire.map(|wire| wire.round_trips as f64);
    lines.add("round trips", Comparison::Unlike, trips, |count| thousands(count as u64));
    lines.lines
}

/// Whether a ratio is meaningful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    /// Times, of which less is better.
    Times,
    /// Rates, of which more is better.
    Rates,
    Unlike,
}

struct Lines<'a> {
    measured: &'a Measured,
    lines: Vec<Line>,
}

impl Lines<'_> {
    /// Adds a line, unless firearrow has no such figure.
    fn add(
        &mut self,
        what: &'static str,
        comparison: Comparison,
        figure: impl Fn(&Run) -> Option<f64>,
        show: impl Fn(f64) -> String,
    ) {
        let Some(ours) = Spread::of(self.measured.ours.iter().filter_map(&figure)) else { return };
        let reference = Spread::of(self.measured.reference.iter().filter_map(&figure));
        // Machines drift: only the two runs of one turn are comparable.
        let turns = self.measured.ours.iter().zip(&self.measured.reference);
        let ratios = turns.filter_map(|(ours, reference)| match comparison {
            Comparison::Times => Some(figure(reference)? / figure(ours)?),
            Comparison::Rates => Some(figure(ours)? / figure(reference)?),
            Comparison::Unlike => None,
        });
        let ratio = Spread::of(ratios.filter(|ratio| ratio.is_finite()));
        self.lines.push(Line {
            what,
            ours: ours.text(&show),
            reference: reference.map_or_else(none, |reference| reference.text(&show)),
            ratio: ratio.map_or_else(none, |ratio| format!("{:.2}", ratio.median)),
        });
    }
}

fn none() -> String {
    "–".to_owned()
}

fn median(runs: &[Run], figure: impl Fn(&Run) -> f64) -> Option<f64> {
    Spread::of(runs.iter().map(figure)).map(|spread| spread.median)
}

/// Minimum number of repetitions of published figures.
const FEWEST: usize = 5;

#[cfg(test)]
mod tests {
    use super::super::measure::Lap;
    use super::*;

    #[test]
    fn without_reference_there_is_no_ratio() {
        let run = Run { rows: 10, drain: Lap { wall_s: 2.0, cpu_s: Some(1.0) }, ..Run::default() };
        let slow = Run { drain: Lap { wall_s: 1.0, cpu_s: None }, ..run.clone() };
        let mut measured = Measured {
            name: "T".into(),
            sql: "SELECT".into(),
            rows: 10,
            columns: 1,
            is_verified: true,
            ours: vec![run],
            reference: vec![],
        };
        let total = |measured: &Measured| {
            let lines = lines(measured);
            let line = lines.iter().find(|line| line.what == "total").unwrap();
            (line.reference.clone(), line.ratio.clone())
        };
        assert_eq!(total(&measured), ("–".into(), "–".into()));
        assert!(!table(&measured).contains("reference"));
        measured.reference.push(slow);
        assert_eq!(total(&measured), ("1.00 s (1.00 s – 1.00 s)".into(), "0.50".into()));
        // The reference took half the time, and so it has twice the rate: both say that ours is not better.
        let rate = lines(&measured).into_iter().find(|line| line.what == "rows/s").unwrap();
        assert_eq!(rate.ratio, "0.50");
    }
}
