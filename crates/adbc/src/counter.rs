//! The counters of a statement's last execution, as options.

use firearrow_driver::Progress;

/// Returns the value of an option; `None` if it is not a counter or not known yet.
pub(crate) fn counter(progress: &Progress, key: &str) -> Option<String> {
    if let Some(key) = key.strip_prefix("adbc.firebird.records.") {
        return record(progress, key);
    }
    let count = match key {
        "adbc.statement.exec.progress" | "adbc.firebird.stats.rows" => {
            progress.rows_given() + progress.rows_taken()
        }
        "adbc.firebird.stats.batches" => progress.batches(),
        "adbc.firebird.stats.bytes_received" => progress.bytes_received(),
        "adbc.firebird.stats.roundtrips" => progress.round_trips(),
        "adbc.firebird.stats.fetch_ns" => return Some(progress.reading().as_nanos().to_string()),
        "adbc.firebird.stats.decode_ns" => return Some(progress.decoding().as_nanos().to_string()),
        "adbc.statement.exec.max_progress" => return Some("-1".into()),
        _ => return None,
    };
    Some(count.to_string())
}

fn record(progress: &Progress, key: &str) -> Option<String> {
    let counts = progress.records();
    let count = match key {
        "selected" => counts.map_or_else(|| progress.rows_given(), |counts| counts.selected),
        "inserted" => counts?.inserted,
        "updated" => counts?.updated,
        "deleted" => counts?.deleted,
        _ => return None,
    };
    Some(count.to_string())
}
