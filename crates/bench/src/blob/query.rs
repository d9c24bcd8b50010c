//! The article's queries.

use super::fixture::{Contents, Fixture};
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int64Type;

/// A query on the first rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Query {
    /// Short BLOBs.
    Q1,
    /// The same texts in a VARCHAR.
    Q2,
    /// All BLOBs.
    Q3,
    /// VARCHAR if the text is short enough, otherwise a BLOB; the server finds out.
    Q4,
    /// The same, by a column that says so.
    Q5,
    /// BLOBs that nobody reads.
    Q6,
}

impl Query {
    pub(crate) const ALL: [Self; 6] = [Self::Q1, Self::Q2, Self::Q3, Self::Q4, Self::Q5, Self::Q6];

    pub(crate) fn name(self) -> &'static str {
        ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"][self as usize]
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Q1 => "Q1: short BLOBs",
            Self::Q2 => "Q2: the same texts as VARCHAR",
            Self::Q3 => "Q3: BLOBs of all lengths",
            Self::Q4 => "Q4: VARCHAR where it fits, else BLOB, chosen by the query",
            Self::Q5 => "Q5: VARCHAR where it fits, else BLOB, chosen by a column",
            Self::Q6 => "Q6: BLOBs that nobody reads",
        }
    }

    pub(crate) fn sql(self, contents: Contents, rows: usize) -> String {
        let table = contents.table();
        let (columns, condition) = match self {
            Self::Q1 => ("CONTENT", " WHERE SHORT_BLOB IS TRUE"),
            Self::Q2 => ("SHORT_CONTENT", " WHERE SHORT_BLOB IS TRUE"),
            Self::Q3 | Self::Q6 => ("CONTENT", ""),
            Self::Q4 => (
                "CASE WHEN CHAR_LENGTH(CONTENT) <= 8191 THEN CAST(CONTENT AS VARCHAR(8191)) END, \
                 CASE WHEN CHAR_LENGTH(CONTENT) > 8191 THEN CONTENT END",
                "",
            ),
            Self::Q5 => (
                "CASE WHEN SHORT_BLOB IS TRUE THEN SHORT_CONTENT END, CASE WHEN SHORT_BLOB IS FALSE THEN CONTENT END",
                "",
            ),
        };
        format!("SELECT ID, {columns} FROM {table}{condition} FETCH FIRST {rows} ROWS ONLY")
    }

    /// Ids of the rows that it returns.
    fn ids(self, fixture: &Fixture, rows: usize) -> Vec<usize> {
        fixture.first(rows, matches!(self, Self::Q1 | Self::Q2))
    }

    pub(crate) fn reads_contents(self) -> bool {
        self != Self::Q6
    }

    /// Whether BLOBs travel at all.
    pub(crate) fn has_blobs(self) -> bool {
        self != Self::Q2
    }

    /// What a reader must find.
    pub(crate) fn expected(self, fixture: &Fixture, rows: usize) -> Found {
        let mut found = Found::default();
        for id in self.ids(fixture, rows) {
            found.row(id as i64);
            if self.reads_contents() {
                found.content(fixture.text(id).as_bytes());
            }
        }
        found
    }
}

/// What a reader found: the article prints the first three, and the last one shows that it was the right content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) rows: u64,
    pub(crate) max_id: i64,
    pub(crate) bytes: u64,
    pub(crate) checksum: u64,
}

impl Found {
    pub(crate) fn row(&mut self, id: i64) {
        self.rows += 1;
        self.max_id = self.max_id.max(id);
    }

    pub(crate) fn content(&mut self, content: &[u8]) {
        self.bytes += content.len() as u64;
        // FNV-1a over words; the order of the contents does not matter.
        let (words, rest) = content.as_chunks::<8>();
        let words = words.iter().map(|word| u64::from_le_bytes(*word));
        let all = words.chain(rest.iter().map(|byte| u64::from(*byte)));
        let hash =
            all.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3));
        self.checksum = self.checksum.wrapping_add(hash);
    }

    /// Adds rows whose contents are values.
    pub(crate) fn batch(&mut self, batch: &RecordBatch) {
        for id in batch.column(0).as_primitive::<Int64Type>().values() {
            self.row(*id);
        }
        for column in &batch.columns()[1..] {
            for text in column.as_string::<i32>().iter().flatten() {
                self.content(text.as_bytes());
            }
        }
    }

    /// Adds rows whose BLOBs are ids; other texts are values.
    pub(crate) fn lazy(&mut self, batch: &RecordBatch, with_texts: bool) {
        for id in batch.column(0).as_primitive::<Int64Type>().values() {
            self.row(*id);
        }
        let texts = batch.columns()[1..].iter().filter_map(|column| column.as_string_opt::<i32>());
        for text in texts.filter(|_| with_texts).flat_map(|column| column.iter().flatten()) {
            self.content(text.as_bytes());
        }
    }
}
