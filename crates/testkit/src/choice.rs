//! Choices that look random: from a seed, or from the bytes of a fuzzer.

/// A source of choices. The same source gives the same choices.
#[derive(Clone, Debug)]
pub struct Choice(Source);

#[derive(Clone, Debug)]
enum Source {
    /// The state of splitmix64.
    Seed(u64),
    /// The unused bytes, last byte first.
    Bytes(Vec<u8>),
}

impl Choice {
    /// Returns endless choices that depend on `seed` only.
    pub fn from_seed(seed: u64) -> Self {
        Self(Source::Seed(seed))
    }

    /// Returns choices that use up `bytes`; after that every choice is the first.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(Source::Bytes(bytes.iter().rev().copied().collect()))
    }

    /// Whether all bytes are used up.
    pub fn is_used_up(&self) -> bool {
        matches!(&self.0, Source::Bytes(bytes) if bytes.is_empty())
    }

    /// Chooses a number below `limit`, which is at least 1.
    pub fn below(&mut self, limit: u64) -> u64 {
        // A fuzzer's input is better used by the byte than by the word.
        let bytes = (64 - (limit - 1).leading_zeros()).div_ceil(8);
        self.number(bytes) % limit
    }

    /// Chooses an index below `length`, which is at least 1.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// Chooses one of `items`, of which there is at least one.
    pub fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.index(items.len())]
    }

    /// Returns true once in `times` calls on average.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// Chooses a word.
    pub fn word(&mut self) -> u32 {
        self.number(4) as u32
    }

    /// Chooses a byte.
    pub fn byte(&mut self) -> u8 {
        self.number(1) as u8
    }

    fn number(&mut self, bytes: u32) -> u64 {
        match &mut self.0 {
            Source::Seed(state) => {
                *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ mixed >> 31
            }
            Source::Bytes(left) => {
                (0..bytes).fold(0, |number, _| number << 8 | u64::from(left.pop().unwrap_or_default()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_choices_again() {
        let choices = |seed| {
            let mut choice = Choice::from_seed(seed);
            [(); 20].map(|()| choice.below(1000))
        };
        assert_eq!(choices(1), choices(1));
        assert_ne!(choices(1), choices(2));
        assert!(choices(3).iter().all(|&number| number < 1000));
    }

    #[test]
    fn bytes_are_used_up_in_order() {
        let mut choice = Choice::from_bytes(&[7, 1, 2, 0xff]);
        assert_eq!(choice.below(1), 0, "nothing to choose takes nothing");
        assert_eq!(choice.below(256), 7);
        assert_eq!(choice.below(65_536), 0x0102);
        assert!(!choice.is_used_up());
        assert_eq!(choice.byte(), 0xff);
        assert!(choice.is_used_up());
        assert_eq!((choice.word(), choice.below(10)), (0, 0));
    }
}
