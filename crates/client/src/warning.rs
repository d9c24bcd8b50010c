//! Warnings: what users should know about a connection that works.

use crate::config::{ClearTextWarning, Config, WireCrypt};
use firearrow_proto::api::status::StatusVector;
use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Something that the user of a connection should know. Its text is for people; texts of a server may contain control
/// characters.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// Nothing on the connection is encrypted.
    ClearText {
        /// Host and port.
        server: String,
        /// Why it is so.
        reason: &'static str,
    },
    /// The engine warned of something: the gds code of each warning and its arguments.
    Server(StatusVector),
    /// This many older warnings were dropped because nobody took them.
    Dropped(u64),
}

impl Warning {
    /// The warnings of a status vector, if there are any; its errors are left out.
    pub(crate) fn of_status(status: &StatusVector) -> Option<Self> {
        status.warnings().next().map(|_| Self::Server(status.without_errors()))
    }

    /// Returns the gds codes of what the engine warned of, in order.
    pub fn gds_codes(&self) -> Vec<i32> {
        match self {
            Self::Server(status) => status.warnings().collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the SQLSTATE, of class 01 unless the engine says otherwise.
    pub fn sqlstate(&self) -> &str {
        match self {
            Self::Server(status) => status.sqlstate(),
            _ => "01000",
        }
    }

    /// Its size in memory, in bytes.
    fn weight(&self) -> usize {
        match self {
            Self::Server(status) => size_of::<Self>() + status.weight(),
            _ => size_of::<Self>(),
        }
    }

    /// Warns of a connection in clear text, unless it stays on this machine or the configuration says otherwise.
    pub(crate) fn of_clear_text(config: &Config, server: &str, peer: Option<SocketAddr>) -> Option<Self> {
        let wanted = match config.clear_text_warning {
            ClearTextWarning::Remote => !peer.is_some_and(|peer| is_loopback(peer.ip())),
            ClearTextWarning::Always => true,
            ClearTextWarning::Never => false,
        };
        let reason = match config.wire_crypt {
            WireCrypt::Disabled => "wire_crypt=disabled asks for that",
            _ => "the server offers no encryption for this login",
        };
        wanted.then(|| Self::ClearText { server: server.to_owned(), reason })
    }
}

/// Also of the form `::ffff:127.0.0.1`.
fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClearText { server, reason } => write!(
                f,
                "the connection to {server} is not encrypted ({reason}): anyone on the network path can read and \
                 change its traffic, and nothing proves which server this is; wire_crypt=required refuses such connections"
            ),
            Self::Server(status) => f.write_str(&status.lines(true).join("\n")),
            Self::Dropped(count) => write!(f, "{count} older warnings were dropped because nobody took them"),
        }
    }
}

/// Warnings of statements, kept until somebody takes them. Clones share one list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Warnings(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    warnings: VecDeque<Warning>,
    /// Bytes that they take.
    weight: usize,
    dropped: u64,
}

impl Warnings {
    /// Limits of what waits, in warnings and in bytes: many programs never take them.
    const MOST: usize = 100;
    const MOST_BYTES: usize = 256 << 10;

    /// Keeps the warnings of a call that succeeded; those of a failed one are part of its error.
    pub(crate) fn keep(&self, status: &StatusVector) {
        if status.is_error() {
            return;
        }
        let Some(warning) = Warning::of_status(status) else { return };
        tracing::warn!(codes = ?warning.gds_codes(), "a statement succeeded with a warning");
        let mut waiting = self.lock();
        waiting.weight += warning.weight();
        waiting.warnings.push_back(warning);
        while waiting.warnings.len() > Self::MOST || waiting.weight > Self::MOST_BYTES {
            let Some(oldest) = waiting.warnings.pop_front() else { break };
            waiting.weight -= oldest.weight();
            waiting.dropped += 1;
        }
    }

    pub(crate) fn take(&self) -> Vec<Warning> {
        let Waiting { warnings, dropped, .. } = mem::take(&mut *self.lock());
        let dropped = (dropped > 0).then_some(Warning::Dropped(dropped));
        dropped.into_iter().chain(warnings).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow_proto::api::gds;
    use firearrow_proto::api::status::StatusArg;

    /// What a server sends with `text` as a warning.
    fn warned(text: &str) -> StatusVector {
        StatusVector(vec![
            StatusArg::Gds(0),
            StatusArg::Warning(gds::ISC_RANDOM),
            StatusArg::Text(text.into()),
        ])
    }

    #[test]
    fn warnings_wait_until_they_are_taken() {
        let warnings = Warnings::default();
        warnings.keep(&StatusVector::default());
        warnings.keep(&StatusVector(vec![StatusArg::Gds(0)]));
        warnings.keep(&StatusVector(vec![StatusArg::Gds(gds::ISC_RANDOM), StatusArg::Text("error".into())]));
        assert_eq!(warnings.take(), []);
        for text in ["one", "two"] {
            warnings.keep(&warned(text));
        }
        let taken = warnings.take();
        assert_eq!(taken.iter().map(ToString::to_string).collect::<Vec<_>>(), ["one", "two"]);
        assert_eq!((taken[0].gds_codes(), taken[0].sqlstate()), (vec![gds::ISC_RANDOM], "01000"));
        assert_eq!(warnings.take(), []);
    }

    #[test]
    fn nobody_has_to_take_them() {
        let warnings = Warnings::default();
        for number in 0..1000 {
            warnings.keep(&warned(&number.to_string()));
        }
        let taken = warnings.take();
        assert_eq!((taken.len(), &taken[0]), (1 + Warnings::MOST, &Warning::Dropped(900)));
        assert_eq!(taken[1].to_string(), "900");
        for _ in 0..100 {
            warnings.keep(&warned(&"long".repeat(8 << 10)));
        }
        let taken = warnings.take();
        assert_eq!((taken.len(), &taken[0]), (8, &Warning::Dropped(93)));
        assert_eq!(warnings.take(), []);
    }

    fn warning(options: &str, peer: Option<&str>) -> Option<Warning> {
        let config = Config::parse(&format!("firebird://srv/x?{options}")).expect("valid");
        let peer = peer.map(|peer| peer.parse().expect("an address"));
        Warning::of_clear_text(&config, "srv:3050", peer)
    }

    #[test]
    fn clear_text_is_told_off_loopback() {
        for peer in ["127.0.0.1:3050", "127.8.9.1:1", "[::1]:3050", "[::ffff:127.0.0.1]:3050"] {
            assert_eq!(warning("", Some(peer)), None, "{peer}");
            assert!(warning("clear_text_warning=always", Some(peer)).is_some(), "{peer}");
        }
        // What is not known is not taken for safe.
        for peer in
            [Some("10.0.0.1:3050"), Some("[fe80::1]:3050"), Some("128.0.0.1:1"), Some("0.0.0.0:1"), None]
        {
            for options in ["", "wire_crypt=disabled", "clear_text_warning=remote"] {
                assert!(warning(options, peer).is_some(), "{peer:?} {options}");
            }
            assert_eq!(warning("clear_text_warning=never", peer), None);
        }
    }

    #[test]
    fn the_text_names_server_reason_and_remedy() {
        let text = |options| warning(options, None).expect("nothing is known of the peer").to_string();
        for (options, reason) in [("", "the server offers no"), ("wire_crypt=disabled", "asks for that")] {
            let text = text(options);
            for part in ["srv:3050", reason, "wire_crypt=required"] {
                assert!(text.contains(part), "{text}");
            }
        }
    }
}
