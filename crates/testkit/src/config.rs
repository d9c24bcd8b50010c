//! The settings of a private server.

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
    /// As texts, for a host of servers.
    pub(crate) fn fields(&self) -> Vec<String> {
        let accepted = self.auth_server.as_ref().map_or_else(|| ALL.to_owned(), |list| list.join(","));
        let mut fields = vec![self.wire_crypt.name().to_owned(), self.wire_compression.to_string(), accepted];
        fields.extend_from_slice(&self.extra);
        fields
    }

    /// The settings that [`fields`](Self::fields) are of.
    pub(crate) fn from_fields(fields: &[&str]) -> Option<Self> {
        let [crypt, compression, accepted, extra @ ..] = fields else { return None };
        let plugins =
            |list: &str| list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Some(Self {
            wire_crypt: WireCrypt::EACH.into_iter().find(|known| known.name() == *crypt)?,
            wire_compression: compression.parse().ok()?,
            auth_server: (*accepted != ALL).then(|| plugins(accepted)),
            extra: extra.iter().map(|&line| line.to_owned()).collect(),
        })
    }
}

impl WireCrypt {
    const EACH: [Self; 3] = [Self::Required, Self::Enabled, Self::Disabled];

    /// What `firebird.conf` calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Required => "Required",
            Self::Enabled => "Enabled",
            Self::Disabled => "Disabled",
        }
    }
}

/// In place of a list of plugins.
const ALL: &str = "*";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_arrive_as_they_were_sent() {
        let special = ServerConfig {
            wire_crypt: WireCrypt::Required,
            wire_compression: true,
            auth_server: Some(vec!["Srp".into(), "Legacy_Auth".into()]),
            extra: vec!["DefaultDbCachePages = 77".into(), "a, b".into()],
        };
        let none = ServerConfig { auth_server: Some(Vec::new()), ..ServerConfig::default() };
        for config in [special, none, ServerConfig::default()] {
            let fields = config.fields();
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            let arrived = ServerConfig::from_fields(&fields).unwrap();
            assert_eq!(format!("{arrived:?}"), format!("{config:?}"));
        }
        assert!(ServerConfig::from_fields(&["Enabled", "true"]).is_none());
    }
}
