//! What other figures are divided by, so that runs on different machines can be compared.
//!
//! It must never change, or every baseline is worthless; so it uses nothing of the project. It does what the codec does: it
//! walks through length-prefixed records, swaps bytes, branches and copies.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

const RECORDS: usize = 1000;

/// A record: a flag, a number and a text of up to 31 bytes, all big-endian and in units of four bytes.
fn records() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut state = 1_u32;
    for _ in 0..RECORDS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let length = state >> 27;
        bytes.extend((state >> 26 & 1).to_be_bytes());
        bytes.extend(u64::from(state).to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(std::iter::repeat_n(b'x', (length as usize).next_multiple_of(4)));
    }
    bytes
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn read(bytes: &[u8], numbers: &mut Vec<u64>, texts: &mut Vec<u8>) -> Option<()> {
    let mut at = 0;
    while at < bytes.len() {
        let number = u64::from(word(bytes, at + 4)?) << 32 | u64::from(word(bytes, at + 8)?);
        if word(bytes, at)? != 0 {
            numbers.push(number);
        }
        let length = word(bytes, at + 12)? as usize;
        texts.extend_from_slice(bytes.get(at + 16..at + 16 + length)?);
        at += 16 + length.next_multiple_of(4);
    }
    Some(())
}

#[divan::bench]
fn record(bencher: Bencher<'_, '_>) {
    let records = records();
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    bencher.counter(ItemsCount::new(RECORDS)).bench_local(|| {
        numbers.clear();
        texts.clear();
        read(black_box(&records), &mut numbers, &mut texts).expect("good records");
        black_box((numbers.len(), texts.len()))
    });
    assert_eq!((numbers.len(), texts.len()), (504, 15_848), "of the records above");
}
