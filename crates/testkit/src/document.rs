//! Documents that tests keep up to date.

use std::path::PathBuf;

/// Compares a document of the repository with `text`. With `FIREARROW_UPDATE_DOCS` it writes the document instead.
///
/// # Panics
/// When it is out of date, or cannot be written.
pub fn keep_document(path: &str, text: &str) {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path);
    if std::env::var_os("FIREARROW_UPDATE_DOCS").is_some() {
        std::fs::write(&file, text).unwrap_or_else(|error| panic!("{path} cannot be written: {error}"));
    }
    let current = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(current, text, "{path} is out of date; run this test with FIREARROW_UPDATE_DOCS=1");
}
