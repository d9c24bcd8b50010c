//! Queries the tables that the engine keeps in every database.

use firearrow_fbapi::{Attachment, CursorFlags, Library, MessageBuffer, Metadata};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::info::database::FIREBIRD_VERSION;
use firearrow_proto::api::info::{InfoReader, counted_strings};
use firearrow_proto::api::layout::RowLayout;
use firearrow_proto::api::pb::{Dpb, dpb};
use firearrow_proto::api::row::{Native, NativeRows, RowSource, ValueFormat};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

/// Any error that stops the generator.
type Failure = Box<dyn Error>;

/// A row of the queries below: an integer, a name and an integer.
type Row = (i32, String, i32);

/// Rows per fetch.
const BLOCK: usize = 256;

/// An empty, temporary database.
pub(crate) struct Database {
    attachment: Attachment,
}

/// Marks a missing character; it is not a character in Unicode either.
pub(crate) const UNDEFINED: u16 = 0xffff;

/// A character set.
pub(crate) struct CharacterSet {
    pub(crate) id: i32,
    pub(crate) name: String,
    pub(crate) bytes_per_character: i32,
}

impl Database {
    pub(crate) fn create(library: &Arc<Library>, path: &Path) -> Result<Self, Failure> {
        let mut block = Dpb::new();
        block.text(dpb::USER_NAME, "SYSDBA").text(dpb::LC_CTYPE, "UTF8").flag(dpb::UTF8_FILENAME);
        let path = path.to_str().ok_or("the temporary folder has no UTF-8 name")?;
        Ok(Self { attachment: library.create(path, block.as_bytes())? })
    }

    pub(crate) fn engine_version(&self) -> Result<String, Failure> {
        let answer = self.attachment.info(&[FIREBIRD_VERSION], 256)?;
        let item = InfoReader::new(&answer).find(|item| item.code == FIREBIRD_VERSION);
        let versions = item.map(|item| counted_strings(item.value)).unwrap_or_default();
        Ok(versions.into_iter().next().ok_or("the engine does not report its version")?)
    }

    /// Ids and names of the time zone regions, GMT first.
    pub(crate) fn time_zones(&self) -> Result<Vec<(i32, String)>, Failure> {
        let rows = self.rows(
            "select cast(RDB$TIME_ZONE_ID as integer), cast(RDB$TIME_ZONE_NAME as varchar(63)), 0 \
             from RDB$TIME_ZONES order by 1 desc",
        )?;
        Ok(rows.into_iter().map(|(id, name, _)| (id, name)).collect())
    }

    pub(crate) fn character_sets(&self) -> Result<Vec<CharacterSet>, Failure> {
        let rows = self.rows(
            "select cast(RDB$CHARACTER_SET_ID as integer), cast(RDB$CHARACTER_SET_NAME as varchar(63)), \
             cast(RDB$BYTES_PER_CHARACTER as integer) from RDB$CHARACTER_SETS order by 1",
        )?;
        let set = |(id, name, bytes_per_character)| CharacterSet { id, name, bytes_per_character };
        Ok(rows.into_iter().map(set).collect())
    }

    /// Returns the code points of all 256 bytes in a single-byte character set, [`UNDEFINED`] for bytes without a
    /// character. `None` if its first half is not ASCII.
    pub(crate) fn code_points(&self, name: &str) -> Result<Option<Vec<u16>>, Failure> {
        let rows = self.rows(&format!(
            "execute block returns (byte integer, name varchar(63), code integer) as \
                 declare text varchar(1) character set UTF8; \
             begin \
                 byte = 0; name = ''; \
                 while (byte < 256) do begin \
                     begin \
                         text = cast(ascii_char(byte) as char(1) character set {name}); \
                         code = unicode_val(text); \
                         when any do code = {UNDEFINED}; \
                     end \
                     suspend; \
                     byte = byte + 1; \
                 end \
             end"
        ))?;
        // Engines convert most bytes without a character to U+0000, which must not pass for a character.
        let point = |(byte, _, code): Row| if byte > 0 && code == 0 { UNDEFINED } else { code as u16 };
        let points: Vec<u16> = rows.into_iter().map(point).collect();
        let is_ascii = points.len() == 256 && (0..128).all(|byte| points[byte] == byte as u16);
        Ok(is_ascii.then_some(points))
    }

    /// Fails if the engine does not know this name of a code.
    pub(crate) fn check_name(&self, name: &str) -> Result<(), Failure> {
        let mut transaction = self.attachment.start_transaction(&[])?;
        let sql = format!("execute block as begin exit; when gdscode {name} do begin end end");
        let known = self.attachment.prepare(&transaction, &sql, Dialect::Three).map(drop);
        transaction.commit()?;
        known.map_err(|error| format!("{name}: {error}").into())
    }

    pub(crate) fn drop(self) -> Result<(), Failure> {
        Ok(self.attachment.drop_database()?)
    }

    fn rows(&self, sql: &str) -> Result<Vec<Row>, Failure> {
        let mut transaction = self.attachment.start_transaction(&[])?;
        let mut statement = self.attachment.prepare(&transaction, sql, Dialect::Three)?;
        let layout = RowLayout::for_output(&statement.output()?.descriptors()?)?;
        let format = Metadata::for_layout(self.attachment.library(), &layout)?;
        let mut cursor = statement.open_cursor(&transaction, None, Some(&format), CursorFlags::FORWARD)?;
        let stride = layout.native_stride();
        let mut buffer = MessageBuffer::new(BLOCK * stride);
        let mut result = Vec::new();
        loop {
            let (count, is_last) = cursor.fetch_block(&mut buffer, stride, BLOCK)?;
            let rows = NativeRows::new(&layout, buffer.bytes(), count).ok_or("the buffer is too small")?;
            for row in 0..count {
                let number = |column| rows.field(row, column).and_then(Native::i32);
                let name = rows.field(row, 1).and_then(Native::varying).ok_or("a name is NULL")?;
                let name = String::from_utf8(name.to_vec())?.trim_end().to_owned();
                result.push((number(0).ok_or("an id is NULL")?, name, number(2).ok_or("a number is NULL")?));
            }
            if is_last {
                break;
            }
        }
        cursor.close()?;
        drop(statement);
        transaction.commit()?;
        Ok(result)
    }
}
