//! Every repetition as CSV.

use crate::record::Record;
use std::collections::BTreeSet;

/// Formats every repetition as CSV, with a header and a column for each value's name.
#[must_use]
pub fn csv(records: &[Record]) -> String {
    let names: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| record.samples.iter().flat_map(|sample| sample.values.keys().map(String::as_str)))
        .collect();
    let mut text = "record,benchmark,table,case,contestant,repetition".to_owned();
    for name in &names {
        text += &format!(",{}", quoted(name));
    }
    text += "\r\n";
    for (number, record) in records.iter().enumerate() {
        for sample in &record.samples {
            let first = [&record.head.benchmark, &sample.table, &sample.case, &sample.contestant];
            let first: Vec<String> = first.iter().map(|text| quoted(text)).collect();
            text += &format!("{},{},{}", number + 1, first.join(","), sample.repetition);
            for name in &names {
                let value = sample.values.get(*name).map_or_else(String::new, f64::to_string);
                text += &format!(",{value}");
            }
            text += "\r\n";
        }
    }
    text
}

/// A field. Spreadsheets must not take it for a formula.
fn quoted(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    match text.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::record;

    #[test]
    fn names_are_no_formulas() {
        let mut record = record();
        record.samples[0].case = "=1+1 | <b>\n# x".into();
        assert!(csv(&[record]).contains(",\"'=1+1 | <b>\n# x\","));
    }

    #[test]
    fn csv_has_every_repetition() {
        let mut record = record();
        record.samples[0].case = "a, \"b\"".into();
        let text = csv(&[record]);
        let lines: Vec<&str> = text.split("\r\n").collect();
        assert_eq!(lines[0], "record,benchmark,table,case,contestant,repetition,rows,wall_s");
        assert_eq!(lines[1], "1,demo,t,\"a, \"\"b\"\"\",rival,1,10,2");
        assert_eq!(lines.len(), 1 + 15 + 1);
    }
}
