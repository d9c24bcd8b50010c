//! RFC 4180: commas, CRLF, quotes where needed. NULL is empty and an empty text is `""`, as in PostgreSQL, so that they
//! stay distinct.

use super::cells::Columns;
use super::{Output, Sink, Style};
use crate::failure::Result;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;

pub(super) struct Csv {
    output: Output,
    /// One batch as text; reused to keep its memory.
    text: String,
    delimiter: char,
}

impl Csv {
    pub(super) fn new(schema: &SchemaRef, style: Style, mut output: Output) -> Result<Self> {
        let delimiter = style.delimiter.map_or(',', char::from);
        let mut text = String::new();
        for (index, field) in schema.fields().iter().enumerate().filter(|_| !style.bare) {
            separate(index, delimiter, &mut text);
            let start = text.len();
            text.push_str(field.name());
            quote(start, delimiter, &mut text);
        }
        if !style.bare {
            text.push_str("\r\n");
        }
        output.write_all(text.as_bytes())?;
        Ok(Self { output, text, delimiter })
    }
}

impl Sink for Csv {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = Columns::new(batch)?;
        let cells = columns.cells()?;
        self.text.clear();
        for row in 0..batch.num_rows() {
            for (index, cell) in cells.iter().enumerate() {
                separate(index, self.delimiter, &mut self.text);
                if !cell.is_null(row) {
                    let start = self.text.len();
                    cell.write(row, &mut self.text)?;
                    quote(start, self.delimiter, &mut self.text);
                }
            }
            self.text.push_str("\r\n");
        }
        Ok(self.output.write_all(self.text.as_bytes())?)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(self.output.flush()?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.output.flush()?)
    }
}

fn separate(index: usize, delimiter: char, text: &mut String) {
    if index > 0 {
        text.push(delimiter);
    }
}

/// Quotes the field that begins at `start`, if necessary.
fn quote(start: usize, delimiter: char, text: &mut String) {
    let field = &text[start..];
    if field.is_empty() || field.contains(['"', delimiter, '\r', '\n']) {
        let quoted = format!("\"{}\"", field.replace('"', "\"\""));
        text.replace_range(start.., &quoted);
    }
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn only_some_fields_need_quotes() {
        for (field, expected) in [
            ("plain text", "plain text"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("two\nlines", "\"two\nlines\""),
        ] {
            let mut text = format!("before,{field}");
            quote(7, ',', &mut text);
            assert_eq!(&text[7..], expected);
        }
        for (field, expected) in [("a,b", "a,b"), ("a;b", "\"a;b\"")] {
            let mut text = field.to_owned();
            quote(0, ';', &mut text);
            assert_eq!(text, expected);
        }
    }
}
