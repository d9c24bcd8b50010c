//! Rows for people, a line for each value: for rows that are wider than the terminal.

use super::cells::Columns;
use super::{Output, Sink};
use crate::failure::Result;
use crate::terminal;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use console::{measure_text_width, pad_str};

pub(super) struct Expanded {
    output: Output,
    names: Vec<String>,
    rows: u64,
}

impl Expanded {
    pub(super) fn new(schema: &SchemaRef, output: Output) -> Self {
        let names: Vec<String> =
            schema.fields().iter().map(|field| terminal::line(field.name()).into_owned()).collect();
        let width = names.iter().map(|name| measure_text_width(name)).max().unwrap_or(0);
        let names =
            names.iter().map(|name| pad_str(name, width, console::Alignment::Left, None).into_owned());
        Self { output, names: names.collect(), rows: 0 }
    }
}

impl Sink for Expanded {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = Columns::new(batch)?;
        let cells = columns.cells()?;
        let width = self.names.first().map_or(0, |name| measure_text_width(name));
        for row in 0..batch.num_rows() {
            self.rows += 1;
            let mut text = format!("── row {} ──\n", self.rows);
            for (name, cell) in self.names.iter().zip(&cells) {
                let mut value = String::new();
                match cell.is_null(row) {
                    true => value.push_str("NULL"),
                    false => cell.write(row, &mut value)?,
                }
                // The lines of a text stay lines, one below the other.
                let mut lines = value.split('\n').map(terminal::line);
                let first = lines.next().unwrap_or_default();
                text.push_str(format!("{name}  {first}").trim_end_matches(' '));
                text.push('\n');
                for line in lines {
                    text.push_str(format!("{:width$}  {line}", "").trim_end_matches(' '));
                    text.push('\n');
                }
            }
            self.output.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.output.flush()?)
    }
}
