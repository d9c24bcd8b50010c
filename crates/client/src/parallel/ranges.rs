//! Which pages are read next: ranges of about one batch each, whatever the rows are like.

/// Pages of the first range, which shows how many rows a page gives.
const FIRST: i64 = 16;
/// The most by which a range grows or shrinks from one to the next.
const FACTOR: i64 = 4;
/// Ranges that each reader gets at least, so that readers finish together.
const LEAST_RANGES: i64 = 8;

/// The pages of a table, handed out from the first to the last.
#[derive(Debug)]
pub(super) struct Ranges {
    next: i64,
    /// The first page number past the last row.
    end: i64,
    pages: i64,
    most: i64,
    /// Rows that a range should give: most of a batch.
    rows: usize,
}

/// Pages to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) from: i64,
    /// The first page after the range.
    pub(super) to: i64,
}

/// What came of a range.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Yield {
    pub(super) rows: usize,
    pub(super) batches: usize,
    /// Rows of its largest batch.
    pub(super) most: usize,
}

impl Ranges {
    /// Pages before `end`, for a number of readers and batches of up to `rows`.
    pub(super) fn new(end: i64, readers: usize, rows: usize) -> Self {
        let parts = i64::try_from(readers).unwrap_or(i64::MAX).saturating_mul(LEAST_RANGES);
        let most = (end / parts.max(1)).max(1);
        Self { next: 0, end, pages: FIRST.min(most), most, rows: below(rows) }
    }

    /// The next range; the last range extends far past the last row, so that an underestimated end loses no rows.
    pub(super) fn take(&mut self) -> Option<Range> {
        if self.next >= self.end {
            return None;
        }
        let from = self.next;
        self.next = from.saturating_add(self.pages);
        let is_last = self.next >= self.end;
        Some(Range { from, to: if is_last { self.end.saturating_mul(2) } else { self.next } })
    }

    /// The share of all pages that are before this range's end.
    pub(super) fn share(&self, range: Range) -> f64 {
        (range.to as f64 / self.end as f64).min(1.0)
    }

    /// Nothing more is handed out.
    pub(super) fn stop(&mut self) {
        self.next = self.end;
    }

    /// Adapts the size of further ranges.
    pub(super) fn learn(&mut self, range: Range, got: Yield) {
        let pages = range.to - range.from;
        if got.batches > 1 {
            // Bytes, not rows, made the first batch full, or the range was too long.
            self.rows = self.rows.min(below(got.most));
        }
        let (least, most) = ((pages / FACTOR).max(1), pages.saturating_mul(FACTOR).min(self.most));
        let wanted = match got.rows {
            0 => most,
            rows => i64::try_from(pages as i128 * self.rows as i128 / rows as i128).unwrap_or(most),
        };
        self.pages = wanted.clamp(least.min(most), most.max(1));
    }
}

/// A bit less than a full batch: pages differ, and a few rows too many would leave a second, tiny batch.
fn below(rows: usize) -> usize {
    (rows - rows / 8).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_in_one_range() {
        let mut ranges = Ranges::new(10_000, 2, 8192);
        let (mut next, mut share) = (0, 0.0);
        let mut sizes = Vec::new();
        while let Some(range) = ranges.take() {
            assert_eq!(range.from, next);
            next = range.to;
            assert!(ranges.share(range) > share);
            share = ranges.share(range);
            let rows = (range.to - range.from) as usize * 40;
            sizes.push(rows);
            let batches = rows.div_ceil(8192);
            ranges.learn(range, Yield { rows, batches, most: rows.min(8192) });
        }
        assert!(next >= 10_000);
        assert_eq!(share, 1.0);
        // From the third on, each gives most of a batch.
        assert!(sizes[3..sizes.len() - 1].iter().all(|rows| (6500..=8192).contains(rows)), "{sizes:?}");
    }

    #[test]
    fn pages_without_rows_are_passed_quickly_but_not_at_once() {
        let mut ranges = Ranges::new(100_000, 4, 8192);
        let mut count = 0;
        while let Some(range) = ranges.take() {
            assert!(range.from >= 90_000 || range.to - range.from <= 100_000 / 32);
            ranges.learn(range, Yield::default());
            count += 1;
        }
        assert!((32..50).contains(&count), "{count}");
        assert_eq!(Ranges::new(1, 2, 1).take(), Some(Range { from: 0, to: 2 }));
        let mut stopped = Ranges::new(100, 2, 1);
        stopped.stop();
        assert_eq!(stopped.take(), None);
    }
}
