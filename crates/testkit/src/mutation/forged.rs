//! Packets that a hostile server might put between those of a real one.

use crate::Choice;

/// Operations of a server, and some that only a client may send.
mod op {
    pub(super) const EXIT: u32 = 2;
    pub(super) const ACCEPT: u32 = 3;
    pub(super) const DISCONNECT: u32 = 6;
    pub(super) const RESPONSE: u32 = 9;
    pub(super) const EVENT: u32 = 52;
    pub(super) const FETCH_RESPONSE: u32 = 66;
    pub(super) const DUMMY: u32 = 71;
    pub(super) const SQL_RESPONSE: u32 = 78;
    pub(super) const CONT_AUTH: u32 = 92;
    pub(super) const ACCEPT_DATA: u32 = 94;
    pub(super) const CRYPT_KEY_CALLBACK: u32 = 97;
    pub(super) const COND_ACCEPT: u32 = 98;
    pub(super) const BATCH_CS: u32 = 103;
    pub(super) const INLINE_BLOB: u32 = 114;
}

/// Words at which arithmetic and allocations go wrong.
pub(crate) const EXTREMES: [u32; 16] = [
    0,
    1,
    2,
    3,
    u32::MAX,
    u32::MAX - 1,
    0x7fff_ffff,
    0x8000_0000,
    0x7fff_fffc,
    0xffff,
    0x1_0000,
    0x7fff,
    0x8000,
    0x10_0000,
    0x400_0000,
    0x1000_0000,
];

/// Codes of errors that a client treats in a way of its own.
const CODES: [u32; 6] = [
    335_544_569, // isc_dsql_error
    335_544_794, // isc_cancelled
    335_544_336, // isc_deadlock
    335_544_741, // isc_lost_db_connection
    335_544_472, // isc_login
    335_544_324, // isc_bad_db_handle
];

/// Whether a word is where an answer to a request begins, most likely.
pub(crate) fn begins_answer(word: u32) -> bool {
    matches!(
        word,
        op::RESPONSE
            | op::FETCH_RESPONSE
            | op::SQL_RESPONSE
            | op::CONT_AUTH
            | op::ACCEPT_DATA
            | op::COND_ACCEPT
            | op::BATCH_CS
            | op::INLINE_BLOB
    )
}

/// The bytes of a packet, with a length that is a multiple of four.
pub(crate) fn packet(choice: &mut Choice) -> Vec<u8> {
    let any = choice.of(&EXTREMES);
    let object = choice.below(4) as u32;
    let words: Vec<u32> = match choice.below(16) {
        0 => vec![op::DUMMY],
        1 => vec![op::RESPONSE, object, 0, 0, 0, 1, 0, 0],
        2 => vec![op::RESPONSE, object, 0, 0, 0, 1, choice.of(&CODES), 0],
        3 => vec![op::RESPONSE, any, any, any, 0, 0],
        4 => vec![op::RESPONSE, object, 0, 0, any],
        // A whole answer with data that are nonsense.
        5 => vec![op::RESPONSE, object, 0, 0, 8, choice.word(), any, 0],
        6 => vec![op::FETCH_RESPONSE, 100, 0],
        7 => vec![op::FETCH_RESPONSE, 0, 0],
        8 => vec![op::FETCH_RESPONSE, 0, any],
        9 => vec![op::SQL_RESPONSE, any],
        10 => vec![op::BATCH_CS, object, any, any, any, any],
        11 => vec![op::INLINE_BLOB, object, 0, choice.word(), any, 0, any, 0],
        12 => vec![op::INLINE_BLOB, object, 0, choice.word(), 0, 0, 0],
        13 => vec![choice.of(&[op::EXIT, op::DISCONNECT, op::EVENT, op::CRYPT_KEY_CALLBACK]), any, any],
        14 => vec![op::ACCEPT, any, 1, 5],
        _ => (0..=choice.below(6)).map(|_| choice.below(120) as u32).chain([any]).collect(),
    };
    words.into_iter().flat_map(u32::to_be_bytes).collect()
}
