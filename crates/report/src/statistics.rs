//! Medians, spreads and intervals.

/// The median of some repetitions, with minimum and maximum, in the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Spread {
    /// The median; of an even number of values, the mean of the two in the middle.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Spread {
    /// Computes the spread of some values; `None` if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Some(Self { median: middle(&sorted)?, min: *sorted.first()?, max: *sorted.last()? })
    }

    /// Formats the three values with `show`: `2.1 s (2.0 s – 2.4 s)`.
    pub fn text(&self, show: impl Fn(f64) -> String) -> String {
        format!("{} ({} – {})", show(self.median), show(self.min), show(self.max))
    }
}

/// The median of sorted values.
fn middle(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    Some(match sorted.len() % 2 {
        0 => f64::midpoint(*sorted.get(middle.checked_sub(1)?)?, sorted[middle]),
        _ => sorted[middle],
    })
}

/// A 95 % confidence interval of a median.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Resamples of the bootstrap.
const RESAMPLES: usize = 2000;

/// Of more values some are left out, evenly.
const MOST_VALUES: usize = 1000;

/// The 95 % confidence interval of the median, by the percentile bootstrap; `None` with fewer than five values, which say too
/// little. The same values give the same interval.
#[must_use]
pub fn interval_of_median(values: &[f64]) -> Option<Interval> {
    if values.len() < 5 {
        return None;
    }
    // More would take long, and not say more.
    let every = values.len().div_ceil(MOST_VALUES);
    let values: Vec<f64> = values.iter().step_by(every).copied().collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut draw = || {
        // xorshift64*: good enough to choose from a few dozen values.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % values.len()
    };
    let median = |_| {
        let mut drawn: Vec<f64> = (0..values.len()).map(|_| values[draw()]).collect();
        drawn.sort_by(f64::total_cmp);
        middle(&drawn).unwrap_or_default()
    };
    let mut medians: Vec<f64> = (0..RESAMPLES).map(median).collect();
    medians.sort_by(f64::total_cmp);
    Some(Interval { low: medians[RESAMPLES / 40], high: medians[RESAMPLES - 1 - RESAMPLES / 40] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(Spread::of([]), None);
        assert_eq!(Spread::of([3.0, 1.0, 2.0]), Some(Spread { median: 2.0, min: 1.0, max: 3.0 }));
        assert_eq!(Spread::of([4.0, 1.0]).unwrap().median, 2.5);
    }

    #[test]
    fn intervals_hold_the_median_and_grow_with_the_spread() {
        assert_eq!(interval_of_median(&[1.0; 4]), None);
        assert_eq!(interval_of_median(&[2.0; 9]), Some(Interval { low: 2.0, high: 2.0 }));
        let near: Vec<f64> = (0..21).map(|at| 10.0 + f64::from(at) * 0.01).collect();
        let far: Vec<f64> = (0..21).map(f64::from).collect();
        let (near, far) = (interval_of_median(&near).unwrap(), interval_of_median(&far).unwrap());
        assert!(near.low < 10.1 && near.high > 10.1 && near.high - near.low < 0.15, "{near:?}");
        assert!(far.low < 10.0 && far.high > 10.0 && far.high - far.low > 3.0, "{far:?}");
        // One outlier does not move it.
        let mut wild = vec![1.0; 20];
        wild.push(1000.0);
        assert_eq!(interval_of_median(&wild).unwrap().high, 1.0);
    }
}
