//! Status vectors from the wire, and their texts.

use firearrow_proto::api::gds;
use firearrow_proto::api::status::{StatusArg, StatusVector};
use firearrow_proto::wire::Limits;
use firearrow_proto::wire::packet::response::decode_status;
use firearrow_proto::wire::xdr::Reader;

pub(crate) fn run(data: &[u8]) {
    if let Ok(status) = decode_status(&mut Reader::new(data), &Limits::default()) {
        check(&status);
    }
    if let Some((code, text)) = data.split_first_chunk::<4>() {
        let params: Vec<String> = String::from_utf8_lossy(text).split('|').map(str::to_owned).collect();
        let code = i32::from_be_bytes(*code);
        let line = gds::format(code, &params);
        match gds::message(code) {
            None => assert_eq!(line, format!("unknown ISC error {code}")),
            // A parameter may contain any text, even that the error is unknown.
            Some(message) if !message.text.contains('@') => assert_eq!(line, message.text),
            Some(_) => {}
        }
    }
}

fn check(status: &StatusVector) {
    let errors = status.errors().count();
    let warnings = status.warnings().count();
    // There are errors without a code.
    assert!(status.is_error() || errors == 0);
    assert_eq!(status.sqlstate().len(), 5, "{:?}", status.sqlstate());
    let count = |kind: fn(&StatusArg) -> bool| status.0.iter().filter(|arg| kind(arg)).count();
    let others = count(|arg| matches!(arg, StatusArg::Interpreted(_) | StatusArg::System(..)));
    let (error_lines, warning_lines) = (status.lines(false).len(), status.lines(true).len());
    assert_eq!(
        error_lines + warning_lines,
        errors + warnings + others,
        "no line is lost, none appears twice"
    );
    assert!(status.errors().all(|code| status.contains(code)));
    let shown = status.lines(!status.is_error());
    assert_eq!(status.to_string().is_empty(), shown.concat().is_empty() && shown.len() < 2);
    let _ = status.sqlcode();
}
