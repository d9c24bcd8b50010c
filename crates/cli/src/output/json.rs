//! One JSON object per line.
//!
//! Nothing is rounded: decimals are strings, because most readers turn numbers into doubles. Infinities are strings,
//! too, because JSON has no numbers for them. Binary data is hexadecimal.

use super::cells::Columns;
use super::{Output, Sink};
use crate::failure::Result;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use std::collections::{HashMap, HashSet};

pub(super) struct Json {
    output: Output,
    columns: Vec<Column>,
    /// One batch as text; reused to keep its memory.
    text: String,
}

struct Column {
    /// `"NAME":`
    key: String,
    shape: Shape,
}

/// How the text of a value becomes JSON.
#[derive(Clone, Copy)]
pub(super) enum Shape {
    /// The text is valid JSON.
    Plain,
    /// The text is valid JSON unless it is infinite or NaN.
    Float,
    /// The text needs quotes but no escapes.
    Quoted,
    /// The text needs quotes and may need escapes.
    Text,
}

impl Json {
    pub(super) fn new(schema: &SchemaRef, output: Output) -> Self {
        let names = unique(schema.fields().iter().map(|field| field.name().as_str()));
        let columns = names.iter().zip(schema.fields()).map(|(name, field)| Column {
            key: format!("{}:", serde_json::Value::from(name.as_str())),
            shape: shape(field.data_type()),
        });
        Self { output, columns: columns.collect(), text: String::new() }
    }
}

impl Sink for Json {
    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = Columns::new(batch)?;
        let cells = columns.cells()?;
        let text = &mut self.text;
        text.clear();
        let mut value = String::new();
        for row in 0..batch.num_rows() {
            for (index, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
                text.push(if index == 0 { '{' } else { ',' });
                text.push_str(&column.key);
                if cell.is_null(row) {
                    text.push_str("null");
                    continue;
                }
                value.clear();
                cell.write(row, &mut value)?;
                push(column.shape, &value, text)?;
            }
            text.push_str("}\n");
        }
        Ok(self.output.write_all(text.as_bytes())?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.output.flush()?)
    }
}

/// Appends a value that is not NULL.
pub(super) fn push(shape: Shape, value: &str, text: &mut String) -> Result<()> {
    match (shape, value) {
        (Shape::Float, "inf") => text.push_str("\"Infinity\""),
        (Shape::Float, "-inf") => text.push_str("\"-Infinity\""),
        (Shape::Float, "NaN") | (Shape::Quoted, _) => {
            text.push('"');
            text.push_str(value);
            text.push('"');
        }
        (Shape::Plain | Shape::Float, _) => text.push_str(value),
        (Shape::Text, _) => text.push_str(&serde_json::to_string(value)?),
    }
    Ok(())
}

/// Returns the JSON form of values of this type.
pub(super) fn shape(data_type: &DataType) -> Shape {
    match data_type {
        DataType::Boolean | DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::List(_) => {
            Shape::Plain
        }
        DataType::Float32 | DataType::Float64 => Shape::Float,
        DataType::Decimal128(..) | DataType::Decimal256(..) => Shape::Quoted,
        _ => Shape::Text,
    }
}

/// Makes names unique. SQL allows columns to share a name, but the members of a JSON object should not: the second `A`
/// becomes `A_2`.
fn unique<'a>(names: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let given: HashSet<&str> = names.clone().collect();
    // The next number for each name. A number taken by another name is skipped only once.
    let mut next: HashMap<&str, usize> = HashMap::new();
    let mut numbered = |name: &'a str| match next.get_mut(name) {
        None => {
            next.insert(name, 2);
            name.to_owned()
        }
        Some(number) => loop {
            let candidate = format!("{name}_{number}");
            *number += 1;
            // Generated names differ from each other, so only a given name can collide.
            if !given.contains(candidate.as_str()) {
                return candidate;
            }
        },
    };
    names.map(&mut numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn names_become_unique() {
        assert_eq!(unique(["A", "B", "A", "A", "A_2"].into_iter()), ["A", "B", "A_3", "A_4", "A_2"]);
    }

    /// Trying every number for each column would take hours.
    #[test]
    fn many_columns_of_one_name_are_numbered_at_once() {
        const COUNT: usize = 200_000;
        let begin = Instant::now();
        let names = unique(std::iter::repeat_n("A", COUNT));
        assert_eq!((names[0].as_str(), names[1].as_str()), ("A", "A_2"));
        assert_eq!(names[COUNT - 1], format!("A_{COUNT}"));
        // The same, where half of the numbers are taken.
        let taken: Vec<String> = (2..=COUNT).map(|number| format!("A_{number}")).collect();
        let all = taken.iter().map(String::as_str).chain(std::iter::repeat_n("A", COUNT));
        let names = unique(all);
        assert_eq!(names[COUNT], format!("A_{}", COUNT + 1));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
    }

    #[test]
    fn values_are_exact() {
        for (shape, value, expected) in [
            (Shape::Plain, "9223372036854775807", "9223372036854775807"),
            (Shape::Float, "1e300", "1e300"),
            (Shape::Float, "-inf", "\"-Infinity\""),
            (Shape::Quoted, "0.10", "\"0.10\""),
            (Shape::Text, "a\"\n\u{1}", "\"a\\\"\\n\\u0001\""),
        ] {
            let mut text = String::new();
            push(shape, value, &mut text).unwrap();
            assert_eq!(text, expected);
        }
    }
}
