//! Packets for the target `connection`: as servers make them, with contents chosen by the fuzzer.

use arbitrary::{Result, Unstructured};
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::wire::Op;
use firearrow_proto::wire::packed::PackedFormat;
use firearrow_proto::wire::xdr::Writer;
use std::sync::{Arc, LazyLock};

/// A salt and a public key of a server.
pub(super) static SERVER_DATA: LazyLock<Vec<u8>> =
    LazyLock::new(|| [&[4, 0][..], b"salt", &[3, 0], b"ABC"].concat());

/// The initialization vector in [`keys`].
pub(super) const IV: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];

/// Formats of the requested rows.
pub(super) static FORMATS: LazyLock<[Arc<PackedFormat>; 3]> = LazyLock::new(|| {
    let layouts: [&[FieldKind]; 3] = [
        &[FieldKind::Long],
        &[FieldKind::Varying(8), FieldKind::Int64, FieldKind::Text(3)],
        // May exceed the limit for rows.
        &[FieldKind::Varying(400), FieldKind::Boolean, FieldKind::Varying(400)],
    ];
    layouts.map(|kinds| {
        let layout = RowLayout::new(kinds.iter().map(|&kind| FieldLayout::plain(kind)));
        Arc::new(PackedFormat::new(Arc::new(layout)))
    })
});

/// A packet much like those of a server.
pub(super) fn packet(input: &mut Unstructured<'_>, out: &mut Writer<'_>) -> Result<()> {
    let plugins = ["Srp", "Srp256", "Legacy_Auth", "", "Win_Sspi"];
    match input.int_in_range(0..=12)? {
        op @ 0..=2 => {
            let op = [Op::ACCEPT, Op::ACCEPT_DATA, Op::COND_ACCEPT][op];
            accept(op, input.int_in_range(12..=20)?, if input.arbitrary()? { 5 } else { 0x105 }, out);
            if op != Op::ACCEPT {
                out.cstr(if input.ratio(3, 4)? { &SERVER_DATA } else { &[] });
                out.cstr(input.choose(&plugins)?.as_bytes());
                out.short(input.ratio(1, 4)?.into());
                out.cstr(&keys(input)?);
            }
        }
        3 => {
            out.op(Op::CONT_AUTH);
            out.cstr(if input.ratio(3, 4)? { &SERVER_DATA } else { &[] });
            out.cstr(input.choose(&plugins)?.as_bytes());
            out.quad(0);
        }
        4..=6 => {
            out.op(Op::RESPONSE);
            out.short(input.arbitrary()?);
            out.quad(0);
            let data = if input.arbitrary()? { keys(input)? } else { bytes(input, 60)?.to_vec() };
            out.cstr(&data);
            status(input, out)?;
        }
        7 => {
            out.op(Op::FETCH_RESPONSE);
            let (status, messages) = *input.choose(&[(0, 1), (0, 1), (0, 0), (100, 0)])?;
            out.word(status);
            out.word(messages);
            if messages == 1 {
                row(input, out)?;
            }
        }
        8 => {
            out.op(Op::SQL_RESPONSE);
            let messages: bool = input.arbitrary()?;
            out.short(messages.into());
            if messages {
                row(input, out)?;
            }
        }
        9 => {
            out.op(Op::INLINE_BLOB);
            out.short(1);
            out.quad(input.int_in_range(0..=3)?);
            out.cstr(bytes(input, 8)?);
            out.cstr(bytes(input, 40)?);
        }
        10 => completion(input, out)?,
        11 => {
            out.op(Op::CRYPT_KEY_CALLBACK);
            out.cstr(bytes(input, 12)?);
            if input.ratio(3, 4)? {
                out.short(32);
            }
        }
        _ => out.op(*input.choose(&[Op::DUMMY, Op::DUMMY, Op::DUMMY, Op::EXIT, Op::REJECT])?),
    }
    Ok(())
}

/// The start of an accept packet.
pub(super) fn accept(op: Op, version: u16, kind: u16, out: &mut Writer<'_>) {
    out.op(op);
    out.short(0x8000 | version);
    out.word(1);
    out.short(kind);
}

/// `op_response` without an error.
pub(super) fn response(data: &[u8], out: &mut Writer<'_>) {
    out.op(Op::RESPONSE);
    out.word(3);
    out.quad(0);
    out.cstr(data);
    [1, 0, 0].into_iter().for_each(|word| out.word(word));
}

pub(super) fn completion(input: &mut Unstructured<'_>, out: &mut Writer<'_>) -> Result<()> {
    out.op(Op::BATCH_CS);
    out.short(1);
    let records = input.int_in_range(0..=3)?;
    let errors = input.int_in_range(0..=records)?;
    [records, records, errors, 0].into_iter().for_each(|word| out.word(word));
    (0..records).for_each(|_| out.word(1));
    for record in 0..errors {
        out.word(record);
        status(input, out)?;
    }
    Ok(())
}

/// A row of this format; long texts may exceed the limit for rows.
pub(super) fn good_row(
    format: &PackedFormat,
    input: &mut Unstructured<'_>,
    out: &mut Writer<'_>,
) -> Result<()> {
    let nulls: u8 = input.int_in_range(0..=7)?;
    out.bytes(&[nulls, 0, 0, 0]);
    for (column, field) in format.layout().fields().iter().enumerate() {
        match field.kind {
            _ if nulls >> column & 1 != 0 => {}
            FieldKind::Varying(max) => out.cstr(&vec![b'x'; input.int_in_range(0..=usize::from(max))?]),
            kind => out.raw(&vec![1; kind.packed().unwrap_or_default()]),
        }
    }
    Ok(())
}

pub(super) fn bytes<'a>(input: &mut Unstructured<'a>, max: usize) -> Result<&'a [u8]> {
    let length = input.int_in_range(0..=max)?.min(input.len());
    input.bytes(length)
}

pub(super) fn keys(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let cipher = *input.choose(&["ChaCha64", "Arc4", "None", ""])?;
    let mut block = [&[0, 9][..], b"Symmetric", &[1, cipher.len() as u8], cipher.as_bytes()].concat();
    if cipher == "ChaCha64" {
        block.extend([&[3, 17][..], b"ChaCha64\0", &IV].concat());
    }
    Ok(if cipher.is_empty() { Vec::new() } else { block })
}

/// Success, a warning or an error.
fn status(input: &mut Unstructured<'_>, out: &mut Writer<'_>) -> Result<()> {
    let words: &[u32] = match input.int_in_range(0..=5)? {
        0 => &[1, 335_544_569, 4, 7, 1, 335_544_382, 2, 4, 0x4141_4141, 0],
        1 => &[1, 0, 18, 335_544_808, 0],
        _ => &[1, 0, 0],
    };
    words.iter().for_each(|word| out.word(*word));
    Ok(())
}

/// A row of one of the formats; a row of another format is a kind of damage.
fn row(input: &mut Unstructured<'_>, out: &mut Writer<'_>) -> Result<()> {
    let format = input.choose(&*FORMATS)?;
    good_row(format, input, out)
}
