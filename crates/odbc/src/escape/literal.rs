//! Escapes with one literal.

use firearrow::Dialect;

/// Digits of seconds that Firebird stores, and accepts in literals.
const FRACTION_DIGITS: usize = 4;

/// Translates `{d '…'}` and the like.
pub(super) fn translate(keyword: &str, text: &str, dialect: Dialect) -> String {
    match keyword {
        // A DATE of dialect 1 is a TIMESTAMP.
        "d" if dialect == Dialect::One => format!("TIMESTAMP {text}"),
        "d" => format!("DATE {text}"),
        "t" => format!("TIME {}", without_zeros(text)),
        "ts" => format!("TIMESTAMP {}", without_zeros(text)),
        "guid" => format!("CHAR_TO_UUID({text})"),
        _ => format!("ESCAPE {text}"),
    }
}

/// Drops zeros from the end of the fraction until Firebird accepts its length: applications write six digits, or nine.
/// Other digits stay, so that the server refuses them instead of losing them.
fn without_zeros(text: &str) -> String {
    let value = text.strip_suffix('\'').unwrap_or(text);
    let Some((whole, fraction)) = value.rsplit_once('.') else { return text.to_owned() };
    if fraction.len() <= FRACTION_DIGITS || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.to_owned();
    }
    let digits = fraction.trim_end_matches('0').len().max(FRACTION_DIGITS);
    format!("{whole}.{}'", &fraction[..digits])
}
