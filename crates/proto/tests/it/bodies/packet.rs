//! Every decoder of an answer, on any bytes.

use firearrow_proto::api::event::{MAX_NAME, events};
use firearrow_proto::wire::error::DecodeError;
use firearrow_proto::wire::packet::batch::Completion;
use firearrow_proto::wire::packet::blob::{InlineBlob, append_segments};
use firearrow_proto::wire::packet::connect::{Accept, ContinueAuth, KeyCallback};
use firearrow_proto::wire::packet::event::decode_auxiliary;
use firearrow_proto::wire::packet::response::{Response, decode_status};
use firearrow_proto::wire::packet::row::{decode_fetch_step, decode_sql_response};
use firearrow_proto::wire::xdr::Reader;
use firearrow_proto::wire::{Limits, Op, ProtocolVersion};

/// Low enough for short inputs to reach them.
const LIMITS: Limits = Limits {
    response_data: 1000,
    status_text: 50,
    status_args: 20,
    auth_data: 400,
    row: 1000,
    inline_blob: 400,
    auth_steps: 3,
    rows_per_event: 10,
    held: 1 << 20,
    answer: 1 << 20,
};

pub(crate) fn run(data: &[u8]) {
    let Some((choice, bytes)) = data.split_first() else { return };
    match choice {
        0 => check(bytes, |reader| {
            let response = Response::decode(reader, &LIMITS)?;
            assert!(response.data.len() <= LIMITS.response_data);
            segments(&response.data);
            Ok(format!("{response:?}"))
        }),
        1 => check(bytes, |reader| {
            let status = decode_status(reader, &LIMITS)?;
            assert!(status.0.len() <= LIMITS.status_args);
            Ok(format!("{status:?}"))
        }),
        2 => check(bytes, |reader| {
            let completion = Completion::decode(reader, &LIMITS)?;
            let failed = completion.errors.len() + completion.bare_errors.len();
            assert!(failed <= completion.records as usize);
            assert!(completion.updates.is_empty() || completion.updates.len() == completion.records as usize);
            Ok(format!("{completion:?}"))
        }),
        3 => check(bytes, |reader| {
            let blob = InlineBlob::decode(reader, &LIMITS)?;
            assert!(blob.info.len() <= LIMITS.inline_blob && blob.segments.len() <= LIMITS.inline_blob);
            segments(blob.segments);
            Ok(format!("{blob:?}"))
        }),
        4..=6 => check(bytes, |reader| {
            let op = [Op::ACCEPT, Op::ACCEPT_DATA, Op::COND_ACCEPT][usize::from(choice - 4)];
            let accept = Accept::decode(op, reader, &LIMITS)?;
            assert_eq!(
                (accept.auth.is_none(), accept.conditional),
                (op == Op::ACCEPT, op == Op::COND_ACCEPT)
            );
            Ok(format!("{accept:?}"))
        }),
        7 => check(bytes, |reader| Ok(format!("{:?}", ContinueAuth::decode(reader, &LIMITS)?))),
        8..=10 => check(bytes, |reader| {
            let version = [None, ProtocolVersion::new(13), ProtocolVersion::new(14)][usize::from(choice - 8)];
            let callback = KeyCallback::decode(reader, version, &LIMITS)?;
            assert_eq!(callback.reply_limit.is_none(), *choice == 9);
            Ok(format!("{callback:?}"))
        }),
        11 => check(bytes, |reader| Ok(format!("{:?}", decode_fetch_step(reader)?))),
        12 => check(bytes, |reader| Ok(format!("{:?}", decode_sql_response(reader)?))),
        13 => check(bytes, |reader| {
            let posted = decode_auxiliary(reader)?;
            if let Some(posted) = posted {
                let names = events(posted.block).unwrap_or_default();
                assert!(names.iter().all(|(name, _)| name.len() <= MAX_NAME));
            }
            Ok(format!("{posted:?}"))
        }),
        _ => {}
    }
}

/// A packet reads the same with or without bytes after it, and as incomplete if any of its own are missing.
fn check(bytes: &[u8], decode: impl Fn(&mut Reader<'_>) -> Result<String, DecodeError>) {
    let attempt = |bytes: &[u8]| {
        let mut reader = Reader::new(bytes);
        let result = decode(&mut reader);
        assert!(reader.position() <= bytes.len());
        (result, reader.position())
    };
    let (result, length) = attempt(bytes);
    match &result {
        Ok(_) => {
            assert_eq!(attempt(&bytes[..length]), (result.clone(), length));
            for cut in (0..length).step_by(1 + length / 64) {
                assert_eq!(attempt(&bytes[..cut]).0, Err(DecodeError::Incomplete), "cut at {cut}");
            }
        }
        Err(DecodeError::Incomplete) => {
            for cut in (0..bytes.len()).step_by(1 + bytes.len() / 64) {
                assert_eq!(attempt(&bytes[..cut]).0, Err(DecodeError::Incomplete), "cut at {cut}");
            }
        }
        Err(DecodeError::Invalid(error)) => assert!(!error.to_string().is_empty()),
    }
}

fn segments(data: &[u8]) {
    let mut out = b"before".to_vec();
    if append_segments(data, &mut out).is_ok() {
        assert!(out.starts_with(b"before") && out.len() - 6 <= data.len());
    }
}
