//! How the contents of BLOBs travel.

use super::lengths::LONGEST_INLINE;
use super::query::{Found, Query};
use crate::error::Result;
use crate::host::Host;
use crate::sample::Sample;
use arrow::array::AsArray;
use arrow::datatypes::UInt64Type;
use firearrow::config::Config;
use firearrow::{Isolation, Params, TransactionOptions, WireStats};
use std::io::Read;
use std::time::Instant;

/// How firearrow reads BLOBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strategy {
    /// Each after its row, when somebody asks for it: one request opens it and reads its beginning.
    OneByOne,
    /// All of a batch are requested together.
    Pipelined,
    /// The server sends those of up to so many bytes along with their rows.
    Inline(u32),
    /// What firearrow does by itself.
    Adaptive,
}

impl Strategy {
    pub(crate) fn name(self) -> String {
        match self {
            Self::OneByOne => "firearrow, one by one".to_owned(),
            Self::Pipelined => "firearrow, pipelined".to_owned(),
            Self::Inline(longest) => format!("firearrow, inline to {longest}"),
            Self::Adaptive => firearrow_report::OURS.to_owned(),
        }
    }

    /// Those that say something about a query on a server of this protocol.
    pub(crate) fn of(query: Query, protocol: Option<u16>, inline: &[u32]) -> Vec<Self> {
        if !query.has_blobs() {
            return vec![Self::Adaptive];
        }
        let has_inline = protocol >= Some(INLINE_PROTOCOL);
        let inline = inline.iter().filter(|_| has_inline).map(|longest| Self::Inline(*longest));
        match query.reads_contents() {
            true => [Self::Adaptive, Self::Pipelined, Self::OneByOne].into_iter().chain(inline).collect(),
            // What is sent along is sent in vain.
            false => std::iter::once(Self::OneByOne).chain(inline).collect(),
        }
    }

    /// The connection for it.
    pub(crate) fn config(self, config: &Config) -> Config {
        let mut config = config.clone();
        let word = match self {
            Self::OneByOne => "lazy",
            Self::Pipelined => "pipelined",
            Self::Inline(_) => "inline",
            Self::Adaptive => "adaptive",
        };
        config.read.retain(|(name, _)| name != "blobs");
        config.read.push(("blobs".to_owned(), word.to_owned()));
        config.max_inline_blob_size = Some(match self {
            Self::OneByOne | Self::Pipelined => 0,
            Self::Inline(longest) => longest,
            Self::Adaptive => LONGEST_INLINE,
        });
        config
    }

    /// Reads a result once, on a new connection. The time is that from preparing to the last content.
    pub(crate) fn run(
        self,
        host: &dyn Host,
        config: &Config,
        query: Query,
        sql: &str,
    ) -> Result<(Sample, Found, WireStats)> {
        let config = match query.reads_contents() {
            true => self.config(config),
            // Their ids are enough, and firearrow would ask for the contents.
            false => {
                let mut config = self.config(config);
                config.read.retain(|(name, _)| name != "blobs");
                config.read.push(("blobs".to_owned(), "lazy".to_owned()));
                config
            }
        };
        let connection = host.open(&config)?;
        let before = connection.wire_stats();
        let options = TransactionOptions::reading().isolation(match connection.has_firebird4() {
            true => Isolation::ReadCommittedReadConsistency,
            false => Isolation::ReadCommittedRecordVersion,
        });
        let started = Instant::now();
        // It starts with the first request, as that of `Connection::query` does.
        let transaction = connection.begin_lazy(options)?;
        let statement = transaction.prepare(sql)?;
        let mut cursor = statement.query(&transaction, Params::none())?;
        let mut batches = Vec::new();
        let mut contents: Vec<Vec<u8>> = Vec::new();
        let is_lazy = self == Self::OneByOne || !query.reads_contents();
        while let Some(batch) = cursor.next_batch()? {
            if is_lazy && query.reads_contents() {
                for column in &batch.columns()[1..] {
                    // A column of VARCHAR has its contents already.
                    for id in column.as_primitive_opt::<UInt64Type>().into_iter().flatten().flatten() {
                        let mut content = Vec::new();
                        cursor.open_blob(id)?.read_to_end(&mut content)?;
                        contents.push(content);
                    }
                }
            }
            batches.push(batch);
        }
        let wall_s = started.elapsed().as_secs_f64();
        let wire = connection.wire_stats().since(&before);
        drop(cursor);
        drop(statement);
        transaction.commit()?;
        connection.close()?;
        // Adding up is not what is measured.
        let mut found = Found::default();
        for batch in &batches {
            if is_lazy { found.lazy(batch, query.reads_contents()) } else { found.batch(batch) }
        }
        contents.iter().for_each(|content| found.content(content));
        let sample = Sample { rows: found.rows, wall_s, ..Sample::default() };
        Ok((sample, found, wire))
    }
}

/// From this protocol on servers send BLOBs along with their rows.
pub(crate) const INLINE_PROTOCOL: u16 = 19;

/// The statistics that the article prints, under its names.
pub(crate) fn wire_values(stats: &WireStats) -> [(&'static str, u64); 9] {
    [
        ("roundtrips", stats.round_trips),
        ("logical_send_packets", stats.packets_sent),
        ("logical_recv_packets", stats.packets_received),
        ("logical_send_bytes", stats.bytes_sent),
        ("logical_recv_bytes", stats.bytes_received),
        ("physical_send_packets", stats.sends),
        ("physical_recv_packets", stats.receives),
        ("physical_send_bytes", stats.wire_bytes_sent),
        ("physical_recv_bytes", stats.wire_bytes_received),
    ]
}
