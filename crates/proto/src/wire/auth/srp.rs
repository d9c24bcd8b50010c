//! Secure Remote Password (SRP) as Firebird computes it.
//!
//! ```text
//!  A  = g^a                                            a: random
//!  x  = SHA1(salt, SHA1(account ":" password))         u: SHA1(A, B)
//!  S  = (B - k * g^x) ^ (a + u * x)                    K: SHA1(S), the session key
//!  M1 = H(n1, SHA1(account), salt, A, B, K)            H: the hash the plugin is named after
//! ```
//!
//! All computations are modulo N. This differs from SRP-6a in places: integers are hashed without leading zero bytes,
//! the salt is hashed as the hexadecimal text received, and `n1` is a power where the paper has an XOR.
//! (src/auth/SecureRemotePassword/srp.cpp, Firebird 3.0 to 6.0.)

use super::{AuthError, AuthPlugin};
use num_bigint::BigUint;
use sha1::{Digest, Sha1};
use sha2::{Sha224, Sha256, Sha384, Sha512};
use std::fmt;
use std::sync::LazyLock;
use zeroize::{Zeroize, Zeroizing};

/// The minimum length of a private key, in random bytes.
pub(crate) const MIN_PRIVATE_KEY: usize = 32;

/// The client side of one login.
///
/// The private key is wiped on drop. Integers made from it are not, as `num-bigint` cannot.
pub struct Client {
    private: Zeroizing<Vec<u8>>,
    public: BigUint,
}

impl Client {
    /// Starts a login with at least 32 unpredictable bytes. Use them for one login only.
    pub fn new(private: &[u8]) -> Result<Self, AuthError> {
        if private.len() < MIN_PRIVATE_KEY {
            return Err(AuthError::WeakPrivateKey);
        }
        let public = GROUP.power_of_generator(&BigUint::from_bytes_be(private));
        if is_trivial(&public) {
            return Err(AuthError::WeakPrivateKey);
        }
        Ok(Self { private: Zeroizing::new(private.to_vec()), public })
    }

    /// The public key A as it is sent: upper-case hexadecimal digits without leading zeros.
    pub(crate) fn public_key_hex(&self) -> String {
        hex(&self.public)
    }

    /// Answers the server's salt and public key. `account` is the login as [`account_name`](super::account_name)
    /// returns it.
    pub fn respond(
        &self,
        plugin: AuthPlugin,
        account: &str,
        password: &str,
        server_data: &[u8],
    ) -> Result<Proof, AuthError> {
        let ServerData { salt, key } = ServerData::parse(server_data)?;
        if is_trivial(&(&key % &GROUP.prime)) {
            return Err(AuthError::TrivialServerKey);
        }
        let scramble = int(Sha1::new_with_prefix(self.public.to_bytes_be()).chain_update(key.to_bytes_be()));
        if scramble == BigUint::ZERO {
            return Err(AuthError::TrivialServerKey);
        }

        let identity = Sha1::new_with_prefix(account).chain_update(":").chain_update(password).finalize();
        let secret = int(Sha1::new_with_prefix(salt).chain_update(identity));
        let masked = &GROUP.multiplier * GROUP.power_of_generator(&secret) % &GROUP.prime;
        let base = (&key % &GROUP.prime + &GROUP.prime - masked) % &GROUP.prime;
        let exponent = BigUint::from_bytes_be(&self.private) + scramble * secret;
        let shared = Zeroizing::new(base.modpow(&exponent, &GROUP.prime).to_bytes_be());
        let session_key: [u8; 20] = Sha1::digest(shared.as_slice()).into();

        let transcript = Transcript { account, salt, client: &self.public, server: &key, key: &session_key };
        let m1 = match plugin {
            AuthPlugin::Srp512 => transcript.proof::<Sha512>(),
            AuthPlugin::Srp384 => transcript.proof::<Sha384>(),
            AuthPlugin::Srp256 => transcript.proof::<Sha256>(),
            AuthPlugin::Srp224 => transcript.proof::<Sha224>(),
            AuthPlugin::Srp => transcript.proof::<Sha1>(),
            AuthPlugin::Legacy => return Err(AuthError::NotSrp(plugin)),
        };
        Ok(Proof { m1_hex: hex(&m1), session_key })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

/// The result of a login. Wiped on drop.
pub struct Proof {
    /// M1 as it is sent: upper-case hexadecimal digits without leading zeros.
    pub m1_hex: String,
    /// K, the key for wire encryption.
    pub session_key: [u8; 20],
}

impl Drop for Proof {
    fn drop(&mut self) {
        self.m1_hex.zeroize();
        self.session_key.zeroize();
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proof").finish_non_exhaustive()
    }
}

/// Salt and public key as the server sends them: two length-prefixed strings (two bytes, little-endian).
struct ServerData<'a> {
    /// Hexadecimal text, but hashed as text: never decode, fold or pad it.
    salt: &'a [u8],
    key: BigUint,
}

impl<'a> ServerData<'a> {
    const MAX_SALT: usize = 64;
    const MAX_KEY: usize = 256;

    fn parse(data: &'a [u8]) -> Result<Self, AuthError> {
        let (salt, rest) = counted(data).ok_or(AuthError::ServerData("the salt is cut short"))?;
        let (key, rest) = counted(rest).ok_or(AuthError::ServerData("the key is cut short"))?;
        if salt.is_empty() || key.is_empty() || !rest.is_empty() {
            return Err(AuthError::ServerData("the lengths of salt and key do not add up"));
        }
        if salt.len() > Self::MAX_SALT || key.len() > Self::MAX_KEY {
            return Err(AuthError::ServerData("the salt or the key is too long"));
        }
        // The parser of num-bigint would also accept a sign and underscores.
        let key = Some(key).filter(|key| key.iter().all(u8::is_ascii_hexdigit));
        let key = key.and_then(|key| BigUint::parse_bytes(key, 16));
        Ok(Self { salt, key: key.ok_or(AuthError::ServerData("the key is not hexadecimal"))? })
    }
}

/// Splits off a length-prefixed string.
fn counted(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = data.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))
}

/// The inputs of the proof.
struct Transcript<'a> {
    account: &'a str,
    salt: &'a [u8],
    client: &'a BigUint,
    server: &'a BigUint,
    key: &'a [u8; 20],
}

impl Transcript<'_> {
    fn proof<H: Digest>(&self) -> BigUint {
        let hash = H::new_with_prefix(GROUP.n1.to_bytes_be())
            .chain_update(int(Sha1::new_with_prefix(self.account)).to_bytes_be())
            .chain_update(self.salt)
            .chain_update(self.client.to_bytes_be())
            .chain_update(self.server.to_bytes_be())
            .chain_update(self.key)
            .finalize();
        BigUint::from_bytes_be(&hash)
    }
}

/// The group of all computations, and the two constants derived from it.
struct Group {
    prime: BigUint,
    generator: BigUint,
    /// k = SHA1(N, g), with g padded to the length of N.
    multiplier: BigUint,
    /// SHA1(N) ^ SHA1(g)
    n1: BigUint,
}

impl Group {
    fn power_of_generator(&self, exponent: &BigUint) -> BigUint {
        self.generator.modpow(exponent, &self.prime)
    }
}

static GROUP: LazyLock<Group> = LazyLock::new(|| {
    let prime = BigUint::parse_bytes(PRIME, 16).expect("the constant is hexadecimal");
    let bytes = prime.to_bytes_be();
    let mut padded = vec![0; bytes.len()];
    padded[bytes.len() - 1] = GENERATOR;
    let n1 = int(Sha1::new_with_prefix(&bytes)).modpow(&int(Sha1::new_with_prefix([GENERATOR])), &prime);
    let multiplier = int(Sha1::new_with_prefix(&bytes).chain_update(padded));
    Group { prime, generator: GENERATOR.into(), multiplier, n1 }
});

const GENERATOR: u8 = 2;

const PRIME: &[u8] = b"\
    E67D2E994B2F900C3F41F08F5BB2627ED0D49EE1FE767A52EFCD565CD6E76881\
    2C3E1E9CE8F0A8BEA6CB13CD29DDEBF7A96D4A93B55D488DF099A15C89DCB064\
    0738EB2CBDD9A8F7BAB561AB1B0DC1C6CDABF303264A08D1BCA932D1F1EE428B\
    619D970F342ABA9A65793B8B2F041AE5364350C16F735F56ECBCA87BD57B29E7";

/// A digest as an integer.
fn int(hash: Sha1) -> BigUint {
    BigUint::from_bytes_be(&hash.finalize())
}

/// Keys of 0 and 1 (modulo N) would remove the secrets from the computation.
fn is_trivial(key: &BigUint) -> bool {
    key.bits() < 2
}

fn hex(value: &BigUint) -> String {
    format!("{value:X}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // Vectors of an independent implementation of the formulas above.
    const PRIVATE: &str = "81B80B6607F3BF1BCA92E889C0FBF3586903B835108AA4486903844496DCF845";
    const SALT: &str = "2D545132C4D27A380212226752FCDDC5DC006032DABF22A4AFD143324233B177";
    const PUBLIC: &str = "\
        16389470634B8E9A676062F2EFDCC2E32D0EBED914D7BF132D1B0FEDC141A64FB875D8939A4D3918772D38B5EA77D5AD\
        395A54B77872C7DCCBCC2A13EA9426C1BBA8D6C6F8C97A4942E63C2EDA48A0FF72EF5E862DEC6684209055D8A78AB238\
        FFA614B1135A757F3108FFEF395CC34DE32003943C292CC50FC559096F06856";
    /// The server's private key.
    const SERVER_PRIVATE: &str = "664ED47D8CD591C78C043A7310DCC71A1919368BF20BDF163C2514CE61D2A047";
    const SERVER_PUBLIC: &str = "\
        8F30ECA4A179C935A903DAE4DDFB404F3B1318F0FEF5D37E524E78E8E6F014ECBF9B7FC19F366459D0B266FBB5AF00FF\
        A1C7D7C51CC41310D94D6F1DFC8BDF8CE88037015872D8B8CB7419EA4C1611ED3FA5A2A0F3F8F617B07AEA6C74EAC851\
        AE0A69EA7C390E1BF7F586C3D5A46A52747BDFAD47D8D5EC4832CDA4CA99EC70";
    const N1: &str = "\
        3CD1FF1BCCC815CA220DF92D42AC29F7AB874A50F6894D2D64F74685ADEC6F5256BE34BACFD045855E18BBDD12099BA6\
        827DDDEFEFBADD43CB4DFDB7899C62D520241310841475A80D171A51705E773E4476693A35FE9632DAC0B426312B3CC2\
        AC9B25858D72DC04C7FDD75E52782368D936E4902F3546FCF049A56593F2AA8F";

    fn number(hex: &str) -> BigUint {
        BigUint::parse_bytes(hex.as_bytes(), 16).expect("hexadecimal")
    }

    fn client() -> Client {
        Client::new(&number(PRIVATE).to_bytes_be()).expect("long enough")
    }

    fn server_data(salt: &[u8], key: &[u8]) -> Vec<u8> {
        let counted = |text: &[u8]| [&(text.len() as u16).to_le_bytes(), text].concat();
        [counted(salt), counted(key)].concat()
    }

    fn respond(plugin: AuthPlugin, account: &str, password: &str, salt: &str, key: &str) -> Proof {
        let data = server_data(salt.as_bytes(), key.as_bytes());
        client().respond(plugin, account, password, &data).expect("well-formed")
    }

    #[test]
    fn derives_the_constants() {
        let k = "DFC212B4BD69674855CFCEB30002B5C306AC60B5";
        assert_eq!((hex(&GROUP.multiplier), hex(&GROUP.n1)), (k.to_owned(), N1.to_owned()));
        assert_eq!(
            GROUP.multiplier.to_string(),
            "1277432915985975349439481660349303019122249719989",
            "the decimal form found in other drivers"
        );
    }

    #[test]
    fn sends_the_public_key_without_leading_zeros() {
        assert_eq!(client().public_key_hex(), PUBLIC);
        assert_eq!(PUBLIC.len(), 255);
    }

    #[test]
    fn proves_the_password_with_every_hash() {
        for (plugin, m1) in [
            (AuthPlugin::Srp, "4BD58E78174F495A66149C2AC5077610934F5017"),
            (AuthPlugin::Srp224, "1E3F37180A8804EF1EDDCFBB8C9C532EAEA11F6207E011E1B11CF309"),
            (AuthPlugin::Srp256, "88DE86381011396EC67F66948E02D7A5A3506CE118296B62666AB841ABBEC2B4"),
            (
                AuthPlugin::Srp384,
                "D9C579E82D6CF2F93BAC7C26260428F76E65418DB91BD951\
                 28FF5EA3BD3E6C942328832CFE9149766E0B334495984A20",
            ),
            (
                AuthPlugin::Srp512,
                "681A1B21F03745171DCBEA2ECF51AA65D66B56BE9D820E5114255191EEEE66D0\
                 D1B1793FFFECC86904D321A3AD0206AB9AAB1B2A1C8FE1EC5B9AC62010F17D1A",
            ),
        ] {
            let proof = respond(plugin, "SYSDBA", "masterkey", SALT, SERVER_PUBLIC);
            assert_eq!(proof.m1_hex, m1);
            assert_eq!(
                hex(&BigUint::from_bytes_be(&proof.session_key)),
                "A01851D9FA5A0D2726C83C6390647227517D0F15"
            );
        }
    }

    /// The hash of this account, the session key and a proof all begin with a zero byte.
    #[test]
    fn drops_leading_zeros_where_firebird_does() {
        // The server's key depends on the account's verifier, so it is computed here.
        let identity = Sha1::digest("USER171:masterkey");
        let verifier = GROUP.power_of_generator(&int(Sha1::new_with_prefix(SALT).chain_update(identity)));
        let key =
            (&GROUP.multiplier * verifier + GROUP.power_of_generator(&number(SERVER_PRIVATE))) % &GROUP.prime;
        let proof = |plugin| respond(plugin, "USER171", "masterkey", SALT, &hex(&key));
        let srp = proof(AuthPlugin::Srp);
        assert_eq!(srp.m1_hex, "B9CFB90CE75F6FA3E3F7353C5AD67AB5CFD5F0F1");
        assert_eq!(srp.session_key[0], 0, "the session key keeps its length");
        assert_eq!(hex(&BigUint::from_bytes_be(&srp.session_key)), "163F1AC2F8750F24FF777FC124AE94EF410E23");
        assert_eq!(
            proof(AuthPlugin::Srp256).m1_hex,
            "F7F05C1E4D8F9459B5E433236671991558EE531E9AAF75958C38E8E13D30D8"
        );
    }

    /// Logins recorded with servers 3.0.11, 4.0.5 and 5.0.4; all used [`PRIVATE`].
    #[test]
    fn repeats_recorded_logins() {
        for (plugin, account, password, salt, key, m1) in RECORDED {
            assert_eq!(respond(*plugin, account, password, salt, key).m1_hex, *m1);
        }
    }

    #[test]
    fn rejects_malformed_server_data() {
        let good = server_data(SALT.as_bytes(), SERVER_PUBLIC.as_bytes());
        let respond = |data: &[u8]| client().respond(AuthPlugin::Srp256, "A", "b", data).map(drop);
        assert_eq!(respond(&good), Ok(()));
        for length in 0..good.len() {
            assert!(matches!(respond(&good[..length]), Err(AuthError::ServerData(_))), "{length}");
        }
        let bad = [
            [good.as_slice(), b"0"].concat(),
            server_data(SALT.as_bytes(), &[b'1'; 257]),
            server_data(&[b'1'; 65], b"1234"),
            server_data(b"", SERVER_PUBLIC.as_bytes()),
            server_data(SALT.as_bytes(), b""),
            server_data(SALT.as_bytes(), b"+123"),
            server_data(SALT.as_bytes(), b"1_23"),
            server_data(SALT.as_bytes(), b"12G4"),
            server_data(SALT.as_bytes(), b"12\xff4"),
            [server_data(SALT.as_bytes(), b"1234"), b"0".to_vec()].concat(),
        ];
        for data in bad {
            assert!(matches!(respond(&data), Err(AuthError::ServerData(_))), "{data:?}");
        }
    }

    #[test]
    fn rejects_trivial_keys() {
        let shift = |by: u8| hex(&(&GROUP.prime + by));
        for key in ["0", "1", "0001", &hex(&GROUP.prime), &shift(1)] {
            let data = server_data(SALT.as_bytes(), key.as_bytes());
            let answer = client().respond(AuthPlugin::Srp, "A", "b", &data).map(drop);
            assert_eq!(answer, Err(AuthError::TrivialServerKey), "{key}");
        }
        for private in [&[1; 31][..], &[0; 32], &[]] {
            assert_eq!(Client::new(private).map(drop), Err(AuthError::WeakPrivateKey));
        }
    }

    #[test]
    fn accepts_either_case_and_leading_zeros() {
        let lower = respond(AuthPlugin::Srp, "A", "b", "00ab", "00abcdef");
        let upper = respond(AuthPlugin::Srp, "A", "b", "00ab", "ABCDEF");
        assert_eq!(lower.m1_hex, upper.m1_hex);
        let salt = respond(AuthPlugin::Srp, "A", "b", "00AB", "ABCDEF");
        assert_ne!(salt.m1_hex, upper.m1_hex, "the salt is text");
    }

    #[test]
    fn legacy_has_no_answer_and_debug_no_secrets() {
        let data = server_data(SALT.as_bytes(), SERVER_PUBLIC.as_bytes());
        let answer = client().respond(AuthPlugin::Legacy, "A", "b", &data).map(drop);
        assert_eq!(answer, Err(AuthError::NotSrp(AuthPlugin::Legacy)));
        assert_eq!(format!("{:?}", client()), "Client { .. }");
        assert_eq!(format!("{:?}", respond(AuthPlugin::Srp, "A", "b", SALT, SERVER_PUBLIC)), "Proof { .. }");
    }

    proptest! {
        #[test]
        fn any_server_data_is_an_answer_or_an_error(data in prop::collection::vec(any::<u8>(), 0..330)) {
            let _ = ServerData::parse(&data);
        }
    }

    type Login = (AuthPlugin, &'static str, &'static str, &'static str, &'static str, &'static str);

    const RECORDED: &[Login] = &[
        (
            AuthPlugin::Srp,
            "WIRETEST",
            "wirepw",
            "5ECFCC0BE139E34C6C667F440847DEF50DD382CB31AAE0AA90BEC660D7C559E1",
            "\
             6092B635C08F207507FA119A3FB295C608E5D4301C43099636D0D11B1F5094E1A78246276D3181FEE83E7161104F370E\
             7178E36749C936797B3688C545396444296D679061A965A8F38E35CC0A27B711136ED73494108E1A4FBF8AFCCC35913F\
             AD8A76BE10D4A1F954245419EC14F82999383BC06C41BB5224BC4E7FB66C3CEB",
            "A95BE0369D05CCC74944617820F4DEB08AD39F14",
        ),
        (
            AuthPlugin::Srp256,
            "SYSDBA",
            "masterkey",
            "96A6F9CA6BDB2ABB08B6AC2E7A37CBD9B387651EE80B312CFD79CB0BAE42D25A",
            "\
             49B598B296661FCB8CBF8AB3B630843AA83F6CE36A3482AD1150878DF434D3BC17876B6C8D93663A4057BF01C55BE713\
             D877D16AC8852508BDF3E20C65E8BE794448E7BBCEC4A2F88EA561D17259E61161C66AA3D70F7462BC0692055FE1BF56\
             50CAF3B6A7B91864BEA11DF8498B7D5FA67DF3FFD34155BB396A170460AAAAA7",
            "B307F2E1B1EDE53369411FA6AF4A5F9DF56A7D03ACFAD4C0A18FD3092CC2D21",
        ),
        (
            AuthPlugin::Srp256,
            "SYSDBA",
            "masterkey",
            "96A6F9CA6BDB2ABB08B6AC2E7A37CBD9B387651EE80B312CFD79CB0BAE42D25A",
            "\
             909AA414BEBE3434CB9AE6E07C1B9504A817FA2F3FC94A8FB69454C5DF14578839DA735D82386F3450B279361FF621FB\
             12D5EF3C9D33BA654EAE0F3B361F8EEBCEB7EB56E1BA41C4848416A829C9FE0DDCA9A15236C24D35DBB3EA6165D26A71\
             B13B49BCE203E84B3D7C73E16D0FC02BD685C5A13A8332698F30CFCC1AFB27CE",
            "31F7DA2FD1608A7604BEC0EA7B8BA06173CD27ECFAC469BA978EF32A98FD688B",
        ),
        (
            AuthPlugin::Srp256,
            "SYSDBA",
            "masterkey",
            "4B78BC3BE12B8BFACCC4987A0391109E19F688750C6F31E2F702323FFA528AE0",
            "\
             CE908C0177EF4A5D0C8B29D7E002D400FA95499F4B777D805E9D777187682789097A9B7C383DD94F52B681466F9D5FA2\
             B43A6DD25C63727D43D1E857EC92E3918256B92BEA99EEE5562D21DE0722A26AFD10189FED7BDB3FE517B2BDB9F3690F\
             7FCF3552809582B99F088EB17366707153491144E1B2D560EBF9FE81C750CD",
            "50282DEAC1A69E86792A63BDBBCD936C2A0A5360D8719063F43DEC3F6458DB3C",
        ),
    ];
}
