//! The costs of a query's phases.

use firearrow::{Connection, WireStats};
use firearrow_bench::text::{aligned, thousands, time};
use serde_json::{Map, Value, json};
use std::time::Instant;

/// Time and traffic, phase by phase.
#[derive(Debug)]
pub(crate) struct Phases {
    done: Vec<Phase>,
    since: Instant,
    before: WireStats,
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    name: &'static str,
    seconds: f64,
    wire: WireStats,
}

impl Phases {
    /// Starts before there is a connection.
    pub(crate) fn start() -> Self {
        Self { done: Vec::new(), since: Instant::now(), before: WireStats::default() }
    }

    /// Ends the phase `name`, which began with the previous call.
    pub(crate) fn end(&mut self, name: &'static str, connection: &Connection) {
        let (now, stats) = (Instant::now(), connection.wire_stats());
        let seconds = now.duration_since(self.since).as_secs_f64();
        self.done.push(Phase { name, seconds, wire: stats.since(&self.before) });
        (self.since, self.before) = (now, stats);
    }

    /// Returns a table, or one JSON object.
    pub(crate) fn text(&self, json: bool) -> String {
        let mut all: Vec<Phase> = self.done.clone();
        all.push(self.total());
        if json {
            let phases: Map<String, Value> =
                all.into_iter().map(|phase| (phase.name.replace(' ', "_"), phase.json())).collect();
            return json!({ "wire": phases }).to_string();
        }
        let head = HEAD.map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = [head].into_iter().chain(all.iter().map(Phase::cells)).collect();
        let table = aligned(&rows, 1);
        format!("{}{}", self.encryption(), table.trim_end())
    }

    /// Says whether others can read the traffic. An engine in this process has none.
    fn encryption(&self) -> &'static str {
        match self.total().wire {
            wire if wire.wire_bytes_sent == 0 => "",
            wire if wire.encrypted => "the connection is encrypted\n",
            _ => "the connection is not encrypted: everything was sent in clear text\n",
        }
    }

    fn total(&self) -> Phase {
        let mut total = Phase { name: "total", seconds: 0.0, wire: WireStats::default() };
        for phase in &self.done {
            total.seconds += phase.seconds;
            total.wire += phase.wire;
        }
        total
    }
}

impl Phase {
    fn cells(&self) -> Vec<String> {
        let wire = &self.wire;
        let counts = [
            wire.round_trips,
            wire.packets_sent,
            wire.packets_received,
            wire.bytes_sent,
            wire.bytes_received,
            wire.sends,
            wire.receives,
            wire.wire_bytes_sent,
            wire.wire_bytes_received,
        ];
        let mut cells = vec![self.name.to_owned(), time(self.seconds)];
        cells.extend(counts.map(thousands));
        cells
    }

    fn json(&self) -> Value {
        let wire = &self.wire;
        json!({
            "seconds": self.seconds,
            "round_trips": wire.round_trips,
            "encrypted": wire.encrypted,
            "logical": {
                "packets_sent": wire.packets_sent,
                "packets_received": wire.packets_received,
                "bytes_sent": wire.bytes_sent,
                "bytes_received": wire.bytes_received,
            },
            "physical": {
                "sends": wire.sends,
                "receives": wire.receives,
                "bytes_sent": wire.wire_bytes_sent,
                "bytes_received": wire.wire_bytes_received,
            },
        })
    }
}

/// Logical figures first, then the physical ones of the socket.
const HEAD: [&str; 11] = [
    "wire",
    "time",
    "round trips",
    "packets sent",
    "received",
    "bytes sent",
    "received",
    "writes",
    "reads",
    "bytes written",
    "read",
];
