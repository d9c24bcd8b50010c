//! Columns of the files that are left out (`--skip-columns`).

use super::names::{Found, find, listed};
use crate::failure::{Failure, Result};
use arrow::datatypes::Schema;

/// The columns that are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Skipped(Vec<String>);

impl Skipped {
    pub(super) fn new(names: &[String]) -> Self {
        Self(names.to_vec())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this column is one of them.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|skipped| !matches!(find_given(skipped, [name].into_iter()), Found::None))
    }

    /// Where the other columns of a file are. A name leaves out one column: the first of several that have the same name.
    ///
    /// # Errors
    /// There are no others, or a name may be several columns. The first file lacks such a column; later ones may.
    pub(super) fn others(&self, file: &Schema, is_first: bool) -> Result<Vec<usize>> {
        let mut others: Vec<usize> = (0..file.fields().len()).collect();
        for skipped in &self.0 {
            let wrong = |what: String| Err(Failure::usage(format!("--skip-columns {skipped}: {what}")));
            let names = others.iter().map(|index| file.field(*index).name().as_str());
            let index = match find_given(skipped, names.clone()) {
                Found::One(index, _) => Some(index),
                Found::Several(several) if several.iter().any(|name| *name != several[0]) => {
                    return wrong(format!("give it the name that is meant: {}", several.join(" or ")));
                }
                Found::Several(several) => names.clone().position(|name| name == several[0]),
                Found::None if is_first => {
                    return wrong(format!("the columns of the file are {}", listed(names)));
                }
                Found::None => None,
            };
            if let Some(index) = index {
                others.remove(index);
            }
        }
        match others.is_empty() && !self.is_empty() {
            true => Err(self.nothing_left()),
            false => Ok(others),
        }
    }

    /// The error if they are all that there is.
    pub(super) fn nothing_left(&self) -> Failure {
        Failure::usage("--skip-columns names all columns of the file: nothing is left to load")
    }
}

/// A name as it was given, else without the blanks around it.
fn find_given<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Found<'a> {
    match find(name, names.clone()) {
        Found::None => find(name.trim(), names),
        found => found,
    }
}
