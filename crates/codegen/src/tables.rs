//! Formats the tables as Rust source.

use crate::messages::Message;
use crate::query::CharacterSet;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;

/// The id of the first region; the others count down without gaps.
const GMT: i32 = 65535;
/// Numbers per line.
const PER_LINE: usize = 16;

/// Removes the names that it writes; what remains has no message.
pub(crate) fn messages(messages: &[Message], names: &mut BTreeMap<i32, String>) -> String {
    let mut text = String::from("use super::Message;\n\npub(super) static MESSAGES: &[Message] = &[\n");
    for Message { code, sqlcode, sqlstate, text: template } in messages {
        let name = names.remove(code).unwrap_or_default();
        line(
            &mut text,
            format_args!(
                "    Message {{ code: {code}, name: {name:?}, sqlcode: {sqlcode}, sqlstate: {sqlstate:?}, text: {template:?} }},"
            ),
        );
    }
    text.push_str("];\n");
    text
}

pub(crate) fn time_zones(zones: &[(i32, String)]) -> Result<String, Box<dyn Error>> {
    let mut text = String::from("/// Names by 65535 − id.\npub(super) static REGIONS: &[&str] = &[\n");
    for (index, (id, name)) in zones.iter().enumerate() {
        if GMT - id != index as i32 {
            return Err(format!("{name} has the id {id}, which leaves a gap").into());
        }
        line(&mut text, format_args!("    {name:?},"));
    }
    let mut order: Vec<usize> = (0..zones.len()).collect();
    order.sort_by_key(|index| zones[*index].1.to_ascii_lowercase());
    text.push_str("];\n\n/// Indexes into `REGIONS` in the order of the names, ignoring case.\n");
    text.push_str("pub(super) static BY_NAME: &[u16] = &[\n");
    for numbers in order.chunks(PER_LINE) {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        line(&mut text, format_args!("    {},", numbers.join(", ")));
    }
    text.push_str("];\n");
    Ok(text)
}

pub(crate) fn character_sets(sets: &[CharacterSet]) -> String {
    let mut text = String::from("use super::Charset;\n\npub(super) static CHARSETS: &[Charset] = &[\n");
    for CharacterSet { id, name, bytes_per_character } in sets {
        line(
            &mut text,
            format_args!(
                "    Charset {{ id: {id}, name: {name:?}, bytes_per_character: {bytes_per_character} }},"
            ),
        );
    }
    text.push_str("];\n");
    text
}

/// Formats the second halves of the single-byte character sets.
pub(crate) fn code_points(sets: &[(i32, Vec<u16>)]) -> String {
    let mut text = String::from("/// Ids, and the code points of the bytes 128 to 255; 0xffff means none.\n");
    text.push_str("pub(super) static CODE_POINTS: &[(u8, [u16; 128])] = &[\n");
    for (id, points) in sets {
        line(&mut text, format_args!("    ({id}, ["));
        for numbers in points[128..].chunks(PER_LINE) {
            let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:#06x}")).collect();
            line(&mut text, format_args!("        {},", numbers.join(", ")));
        }
        text.push_str("    ]),\n");
    }
    text.push_str("];\n");
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{line}");
}
