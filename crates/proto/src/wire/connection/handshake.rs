//! From the first byte to an attached database: offer, authentication, encryption, attach.
//!
//! ```text
//! op_connect ─► op_cond_accept ─► op_cont_auth … op_response(keys) ─► op_crypt ─► op_response ─► op_attach
//!           └─► op_accept_data ─────────────────────────────────────────────────────────────────► op_attach(proof)
//!           └─► op_accept ─────────────────────────────────────────► op_attach(first data) ─► op_cont_auth …
//! ```

use crate::api::pb::{Dpb, dpb};
use crate::wire::auth::{AuthPlugin, account_name, legacy, srp};
use crate::wire::crypt::{Choice, CipherKind, KeyBlock, choose};
use crate::wire::error::ProtocolError;
use crate::wire::limits::Limits;
use crate::wire::packet::connect::{Accept, Connect, ContinueAuth, MAX_OFFERED_VERSIONS, WireCrypt};
use crate::wire::version::ProtocolVersion;
use crate::wire::xdr::Writer;
use std::fmt;

/// Everything that a connection needs before its first byte.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Database path or alias on the server.
    pub database: String,
    /// Whether to create the database instead of attaching to it.
    pub create: bool,
    /// Login as entered; quotes keep its case.
    pub login: String,
    /// Password.
    pub password: String,
    /// Authentication plugins in order of preference.
    pub auth_plugins: Vec<AuthPlugin>,
    /// Wanted encryption.
    pub wire_crypt: WireCrypt,
    /// Ciphers in order of preference.
    pub ciphers: Vec<CipherKind>,
    /// Whether to accept a server that authenticates nobody: neither side then proves who it is.
    pub allow_no_authentication: bool,
    /// Whether to ask for zlib compression.
    pub compress: bool,
    /// Offered protocol versions, ascending; at most ten.
    pub versions: Vec<ProtocolVersion>,
    /// Name of the operating system's user.
    pub os_user: String,
    /// Name of this host.
    pub host_name: String,
    /// Parameters of the attachment. Authentication data are appended.
    pub dpb: Dpb,
    /// At least 32 random bytes for the private SRP key.
    pub srp_private: Vec<u8>,
}

impl ConnectOptions {
    /// The plugins offered by default. Legacy_Auth is opt-in: it sends a weak hash of the password and produces no
    /// encryption key.
    pub const DEFAULT_PLUGINS: [AuthPlugin; 5] =
        [AuthPlugin::Srp256, AuthPlugin::Srp, AuthPlugin::Srp512, AuthPlugin::Srp384, AuthPlugin::Srp224];

    /// All ciphers, best first.
    pub const DEFAULT_CIPHERS: [CipherKind; 3] = [CipherKind::ChaCha64, CipherKind::ChaCha, CipherKind::Arc4];

    /// All versions that this crate supports, ascending.
    pub fn default_versions() -> Vec<ProtocolVersion> {
        (ProtocolVersion::MIN.number()..=ProtocolVersion::MAX.number())
            .filter_map(ProtocolVersion::new)
            .collect()
    }
}

/// Hides the secrets.
impl fmt::Debug for ConnectOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectOptions")
            .field("database", &self.database)
            .field("login", &self.login)
            .field("auth_plugins", &self.auth_plugins)
            .field("wire_crypt", &self.wire_crypt)
            .field("compress", &self.compress)
            .finish_non_exhaustive()
    }
}

/// The state of the handshake: which answer it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// To `op_connect`.
    Connect,
    /// To `op_cont_auth`, before attach.
    Authenticate,
    /// To `op_crypt`.
    Crypt,
    /// To `op_attach` or `op_create`.
    Attach,
}

/// What to send after an answer.
pub(super) enum Step {
    ContinueAuth(ContinueAuth),
    Crypt(Choice),
    /// With this parameter buffer.
    Attach(Dpb),
}

/// Where a password can come from, for messages.
pub const PASSWORD_ADVICE: &str =
    "give one as an option of the connection, in the connection string or in the environment";

/// Makes the decisions of the handshake; does not read or write packets itself.
pub(super) struct Handshake {
    pub(super) options: ConnectOptions,
    pub(super) phase: Phase,
    account: String,
    plugins: Vec<AuthPlugin>,
    current: AuthPlugin,
    srp: srp::Client,
    session_key: Option<[u8; 20]>,
    /// Whether the current plugin has sent a proof that only a server with the account can check.
    proven: bool,
    /// The plugins that have sent a proof. A server needs one from each; more would let it guess the password.
    proofs: Vec<AuthPlugin>,
    list_sent: bool,
    steps: u32,
    max_steps: u32,
}

impl Handshake {
    pub(super) fn new(options: ConnectOptions, limits: &Limits) -> Result<Self, ProtocolError> {
        let mut plugins = options.auth_plugins.clone();
        if options.wire_crypt == WireCrypt::Required {
            plugins.retain(|plugin| *plugin != AuthPlugin::Legacy);
        }
        let Some(&current) = plugins.first() else {
            return Err(ProtocolError::Incompatible(
                "no authentication plugin is left to offer: Legacy_Auth gives no key, so it cannot work with \
                 wire_crypt=required; add Srp256 or Srp to auth_plugins"
                    .into(),
            ));
        };
        if options.versions.is_empty() || options.versions.len() > MAX_OFFERED_VERSIONS {
            return Err(ProtocolError::Misuse("offer between one and ten protocol versions"));
        }
        // op_connect counts its length in one byte, and a truncated login would be a different one.
        if options.login.len() > 255 {
            return Err(ProtocolError::Misuse("a login of more than 255 bytes"));
        }
        Ok(Self {
            account: account_name(&options.login)?,
            srp: srp::Client::new(&options.srp_private)?,
            // Legacy_Auth has only one step: `op_connect`.
            proven: current == AuthPlugin::Legacy,
            plugins,
            current,
            session_key: None,
            proofs: Vec::new(),
            list_sent: false,
            phase: Phase::Connect,
            steps: 0,
            max_steps: limits.auth_steps,
            options,
        })
    }

    /// The plugin that is logging in, or has.
    pub(super) fn plugin(&self) -> AuthPlugin {
        self.current
    }

    pub(super) fn write_connect(&self, out: &mut Writer<'_>) {
        let options = &self.options;
        Connect {
            database: &options.database,
            versions: &options.versions,
            compress: options.compress,
            login: &options.login,
            plugin: self.current.name(),
            plugin_list: &self.plugin_list(),
            auth_data: &self.first_data(),
            wire_crypt: options.wire_crypt,
            os_user: &options.os_user,
            host_name: &options.host_name,
        }
        .encode(out);
    }

    fn plugin_list(&self) -> String {
        self.plugins.iter().map(|plugin| plugin.name()).collect::<Vec<_>>().join(",")
    }

    fn first_data(&self) -> Vec<u8> {
        match self.current {
            AuthPlugin::Legacy => legacy::password_hash(&self.options.password).into_bytes(),
            _ => self.srp.public_key_hex().into_bytes(),
        }
    }

    /// Processes what the server accepted.
    pub(super) fn accepted(&mut self, accept: &Accept) -> Result<Step, ProtocolError> {
        if !self.options.versions.contains(&accept.version) {
            let text = format!("protocol version {}, which was not offered", accept.version);
            return Err(ProtocolError::InvalidMessage(text));
        }
        if accept.compress && !self.options.compress {
            return Err(ProtocolError::InvalidMessage("compression that was not asked for".into()));
        }
        if !accept.conditional && self.options.wire_crypt == WireCrypt::Required {
            return Err(no_encryption("the server would go on without: it has WireCrypt = Disabled"));
        }
        match &accept.auth {
            Some(auth) if auth.authenticated => self.authenticated(accept.version, &auth.keys),
            Some(auth) if accept.conditional => {
                self.phase = Phase::Authenticate;
                self.step(&auth.data, &auth.plugin).map(Step::ContinueAuth)
            }
            Some(auth) => {
                let proof = self.step(&auth.data, &auth.plugin)?;
                Ok(self.attach(Some(proof.data)))
            }
            None => {
                let first = self.first_data();
                Ok(self.attach(Some(first)))
            }
        }
    }

    /// Answers `op_cont_auth`.
    pub(super) fn continue_auth(&mut self, packet: &ContinueAuth) -> Result<Step, ProtocolError> {
        self.step(&packet.data, &packet.plugin).map(Step::ContinueAuth)
    }

    /// Performs one step of authentication with this data of this plugin.
    fn step(&mut self, data: &[u8], plugin: &str) -> Result<ContinueAuth, ProtocolError> {
        self.steps += 1;
        if self.steps > self.max_steps {
            return Err(ProtocolError::InvalidMessage("an endless authentication".into()));
        }
        let switched = !plugin.is_empty() && plugin != self.current.name();
        if switched {
            // Data that come with a switch are left over from the previous plugin: start again.
            let wanted = AuthPlugin::from_name(plugin).filter(|wanted| self.plugins.contains(wanted));
            self.current = wanted.ok_or_else(|| self.login_failed(plugin))?;
            // Anything that another plugin has proven or agreed on no longer counts.
            self.session_key = None;
            self.proven = self.current == AuthPlugin::Legacy;
        }
        let data = if switched || data.is_empty() || self.current == AuthPlugin::Legacy {
            self.first_data()
        } else {
            if self.proofs.contains(&self.current) {
                return Err(ProtocolError::LoginFailed(format!(
                    "the server asks for a second proof of the password with {}; it is not the intended server, or it is broken",
                    self.current.name(),
                )));
            }
            self.proofs.push(self.current);
            let password = &self.options.password;
            let proof = self.srp.respond(self.current, &self.account, password, data)?;
            self.session_key = Some(proof.session_key);
            self.proven = true;
            proof.m1_hex.clone().into_bytes()
        };
        let plugin_list = if self.list_sent { String::new() } else { self.plugin_list() };
        self.list_sent = true;
        Ok(ContinueAuth { data, plugin: self.current.name().into(), plugin_list, keys: Vec::new() })
    }

    /// A server that has another plugin offers it instead of reporting a wrong password. Once a proof was asked for, Srp
    /// knows the account, and the password was wrong: advice about another plugin would most often mislead.
    fn login_failed(&self, wanted: &str) -> ProtocolError {
        let cause = refused_login(&self.account, &self.options.password);
        if !self.proofs.is_empty() {
            return ProtocolError::LoginFailed(cause);
        }
        let offered = self.plugin_list();
        let advice = match AuthPlugin::from_name(wanted) {
            Some(AuthPlugin::Legacy) => format!(
                "it sends a weak hash and cannot encrypt, so only {offered} are offered; an account that has no other needs one: \
                 CREATE USER … USING PLUGIN Srp"
            ),
            Some(_) => format!(
                "it is not offered ({offered}); if the account lives there, add it: auth_plugins={offered},{wanted}"
            ),
            None => format!("this client does not have it ({offered})"),
        };
        ProtocolError::LoginFailed(format!("{cause}. The server now asks for {wanted}: {advice}"))
    }

    /// Refuses a peer that has asked for no proof: it lets anyone in, or is not a Firebird server. The client always
    /// sends the first data of a plugin, so no real server continues without an exchange.
    pub(super) fn check_proven(&self) -> Result<(), ProtocolError> {
        if self.proven || self.options.allow_no_authentication {
            return Ok(());
        }
        Err(ProtocolError::Unauthenticated)
    }

    /// Authentication before attach is complete; `keys` says which ciphers the server has.
    pub(super) fn authenticated(
        &mut self,
        version: ProtocolVersion,
        keys: &[u8],
    ) -> Result<Step, ProtocolError> {
        self.check_proven()?;
        let wanted = self.options.wire_crypt;
        if wanted != WireCrypt::Disabled {
            let groups = KeyBlock::parse(keys)?;
            let choice = choose(&groups, version.has_cipher_iv(), &self.options.ciphers);
            if let (Some(choice), true) = (choice, self.session_key.is_some()) {
                self.phase = Phase::Crypt;
                return Ok(Step::Crypt(choice));
            }
            if wanted == WireCrypt::Required {
                return Err(no_encryption(&format!(
                    "the server offers none of the requested ciphers ({})",
                    self.options.ciphers.iter().map(|cipher| cipher.name()).collect::<Vec<_>>().join(", ")
                )));
            }
        }
        Ok(self.attach(None))
    }

    pub(super) fn session_key(&self) -> Option<&[u8; 20]> {
        self.session_key.as_ref()
    }

    /// Returns the step that attaches, with the data of an unfinished authentication.
    pub(super) fn attach(&mut self, auth_data: Option<Vec<u8>>) -> Step {
        self.phase = Phase::Attach;
        let mut block = self.options.dpb.clone();
        if let Some(data) = auth_data {
            self.list_sent = true; // op_cont_auth need not repeat it
            block.bytes(dpb::SPECIFIC_AUTH_DATA, &data);
            block.text(dpb::AUTH_PLUGIN_NAME, self.current.name());
            block.text(dpb::AUTH_PLUGIN_LIST, &self.plugin_list());
        }
        Step::Attach(block)
    }
}

/// The likely cause of a login that a server refuses.
fn refused_login(account: &str, password: &str) -> String {
    if password.is_empty() {
        return format!("no password was given for {account}: {PASSWORD_ADVICE}");
    }
    format!("the server refused the login of {account}: user name or password is wrong")
}

fn no_encryption(reason: &str) -> ProtocolError {
    ProtocolError::Incompatible(format!(
        "encryption was asked for (wire_crypt=required, or a cipher in wire_crypt_plugin), but {reason}. Set WireCrypt \
         = Enabled or Required and the cipher in WireCryptPlugin of the server's firebird.conf. Without both options \
         the connection would be in clear text: anyone on the network path could read and change it"
    ))
}
