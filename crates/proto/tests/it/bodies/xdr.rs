//! A reader reads what a writer writes, and either reads other bytes or reports why not.

use arbitrary::{Result, Unstructured};
use firearrow_proto::wire::error::DecodeError;
use firearrow_proto::wire::xdr::{Reader, Writer};

enum Part<'a> {
    Word(u32),
    Short(u16),
    Quad(u64),
    Raw(&'a [u8]),
    Text(&'a [u8]),
}

const LIMIT: usize = 300;

pub(crate) fn run(data: &[u8]) {
    round_trip(&mut Unstructured::new(data)).ok();
    read_anything(&mut Unstructured::new(data)).ok();
}

fn round_trip(input: &mut Unstructured<'_>) -> Result<()> {
    let mut parts = Vec::new();
    while !input.is_empty() && parts.len() < 50 {
        let length = input.int_in_range(0..=LIMIT)?.min(input.len());
        parts.push(match input.int_in_range(0..=4)? {
            0 => Part::Word(input.arbitrary()?),
            1 => Part::Short(input.arbitrary()?),
            2 => Part::Quad(input.arbitrary()?),
            3 => Part::Raw(input.bytes(length.min(input.len()))?),
            _ => Part::Text(input.bytes(length.min(input.len()))?),
        });
    }
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes);
    for part in &parts {
        match part {
            Part::Word(value) => out.word(*value),
            Part::Short(value) => out.short(*value),
            Part::Quad(value) => out.quad(*value),
            Part::Raw(value) => out.raw(value),
            Part::Text(value) => out.cstr(value),
        }
    }
    let mut reader = Reader::new(&bytes);
    for part in &parts {
        let before = reader.position();
        assert_eq!(before % 4, 0);
        match part {
            Part::Word(value) => assert_eq!(reader.word(), Ok(*value)),
            Part::Short(value) => assert_eq!(reader.short(), Ok(*value)),
            Part::Quad(value) => assert_eq!(reader.quad(), Ok(*value)),
            Part::Raw(value) => assert_eq!(reader.raw(value.len()), Ok(*value)),
            Part::Text(value) => assert_eq!(reader.cstr("text", LIMIT), Ok(*value)),
        }
        // The same with the last byte missing.
        let mut short = Reader::new(&bytes[..reader.position().saturating_sub(1)]);
        if reader.position() > before && short.raw(before).is_ok() {
            let result = match part {
                Part::Word(_) | Part::Short(_) => short.word().map(drop),
                Part::Quad(_) => short.quad().map(drop),
                Part::Raw(value) => short.raw(value.len()).map(drop),
                Part::Text(_) => short.cstr("text", LIMIT).map(drop),
            };
            assert_eq!(result, Err(DecodeError::Incomplete));
        }
    }
    assert_eq!(reader.position(), bytes.len());
    assert_eq!(reader.word(), Err(DecodeError::Incomplete));
    Ok(())
}

fn read_anything(input: &mut Unstructured<'_>) -> Result<()> {
    let choices: u64 = input.arbitrary()?;
    let bytes = input.bytes(input.len())?;
    let mut reader = Reader::new(bytes);
    for at in 0..64 {
        let before = reader.position();
        let left = bytes.len() - before;
        assert_eq!(reader.require(left as u64), Ok(()));
        assert!(reader.require(left as u64 + 1).is_err());
        let result = match choices >> at & 3 {
            0 => reader.op().map(drop),
            1 => reader.quad().map(drop),
            2 => reader.raw(choices as usize >> at).map(drop),
            _ => reader.cstr("text", LIMIT).map(|text| assert!(text.len() <= LIMIT)),
        };
        assert!(reader.position() <= bytes.len());
        match result {
            Ok(()) => assert_eq!(reader.position() % 4, 0),
            Err(DecodeError::Incomplete) => break,
            Err(DecodeError::Invalid(error)) => {
                assert!(!error.to_string().is_empty());
                break;
            }
        }
    }
    Ok(())
}
