//! Where a host is, and the word that it wants to hear.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::str::FromStr;

/// The address of a [`Host`](crate::Host), and a secret: whoever knows it can run programs there, by isql for
/// example. Other users of the machine see the port, but not the environment of our programs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    pub(crate) socket: SocketAddr,
    secret: u128,
}

impl HostAddress {
    /// With a fresh secret.
    pub(crate) fn fresh(socket: SocketAddr) -> Self {
        // Each state has random keys from the system.
        let half = || u128::from(RandomState::new().hash_one(socket));
        Self { socket, secret: half() << 64 | half() }
    }

    /// The secret as requests begin with it.
    pub(crate) fn secret(&self) -> String {
        format!("{:032x}", self.secret)
    }
}

/// `127.0.0.1:1234/secret`
impl fmt::Display for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.socket, self.secret())
    }
}

/// Without the secret.
impl fmt::Debug for HostAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.fmt(f)
    }
}

impl FromStr for HostAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (socket, secret) = text.split_once('/').ok_or("there is no secret after the address")?;
        let socket = socket.parse().map_err(|_| "the address is none")?;
        let secret = u128::from_str_radix(secret, 16).map_err(|_| "the secret is none")?;
        Ok(Self { socket, secret })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_back_and_secrets_differ() {
        let socket = "127.0.0.1:1234".parse().unwrap();
        let [one, other] = [HostAddress::fresh(socket), HostAddress::fresh(socket)];
        assert_eq!(one.to_string().parse(), Ok(one));
        assert_ne!(one.secret(), other.secret());
        assert!(!format!("{one:?}").contains(&one.secret()));
        assert!("127.0.0.1:1234".parse::<HostAddress>().is_err());
    }
}
