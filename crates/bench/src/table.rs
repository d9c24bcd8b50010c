//! Tables of cases, as text, Markdown and JSON.

use super::column::Column;
use super::sample::Sample;
use crate::text::aligned;
use firearrow_report::Spread;
use firearrow_wan::Link;
use serde_json::{Map, Value, json};

/// Cases that belong together.
#[derive(Clone, Debug)]
pub struct Table {
    /// The name for programs.
    pub id: String,
    /// The title for people.
    pub title: String,
    /// What the figures mean, and what is missing, one note per line.
    pub notes: Vec<String>,
    /// The figures to show for each case.
    pub columns: &'static [Column],
    /// The cases, one or two lines each.
    pub cases: Vec<Case>,
}

/// All repetitions under one condition.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The name in the table.
    pub name: String,
    /// The emulated link, if there is one.
    pub link: Option<Link>,
    /// The repetitions of firearrow.
    pub ours: Vec<Sample>,
    /// The reference's name in the table.
    pub rival: &'static str,
    /// The repetitions of the reference, turn by turn with those of firearrow; there may be fewer, or none.
    pub reference: Vec<Sample>,
}

impl Case {
    fn spread(&self, column: Column, samples: &[Sample]) -> Option<Spread> {
        Spread::of(samples.iter().filter_map(|sample| column.figure(sample, self.link)))
    }

    /// Machines drift: only the two runs of one turn are compared.
    fn ratio(&self, column: Column) -> Option<Spread> {
        let turns = self.ours.iter().zip(&self.reference);
        Spread::of(turns.filter_map(|(ours, reference)| column.ratio(ours, reference)))
    }

    fn cells(&self, columns: &[Column], samples: &[Sample], is_ours: bool) -> Vec<String> {
        let cell = |column: &Column| {
            let spread = self.spread(*column, samples).or_else(|| self.ratio(*column).filter(|_| is_ours));
            let cell = spread.map(|spread| match column {
                // This column shows how much the others vary.
                Column::Wall if samples.len() > 1 => spread.text(|value| column.show(value)),
                _ => column.show(spread.median),
            });
            cell.unwrap_or_else(|| if column.ratio_only() { String::new() } else { "–".to_owned() })
        };
        columns.iter().map(cell).collect()
    }

    fn json(&self, columns: &[Column]) -> Value {
        let mut medians = Map::new();
        for column in columns {
            let mut put = |of: &str, spread: Option<Spread>| {
                medians.insert(format!("{of}{}", column.key()), spread.map(|spread| spread.median).into());
            };
            if column.ratio_only() {
                put("", self.ratio(*column));
            } else {
                put("ours_", self.spread(*column, &self.ours));
                put("reference_", self.spread(*column, &self.reference));
            }
        }
        json!({ "name": self.name, "ours": self.ours, "reference": self.reference, "medians": medians })
    }
}

impl Table {
    /// Formats the table with aligned columns.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("\n{}\n{}", self.title, aligned(&self.rows(), 2));
        for note in &self.notes {
            text += &format!("  {note}\n");
        }
        text
    }

    /// Formats the table as Markdown, with a heading of level 2.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("\n## {}\n\n", self.title);
        for (at, row) in self.rows().iter().enumerate() {
            text += &format!("| {} |\n", row.join(" | "));
            if at == 0 {
                text += &format!("|---|---|{}\n", "---:|".repeat(self.shown().len()));
            }
        }
        if !self.notes.is_empty() {
            text += &format!("\n{}\n", self.notes.join("  \n"));
        }
        text
    }

    /// Returns an object for programs: every repetition, and the medians.
    #[must_use]
    pub fn json(&self) -> Value {
        let cases: Vec<Value> = self.cases.iter().map(|case| case.json(self.columns)).collect();
        json!({ "table": self.id, "title": self.title, "notes": self.notes, "cases": cases })
    }

    /// The columns to show: those of ratios only if there is a reference.
    fn shown(&self) -> Vec<Column> {
        let has_ratio = |column: &Column| self.cases.iter().any(|case| case.ratio(*column).is_some());
        self.columns.iter().copied().filter(|column| !column.ratio_only() || has_ratio(column)).collect()
    }

    /// Returns the head, then for each case a line for firearrow and one for the reference.
    fn rows(&self) -> Vec<Vec<String>> {
        let columns = self.shown();
        let head = [String::new(), String::new()].into_iter();
        let mut rows: Vec<Vec<String>> =
            vec![head.chain(columns.iter().map(|column| column.title().to_owned())).collect()];
        for case in &self.cases {
            let line =
                |name: &str, who: String, cells: Vec<String>| [vec![name.to_owned(), who], cells].concat();
            rows.push(line(&case.name, "ours".to_owned(), case.cells(&columns, &case.ours, true)));
            if !case.reference.is_empty() {
                let turns = case.reference.len();
                let who = match turns == case.ours.len() {
                    true => case.rival.to_owned(),
                    false => format!("{}, {turns} of {} turns", case.rival, case.ours.len()),
                };
                rows.push(line("", who, case.cells(&columns, &case.reference, false)));
            }
        }
        rows
    }
}

/// Formats the report of `firearrow bench NAME` as Markdown; each line of `heading` becomes a list item.
#[must_use]
pub fn markdown(name: &str, heading: &str, tables: &[Table]) -> String {
    let mut text = format!("# firearrow bench {name}\n\n");
    for line in heading.lines() {
        text += &format!("- {line}\n");
    }
    tables.iter().for_each(|table| text += &table.markdown());
    text
}

#[cfg(test)]
mod tests {
    use super::super::measure::Wire;
    use super::*;
    use std::time::Duration;

    fn sample(rows: u64, wall_s: f64) -> Sample {
        let wire =
            Wire { bytes_received: 1_000_000, bytes_sent: 5000, round_trips: 7, connect_round_trips: 4 };
        Sample {
            rows,
            wall_s,
            cpu_s: Some(0.5),
            server_cpu_s: Some(0.8),
            wire: Some(wire),
            round_trips: Some(7),
            ..Sample::default()
        }
    }

    fn table(reference: Vec<Sample>) -> Table {
        let link = Some(Link::new(Duration::from_millis(10), Some(16_000_000)));
        let ours = vec![sample(100, 1.0), sample(100, 2.0), sample(100, 0.8)];
        Table {
            id: "t".into(),
            title: "A title".into(),
            notes: vec!["A note.".into()],
            columns: &[
                Column::Wall,
                Column::Speed,
                Column::WallPerServerCpu,
                Column::LinkShare,
                Column::RoundTrips,
            ],
            cases: vec![Case { name: "plain".into(), link, ours, rival: "libfbclient", reference }],
        }
    }

    #[test]
    fn ratios_are_those_of_turns() {
        // The ratio of the medians, 1 s and 4 s, would be 4, but no turn had that ratio.
        let table = table(vec![sample(100, 5.0), sample(100, 4.0), sample(100, 1.6)]);
        let json = table.json();
        let medians = &json["cases"][0]["medians"];
        assert_eq!(medians["speed_ratio"], 2.0);
        assert_eq!((&medians["ours_wall_s"], &medians["reference_wall_s"]), (&1.0.into(), &4.0.into()));
        // 1 MB in 1 s over 16 Mbit/s.
        assert_eq!(medians["ours_link_share"], 0.5);
        assert_eq!(medians["ours_wall_per_server_cpu"], 1.25);
        let text = table.text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[3].contains("1.00 s (800 ms – 2.00 s)") && lines[3].contains("50 %"), "{text}");
        assert!(lines[4].trim_start().starts_with("libfbclient "), "{text}");
        assert!(table.markdown().contains("| plain | ours | 1.00 s (800 ms – 2.00 s) | 2.00 |"), "{text}");
    }

    #[test]
    fn a_reference_with_fewer_turns_says_so() {
        let text = table(vec![sample(10, 1.0)]).text();
        assert!(text.contains("libfbclient, 1 of 3 turns") && text.contains("10.0"), "{text}");
        let text = table(Vec::new()).text();
        assert!(!text.contains("libfbclient") && !text.contains("speed ratio"), "{text}");
    }
}
