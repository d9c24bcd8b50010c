//! The lengths of the texts, which have the sums that the article publishes of its table.

use super::random::Random;

/// Rows of `BLOB_TEST`.
pub(crate) const ROWS: usize = 10_000;
/// Texts shorter than this are short, and stand in a VARCHAR as well.
pub(super) const SHORT: u32 = 8191;
/// The longest BLOB that Firebird sends along with its row.
pub(crate) const LONGEST_INLINE: u32 = 65_535;
/// What the article publishes of its table.
pub(super) const LONGEST: u32 = 77_743;
pub(super) const TOTAL: u64 = 126_392_558;
pub(super) const TOTAL_SHORT: u64 = 19_810_796;
pub(super) const SHORT_ROWS: usize = 5884;
pub(super) const FIRST: usize = 1000;
pub(super) const TOTAL_OF_FIRST: u64 = 12_607_388;
pub(super) const TOTAL_OF_FIRST_SHORT: u64 = 3_366_000;
pub(super) const LAST_OF_FIRST_SHORT: usize = 1700;
pub(super) const TOO_LONG_OF_FIRST: usize = 29;

/// Lengths with the published sums: of all rows, of the short ones, of the first thousand, of the first thousand short ones.
pub(super) fn lengths() -> Vec<u32> {
    let mut random = Random(42);
    let is_short = |id: usize| match id <= LAST_OF_FIRST_SHORT {
        // Ten of seventeen, and the last one of them is short.
        true => (id - 1) * 10 % 17 < 10,
        false => {
            let rest = SHORT_ROWS - FIRST;
            let (at, of) = (id - LAST_OF_FIRST_SHORT, ROWS - LAST_OF_FIRST_SHORT);
            at * rest / of > (at - 1) * rest / of
        }
    };
    let mut lengths = vec![0; ROWS];
    let ids = |from: usize, to: usize, short: bool| -> Vec<usize> {
        (from..=to).filter(|id| is_short(*id) == short).collect()
    };
    fill(&mut lengths, &mut random, &ids(1, LAST_OF_FIRST_SHORT, true), TOTAL_OF_FIRST_SHORT, 100, SHORT - 1);
    fill(
        &mut lengths,
        &mut random,
        &ids(LAST_OF_FIRST_SHORT + 1, ROWS, true),
        TOTAL_SHORT - TOTAL_OF_FIRST_SHORT,
        100,
        SHORT - 1,
    );
    // Of the first thousand rows a few are too long to be sent along with their rows.
    let long = ids(1, FIRST, false);
    let (too_long, inline): (Vec<usize>, Vec<usize>) =
        long.iter().partition(|id| long.iter().position(|each| each == *id).is_some_and(|at| at % 14 == 7));
    assert_eq!(too_long.len(), TOO_LONG_OF_FIRST, "one of fourteen");
    let sum = 70_000 * too_long.len() as u64;
    fill(
        &mut lengths,
        &mut random,
        &too_long[1..],
        sum - u64::from(LONGEST),
        LONGEST_INLINE + 1,
        LONGEST - 1,
    );
    fill(&mut lengths, &mut random, &too_long[..1], LONGEST.into(), LONGEST, LONGEST);
    let short_of_first: u64 = ids(1, FIRST, true).iter().map(|id| u64::from(lengths[id - 1])).sum();
    fill(&mut lengths, &mut random, &inline, TOTAL_OF_FIRST - short_of_first - sum, SHORT, LONGEST_INLINE);
    let rest = TOTAL - TOTAL_SHORT - (TOTAL_OF_FIRST - short_of_first);
    fill(&mut lengths, &mut random, &ids(FIRST + 1, ROWS, false), rest, SHORT, LONGEST - 1);
    lengths
}

/// Draws the lengths of some rows.
fn fill(lengths: &mut [u32], random: &mut Random, ids: &[usize], sum: u64, least: u32, most: u32) {
    for (id, length) in ids.iter().zip(draw(random, ids.len(), sum, least, most)) {
        lengths[id - 1] = length;
    }
}

/// Numbers within bounds that have a given sum.
fn draw(random: &mut Random, count: usize, sum: u64, least: u32, most: u32) -> Vec<u32> {
    let mean = sum / count as u64;
    // As far from the mean in both directions as the nearer bound allows.
    let reach = (mean - u64::from(least)).min(u64::from(most) - mean);
    let mut drawn: Vec<u32> =
        (0..count).map(|_| (mean - reach + random.below(2 * reach + 1)) as u32).collect();
    let mut left = sum.cast_signed() - drawn.iter().map(|length| i64::from(*length)).sum::<i64>();
    while left != 0 {
        let share = (left / count as i64).clamp(-1000, 1000) + left.signum();
        for length in &mut drawn {
            let step = if share.abs() > left.abs() { left } else { share };
            let to = (i64::from(*length) + step).clamp(least.into(), most.into());
            left -= to - i64::from(*length);
            *length = to as u32;
        }
    }
    drawn
}
