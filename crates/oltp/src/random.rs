//! Random values that are the same for the same seed, on every machine and in every release.

/// A generator of numbers (SplitMix64). The crate `rand` does not promise the same values in its next release, and
/// databases that were loaded with one seed should stay comparable.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A generator of its own for each path, such as table, warehouse and district.
    pub(crate) fn new(seed: u64, path: &[u64]) -> Self {
        let mut random = Self(seed);
        for part in path {
            random.0 = random.next() ^ part.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high - low) + 1;
        // The error of this reduction is below 2^-32.
        low + ((u128::from(self.next()) * u128::from(span)) >> 64) as u32
    }

    /// True in so many of a hundred cases.
    pub(crate) fn percent(&mut self, chance: u32) -> bool {
        self.between(1, 100) <= chance
    }

    /// A number from 0 to 1.
    pub(crate) fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// NURand of TPC-C 2.1.6: some numbers come much more often than others.
    pub(crate) fn skewed(&mut self, spread: u32, constant: u32, low: u32, high: u32) -> u32 {
        let mixed = self.between(0, spread) | self.between(low, high);
        (mixed + constant) % (high - low + 1) + low
    }

    /// Letters and digits.
    pub(crate) fn text(&mut self, shortest: u32, longest: u32) -> String {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 -";
        let length = self.between(shortest, longest) as usize;
        let mut text = String::with_capacity(length + 9);
        while text.len() < length {
            let mut bits = self.next();
            for _ in 0..10 {
                text.push(char::from(LETTERS[(bits & 63) as usize]));
                bits >>= 6;
            }
        }
        text.truncate(length);
        text
    }

    /// Digits.
    pub(crate) fn digits(&mut self, length: u32) -> String {
        (0..length).map(|_| char::from(b'0' + self.between(0, 9) as u8)).collect()
    }

    /// The numbers from 1 to `count`, in any order.
    pub(crate) fn shuffled(&mut self, count: u32) -> Vec<u32> {
        let mut numbers: Vec<u32> = (1..=count).collect();
        for last in (1..count).rev() {
            numbers.swap(last as usize, self.between(0, last) as usize);
        }
        numbers
    }
}

/// The constants of [`Random::skewed`]: one set for loading, another for running, as TPC-C 2.1.6.1 asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    pub(crate) name: u32,
    pub(crate) customer: u32,
    pub(crate) item: u32,
}

impl Constants {
    pub(crate) const LOAD: Self = Self { name: 157, customer: 259, item: 7911 };
    /// The difference of the names' constants must be 65 to 119, but neither 96 nor 112.
    pub(crate) const RUN: Self = Self { name: 223, customer: 987, item: 5987 };

    /// The number of a customer's last name.
    pub(crate) fn last_name(self, random: &mut Random) -> u32 {
        random.skewed(255, self.name, 0, 999)
    }
}

/// The last name of a number from 0 to 999: a syllable for each digit.
pub(crate) fn last_name(number: u32) -> String {
    const SYLLABLES: [&str; 10] =
        ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
    [number / 100 % 10, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit as usize]).concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_the_same_for_ever() {
        let mut random = Random::new(42, &[1, 2]);
        assert_eq!([random.next(), random.next()], [VALUES[0], VALUES[1]]);
        assert_eq!(Random::new(42, &[1, 2]).text(24, 24), TEXT);
        assert_ne!(Random::new(42, &[2, 1]).next(), VALUES[0]);
    }
    const VALUES: [u64; 2] = [0x3F6F_FB64_DFB7_96C5, 0x742A_DA89_3DF3_0012];
    const TEXT: &str = "SAw89ko2qQf KCjMGVBzOY04";

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut random = Random::new(1, &[]);
        let mut seen = [0_u32; 7];
        for _ in 0..7000 {
            seen[random.between(3, 9) as usize - 3] += 1;
        }
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
        assert_eq!(random.between(5, 5), 5);
        let mut numbers = random.shuffled(100);
        assert_ne!(numbers, (1..=100).collect::<Vec<_>>());
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
        for _ in 0..1000 {
            assert!((1..=3000).contains(&random.skewed(1023, 259, 1, 3000)));
            assert!((0.0..1.0).contains(&random.fraction()));
        }
        let difference = Constants::RUN.name - Constants::LOAD.name;
        assert!((65..=119).contains(&difference) && ![96, 112].contains(&difference));
    }

    #[test]
    fn names_are_made_of_syllables() {
        assert_eq!(
            [last_name(0), last_name(371), last_name(999)],
            ["BARBARBAR", "PRICALLYOUGHT", "EINGEINGEING"]
        );
    }
}
