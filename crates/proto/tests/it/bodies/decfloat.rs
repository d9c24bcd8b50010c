//! DECFLOAT as bits and as text: nothing is rounded, nothing is lost.

use firearrow_proto::api::decfloat::{Decimal, decode64, decode128, encode64, encode128};

pub(crate) fn run(data: &[u8]) {
    if let Some(bits) = data.first_chunk::<8>() {
        let decimal = decode64(u64::from_be_bytes(*bits));
        let canonical = encode64(&decimal).expect("it came from the format");
        assert_eq!(decode64(canonical), decimal);
        check(&decimal);
    }
    if let Some(bits) = data.first_chunk::<16>() {
        let decimal = decode128(u128::from_be_bytes(*bits));
        let canonical = encode128(&decimal).expect("it came from the format");
        assert_eq!(decode128(canonical), decimal);
        check(&decimal);
        for scale in [-5000, -38, -4, 0, 3, 5000, i32::MIN, i32::MAX] {
            if let Some(value) = decimal.to_i128_scaled(scale) {
                assert_eq!(Decimal::from_i128_scaled(value, scale).to_i128_scaled(scale), Some(value));
            }
        }
    }
    if let Ok(text) = str::from_utf8(data) {
        match text.parse::<Decimal>() {
            Ok(decimal) => {
                check(&decimal);
                // The standard library reads nearly the same texts, and rounds correctly.
                if let (Ok(float), Decimal::Finite { .. }) = (text.parse::<f64>(), decimal) {
                    assert_eq!(decimal.to_f64().to_bits(), float.to_bits(), "{text}");
                }
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn check(decimal: &Decimal) {
    let text = decimal.to_string();
    assert_eq!(text.parse(), Ok(*decimal), "{text}");
    assert_eq!(decimal.to_f64().is_nan(), matches!(decimal, Decimal::NaN { .. }), "{text}");
    for other in [encode64(decimal).map(decode64), encode128(decimal).map(decode128)].into_iter().flatten() {
        assert_eq!(other.to_f64().to_bits(), decimal.to_f64().to_bits(), "{text} is {other}");
    }
}
