//! The emulated link.

use std::io;
use std::time::Duration;

/// A link between the clients of a proxy and its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// How long a byte and its answer take together: each direction takes half of it.
    pub round_trip: Duration,
    /// Bits per second in each direction, for all connections together; `None` means no limit.
    pub rate: Option<u64>,
    /// How many bytes may be in transit in one direction of a connection. At that limit, the proxy stops reading until
    /// an eighth is delivered. This is the queue of a bottleneck: the fuller it is, the longer a later byte waits.
    pub buffer: usize,
}

impl Link {
    /// A longer round trip is more likely a wrong unit than a real link.
    pub const MAX_ROUND_TRIP: Duration = Duration::from_secs(3600);

    /// Creates a link with a buffer that never lets the line run dry: what the link carries in two round trips, and at
    /// least 256 KiB. Without a rate it is 64 MiB.
    pub fn new(round_trip: Duration, rate: Option<u64>) -> Self {
        let buffer = match rate {
            Some(rate) => {
                let bytes = u128::from(rate) * round_trip.as_nanos() * 2 / BIT_NANOSECONDS_PER_BYTE;
                usize::try_from(bytes).unwrap_or(usize::MAX).max(SMALLEST_BUFFER)
            }
            None => UNLIMITED_BUFFER,
        };
        Self { round_trip, rate, buffer }
    }

    pub(crate) fn check(&self) -> io::Result<()> {
        let wrong = |text| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        match self {
            Self { rate: Some(0), .. } => wrong("a link cannot have a rate of 0"),
            Self { buffer: 0, .. } => wrong("a link cannot have a buffer of 0 bytes"),
            Self { round_trip, .. } if *round_trip > Self::MAX_ROUND_TRIP => {
                wrong("a link cannot have a round trip of more than an hour")
            }
            _ => Ok(()),
        }
    }
}

/// Converts bytes to the nanoseconds that they take at one bit per second, and back.
pub(crate) const BIT_NANOSECONDS_PER_BYTE: u128 = 8 * 1_000_000_000;
const SMALLEST_BUFFER: usize = 256 * 1024;
/// Enough for 10 Gbit/s and a round trip of 100 ms; memory is used only for bytes in transit.
const UNLIMITED_BUFFER: usize = 64 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_holds_two_round_trips() {
        for (milliseconds, rate, expected) in [
            (12, Some(71_000_000), 256 * 1024),
            (100, Some(71_000_000), 1_775_000),
            (0, Some(1), 256 * 1024),
            (100, None, 64 * 1024 * 1024),
            (3_600_000, Some(u64::MAX), usize::MAX),
        ] {
            assert_eq!(Link::new(Duration::from_millis(milliseconds), rate).buffer, expected);
        }
    }

    #[test]
    fn impossible_links_are_refused() {
        let link = Link::new(Duration::ZERO, Some(1));
        link.check().unwrap();
        Link { rate: Some(0), ..link }.check().unwrap_err();
        Link { buffer: 0, ..link }.check().unwrap_err();
        Link { round_trip: Duration::MAX, ..link }.check().unwrap_err();
    }
}
