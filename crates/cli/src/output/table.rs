//! Tables for people. Rows are laid out a thousand at a time to bound memory. If a column becomes wider later on, a new
//! part with its own header begins.

use super::cells::Columns;
use super::{Output, Sink, Style};
use crate::failure::Result;
use crate::terminal;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use console::{Alignment, measure_text_width, pad_str};

pub(super) struct Table {
    output: Output,
    /// Width of the terminal in columns, if there is one.
    terminal: Option<usize>,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    /// Column widths of the last part printed.
    printed: Option<Vec<usize>>,
    is_cut: bool,
    is_conversation: bool,
    /// Without names of columns.
    bare: bool,
}

struct Column {
    name: String,
    is_number: bool,
    width: usize,
}

impl Table {
    pub(super) fn new(schema: &SchemaRef, style: Style, output: Output) -> Self {
        let columns = schema.fields().iter().map(|field| {
            let name = terminal::line(field.name()).into_owned();
            let width = if style.bare { 0 } else { measure_text_width(&name) };
            Column { width, name, is_number: field.data_type().is_numeric() }
        });
        let columns = columns.collect();
        let Style { width: terminal, is_conversation, bare, .. } = style;
        let (rows, printed, is_cut) = (Vec::new(), None, false);
        Self { output, terminal, columns, rows, printed, is_cut, is_conversation, bare }
    }

    /// Prints the collected rows.
    fn print(&mut self) -> Result<()> {
        for row in &self.rows {
            for (column, cell) in self.columns.iter_mut().zip(row) {
                column.width = column.width.max(measure_text_width(cell));
            }
        }
        let (widths, fits) = self.widths();
        self.is_cut |= !fits;
        let mut text = String::new();
        if self.printed.as_ref() != Some(&widths) && !self.bare {
            if self.printed.is_some() {
                text.push('\n');
            }
            let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
            let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            self.line(&names, &widths, &mut text);
            self.line(&rules, &widths, &mut text);
        }
        for row in &self.rows {
            self.line(row, &widths, &mut text);
        }
        self.printed = Some(widths);
        self.rows.clear();
        Ok(self.output.write_all(text.as_bytes())?)
    }

    /// Appends a line; columns beyond `widths` are left out.
    fn line<S: AsRef<str>>(&self, cells: &[S], widths: &[usize], text: &mut String) {
        let start = text.len();
        for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
            let alignment = if self.columns[index].is_number { Alignment::Right } else { Alignment::Left };
            text.push_str(if index > 0 { GAP } else { "" });
            text.push_str(&pad_str(cell.as_ref(), *width, alignment, Some("…")));
        }
        if widths.len() < self.columns.len() {
            text.push_str(" …");
        }
        text.truncate(start + text[start..].trim_end_matches(' ').len());
        text.push('\n');
    }

    /// Returns the widths of the columns to print, and whether nothing is cut. On a terminal, long texts are cut first,
    /// then the last columns are left out; numbers are never cut.
    fn widths(&self) -> (Vec<usize>, bool) {
        let full: Vec<usize> = self.columns.iter().map(|column| column.width).collect();
        let Some(terminal) = self.terminal else { return (full, true) };
        let limited = |limit: usize| -> Vec<usize> {
            let columns = self.columns.iter();
            columns
                .map(|column| if column.is_number { column.width } else { column.width.min(limit) })
                .collect()
        };
        let total =
            |widths: &[usize]| widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1);
        if total(&full) <= terminal {
            return (full, true);
        }
        let widest = full.iter().copied().max().unwrap_or(0);
        if let Some(limit) = (NARROWEST..widest).rev().find(|limit| total(&limited(*limit)) <= terminal) {
            return (limited(limit), false);
        }
        let mut widths = limited(NARROWEST);
        // Two columns are for the mark that columns are missing.
        while widths.len() > 1 && total(&widths) + 2 > terminal {
            widths.pop();
        }
        (widths, false)
    }
}

impl Sink for Table {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = Columns::new(batch)?;
        let cells = columns.cells()?;
        for row in 0..batch.num_rows() {
            let mut line = Vec::with_capacity(cells.len());
            for cell in &cells {
                let mut text = String::new();
                match cell.is_null(row) {
                    true => text.push_str("NULL"),
                    false => cell.write(row, &mut text)?,
                }
                line.push(terminal::line(&text).into_owned());
            }
            self.rows.push(line);
            if self.rows.len() >= ROWS_OF_A_PART {
                self.print()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.printed.is_none() || !self.rows.is_empty() {
            self.print()?;
        }
        self.output.flush()?;
        if self.is_cut {
            terminal::remark(match self.is_conversation {
                true => "The table is cut to the terminal's width; \\x shows everything.",
                false => {
                    "The table is cut to the terminal's width; --format expanded, csv or json, or -o FILE, shows everything."
                }
            });
        }
        Ok(())
    }
}

const ROWS_OF_A_PART: usize = 1000;
const GAP: &str = "  ";
/// Minimum width of a cut text column.
const NARROWEST: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use std::sync::{Arc, Mutex, PoisonError};

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Memory {
        fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(data);
            Ok(data.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn render(terminal: Option<usize>) -> String {
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(7), None, Some(-1200)]));
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["a\tb", "\u{1b}[31m", "twenty characters ok"]));
        let batch = RecordBatch::try_from_iter([("N", numbers), ("TEXT", texts.clone()), ("MORE", texts)]);
        let memory = Memory::default();
        let batch = batch.unwrap();
        let mut table = Box::new(Table::new(
            &batch.schema(),
            Style { width: terminal, ..Style::default() },
            Box::new(memory.clone()),
        ));
        table.write(&batch).unwrap();
        table.finish().unwrap();
        let bytes = memory.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn numbers_are_right_aligned_and_control_characters_harmless() {
        let expected = "    N  TEXT                  MORE\n\
                        ─────  ────────────────────  ────────────────────\n    \
                        7  a\\tb                  a\\tb\n \
                        NULL  \\u{1b}[31m            \\u{1b}[31m\n\
                        -1200  twenty characters ok  twenty characters ok\n";
        assert_eq!(render(None), expected);
    }

    #[test]
    fn a_terminal_gets_no_longer_lines_than_it_is_wide() {
        for width in [80, 40, 30, 20, 10] {
            let text = render(Some(width));
            assert!(text.lines().all(|line| measure_text_width(line) <= width), "{width}:\n{text}");
            assert!(text.contains("-1200"));
        }
        assert!(render(Some(40)).contains("twenty charact…  twenty charact…\n"));
        let text = render(Some(20));
        assert!(text.lines().all(|line| line.ends_with('…')), "{text}");
    }
}
