//! Values as text, with the unit that their names end with.

/// Formats a value: `wall_s` as a time, `received_bytes` as a size, anything else as a number.
#[must_use]
pub fn show(name: &str, value: f64) -> String {
    let rest = |unit: &str| number(value) + unit;
    if name == "bytes_per_s" {
        size(value) + "/s"
    } else if name.ends_with("_bit_per_s") {
        scaled(value, &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")])
    } else if name.ends_with("_per_s") || name.ends_with("_per_second") {
        rest("/s")
    } else if name.ends_with("_per_min") {
        rest("/min")
    } else if name.ends_with("_s") || name.starts_with("seconds_") {
        scaled(value, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")])
    } else if name.ends_with("_ms") {
        scaled(value, &[(1e3, "s"), (1.0, "ms"), (1e-3, "µs")])
    } else if name.ends_with("_us") {
        scaled(value, &[(1e6, "s"), (1e3, "ms"), (1.0, "µs")])
    } else if name.ends_with("bytes") || name.starts_with("bytes_") {
        size(value)
    } else if name.ends_with("_share") {
        format!("{} %", digits(value * 100.0))
    } else {
        number(value)
    }
}

/// Whether a name says what the unit is.
pub(crate) fn is_known(name: &str) -> bool {
    show(name, 1.0) != "1"
}

/// Whether a name says that the value counts something: as a word of its own, as in `round_trips` and `rows`.
pub(crate) fn is_count(name: &str) -> bool {
    const COUNTED: [&str; 16] = [
        "rows",
        "count",
        "trips",
        "roundtrips",
        "packets",
        "sends",
        "receives",
        "retries",
        "errors",
        "refused",
        "committed",
        "operation",
        "operations",
        "reads",
        "fetches",
        "backlog",
    ];
    name.split('_').any(|word| COUNTED.contains(&word)) && !name.contains("difference")
}

/// Which values of a kind are the better ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Better {
    /// Times, traffic, work.
    Less,
    /// Rates.
    More,
}

impl Better {
    /// Which values of this name are better; `None` for those that only say what was done, such as `rows`.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
        let words = |words: &[&str]| name.split('_').any(|word| words.contains(&word));
        if ends(&["_per_s", "_per_second", "_per_min"]) {
            return Some(Self::More);
        }
        if words(&["since", "size", "content", "cache", "share"]) {
            return None;
        }
        let is_less = ends(&["_s", "_us", "_bytes", "_packets", "_per_operation", "trips"])
            || name.starts_with("bytes_")
            || words(&["roundtrips", "sends", "receives", "retries", "errors", "refused"]);
        is_less.then_some(Self::Less)
    }

    /// What a chart says of it.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Less => "less is better",
            Self::More => "more is better",
        }
    }
}

fn size(bytes: f64) -> String {
    const KI: f64 = 1024.0;
    scaled(bytes, &[(KI * KI * KI, "GiB"), (KI * KI, "MiB"), (KI, "KiB"), (1.0, "B")])
}

/// Formats a value of an axis that reaches up to `most`, so that neighbours differ.
#[cfg(feature = "pages")]
pub(crate) fn tick(name: &str, value: f64, most: f64) -> String {
    match most {
        _ if is_known(name) || value == 0.0 => show(name, value),
        most if most >= 100.0 => show(name, value),
        most => {
            let places = (2.0 - most.max(1e-12).log10().floor()).clamp(0.0, 12.0) as usize;
            format!("{value:.places$}")
        }
    }
}

/// What a column or an axis is called: the name without underscores; the values show the unit.
pub(crate) fn title(name: &str) -> String {
    if name == "wall_s" {
        return "elapsed".to_owned();
    }
    if let Some(rate) = name.strip_suffix("_bit_per_s") {
        return rate.replace('_', " ");
    }
    let suffixes = ["_us", "_ms", "_s", "_bytes"];
    let is_rate = name.ends_with("_per_s");
    let name =
        suffixes.iter().filter(|_| !is_rate).find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    name.replace('_', " ")
}

/// Three digits, in the largest unit of which there is at least one.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fits = units.iter().find(|(factor, _)| value.abs() >= *factor);
    match fits.or(units.last()) {
        Some((factor, unit)) if value != 0.0 => format!("{} {unit}", digits(value / factor)),
        _ => "0".to_owned(),
    }
}

fn digits(value: f64) -> String {
    let places = match value.abs() {
        x if x >= 99.95 => 0,
        x if x >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.places$}")
}

/// Three digits, or a whole number with its thousands apart.
fn number(value: f64) -> String {
    if value.abs() < 100.0 {
        let text = digits(value);
        return match text.contains('.') {
            true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
            false => text,
        };
    }
    let whole = format!("{:.0}", value.abs());
    let mut text = if value < 0.0 { "-".to_owned() } else { String::new() };
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide_the_unit() {
        assert_eq!(show("wall_s", 0.001_234), "1.23 ms");
        assert_eq!(show("wall_s", 12.0), "12.0 s");
        assert_eq!(show("p99_us", 1500.0), "1.50 ms");
        assert_eq!(show("received_bytes", 3_200_000.0), "3.05 MiB");
        assert_eq!(show("rows_per_s", 1_234_567.0), "1,234,567/s");
        assert_eq!(show("bytes_sent", 1024.0), "1.00 KiB");
        assert_eq!(show("rows_per_second", 5.0), "5/s");
        assert_eq!(show("round_trips", 26.0), "26");
        assert_eq!(show("link_share", 0.07), "7.00 %");
        assert_eq!(show("link_rate_bit_per_s", 71e6), "71.0 Mbit/s");
        assert_eq!(show("link_round_trip_ms", 12.5), "12.5 ms");
        assert_eq!(
            ["link_rate_bit_per_s", "link_round_trip_ms"].map(title),
            ["link rate", "link round trip"]
        );
        assert_eq!(show("bytes_per_s", 2_097_152.0), "2.00 MiB/s");
        assert_eq!(show("wall_s", 0.0), "0");
        assert_eq!(show("left", -1234.0), "-1,234");
    }

    #[test]
    #[cfg(feature = "pages")]
    fn neighbours_on_an_axis_differ() {
        let ticks = [0.0, 0.002, 0.004, 0.006].map(|value| tick("reads", value, 0.007));
        assert_eq!(ticks, ["0", "0.00200", "0.00400", "0.00600"]);
        assert_eq!(tick("operations_per_s", 1500.0, 2000.0), "1,500/s");
        assert_eq!(tick("trips", 5.0, 9.0), "5.00");
    }

    #[test]
    fn names_say_what_is_counted() {
        for count in ["rows", "round_trips", "roundtrips", "record_count", "page_reads_per_operation"] {
            assert!(is_count(count), "{count}");
        }
        for other in ["difference", "difference_of_rows", "max_id", "left", "x"] {
            assert!(!is_count(other), "{other}");
        }
    }

    #[test]
    fn names_decide_what_is_better() {
        for less in
            ["wall_s", "p99.9_us", "peak_rss_bytes", "bytes_sent", "round_trips", "roundtrips", "retries"]
        {
            assert_eq!(Better::of(less), Some(Better::Less), "{less}");
        }
        for more in ["operations_per_s", "rows_per_second", "new_orders_per_min", "bytes_per_s"] {
            assert_eq!(Better::of(more), Some(Better::More), "{more}");
        }
        assert_eq!(Better::of("page_reads_per_operation"), Some(Better::Less));
        for neither in ["rows", "size_bytes", "content_bytes", "since_the_start_s", "link_share", "max_id"] {
            assert_eq!(Better::of(neither), None, "{neither}");
        }
    }

    #[test]
    fn columns_are_named_without_their_unit() {
        assert_eq!(title("wall_s"), "elapsed");
        let names = ["client_cpu_s", "operations_per_s", "p99.9_us", "bytes_sent"].map(title);
        assert_eq!(names, ["client cpu", "operations per s", "p99.9", "bytes sent"]);
    }
}
