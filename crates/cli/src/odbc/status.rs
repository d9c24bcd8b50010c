//! What is registered, and whether its library is still there.

use super::{failure, name_of, note};
use crate::failure::Result;
use crate::{installed, output};
use firearrow_bench::text::aligned;
use firearrow_odbc::setup::{self, DRIVER, DataSource, Scope};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The driver of a scope, or a data source of the driver.
#[derive(Debug, Serialize)]
struct Found {
    scope: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    name: String,
    library: Option<PathBuf>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    NotInstalled,
    Installed,
    LibraryMissing,
}

impl Found {
    fn new(scope: Scope, kind: &'static str, name: &str, library: Option<PathBuf>) -> Self {
        let state = match &library {
            None => State::NotInstalled,
            // What has no folder is looked for by the system's loader.
            Some(path) if path.is_absolute() && !path.is_file() => State::LibraryMissing,
            Some(_) => State::Installed,
        };
        Self { scope: name_of(scope), kind, name: name.to_owned(), library, state }
    }

    fn row(&self) -> Vec<String> {
        let library = self.library.as_deref().unwrap_or(Path::new("")).display();
        let state = match (self.state, self.kind) {
            (State::Installed, _) => library.to_string(),
            (State::LibraryMissing, _) => format!("{library} is missing"),
            (State::NotInstalled, "driver") => "not installed".to_owned(),
            (State::NotInstalled, _) => "its driver is not installed: firearrow odbc install".to_owned(),
        };
        vec![self.kind.to_owned(), self.name.clone(), self.scope.to_owned(), state]
    }
}

pub(super) fn run(json: bool) -> Result<()> {
    let mut found = Vec::new();
    for scope in [Scope::User, Scope::System] {
        let library = setup::installed(scope).map_err(|error| failure(scope, &error))?;
        found.push(Found::new(scope, "driver", DRIVER, library));
    }
    let states = [found[0].state, found[1].state];
    for source in setup::list().map_err(|error| failure(Scope::User, &error))? {
        if is_ours(&source) {
            found.push(Found::new(source.scope, "data source", &source.name, source.library));
        }
    }
    if json {
        return output::print_data(&format!("{}\n", serde_json::to_string_pretty(&found)?));
    }
    output::print(&aligned(&found.iter().map(Found::row).collect::<Vec<_>>(), 4))?;
    if let [State::Installed | State::LibraryMissing, State::NotInstalled] = states {
        note(&setup::advice(Scope::User).into_iter().collect::<Vec<_>>());
    }
    Ok(())
}

/// Whether a data source is one of this driver.
pub(super) fn is_ours(source: &DataSource) -> bool {
    let file = source.library.as_deref().and_then(Path::file_name);
    source.driver.eq_ignore_ascii_case(DRIVER)
        || file.is_some_and(|file| file == &*installed::file_of(installed::ODBC))
}
