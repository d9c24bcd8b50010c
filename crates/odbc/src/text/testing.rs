//! Code pages for tests.

use super::CodePage;
use firearrow::arrow::NoneEncoding;
use firearrow_proto::api::charset::{by_name, single_byte};
use std::sync::OnceLock;

/// One with single bytes.
pub(crate) fn win1251() -> &'static CodePage {
    static PAGE: OnceLock<CodePage> = OnceLock::new();
    PAGE.get_or_init(|| {
        let set = by_name("WIN1251").and_then(|set| single_byte(set.id)).expect("the engine has it");
        CodePage::of_charset("WIN1251", set)
    })
}

/// One with pairs of bytes.
pub(crate) fn shift_jis() -> &'static CodePage {
    static PAGE: OnceLock<CodePage> = OnceLock::new();
    PAGE.get_or_init(|| {
        let Ok(NoneEncoding::CodePage(page)) = "shift_jis".parse() else { panic!("the client knows it") };
        let decode = |bytes: &[u8]| {
            let text = page.decode_without_bom_handling_and_without_replacement(bytes)?;
            let mut characters = text.chars();
            characters.next().filter(|_| characters.next().is_none())
        };
        let encode = |character: char| {
            let text = character.to_string();
            let (bytes, _, is_replaced) = page.encode(&text);
            (!is_replaced).then(|| bytes.into_owned())
        };
        CodePage::new("Shift JIS", decode, encode)
    })
}
