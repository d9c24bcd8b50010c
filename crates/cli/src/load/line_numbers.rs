//! The lines of the rows that were taken last: a row that fails is known by its number.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct Places {
    parts: VecDeque<Lines>,
    rows: u64,
}

/// The lines of a batch.
#[derive(Debug)]
struct Lines {
    first_row: u64,
    file: Arc<PathBuf>,
    lines: Vec<u64>,
}

impl Places {
    /// Adds the lines of the next rows.
    pub(super) fn add(&mut self, file: &Arc<PathBuf>, lines: Vec<u64>) {
        let first_row = self.rows;
        self.rows += lines.len() as u64;
        self.parts.push_back(Lines { first_row, file: Arc::clone(file), lines });
        if self.parts.len() > MOST {
            self.parts.pop_front();
        }
    }

    /// Returns the file of a row, counted from 0, and its line; `None` if that was long ago.
    pub(super) fn of(&self, row: u64) -> Option<(Arc<PathBuf>, u64)> {
        let lines = self.parts.iter().rfind(|lines| lines.first_row <= row)?;
        let line = lines.lines.get(usize::try_from(row - lines.first_row).ok()?)?;
        Some((Arc::clone(&lines.file), *line))
    }
}

/// Batches that are remembered: far more than are on their way at a time.
const MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_numbers_until_they_are_old() {
        let mut places = Places::default();
        let file = |name: &str| Arc::new(PathBuf::from(name));
        places.add(&file("a"), vec![2, 5]);
        places.add(&file("b"), vec![2]);
        for (row, expected) in [(0, ("a", 2)), (1, ("a", 5)), (2, ("b", 2))] {
            let (file, line) = places.of(row).unwrap();
            assert_eq!((file.to_str().unwrap(), line), expected);
        }
        assert_eq!(places.of(3), None);
        (0..MOST).for_each(|_| places.add(&file("c"), vec![9]));
        assert_eq!(places.of(0), None);
        assert_eq!(places.of(3), Some((file("c"), 9)));
    }
}
