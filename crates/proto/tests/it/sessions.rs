//! Plays recordings: this crate as the client, the recorded bytes as the server.

use crate::player::{Ask, Delivery, Player, Said};
use crate::requests;
use crate::script;
use crate::transcript::Transcript;
use firearrow_proto::api::pb::{Dpb, dpb};
use firearrow_proto::wire::auth::AuthPlugin;
use firearrow_proto::wire::connection::{ConnectOptions, WireStats};
use firearrow_proto::wire::crypt::CipherKind;
use firearrow_proto::wire::packet::connect::WireCrypt;
use firearrow_proto::wire::packet::response::Response;
use firearrow_proto::wire::{Limits, ProtocolError};

/// A recording with the requests that its client made after the handshake, turn by turn.
pub(crate) struct Session {
    pub(crate) transcript: Transcript,
    /// Turns of the handshake, which the connection plays by itself.
    pub(crate) handshake: usize,
    requests: Vec<Vec<Box<dyn Ask>>>,
}

/// The result of playing a session.
pub(crate) struct Played {
    pub(crate) player: Player,
    /// Bytes written, turn by turn.
    pub(crate) written: Vec<Vec<u8>>,
    pub(crate) result: Result<(), ProtocolError>,
}

impl Played {
    pub(crate) fn said(&self) -> &[Said] {
        &self.player.said
    }

    pub(crate) fn stats(&self) -> &WireStats {
        self.player.connection.stats()
    }

    /// The `op_response` answers, in order.
    pub(crate) fn responses(&self) -> Vec<&Response> {
        let said = self.said().iter();
        said.filter_map(|said| if let Said::Response(_, response) = said { Some(response) } else { None })
            .collect()
    }
}

impl Session {
    pub(crate) fn load(name: &'static str) -> Self {
        let transcript = Transcript::load(name);
        let handshake = match name {
            "handshake-p19-contauth" => 3,
            _ if transcript.encrypted => 4,
            _ => 2,
        };
        let requests = requests::of(&transcript);
        assert_eq!(handshake + requests.len(), transcript.turns.len(), "{name}");
        Self { transcript, handshake, requests }
    }

    /// The inputs named in the recording's header.
    pub(crate) fn options(&self) -> ConnectOptions {
        let transcript = &self.transcript;
        let mut dpb = Dpb::new();
        dpb.text(dpb::LC_CTYPE, "UTF8").text(dpb::USER_NAME, &transcript.user).flag(dpb::UTF8_FILENAME);
        dpb.bytes(dpb::SQL_DIALECT, &[3]).int(dpb::PROCESS_ID, 4711).text(dpb::PROCESS_NAME, "replay");
        let auth_plugins = match transcript.plugin.as_str() {
            "Srp" => vec![AuthPlugin::Srp, AuthPlugin::Srp256],
            _ => vec![AuthPlugin::Srp256, AuthPlugin::Srp],
        };
        let cipher = transcript.name.split('-').nth(1).unwrap_or_default();
        let ciphers = CipherKind::ALL.into_iter().filter(|kind| kind.name().eq_ignore_ascii_case(cipher));
        ConnectOptions {
            database: transcript.database.clone(),
            create: false,
            login: transcript.user.clone(),
            password: transcript.password.clone(),
            auth_plugins,
            wire_crypt: if transcript.encrypted { WireCrypt::Enabled } else { WireCrypt::Disabled },
            ciphers: ciphers.collect(),
            allow_no_authentication: false,
            compress: false,
            versions: transcript.offered.clone(),
            os_user: "tester".into(),
            host_name: "client".into(),
            dpb,
            srp_private: transcript.private_key.clone(),
        }
    }

    /// What the recorded client wrote in a turn, as this client writes it.
    ///
    /// This client names its first plugin first; the recorded one always said `Srp256,Srp`.
    pub(crate) fn expected(&self, turn: usize) -> Vec<u8> {
        let mut bytes = self.transcript.turns[turn].client.clone();
        let (recorded, ours) = (b"Srp256,Srp", b"Srp,Srp256");
        let place = bytes.windows(recorded.len()).position(|window| window == recorded);
        if let (Some(place), "Srp") = (place, self.transcript.plugin.as_str()) {
            bytes[place..][..ours.len()].copy_from_slice(ours);
        }
        bytes
    }

    /// How many bytes the server sent from this turn on.
    pub(crate) fn server_bytes(&self, from: usize) -> usize {
        self.transcript.turns[from..].iter().map(|turn| turn.server.len()).sum()
    }

    /// Plays the whole recording.
    pub(crate) fn play(&self, delivery: Delivery) -> Played {
        let player = Player::open(self.options(), Limits::default()).expect("good options");
        self.run(player, 0, delivery)
    }

    /// Plays the turns after the handshake on a connection attached at less cost, for tests that play thousands of
    /// variants. Does not work for encrypted recordings.
    pub(crate) fn play_attached(&self, delivery: Delivery) -> Played {
        assert!(!self.transcript.encrypted);
        let player = script::attached(self.transcript.version, Limits::default());
        self.run(player, self.handshake, delivery)
    }

    fn run(&self, mut player: Player, from: usize, mut delivery: Delivery) -> Played {
        let mut written = Vec::new();
        let result = self.run_turns(&mut player, from, &mut delivery, &mut written);
        Played { player, written, result }
    }

    fn run_turns(
        &self,
        player: &mut Player,
        from: usize,
        delivery: &mut Delivery,
        written: &mut Vec<Vec<u8>>,
    ) -> Result<(), ProtocolError> {
        let mut at = 0;
        for (number, turn) in self.transcript.turns.iter().enumerate().skip(from) {
            if let Some(requests) = number.checked_sub(self.handshake).map(|number| &self.requests[number]) {
                for request in requests {
                    let _ = player.send(&**request)?;
                }
            }
            written.push(player.written()?);
            delivery.deliver(player, at, &turn.server)?;
            at += turn.server.len();
        }
        Ok(())
    }
}
