//! `firearrow wan-proxy`

use crate::args::WanArgs;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::output;
use crate::terminal;
use firearrow_bench::text::{self, size, thousands};
use firearrow_wan::{Link, Totals, WanProxy};
use serde_json::json;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::thread;
use std::time::Duration;

/// Runs until Ctrl-C or `--timeout`, and ends with the exit status of either.
pub(crate) fn run(args: &WanArgs, json: bool) -> Result<()> {
    let link = Link::new(args.rtt.0, args.rate.0);
    let show = |text: String| if json { output::print_data(&text) } else { output::print(&text) };
    let report = |problem: &firearrow_wan::Problem| terminal::remark(&format!("error: {problem}"));
    let proxy = WanProxy::start_with(args.listen, &*args.target, link, report)
        .map_err(|error| Failure::other(error.to_string()))?;
    interrupt::expected();
    show(begin(proxy.address(), args, &link, json))?;
    let stopped = loop {
        match interrupt::check() {
            Ok(()) => thread::sleep(POLL),
            Err(stopped) => break stopped,
        }
    };
    show(end(proxy.totals(), json))?;
    Err(stopped)
}

fn begin(address: SocketAddr, args: &WanArgs, link: &Link, json: bool) -> String {
    if json {
        let value = json!({
            "address": address.to_string(),
            "port": address.port(),
            "target": args.target,
            "round_trip_s": link.round_trip.as_secs_f64(),
            "rate_bit_per_s": link.rate,
            "buffer_bytes": link.buffer,
        });
        format!("{value}\n")
    } else {
        format!("{address} leads to {}: round trip {:?}, {}\n", args.target, link.round_trip, args.rate)
    }
}

fn end(totals: Totals, json: bool) -> String {
    let Totals { connections, up, down } = totals;
    if json {
        format!("{}\n", json!({ "connections": connections, "bytes_up": up, "bytes_down": down }))
    } else {
        format!("connections: {}, up: {}, down: {}\n", thousands(connections), size(up), size(down))
    }
}

/// Parses a host and a port; the host is resolved later.
pub(crate) fn target(text: &str) -> Result<String, String> {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port != 0) => {
            Ok(text.to_owned())
        }
        _ => Err("expected a host and a port, such as db:3050 or [::1]:3050".to_owned()),
    }
}

/// The value of `--rtt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RoundTrip(pub(crate) Duration);

impl FromStr for RoundTrip {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = number_and_unit(text).and_then(|(number, unit)| {
            let unit_in_seconds = match unit {
                "us" => 1e-6,
                "ms" => 1e-3,
                "s" => 1.0,
                _ => return None,
            };
            Duration::try_from_secs_f64(number * unit_in_seconds).ok()
        });
        match time {
            Some(time) if time <= Link::MAX_ROUND_TRIP => Ok(Self(time)),
            Some(_) => Err(format!("a round trip cannot exceed {} s", Link::MAX_ROUND_TRIP.as_secs())),
            None => Err("expected a number with us, ms or s, such as 12.5ms".to_owned()),
        }
    }
}

/// The value of `--rate`: bits per second, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(pub(crate) Option<u64>);

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "unlimited" {
            return Ok(Self(None));
        }
        let rate = number_and_unit(text).and_then(|(number, unit)| {
            // No supported unit begins with milli, so the case of M does not matter.
            let factor = match unit.to_ascii_lowercase().as_str() {
                "" | "bit" => 1.0,
                "kbit" => 1e3,
                "mbit" => 1e6,
                "gbit" => 1e9,
                _ => return None,
            };
            Some((number * factor).round())
        });
        match rate {
            Some(rate) if (1.0..=MAX_RATE).contains(&rate) => Ok(Self(Some(rate as u64))),
            Some(_) => Err("a rate is between 1 bit/s and 1000 Gbit/s, or unlimited".to_owned()),
            None => Err("a number of bit/s, a number and kbit, Mbit or Gbit, such as 71Mbit, or unlimited \
                         is needed"
                .to_owned()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::rate(self.0))
    }
}

/// Splits `12.5ms` into number and unit. Only digits and a point form a number: no sign, no exponent.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim_start()))
}

/// How soon Ctrl-C is noticed.
const POLL: Duration = Duration::from_millis(50);
const MAX_RATE: f64 = 1e12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_have_a_unit() {
        for (text, microseconds) in [
            ("12.5ms", 12_500),
            ("12.5 ms", 12_500),
            ("80us", 80),
            (".5s", 500_000),
            ("0ms", 0),
            ("3600s", 3_600_000_000),
        ] {
            assert_eq!(text.parse(), Ok(RoundTrip(Duration::from_micros(microseconds))), "{text}");
        }
        for text in ["", "12.5", "ms", "-1ms", "1e3ms", "1.2.3ms", ".ms", "1min", "1MS", "infs", "NaNms"] {
            let error = text.parse::<RoundTrip>().unwrap_err();
            assert!(error.contains("us, ms or s"), "{text}: {error}");
        }
        for text in ["3601s", "99999999999999999999s"] {
            assert!(text.parse::<RoundTrip>().is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_bits_per_second() {
        for (text, rate) in [
            ("71Mbit", 71_000_000),
            ("71 mbit", 71_000_000),
            ("0.5Gbit", 500_000_000),
            ("512kbit", 512_000),
            ("9600", 9600),
            ("9600bit", 9600),
            ("1000Gbit", 1_000_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Rate(Some(rate))), "{text}");
        }
        assert_eq!("unlimited".parse(), Ok(Rate(None)));
        for text in ["", "Mbit", "71MB", "71M", "71Mbit/s", "-1", "1e6", "inf", "none"] {
            let error = text.parse::<Rate>().unwrap_err();
            assert!(error.contains("kbit, Mbit or Gbit") && error.contains("unlimited"), "{text}: {error}");
        }
        for text in ["0", "0.4", "1001Gbit"] {
            assert!(text.parse::<Rate>().unwrap_err().contains("between"), "{text}");
        }
    }

    #[test]
    fn rates_are_shown_as_they_are_written() {
        for (text, shown) in [
            ("71Mbit", "71 Mbit/s in each direction"),
            ("2.5Gbit", "2.5 Gbit/s in each direction"),
            ("1", "1 bit/s in each direction"),
            ("unlimited", "unlimited rate"),
        ] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn a_target_has_a_port() {
        for text in ["db:3050", "127.0.0.1:3050", "[::1]:3050"] {
            assert_eq!(target(text), Ok(text.to_owned()));
        }
        for text in ["db", "db:", ":3050", "db:0", "db:65536", "db:gds_db", ""] {
            assert!(target(text).unwrap_err().contains("db:3050"), "{text}");
        }
    }
}
