//! Names of the database's objects, for completion, as far as they were needed.

use crate::runner::{Listing, Runner, names};
use firearrow::CancelToken;
use firearrow::catalog::Name;
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Each question to the server is given up after this.
const PATIENCE: Duration = Duration::from_secs(2);
/// Others may define something, too.
const FRESH: Duration = Duration::from_secs(60);

/// Names that were asked for, and when.
pub(super) struct Names {
    objects: HashMap<Listing, Vec<String>>,
    columns: HashMap<String, Vec<String>>,
    since: Instant,
    /// How many statements had defined something by then.
    definitions: u64,
}

impl Names {
    pub(super) fn new(runner: &Runner) -> Self {
        let (since, definitions) = (Instant::now(), runner.definitions());
        Self { objects: HashMap::new(), columns: HashMap::new(), since, definitions }
    }

    pub(super) fn is_fresh(&self, runner: &Runner) -> bool {
        self.since.elapsed() < FRESH && self.definitions == runner.definitions()
    }

    /// The names of these objects, sorted. Without an answer there are none, and nobody waits for the next one for a while.
    pub(super) fn of(&mut self, runner: &Runner, listing: Listing) -> &[String] {
        if !self.objects.contains_key(&listing) && may_lose_changes(runner) {
            return &[];
        }
        self.objects.entry(listing).or_insert_with(|| {
            let mut names =
                CancelToken::after(PATIENCE).run(|| names(&runner.connection, listing)).unwrap_or_default();
            names.sort();
            names
        })
    }

    /// The columns of a table or view.
    pub(super) fn columns(&mut self, runner: &Runner, table: &str) -> &[String] {
        if !self.columns.contains_key(table) && may_lose_changes(runner) {
            return &[];
        }
        self.columns.entry(table.to_owned()).or_insert_with(|| {
            let ask = || {
                let catalog = runner.connection.catalog()?.with_system_tables(true);
                catalog.columns(Name::Is(table), Name::Any)
            };
            let columns = CancelToken::after(PATIENCE).run(ask).unwrap_or_default();
            columns.into_iter().map(|column| column.name).collect()
        })
    }
}

/// A call that has to be cancelled may cost the connection, and the changes with it.
fn may_lose_changes(runner: &Runner) -> bool {
    runner.uncommitted().is_some()
}
