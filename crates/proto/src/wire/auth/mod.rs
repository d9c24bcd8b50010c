//! Authentication: proving who the user is.
//!
//! ```text
//!  Srp*         client ── A ───────────► server     public key of this login
//!               client ◄─ salt, B ────── server     the account's salt and the server's public key
//!               client ── M1 ──────────► server     proof; both sides now share the session key
//!  Legacy_Auth  client ── DES hash ────► server     no key, so nothing to encrypt the connection with
//! ```
//!
//! The server sends no proof of its own (there is no M2). Encryption proves its identity instead: only a server that
//! knows the account's verifier has the session key, so only such a server can send an answer to `op_crypt` that
//! decrypts. Without encryption, nothing protects against an impostor.

pub mod legacy;
pub mod srp;

/// The authentication plugins that this client supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AuthPlugin {
    /// SRP with a SHA-512 proof.
    Srp512,
    /// SRP with a SHA-384 proof.
    Srp384,
    /// SRP with a SHA-256 proof, the default of Firebird 4 and later.
    Srp256,
    /// SRP with a SHA-224 proof.
    Srp224,
    /// SRP with a SHA-1 proof, the default of Firebird 3.
    Srp,
    /// The DES hash of Firebird 2.5 and earlier.
    Legacy,
}

impl AuthPlugin {
    /// All plugins, strongest first.
    pub const ALL: [Self; 6] =
        [Self::Srp512, Self::Srp384, Self::Srp256, Self::Srp224, Self::Srp, Self::Legacy];

    /// The name used in packets and configuration files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Srp512 => "Srp512",
            Self::Srp384 => "Srp384",
            Self::Srp256 => "Srp256",
            Self::Srp224 => "Srp224",
            Self::Srp => "Srp",
            Self::Legacy => "Legacy_Auth",
        }
    }

    /// The plugin of this exact name; servers compare case, too.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|plugin| plugin.name() == name)
    }

    /// Whether a login produces the key that wire encryption needs.
    pub const fn has_session_key(self) -> bool {
        !matches!(self, Self::Legacy)
    }
}

/// Returns the account that a login names: the name that the server looks up and SRP hashes.
///
/// Folds plain SQL names to upper case and keeps anything else. Strips quotes; double quotes keep the case.
/// (`dpbItemUpper` of src/common/utils.cpp, Firebird 3.0 to 6.0.)
pub fn account_name(login: &str) -> Result<String, AuthError> {
    let Some(quote @ ('"' | '\'')) = login.chars().next() else {
        return Ok(if is_symbol(login) { login.to_ascii_uppercase() } else { login.to_owned() });
    };
    let mut name = String::with_capacity(login.len());
    // As in the server, a name with a doubled quote can still be a symbol.
    let mut symbol = true;
    let mut chars = login.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == quote {
            match chars.next() {
                None if symbol && quote == '\'' => return Ok(name.to_ascii_uppercase()),
                None => return Ok(name),
                Some((_, next)) if next == quote => {}
                Some(_) => return Err(AuthError::TextAfterQuote),
            }
        } else {
            symbol &= is_symbol_char(c, at == 1);
        }
        name.push(c);
    }
    Err(AuthError::MissingQuote)
}

fn is_symbol(name: &str) -> bool {
    name.chars().enumerate().all(|(at, c)| is_symbol_char(c, at == 0))
}

fn is_symbol_char(c: char, first: bool) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$') || (c.is_ascii_digit() && !first)
}

/// Why a login failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// A quoted login has no closing quote.
    #[error("the user name starts with a quote but does not end with one")]
    MissingQuote,
    /// A quoted login has text after its closing quote.
    #[error("the user name has text after its closing quote")]
    TextAfterQuote,
    /// The private key is shorter than 32 bytes or gives a trivial public key.
    #[error("SRP needs a private key of at least {} random bytes", srp::MIN_PRIVATE_KEY)]
    WeakPrivateKey,
    /// The plugin is not of the SRP family.
    #[error("{} has no key exchange", .0.name())]
    NotSrp(AuthPlugin),
    /// The salt or public key from the server is malformed in this way.
    #[error("malformed authentication data from the server: {0}")]
    ServerData(&'static str),
    /// The server's public key would make the session key predictable.
    #[error("the server sent a trivial public key")]
    TrivialServerKey,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_names_round_trip() {
        for plugin in AuthPlugin::ALL {
            assert_eq!(AuthPlugin::from_name(plugin.name()), Some(plugin));
        }
        assert_eq!(AuthPlugin::from_name("srp256"), None);
        assert_eq!(AuthPlugin::from_name(""), None);
        assert!(AuthPlugin::Srp.has_session_key() && !AuthPlugin::Legacy.has_session_key());
    }

    #[test]
    fn account_names_follow_the_servers_rules() {
        for (login, account) in [
            ("sysdba", "SYSDBA"),
            ("Alice_1$x", "ALICE_1$X"),
            ("", ""),
            // Not a symbol: unchanged.
            ("user@dom", "user@dom"),
            ("first.last", "first.last"),
            ("a-b", "a-b"),
            ("1st", "1st"),
            ("jürgen", "jürgen"),
            ("it's", "it's"),
            // Double quotes keep the case; single quotes only if the name is not a symbol.
            ("\"Alice\"", "Alice"),
            ("\"a\"\"b\"", "a\"b"),
            ("\"\"", ""),
            ("'alice'", "ALICE"),
            ("'al ice'", "al ice"),
            ("'1st'", "1st"),
            ("'é'", "é"),
            ("'it''s'", "IT'S"),
            ("'a\"b'", "a\"b"),
        ] {
            assert_eq!(account_name(login).as_deref(), Ok(account), "{login}");
        }
    }

    #[test]
    fn bad_quotes_are_errors() {
        for login in ["\"", "'", "\"abc", "'abc", "\"abc\"\"", "'a''"] {
            assert_eq!(account_name(login), Err(AuthError::MissingQuote), "{login}");
        }
        for login in ["\"abc\"d", "'a'é", "\"a\" ", "''a'"] {
            assert_eq!(account_name(login), Err(AuthError::TextAfterQuote), "{login}");
        }
    }
}
