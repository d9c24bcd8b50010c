//! The tables of a record.

use super::subject::Subject;
use super::turns::CLAIMED_ROWS;
use crate::text::thousands;
use firearrow_report::{Chart, TableHead};

/// The table of a subject.
pub(super) fn head(subject: &Subject, block: usize, is_firebird: bool) -> TableHead {
    let mut notes = vec![
        "Time: from executing to the last row, on a new connection. Every cell is hashed within the time, \
         except in Python, where all rows are fetched first and hashed afterwards, and except where rows are only counted."
            .to_owned(),
        format!("Blocks have {} rows. CPU: of the contestant's process, in all phases; the engine's as well if it is embedded.", thousands(block as u64)),
    ];
    if is_firebird {
        notes.push(
            "firearrow: its ADBC driver. The client library makes nothing of its rows: it is the floor. It is a new process in \
             every repetition, while the others are warm."
                .to_owned(),
        );
    }
    let mut columns = vec!["wall_s", "rows_per_s", "drain_s", "client_cpu_s", "client_cpu_per_cell_s"];
    if subject.is_empty {
        notes.push(format!(
            "The control: there is no row. A benchmark that does not count its rows, and divides this time by the {} that it \
             believes to have read, reports the column \"wall per claimed row\".",
            thousands(CLAIMED_ROWS as u64)
        ));
        columns = vec!["wall_s", "wall_per_claimed_row_s", "client_cpu_s"];
    }
    columns.extend([
        "server_cpu_s",
        "peak_rss_bytes",
        "connect_s",
        "execute_s",
        "bind_s",
        "release_s",
        "round_trips",
        "bytes_received",
    ]);
    let charts = match subject.is_empty {
        true => vec![Chart::bars("Executing, and finding no row", "wall_s")],
        false => vec![
            Chart::bars("From executing to the last row", "wall_s"),
            Chart::bars("Processor time of the client", "client_cpu_s"),
        ],
    };
    TableHead {
        id: subject.id.to_owned(),
        title: subject.title.clone(),
        notes,
        columns: columns.into_iter().map(str::to_owned).collect(),
        charts,
    }
}

/// A line for everybody who is missing: of all `subjects`, or of some, which it names.
pub(super) fn missing(all: &[(&str, &str, String)], subjects: usize) -> Vec<String> {
    let mut lines: Vec<(Vec<&str>, &str, &str)> = Vec::new();
    for (subject, name, reason) in all {
        match lines.iter_mut().find(|(_, known, why)| known == name && why == reason) {
            Some((of, ..)) => of.push(subject),
            None => lines.push((vec![subject], name, reason)),
        }
    }
    let line = |(of, name, reason): (Vec<&str>, &str, &str)| match of.len() == subjects {
        true => format!("{name}: {reason}"),
        false => format!("{name}, {}: {reason}", of.join(", ")),
    };
    lines.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn who_is_missing_everywhere_is_named_once() {
        let all =
            [("wide", "a", "gone"), ("wide", "b", "wrong"), ("blobs", "a", "gone"), ("blobs", "b", "slow")];
        let all = all.map(|(subject, name, reason)| (subject, name, reason.to_owned()));
        assert_eq!(missing(&all, 2), ["a: gone", "b, wide: wrong", "b, blobs: slow"]);
    }
}
