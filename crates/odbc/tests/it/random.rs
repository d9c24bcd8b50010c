//! Random input of calls, and room for what they write.

use crate::odbc::NTS;
use std::ffi::c_void;

/// Statements of every kind, good and bad.
pub(crate) const SQL: [&str; 19] = [
    "SELECT 1, 'text 😀', NULL FROM RDB$DATABASE",
    "SELECT * FROM T",
    "SELECT FIRST 50 RDB$FIELD_NAME, RDB$TYPE, RDB$DESCRIPTION FROM RDB$TYPES",
    "INSERT INTO T VALUES (?, ?)",
    "UPDATE T SET NAME = ? WHERE ID = ?",
    "DELETE FROM T",
    "SELECT * FROM T WHERE ID = ?",
    "SELECT NAME, ID FROM T ORDER BY ID",
    "UPDATE T SET NAME = ? WHERE CURRENT OF \"RDB$%\"",
    "DELETE FROM T WHERE CURRENT OF \"RDB$%\"",
    "INSERT INTO T VALUES (1, 'x') RETURNING ID",
    "{call P(?)}",
    "{?= call F(?)}",
    "SELECT {fn NOW()}, {d '2024-02-29'}",
    "COMMIT",
    "ROLLBACK",
    "SET TRANSACTION READ ONLY",
    "SELEC {fn",
    "",
];

/// Numbers that look random, but are the same each time.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A small number, or one at an edge.
    pub(crate) fn small(&mut self) -> i16 {
        match self.below(8) {
            0 => self.of(&[i16::MIN, -101, -3, -2, -1, i16::MAX, 99, 1000]),
            _ => self.below(6) as i16,
        }
    }

    /// A length of text that a function must refuse, or that is true of every text here.
    pub(crate) fn length(&mut self) -> isize {
        self.of(&[NTS, NTS, 0, 1, -1, -2, isize::from(i16::MIN)])
    }

    /// A capacity that is not more than there is.
    pub(crate) fn capacity(&mut self) -> i16 {
        self.of(&[0, 1, 2, 3, 7, 64, 256, 1000, -1, i16::MIN])
    }
}

/// Room for whatever a call writes, with a canary after it.
pub(crate) struct Room {
    words: Box<[u64]>,
}

/// Bytes for rows of arrays; capacities are never more than a row's share of it.
const ROOM: usize = 1 << 16;
const CANARY: u64 = 0x5AA5_5AA5_5AA5_5AA5;
/// The most rows of an array.
pub(crate) const ROWS: usize = 8;

impl Room {
    pub(crate) fn new() -> Self {
        let mut words = vec![0; ROOM / 8 + 8].into_boxed_slice();
        words[ROOM / 8..].fill(CANARY);
        Self { words }
    }

    /// Fills the part that is bound with words that are valid lengths: text of a few characters, NULL, or data at execution.
    pub(crate) fn fill(&mut self) {
        const LENGTHS: [i64; 6] = [5, -1, 0, -3, 12, -2];
        for (word, length) in self.words[..ROOM / 32].iter_mut().zip(LENGTHS.into_iter().cycle()) {
            *word = length.cast_unsigned();
        }
    }

    /// An address with this much room at least.
    pub(crate) fn at(&mut self, offset: usize) -> *mut c_void {
        self.words.as_mut_ptr().wrapping_byte_add(offset).cast()
    }

    pub(crate) fn check(&self, seed: u64) {
        assert!(self.words[ROOM / 8..].iter().all(|word| *word == CANARY), "seed {seed}");
    }
}
