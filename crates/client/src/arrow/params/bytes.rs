//! Text and bytes as parameters: in the message if they fit, otherwise as BLOBs.

use super::error::{ParamErrorKind, Reason, RowReason};
use super::page::encoded;
use super::slots::Plan;
use super::target::Target;
use super::times::zoned_text;
use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BinaryViewArray, FixedSizeBinaryArray,
    LargeBinaryArray, LargeStringArray, StringArray, StringViewArray,
};
use arrow::datatypes::DataType;
use encoding_rs::Encoding;
use firearrow_proto::api::descriptor::charset_id;
use firearrow_proto::api::layout::{FieldKind, FieldLayout};
use std::sync::Arc;

/// Maximum length of a value in a message: the engine's packet decoder adds 2 in 16-bit arithmetic.
pub(super) const MAX_VARYING: usize = 32_765;

/// Converts values of another type into text.
type Render = Box<dyn Fn(&dyn Array) -> Result<StringArray, RowReason> + Send + Sync>;
/// Rejects text that the engine would round.
type Check = Box<dyn Fn(&str) -> Result<(), Reason> + Send + Sync>;

/// How values become text or bytes.
pub(super) struct BytesPlan {
    render: Option<Render>,
    check: Option<Check>,
    target: FieldKind,
    /// The character set of the bytes: DYNAMIC, that of the attachment; NONE for those of a code page; or OCTETS.
    charset: u8,
    /// The code page of text for CHARACTER SET NONE.
    page: Option<&'static Encoding>,
    /// Bytes of the widest value so far, so that the layout seldom changes between batches.
    width: usize,
}

impl BytesPlan {
    /// For text values.
    pub(super) fn text(target: &Target) -> Self {
        // With UTF8, the engine would compute the number of characters as a quarter of the declared bytes.
        Self {
            render: None,
            check: None,
            target: target.kind(),
            charset: charset_id::DYNAMIC,
            page: None,
            width: 0,
        }
    }

    /// For text values that the engine stores as the bytes of this code page, if there is one.
    pub(super) fn paged(target: &Target, page: Option<&'static Encoding>) -> Self {
        let charset = if page.is_some() { charset_id::NONE } else { charset_id::DYNAMIC };
        Self { charset, page, ..Self::text(target) }
    }

    /// For text values that the engine might round.
    pub(super) fn checked(
        target: &Target,
        check: impl Fn(&str) -> Result<(), Reason> + Send + Sync + 'static,
    ) -> Self {
        Self { check: Some(Box::new(check)), ..Self::text(target) }
    }

    /// For values that become text.
    pub(super) fn rendered(
        target: &Target,
        render: impl Fn(&dyn Array) -> Result<StringArray, RowReason> + Send + Sync + 'static,
    ) -> Self {
        Self { render: Some(Box::new(render)), ..Self::text(target) }
    }

    /// For arrays of plain numbers, each of which becomes text.
    pub(super) fn text_of<A: ArrowPrimitiveType>(
        target: &Target,
        text: impl Fn(A::Native) -> Result<String, Reason> + Send + Sync + 'static,
    ) -> Plan {
        Plan::Bytes(Self::rendered(target, move |array| {
            let array = array.as_primitive::<A>();
            render(array, |row| array.value(row), &text)
        }))
    }

    /// For byte values.
    pub(super) fn binary(target: &Target) -> Self {
        Self { charset: charset_id::OCTETS, ..Self::text(target) }
    }

    /// Returns the array to write, and the field that its longest value needs.
    pub(super) fn prepare(&mut self, array: ArrayRef) -> Result<(ArrayRef, FieldLayout), RowReason> {
        let array = match &self.render {
            Some(render) => Arc::new(render(&array)?),
            None => array,
        };
        let array = match self.page {
            Some(page) => encoded(array, page)?,
            None => array,
        };
        if let Some(values) = self.zoned(&array) {
            return Ok((values, FieldLayout::plain(FieldKind::TimestampTz)));
        }
        let longest = longest(&array);
        self.check(&array)?;
        let is_text = matches!(self.target, FieldKind::Text(_) | FieldKind::Varying(_) | FieldKind::Blob);
        if longest.bytes > MAX_VARYING && !is_text {
            let message = format!("{} bytes of text are too long for this parameter", longest.bytes);
            return Err(Reason::new(ParamErrorKind::TooLong, message).in_row(longest.row));
        }
        let field = if self.takes_blobs() || longest.bytes > MAX_VARYING {
            let (sub_type, charset) = match self.charset {
                charset_id::OCTETS => (0, charset_id::NONE),
                charset_id::NONE => (1, charset_id::NONE),
                _ => (1, charset_id::UTF8),
            };
            FieldLayout { sub_type, charset, ..FieldLayout::plain(FieldKind::Blob) }
        } else {
            self.width = self.width.max(longest.bytes.next_multiple_of(4)).clamp(4, MAX_VARYING);
            FieldLayout { charset: self.charset, ..FieldLayout::plain(FieldKind::Varying(self.width as u16)) }
        };
        Ok((array, field))
    }

    /// Returns the native values of texts with offsets and regions, which the engine does not accept; `None` unless all
    /// texts have that form and there is at least one.
    fn zoned(&self, array: &dyn Array) -> Option<ArrayRef> {
        if !matches!(self.target, FieldKind::TimestampTz | FieldKind::TimestampTzEx) || self.render.is_some()
        {
            return None;
        }
        let values = ByteValues::of(array)?;
        let mut has_region = false;
        let mut native = Vec::with_capacity(array.len());
        for row in 0..array.len() {
            native.push(match array.is_valid(row) {
                true => {
                    let text = zoned_text(std::str::from_utf8(values.value(row)).ok()?)?;
                    has_region |= text.has_region;
                    Some(text.value)
                }
                false => None,
            });
        }
        let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(native.into_iter(), 12).ok()?;
        has_region.then(|| Arc::new(array) as ArrayRef)
    }

    /// Estimates the message bytes of each of these values.
    pub(super) fn estimate(&self, array: &dyn Array) -> usize {
        match longest(array).bytes {
            _ if self.takes_blobs() => FieldKind::Blob.native().1,
            _ if self.render.is_some() => 64,
            bytes if bytes > MAX_VARYING => FieldKind::Blob.native().1,
            bytes => bytes.max(self.width) + 2,
        }
    }

    /// Whether these values travel as BLOBs.
    pub(super) fn is_blob(&self, array: &dyn Array) -> bool {
        self.takes_blobs() || (self.render.is_none() && longest(array).bytes > MAX_VARYING)
    }

    /// Whether all values travel as BLOBs. Rendered text is short; the engine makes a BLOB of it without a round trip.
    fn takes_blobs(&self) -> bool {
        self.target == FieldKind::Blob && self.render.is_none()
    }

    fn check(&self, array: &dyn Array) -> Result<(), RowReason> {
        let (Some(check), Some(values)) = (&self.check, ByteValues::of(array)) else { return Ok(()) };
        for row in (0..array.len()).filter(|&row| array.is_valid(row)) {
            let text = std::str::from_utf8(values.value(row)).unwrap_or_default();
            check(text).map_err(|reason| reason.in_row(row))?;
        }
        Ok(())
    }
}

struct Longest {
    row: usize,
    bytes: usize,
}

fn longest(array: &dyn Array) -> Longest {
    let mut longest = Longest { row: 0, bytes: 0 };
    let Some(values) = ByteValues::of(array) else { return longest };
    for row in (0..array.len()).filter(|&row| array.is_valid(row)) {
        let bytes = values.value(row).len();
        if bytes > longest.bytes {
            longest = Longest { row, bytes };
        }
    }
    longest
}

/// Renders every value that is not NULL as text.
pub(super) fn render<T>(
    array: &dyn Array,
    value: impl Fn(usize) -> T,
    text: impl Fn(T) -> Result<String, Reason>,
) -> Result<StringArray, RowReason> {
    let rows = 0..array.len();
    rows.map(|row| {
        let valid = array.is_valid(row);
        valid.then(|| text(value(row))).transpose().map_err(|reason| reason.in_row(row))
    })
    .collect()
}

/// The values of any array of text or bytes.
#[derive(Clone, Copy)]
pub(super) enum ByteValues<'a> {
    Utf8(&'a StringArray),
    LargeUtf8(&'a LargeStringArray),
    Utf8View(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    FixedSizeBinary(&'a FixedSizeBinaryArray),
}

impl<'a> ByteValues<'a> {
    pub(super) fn of(array: &'a dyn Array) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => Self::Utf8(array.as_string()),
            DataType::LargeUtf8 => Self::LargeUtf8(array.as_string()),
            DataType::Utf8View => Self::Utf8View(array.as_string_view()),
            DataType::Binary => Self::Binary(array.as_binary()),
            DataType::LargeBinary => Self::LargeBinary(array.as_binary()),
            DataType::BinaryView => Self::BinaryView(array.as_binary_view()),
            DataType::FixedSizeBinary(_) => Self::FixedSizeBinary(array.as_fixed_size_binary()),
            _ => return None,
        })
    }

    pub(super) fn value(self, row: usize) -> &'a [u8] {
        match self {
            Self::Utf8(array) => array.value(row).as_bytes(),
            Self::LargeUtf8(array) => array.value(row).as_bytes(),
            Self::Utf8View(array) => array.value(row).as_bytes(),
            Self::Binary(array) => array.value(row),
            Self::LargeBinary(array) => array.value(row),
            Self::BinaryView(array) => array.value(row),
            Self::FixedSizeBinary(array) => array.value(row),
        }
    }
}
