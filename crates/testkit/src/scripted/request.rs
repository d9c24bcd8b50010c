//! What a client asks. Packets carry no length, so each has to be read to find the next.

use firearrow_proto::api::blr;
use firearrow_proto::wire::Op;
use firearrow_proto::wire::error::{DecodeError, ProtocolError};
use firearrow_proto::wire::xdr::Reader;

/// A request of a client, as far as scripts want to know it. Fields that it does not have are empty.
#[derive(Clone, Debug)]
pub struct Request {
    /// What it is.
    pub op: Op,
    /// The first handle in it: of a statement, a transaction or a BLOB.
    pub handle: u16,
    /// SQL that is to be prepared or executed.
    pub sql: String,
    /// The id of a BLOB that is to be opened.
    pub blob: u64,
    /// Rows that are wanted, or bytes of a segment.
    pub count: u16,
    /// Info items.
    pub items: Vec<u8>,
}

/// Longest string that is taken from a client.
const LONGEST: usize = 64 << 20;

impl Request {
    /// Reads one request and returns how many bytes it has.
    pub(super) fn decode(bytes: &[u8], protocol: u16) -> Result<(Self, usize), DecodeError> {
        let mut reader = Reader::new(bytes);
        let op = reader.op()?;
        let mut request = Self { op, handle: 0, sql: String::new(), blob: 0, count: 0, items: Vec::new() };
        request.read(&mut reader, protocol)?;
        Ok((request, reader.position()))
    }

    fn read(&mut self, reader: &mut Reader<'_>, protocol: u16) -> Result<(), DecodeError> {
        match self.op {
            Op::PING | Op::DUMMY | Op::DISCONNECT | Op::ABORT_AUX_CONNECTION => {}
            Op::CONNECT => {
                words(reader, 3)?;
                string(reader)?;
                let versions = reader.short()?;
                string(reader)?;
                words(reader, usize::from(versions) * 5)?;
            }
            Op::CRYPT_KEY_CALLBACK => {
                string(reader)?;
                words(reader, 1)?;
            }
            Op::CONT_AUTH => (0..4).try_for_each(|_| string(reader).map(drop))?,
            Op::ATTACH | Op::CREATE => {
                words(reader, 1)?;
                string(reader)?;
                string(reader)?;
            }
            Op::TRANSACTION | Op::PREPARE2 | Op::RECONNECT => {
                self.handle = reader.short()?;
                string(reader)?;
            }
            Op::PREPARE_STATEMENT | Op::EXEC_IMMEDIATE => {
                words(reader, 1)?;
                self.handle = reader.short()?;
                words(reader, 1)?;
                self.sql = String::from_utf8_lossy(string(reader)?).into_owned();
                self.items = string(reader)?.to_vec();
                words(reader, 1)?;
            }
            Op::EXECUTE | Op::EXECUTE2 => {
                self.handle = reader.short()?;
                words(reader, 1)?;
                let blr = string(reader)?;
                words(reader, 1)?;
                if reader.short()? > 0 {
                    skip_message(blr, reader)?;
                }
                if self.op == Op::EXECUTE2 {
                    string(reader)?;
                    words(reader, 1)?;
                }
                words(reader, [16, 18, 19].iter().filter(|since| protocol >= **since).count())?;
            }
            Op::FETCH | Op::FETCH_SCROLL => {
                self.handle = reader.short()?;
                string(reader)?;
                words(reader, 1)?;
                self.count = reader.short()?;
                words(reader, if self.op == Op::FETCH_SCROLL { 2 } else { 0 })?;
            }
            Op::INFO_DATABASE | Op::INFO_TRANSACTION | Op::INFO_SQL | Op::INFO_BLOB => {
                self.handle = reader.short()?;
                words(reader, 1)?;
                self.items = string(reader)?.to_vec();
                words(reader, 1)?;
            }
            Op::OPEN_BLOB2 | Op::CREATE_BLOB2 => {
                string(reader)?;
                self.handle = reader.short()?;
                self.blob = reader.quad()?;
            }
            Op::GET_SEGMENT => {
                self.handle = reader.short()?;
                self.count = reader.short()?;
                string(reader)?;
            }
            Op::PUT_SEGMENT => {
                self.handle = reader.short()?;
                words(reader, 1)?;
                string(reader)?;
            }
            Op::FREE_STATEMENT | Op::SEEK_BLOB => {
                self.handle = reader.short()?;
                words(reader, if self.op == Op::SEEK_BLOB { 2 } else { 1 })?;
            }
            Op::CONNECT_REQUEST => words(reader, 3)?,
            Op::QUE_EVENTS => {
                words(reader, 1)?;
                string(reader)?;
                words(reader, 3)?;
            }
            Op::CANCEL_EVENTS => words(reader, 2)?,
            Op::COMMIT
            | Op::ROLLBACK
            | Op::COMMIT_RETAINING
            | Op::ROLLBACK_RETAINING
            | Op::ALLOCATE_STATEMENT
            | Op::CLOSE_BLOB
            | Op::CANCEL_BLOB
            | Op::DETACH
            | Op::DROP_DATABASE
            | Op::CANCEL => self.handle = reader.short()?,
            op => return Err(unknown(format!("{op:?}"))),
        }
        Ok(())
    }
}

fn string<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], DecodeError> {
    reader.cstr("string", LONGEST)
}

fn words(reader: &mut Reader<'_>, count: usize) -> Result<(), DecodeError> {
    (0..count).try_for_each(|_| reader.word().map(drop))
}

/// Passes over parameters: a bitmap of NULLs, then the values of the others.
fn skip_message(blr: &[u8], reader: &mut Reader<'_>) -> Result<(), DecodeError> {
    let fields = fields(blr).ok_or_else(|| unknown("parameters of a type that is not known here".into()))?;
    let nulls = reader.raw(fields.len().div_ceil(8))?;
    for (index, field) in fields.iter().enumerate() {
        if nulls[index / 8] & 1 << (index % 8) != 0 {
            continue;
        }
        match field {
            Field::Fixed(length) => reader.raw(*length).map(drop)?,
            Field::Varying => string(reader).map(drop)?,
        }
    }
    Ok(())
}

enum Field {
    Fixed(usize),
    Varying,
}

/// The fields that BLR describes, without their NULL indicators.
fn fields(blr: &[u8]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    let mut rest = blr.get(6..)?;
    while let [code, tail @ ..] = rest {
        let (field, length) = match *code {
            blr::END => return Some(fields),
            blr::TEXT2 => (Field::Fixed(u16::from_le_bytes([*tail.get(2)?, *tail.get(3)?]).into()), 4),
            blr::VARYING2 => (Field::Varying, 4),
            blr::SHORT | blr::LONG => (Field::Fixed(4), 1),
            blr::QUAD | blr::INT64 => (Field::Fixed(8), 1),
            blr::INT128 => (Field::Fixed(16), 1),
            blr::BLOB2 => (Field::Fixed(8), 4),
            blr::FLOAT | blr::SQL_DATE | blr::SQL_TIME | blr::BOOL => (Field::Fixed(4), 0),
            blr::DEC64 | blr::DOUBLE | blr::SQL_TIME_TZ | blr::TIMESTAMP => (Field::Fixed(8), 0),
            blr::DEC128 => (Field::Fixed(16), 0),
            blr::TIMESTAMP_TZ => (Field::Fixed(12), 0),
            _ => return None,
        };
        fields.push(field);
        rest = tail.get(length + 2..)?; // and a NULL indicator of type SHORT
    }
    None
}

fn unknown(what: String) -> DecodeError {
    ProtocolError::InvalidMessage(what).into()
}
