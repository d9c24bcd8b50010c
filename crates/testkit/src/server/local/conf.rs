//! The text of `firebird.conf`.

use std::fmt::Write;
use std::path::Path;

use crate::ServerConfig;

/// Writes the settings of a server.
pub(super) fn text(config: &ServerConfig, port: u16, security_database: &Path) -> String {
    let all = AUTHENTICATION.join(", ");
    let accepted = config.auth_server.as_ref().map_or_else(|| all.clone(), |list| list.join(", "));
    let mut text = format!(
        "RemoteBindAddress = 127.0.0.1\n\
         RemoteServicePort = {port}\n\
         SecurityDatabase = {}\n\
         AuthServer = {accepted}\n\
         AuthClient = {all}\n\
         UserManager = Srp, Legacy_UserManager\n\
         WireCrypt = {}\n\
         WireCompression = {}\n",
        security_database.display(),
        config.wire_crypt.name(),
        config.wire_compression,
    );
    for line in &config.extra {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// All authentication plugins, in the order in which clients try them. 3.0.11 accepts each of them, too.
const AUTHENTICATION: [&str; 6] = ["Srp256", "Srp", "Srp224", "Srp384", "Srp512", "Legacy_Auth"];
