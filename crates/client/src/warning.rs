//! What the user of a connection should know although it works.

use crate::config::{ClearTextWarning, Config, WireCrypt};
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// Something about a connection that its user should know. Its text is for people; texts of a server may have control
/// characters in them.
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
    /// A line of the server's, about attaching the database.
    Server(String),
}

impl Warning {
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
            Self::Server(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
