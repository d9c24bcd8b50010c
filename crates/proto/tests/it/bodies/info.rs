//! Info buffers and the descriptions in them, on any bytes.

use firearrow_proto::api::describe::{Describer, RecordCounts};
use firearrow_proto::api::info::{InfoReader, counted_strings};
use firearrow_proto::api::layout::{MAX_FIELDS, RowLayout};
use firearrow_proto::wire::packed::PackedFormat;
use std::sync::Arc;

/// Between the answers of one description.
const BORDER: &[u8] = b"\xffnext\xff";

pub(crate) fn run(data: &[u8]) {
    walk(data);
    if let Some(rows) = RecordCounts::decode(data) {
        assert!(data.contains(&23), "{rows:?} out of nothing");
    }
    for text in counted_strings(data) {
        assert!(text.len() <= 3 * data.len());
    }
    describe(data);
}

fn walk(data: &[u8]) {
    let mut reader = InfoReader::new(data);
    let mut length = 0;
    assert_eq!(reader.peek(), data.first().copied());
    for item in reader.by_ref() {
        length += 3 + item.value.len();
        assert!(length <= data.len(), "items overlap");
        assert_eq!(item.integer().is_none(), item.value.len() > 8);
    }
    assert!(reader.end().is_some());
    assert_eq!(reader.next(), None, "an end is final");
}

fn describe(mut data: &[u8]) {
    let mut describer = Describer::new();
    loop {
        let border = data.windows(BORDER.len()).position(|window| window == BORDER);
        let (answer, rest) = match border {
            Some(at) => (&data[..at], &data[at + BORDER.len()..]),
            None => (data, &[][..]),
        };
        let complete = describer.read(answer);
        let items = describer.continuation();
        assert!(matches!(items[..], [20, 2, _, _, 4 | 5, 7, .., 8]), "{items:?}");
        match complete {
            Ok(false) if border.is_some() => data = rest,
            Ok(_) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return;
            }
        }
    }
    let info = describer.finish();
    assert!(info.columns.len() <= MAX_FIELDS && info.parameters.len() <= MAX_FIELDS);
    for layout in [RowLayout::for_output(&info.columns), RowLayout::for_descriptors(&info.parameters)] {
        match layout {
            Ok(layout) => {
                assert_eq!(layout.blr().is_empty(), layout.fields().is_empty());
                let format = PackedFormat::new(Arc::new(layout));
                assert!(format.max_row_length() >= format.layout().bitmap_length());
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}
