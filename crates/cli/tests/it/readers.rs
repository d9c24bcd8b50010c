//! Reads what the command wrote, as far as possible with code that is not its own.

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fs::File;
use std::io::Cursor;
use std::path::Path;

/// Rows as texts; `None` is NULL.
pub(crate) type Rows = Vec<Vec<Option<String>>>;

pub(crate) fn arrow_stream(bytes: &[u8]) -> RecordBatch {
    let reader = StreamReader::try_new(Cursor::new(bytes), None).unwrap();
    let schema = reader.schema();
    concat_batches(&schema, &reader.collect::<Result<Vec<_>, _>>().unwrap()).unwrap()
}

pub(crate) fn arrow_file(path: &Path) -> RecordBatch {
    let reader = FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    let schema = reader.schema();
    concat_batches(&schema, &reader.collect::<Result<Vec<_>, _>>().unwrap()).unwrap()
}

pub(crate) fn parquet_file(path: &Path) -> RecordBatch {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = builder.schema().clone();
    concat_batches(&schema, &builder.build().unwrap().collect::<Result<Vec<_>, _>>().unwrap()).unwrap()
}

/// Names of columns, and the values of a batch as Arrow shows them.
pub(crate) fn shown(batch: &RecordBatch) -> (Vec<String>, Rows) {
    let names = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    let options = FormatOptions::default();
    let columns = batch.columns().iter();
    let formatters: Vec<_> =
        columns.map(|column| (column, ArrayFormatter::try_new(column, &options).unwrap())).collect();
    let cell = |row| {
        let cells = formatters.iter();
        cells
            .map(|(column, formatter)| column.is_valid(row).then(|| formatter.value(row).to_string()))
            .collect()
    };
    (names, (0..batch.num_rows()).map(cell).collect())
}

/// The csv crate cannot tell an empty field from an empty text, so neither can these rows.
pub(crate) fn csv(bytes: &[u8]) -> (Vec<String>, Rows) {
    let mut reader = csv::Reader::from_reader(bytes);
    let names = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let record = |record: csv::Result<csv::StringRecord>| {
        let record = record.unwrap();
        record.iter().map(|field| (!field.is_empty()).then(|| field.to_owned())).collect()
    };
    (names, reader.records().map(record).collect())
}

/// Numbers and booleans as texts.
pub(crate) fn json(bytes: &[u8]) -> (Vec<String>, Rows) {
    let mut names = Vec::new();
    let rows = std::str::from_utf8(bytes).unwrap().lines().map(|line| {
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        // The map is sorted; the text is not.
        let mut keys: Vec<String> = object.keys().cloned().collect();
        keys.sort_by_key(|key| line.find(&format!("\"{key}\":")));
        let cells = keys.iter().map(|key| match &object[key] {
            serde_json::Value::Null => None,
            serde_json::Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        });
        let cells = cells.collect();
        names = keys;
        cells
    });
    let rows = rows.collect();
    (names, rows)
}

/// As `assert_eq`, but shows no more than the first difference.
#[track_caller]
pub(crate) fn assert_same(left: &(Vec<String>, Rows), right: &(Vec<String>, Rows)) {
    assert_eq!(left.0, right.0);
    assert_eq!(left.1.len(), right.1.len());
    for (row, (left, right)) in left.1.iter().zip(&right.1).enumerate() {
        assert_eq!(left, right, "row {row}");
    }
}

/// As [`csv`] sees them.
pub(crate) fn without_empty_texts(rows: Rows) -> Rows {
    let row =
        |row: Vec<Option<String>>| row.into_iter().map(|cell| cell.filter(|text| !text.is_empty())).collect();
    rows.into_iter().map(row).collect()
}
