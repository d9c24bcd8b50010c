//! The key of an encrypted database, from where the configuration says.

use crate::config::KeySource;
use crate::error::{Error, Kind, Result};
use std::process::{Command, Stdio};

/// Fetches the key. Neither it nor the command that prints it appears in an error.
pub(crate) fn read(source: Option<&KeySource>) -> Result<Vec<u8>> {
    match source {
        None => Err(failed(
            "the server asks for the key of the encrypted database; \
             give it with db_key=env:NAME, db_key=file:PATH or db_key=cmd:COMMAND",
        )),
        Some(KeySource::Literal(key)) => Ok(key.clone()),
        Some(KeySource::Env(name)) => match std::env::var(name) {
            Ok(key) => Ok(key.into_bytes()),
            Err(_) => Err(failed(format!("db_key: the environment variable {name} is not set"))),
        },
        Some(KeySource::File(path)) => match std::fs::read(path) {
            Ok(key) => Ok(without_line_end(key)),
            Err(error) => Err(failed(format!("db_key: {path} cannot be read: {error}"))),
        },
        Some(KeySource::Command(command)) => {
            let output = Command::new("sh").arg("-c").arg(command).stdin(Stdio::null()).output();
            match output {
                Ok(output) if output.status.success() => Ok(without_line_end(output.stdout)),
                Ok(output) => Err(failed(format!("db_key: the command failed ({})", output.status))),
                Err(error) => Err(failed(format!("db_key: the command cannot be run: {error}"))),
            }
        }
    }
}

/// Editors and `echo` end a line that is not part of the key.
fn without_line_end(mut key: Vec<u8>) -> Vec<u8> {
    while matches!(key.last(), Some(b'\n' | b'\r')) {
        key.pop();
    }
    key
}

fn failed(message: impl Into<String>) -> Error {
    Error::new(Kind::Configuration, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_commands_without_their_line_end() {
        let key = read(Some(&KeySource::Command("printf 'secret\\n'".into())));
        assert_eq!(key.expect("printf works"), b"secret");
    }

    #[test]
    fn errors_name_the_source_and_not_the_secret() {
        for (source, part) in [
            (None, "db_key="),
            (Some(KeySource::Env("FIREARROW_NO_SUCH_KEY".into())), "FIREARROW_NO_SUCH_KEY"),
            (Some(KeySource::File("/no/such/file".into())), "/no/such/file"),
            (Some(KeySource::Command("exit 3 # token".into())), "3"),
        ] {
            let error = read(source.as_ref()).expect_err("there is no key");
            assert!(error.to_string().contains(part) && !error.to_string().contains("token"), "{error}");
        }
    }
}
