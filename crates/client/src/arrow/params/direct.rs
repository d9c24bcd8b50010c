//! One row of plain values as a message, without arrays.
//!
//! It takes the values that need no conversion, and writes them as [`ParamEncoder`](super::ParamEncoder) would; the test
//! `they_are_the_messages_of_their_arrays` compares the two.

use super::bytes::MAX_VARYING;
use super::options::ParamOptions;
use super::target::is_none_text;
use super::times::{instant, two_words};
use crate::params::Scalar;
use arrow::datatypes::{DataType, TimeUnit};
use firearrow_proto::api::descriptor::{Descriptor, charset_id};
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::value::unix_days_to_date;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

/// The message of one row, written again and again.
#[derive(Debug)]
pub(crate) struct DirectRow {
    /// The parameters as the statement describes them.
    targets: Vec<FieldLayout>,
    /// The fields of the last row, which are those of the next one if its values have the same types.
    layout: Arc<RowLayout>,
    /// For each field a variant whose values fit, as far as all of them need the same field.
    fitting: Vec<Discriminant<Scalar>>,
    bytes: Vec<u8>,
}

/// A text field is used again if it has at most twice the room needed, and this many bytes.
const SPARE: usize = 1024;

impl DirectRow {
    /// `None` if the description makes no message.
    pub(crate) fn new(parameters: &[Descriptor]) -> Option<Self> {
        let targets = RowLayout::for_descriptors(parameters).ok()?.fields().to_vec();
        Some(Self { targets, layout: Arc::default(), fitting: Vec::new(), bytes: Vec::new() })
    }

    pub(crate) fn layout(&self) -> &Arc<RowLayout> {
        &self.layout
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes a row; `false` if one of its values is not plain, or if there are too few or too many.
    pub(crate) fn encode(&mut self, values: &[Scalar], options: &ParamOptions) -> bool {
        self.write(values, options).is_some()
    }

    fn write(&mut self, values: &[Scalar], options: &ParamOptions) -> Option<()> {
        if values.len() != self.targets.len() || values.is_empty() {
            return None;
        }
        let mut fits = self.layout.fields().len() == values.len();
        for (index, (value, target)) in values.iter().zip(&self.targets).enumerate() {
            if fits && has_one_field(value) && self.fitting[index] == discriminant(value) {
                continue;
            }
            if options.none_page.is_some() && is_none_text(target) && is_foreign(value) {
                return None;
            }
            let needed = field(value, target)?;
            fits = fits && has_room(&self.layout.fields()[index], &needed);
            if fits && has_one_field(value) {
                self.fitting[index] = discriminant(value);
            }
        }
        if !fits {
            let fields = values.iter().zip(&self.targets).filter_map(|(value, target)| field(value, target));
            self.layout = Arc::new(RowLayout::new(fields));
            self.fitting = values.iter().map(discriminant).collect();
        }
        self.bytes.clear();
        self.bytes.resize(self.layout.native_stride(), 0);
        for (value, field) in values.iter().zip(self.layout.fields()) {
            put(value, field, &mut self.bytes)?;
        }
        Some(())
    }
}

/// Whether every value of this variant travels to a parameter in the same field.
fn has_one_field(value: &Scalar) -> bool {
    match value {
        Scalar::Int16(_) | Scalar::Int32(_) | Scalar::Int64(_) | Scalar::Double(_) | Scalar::Boolean(_) => {
            true
        }
        Scalar::Date(_) | Scalar::Timestamp(_) => true,
        Scalar::Null(_) | Scalar::Text(_) | Scalar::Bytes(_) | Scalar::Array(_) => false,
    }
}

/// Whether the bytes of a text depend on its encoding.
fn is_foreign(value: &Scalar) -> bool {
    matches!(value, Scalar::Text(text) if !text.is_ascii())
}

/// The field in which a value travels to a parameter; `None` if that takes a conversion.
fn field(value: &Scalar, target: &FieldLayout) -> Option<FieldLayout> {
    use FieldKind::{Array, Blob, Dec16, Dec34, Double, Float, Nothing};
    let is_text = matches!(target.kind, FieldKind::Text(_) | FieldKind::Varying(_));
    let is_object = matches!(target.kind, Blob | Array | Nothing);
    let takes_integers = !is_object && !matches!(target.kind, Float | Double | Dec16 | Dec34);
    let plain = |kind, is_taken: bool| is_taken.then(|| FieldLayout::plain(kind));
    let varying = |length: usize, charset| {
        let width = length.next_multiple_of(4).clamp(4, MAX_VARYING) as u16;
        let is_taken = is_text && length <= MAX_VARYING;
        is_taken.then(|| FieldLayout { charset, ..FieldLayout::plain(FieldKind::Varying(width)) })
    };
    match value {
        Scalar::Null(DataType::Null) => (!is_object).then(|| target.clone()),
        Scalar::Int16(_) | Scalar::Null(DataType::Int16) => plain(FieldKind::Short, takes_integers),
        Scalar::Int32(_) | Scalar::Null(DataType::Int32) => plain(FieldKind::Long, takes_integers),
        Scalar::Int64(_) | Scalar::Null(DataType::Int64) => plain(FieldKind::Int64, takes_integers),
        Scalar::Double(_) | Scalar::Null(DataType::Float64) => plain(Double, target.kind == Double),
        Scalar::Boolean(_) | Scalar::Null(DataType::Boolean) => plain(FieldKind::Boolean, !is_object),
        Scalar::Date(_) | Scalar::Null(DataType::Date32) => plain(FieldKind::Date, !is_object && !is_text),
        Scalar::Timestamp(_) | Scalar::Null(DataType::Timestamp(TimeUnit::Microsecond, None)) => {
            plain(FieldKind::Timestamp, target.kind == FieldKind::Timestamp)
        }
        Scalar::Text(text) => varying(text.len(), charset_id::DYNAMIC),
        Scalar::Null(DataType::Utf8) => varying(0, charset_id::DYNAMIC),
        Scalar::Bytes(bytes) => varying(bytes.len(), charset_id::OCTETS),
        Scalar::Null(DataType::Binary) => varying(0, charset_id::OCTETS),
        Scalar::Null(_) | Scalar::Array(_) => None,
    }
}

/// Whether a value that needs the field `new` may be written into `old`.
fn has_room(old: &FieldLayout, new: &FieldLayout) -> bool {
    let fits = match (old.kind, new.kind) {
        (FieldKind::Varying(old), FieldKind::Varying(new)) => {
            old >= new && usize::from(old) <= 2 * usize::from(new) + SPARE
        }
        (old, new) => old == new,
    };
    fits && (old.scale, old.sub_type, old.charset) == (new.scale, new.sub_type, new.charset)
}

/// Writes a value into its field of a message of zeros; `None` for a date that Firebird does not have, or a time below
/// its resolution.
fn put(value: &Scalar, field: &FieldLayout, message: &mut [u8]) -> Option<()> {
    let mut set = |bytes: &[u8]| {
        let place = message.get_mut(field.offset..field.offset + bytes.len())?;
        place.copy_from_slice(bytes);
        Some(())
    };
    match value {
        Scalar::Int16(value) => set(&value.to_le_bytes()),
        Scalar::Int32(value) => set(&value.to_le_bytes()),
        Scalar::Int64(value) => set(&value.to_le_bytes()),
        Scalar::Double(value) => set(&value.to_le_bytes()),
        Scalar::Boolean(value) => set(&[u8::from(*value)]),
        Scalar::Date(days) => set(&unix_days_to_date(*days).ok()?.to_le_bytes()),
        Scalar::Timestamp(micros) if micros % 100 == 0 => {
            let (date, time) = instant(micros / 100).ok()?;
            set(&two_words(date, time))
        }
        Scalar::Text(text) => put_varying(text.as_bytes(), field, message),
        Scalar::Bytes(bytes) => put_varying(bytes, field, message),
        Scalar::Null(_) => {
            message.get_mut(field.null_offset..field.null_offset + 2)?.copy_from_slice(&[0xff, 0xff]);
            Some(())
        }
        Scalar::Timestamp(_) | Scalar::Array(_) => None,
    }
}

fn put_varying(bytes: &[u8], field: &FieldLayout, message: &mut [u8]) -> Option<()> {
    let length = u16::try_from(bytes.len()).ok()?;
    let place = message.get_mut(field.offset..field.offset + 2 + bytes.len())?;
    place[..2].copy_from_slice(&length.to_le_bytes());
    place[2..].copy_from_slice(bytes);
    Some(())
}
