//! The settings of a private server.

use std::fmt::Write;
use std::path::Path;

/// Settings of one private server; [`Default`] suits nearly all tests.
#[derive(Clone, Debug, Default)]
pub struct ServerConfig {
    /// Whether the connection is encrypted.
    pub wire_crypt: WireCrypt,
    /// Whether clients that read the same file ask for compression. Servers compress whenever a client asks.
    pub wire_compression: bool,
    /// Accepted authentication plugins; `None` = all that there are.
    pub auth_server: Option<Vec<String>>,
    /// More lines for `firebird.conf`.
    pub extra: Vec<String>,
}

/// Firebird's `WireCrypt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WireCrypt {
    /// Encrypt or refuse.
    Required,
    /// Encrypt if the client wants to: lets both encrypted and plain tests use one server.
    #[default]
    Enabled,
    /// Never encrypt.
    Disabled,
}

impl ServerConfig {
    /// The text of `firebird.conf`.
    pub(crate) fn text(&self, port: u16, security_database: &Path) -> String {
        let all = AUTHENTICATION.join(", ");
        let accepted = self.auth_server.as_ref().map_or_else(|| all.clone(), |list| list.join(", "));
        let crypt = match self.wire_crypt {
            WireCrypt::Required => "Required",
            WireCrypt::Enabled => "Enabled",
            WireCrypt::Disabled => "Disabled",
        };
        let mut text = format!(
            "RemoteBindAddress = 127.0.0.1\n\
             RemoteServicePort = {port}\n\
             SecurityDatabase = {}\n\
             AuthServer = {accepted}\n\
             AuthClient = {all}\n\
             UserManager = Srp, Legacy_UserManager\n\
             WireCrypt = {crypt}\n\
             WireCompression = {}\n",
            security_database.display(),
            self.wire_compression,
        );
        for line in &self.extra {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

/// All authentication plugins, in the order in which clients try them. 3.0.11 accepts each of them, too.
const AUTHENTICATION: [&str; 6] = ["Srp256", "Srp", "Srp224", "Srp384", "Srp512", "Legacy_Auth"];
