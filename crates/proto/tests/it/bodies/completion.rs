//! Completion states of bulk operations as servers write them: whole, cut and damaged.

use arbitrary::{Result, Unstructured};
use firearrow_proto::wire::Limits;
use firearrow_proto::wire::error::DecodeError;
use firearrow_proto::wire::packet::batch::Completion;
use firearrow_proto::wire::xdr::{Reader, Writer};

pub(crate) fn run(data: &[u8]) {
    check(&mut Unstructured::new(data)).ok();
}

fn decode(bytes: &[u8], limits: &Limits) -> Result<(Completion, usize), DecodeError> {
    let mut reader = Reader::new(bytes);
    let completion = Completion::decode(&mut reader, limits)?;
    Ok((completion, reader.position()))
}

fn check(input: &mut Unstructured<'_>) -> Result<()> {
    let statement: u16 = input.arbitrary()?;
    let records: u32 = input.int_in_range(0..=40)?;
    let counts: u32 = if input.ratio(7, 8)? {
        [0, records][usize::from(input.arbitrary::<bool>()?)]
    } else {
        input.arbitrary()?
    };
    let errors: u32 = input.int_in_range(0..=6)?;
    let bare: u32 = if input.ratio(15, 16)? { input.int_in_range(0..=6)? } else { input.arbitrary()? };
    let mut bytes = Vec::new();
    let mut out = Writer::new(&mut bytes);
    out.short(statement);
    [records, counts, errors, bare].into_iter().for_each(|word| out.word(word));
    let mut expected = Completion { statement, records, ..Completion::default() };
    let mut lines = Vec::new();
    for _ in 0..counts.min(records) {
        let count: i32 = input.int_in_range(-2..=100)?;
        out.word(count as u32);
        expected.updates.push(count);
    }
    for _ in 0..errors {
        let record = input.arbitrary()?;
        let code: u32 = input.int_in_range(335_544_321..=335_545_300)?;
        let text: &str = input.arbitrary()?;
        out.word(record);
        [1, code, 2].into_iter().for_each(|word| out.word(word));
        out.cstr(text.as_bytes());
        [4, 7, 0].into_iter().for_each(|word| out.word(word));
        lines.push((record, code as i32));
    }
    for _ in 0..bare.min(64) {
        let record = input.arbitrary()?;
        out.word(record);
        expected.bare_errors.push(record);
    }
    let limits = Limits::default();
    let is_possible =
        (counts == 0 || counts == records) && u64::from(errors) + u64::from(bare) <= u64::from(records);
    match decode(&bytes, &limits) {
        Ok((completion, length)) => {
            assert!(is_possible);
            assert_eq!(length, bytes.len());
            let read: Vec<(u32, i32)> = completion
                .errors
                .iter()
                .map(|(record, status)| (*record, status.errors().next().expect("its code")))
                .collect();
            assert_eq!(read, lines);
            assert_eq!(completion.updates, expected.updates);
            assert_eq!((completion.statement, completion.records), (statement, records));
            assert_eq!(completion.bare_errors, expected.bare_errors);
            for cut in (0..length).step_by(3) {
                assert_eq!(decode(&bytes[..cut], &limits), Err(DecodeError::Incomplete), "cut at {cut}");
            }
        }
        Err(DecodeError::Incomplete) => panic!("nothing is missing"),
        Err(DecodeError::Invalid(error)) => {
            assert!(!error.to_string().is_empty());
            let has_long_text = bytes.len() > limits.status_text;
            assert!(!is_possible || has_long_text, "{error}");
        }
    }
    let place = input.choose_index(bytes.len())?;
    bytes[place] ^= input.arbitrary::<u8>()?;
    if let Ok((completion, length)) = decode(&bytes, &limits) {
        assert!(length <= bytes.len());
        assert!(completion.updates.is_empty() || completion.updates.len() == completion.records as usize);
        assert!(completion.errors.len() + completion.bare_errors.len() <= completion.records as usize);
    }
    Ok(())
}
