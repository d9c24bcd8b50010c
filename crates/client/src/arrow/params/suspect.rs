//! Finds the parameter that the engine has refused: the engine reports the error, but not the parameter.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow::util::display::array_value_to_string;
use firearrow_proto::api::descriptor::{Descriptor, charset_id};
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::value::CivilDate;

/// Bytes per UTF8 character in a description.
const UTF8_WIDTH: u32 = 4;
/// Texts that the engine accepts as dates and times.
const MOMENTS: [&str; 4] = ["now", "today", "tomorrow", "yesterday"];

/// Whether a value was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suspicion {
    /// The engine cannot accept it.
    Sure,
    /// The engine may have refused it.
    Possible,
}

/// Returns the 0-based parameter of this row that an engine error with this SQLSTATE and text is about: the value that the
/// text quotes, the first one that the engine cannot accept, or the only one that may be the cause.
pub(crate) fn suspect(
    parameters: &[Descriptor],
    batch: &RecordBatch,
    row: usize,
    sqlstate: &str,
    message: &str,
) -> Option<usize> {
    let fields = RowLayout::for_descriptors(parameters).ok()?;
    let columns = parameters.iter().zip(fields.fields()).zip(batch.columns());
    let suspicions = columns.map(|((parameter, field), array)| {
        if row >= array.len() || array.is_null(row) {
            return None;
        }
        let is_text = is_text(array.data_type());
        match sqlstate {
            "22001" => is_too_long(parameter, field.kind, array, row),
            "22003" => is_beyond(field.kind, field.scale.into(), array, row),
            // These codes concern only dates and times.
            "22007" | "22008" if matches!(field.kind, FieldKind::Text(_) | FieldKind::Varying(_)) => None,
            "22018" | "22007" | "22008" if is_text => {
                let text = array_value_to_string(array, row).ok()?;
                is_no_value(field.kind, text.trim())
            }
            _ => None,
        }
    });
    let found: Vec<(usize, Suspicion)> =
        suspicions.enumerate().filter_map(|(at, suspicion)| Some((at, suspicion?))).collect();
    let quoted: Vec<usize> =
        (0..batch.num_columns()).filter(|at| is_quoted(message, batch.column(*at), row)).collect();
    if !quoted.is_empty() {
        return of_quoted(&quoted, &found, fields.fields());
    }
    let sure = found.iter().find(|(_, suspicion)| *suspicion == Suspicion::Sure);
    match (sure, found.as_slice()) {
        (Some(&(parameter, _)), _) | (None, &[(parameter, _)]) => Some(parameter),
        _ => None,
    }
}

/// Returns the parameter that was refused of those whose values are the quoted text: the first that cannot take it; `None`
/// if it could be several.
fn of_quoted(quoted: &[usize], found: &[(usize, Suspicion)], fields: &[FieldLayout]) -> Option<usize> {
    let suspected = |suspicion| quoted.iter().filter(move |at| found.contains(&(**at, suspicion)));
    if let Some(parameter) = suspected(Suspicion::Sure).next() {
        return Some(*parameter);
    }
    // A column of texts may have the same one, and keep it.
    let is_kept = |at: &&usize| {
        fields.get(**at).is_some_and(|field| matches!(field.kind, FieldKind::Text(_) | FieldKind::Varying(_)))
    };
    let only = |mut candidates: Vec<&usize>| candidates.pop().filter(|_| candidates.is_empty()).copied();
    only(suspected(Suspicion::Possible).collect())
        .or_else(|| only(quoted.iter().filter(|at| !is_kept(at)).collect()))
        .or_else(|| only(quoted.iter().collect()))
}

/// Whether the engine's text quotes this value: it converts values in an order of its own.
fn is_quoted(message: &str, array: &dyn Array, row: usize) -> bool {
    is_text(array.data_type())
        && row < array.len()
        && !array.is_null(row)
        && array_value_to_string(array, row)
            .is_ok_and(|text| message.contains(&format!("conversion error from string \"{text}\"")))
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::RunEndEncoded(_, values) => is_text(values.data_type()),
        other => matches!(other, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}

/// Whether text or bytes are longer than declared. Trailing blanks do not count.
fn is_too_long(parameter: &Descriptor, kind: FieldKind, array: &dyn Array, row: usize) -> Option<Suspicion> {
    if !matches!(kind, FieldKind::Text(_) | FieldKind::Varying(_)) {
        return None;
    }
    let bytes = match array.data_type() {
        DataType::Binary => Some(array.as_binary::<i32>().value(row).len()),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(row).len()),
        DataType::BinaryView => Some(array.as_binary_view().value(row).len()),
        DataType::FixedSizeBinary(size) => usize::try_from(*size).ok(),
        _ => None,
    };
    let text = array_value_to_string(array, row).unwrap_or_default();
    let text = text.trim_end_matches(' ');
    let is_long = match (bytes, parameter.sub_type as u8) {
        (Some(bytes), _) => bytes > parameter.length as usize,
        (None, charset_id::UTF8) => text.chars().count() > (parameter.length / UTF8_WIDTH) as usize,
        // In a code page, its characters may take less room than in UTF-8.
        (None, charset_id::NONE) if text.chars().count() <= parameter.length as usize => {
            return (text.len() > parameter.length as usize).then_some(Suspicion::Possible);
        }
        (None, _) => text.len() > parameter.length as usize,
    };
    is_long.then_some(Suspicion::Sure)
}

/// Whether a number is out of range for an integer, including the integers that store NUMERIC.
fn is_beyond(kind: FieldKind, scale: i32, array: &dyn Array, row: usize) -> Option<Suspicion> {
    let bits = match kind {
        FieldKind::Short => 15,
        FieldKind::Long => 31,
        FieldKind::Int64 => 63,
        FieldKind::Int128 => 127,
        // The largest float is slightly less.
        FieldKind::Float => 128,
        _ => return None,
    };
    let text = array_value_to_string(array, row).ok()?;
    let unscaled = text.trim().parse::<f64>().ok()? * 10_f64.powi(-scale);
    (unscaled.abs() >= 2_f64.powi(bits)).then_some(Suspicion::Sure)
}

/// Whether a text is not a value of this kind.
fn is_no_value(kind: FieldKind, text: &str) -> Option<Suspicion> {
    use FieldKind::*;
    let is_refused = match kind {
        Short | Long | Int64 | Int128 | Float | Double | Dec16 | Dec34 => text.parse::<f64>().is_err(),
        Boolean => !["true", "false", "unknown"].iter().any(|word| text.eq_ignore_ascii_case(word)),
        Date | Time | Timestamp | TimeTz | TimeTzEx | TimestampTz | TimestampTzEx => {
            if MOMENTS.iter().any(|word| text.eq_ignore_ascii_case(word)) || is_day(text) {
                return None;
            }
            if text.bytes().any(|byte| byte.is_ascii_digit()) {
                // The engine accepts dates in many forms.
                return Some(Suspicion::Possible);
            }
            true
        }
        // The character set of the column may lack one of its characters.
        Text(_) | Varying(_) if !text.is_ascii() => return Some(Suspicion::Possible),
        _ => false,
    };
    is_refused.then_some(Suspicion::Sure)
}

/// Whether a text begins with a calendar date in ISO 8601 form.
fn is_day(text: &str) -> bool {
    let mut numbers = text.get(..10).unwrap_or_default().split('-').map(str::parse::<u32>);
    let (Some(Ok(year)), Some(Ok(month)), Some(Ok(day))) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return false;
    };
    i32::try_from(year).is_ok_and(|year| CivilDate { year, month, day }.to_date().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Decimal128Array, Int32Array, StringArray};
    use firearrow_proto::api::descriptor::SqlType;
    use std::sync::Arc;

    fn parameter(sql_type: SqlType, length: u32, scale: i32) -> Descriptor {
        let sub_type = if sql_type == SqlType::VARYING { i32::from(charset_id::UTF8) } else { 0 };
        Descriptor { sql_type, length, scale, sub_type, ..Descriptor::default() }
    }

    #[test]
    fn the_value_that_cannot_be_is_found() {
        let parameters = [
            parameter(SqlType::VARYING, 12, 0),
            parameter(SqlType::SHORT, 2, 0),
            parameter(SqlType::LONG, 4, -2),
            parameter(SqlType::DATE, 4, 0),
        ];
        let texts = |values: [&str; 2]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
        let decimals = Decimal128Array::from(vec![100, 2_147_483_648])
            .with_precision_and_scale(20, 2)
            .expect("they fit");
        let batch = |dates| {
            let columns: [(&str, ArrayRef); 4] = [
                ("a", texts(["äöü  ", "äöüß"])),
                ("b", Arc::new(Int32Array::from(vec![32_767, -32_769]))),
                ("c", Arc::new(decimals.clone())),
                ("d", texts(dates)),
            ];
            RecordBatch::try_from_iter(columns).expect("equal lengths")
        };
        let rows = batch(["2020-01-01", "2020-13-01"]);
        for (sqlstate, expected) in
            [("22001", Some(0)), ("22003", Some(1)), ("22018", None), ("22007", None), ("23000", None)]
        {
            let rows = rows.project(&[0, 1, 2]).expect("columns");
            // A text with characters that its character set may lack.
            let possible = (sqlstate == "22018").then_some(0);
            let suspect = |row| suspect(&parameters[..3], &rows, row, sqlstate, "");
            assert_eq!(suspect(0), possible, "{sqlstate}");
            assert_eq!(suspect(1), expected.or(possible), "{sqlstate}");
        }
        // The only candidate.
        assert_eq!(
            suspect(&parameters[3..], &rows.project(&[3]).expect("a column"), 1, "22007", ""),
            Some(0)
        );
        assert_eq!(suspect(&parameters, &batch(["", "never"]), 1, "22018", ""), Some(3));
        // The one that is quoted, also if it might be a number.
        let numbers = [parameter(SqlType::LONG, 4, 0), parameter(SqlType::LONG, 4, 0)];
        let columns: [(&str, ArrayRef); 2] = [("a", texts(["x", "x"])), ("b", texts(["y", "NaN"]))];
        let rows_of_texts = RecordBatch::try_from_iter(columns).expect("equal lengths");
        for (row, value, expected) in [(0, "y", 1), (0, "x", 0), (1, "NaN", 1), (1, "z", 0)] {
            let text = format!("conversion error from string \"{value}\"");
            assert_eq!(suspect(&numbers, &rows_of_texts, row, "22018", &text), Some(expected), "{value}");
        }
        let parameters_of_texts = [parameter(SqlType::VARYING, 12, 0), parameter(SqlType::LONG, 4, 0)];
        let columns: [(&str, ArrayRef); 2] = [("a", texts(["x", "x"])), ("b", texts(["x", "1"]))];
        let twins = RecordBatch::try_from_iter(columns).expect("equal lengths");
        let text = "conversion error from string \"x\"";
        assert_eq!(suspect(&parameters_of_texts, &twins, 0, "22018", text), Some(1));
        assert_eq!(suspect(&parameters_of_texts, &twins, 1, "22018", text), Some(0));
        assert_eq!(suspect(&parameters, &rows, 9, "22001", ""), None);
        // Other columns have the same text, and can convert it.
        let kinds = [SqlType::LONG, SqlType::BOOLEAN, SqlType::LONG, SqlType::DATE];
        let parameters = kinds.map(|sql_type| parameter(sql_type, 4, 0));
        let same = |texts_of: [&str; 4]| {
            let columns = ["a", "b", "c", "d"].into_iter().zip(texts_of);
            RecordBatch::try_from_iter(columns.map(|(name, text)| (name, texts([text, text])))).expect("rows")
        };
        for (values, value, expected) in [
            (["1", "1", "2", "2020-01-01"], "1", Some(1)),
            (["3", "true", "3", "3"], "3", Some(3)),
            (["NaN", "true", "NaN", "2020-01-01"], "NaN", None),
        ] {
            let text = format!("conversion error from string \"{value}\"");
            assert_eq!(suspect(&parameters, &same(values), 0, "22018", &text), expected, "{values:?}");
        }
    }
}
