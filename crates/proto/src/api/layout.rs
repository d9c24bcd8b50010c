//! The format of one message: its BLR, its native layout and its packed form.

use super::blr;
use super::descriptor::{Descriptor, SqlType, charset_id};

/// How the value of a field is stored, with its size where that varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are Firebird's own")]
pub enum FieldKind {
    /// Exactly this many bytes, padded by the sender.
    Text(u16),
    /// A byte count, then at most this many bytes.
    Varying(u16),
    Short,
    Long,
    Int64,
    Int128,
    Float,
    Double,
    Dec16,
    Dec34,
    Date,
    Time,
    Timestamp,
    TimeTz,
    TimeTzEx,
    TimestampTz,
    TimestampTzEx,
    Boolean,
    /// Id of a BLOB.
    Blob,
    /// Id of an array.
    Array,
    /// No value: the parameter of `? IS NULL`.
    Nothing,
}

impl FieldKind {
    /// Alignment and size in a native message (Firebird's `MsgMetadata` rules; 64-bit ABI).
    pub const fn native(self) -> (usize, usize) {
        match self {
            Self::Text(n) => (1, n as usize),
            Self::Varying(n) => (2, n as usize + 2),
            Self::Short => (2, 2),
            Self::Long | Self::Float | Self::Date | Self::Time => (4, 4),
            Self::Int64 | Self::Double | Self::Dec16 => (8, 8),
            Self::Int128 | Self::Dec34 => (8, 16),
            Self::Timestamp | Self::TimeTz | Self::TimeTzEx | Self::Blob | Self::Array => (4, 8),
            Self::TimestampTz | Self::TimestampTzEx => (4, 12),
            Self::Boolean => (1, 1),
            Self::Nothing => (1, 0),
        }
    }

    /// Bytes of a non-null value in a packed row of protocol 13 and later; `None` for VARYING.
    pub const fn packed(self) -> Option<usize> {
        Some(match self {
            Self::Text(n) => (n as usize + 3) & !3,
            Self::Varying(_) => return None,
            Self::Short | Self::Long | Self::Float | Self::Date | Self::Time | Self::Boolean => 4,
            Self::Int64 | Self::Double | Self::Dec16 | Self::Timestamp | Self::Blob | Self::Array => 8,
            Self::TimeTz => 8,
            Self::TimeTzEx | Self::TimestampTz => 12,
            Self::Int128 | Self::Dec34 | Self::TimestampTzEx => 16,
            Self::Nothing => 0,
        })
    }

    /// The API type number of this kind.
    pub const fn sql_type(self) -> SqlType {
        match self {
            Self::Text(_) => SqlType::TEXT,
            Self::Varying(_) => SqlType::VARYING,
            Self::Short => SqlType::SHORT,
            Self::Long => SqlType::LONG,
            Self::Int64 => SqlType::INT64,
            Self::Int128 => SqlType::INT128,
            Self::Float => SqlType::FLOAT,
            Self::Double => SqlType::DOUBLE,
            Self::Dec16 => SqlType::DEC16,
            Self::Dec34 => SqlType::DEC34,
            Self::Date => SqlType::DATE,
            Self::Time => SqlType::TIME,
            Self::Timestamp => SqlType::TIMESTAMP,
            Self::TimeTz => SqlType::TIME_TZ,
            Self::TimeTzEx => SqlType::TIME_TZ_EX,
            Self::TimestampTz => SqlType::TIMESTAMP_TZ,
            Self::TimestampTzEx => SqlType::TIMESTAMP_TZ_EX,
            Self::Boolean => SqlType::BOOLEAN,
            Self::Blob => SqlType::BLOB,
            Self::Array => SqlType::ARRAY,
            Self::Nothing => SqlType::NULL,
        }
    }
}

/// One field of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    /// Storage of the value.
    pub kind: FieldKind,
    /// Decimal exponent of exact numerics, ≤ 0.
    pub scale: i8,
    /// BLOB sub type.
    pub sub_type: i16,
    /// Character set id of text and text BLOBs (low byte only).
    pub charset: u8,
    /// Offset of the value in a native message.
    pub offset: usize,
    /// Offset of the 16-bit null indicator in a native message.
    pub null_offset: usize,
}

/// A description from which no message can be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field {}: {reason}", index + 1)]
pub struct LayoutError {
    /// 0-based index of the field.
    pub index: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// The format of a message, for both the wire and the native API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    fields: Vec<FieldLayout>,
    native_length: usize,
    alignment: usize,
}

/// A message without fields.
impl Default for RowLayout {
    fn default() -> Self {
        Self::new([])
    }
}

/// Most fields that a message may have.
pub const MAX_FIELDS: usize = 32767;

impl RowLayout {
    /// Lays out the given fields in order. Ignores the offsets in them.
    pub fn new(fields: impl IntoIterator<Item = FieldLayout>) -> Self {
        let mut layout = Self { fields: Vec::new(), native_length: 0, alignment: 2 };
        for mut field in fields {
            let (align, size) = field.kind.native();
            layout.alignment = layout.alignment.max(align);
            field.offset = layout.native_length.next_multiple_of(align);
            field.null_offset = (field.offset + size).next_multiple_of(2);
            layout.native_length = field.null_offset + 2;
            layout.fields.push(field);
        }
        layout
    }

    /// Returns the layout for fetching these columns.
    ///
    /// Requests TIME WITH TIME ZONE in its EX form, which carries the displacement that its text needs.
    pub fn for_output(columns: &[Descriptor]) -> Result<Self, LayoutError> {
        let mut layout = Self::for_descriptors(columns)?;
        for field in &mut layout.fields {
            if field.kind == FieldKind::TimeTz {
                field.kind = FieldKind::TimeTzEx;
            }
        }
        Ok(layout) // TIME_TZ and TIME_TZ_EX have the same native size, so no offset moves
    }

    /// Returns the layout that follows the description exactly, as parameters need.
    pub fn for_descriptors(columns: &[Descriptor]) -> Result<Self, LayoutError> {
        if columns.len() > MAX_FIELDS {
            return Err(LayoutError { index: MAX_FIELDS, reason: "more than 32767 fields".into() });
        }
        let mut fields = Vec::with_capacity(columns.len());
        for (index, column) in columns.iter().enumerate() {
            fields.push(field_of(column).map_err(|reason| LayoutError { index, reason })?);
        }
        Ok(Self::new(fields))
    }

    /// The fields in order.
    pub fn fields(&self) -> &[FieldLayout] {
        &self.fields
    }

    /// Length of a native message: the end of its last null indicator.
    pub fn native_length(&self) -> usize {
        self.native_length
    }

    /// Distance between native messages in an array.
    pub fn native_stride(&self) -> usize {
        self.native_length.next_multiple_of(self.alignment)
    }

    /// Bytes of the null bitmap in a packed row, including padding.
    pub fn bitmap_length(&self) -> usize {
        self.fields.len().div_ceil(8).next_multiple_of(4)
    }

    /// The BLR that describes this message to the server; empty when there are no fields.
    pub fn blr(&self) -> Vec<u8> {
        if self.fields.is_empty() {
            return Vec::new();
        }
        let mut out = vec![blr::VERSION5, blr::BEGIN, blr::MESSAGE, 0];
        out.extend_from_slice(&(self.fields.len() as u16 * 2).to_le_bytes());
        for field in &self.fields {
            field.write_blr(&mut out);
            out.extend_from_slice(&[blr::SHORT, 0]); // the null indicator, of scale 0
        }
        out.extend_from_slice(&[blr::END, blr::EOC]);
        out
    }
}

impl FieldLayout {
    /// A field of this kind without scale, sub type or character set.
    pub fn plain(kind: FieldKind) -> Self {
        Self { kind, scale: 0, sub_type: 0, charset: 0, offset: 0, null_offset: 0 }
    }

    /// Appends the BLR of the value's type.
    pub(crate) fn write_blr(&self, out: &mut Vec<u8>) {
        let scale = self.scale as u8;
        let charset = u16::from(self.charset);
        match self.kind {
            FieldKind::Text(n) => {
                out.push(blr::TEXT2);
                out.extend_from_slice(&charset.to_le_bytes());
                out.extend_from_slice(&n.to_le_bytes());
            }
            FieldKind::Varying(n) => {
                out.push(blr::VARYING2);
                out.extend_from_slice(&charset.to_le_bytes());
                out.extend_from_slice(&n.to_le_bytes());
            }
            FieldKind::Short => out.extend_from_slice(&[blr::SHORT, scale]),
            FieldKind::Long => out.extend_from_slice(&[blr::LONG, scale]),
            FieldKind::Int64 => out.extend_from_slice(&[blr::INT64, scale]),
            FieldKind::Int128 => out.extend_from_slice(&[blr::INT128, scale]),
            FieldKind::Float => out.push(blr::FLOAT),
            FieldKind::Double => out.push(blr::DOUBLE),
            FieldKind::Dec16 => out.push(blr::DEC64),
            FieldKind::Dec34 => out.push(blr::DEC128),
            FieldKind::Date => out.push(blr::SQL_DATE),
            FieldKind::Time => out.push(blr::SQL_TIME),
            FieldKind::Timestamp => out.push(blr::TIMESTAMP),
            FieldKind::TimeTz => out.push(blr::SQL_TIME_TZ),
            FieldKind::TimestampTz => out.push(blr::TIMESTAMP_TZ),
            FieldKind::TimeTzEx => out.push(blr::EX_TIME_TZ),
            FieldKind::TimestampTzEx => out.push(blr::EX_TIMESTAMP_TZ),
            FieldKind::Boolean => out.push(blr::BOOL),
            FieldKind::Blob => {
                out.push(blr::BLOB2);
                out.extend_from_slice(&self.sub_type.to_le_bytes());
                out.extend_from_slice(&charset.to_le_bytes());
            }
            FieldKind::Array => out.extend_from_slice(&[blr::QUAD, 0]),
            FieldKind::Nothing => out.extend_from_slice(&[blr::TEXT2, 0, 0, 0, 0]),
        }
    }
}

fn field_of(column: &Descriptor) -> Result<FieldLayout, String> {
    let text_length = |limit: u32| {
        u16::try_from(column.length)
            .ok()
            .filter(|&n| u32::from(n) <= limit)
            .ok_or_else(|| format!("{:?} of {} bytes", column.sql_type, column.length))
    };
    let kind = match column.sql_type {
        SqlType::TEXT => FieldKind::Text(text_length(65535)?),
        // The server's packet decoder adds 2 in 16-bit arithmetic: longer declarations would overflow.
        SqlType::VARYING => FieldKind::Varying(text_length(65533)?),
        SqlType::SHORT => FieldKind::Short,
        SqlType::LONG => FieldKind::Long,
        SqlType::INT64 => FieldKind::Int64,
        SqlType::INT128 => FieldKind::Int128,
        SqlType::FLOAT => FieldKind::Float,
        SqlType::DOUBLE | SqlType::D_FLOAT => FieldKind::Double,
        SqlType::DEC16 => FieldKind::Dec16,
        SqlType::DEC34 => FieldKind::Dec34,
        SqlType::DATE => FieldKind::Date,
        SqlType::TIME => FieldKind::Time,
        SqlType::TIMESTAMP => FieldKind::Timestamp,
        SqlType::TIME_TZ => FieldKind::TimeTz,
        SqlType::TIME_TZ_EX => FieldKind::TimeTzEx,
        SqlType::TIMESTAMP_TZ => FieldKind::TimestampTz,
        SqlType::TIMESTAMP_TZ_EX => FieldKind::TimestampTzEx,
        SqlType::BOOLEAN => FieldKind::Boolean,
        SqlType::BLOB => FieldKind::Blob,
        SqlType::ARRAY | SqlType::QUAD => FieldKind::Array,
        SqlType::NULL => FieldKind::Nothing,
        other => return Err(format!("unknown SQL type {}", other.0)),
    };
    let scale = i8::try_from(column.scale as i16 as i32);
    let is_exact = matches!(kind, FieldKind::Short | FieldKind::Long | FieldKind::Int64 | FieldKind::Int128);
    Ok(FieldLayout {
        kind,
        scale: if is_exact { scale.map_err(|_| format!("scale {}", column.scale))? } else { 0 },
        sub_type: if kind == FieldKind::Blob { column.sub_type as i16 } else { 0 },
        charset: match column.charset() {
            charset_id::DYNAMIC => charset_id::UTF8,
            other => other,
        },
        offset: 0,
        null_offset: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(kinds: &[FieldKind]) -> RowLayout {
        RowLayout::new(kinds.iter().map(|&kind| FieldLayout::plain(kind)))
    }

    #[test]
    fn native_lengths_follow_the_reference_examples() {
        assert_eq!(layout(&[FieldKind::Long, FieldKind::Varying(10)]).native_length(), 20);
        assert_eq!(layout(&[FieldKind::Short, FieldKind::Int64]).native_length(), 18);
    }

    #[test]
    fn blr_follows_the_reference_examples() {
        assert_eq!(layout(&[FieldKind::Long]).blr(), [5, 2, 4, 0, 2, 0, 8, 0, 7, 0, 0xff, 0x4c]);
        let mut name = FieldLayout::plain(FieldKind::Varying(20));
        name.charset = charset_id::UTF8;
        let layout = RowLayout::new([name, FieldLayout::plain(FieldKind::Int64)]);
        assert_eq!(layout.blr(), [5, 2, 4, 0, 4, 0, 0x26, 4, 0, 0x14, 0, 7, 0, 0x10, 0, 7, 0, 0xff, 0x4c]);
    }
}
