//! The routes to the server.

use crate::error::{Error, Result};
use crate::host::Host;
use crate::reference::{Peer, Reference, ReferenceChoice};
use firearrow::ServerInfo;
use firearrow::config::{Config, Target, WireCompression, WireCrypt};
use firearrow_wan::{Link, WanProxy};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// A route to the server.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) name: String,
    pub(crate) config: Config,
    /// The emulated link, if there is one.
    pub(crate) link: Option<Link>,
}

/// A route with its settings and contestants.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) name: String,
    pub(crate) config: Config,
    pub(crate) info: ServerInfo,
    pub(crate) reference: Reference,
    pub(crate) link: Option<Link>,
}

/// The negotiated settings between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speech {
    Plain,
    Encrypted,
    Compressed,
}

impl Route {
    /// Directly to the server.
    pub(crate) fn direct(config: &Config) -> Self {
        let is_loopback = match &config.target {
            Target::Remote { host, .. } => {
                host.eq_ignore_ascii_case("localhost")
                    || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
            }
            Target::Embedded { .. } => false,
        };
        let name = if is_loopback { "loopback" } else { "direct" };
        Self { name: name.to_owned(), config: config.clone(), link: None }
    }

    /// Over an emulated link, which exists as long as the proxy.
    pub(crate) fn emulated(config: &Config, link: Link) -> Result<(Self, WanProxy)> {
        let (config, proxy) = emulated(config, link)?;
        Ok((Self { name: "link".to_owned(), config, link: Some(link) }, proxy))
    }

    /// Connects once, to learn the negotiated settings.
    pub(crate) fn way(
        &self,
        host: &dyn Host,
        choice: &ReferenceChoice,
        change: impl FnOnce(&mut Config),
    ) -> Result<Way> {
        let mut config = self.config.clone();
        change(&mut config);
        let connection = host.open(&config)?;
        let info = connection.info()?;
        connection.close()?;
        let reference = Reference::find(choice, &config, &info);
        let name = match (&info.cipher, info.compressed) {
            (None, false) => "plain".to_owned(),
            (None, true) => "zlib".to_owned(),
            (Some(cipher), false) => cipher.clone(),
            (Some(cipher), true) => format!("zlib, {cipher}"),
        };
        Ok(Way { name, config, info, reference, link: self.link })
    }

    /// Like [`way`](Self::way), with these settings; an error if the server does not agree to them.
    pub(crate) fn speaking(&self, host: &dyn Host, choice: &ReferenceChoice, speech: Speech) -> Result<Way> {
        let way = self.way(host, choice, |config| {
            config.compress = match speech {
                Speech::Compressed => WireCompression::On,
                Speech::Encrypted | Speech::Plain => WireCompression::Off,
            };
            config.wire_crypt = match speech {
                Speech::Encrypted => WireCrypt::Enabled,
                Speech::Plain | Speech::Compressed => WireCrypt::Disabled,
            };
        })?;
        let is_so = match speech {
            Speech::Plain => true,
            Speech::Encrypted => way.info.cipher.is_some(),
            Speech::Compressed => way.info.compressed,
        };
        if is_so { Ok(way) } else { Err(Error::other("the server does not offer it")) }
    }
}

/// The configuration of connections over an emulated link, which exists as long as the proxy.
///
/// # Errors
/// [`Error::Usage`] for an engine in this process.
pub fn emulated(config: &Config, link: Link) -> Result<(Config, WanProxy)> {
    let Target::Remote { host, port, database } = &config.target else {
        return Err(Error::usage("an engine in this process needs no link"));
    };
    let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let proxy = WanProxy::start(any, format!("{host}:{port}"), link)
        .map_err(|error| Error::other(format!("the emulated link: {error}")))?;
    let address = proxy.address();
    let mut config = config.clone();
    config.target =
        Target::Remote { host: address.ip().to_string(), port: address.port(), database: database.clone() };
    Ok((config, proxy))
}

impl Way {
    pub(crate) fn peer(&self) -> Option<&Peer> {
        self.reference.peer()
    }
}

impl Speech {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Encrypted => "encrypted",
            Self::Compressed => "zlib",
        }
    }
}
