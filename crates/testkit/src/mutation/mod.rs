//! Damage to a stream of bytes, decided by a seed.
//!
//! ```text
//!   stream  ────────┬───────────────┬──────►   passes until the place of the next edit,
//!                 edit            edit         which is a place in the stream or the next answer after it
//! ```
//!
//! Where an edit begins depends on the stream only, not on the pieces in which it arrives. An edit that needs bytes to
//! work on takes those that are there.

mod forged;
#[cfg(test)]
mod tests;

use crate::Choice;
use crate::proxy::Limit;
use forged::EXTREMES;

/// What the seed of a session decides about one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// Decides where the edits are, how many, and which.
    pub seed: u64,
}

/// Applies a [`Mutation`] to a stream.
#[derive(Debug)]
pub struct Mutator {
    choice: Choice,
    /// Bytes of the stream so far.
    position: u64,
    /// Where the next edit is.
    place: u64,
    /// The edit waits for an answer to begin, and goes so many words into it.
    into_answer: Option<u64>,
    /// Edits still to be made.
    left: u64,
    /// Bytes to be dropped.
    dropping: u64,
    /// What a flood comes to.
    flood: usize,
    /// The last bytes that passed, for repeating.
    recent: Vec<u8>,
    edits: Vec<String>,
}

impl Mutation {
    /// Starts at the beginning of a stream.
    pub fn start(self) -> Mutator {
        let mut choice = Choice::from_seed(self.seed);
        // A handshake comes to a kilobyte; sessions that do not get beyond it show little of a client.
        let length = if choice.once_in(5) { 1 << 10 } else { 2 << 10 << choice.below(6) };
        Mutator::new(choice, length, FLOOD)
    }
}

impl Mutator {
    /// Starts at the beginning of a stream of about `length` bytes, with choices from anywhere. No flood brings more than
    /// `flood` bytes.
    pub fn new(choice: Choice, length: u64, flood: usize) -> Self {
        let mut mutator = Self {
            choice,
            position: 0,
            place: 0,
            into_answer: None,
            left: 1,
            dropping: 0,
            flood,
            recent: Vec::new(),
            edits: Vec::new(),
        };
        mutator.left += mutator.choice.below(4) * mutator.choice.below(2);
        mutator.choose_place(length.max(4));
        mutator
    }

    /// What was done, and where.
    pub fn edits(&self) -> &[String] {
        &self.edits
    }

    /// Appends to `out` what becomes of the next bytes of the stream. A limit ends it.
    pub fn apply(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Option<Limit> {
        let mut rest = bytes;
        loop {
            let dropped = self.take(&mut rest, self.dropping);
            self.dropping -= dropped.len() as u64;
            if self.left == 0 || self.choice.is_used_up() {
                out.extend_from_slice(rest);
                return None;
            }
            let passed = self.take(&mut rest, self.place.saturating_sub(self.position));
            self.pass(passed, out);
            if rest.is_empty() {
                return None;
            }
            if let Some(words) = self.into_answer {
                // Answers begin at multiples of four, as everything in XDR does.
                let skip = (4 - self.position % 4) % 4;
                let passed = self.take(&mut rest, skip);
                self.pass(passed, out);
                let length = answer(rest, 0);
                let before = self.take(&mut rest, length);
                self.pass(before, out);
                self.place = self.position;
                if !rest.is_empty() {
                    self.into_answer = None;
                    self.place += 4 * words;
                }
                continue;
            }
            self.left -= 1;
            if let Some(limit) = self.edit(&mut rest, out) {
                return Some(limit);
            }
            let range = 16 << self.choice.below(9);
            self.choose_place(range);
        }
    }

    /// Takes at most `length` bytes of the stream.
    fn take<'a>(&mut self, rest: &mut &'a [u8], length: u64) -> &'a [u8] {
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(rest.len());
        let (taken, tail) = rest.split_at(length);
        *rest = tail;
        self.position += length as u64;
        taken
    }

    fn pass(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
        self.recent.extend_from_slice(bytes);
        let excess = self.recent.len().saturating_sub(RECENT);
        self.recent.drain(..excess);
    }

    fn choose_place(&mut self, range: u64) {
        let words = self.choice.below(range / 4);
        self.place = self.position + 4 * words;
        self.into_answer = self.choice.once_in(2).then(|| self.choice.below(10));
    }

    /// Makes one edit at the present position.
    fn edit(&mut self, rest: &mut &[u8], out: &mut Vec<u8>) -> Option<Limit> {
        let at = self.position;
        let note = match self.choice.below(28) {
            0..=3 => {
                let bit = self.choice.below(32);
                let mut word = self.take(rest, 4).to_vec();
                if let Some(byte) = word.get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
                self.pass(&word, out);
                format!("bit {bit} is flipped")
            }
            4..=9 => {
                let old = self.take(rest, 4).to_vec();
                let old = old.try_into().map_or(0, u32::from_be_bytes);
                let new = match self.choice.below(8) {
                    0 => old.wrapping_add(1),
                    1 => old.wrapping_sub(1),
                    2 => old.wrapping_mul(4),
                    3 => rest.len() as u32,
                    4 => self.choice.word(),
                    _ => self.choice.of(&EXTREMES),
                };
                self.pass(&new.to_be_bytes(), out);
                format!("word {old:#x} becomes {new:#x}")
            }
            10..=12 => {
                let packet = forged::packet(&mut self.choice);
                let times = self.times(packet.len());
                (0..times).for_each(|_| out.extend_from_slice(&packet));
                format!("a packet is inserted {times} times: {packet:02x?}")
            }
            23..=26 => {
                let before = answer(rest, 0);
                let before = self.take(rest, before);
                self.pass(before, out);
                let length = answer(rest, 4);
                let packet = self.take(rest, length).to_vec();
                let times = if self.choice.once_in(3) { 0 } else { 1 + self.times(packet.len()) };
                (0..times).for_each(|_| out.extend_from_slice(&packet));
                format!("the next answer, {} bytes, comes {times} times", packet.len())
            }
            13 => {
                let count = 1 + self.choice.index(12);
                let bytes: Vec<u8> = (0..count).map(|_| self.choice.byte()).collect();
                self.pass(&bytes, out);
                format!("{count} bytes are inserted")
            }
            14..=16 => {
                let length = self.length().min(self.recent.len());
                let times = self.times(length);
                let recent = self.recent[self.recent.len() - length..].to_vec();
                (0..times).for_each(|_| out.extend_from_slice(&recent));
                format!("the last {length} bytes are repeated {times} times")
            }
            17..=19 => {
                self.dropping = self.length() as u64;
                format!("{} bytes are dropped", self.dropping)
            }
            20..=21 => {
                let first = self.length() as u64;
                let first = self.take(rest, first).to_vec();
                let second = self.length() as u64;
                let second = self.take(rest, second).to_vec();
                self.pass(&second, out);
                self.pass(&first, out);
                format!("{} bytes change places with the next {}", first.len(), second.len())
            }
            22 => return Some(self.end("the stream is cut", Limit::Cut)),
            _ => {
                return Some(if self.choice.once_in(3) {
                    self.end("nothing but op_dummy follows", Limit::Dummies)
                } else {
                    self.end("the stream falls silent", Limit::Stall)
                });
            }
        };
        self.edits.push(format!("byte {at}: {note}"));
        None
    }

    fn end(&mut self, note: &str, limit: Limit) -> Limit {
        self.edits.push(format!("byte {}: {note}", self.position));
        limit
    }

    /// How often something of `length` bytes comes: once in a while until it is a flood.
    fn times(&mut self, length: usize) -> usize {
        let most = self.flood.checked_div(length).unwrap_or_default();
        match self.choice.below(16) {
            0 => most,
            1 | 2 => most.min(1000),
            _ => 1 + self.choice.index(3),
        }
    }

    /// A length of something: mostly words, now and then a whole packet or a crooked one.
    fn length(&mut self) -> usize {
        match self.choice.below(8) {
            0 => 1 + self.choice.index(3),
            1..=5 => 4 * (1 + self.choice.index(12)),
            _ => 4 * (1 + self.choice.index(RECENT / 4)),
        }
    }
}

/// How many bytes come before an answer that begins `from` bytes on or later.
fn answer(rest: &[u8], from: usize) -> u64 {
    let words = rest.get(from..).unwrap_or_default().chunks_exact(4);
    let begins =
        |word: &[u8]| word.try_into().is_ok_and(|word| forged::begins_answer(u32::from_be_bytes(word)));
    let found = words.map(begins).position(|begins| begins);
    found.map_or(rest.len(), |word| from + 4 * word) as u64
}

/// The most bytes that an edit moves or repeats.
const RECENT: usize = 1024;
/// What a flood of a real session comes to.
const FLOOD: usize = 48 << 20;
