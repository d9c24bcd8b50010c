//! What a test program and a [`Host`](crate::Host) say to each other: lists of texts, each with its length before it.
//!
//! | request | answer |
//! |---|---|
//! | `start`, generation, [settings](crate::ServerConfig::fields) | number of the server, build, port, process, root folder, client library |
//! | `is running`, process | `true` or `false` |
//! | what a [`Machine`](crate::server::Machine) can do, number of the server, arguments | what it returns |

use std::io::{self, ErrorKind, Read, Write};

use crate::Skip;
use crate::generation::Failure;

/// What a host answers.
pub(crate) type Answer = Result<Vec<String>, Refusal>;

/// Why a host did not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It has tried.
    Failed(io::Error),
    /// There is no server, or none that starts.
    Launch(Failure),
}

/// Sends one message.
pub(crate) fn write(to: &mut impl Write, fields: &[&str]) -> io::Result<()> {
    let mut bytes = length(fields.len())?.to_vec();
    for field in fields {
        bytes.extend_from_slice(&length(field.len())?);
        bytes.extend_from_slice(field.as_bytes());
    }
    to.write_all(&bytes)
}

/// Waits for a message. Returns `None` if the peer closes the connection instead.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Vec<String>>> {
    let mut count = [0; 4];
    // A process that was killed may reset its connections.
    match from.read_exact(&mut count) {
        Ok(()) => {}
        Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    let count = at_most(count, MOST_FIELDS)?;
    let mut fields = Vec::with_capacity(count);
    for _ in 0..count {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let mut field = vec![0; at_most(length, MOST_BYTES)?];
        from.read_exact(&mut field)?;
        fields.push(String::from_utf8(field).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?);
    }
    Ok(Some(fields))
}

/// Sends an answer.
pub(crate) fn write_answer(to: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let text;
    let fields = match answer {
        Ok(fields) => [&[DONE][..], &fields.iter().map(String::as_str).collect::<Vec<_>>()].concat(),
        Err(Refusal::Failed(error)) => {
            text = error.to_string();
            vec![if error.kind() == ErrorKind::TimedOut { TIMED_OUT } else { FAILED }, &text]
        }
        Err(Refusal::Launch(Failure::Missing(skip))) => vec![MISSING, &skip.name, &skip.reason],
        Err(Refusal::Launch(Failure::Broken(text))) => vec![BROKEN, text],
    };
    write(to, &fields)
}

/// Waits for an answer.
pub(crate) fn read_answer(from: &mut impl Read) -> Answer {
    let fields = read(from).map_err(Refusal::Failed)?;
    let mut fields =
        fields.ok_or_else(|| refused(ErrorKind::UnexpectedEof, "the host of servers has gone"))?;
    match &fields.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [DONE, ..] => Ok(fields.split_off(1)),
        [FAILED, text] => Err(refused(ErrorKind::Other, text)),
        [TIMED_OUT, text] => Err(refused(ErrorKind::TimedOut, text)),
        [MISSING, name, reason] => Err(Refusal::Launch(Failure::Missing(Skip::new(name, *reason)))),
        [BROKEN, text] => Err(Refusal::Launch(Failure::Broken((*text).to_owned()))),
        other => Err(refused(ErrorKind::InvalidData, &format!("no answer: {other:?}"))),
    }
}

fn refused(kind: ErrorKind, text: &str) -> Refusal {
    Refusal::Failed(io::Error::new(kind, text))
}

fn length(length: usize) -> io::Result<[u8; 4]> {
    u32::try_from(length).map(u32::to_be_bytes).map_err(|_| ErrorKind::InvalidInput.into())
}

fn at_most(length: [u8; 4], most: u32) -> io::Result<usize> {
    let length = u32::from_be_bytes(length);
    if length > most {
        return Err(io::Error::new(ErrorKind::InvalidData, format!("{length} is more than {most}")));
    }
    Ok(length as usize)
}

const DONE: &str = "done";
const FAILED: &str = "failed";
const TIMED_OUT: &str = "timed out";
const MISSING: &str = "missing";
const BROKEN: &str = "broken";
const MOST_FIELDS: u32 = 1000;
/// A log or a script.
const MOST_BYTES: u32 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn through(answer: Answer) -> Answer {
        let mut bytes = Vec::new();
        write_answer(&mut bytes, &answer).unwrap();
        read_answer(&mut bytes.as_slice())
    }

    #[test]
    fn texts_arrive_as_they_were_sent() {
        let mut bytes = Vec::new();
        write(&mut bytes, &["isql", "", "SELECT 'é\t\n'"]).unwrap();
        write(&mut bytes, &[]).unwrap();
        let mut rest = bytes.as_slice();
        assert_eq!(read(&mut rest).unwrap().unwrap(), ["isql", "", "SELECT 'é\t\n'"]);
        assert!(read(&mut rest).unwrap().unwrap().is_empty());
        assert_eq!(read(&mut rest).unwrap(), None, "the end");
    }

    #[test]
    fn cut_and_oversized_messages_are_errors() {
        let mut bytes = Vec::new();
        write(&mut bytes, &["log", "1"]).unwrap();
        for length in 4..bytes.len() {
            read(&mut &bytes[..length]).unwrap_err();
        }
        read(&mut &[0xff; 8][..]).unwrap_err();
        read(&mut &[0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff][..]).unwrap_err();
    }

    #[test]
    fn each_answer_arrives() {
        assert_eq!(through(Ok(vec!["1".into()])).unwrap(), ["1"]);
        for kind in [ErrorKind::TimedOut, ErrorKind::Other] {
            let Err(Refusal::Failed(error)) = through(Err(refused(kind, "no"))) else { panic!("{kind}") };
            assert_eq!((error.kind(), error.to_string().as_str()), (kind, "no"));
        }
        let skip = Skip::new("Firebird 5.0", "not here");
        let missing = through(Err(Refusal::Launch(Failure::Missing(skip.clone()))));
        assert!(matches!(missing, Err(Refusal::Launch(Failure::Missing(found))) if found == skip));
        let broken = through(Err(Refusal::Launch(Failure::Broken("its log".into()))));
        assert!(matches!(broken, Err(Refusal::Launch(Failure::Broken(text))) if text == "its log"));
    }
}
