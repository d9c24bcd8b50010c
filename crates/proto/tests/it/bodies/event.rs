//! Event blocks, and the packets of the auxiliary connection however they arrive.

use arbitrary::{Result, Unstructured};
use firearrow_proto::api::event::{MAX_BLOCK, MAX_NAME, block_length, event_block, events};
use firearrow_proto::wire::error::DecodeError;
use firearrow_proto::wire::packet::event::{auxiliary_port, decode_auxiliary};
use firearrow_proto::wire::xdr::Reader;

pub(crate) fn run(data: &[u8]) {
    any_block(data);
    stream(data, &[data.len()]);
    if let Some(port) = auxiliary_port(data) {
        assert!(port != 0 && data.len() >= 4);
    }
    built(&mut Unstructured::new(data)).ok();
}

/// A readable block equals one built from the same names and counts.
fn any_block(data: &[u8]) {
    let Some(read) = events(data) else { return };
    assert!(read.iter().all(|(name, _)| name.len() <= MAX_NAME));
    let texts: Option<Vec<(&str, u32)>> =
        read.iter().map(|(name, count)| Some((std::str::from_utf8(name).ok()?, *count))).collect();
    if let Some(texts) = texts {
        assert_eq!(event_block(texts.iter().copied()), data);
        assert_eq!(block_length(texts.iter().map(|(name, _)| *name)), data.len());
    }
}

fn built(input: &mut Unstructured<'_>) -> Result<()> {
    let pieces = [input.int_in_range(0..=40)?, input.int_in_range(0..=400)?];
    let given: Vec<(&str, u32)> = input.arbitrary()?;
    let block = event_block(given.iter().copied());
    let read = events(&block).expect("what was built");
    assert_eq!(read.len(), given.len());
    for ((name, count), (text, expected)) in read.iter().zip(&given) {
        assert_eq!((*name, count), (&text.as_bytes()[..text.len().min(MAX_NAME)], expected));
    }
    if block.len() <= MAX_BLOCK {
        let padding = block.len().wrapping_neg() % 4;
        let packet = [
            &[0, 0, 0, 52, 0, 0, 0, 0][..],
            &(block.len() as u32).to_be_bytes(),
            &block,
            &[0; 3][..padding],
            &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9],
        ];
        let bytes = [packet.concat(), vec![0, 0, 0, 71], packet.concat()].concat();
        assert_eq!(stream(&bytes, &pieces), vec![(9, block.clone()), (9, block)]);
    }
    Ok(())
}

/// Reads packets in pieces; the pieces must not matter.
fn stream(data: &[u8], pieces: &[usize]) -> Vec<(u32, Vec<u8>)> {
    let (mut found, mut bytes, mut rest) = (Vec::new(), Vec::new(), data);
    for piece in pieces.iter().copied().chain([usize::MAX]) {
        let (now, later) = rest.split_at(piece.min(rest.len()));
        (bytes, rest) = ([&bytes[..], now].concat(), later);
        loop {
            let mut reader = Reader::new(&bytes);
            match decode_auxiliary(&mut reader) {
                Ok(posted) => {
                    assert!(reader.position() > 0, "it goes on");
                    found.extend(posted.map(|posted| (posted.id, posted.block.to_vec())));
                    let taken = reader.position();
                    bytes.drain(..taken);
                }
                Err(DecodeError::Incomplete) => break,
                Err(DecodeError::Invalid(error)) => {
                    assert!(!error.to_string().is_empty());
                    return found;
                }
            }
        }
    }
    found
}
