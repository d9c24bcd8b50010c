//! Stored arrays, and the slices of new ones, for any shape.

use arbitrary::{Result, Unstructured};
use firearrow_proto::api::array::{ArrayError, ArrayShape, MAX_DIMENSIONS};
use firearrow_proto::api::descriptor::Descriptor;
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::wire::ProtocolVersion;
use firearrow_proto::wire::packet::Request;
use firearrow_proto::wire::packet::slice::PutSlice;
use firearrow_proto::wire::xdr::Writer;

/// Slices up to this many bytes are made.
const MOST_BYTES: usize = 4096;

pub(crate) fn run(data: &[u8]) {
    check(&mut Unstructured::new(data)).ok();
}

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let (kind, number) = kind(input)?;
    let field = FieldLayout::plain(kind);
    let dimensions = input.int_in_range(0..=MAX_DIMENSIONS + 1)?;
    let mut bounds = Vec::new();
    for _ in 0..dimensions {
        let lower: i32 = if input.ratio(1, 8)? { input.arbitrary()? } else { input.int_in_range(-3..=3)? };
        let upper = if input.ratio(1, 8)? {
            input.arbitrary()?
        } else {
            lower.saturating_add(input.int_in_range(-1..=3)?)
        };
        bounds.push((lower, upper));
    }
    let lengths = bounds.iter().map(|&(lower, upper)| i128::from(upper) - i128::from(lower) + 1);
    let count = lengths.clone().try_fold(1_i128, |count, length| {
        (length > 0).then(|| count.saturating_mul(length).min(i128::from(u64::MAX)))
    });
    let is_legal = (1..=MAX_DIMENSIONS).contains(&dimensions)
        && count.is_some_and(|count| count <= i128::from(i32::MAX));
    let shape = ArrayShape::new(Descriptor::default(), bounds.clone());
    assert_eq!(shape.is_some(), is_legal, "{bounds:?}");
    let Some(shape) = shape else { return Ok(()) };
    assert_eq!(Some(shape.count() as i128), count);
    assert!(shape.lengths().map(|length| length as i128).eq(lengths));
    let first: Vec<String> = bounds.iter().map(|(lower, _)| lower.to_string()).collect();
    assert_eq!(shape.subscripts(0), format!("[{}]", first.join(", ")));
    stored(input, &shape, &field, number)?;
    slices(input, &shape, &field)
}

/// A kind of elements, and the engine's number of its type.
fn kind(input: &mut Unstructured<'_>) -> Result<(FieldKind, u8)> {
    let fixed = [
        (FieldKind::Short, 8),
        (FieldKind::Long, 9),
        (FieldKind::Float, 11),
        (FieldKind::Double, 12),
        (FieldKind::Date, 14),
        (FieldKind::Time, 15),
        (FieldKind::Timestamp, 16),
        (FieldKind::Int64, 19),
        (FieldKind::Boolean, 21),
        (FieldKind::Dec16, 22),
        (FieldKind::Dec34, 23),
        (FieldKind::Int128, 24),
        (FieldKind::TimeTz, 25),
        (FieldKind::TimestampTz, 26),
    ];
    Ok(match input.int_in_range(0..=fixed.len() + 1)? {
        0 => (FieldKind::Text(input.int_in_range(0..=40)?), 1),
        1 => (FieldKind::Varying(input.int_in_range(0..=40)?), 3),
        other => fixed[other - 2],
    })
}

/// The header that an engine writes, sometimes damaged, and any bytes.
fn stored(input: &mut Unstructured<'_>, shape: &ArrayShape, field: &FieldLayout, number: u8) -> Result<()> {
    let size = field.kind.native().1;
    let total = size.checked_mul(shape.count());
    let any = input.bytes(input.len().min(40))?;
    if let Ok(elements) = shape.stored(field, any) {
        assert!(elements.len() <= any.len());
    }
    let Some(total) = total.and_then(|total| u32::try_from(total).ok()) else { return Ok(()) };
    let dimensions = shape.bounds().len();
    let length = 16 + 24 * dimensions;
    let mut bytes = vec![1, dimensions as u8, 1, 0];
    bytes.extend_from_slice(&(size as u16).to_le_bytes());
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(&(shape.count() as u32).to_le_bytes());
    bytes.extend_from_slice(&total.to_le_bytes());
    for &(lower, upper) in shape.bounds() {
        bytes.extend_from_slice(&[
            number,
            field.scale as u8,
            size as u8,
            0,
            field.charset,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
        ]);
        bytes.extend_from_slice(&[0; 4]); // the stride, which the shape implies
        bytes.extend_from_slice(&lower.to_le_bytes());
        bytes.extend_from_slice(&upper.to_le_bytes());
    }
    let elements = input.bytes(input.len().min(60).min(total as usize))?;
    bytes.extend_from_slice(elements);
    assert_eq!(shape.stored(field, &bytes), Ok(elements));
    for cut in (0..length).step_by(5) {
        assert_eq!(shape.stored(field, &bytes[..cut]), Err(ArrayError::Short), "cut at {cut}");
    }
    let place = input.choose_index(bytes.len())?;
    bytes[place] ^= input.arbitrary::<u8>()?;
    if let Ok(found) = shape.stored(field, &bytes) {
        assert_eq!(found, &bytes[length..]);
    }
    bytes.resize(length + total as usize % 5000, 7);
    if let Ok(found) = shape.stored(field, &bytes) {
        assert!(found.len() <= total as usize);
    }
    Ok(())
}

/// The slice description matches the request; only complete slices are created.
fn slices(input: &mut Unstructured<'_>, shape: &ArrayShape, field: &FieldLayout) -> Result<()> {
    let relation: &str = input.arbitrary()?;
    let format = shape.slice_format(relation, "Ä", field);
    let sdl = format.sdl();
    let mut head = vec![1, 6, 1];
    // As in the message of one column, between the message header and the column's NULL indicator.
    let message = RowLayout::new([field.clone()]).blr();
    head.extend_from_slice(&message[6..message.len() - 4]);
    let name = &relation.as_bytes()[..relation.len().min(255)];
    head.extend_from_slice(&[&[2, name.len() as u8], name, &[4, 2], "Ä".as_bytes()].concat());
    let rest = sdl.strip_prefix(&head[..]).expect("type and names");
    let dimensions = shape.bounds().len();
    for (variable, (loop_, &(lower, upper))) in rest.chunks(12).zip(shape.bounds()).enumerate() {
        let bounds =
            [&[34, variable as u8, 11][..], &lower.to_le_bytes(), &[11], &upper.to_le_bytes()].concat();
        assert_eq!(loop_, bounds);
    }
    assert_eq!(rest[12 * dimensions..][..5], [36, 1, 8, 0, dimensions as u8]);
    assert_eq!((rest.len(), rest.last()), (12 * dimensions + 5 + 2 * dimensions + 1, Some(&255)));
    let Some(size) = format.size().filter(|size| *size <= MOST_BYTES) else { return Ok(()) };
    let mut bytes = input.bytes(input.len().min(size))?.to_vec();
    bytes.resize(size, 0);
    let is_string = matches!(field.kind, FieldKind::Varying(_));
    let ends = bytes.chunks_exact(format.element_size().max(1)).all(|element| element.last() == Some(&0));
    assert_eq!(format.slice(&bytes).is_some(), !is_string || ends);
    bytes.push(0);
    assert!(format.slice(&bytes).is_none(), "one byte too many");
    bytes.pop();
    if let Some(slice) = format.slice(&bytes) {
        let mut out = Vec::new();
        PutSlice { transaction: 1, slice }.encode(ProtocolVersion::MAX, &mut Writer::new(&mut out));
        assert_eq!(out.len() % 4, 0);
    }
    Ok(())
}
