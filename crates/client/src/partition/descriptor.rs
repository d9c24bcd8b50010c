//! A partition as bytes that can be sent elsewhere.
//!
//! ```text
//! "FbPartn\0"  version u16
//! index u32  count u32  dialect u32  snapshot u64 (0: the reader's own)  leader u64
//! database  sql  number of switches u32  (name value)…  declared precisions (0: none)  parameters
//!                                                                          each of these: length u32, bytes
//! CRC-32 of all that u32
//! ```
//! Numbers are little-endian. The parameters are an Arrow IPC stream, empty without any. There is neither an address nor
//! a password inside.

use super::{Partition, Snapshot};
use crate::arrow::ReadOptions;
use crate::error::{Error, Kind, Result};
use arrow::array::RecordBatch;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use firearrow_proto::api::dialect::Dialect;
use std::panic::catch_unwind;

const MAGIC: &[u8; 8] = b"FbPartn\0";
const VERSION: u16 = 3;

impl Partition {
    /// Returns the partition as bytes, for [`from_bytes`](Self::from_bytes) on another connection, in another process
    /// or on another machine.
    ///
    /// # Errors
    /// [`Kind::Parameter`] when the parameters cannot be written as Arrow IPC.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(self.index.to_le_bytes());
        bytes.extend(self.count.to_le_bytes());
        bytes.extend(u32::from(self.dialect.number()).to_le_bytes());
        let Snapshot { number, leader } = self.snapshot.unwrap_or(Snapshot { number: 0, leader: 0 });
        bytes.extend(number.to_le_bytes());
        bytes.extend(leader.to_le_bytes());
        put(&mut bytes, self.database.as_bytes());
        put(&mut bytes, self.sql.as_bytes());
        let switches: Vec<_> =
            ReadOptions::NAMES.iter().filter_map(|name| Some((name, self.read.value(name)?))).collect();
        bytes.extend((switches.len() as u32).to_le_bytes());
        for (name, value) in switches {
            put(&mut bytes, name.as_bytes());
            put(&mut bytes, value.as_bytes());
        }
        let precisions = self.read.declared_precision.iter().map(|digits| digits.unwrap_or_default());
        put(&mut bytes, &precisions.collect::<Vec<u8>>());
        let parameters = self.parameters.as_ref().map(written).transpose()?;
        put(&mut bytes, &parameters.unwrap_or_default());
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// Reads a partition that [`to_bytes`](Self::to_bytes) has written.
    ///
    /// # Errors
    /// [`Kind::Configuration`] when it is something else, damaged, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| wrong("it does not begin like one"))?;
        let (version, _) = rest.split_first_chunk().ok_or_else(cut)?;
        let version = u16::from_le_bytes(*version);
        if version != VERSION {
            return Err(wrong(&format!("it has version {version}, this firearrow reads version {VERSION}")));
        }
        let (body, sum) = bytes.split_last_chunk().ok_or_else(cut)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(wrong("its checksum differs: it has been changed or cut on its way"));
        }
        let mut reader = Reader(body.get(MAGIC.len() + 2..).ok_or_else(cut)?);
        let (index, count) = (reader.number()?, reader.number()?);
        let dialect = u8::try_from(reader.number()?).ok().and_then(Dialect::from_number);
        let dialect = dialect.ok_or_else(|| wrong("it names an SQL dialect that does not exist"))?;
        let (number, leader) = (u64::from_le_bytes(reader.chunk()?), u64::from_le_bytes(reader.chunk()?));
        let snapshot = (number != 0).then_some(Snapshot { number, leader });
        let (database, sql) = (reader.text()?.to_owned(), reader.text()?.to_owned());
        let mut read = ReadOptions::default();
        for _ in 0..reader.number()? {
            let (name, value) = (reader.text()?, reader.text()?);
            read.set(name, value).map_err(|error| wrong(&error.to_string()))?;
        }
        let precisions = reader.bytes()?.iter();
        read.declared_precision =
            precisions.map(|&digits| Some(digits).filter(|&digits| digits > 0)).collect();
        let parameters = match reader.bytes()? {
            [] => None,
            parameters => Some(read_back(parameters)?),
        };
        if !reader.0.is_empty() || index >= count {
            return Err(cut());
        }
        Ok(Self { database, snapshot, dialect, sql, parameters, read, index, count })
    }
}

fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u32).to_le_bytes());
    bytes.extend(part);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn chunk<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (chunk, rest) = self.0.split_first_chunk().ok_or_else(cut)?;
        self.0 = rest;
        Ok(*chunk)
    }

    fn number(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.chunk()?))
    }

    fn bytes(&mut self) -> Result<&'a [u8]> {
        let length = self.number()? as usize;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(cut)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'a str> {
        str::from_utf8(self.bytes()?).map_err(|_| cut())
    }
}

fn written(parameters: &RecordBatch) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut write = || {
        let mut writer = StreamWriter::try_new(&mut bytes, parameters.schema_ref())?;
        writer.write(parameters)?;
        writer.finish()
    };
    write().map_err(|error| Error::new(Kind::Parameter, format!("parameters of a partition: {error}")))?;
    Ok(bytes)
}

/// Arrow's reader panics where lengths inside lie, which a checksum does not exclude.
fn read_back(bytes: &[u8]) -> Result<RecordBatch> {
    let read = || StreamReader::try_new(bytes, None)?.next().transpose();
    let batch = catch_unwind(read).map_err(|_| wrong("its parameters are malformed"))?;
    let batch = batch.map_err(|error| wrong(&error.to_string()))?.ok_or_else(cut)?;
    if batch.num_rows() == 1 { Ok(batch) } else { Err(cut()) }
}

fn wrong(why: &str) -> Error {
    Error::new(Kind::Configuration, format!("no descriptor of a partition: {why}"))
}

fn cut() -> Error {
    wrong("it is not complete")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Params;
    use arrow::array::{Int32Array, StringArray};
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;
    use std::sync::Arc;

    fn partition() -> Partition {
        let mut read = ReadOptions::default();
        read.set("decfloat", "decimal128(20,4)").expect("a switch");
        read.declared_precision = vec![None, Some(12)];
        let parameters: [arrow::array::ArrayRef; 2] =
            [Arc::new(Int32Array::from(vec![7])), Arc::new(StringArray::from(vec![None::<&str>]))];
        Partition {
            database: "{C016AF63}".into(),
            snapshot: Some(Snapshot { number: 1 << 40, leader: 1 << 41 }),
            dialect: Dialect::One,
            sql: "SELECT Ä FROM T WHERE A = ? AND B = ?".into(),
            parameters: Params::row(parameters).batch().cloned(),
            read,
            index: 2,
            count: 3,
        }
    }

    #[test]
    fn descriptors_read_back() {
        let whole = partition();
        for partition in [whole.clone(), Partition { snapshot: None, parameters: None, ..whole }] {
            let bytes = partition.to_bytes().expect("bytes");
            assert_eq!(Partition::from_bytes(&bytes).expect("a partition"), partition);
        }
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = partition().to_bytes().expect("bytes");
        for length in 0..bytes.len() {
            let error = Partition::from_bytes(&bytes[..length]).expect_err("it is cut");
            assert_eq!(error.kind(), Kind::Configuration);
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            Partition::from_bytes(&damaged).expect_err("it is damaged");
        }
    }

    #[test]
    fn lengths_inside_are_not_trusted() {
        let mut bytes = partition().to_bytes().expect("bytes");
        bytes.truncate(bytes.len() - 4);
        for at in 10..bytes.len() - 4 {
            let mut lying = bytes.clone();
            lying[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            lying.extend(crc32fast::hash(&lying).to_le_bytes());
            // Whatever it says, it is an error or some partition.
            let _ = Partition::from_bytes(&lying);
        }
    }

    proptest! {
        #[test]
        fn whoever_has_written_it_nothing_panics(
            changes in vec((any::<Index>(), any::<u8>()), 1..24),
            end in any::<Index>(),
            is_cut in any::<bool>(),
        ) {
            let mut bytes = partition().to_bytes().expect("bytes");
            bytes.truncate(bytes.len() - 4);
            let body = MAGIC.len() + 2;
            if is_cut {
                bytes.truncate(body + end.index(bytes.len() - body));
            }
            for (at, value) in changes {
                if bytes.len() > body {
                    let at = body + at.index(bytes.len() - body);
                    bytes[at] = value;
                }
            }
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            if let Ok(partition) = Partition::from_bytes(&bytes) {
                prop_assert!(partition.index() < partition.count());
            }
        }
    }

    #[test]
    fn other_versions_are_named() {
        let mut bytes = partition().to_bytes().expect("bytes");
        bytes[8] = 2;
        let error = Partition::from_bytes(&bytes).expect_err("it is older");
        assert!(error.message().contains("version 2"), "{error}");
    }
}
