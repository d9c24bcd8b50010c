//! The record of a benchmark: JSON lines, in a schema with a version.

use crate::{Error, Result, unit};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The name of the schema, in the first line of each record.
pub const SCHEMA: &str = "firearrow-bench";

/// The version of the schema. It changes when an older reader would misunderstand a record.
pub const VERSION: u64 = 1;

/// The contestant that others are compared with.
pub const OURS: &str = "firearrow";

/// A line of a record.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// The first one: what ran, and where.
    Head(Head),
    /// A group of cases. It comes before its samples.
    Table(TableHead),
    /// One repetition.
    Sample(SampleLine),
    /// The last one. A record without it was cut off.
    End(End),
}

/// What ran, and where.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Head {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The [`VERSION`] of whoever wrote the record.
    pub version: u64,
    /// The name of the benchmark, such as `wire`.
    pub benchmark: String,
    /// What it measures, for people.
    pub title: String,
    /// Versions, machine, time and options.
    pub environment: Map<String, Value>,
}

/// Cases that belong together, and how to draw them.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct TableHead {
    /// The name that samples refer to.
    pub id: String,
    /// The title for people.
    pub title: String,
    /// What the figures mean and what is missing, one note each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Names of the values to show, the most important first.
    pub columns: Vec<String>,
    /// How to draw them; none means that the table is enough.
    #[serde(default)]
    pub charts: Vec<Chart>,
}

/// A chart of one value.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Chart {
    /// The title; the unit follows from the value's name.
    pub title: String,
    /// Bars or lines.
    pub mark: Mark,
    /// The value's name.
    pub y: String,
    /// For lines: the name of the value that they run along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    /// For lines: a vertical line at this value of `x`, and what it means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<(f64, String)>,
    /// For lines: whether equal distances along `x` are equal factors.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_logarithmic: bool,
    /// For lines: contestants whose values are calculated and not measured; they are drawn with dashes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calculated: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Chart {
    /// Bars for each contestant of each case.
    #[must_use]
    pub fn bars(title: &str, y: &str) -> Self {
        Self { title: title.to_owned(), mark: Mark::Bars, y: y.to_owned(), ..Self::default() }
    }

    /// A line for each contestant, along the value `x` of the cases.
    #[must_use]
    pub fn lines(title: &str, y: &str, x: &str) -> Self {
        Self { mark: Mark::Lines, x: Some(x.to_owned()), ..Self::bars(title, y) }
    }

    fn is_incomplete(&self) -> bool {
        self.mark == Mark::Lines && self.x.is_none()
    }
}

impl SampleLine {
    /// A repetition, counted from 0.
    #[must_use]
    pub fn new(table: &str, case: &str, contestant: &str, at: usize, values: BTreeMap<String, f64>) -> Self {
        Self {
            table: table.to_owned(),
            case: case.to_owned(),
            contestant: contestant.to_owned(),
            repetition: at + 1,
            values,
        }
    }

    /// What somebody else measured elsewhere, such as a published figure: it is shown, and compared with nothing.
    #[must_use]
    pub fn elsewhere(table: &str, case: &str, contestant: &str, values: BTreeMap<String, f64>) -> Self {
        Self { repetition: ELSEWHERE, ..Self::new(table, case, contestant, 0, values) }
    }

    pub(crate) fn is_elsewhere(&self) -> bool {
        self.repetition == ELSEWHERE
    }
}

/// The number of a repetition that ran elsewhere.
const ELSEWHERE: usize = 0;

/// How a chart draws its values.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// A bar for each contestant of each case.
    #[default]
    Bars,
    /// A line for each contestant; cases are its points.
    Lines,
}

/// One repetition of one contestant.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct SampleLine {
    /// The table's id.
    pub table: String,
    /// The case, unique within the table.
    pub case: String,
    /// Who did it, or what else is compared, such as where terminals worked; [`OURS`] is who others are compared with.
    pub contestant: String,
    /// Counted from 1. Repetitions of the same number ran one after the other and are compared with each other. 0 is what
    /// was measured elsewhere, and is compared with nothing.
    pub repetition: usize,
    /// Every value that was measured. A name ends with its unit: `wall_s`, `p99_us`, `received_bytes`.
    pub values: BTreeMap<String, f64>,
}

/// How a record ended.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct End {
    /// Whether everything was measured.
    pub complete: bool,
    /// What could not be measured, and why: contestants that are missing or have failed.
    #[serde(default)]
    pub missing: Vec<String>,
    /// What was checked, such as rows and checksums.
    #[serde(default)]
    pub checks: Vec<String>,
}

/// A record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// What ran.
    pub head: Head,
    /// Its tables.
    pub tables: Vec<TableHead>,
    /// All repetitions.
    pub samples: Vec<SampleLine>,
    /// How it ended; `None` if nobody could write that.
    pub end: Option<End>,
}

/// What has come so far.
#[derive(Default)]
struct Seen {
    /// Table, case and contestant, and the number of the repetition.
    turns: HashSet<([String; 3], usize)>,
    /// The names of which there may be only so many, by their kind and their table.
    names: HashMap<(&'static str, String), HashSet<String>>,
}

impl Seen {
    fn note(&mut self, kind: &'static str, table: &str, name: &str, most: usize) -> Result<(), String> {
        let names = self.names.entry((kind, table.to_owned())).or_default();
        if !names.contains(name) {
            names.insert(name.to_owned());
        }
        match names.len() > most {
            true => Err(format!("there are more than {most} {kind}")),
            false => Ok(()),
        }
    }
}

impl Record {
    /// Begins a record.
    #[must_use]
    pub fn new(benchmark: &str, title: &str, environment: Map<String, Value>) -> Self {
        let head = Head {
            schema: SCHEMA.to_owned(),
            version: VERSION,
            benchmark: benchmark.to_owned(),
            title: title.to_owned(),
            environment,
        };
        Self { head, ..Self::default() }
    }

    /// Whether everything that was to be measured has been.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.complete)
    }

    /// Reads a record. `name` is for errors.
    ///
    /// The last line may be cut off, even within a character, as an interrupted run leaves it.
    ///
    /// # Errors
    /// [`Error::Version`] and [`Error::Malformed`].
    pub fn parse(name: &str, text: impl AsRef<[u8]>) -> Result<Self> {
        let bytes = text.as_ref();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let malformed = |line: usize, text: String| Error::Malformed { name: name.to_owned(), line, text };
        let text = match (std::str::from_utf8(bytes), std::str::from_utf8(&bytes[..whole])) {
            (Ok(text), _) | (Err(_), Ok(text)) => text,
            (Err(_), Err(error)) => {
                let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
                return Err(malformed(
                    line,
                    if line == 1 { NO_RECORD } else { "it is not UTF-8" }.to_owned(),
                ));
            }
        };
        let (mut record, mut seen) = (Self::default(), Seen::default());
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        let full = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (position, (at, line)) in full.enumerate() {
            let value: Value = match serde_json::from_str(line) {
                Ok(value) => value,
                Err(_) if position > 0 && position + 1 == lines && !text.ends_with('\n') => break,
                Err(_) if position == 0 => return Err(malformed(at + 1, NO_RECORD.to_owned())),
                Err(error) => return Err(malformed(at + 1, error.to_string())),
            };
            if position == 0 {
                check_head(name, &value)?;
            }
            let line = serde_json::from_value(value).map_err(|error| malformed(at + 1, error.to_string()))?;
            record.add(line, position == 0, &mut seen).map_err(|text| malformed(at + 1, text))?;
        }
        if record.head.schema.is_empty() {
            return Err(malformed(1, NO_RECORD.to_owned()));
        }
        Ok(record)
    }

    fn add(&mut self, line: Line, is_first: bool, seen: &mut Seen) -> Result<(), String> {
        if self.end.is_some() {
            return Err("there are lines after the end".to_owned());
        }
        match line {
            Line::Head(head) if is_first => self.head = head,
            Line::Head(_) => return Err("a second record begins: one record is one file".to_owned()),
            Line::Table(table) => {
                if self.tables.iter().any(|known| known.id == table.id) {
                    return Err(format!("the table \"{}\" comes twice", table.id));
                }
                if let Some(chart) = table.charts.iter().find(|chart| chart.is_incomplete()) {
                    return Err(format!("the lines of the chart \"{}\" need an x", chart.title));
                }
                if self.tables.len() == MOST_TABLES {
                    return Err(format!("a record has at most {MOST_TABLES} tables"));
                }
                if table.charts.len() > MOST_CHARTS {
                    return Err(format!("a table has at most {MOST_CHARTS} charts"));
                }
                if table.columns.len() > MOST_COLUMNS {
                    return Err(format!("a table has at most {MOST_COLUMNS} columns"));
                }
                self.tables.push(table);
            }
            Line::Sample(sample) => {
                if !self.tables.iter().any(|table| table.id == sample.table) {
                    return Err(format!("the table \"{}\" has not been introduced", sample.table));
                }
                // Sums and ranges of values must stay finite.
                if let Some((name, value)) =
                    sample.values.iter().find(|(_, value)| !value.is_finite() || value.abs() >= 1e300)
                {
                    return Err(format!("{name} is {value}, which is not a measured value"));
                }
                // A difference may be negative; it has no unit of its own, and counts nothing.
                if let Some((name, value)) = sample
                    .values
                    .iter()
                    .find(|(name, value)| **value < 0.0 && (unit::is_known(name) || unit::is_count(name)))
                {
                    return Err(format!("{name} is {value}, and cannot be negative"));
                }
                for name in sample.values.keys() {
                    seen.note("values", "", name, MOST_VALUES)?;
                }
                seen.note("contestants", &sample.table, &sample.contestant, MOST_CONTESTANTS)?;
                let turn = [&*sample.table, &sample.case, &sample.contestant].map(str::to_owned);
                if !seen.turns.insert((turn, sample.repetition)) {
                    return Err(format!(
                        "repetition {} of {} comes twice",
                        sample.repetition, sample.contestant
                    ));
                }
                self.samples.push(sample);
            }
            Line::End(end) => self.end = Some(end),
        }
        Ok(())
    }

    /// The lines, in the order in which they are read.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        let tables = self.tables.iter().cloned().map(Line::Table);
        let samples = self.samples.iter().cloned().map(Line::Sample);
        let end = self.end.iter().cloned().map(Line::End);
        std::iter::once(Line::Head(self.head.clone())).chain(tables).chain(samples).chain(end).collect()
    }

    /// The lines as text.
    ///
    /// # Panics
    /// Never: lines have nothing that JSON has not, since values are finite.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |line: &Line| serde_json::to_string(line).expect("JSON has all of it") + "\n";
        self.lines().iter().map(line).collect()
    }
}

/// A benchmark has a few; the page of a record with thousands would not fit in memory.
const MOST_TABLES: usize = 200;
const MOST_CHARTS: usize = 10;
const MOST_COLUMNS: usize = 50;
const MOST_CONTESTANTS: usize = 100;
const MOST_VALUES: usize = 200;

const NO_RECORD: &str = "this is not a record of a benchmark: pass the raw.jsonl, or its folder, that `firearrow bench … --save` or \
     `firearrow oltp … --save` has written; runs older than 2026-11-24 have no record";

/// Looks at the first line by itself, so that a record of another version is called that.
fn check_head(name: &str, first: &Value) -> Result<()> {
    let malformed = || Error::Malformed { name: name.to_owned(), line: 1, text: NO_RECORD.to_owned() };
    if first.get("schema").and_then(Value::as_str) != Some(SCHEMA) {
        return Err(malformed());
    }
    match first.get("version").and_then(Value::as_u64) {
        Some(VERSION) => Ok(()),
        Some(version) => Err(Error::Version { name: name.to_owned(), version }),
        None => Err(malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let mut record = Record::new("wire", "A server near and far", Map::new());
        let columns = vec!["wall_s".to_owned()];
        record.tables.push(TableHead { id: "t".into(), title: "T".into(), columns, ..TableHead::default() });
        record.samples.push(SampleLine {
            table: "t".into(),
            case: "one".into(),
            contestant: OURS.into(),
            repetition: 1,
            values: [("wall_s".to_owned(), 0.5)].into(),
        });
        record.end = Some(End { complete: true, ..End::default() });
        record
    }

    #[test]
    fn what_is_written_is_read() {
        let record = record();
        assert_eq!(Record::parse("r", record.text()).unwrap(), record);
        assert!(record.is_complete());
    }

    #[test]
    fn an_interrupted_record_is_read_and_is_not_complete() {
        let text = record().text();
        let cut = &text[..text.len() - 20];
        let read = Record::parse("r", cut).unwrap();
        assert_eq!((read.samples.len(), read.is_complete()), (1, false));
        // So is one that ends within a character.
        let mut ended = record();
        ended.end = None;
        let mut cut = ended.text().into_bytes();
        cut.extend([b'"', 0xE2, 0x80]);
        assert_eq!(Record::parse("r", &cut).unwrap().samples.len(), 1);
        let bad = [text.as_bytes(), &[0xFF, b'\n']].concat();
        assert!(Record::parse("r", &bad).unwrap_err().to_string().starts_with("r, line 5: it is not UTF-8"));
        let error = Record::parse("r", [0xFF, b'\n']).unwrap_err().to_string();
        assert!(error.starts_with("r, line 1: this is not a record"), "{error}");
        // A broken line that is not the last one is no interruption.
        let broken = text.replacen("\"wall_s\":0.5", "\"wall_s\":", 1);
        assert!(Record::parse("r", &broken).unwrap_err().to_string().starts_with("r, line 3: "));
    }

    #[test]
    fn other_versions_and_other_files_are_refused() {
        let text = record().text().replacen("\"version\":1", "\"version\":2", 1);
        let error = Record::parse("new.jsonl", &text).unwrap_err().to_string();
        assert!(error.contains("new.jsonl is a record of version 2"), "{error}");
        for other in ["", "{}\n", "[1]\n", "{\"environment\": {}}\n", "PNG"] {
            assert!(Record::parse("x", other).is_err(), "{other}");
        }
    }

    #[test]
    fn tables_and_charts_have_a_limit() {
        let mut record = record();
        record.tables[0].charts = vec![Chart::bars("Time", "wall_s"); MOST_CHARTS + 1];
        assert!(Record::parse("r", record.text()).unwrap_err().to_string().contains("at most 10 charts"));
        record.tables[0].charts.clear();
        let more = (1..=MOST_TABLES).map(|at| TableHead { id: format!("t{at}"), ..TableHead::default() });
        record.tables.extend(more);
        assert!(Record::parse("r", record.text()).unwrap_err().to_string().contains("at most 200 tables"));
        record.tables.pop();
        assert_eq!(Record::parse("r", record.text()).unwrap().tables.len(), MOST_TABLES);
        record.tables[0].columns = vec!["wall_s".to_owned(); MOST_COLUMNS + 1];
        assert!(Record::parse("r", record.text()).unwrap_err().to_string().contains("at most 50 columns"));
    }

    #[test]
    fn contestants_and_values_have_a_limit() {
        let (mut many, mut wide) = (record(), record());
        for at in 0..MOST_CONTESTANTS {
            let values = BTreeMap::from([("wall_s".to_owned(), 1.0)]);
            many.samples.push(SampleLine::new("t", "one", &format!("rival {at}"), 0, values));
        }
        let error = Record::parse("r", many.text()).unwrap_err().to_string();
        assert!(error.contains("more than 100 contestants"), "{error}");
        many.samples.pop();
        Record::parse("r", many.text()).unwrap();
        wide.samples[0].values = (0..=MOST_VALUES).map(|at| (format!("v{at}_s"), 1.0)).collect();
        let error = Record::parse("r", wide.text()).unwrap_err().to_string();
        assert!(error.contains("more than 200 values"), "{error}");
    }

    #[test]
    fn what_is_measured_is_not_negative() {
        let mut record = record();
        record.samples[0].values = BTreeMap::from([("wall_s".to_owned(), -0.5)]);
        let error = Record::parse("r", record.text()).unwrap_err().to_string();
        assert!(error.contains("wall_s is -0.5, and cannot be negative"), "{error}");
        for count in ["round_trips", "rows"] {
            record.samples[0].values = BTreeMap::from([(count.to_owned(), -7.0)]);
            let error = Record::parse("r", record.text()).unwrap_err().to_string();
            assert!(error.contains(&format!("{count} is -7, and cannot be negative")), "{error}");
        }
        record.samples[0].values = BTreeMap::from([("difference".to_owned(), -0.5)]);
        Record::parse("r", record.text()).unwrap();
    }

    #[test]
    fn samples_need_a_table_and_records_one_end() {
        let text = record().text().replace("\"table\":\"t\"", "\"table\":\"u\"");
        assert!(Record::parse("r", &text).unwrap_err().to_string().contains("has not been introduced"));
        let mut record = record();
        record.tables[0].charts.push(Chart { mark: Mark::Lines, ..Chart::bars("Speed", "wall_s") });
        assert!(Record::parse("r", record.text()).unwrap_err().to_string().contains("\"Speed\" need an x"));
        let mut record = self::record();
        record.samples.push(record.samples[0].clone());
        assert!(Record::parse("r", record.text()).unwrap_err().to_string().contains("comes twice"));
        record.samples[1].repetition = 2;
        record.samples[1].values.insert("wall_s".into(), 1e300);
        assert!(Record::parse("r", record.text()).unwrap_err().to_string().contains("not a measured value"));
        let text = self::record().text();
        let twice = text.clone() + text.lines().last().unwrap();
        assert!(Record::parse("r", &(twice + "\n")).is_err());
    }
}
