//! `Legacy_Auth`: the traditional UNIX `crypt(3)` of the password, with salt `9z`.
//!
//! Only 56 bits of the first eight bytes count, and every installation uses the same salt, so the hash is as good as
//! the password to anyone who sees it. Use it only with servers that support nothing else.

use zeroize::Zeroizing;

/// The hash sent as plugin data, or as `isc_dpb_password_enc` to servers before Firebird 3: 11 characters.
pub(crate) fn password_hash(password: &str) -> String {
    crypt(password.as_bytes(), *b"9z").iter().map(|&c| char::from(c)).collect()
}

/// Characters 3 to 13 of `crypt(password, salt)`: zeros, encrypted 25 times with the password as DES key.
fn crypt(password: &[u8], salt: [u8; 2]) -> [u8; 11] {
    // The C function stops at a NUL. Its seven-bit characters sit above the DES parity bits.
    let mut key = Zeroizing::new([0; 8]);
    for (slot, byte) in key.iter_mut().zip(password.iter().take_while(|byte| **byte != 0)) {
        *slot = byte << 1;
    }
    let keys = Zeroizing::new(key_schedule(u64::from_be_bytes(*key)));
    let salt = digit(salt[0]) | digit(salt[1]) << 6;
    // Bit i of the salt swaps bits i and i + 24 of the expanded half block; bit 0 is the leftmost.
    let swaps = (0..12).filter(|bit| salt >> bit & 1 == 1).fold(0, |swaps, bit| swaps | 1 << (23 - bit));

    // The final permutation of one encryption undoes the initial one of the next, and both keep zeros. Only one
    // permutation at the very end remains.
    let (mut left, mut right) = (0, 0);
    for _ in 0..25 {
        for &key in keys.iter() {
            (left, right) = (right, left ^ feistel(right, key, swaps));
        }
        (left, right) = (right, left);
    }
    let block = permute(u64::from(left) << 32 | u64::from(right), 64, &FINAL);

    // 64 bits make ten characters of six bits; the last one gets four bits and two zeros.
    std::array::from_fn(|at| DIGITS[((u128::from(block) << 2) >> (60 - 6 * at) & 63) as usize])
}

/// The value of one of [`DIGITS`].
fn digit(c: u8) -> u32 {
    (0..).zip(DIGITS).find(|(_, digit)| **digit == c).map_or(0, |(value, _)| value)
}

/// The round function of DES, with the salt's swaps after the expansion.
fn feistel(half: u32, key: u64, swaps: u64) -> u32 {
    let expanded = permute(u64::from(half), 32, &EXPANSION);
    let swapped = (expanded >> 24 ^ expanded) & swaps;
    let mixed = expanded ^ swapped << 24 ^ swapped ^ key;
    let substituted = (0..).zip(&BOXES).fold(0, |out, (at, table)| {
        let group = (mixed >> (42 - 6 * at) & 63) as usize;
        // The outer two bits select the row, the inner four the column.
        let index = group & 0x20 | (group & 1) << 4 | group >> 1 & 15;
        out << 4 | u64::from(table[index])
    });
    permute(substituted, 32, &PERMUTATION) as u32
}

/// The sixteen round keys of 48 bits.
fn key_schedule(key: u64) -> [u64; 16] {
    let chosen = permute(key, 64, &CHOICE_1);
    let (mut c, mut d) = (chosen >> 28, chosen & HALF_KEY);
    std::array::from_fn(|round| {
        let by = if matches!(round, 0 | 1 | 8 | 15) { 1 } else { 2 };
        c = (c << by | c >> (28 - by)) & HALF_KEY;
        d = (d << by | d >> (28 - by)) & HALF_KEY;
        permute(c << 28 | d, 56, &CHOICE_2)
    })
}

/// Picks bits of `value`, which is `width` bits wide; the tables count them from 1 at the left, as FIPS 46-3.
fn permute(value: u64, width: u8, table: &[u8]) -> u64 {
    table.iter().fold(0, |out, bit| out << 1 | value >> (width - bit) & 1)
}

const HALF_KEY: u64 = (1 << 28) - 1;

const DIGITS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#[rustfmt::skip]
const FINAL: [u8; 64] = [
    40, 8, 48, 16, 56, 24, 64, 32,  39, 7, 47, 15, 55, 23, 63, 31,
    38, 6, 46, 14, 54, 22, 62, 30,  37, 5, 45, 13, 53, 21, 61, 29,
    36, 4, 44, 12, 52, 20, 60, 28,  35, 3, 43, 11, 51, 19, 59, 27,
    34, 2, 42, 10, 50, 18, 58, 26,  33, 1, 41,  9, 49, 17, 57, 25,
];

#[rustfmt::skip]
const EXPANSION: [u8; 48] = [
    32,  1,  2,  3,  4,  5,   4,  5,  6,  7,  8,  9,   8,  9, 10, 11, 12, 13,  12, 13, 14, 15, 16, 17,
    16, 17, 18, 19, 20, 21,  20, 21, 22, 23, 24, 25,  24, 25, 26, 27, 28, 29,  28, 29, 30, 31, 32,  1,
];

#[rustfmt::skip]
const PERMUTATION: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17,  1, 15, 23, 26,  5, 18, 31, 10,
     2, 8, 24, 14, 32, 27,  3,  9, 19, 13, 30,  6, 22, 11,  4, 25,
];

#[rustfmt::skip]
const CHOICE_1: [u8; 56] = [
    57, 49, 41, 33, 25, 17,  9,  1, 58, 50, 42, 34, 26, 18,
    10,  2, 59, 51, 43, 35, 27, 19, 11,  3, 60, 52, 44, 36,
    63, 55, 47, 39, 31, 23, 15,  7, 62, 54, 46, 38, 30, 22,
    14,  6, 61, 53, 45, 37, 29, 21, 13,  5, 28, 20, 12,  4,
];

#[rustfmt::skip]
const CHOICE_2: [u8; 48] = [
    14, 17, 11, 24,  1,  5,  3, 28, 15,  6, 21, 10,
    23, 19, 12,  4, 26,  8, 16,  7, 27, 20, 13,  2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48,
    44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];

#[rustfmt::skip]
const BOXES: [[u8; 64]; 8] = [
    [
        14,  4, 13,  1,  2, 15, 11,  8,  3, 10,  6, 12,  5,  9,  0,  7,
         0, 15,  7,  4, 14,  2, 13,  1, 10,  6, 12, 11,  9,  5,  3,  8,
         4,  1, 14,  8, 13,  6,  2, 11, 15, 12,  9,  7,  3, 10,  5,  0,
        15, 12,  8,  2,  4,  9,  1,  7,  5, 11,  3, 14, 10,  0,  6, 13,
    ],
    [
        15,  1,  8, 14,  6, 11,  3,  4,  9,  7,  2, 13, 12,  0,  5, 10,
         3, 13,  4,  7, 15,  2,  8, 14, 12,  0,  1, 10,  6,  9, 11,  5,
         0, 14,  7, 11, 10,  4, 13,  1,  5,  8, 12,  6,  9,  3,  2, 15,
        13,  8, 10,  1,  3, 15,  4,  2, 11,  6,  7, 12,  0,  5, 14,  9,
    ],
    [
        10,  0,  9, 14,  6,  3, 15,  5,  1, 13, 12,  7, 11,  4,  2,  8,
        13,  7,  0,  9,  3,  4,  6, 10,  2,  8,  5, 14, 12, 11, 15,  1,
        13,  6,  4,  9,  8, 15,  3,  0, 11,  1,  2, 12,  5, 10, 14,  7,
         1, 10, 13,  0,  6,  9,  8,  7,  4, 15, 14,  3, 11,  5,  2, 12,
    ],
    [
         7, 13, 14,  3,  0,  6,  9, 10,  1,  2,  8,  5, 11, 12,  4, 15,
        13,  8, 11,  5,  6, 15,  0,  3,  4,  7,  2, 12,  1, 10, 14,  9,
        10,  6,  9,  0, 12, 11,  7, 13, 15,  1,  3, 14,  5,  2,  8,  4,
         3, 15,  0,  6, 10,  1, 13,  8,  9,  4,  5, 11, 12,  7,  2, 14,
    ],
    [
         2, 12,  4,  1,  7, 10, 11,  6,  8,  5,  3, 15, 13,  0, 14,  9,
        14, 11,  2, 12,  4,  7, 13,  1,  5,  0, 15, 10,  3,  9,  8,  6,
         4,  2,  1, 11, 10, 13,  7,  8, 15,  9, 12,  5,  6,  3,  0, 14,
        11,  8, 12,  7,  1, 14,  2, 13,  6, 15,  0,  9, 10,  4,  5,  3,
    ],
    [
        12,  1, 10, 15,  9,  2,  6,  8,  0, 13,  3,  4, 14,  7,  5, 11,
        10, 15,  4,  2,  7, 12,  9,  5,  6,  1, 13, 14,  0, 11,  3,  8,
         9, 14, 15,  5,  2,  8, 12,  3,  7,  0,  4, 10,  1, 13, 11,  6,
         4,  3,  2, 12,  9,  5, 15, 10, 11, 14,  1,  7,  6,  0,  8, 13,
    ],
    [
         4, 11,  2, 14, 15,  0,  8, 13,  3, 12,  9,  7,  5, 10,  6,  1,
        13,  0, 11,  7,  4,  9,  1, 10, 14,  3,  5, 12,  2, 15,  8,  6,
         1,  4, 11, 13, 12,  3,  7, 14, 10, 15,  6,  8,  0,  5,  9,  2,
         6, 11, 13,  8,  1,  4, 10,  7,  9,  5,  0, 15, 14,  2,  3, 12,
    ],
    [
        13,  2,  8,  4,  6, 15, 11,  1, 10,  9,  3, 14,  5,  0, 12,  7,
         1, 15, 13,  8, 10,  3,  7,  4, 12,  5,  6, 11,  0, 14,  9,  2,
         7, 11,  4,  1,  9, 12, 14,  2,  0,  6, 10, 13, 15,  3,  5,  8,
         2,  1, 14,  7,  4, 10,  8, 13, 15, 12,  9,  0,  3,  5,  6, 11,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_as_firebird() {
        assert_eq!(password_hash("masterkey"), "QP3LMZ/MJh.");
        assert_eq!(password_hash("masterke"), "QP3LMZ/MJh.", "only eight bytes count");
    }

    /// Expected values from libxcrypt's `crypt(3)`.
    #[test]
    fn agrees_with_the_c_library() {
        let vectors: [(&[u8], &[u8; 2], &[u8; 11]); 10] = [
            (b"", b"9z", b"retK2Kk/GLk"),
            (b"a", b"9z", b"sMhH1U05.Ck"),
            (b"foob", b"ar", b"lEKn0OzVJn."),
            (b"rasmuslerdorf", b"rl", b".3StKT.4T8M"),
            (b"12345678", b"..", b"EXlUiP8mHCU"),
            (b"12345678", b"//", b"xjm1FAsmup6"),
            (b"Zz09./", b"zz", b"gxZfNlXmlkI"),
            // The top bit of a byte is lost; a byte with only that bit does not end the password.
            (b"p\xc3\xa4sswort", b"9z", b"Ceac0IQRmg2"),
            (b"\xff\xfe\x80x", b"9z", b"NF/sFsQC/HY"),
            (b"\x80\x01", b"9z", b"FWlnTf9TCEw"),
        ];
        for (password, salt, expected) in vectors {
            assert_eq!(crypt(password, *salt), *expected, "{password:?}");
        }
    }

    #[test]
    fn a_nul_ends_the_password() {
        assert_eq!(password_hash("ab\0cd"), password_hash("ab"));
    }
}
