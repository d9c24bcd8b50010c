//! Lists as parameters for array columns. Their elements pass through the plan of their type, as rows of one column,
//! and become slices.

use super::bytes::{ByteValues, BytesPlan, MAX_VARYING};
use super::decoded;
use super::error::{ParamErrorKind, Reason, RowReason};
use super::options::ParamOptions;
use super::slots::{Plan, Slots};
use super::target::{Target, plan, unsupported};
use arrow::array::{Array, ArrayRef, AsArray, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::DataType;
use firearrow_proto::api::array::{ArrayShape, Slice, SliceFormat};
use firearrow_proto::api::charset::{SingleByte, charset, single_byte};
use firearrow_proto::api::descriptor::{Descriptor, charset_id};
use firearrow_proto::api::layout::{FieldKind, FieldLayout};
use std::borrow::Cow;
use std::sync::Arc;

/// The array column to write to.
#[derive(Clone, Debug)]
pub(super) struct ArrayTarget {
    shape: Arc<ArrayShape>,
    relation: String,
    column: String,
}

impl ArrayTarget {
    pub(super) fn new(parameter: &Descriptor) -> Option<Self> {
        Some(Self {
            shape: Arc::clone(parameter.array.as_ref()?),
            relation: parameter.relation.clone(),
            column: parameter.field.clone(),
        })
    }
}

/// How lists get into an array column.
pub(super) struct ArrayPlan {
    target: ArrayTarget,
    element: Target,
    plan: Box<Plan>,
}

/// The arrays that the rows of one parameter refer to.
#[derive(Clone, Debug)]
pub(crate) struct ArrayCells {
    /// 0-based parameter.
    pub(crate) column: usize,
    /// 0-based indices of the messages that have an array.
    pub(crate) rows: Vec<usize>,
    format: SliceFormat,
    /// All elements of all arrays.
    bytes: Vec<u8>,
}

impl ArrayCells {
    /// Iterates over the elements of each of these arrays.
    pub(crate) fn slices(&self) -> impl Iterator<Item = Slice<'_>> {
        // The bytes of the format, including the terminators of strings.
        let size = self.format.size().unwrap_or(1).max(1);
        self.bytes.chunks_exact(size).filter_map(|bytes| self.format.slice(bytes))
    }
}

impl ArrayPlan {
    pub(super) fn new(target: &Target, data_type: &DataType, options: &ParamOptions) -> Result<Self, Reason> {
        let Some(array) = &target.array else {
            return Err(unsupported(
                "the engine does not say which column of a table this array is for; write to the table itself",
            ));
        };
        let dimensions = array.shape.bounds().len();
        let mut element = data_type;
        for _ in 0..dimensions {
            element = match element {
                DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
                    field.data_type()
                }
                _ => return Err(depth(dimensions, data_type)),
            };
        }
        if element.is_nested() && !matches!(element, DataType::Struct(_)) {
            return Err(depth(dimensions, data_type));
        }
        let target = Target::new(array.shape.element())?;
        let plan = Box::new(plan(&target, element, options)?);
        Ok(Self { target: array.clone(), element: target, plan })
    }

    /// Estimates the bytes of each array.
    pub(super) fn estimate(&self) -> usize {
        let size = match self.plan.as_ref() {
            Plan::Fixed { field, .. } => field.kind.native().1,
            _ => self.element.kind().native().1.clamp(16, 256),
        };
        size.saturating_mul(self.target.shape.count())
    }

    /// Encodes the elements of all lists that are not NULL.
    pub(super) fn encode(&mut self, column: usize, lists: &ArrayRef) -> Result<ArrayCells, RowReason> {
        let shape = Arc::clone(&self.target.shape);
        let rows: Vec<usize> = (0..lists.len()).filter(|&row| lists.is_valid(row)).collect();
        let mut values = Arc::clone(lists);
        let mut lists_per_row = 1;
        for (dimension, length) in shape.lengths().enumerate() {
            let all = rows.len() * lists_per_row;
            let places = if dimension == 0 { rows.clone() } else { (0..all).collect() };
            values = items(&values, &places, length).map_err(|(list, reason)| {
                let row = if dimension == 0 { list } else { rows[list / lists_per_row] };
                let what = format!("dimension {} of {} has {length} elements", dimension + 1, self.column());
                Reason::new(reason.kind, format!("{what}, {}", reason.message)).in_row(row)
            })?;
            lists_per_row *= length;
        }
        let count = shape.count();
        let at = |index: usize, reason: Reason| {
            let message = format!("element {}: {}", shape.subscripts(index % count), reason.message);
            Reason::new(reason.kind, message).in_row(rows[index / count])
        };
        let values = decoded(values).map_err(|error| Reason::from(error).in_row(0))?;
        if let Some(nulls) = values.logical_nulls()
            && let Some(index) = (0..values.len()).find(|&index| nulls.is_null(index))
        {
            let message =
                "elements of Firebird arrays are never NULL; put in a value, or make the whole array NULL";
            return Err(at(index, Reason::new(ParamErrorKind::Malformed, message)));
        }
        let (field, bytes) = self.elements(values).map_err(|RowReason { row, reason }| at(row, reason))?;
        let ArrayTarget { relation, column: name, .. } = &self.target;
        let format = shape.slice_format(relation, name, &field);
        if format.size().is_none() {
            let message = "an array of 2 GiB or more";
            return Err(Reason::new(ParamErrorKind::TooLong, message).in_row(0));
        }
        Ok(ArrayCells { column, rows, format, bytes })
    }

    /// Describes the column and its bounds, for messages.
    fn column(&self) -> String {
        let bounds: Vec<String> =
            self.target.shape.bounds().iter().map(|(lower, upper)| format!("{lower}:{upper}")).collect();
        format!("{} [{}]", self.target.column, bounds.join(", "))
    }

    /// Encodes values without NULLs as elements of a slice; returns their type and bytes.
    fn elements(&mut self, values: ArrayRef) -> Result<(FieldLayout, Vec<u8>), RowReason> {
        match self.plan.as_mut() {
            Plan::Fixed { field, write } => {
                let size = field.kind.native().1;
                let mut bytes = vec![0; size * values.len()];
                let place = FieldLayout { offset: 0, null_offset: 0, ..field.clone() };
                write(&values, &mut Slots::new(&mut bytes, size, &place))?;
                Ok((field.clone(), bytes))
            }
            Plan::Bytes(plan) => strings(plan, &self.element, values),
            Plan::Null(field) => Ok((field.clone(), Vec::new())), // without values: each would have been NULL
            Plan::Flag | Plan::Ids(_) | Plan::Array(_) => Err(unsupported("elements of no type").in_row(0)),
        }
    }
}

fn depth(dimensions: usize, given: &DataType) -> Reason {
    let wanted = "list of ".repeat(dimensions);
    unsupported(format!(
        "{given} values cannot go into an array of {dimensions} dimension(s); it takes a {wanted}values"
    ))
}

/// Encodes CHAR unchanged but padded, and everything else as zero-terminated strings.
///
/// Engines 3.0 to 5.0 neither convert the character set nor check the length of a VARCHAR at an odd address in its
/// array (`slice_callback` in blb.cpp): they would store wrong characters, or overwrite the memory after it. So the
/// client does both if values have an odd size.
fn strings(
    plan: &mut BytesPlan,
    element: &Target,
    values: ArrayRef,
) -> Result<(FieldLayout, Vec<u8>), RowReason> {
    let (values, field) = plan.prepare(values)?;
    let Some(texts) = ByteValues::of(&values) else {
        return Err(unsupported(format!("{} is not text", values.data_type())).in_row(0));
    };
    let is_char = matches!(element.kind(), FieldKind::Text(_));
    let target = Encoded::new(element, field.charset);
    let mut encoded = Vec::with_capacity(values.len());
    let mut longest = 1;
    for index in 0..values.len() {
        let bytes = target.encode(texts.value(index)).map_err(|reason| reason.in_row(index))?;
        if bytes.len() > MAX_VARYING {
            let message = format!("an array element cannot have {} bytes", bytes.len());
            return Err(Reason::new(ParamErrorKind::TooLong, message).in_row(index));
        }
        if !is_char && bytes.contains(&0) {
            let message = "a zero byte would end the value: engines take VARCHAR elements as strings that end with \
                           one; declare the elements as CHAR, or use a BLOB";
            return Err(Reason::new(ParamErrorKind::Inexact, message).in_row(index));
        }
        longest = longest.max(bytes.len());
        encoded.push(bytes);
    }
    let width = longest as u16; // at most MAX_VARYING
    let kind = if is_char { FieldKind::Text(width) } else { FieldKind::Varying(width) };
    // The engine pads CHAR with blanks, and BINARY with zeros.
    let pad = if is_char && target.charset != charset_id::OCTETS { b' ' } else { 0 };
    let size = kind.native().1;
    let mut bytes = vec![pad; size * encoded.len()];
    for (text, slot) in encoded.iter().zip(bytes.chunks_exact_mut(size)) {
        slot[..text.len()].copy_from_slice(text);
    }
    Ok((FieldLayout { kind, charset: target.charset, ..field }, bytes))
}

/// How text becomes an element.
struct Encoded {
    /// The character set of the sent text.
    charset: u8,
    single: Option<SingleByte>,
    /// Maximum characters of a VARCHAR.
    characters: Option<usize>,
    /// Maximum bytes of a VARCHAR.
    bytes: Option<usize>,
}

impl Encoded {
    /// For values in `charset`.
    fn new(element: &Target, given: u8) -> Self {
        let stored = element.field.charset;
        let is_text = matches!(element.kind(), FieldKind::Text(_) | FieldKind::Varying(_));
        let per_character = charset(stored).map_or(1, |charset| charset.bytes_per_character.max(1));
        let declared = match element.kind() {
            FieldKind::Varying(bytes) => Some(usize::from(bytes)),
            _ => None,
        };
        // Bytes are stored unchanged, and in other multi-byte character sets no VARCHAR has an odd size.
        let is_verbatim = given == charset_id::OCTETS
            || matches!(
                stored,
                charset_id::NONE | charset_id::OCTETS | charset_id::ASCII | charset_id::UNICODE_FSS
            );
        let single = single_byte(stored).filter(|_| is_text && !is_verbatim);
        Self {
            charset: match stored {
                _ if !is_text => charset_id::UTF8,
                _ if is_verbatim || single.is_some() => stored,
                // Text in "the character set of the attachment" would not be converted.
                _ => charset_id::UTF8,
            },
            single,
            characters: declared.map(|bytes| bytes / usize::from(per_character)),
            bytes: declared.filter(|_| is_verbatim || single.is_some()),
        }
    }

    fn encode<'a>(&self, value: &'a [u8]) -> Result<Cow<'a, [u8]>, Reason> {
        let text = || std::str::from_utf8(value).unwrap_or_default();
        let foreign = |character: char| {
            let name = charset(self.charset).map_or("", |charset| charset.name);
            let message = format!("{character:?} is not in CHARACTER SET {name}");
            Reason::new(ParamErrorKind::Malformed, message)
        };
        let encoded = match (self.single, self.charset) {
            (Some(single), _) => Cow::Owned(single.encode(text()).map_err(foreign)?),
            (None, charset_id::ASCII) if !value.is_ascii() => {
                return Err(foreign(text().chars().find(|each| !each.is_ascii()).unwrap_or('\u{fffd}')));
            }
            (None, charset_id::UNICODE_FSS) if text().chars().any(|each| each.len_utf8() > 3) => {
                return Err(foreign(text().chars().find(|each| each.len_utf8() > 3).unwrap_or('\u{fffd}')));
            }
            _ => Cow::Borrowed(value),
        };
        let is_too_long = match (self.charset, self.characters) {
            (charset_id::UTF8 | charset_id::UNICODE_FSS, Some(most)) => text().chars().count() > most,
            _ => false,
        };
        if is_too_long || self.bytes.is_some_and(|most| encoded.len() > most) {
            let most = self.characters.unwrap_or_default();
            let message = format!("{} bytes are too long for a VARCHAR({most})", value.len());
            return Err(Reason::new(ParamErrorKind::TooLong, message));
        }
        Ok(encoded)
    }
}

/// Concatenates the items of these lists. Each list must have `length` items.
fn items(lists: &ArrayRef, places: &[usize], length: usize) -> Result<ArrayRef, (usize, Reason)> {
    match lists.data_type() {
        DataType::List(_) => {
            let lists = lists.as_list::<i32>();
            let offsets = lists.value_offsets();
            let range = |list: usize| (offsets[list] as usize, offsets[list + 1] as usize);
            gather(lists, lists.values(), places, length, range)
        }
        DataType::LargeList(_) => {
            let lists = lists.as_list::<i64>();
            let offsets = lists.value_offsets();
            let range = |list: usize| (offsets[list] as usize, offsets[list + 1] as usize);
            gather(lists, lists.values(), places, length, range)
        }
        DataType::FixedSizeList(_, size) => {
            let (lists, size) = (lists.as_fixed_size_list(), *size as usize);
            gather(lists, lists.values(), places, length, |list| (list * size, (list + 1) * size))
        }
        other => Err((0, unsupported(format!("{other} is not a list")))),
    }
}

fn gather(
    lists: &dyn Array,
    values: &ArrayRef,
    places: &[usize],
    length: usize,
    range: impl Fn(usize) -> (usize, usize),
) -> Result<ArrayRef, (usize, Reason)> {
    for &list in places {
        let (start, end) = range(list);
        let wrong = match end - start {
            _ if lists.is_null(list) => {
                "the data has NULL there; an array is NULL as a whole or not at all".into()
            }
            given if given != length => format!("the data has {given}; arrays are never shorter or longer"),
            _ => continue,
        };
        return Err((list, Reason::new(ParamErrorKind::Malformed, wrong)));
    }
    let (first, last) = (places.first().map_or(0, |&list| range(list).0), places.last());
    if last.is_none_or(|&list| range(list).1 == first + places.len() * length) {
        return Ok(values.slice(first, places.len() * length));
    }
    let indices = places.iter().flat_map(|&list| range(list).0 as u64..range(list).1 as u64);
    take(values, &UInt64Array::from_iter_values(indices), None)
        .map_err(|error| (0, unsupported(error.to_string())))
}
