//! What is registered, and whether its library is still there.

use super::{failure, name_of};
use crate::failure::Result;
use crate::{installed, output};
use firearrow_bench::text::aligned;
use firearrowodbc::setup::{self, DRIVER, DataSource, Scope};
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
            Some(path) if path.is_file() => State::Installed,
            Some(_) => State::LibraryMissing,
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
    // Driver managers look at the user's drivers first.
    let registered = found.iter().find_map(|driver| driver.library.clone());
    for source in setup::list().map_err(|error| failure(Scope::User, &error))? {
        if let Some(library) = library_of(&source, registered.as_ref()) {
            found.push(Found::new(source.scope, "data source", &source.name, library));
        }
    }
    if json {
        return output::print_data(&format!("{}\n", serde_json::to_string_pretty(&found)?));
    }
    output::print(&aligned(&found.iter().map(Found::row).collect::<Vec<_>>(), 4))
}

/// The library of a data source: a data source names it, or the driver. `None` = it is one of another driver.
#[expect(clippy::option_option, reason = "it may be ours and have no library")]
fn library_of(source: &DataSource, registered: Option<&PathBuf>) -> Option<Option<PathBuf>> {
    let path = Path::new(&source.driver);
    let is_library = path.file_name().is_some_and(|name| name == &*installed::file_of(installed::ODBC));
    match () {
        () if source.driver.eq_ignore_ascii_case(DRIVER) => Some(registered.cloned()),
        () if is_library => Some(Some(path.to_owned())),
        () => None,
    }
}
