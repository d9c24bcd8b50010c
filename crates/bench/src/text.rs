//! Figures as text for people.

use console::measure_text_width;

/// Formats rows of cells as lines: the first `names` columns are left-aligned; the others contain figures and are
/// right-aligned.
#[must_use]
pub fn aligned(rows: &[Vec<String>], names: usize) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        rows.iter().filter_map(|row| row.get(at)).map(|cell| measure_text_width(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let gap = " ".repeat(width - measure_text_width(cell));
            line += &if at < names { format!("  {cell}{gap}") } else { format!("  {gap}{cell}") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// Formats seconds with three digits, in a suitable unit: `2.35 s`, `12.3 ms`, `40.0 µs`.
#[must_use]
pub fn time(seconds: f64) -> String {
    let (value, unit) = match seconds {
        _ if seconds >= 1.0 => (seconds, "s"),
        _ if seconds >= 1e-3 => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

/// Formats the time of something small, with three digits: `2.35 µs`, `12.3 ns`. Differences may be below 0.
#[must_use]
pub fn short_time(seconds: f64) -> String {
    match seconds * 1e9 {
        value if value.abs() >= 1000.0 => time(seconds),
        value => {
            let digits = if value.abs() < 10.0 { 2 } else { usize::from(value.abs() < 100.0) };
            format!("{value:.digits$} ns")
        }
    }
}

/// Formats a count with commas: `1,000,000`.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a number of bytes in binary units: `15 B`, `12.30 MiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.2} {}", UNITS[unit])
}

/// Formats the rate of a link in bits per second: `71 Mbit/s in each direction`; `None` = unlimited.
#[must_use]
pub fn rate(rate: Option<u64>) -> String {
    let Some(rate) = rate else { return "unlimited rate".to_owned() };
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")];
    let rate = rate as f64;
    let (factor, unit) = units.into_iter().find(|(factor, _)| rate >= *factor).unwrap_or(units[3]);
    format!("{} {unit} in each direction", rate / factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_left_and_figures_right() {
        let rows = [["", "µs", "n"], ["name", "1", "10"], ["é", "100", "–"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows, 1), "         µs   n\n  name    1  10\n  é     100   –\n");
    }

    #[test]
    fn times_have_three_digits() {
        for (seconds, text) in
            [(2.345, "2.35 s"), (0.0123, "12.3 ms"), (0.5, "500 ms"), (0.000_04, "40.0 µs")]
        {
            assert_eq!(time(seconds), text);
        }
    }

    #[test]
    fn counts_have_commas_and_sizes_units() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1000, "1,000"), (100_000, "100,000"), (1_234_567, "1,234,567")]
        {
            assert_eq!(thousands(number), text);
        }
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (1_500_000, "1.43 MiB"),
            (1 << 40, "1.00 TiB"),
            (u64::MAX, "16.00 EiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn rates_have_units() {
        for (bits, text) in [
            (Some(71_000_000), "71 Mbit/s in each direction"),
            (Some(2_500_000_000), "2.5 Gbit/s in each direction"),
            (Some(1), "1 bit/s in each direction"),
            (None, "unlimited rate"),
        ] {
            assert_eq!(rate(bits), text);
        }
    }
}
