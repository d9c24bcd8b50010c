//! The key of an encrypted database, from where the application says.
//!
//! The server asks for it while the database is attached, or even before it has said who it is. So the key leaves only
//! when the connection is encrypted, and nothing that the server says makes a command run twice.

mod command;

use crate::backend::link::Link;
use crate::config::{Config, KeySource};
use crate::error::{Error, Kind, Result};
use std::fs::File;
use std::io::Read;
use std::time::Instant;

/// Most questions of one server. The sample plugins ask once; a server whose user database is encrypted, too, asks again.
const MOST_QUESTIONS: u32 = 16;

/// Most bytes of a key: servers count the reply in 16 bits.
const LONGEST_KEY: u64 = 65535;

/// The key during one attempt to connect.
pub(crate) struct KeyHolder<'a> {
    source: Option<&'a KeySource>,
    /// Whether the key may be sent without encryption.
    in_clear: bool,
    questions: u32,
    /// Once it was fetched.
    key: Option<Vec<u8>>,
}

impl<'a> KeyHolder<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        Self { source: config.db_key.as_ref(), in_clear: config.db_key_in_clear, questions: 0, key: None }
    }

    /// What to reply to a question of the server, which takes `limit` bytes. The key is fetched for the first one only, before
    /// `deadline`. Neither the key nor the command that prints it appears in an error.
    pub(crate) async fn answer<L: Link>(
        &mut self,
        limit: Option<u16>,
        encrypted: bool,
        deadline: Instant,
    ) -> Result<&[u8]> {
        self.questions += 1;
        if self.questions > MOST_QUESTIONS {
            let text =
                format!("the server asked for the key of the database more than {MOST_QUESTIONS} times");
            return Err(Error::new(Kind::Protocol, text));
        }
        let source = self.source.ok_or_else(|| {
            failed(
                "the server asks for the key of the encrypted database; set it in the application (Config::db_key, the \
                 option adbc.firebird.db_key) or in the environment, FIREARROW_DB_KEY=file:PATH, env:NAME or cmd:COMMAND",
            )
        })?;
        if !encrypted && !self.in_clear {
            return Err(failed(
                "the server asks for the key of the encrypted database on a connection that is not encrypted, so it was \
                 not sent: let the server have WireCrypt = Enabled or Required. FIREARROW_DB_KEY_IN_CLEAR=yes sends it all the \
                 same, to whoever is at the other end, and anyone on the network path can read it; servers whose user \
                 database is encrypted ask before encryption can start",
            ));
        }
        let key = match self.key.take() {
            Some(key) => key,
            None => {
                let source = source.clone();
                L::aside(move || read(&source, deadline)).await.unwrap_or_else(|error| {
                    Err(failed(format!("db_key: the key could not be fetched: {error}")))
                })?
            }
        };
        let limit = limit.map_or(usize::MAX, usize::from);
        if key.len() > limit {
            return Err(failed(format!(
                "the database key has {} bytes, the server takes {limit}",
                key.len()
            )));
        }
        Ok(self.key.insert(key))
    }
}

fn read(source: &KeySource, deadline: Instant) -> Result<Vec<u8>> {
    match source {
        KeySource::Literal(key) => Ok(key.clone()),
        KeySource::Env(name) => match std::env::var(name) {
            Ok(key) => Ok(key.into_bytes()),
            Err(_) => Err(failed(format!("db_key: the environment variable {name} is not set"))),
        },
        KeySource::File(path) => {
            let wanted = path.clone();
            let key = command::within(deadline, move || {
                let mut key = Vec::new();
                File::open(wanted)
                    .and_then(|file| file.take(LONGEST_KEY + 1).read_to_end(&mut key))
                    .map(|_| key)
            });
            key_of(key?.map_err(|error| failed(format!("db_key: {path} cannot be read: {error}")))?)
        }
        KeySource::Command(command) => key_of(command::output(command, deadline)?),
    }
}

/// Editors and `echo` end a line that is not part of the key.
fn key_of(mut text: Vec<u8>) -> Result<Vec<u8>> {
    if text.len() as u64 > LONGEST_KEY {
        return Err(too_long());
    }
    while matches!(text.last(), Some(b'\n' | b'\r')) {
        text.pop();
    }
    Ok(text)
}

fn too_long() -> Error {
    failed(format!("db_key: a key has at most {LONGEST_KEY} bytes"))
}

fn failed(message: impl Into<String>) -> Error {
    Error::new(Kind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::link::tcp::TcpLink;
    use crate::session::ready;
    use std::time::Duration;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    /// The answer to the next question of a server.
    fn next(holder: &mut KeyHolder<'_>, limit: Option<u16>, encrypted: bool) -> Result<Vec<u8>> {
        ready(holder.answer::<TcpLink>(limit, encrypted, soon())).map(<[u8]>::to_vec)
    }

    /// The answer to the first one.
    fn answer(config: &Config, limit: Option<u16>, encrypted: bool) -> Result<Vec<u8>> {
        next(&mut KeyHolder::new(config), limit, encrypted)
    }

    #[test]
    fn keys_come_from_commands_and_files_without_their_line_end() {
        let key = read(&KeySource::Command("echo secret".into()), soon());
        assert_eq!(key.expect("echo works"), b"secret");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        std::fs::write(&path, "secret\r\n").expect("a file");
        let key = read(&KeySource::File(path.display().to_string()), soon());
        assert_eq!(key.expect("it is there"), b"secret");
    }

    #[test]
    fn errors_name_the_source_and_not_the_secret() {
        for (source, part) in [
            (KeySource::Env("FIREARROW_NO_SUCH_KEY".into()), "FIREARROW_NO_SUCH_KEY"),
            (KeySource::File("/no/such/file".into()), "/no/such/file"),
            (KeySource::Command("exit 3 ; token".into()), "3"),
        ] {
            assert_refused(&source, part);
        }
        let config = Config::default();
        let error = answer(&config, None, true).expect_err("no source").to_string();
        assert!(error.contains("FIREARROW_DB_KEY"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn sources_without_an_end_are_not_read_to_it() {
        for source in
            [KeySource::File("/dev/zero".into()), KeySource::Command("cat /dev/zero # token".into())]
        {
            assert_refused(&source, "65535 bytes");
        }
    }

    fn assert_refused(source: &KeySource, part: &str) {
        let error = read(source, soon()).expect_err("there is no key");
        assert_eq!(error.kind(), Kind::Configuration);
        assert!(error.to_string().contains(part) && !error.to_string().contains("token"), "{error}");
    }

    #[test]
    fn a_key_leaves_encrypted_only() {
        let mut config = Config { db_key: Some(KeySource::Literal(b"secret".to_vec())), ..Config::default() };
        let error = answer(&config, None, false).expect_err("it is not encrypted");
        assert_eq!(error.kind(), Kind::Configuration);
        assert!(
            error.message().contains("FIREARROW_DB_KEY_IN_CLEAR=yes") && !error.message().contains("secret")
        );
        assert_eq!(answer(&config, None, true).expect("encrypted"), b"secret");
        config.db_key_in_clear = true;
        assert_eq!(answer(&config, None, false).expect("allowed"), b"secret");
        assert!(answer(&config, Some(5), true).is_err(), "too long for the server");
    }

    #[test]
    fn a_command_runs_once_however_often_the_server_asks() {
        let folder = tempfile::tempdir().expect("a folder");
        let runs = folder.path().join("runs");
        // A failure of the first command would lead to no key, in both shells.
        let command = format!("echo run>> \"{}\" && echo key", runs.display());
        let config = Config { db_key: Some(KeySource::Command(command)), ..Config::default() };
        let mut holder = KeyHolder::new(&config);
        let answers = (0..2000).map_while(|_| next(&mut holder, None, true).ok());
        let answers: Vec<_> = answers.collect();
        assert_eq!(answers, vec![b"key".to_vec(); MOST_QUESTIONS as usize]);
        let error = next(&mut holder, None, true).expect_err("enough");
        assert_eq!(error.kind(), Kind::Protocol);
        assert_eq!(std::fs::read_to_string(&runs).expect("it ran").trim_end(), "run");
    }
}
