//! Settings that are fine one by one, but not together.

use super::options::set_read;
use super::{Config, ConfigError, Target};
use crate::arrow::ReadOptions;
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::crypt::CipherKind;
use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::version::ProtocolVersion;

impl Config {
    /// Whether the settings fit together. Parsing has asked already; ask again after changing fields.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.target.database().is_empty() {
            return Err(ConfigError::MissingDatabase);
        }
        if self.create_if_missing && self.overwrite {
            // An attach that failed for another reason must not end with the old database replaced.
            return Err(ConfigError::Conflict(
                "create_if_missing keeps a database that exists, overwrite replaces it; remove one of the two",
            ));
        }
        self.read_options()?;
        match &self.target {
            Target::Remote { .. } => self.check_remote(),
            Target::Embedded { .. } => Ok(()),
        }
    }

    /// The type mapping that connections start with.
    pub(crate) fn read_options(&self) -> Result<ReadOptions, ConfigError> {
        let mut read = ReadOptions::default();
        for (name, value) in &self.read {
            set_read(&mut read, name, value)?;
        }
        Ok(read)
    }

    /// Whether a connection without encryption is of no use: that was said, or a cipher was named.
    pub(crate) fn must_encrypt(&self) -> bool {
        match self.wire_crypt {
            WireCrypt::Required => true,
            WireCrypt::Enabled => !self.ciphers.is_empty(),
            WireCrypt::Disabled => false,
        }
    }

    fn check_remote(&self) -> Result<(), ConfigError> {
        let conflict = |text| Err(ConfigError::Conflict(text));
        if self.server_mode.is_some() {
            return conflict(
                "server_mode is for the embedded engine; a server has its own configuration, so remove it",
            );
        }
        if self.engine_config.is_some() {
            // Silence would be dangerous: people write WireCrypt=Required here.
            return conflict(
                "config is for the embedded engine; for a server use wire_crypt, wire_compress and auth_plugins",
            );
        }
        if self.auth_plugins.is_empty() {
            return conflict("no authentication plugin is left; remove auth_plugins or add Srp256");
        }
        let offered = |number| ProtocolVersion::new(number).is_some();
        if self.protocol.is_empty() || !offered(*self.protocol.start()) || !offered(*self.protocol.end()) {
            return conflict("no protocol version is left to offer; remove protocol");
        }
        if self.wire_crypt == WireCrypt::Disabled && !self.ciphers.is_empty() {
            return conflict(
                "wire_crypt=disabled and a cipher in wire_crypt_plugin exclude each other; remove one of the two",
            );
        }
        if !self.must_encrypt() {
            return Ok(());
        }
        if !self.auth_plugins.iter().copied().any(AuthPlugin::has_session_key) {
            return conflict(
                "wire_crypt=required or a cipher in wire_crypt_plugin cannot work with Legacy_Auth alone, which gives no \
                 key; add Srp256 or Srp to auth_plugins",
            );
        }
        let has_iv = ProtocolVersion::new(*self.protocol.end()).is_some_and(ProtocolVersion::has_cipher_iv);
        if !self.ciphers.is_empty()
            && !self.ciphers.iter().any(|cipher| has_iv || !CipherKind::needs_iv(*cipher))
        {
            return conflict(
                "none of the ciphers asked for works with these protocol versions; remove protocol or wire_crypt_plugin: \
                 below version 16 there is Arc4 only",
            );
        }
        Ok(())
    }
}
