//! Figures below each other.

use console::measure_text_width;

/// Rows of cells as lines: the first `names` columns to the left, the others, which are figures, to the right.
pub(crate) fn aligned(rows: &[Vec<String>], names: usize) -> String {
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

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn names_stand_left_and_figures_right() {
        let rows = [["", "µs", "n"], ["name", "1", "10"], ["é", "100", "–"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows, 1), "         µs   n\n  name    1  10\n  é     100   –\n");
    }
}
