//! A thousand text BLOBs over the link.

use super::Bench;
use crate::column::Column;
use crate::contest::Contest;
use crate::error::Result;
use crate::measure::{self, Plan};
use crate::reference::Blobs;
use crate::reference::PEER;
use crate::route::Way;
use crate::sample::Sample;
use crate::table::Table;
use crate::text::thousands;
use crate::verify;
use firearrow::BatchLimits;
use firearrow::config::Config;

/// How the BLOBs of a result are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// The client requests each of them.
    Asked,
    /// The server sends short ones along with their rows.
    Inline,
    /// They are not read.
    Unread,
}

impl Policy {
    const ALL: [Self; 3] = [Self::Asked, Self::Inline, Self::Unread];

    fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked for",
            Self::Inline => "with their rows",
            Self::Unread => "never read",
        }
    }

    /// Configures firearrow.
    fn apply(self, config: &mut Config) {
        let word = match self {
            Self::Asked => "pipelined",
            Self::Inline => "inline",
            Self::Unread => "lazy",
        };
        config.read.retain(|(name, _)| name != "blobs");
        config.read.push(("blobs".to_owned(), word.to_owned()));
        config.max_inline_blob_size = Some(LONGEST);
    }

    /// Returns how the reference handles BLOBs.
    fn reference(self, protocol: Option<u16>) -> Blobs {
        match self {
            Self::Asked => Blobs::Read,
            Self::Inline => Blobs::Inline(LONGEST),
            // By default, it would send them along.
            Self::Unread if protocol >= Some(INLINE_PROTOCOL) => Blobs::Left,
            Self::Unread => Blobs::Unread,
        }
    }
}

pub(super) fn table(bench: &Bench<'_>) -> Result<Table> {
    let sql = "SELECT * FROM \"T_BLOB\"";
    let mut notes = vec![
        "time: from executing to the last content; of the link: bits received ÷ its capacity".to_owned(),
    ];
    let mut ways: Vec<(Policy, Way)> = Vec::new();
    let mut rows = 0;
    let host = bench.host();
    for policy in Policy::ALL {
        host.check()?;
        let way = bench.link.way(host, &bench.options.reference, |config| policy.apply(config))?;
        if policy == Policy::Inline && way.info.protocol < Some(INLINE_PROTOCOL) {
            notes.push(format!("{}: needs protocol {INLINE_PROTOCOL}", policy.name()));
            continue;
        }
        if policy != Policy::Unread {
            rows = verify::table(host, &way.config, "T_BLOB", sql)?.rows;
        }
        ways.push((policy, way));
    }
    let contests = ways.iter().map(|(policy, way)| {
        let ours = move || {
            let plan = Plan { config: &way.config, sql, limits: BatchLimits::default(), consume: false };
            measure::run(host, plan).map(Sample::from)
        };
        let theirs = way
            .peer()
            .map(|peer| move || peer.fetch(host, sql, policy.reference(way.info.protocol)).map(Sample::from));
        let contest = Contest::new(policy.name(), way.link, rows, ours).against(PEER, rows, theirs);
        // Takes a round trip or more for each BLOB: half a minute.
        match policy {
            Policy::Asked => contest.reference_turns(bench.options.blob_reference_repetitions.get()),
            Policy::Inline | Policy::Unread => contest,
        }
    });
    let cases = bench.stage.run("T_BLOB", contests.collect())?;
    if ways.iter().any(|(policy, way)| *policy == Policy::Asked && way.peer().is_some()) {
        let turns = bench.options.blob_reference_repetitions.get().min(bench.stage.repetitions);
        notes.push(format!(
            "asked for: the reference ran only {turns} of {} turns, because it takes long",
            bench.stage.repetitions
        ));
    }
    let title = format!(
        "Text BLOBs of about 3400 bytes, {}: {} rows, contents right, {}",
        bench.link.name,
        thousands(rows),
        bench.repetitions()
    );
    let columns = &[
        Column::Wall,
        Column::Speed,
        Column::LinkShare,
        Column::ServerCpu,
        Column::Received,
        Column::Sent,
        Column::RoundTrips,
    ];
    Ok(Table { id: "blobs-link".to_owned(), title, notes, columns, cases })
}

/// The longest BLOB that Firebird sends along.
const LONGEST: u32 = 65_535;
const INLINE_PROTOCOL: u16 = 19;
