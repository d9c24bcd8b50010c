//! Who reads the BLOBs.

use super::lengths::LONGEST_INLINE;
use super::query::{Found, Query};
use super::strategy::{INLINE_PROTOCOL, Strategy, wire_values};
use crate::error::{Error, Result};
use crate::host::Host;
use crate::reference::{Blobs, Peer};
use firearrow::config::Config;
use std::collections::BTreeMap;

/// What was measured and found, by name.
type Values = BTreeMap<String, f64>;

/// Somebody who reads a result.
pub(crate) enum Contestant<'a> {
    Ours(Strategy),
    Library(&'a Peer, Blobs),
}

impl<'a> Contestant<'a> {
    /// Those that say something about a query on a server of this protocol.
    pub(crate) fn all(
        query: Query,
        protocol: Option<u16>,
        inline: &[u32],
        peer: Option<&'a Peer>,
    ) -> Vec<Self> {
        let ours = Strategy::of(query, protocol, inline).into_iter().map(Self::Ours);
        let library =
            |peer| library(query, protocol).into_iter().map(move |blobs| Self::Library(peer, blobs));
        ours.chain(peer.into_iter().flat_map(library)).collect()
    }
}

impl Contestant<'_> {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Ours(strategy) => strategy.name(),
            Self::Library(_, Blobs::Read | Blobs::Inline(0)) => "libfbclient, one by one".to_owned(),
            Self::Library(_, Blobs::Inline(longest)) => format!("libfbclient, inline to {longest}"),
            Self::Library(_, Blobs::Unread | Blobs::Left) => "libfbclient".to_owned(),
        }
    }

    /// Takes a round trip or more for each BLOB.
    pub(crate) fn is_slow(&self, query: Query) -> bool {
        query.reads_contents()
            && matches!(
                self,
                Self::Ours(Strategy::OneByOne) | Self::Library(_, Blobs::Read | Blobs::Inline(0))
            )
    }

    /// Whether the run goes on without this contestant after such an error.
    pub(crate) fn may_fail(&self, error: &Error) -> bool {
        matches!(self, Self::Library(..)) && !matches!(error, Error::Stopped)
    }

    /// Reads a result once.
    ///
    /// # Errors
    /// Those of reading, and [`Error::Other`] if anything but `expected` was found.
    pub(crate) fn read(
        &self,
        host: &dyn Host,
        config: &Config,
        query: Query,
        sql: &str,
        expected: &Found,
    ) -> Result<Values> {
        let mut values = match self {
            Self::Ours(strategy) => {
                let (sample, found, wire) = strategy.run(host, config, query, sql)?;
                if found != *expected {
                    let (query, name) = (query.name(), self.name());
                    let text = format!(
                        "{query}, {name}: found {found:?}, not {expected:?}; the figures are withheld"
                    );
                    return Err(Error::other(text));
                }
                let mut values = named([
                    ("wall_s", sample.wall_s),
                    ("record_count", found.rows as f64),
                    ("max_id", found.max_id as f64),
                    ("content_bytes", found.bytes as f64),
                ]);
                values.extend(named(wire_values(&wire).map(|(name, value)| (name, value as f64))));
                values
            }
            Self::Library(peer, blobs) => {
                let run = peer.fetch(host, sql, *blobs)?;
                if run.rows != expected.rows {
                    return Err(Error::other(format!("{} rows, not {}", run.rows, expected.rows)));
                }
                // Its process counts rows, and looks at nothing else.
                let mut values =
                    named([("wall_s", run.execute.wall_s + run.fetch()), ("record_count", run.rows as f64)]);
                let trips = run.wire.map(|wire| wire.round_trips.saturating_sub(wire.connect_round_trips));
                values.extend(trips.map(|trips| ("roundtrips".to_owned(), trips as f64)));
                values
            }
        };
        values.insert("max_inline_blob_size".to_owned(), self.max_inline().into());
        Ok(values)
    }

    fn max_inline(&self) -> u32 {
        match self {
            Self::Ours(Strategy::Inline(longest)) | Self::Library(_, Blobs::Inline(longest)) => *longest,
            Self::Ours(Strategy::Adaptive) => LONGEST_INLINE,
            Self::Ours(_) | Self::Library(..) => 0,
        }
    }
}

/// What the client library can do with the BLOBs of a query.
fn library(query: Query, protocol: Option<u16>) -> Vec<Blobs> {
    let has_inline = protocol >= Some(INLINE_PROTOCOL);
    match (query.has_blobs(), query.reads_contents(), has_inline) {
        (false, ..) | (true, false, false) => vec![Blobs::Unread],
        (true, false, true) => vec![Blobs::Left],
        (true, true, false) => vec![Blobs::Read],
        (true, true, true) => vec![Blobs::Inline(LONGEST_INLINE), Blobs::Inline(0)],
    }
}

fn named<const N: usize>(values: [(&str, f64); N]) -> Values {
    values.map(|(name, value)| (name.to_owned(), value)).into()
}
