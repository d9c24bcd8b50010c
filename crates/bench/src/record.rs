//! Figures as records, which `firearrow-report` makes reports of.

use crate::column::Column;
use crate::error::Result;
use crate::insert;
use crate::machine::Environment;
use crate::report::Measured;
use crate::sample::Sample;
use crate::table::{Case, Table};
use crate::text::thousands;
use firearrow_report::{Chart, End, OURS, Record, SampleLine, TableHead};
use std::collections::BTreeMap;

/// Makes a record of tables. `missing` says what could not be measured; a stopped run has no end.
pub(crate) fn of_tables(
    benchmark: &str,
    title: &str,
    environment: &Environment,
    tables: &[Table],
    ending: Ending,
) -> Result<Record> {
    let mut record = Record::new(benchmark, title, environment.fields()?);
    for table in tables {
        record.tables.push(head(table));
        for case in &table.cases {
            record.samples.extend(samples(table, case));
        }
    }
    record.end = ending.end();
    Ok(record)
}

/// The contestant that loops over the rows and makes nothing of them.
const CLIENT_LIBRARY: &str = "the client library";

/// Makes a record of reading whole tables.
pub(crate) fn of_reading(environment: &Environment, all: &[Measured], ending: Ending) -> Result<Record> {
    let mut record = Record::new("fetch", "Reading whole results", environment.fields()?);
    let columns = ["wall_s", "rows_per_second", "client_cpu_s", "peak_rss_bytes", "round_trips"];
    let charts = vec![
        Chart::bars("Elapsed time", "wall_s"),
        Chart::bars("Processor time of the client", "client_cpu_s"),
    ];
    record.tables.push(TableHead {
        id: "fetch".to_owned(),
        title: "Reading whole results".to_owned(),
        notes: vec![
            "From executing to the last row. The client library makes nothing of its rows: it is the floor."
                .to_owned(),
        ],
        columns: columns.map(str::to_owned).into(),
        charts,
    });
    for measured in all {
        for (contestant, runs) in [(OURS, &measured.ours), (CLIENT_LIBRARY, &measured.reference)] {
            for (at, run) in runs.iter().enumerate() {
                let mut values = values(&Sample::from(run.clone()), None);
                if let Some(peak) = run.peak_rss_bytes {
                    values.insert("peak_rss_bytes".to_owned(), peak as f64);
                }
                record.samples.push(SampleLine::new("fetch", &measured.name, contestant, at, values));
            }
        }
    }
    record.end = ending.end();
    if let Some(end) = &mut record.end {
        end.checks.push(checks(all).to_owned());
    }
    Ok(record)
}

fn checks(all: &[Measured]) -> &'static str {
    match all.iter().all(|measured| measured.is_verified) {
        true => {
            "the checksums of all values, once before the repetitions; the number of rows, in each repetition"
        }
        false => "the number of rows, in each repetition",
    }
}

/// Makes a record of inserting many rows.
pub(crate) fn of_inserting(report: &insert::Report, ending: Ending) -> Result<Record> {
    let mut record = Record::new("insert", "Inserting many rows", report.environment.fields()?);
    record.tables.push(TableHead {
        id: "insert".to_owned(),
        title: format!("Inserting rows of {} INTEGER, sums right", insert::COLUMNS),
        notes: vec![format!("The client library: {}.", report.reference_name)],
        columns: ["execute_s", "rows_per_s", "commit_s", "client_cpu_s", "round_trips", "rows"]
            .map(str::to_owned)
            .into(),
        charts: vec![Chart::bars("Elapsed time, without the commit", "execute_s")],
    });
    let case = format!("{} rows", thousands(report.rows));
    for (contestant, runs) in [(OURS, &report.ours), (CLIENT_LIBRARY, &report.reference)] {
        for (at, run) in runs.iter().enumerate() {
            let values = [
                ("execute_s", Some(run.execute_s)),
                ("rows_per_s", Some(run.rows as f64 / run.execute_s)),
                ("commit_s", Some(run.commit_s)),
                ("client_cpu_s", Some(run.cpu_s)),
                ("round_trips", run.round_trips.map(|trips| trips as f64)),
                ("rows", Some(run.rows as f64)),
            ];
            let known = values.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            record.samples.push(SampleLine::new("insert", &case, contestant, at, known.collect()));
        }
    }
    record.end = ending.end();
    Ok(record)
}

/// How a run came to its end.
#[derive(Clone, Debug)]
pub enum Ending {
    /// Everything was measured, except this.
    Measured {
        /// What is missing, and why.
        missing: Vec<String>,
    },
    /// It was interrupted.
    Stopped,
}

impl Ending {
    fn end(self) -> Option<End> {
        match self {
            Self::Stopped => None,
            Self::Measured { missing } => {
                Some(End { complete: missing.is_empty(), missing, checks: Vec::new() })
            }
        }
    }
}

fn head(table: &Table) -> TableHead {
    // Ratios are worked out from the values.
    let columns: Vec<&str> =
        table.columns.iter().filter(|column| !column.ratio_only()).map(|column| column.key()).collect();
    let chart = columns.first().map(|first| match *first {
        "wall_s" => Chart::bars("Elapsed time", first),
        _ => Chart::bars(&table.title, first),
    });
    TableHead {
        id: table.id.clone(),
        title: table.title.clone(),
        notes: table.notes.clone(),
        columns: columns.into_iter().map(str::to_owned).collect(),
        charts: chart.into_iter().collect(),
    }
}

fn samples(table: &Table, case: &Case) -> Vec<SampleLine> {
    let rival = if case.rival.is_empty() { "reference" } else { case.rival };
    let of = |contestant: &str, samples: &[Sample]| -> Vec<SampleLine> {
        let line =
            |(at, each)| SampleLine::new(&table.id, &case.name, contestant, at, values(each, case.link));
        samples.iter().enumerate().map(line).collect()
    };
    [of(OURS, &case.ours), of(rival, &case.reference)].concat()
}

/// Every value of a repetition, also those that its table does not show.
fn values(sample: &Sample, link: Option<firearrow_wan::Link>) -> BTreeMap<String, f64> {
    let figures = Column::FIGURES
        .iter()
        .filter_map(|column| Some((column.key().to_owned(), column.figure(sample, link)?)));
    let phases =
        sample.phases.iter().map(|(name, seconds)| (format!("{}_s", name.replace(' ', "_")), *seconds));
    let rows = [("rows".to_owned(), sample.rows as f64)];
    figures.chain(phases).chain(rows).filter(|(_, value)| value.is_finite()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repetition_and_every_value_is_recorded() {
        let ours = Sample {
            rows: 10,
            wall_s: 2.0,
            cpu_s: Some(0.5),
            phases: [("first row", 0.1)].into(),
            ..Sample::default()
        };
        let reference = vec![Sample { rows: 10, wall_s: 3.0, ..Sample::default() }];
        let table = Table {
            id: "t".into(),
            title: "T".into(),
            notes: vec![],
            columns: &[Column::Wall, Column::Speed, Column::ClientCpu],
            cases: vec![Case {
                name: "c".into(),
                ours: vec![ours.clone(), ours],
                reference,
                ..Case::default()
            }],
        };
        assert_eq!(head(&table).columns, ["wall_s", "client_cpu_s"]);
        let lines = samples(&table, &table.cases[0]);
        let who: Vec<(&str, usize)> =
            lines.iter().map(|line| (line.contestant.as_str(), line.repetition)).collect();
        assert_eq!(who, [("firearrow", 1), ("firearrow", 2), ("reference", 1)]);
        let values = &lines[1].values;
        assert_eq!((values["rows_per_second"], values["first_row_s"], values["rows"]), (5.0, 0.1, 10.0));
        assert!(Ending::Stopped.end().is_none());
        assert!(!Ending::Measured { missing: vec!["x".into()] }.end().unwrap().complete);
    }
}
