//! What the texts are pieces of.

use super::random::Random;

const POOL: usize = 1 << 20;

/// Lines of words, as repetitive as source code.
pub(super) fn source_code() -> Vec<u8> {
    const WORDS: [&str; 64] = [
        "begin",
        "end",
        "if",
        "then",
        "else",
        "for",
        "to",
        "do",
        "while",
        "repeat",
        "until",
        "procedure",
        "function",
        "var",
        "const",
        "type",
        "Result",
        "Self",
        "nil",
        "True",
        "False",
        "Integer",
        "string",
        "Boolean",
        "TObject",
        "Connection",
        "Transaction",
        "Statement",
        "Database",
        "Attachment",
        "FStatus",
        "Buffer",
        "Length",
        "Index",
        "Count",
        "Value",
        "Name",
        "Items",
        "Create",
        "Free",
        "Open",
        "Close",
        "Fetch",
        "Execute",
        "Prepare",
        "Commit",
        "Rollback",
        "AddRef",
        "Release",
        "Message",
        "Metadata",
        "Offset",
        "Segment",
        "Stream",
        "Position",
        "Size",
        "Read",
        "Write",
        "raise",
        "try",
        "finally",
        "except",
        "property",
        "override",
    ];
    const SIGNS: [&str; 12] = [" := ", ".", "(", ")", ";", ", ", " = ", " <> ", "[", "]", " + ", " "];
    let mut random = Random(7);
    let mut pool = Vec::with_capacity(POOL + 256);
    // Lines come again, here and there with another name.
    let mut lines: Vec<Vec<u8>> = Vec::new();
    while pool.len() < POOL {
        let line = match random.below(100) {
            0..45 if lines.len() > 30 => lines[lines.len() - 1 - random.below(30) as usize].clone(),
            _ => {
                let mut line = b"  ".repeat(1 + random.below(4) as usize);
                for _ in 0..2 + random.below(5) {
                    // Some words are much more frequent than others.
                    let at = random.below(64).min(random.below(64)) as usize;
                    line.extend(WORDS[at].as_bytes());
                    line.extend(SIGNS[random.below(12) as usize].as_bytes());
                }
                line.push(b'\n');
                line
            }
        };
        pool.extend(&line);
        lines.push(line);
    }
    pool
}

/// Random letters and digits.
pub(super) fn letters() -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut random = Random(11);
    (0..POOL).map(|_| ALPHABET[random.below(64) as usize]).collect()
}
