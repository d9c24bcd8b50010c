//! The columns of tables of figures.

use super::measure::Wire;
use super::sample::Sample;
use crate::text::{short_time, size, thousands, time};
use firearrow_wan::Link;

/// What a column shows: medians of the repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Column {
    /// Elapsed time, with minimum and maximum; seconds in JSON.
    Wall,
    /// Rows per second of elapsed time.
    RowsPerSecond,
    /// Rows per second, ours ÷ reference of the same turn; faster if above 1.
    Speed,
    /// Elapsed time per row; seconds in JSON.
    Each,
    /// Elapsed time per value; seconds in JSON.
    PerCell,
    /// Elapsed time per row, reference ÷ ours of the same turn; faster if above 1.
    TimeRatio,
    /// Elapsed time per value beyond that of the reference of the same turn; seconds in JSON.
    AboveFloor,
    /// Processor time of the client; seconds in JSON.
    ClientCpu,
    /// The client's processor time per row, reference ÷ ours of the same turn; less work if above 1.
    ClientCpuRatio,
    /// Processor time of the client in user mode; seconds in JSON.
    ClientUser,
    /// The client's processor time in user mode per row, reference ÷ ours of the same turn.
    ClientUserRatio,
    /// Processor time of the server; seconds in JSON.
    ServerCpu,
    /// Elapsed time ÷ the server's processor time; 1 if the server is the bottleneck.
    WallPerServerCpu,
    /// Bits in the busier direction ÷ the link's capacity in the elapsed time.
    LinkShare,
    /// Bytes that the client received.
    Received,
    /// Bytes that the client sent.
    Sent,
    /// Writes to the socket.
    Sends,
    /// Reads from the socket.
    Receives,
    /// Round trips.
    RoundTrips,
}

impl Column {
    /// Those that one repetition has by itself.
    pub(super) const FIGURES: [Self; 14] = [
        Self::Wall,
        Self::RowsPerSecond,
        Self::Each,
        Self::PerCell,
        Self::ClientCpu,
        Self::ClientUser,
        Self::ServerCpu,
        Self::WallPerServerCpu,
        Self::LinkShare,
        Self::Received,
        Self::Sent,
        Self::Sends,
        Self::Receives,
        Self::RoundTrips,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Wall => "time",
            Self::RowsPerSecond => "rows/s",
            Self::Speed => "speed ratio",
            Self::Each => "each",
            Self::PerCell => "per value",
            Self::TimeRatio => "time ratio",
            Self::AboveFloor => "above floor",
            Self::ClientCpu => "client CPU",
            Self::ClientCpuRatio => "CPU ratio",
            Self::ClientUser => "user CPU",
            Self::ClientUserRatio => "user CPU ratio",
            Self::ServerCpu => "server CPU",
            Self::WallPerServerCpu => "time ÷ server CPU",
            Self::LinkShare => "of the link",
            Self::Received => "received",
            Self::Sent => "sent",
            Self::Sends => "sends",
            Self::Receives => "receives",
            Self::RoundTrips => "round trips",
        }
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Wall => "wall_s",
            Self::RowsPerSecond => "rows_per_second",
            Self::Speed => "speed_ratio",
            Self::Each => "each_s",
            Self::PerCell => "per_value_s",
            Self::TimeRatio => "time_ratio",
            Self::AboveFloor => "above_floor_s",
            Self::ClientCpu => "client_cpu_s",
            Self::ClientCpuRatio => "client_cpu_ratio",
            Self::ClientUser => "client_user_s",
            Self::ClientUserRatio => "client_user_ratio",
            Self::ServerCpu => "server_cpu_s",
            Self::WallPerServerCpu => "wall_per_server_cpu",
            Self::LinkShare => "link_share",
            Self::Received => "bytes_received",
            Self::Sent => "bytes_sent",
            Self::Sends => "sends",
            Self::Receives => "receives",
            Self::RoundTrips => "round_trips",
        }
    }

    /// Returns the figure of one repetition; `None` for ratios, which need two.
    pub(super) fn figure(self, sample: &Sample, link: Option<Link>) -> Option<f64> {
        let bytes = |wire: Wire| wire.bytes_received.max(wire.bytes_sent) as f64;
        let value = match self {
            Self::Wall => Some(sample.wall_s),
            Self::RowsPerSecond => Some(sample.speed()),
            Self::Each => Some(sample.wall_s / sample.rows as f64),
            Self::PerCell => sample.cells.map(|cells| sample.wall_s / cells as f64),
            Self::Speed
            | Self::TimeRatio
            | Self::AboveFloor
            | Self::ClientCpuRatio
            | Self::ClientUserRatio => None,
            Self::ClientCpu => sample.cpu_s,
            Self::ClientUser => sample.user_s,
            Self::ServerCpu => sample.server_cpu_s,
            Self::WallPerServerCpu => sample.server_cpu_s.map(|cpu| sample.wall_s / cpu),
            Self::LinkShare => sample
                .wire
                .zip(link?.rate)
                .map(|(wire, rate)| bytes(wire) * 8.0 / rate as f64 / sample.wall_s),
            Self::Received => sample.wire.map(|wire| wire.bytes_received as f64),
            Self::Sent => sample.wire.map(|wire| wire.bytes_sent as f64),
            Self::Sends => sample.sends.map(|sends| sends as f64),
            Self::Receives => sample.receives.map(|receives| receives as f64),
            Self::RoundTrips => sample.round_trips.map(|trips| trips as f64),
        };
        value.filter(|value| value.is_finite())
    }

    /// Returns how many times as good ours is as the reference of the same turn: above 1, ours is better.
    pub(super) fn ratio(self, ours: &Sample, reference: &Sample) -> Option<f64> {
        let per_row = |sample: &Sample, cpu: Option<f64>| Some(cpu? / sample.rows.max(1) as f64);
        let value = match self {
            Self::Speed | Self::TimeRatio => ours.speed() / reference.speed(),
            Self::AboveFloor => {
                let theirs = ours.rows as f64 / reference.speed();
                (ours.wall_s - theirs) / ours.cells? as f64
            }
            Self::ClientCpuRatio => per_row(reference, reference.cpu_s)? / per_row(ours, ours.cpu_s)?,
            Self::ClientUserRatio => per_row(reference, reference.user_s)? / per_row(ours, ours.user_s)?,
            _ => return None,
        };
        value.is_finite().then_some(value)
    }

    pub(super) fn ratio_only(self) -> bool {
        matches!(
            self,
            Self::Speed | Self::TimeRatio | Self::AboveFloor | Self::ClientCpuRatio | Self::ClientUserRatio
        )
    }

    pub(super) fn show(self, value: f64) -> String {
        match self {
            Self::Wall | Self::ClientCpu | Self::ClientUser | Self::ServerCpu => time(value),
            Self::RowsPerSecond | Self::Sends | Self::Receives | Self::RoundTrips => {
                thousands(value.round() as u64)
            }
            Self::Each | Self::PerCell | Self::AboveFloor => short_time(value),
            Self::Speed
            | Self::TimeRatio
            | Self::ClientCpuRatio
            | Self::ClientUserRatio
            | Self::WallPerServerCpu => {
                if value < 10.0 {
                    format!("{value:.2}")
                } else {
                    format!("{value:.1}")
                }
            }
            Self::LinkShare => format!("{:.0} %", value * 100.0),
            Self::Received | Self::Sent => size(value as u64),
        }
    }
}
