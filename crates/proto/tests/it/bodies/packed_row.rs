//! Rows of any layout: measuring, packing and both ways of reading agree.

use arbitrary::{Result, Unstructured};
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::row::{
    NULL_POSITION, Native, NativeRows, Packed, PackedRows, RowSource, ValueFormat,
};
use firearrow_proto::wire::error::DecodeError;
use firearrow_proto::wire::packed::PackedFormat;
use std::sync::Arc;

pub(crate) fn run(data: &[u8]) {
    check(&mut Unstructured::new(data)).ok();
}

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let columns = input.int_in_range(0..=40)?;
    let kinds = (0..columns).map(|_| kind(input)).collect::<Result<Vec<_>>>()?;
    let layout = Arc::new(RowLayout::new(kinds.into_iter().map(FieldLayout::plain)));
    let format = PackedFormat::new(Arc::clone(&layout));
    let bytes = input.bytes(input.len())?;
    from_packed(&format, bytes);
    from_native(&format, bytes);
    Ok(())
}

fn kind(input: &mut Unstructured<'_>) -> Result<FieldKind> {
    let fixed = [
        FieldKind::Short,
        FieldKind::Long,
        FieldKind::Int64,
        FieldKind::Int128,
        FieldKind::Float,
        FieldKind::Double,
        FieldKind::Dec16,
        FieldKind::Dec34,
        FieldKind::Date,
        FieldKind::Time,
        FieldKind::Timestamp,
        FieldKind::TimeTz,
        FieldKind::TimeTzEx,
        FieldKind::TimestampTz,
        FieldKind::TimestampTzEx,
        FieldKind::Boolean,
        FieldKind::Blob,
        FieldKind::Array,
        FieldKind::Nothing,
    ];
    Ok(match input.int_in_range(0..=fixed.len() + 1)? {
        0 => FieldKind::Text(input.int_in_range(0..=60)?),
        1 => FieldKind::Varying(input.int_in_range(0..=60)?),
        other => fixed[other - 2],
    })
}

/// Bytes as a server's row: measure it, lay it out as the engine would, pack that again.
fn from_packed(format: &PackedFormat, bytes: &[u8]) {
    let layout = format.layout();
    let columns = layout.fields().len();
    let mut positions = vec![7];
    let end = match format.measure(bytes, 0, &mut positions) {
        Ok(end) => end,
        Err(error) => {
            assert_eq!(positions, [7], "as it was");
            for cut in (0..bytes.len()).step_by(1 + bytes.len() / 32) {
                let shorter = format.measure(&bytes[..cut], 0, &mut positions);
                assert!(shorter == Err(DecodeError::Incomplete) || shorter.as_ref() == Err(&error));
            }
            return;
        }
    };
    let positions = &positions[1..];
    assert_eq!(positions.len(), columns);
    assert!(end <= bytes.len() && end <= format.max_row_length() && end.is_multiple_of(4));
    assert!(positions.iter().all(|at| *at == NULL_POSITION || *at as usize <= end));
    for cut in (0..end).step_by(1 + end / 32) {
        assert_eq!(format.measure(&bytes[..cut], 0, &mut Vec::new()), Err(DecodeError::Incomplete));
    }

    let rows = PackedRows { bytes, positions, columns, rows: 1 };
    let mut message = vec![0; layout.native_length()];
    for (column, field) in layout.fields().iter().enumerate() {
        match rows.field(0, column) {
            Some(value) => {
                let value = canonical::<Packed>(field.kind, value).expect("a measured value");
                message[field.offset..][..value.len()].copy_from_slice(&value);
            }
            None => message[field.null_offset..][..2].fill(0xff),
        }
    }
    let mut packed = Vec::new();
    format.pack(&message, &mut packed).expect("a full message");
    compare(format, &packed, &message);
}

/// Bytes as the engine's message: pack it and read it both ways.
fn from_native(format: &PackedFormat, bytes: &[u8]) {
    let mut packed = b"before".to_vec();
    if format.pack(bytes, &mut packed).is_none() {
        assert_eq!(packed, b"before", "as it was");
        return;
    }
    compare(format, &packed[6..], bytes);
}

/// A packed row and a message of the same values.
fn compare(format: &PackedFormat, packed: &[u8], message: &[u8]) {
    let layout = format.layout();
    let columns = layout.fields().len();
    let mut positions = Vec::new();
    assert_eq!(format.measure(packed, 0, &mut positions), Ok(packed.len()));
    let packed = PackedRows { bytes: packed, positions: &positions, columns, rows: 1 };
    let mut message = message.to_vec();
    message.resize(message.len().max(layout.native_stride()), 0);
    let native = NativeRows::new(layout, &message, 1).expect("a full message");
    for (column, field) in layout.fields().iter().enumerate() {
        let a = packed.field(0, column).map(|value| canonical::<Packed>(field.kind, value).expect("a value"));
        let b = native.field(0, column).map(|value| canonical::<Native>(field.kind, value).expect("a value"));
        assert_eq!(a, b, "column {column}: {:?}", field.kind);
    }
}

/// The value as the engine stores it, whatever it was read from.
fn canonical<F: ValueFormat>(kind: FieldKind, bytes: &[u8]) -> Option<Vec<u8>> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    Some(match kind {
        FieldKind::Text(length) => bytes.get(..usize::from(length))?.to_vec(),
        FieldKind::Varying(max) => {
            let text = F::varying(bytes)?;
            assert!(text.len() <= usize::from(max));
            [&(text.len() as u16).to_le_bytes(), text].concat()
        }
        FieldKind::Short => F::i16(bytes)?.to_le_bytes().to_vec(),
        FieldKind::Long | FieldKind::Date | FieldKind::Time => F::i32(bytes)?.to_le_bytes().to_vec(),
        FieldKind::Int64 => F::i64(bytes)?.to_le_bytes().to_vec(),
        FieldKind::Int128 => F::i128(bytes)?.to_le_bytes().to_vec(),
        FieldKind::Float => F::f32(bytes)?.to_le_bytes().to_vec(),
        FieldKind::Double => F::f64(bytes)?.to_le_bytes().to_vec(),
        FieldKind::Dec16 => F::dec16(bytes)?.to_le_bytes().to_vec(),
        FieldKind::Dec34 => F::dec34(bytes)?.to_le_bytes().to_vec(),
        FieldKind::Timestamp => {
            F::timestamp(bytes).map(|(date, time)| words(&[date.cast_unsigned(), time]))?
        }
        FieldKind::TimeTz => {
            let (time, zone) = F::time_tz(bytes)?;
            [&time.to_le_bytes()[..], &zone.to_le_bytes()].concat()
        }
        FieldKind::TimeTzEx => {
            let (time, zone, displacement) = F::time_tz_ex(bytes)?;
            [&time.to_le_bytes()[..], &zone.to_le_bytes(), &displacement.to_le_bytes()].concat()
        }
        FieldKind::TimestampTz => {
            let (date, time, zone) = F::timestamp_tz(bytes)?;
            [&words(&[date.cast_unsigned(), time])[..], &zone.to_le_bytes()].concat()
        }
        FieldKind::TimestampTzEx => {
            let (date, time, zone, displacement) = F::timestamp_tz_ex(bytes)?;
            [&words(&[date.cast_unsigned(), time])[..], &zone.to_le_bytes(), &displacement.to_le_bytes()]
                .concat()
        }
        FieldKind::Boolean => vec![*bytes.first()?],
        FieldKind::Blob | FieldKind::Array => {
            let id = F::quad(bytes)?;
            words(&[(id >> 32) as u32, id as u32])
        }
        FieldKind::Nothing => Vec::new(),
    })
}
