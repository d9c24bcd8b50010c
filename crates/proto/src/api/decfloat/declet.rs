//! Densely packed decimal: declets of ten bits for three digits.

/// Decodes up to eleven declets. Two halves of 64 bits are faster than one integer of 128.
pub(super) fn unpack(bits: u128) -> u128 {
    let half = |bits: u64| {
        let declets = (0..6).rev().map(|at| bits >> (10 * at) & 0x3ff);
        declets.fold(0, |value, declet| value * 1000 + u64::from(DIGITS_OF[declet as usize]))
    };
    let (upper, lower) = ((bits >> 60) as u64, bits as u64);
    u128::from(half(upper)) * HALF + u128::from(half(lower))
}

/// Encodes up to 33 digits as declets.
pub(super) fn pack(digits: u128) -> u128 {
    let half = |mut digits: u64| {
        (0..6).fold(0, |bits, at| {
            let declet = u64::from(DECLET_OF[(digits % 1000) as usize]);
            digits /= 1000;
            bits | declet << (10 * at)
        })
    };
    let (upper, lower) = ((digits / HALF) as u64, (digits % HALF) as u64);
    u128::from(half(upper)) << 60 | u128::from(half(lower))
}

/// Six declets.
const HALF: u128 = 10_u128.pow(18);

/// The three digits of each declet, including the 24 non-canonical ones.
static DIGITS_OF: [u16; 1024] = {
    let mut table = [0; 1024];
    let mut declet = 0;
    while declet < 1024 {
        table[declet] = declet_digits(declet as u16);
        declet += 1;
    }
    table
};

/// The canonical declet for each group of three digits: the smallest one that decodes to them.
static DECLET_OF: [u16; 1000] = {
    let mut table = [0; 1000];
    let mut declet = 1024;
    while declet > 0 {
        declet -= 1;
        table[DIGITS_OF[declet] as usize] = declet as u16;
    }
    table
};

/// Decodes a declet. Its bits are called pqr stu v wxy in the standard; digits up to 7 take three bits, and v, wx and
/// st say which digits are 8 or 9 and keep only one bit.
const fn declet_digits(declet: u16) -> u16 {
    let (pqr, stu, wxy) = (declet >> 7 & 7, declet >> 4 & 7, declet & 7);
    let (r, u, y) = (pqr & 1, stu & 1, wxy & 1);
    let (pq, st) = (pqr & 6, stu & 6);
    let (hundreds, tens, ones) = match (declet >> 3 & 1, wxy >> 1, st >> 1) {
        (0, _, _) => (pqr, stu, wxy),
        (_, 0, _) => (pqr, stu, 8 | y),
        (_, 1, _) => (pqr, 8 | u, st | y),
        (_, 2, _) => (8 | r, stu, pq | y),
        (_, _, 0) => (8 | r, 8 | u, pq | y),
        (_, _, 1) => (8 | r, pq | u, 8 | y),
        (_, _, 2) => (pqr, 8 | u, 8 | y),
        _ => (8 | r, 8 | u, 8 | y),
    };
    100 * hundreds + 10 * tens + ones
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::unusual_byte_groupings, reason = "grouped as the standard names the bits")]
    fn declets() {
        for (declet, digits) in [
            (0b000_000_0101, 5),
            (0b000_000_1001, 9),
            (0b000_101_0101, 55),
            (0b000_111_1001, 79),
            (0b000_000_1010, 80),
            (0b000_101_1111, 99),
            (0b101_101_0101, 555),
            (0b001_111_1111, 999),
        ] {
            assert_eq!((DIGITS_OF[declet], DECLET_OF[usize::from(digits)]), (digits, declet as u16));
        }
        assert!((0..1000).all(|digits| DIGITS_OF[usize::from(DECLET_OF[digits])] == digits as u16));
        // 888 to 999 of odd and even digits have three more forms each, with other values of p and q.
        let other = (0..1024).filter(|declet| DECLET_OF[usize::from(DIGITS_OF[*declet])] != *declet as u16);
        assert_eq!(other.count(), 24);
        assert_eq!([0x06e, 0x16e, 0x26e, 0x36e].map(|declet| DIGITS_OF[declet]), [888; 4]);
    }
}
