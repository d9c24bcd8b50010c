//! The folder of `firearrow bench all`.

use super::suites::Suite;
use crate::failure::{Failure, Result};
use firearrow_bench::{Environment, save};
use firearrow_report::{self as report, End, Record};
use std::fs;
use std::path::{Path, PathBuf};

/// What has been measured so far. The files are written again with each record, so that whatever ends the run loses nothing.
pub(super) struct Kept {
    folder: PathBuf,
    environment: Environment,
    records: Vec<Record>,
}

impl Kept {
    pub(super) fn create(parent: &Path, environment: Environment) -> Result<Self> {
        let name = format!("{}-all-{}", environment.day(), environment.platform());
        let folder = save::fresh(parent, &name)?;
        Ok(Self { folder, environment, records: Vec::new() })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn page(&self) -> PathBuf {
        self.folder.join("report.html")
    }

    /// Keeps a record in place of what the suite had measured of it before.
    pub(super) fn add(&mut self, suite: &Suite, record: Record) -> Result<()> {
        let name = match record.head.benchmark.as_str() {
            own if own.starts_with(suite.name) => own.to_owned(),
            other => format!("{}-{other}", suite.name),
        };
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, &error))?;
        save::update(&folder, &record, &report::markdown(std::slice::from_ref(&record)))?;
        let same = self.records.iter().position(|known| known.head.benchmark == record.head.benchmark);
        match same {
            Some(at) => self.records[at] = record,
            None => self.records.push(record),
        }
        self.write()
    }

    /// Notes why a suite, or a part of it, is missing.
    pub(super) fn missing(&mut self, suite: &Suite, reason: &str) -> Result<()> {
        let of_suite = |record: &&Record| record.head.benchmark.starts_with(suite.name);
        // What was announced has no tables.
        let known = self.records.iter().rfind(of_suite).filter(|record| !record.tables.is_empty());
        let mut record = match known {
            Some(record) => record.clone(),
            None => Record::new(suite.name, suite.title, self.environment.fields()?),
        };
        let mut end = record.end.take().unwrap_or_default();
        end.complete = false;
        // Often the reason sums up what is listed.
        if !end.missing.iter().any(|known| reason.contains(known.as_str())) {
            end.missing.push(reason.to_owned());
        }
        record.end = Some(end);
        self.add(suite, record)
    }

    /// Notes what is to come, so that whatever ends the run early leaves a page that says what is missing.
    pub(super) fn announce(&mut self, suites: &[&Suite]) -> Result<()> {
        for suite in suites {
            let missing = vec![format!("{}: the run was interrupted before it had anything", suite.name)];
            let record = Record::new(suite.name, suite.title, self.environment.fields()?);
            self.add(suite, Record { end: Some(End { missing, ..End::default() }), ..record })?;
        }
        Ok(())
    }

    fn write(&self) -> Result<()> {
        let page = report::html("firearrow bench all", &self.records)?;
        let path = self.page();
        Ok(save::file(&path, page.as_bytes())?)
    }
}
