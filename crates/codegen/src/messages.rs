//! Reads the messages compiled into the client library by requesting every possible code.

use firearrow_fbapi::Library;
use firearrow_proto::api::gds::ISC_SQLERR;
use firearrow_proto::api::status::{StatusArg, StatusVector};

/// One message, as the library returns it.
pub(crate) struct Message {
    pub(crate) code: i32,
    pub(crate) sqlcode: i32,
    pub(crate) sqlstate: String,
    /// The template: `@1` … `@9`, and `@@` for an at sign.
    pub(crate) text: String,
}

/// Marks every gds code.
const MASK: i32 = 0x1400_0000;
/// Facilities that send messages to clients: engine, gfix, DSQL, DYN, gbak, SQLERR, SQLWARN, gsec, gstat, fbsvcmgr,
/// utilities, nbackup, fbtracemgr (`msg_helper.h`).
const FACILITIES: [i32; 13] = [0, 3, 7, 8, 12, 13, 14, 18, 21, 22, 23, 24, 25];
/// More messages than any facility has.
const NUMBERS: i32 = 2000;
/// SQLCODE of messages without one.
const NO_SQLCODE: i32 = -999;
/// Stands for the at sign of a parameter, to distinguish it from one in the text itself.
const MARK: char = '\u{1}';

/// Returns all known messages in the order of their codes.
pub(crate) fn all(library: &Library) -> Vec<Message> {
    let codes = FACILITIES.iter().flat_map(|facility| (0..NUMBERS).map(move |n| MASK | facility << 16 | n));
    codes.filter_map(|code| message(library, code)).collect()
}

fn message(library: &Library, code: i32) -> Option<Message> {
    let bare = StatusVector(vec![StatusArg::Gds(code)]);
    let mut asked = bare.clone();
    // The library prints text parameters unchanged, even where the engine would send a number.
    asked.0.extend((1..=9).map(|number| StatusArg::Text(format!("{MARK}{number}"))));
    let text = library.interpret(&asked).into_iter().next()?;
    if text == format!("unknown ISC error {code}") {
        return None;
    }
    let text = text.replace('@', "@@").replace(MARK, "@");
    // The library takes the SQLCODE of this message from its parameter.
    let sqlcode = if code == ISC_SQLERR { NO_SQLCODE } else { library.sqlcode(&bare) };
    Some(Message { code, sqlcode, sqlstate: library.sqlstate(&bare), text })
}
