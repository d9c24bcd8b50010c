//! The switches of the type mapping, for columns that can become more than one Arrow type.
//!
//! The value of a switch is a word (or `word(p,s)`), because URLs and driver options pass it as text.

use encoding_rs::Encoding;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// How Firebird values become Arrow values.
///
/// ```
/// use firearrow::ReadOptions;
/// use firearrow::arrow::{BlobPolicy, TextAs};
///
/// let options = ReadOptions::default().blobs(BlobPolicy::Lazy).text(TextAs::Utf8View);
/// # assert_eq!(options.value("blobs").as_deref(), Some("lazy"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// How to interpret text of CHARACTER SET NONE.
    pub none_encoding: NoneEncoding,
    /// Whether to cut off trailing blanks of CHAR values.
    pub trim_char: bool,
    /// INT128 columns.
    pub int128: Int128As,
    /// DECFLOAT columns.
    pub decfloat: DecfloatAs,
    /// TIMESTAMP WITH TIME ZONE columns.
    pub timestamptz: TimestampTzAs,
    /// TIME WITH TIME ZONE columns.
    pub timetz: TimetzAs,
    /// BINARY(n) columns.
    pub binary: BinaryAs,
    /// Text columns.
    pub text: TextAs,
    /// BLOB columns.
    pub blobs: BlobPolicy,
    /// Maximum length of a BLOB or array read as a value.
    pub max_blob: MaxBlob,
    /// Precision of NUMERIC and DECIMAL columns.
    pub decimal_precision: DecimalPrecision,
    /// The declared precision of each column, if the caller has looked it up: the engine's description does not include
    /// it. Indexed by column; may be shorter than the list of columns.
    pub declared_precision: Vec<Option<u8>>,
}

firearrow_proto::setters! {
    ReadOptions {
        none_encoding: NoneEncoding,
        trim_char: bool,
        int128: Int128As,
        decfloat: DecfloatAs,
        timestamptz: TimestampTzAs,
        timetz: TimetzAs,
        binary: BinaryAs,
        text: TextAs,
        blobs: BlobPolicy,
        max_blob: MaxBlob,
        decimal_precision: DecimalPrecision,
        declared_precision: Vec<Option<u8>>,
    }
}

/// An unknown switch, or an invalid value for a switch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("'{given}' is not {expected}")]
pub struct OptionError {
    /// The given text.
    pub given: String,
    /// The permitted values.
    pub expected: String,
}

impl ReadOptions {
    /// Names of the switches that [`ReadOptions::set`] knows.
    pub const NAMES: [&str; 11] = [
        "none_encoding",
        "trim_char",
        "int128",
        "decfloat",
        "timestamptz",
        "timetz",
        "binary",
        "text",
        "blobs",
        "max_blob",
        "decimal_precision",
    ];

    /// Sets the switch of this name from text, in any letter case.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        match name {
            "none_encoding" => self.none_encoding = value.parse()?,
            "trim_char" => {
                let flag = value.to_ascii_lowercase().parse();
                self.trim_char = flag.map_err(|_| OptionError::value(value, "true or false".into()))?;
            }
            "int128" => self.int128 = value.parse()?,
            "decfloat" => self.decfloat = value.parse()?,
            "timestamptz" => self.timestamptz = value.parse()?,
            "timetz" => self.timetz = value.parse()?,
            "binary" => self.binary = value.parse()?,
            "text" => self.text = value.parse()?,
            "blobs" => self.blobs = value.parse()?,
            "max_blob" => self.max_blob = value.parse()?,
            "decimal_precision" => self.decimal_precision = value.parse()?,
            _ => return Err(OptionError::value(name, format!("one of {}", Self::NAMES.join(", ")))),
        }
        Ok(())
    }

    /// Returns the current value of a switch as text, as accepted by [`ReadOptions::set`].
    pub fn value(&self, name: &str) -> Option<String> {
        Some(match name {
            "none_encoding" => self.none_encoding.to_string(),
            "trim_char" => self.trim_char.to_string(),
            "int128" => self.int128.to_string(),
            "decfloat" => self.decfloat.to_string(),
            "timestamptz" => self.timestamptz.to_string(),
            "timetz" => self.timetz.to_string(),
            "binary" => self.binary.to_string(),
            "text" => self.text.to_string(),
            "blobs" => self.blobs.to_string(),
            "max_blob" => self.max_blob.to_string(),
            "decimal_precision" => self.decimal_precision.to_string(),
            _ => return None,
        })
    }

    pub(super) fn declared_precision_of(&self, column: usize) -> Option<u8> {
        match self.decimal_precision {
            DecimalPrecision::Declared => self.declared_precision.get(column).copied().flatten(),
            DecimalPrecision::Storage | DecimalPrecision::Range => None,
        }
    }
}

/// Maximum length in bytes of a BLOB or array read as a value; a longer one is an error that names its column and row.
///
/// The default is 1 GiB. The offsets of Arrow's usual types end at 2 GiB; a batch that is nearly full (512 MiB at most)
/// has room for one more BLOB of that length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaxBlob(u64);

impl MaxBlob {
    /// Limits values to this many bytes, at least one.
    pub const fn new(bytes: u64) -> Self {
        Self(if bytes == 0 { 1 } else { bytes })
    }

    /// Returns the number of bytes.
    pub const fn bytes(self) -> u64 {
        self.0
    }
}

impl Default for MaxBlob {
    fn default() -> Self {
        Self::new(1 << 30)
    }
}

impl fmt::Display for MaxBlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MaxBlob {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<Self, OptionError> {
        let bytes = text.parse().ok().filter(|bytes| *bytes > 0);
        bytes.map(Self).ok_or_else(|| OptionError::value(text, "a number of bytes from 1 on".into()))
    }
}

impl OptionError {
    pub(super) fn value(given: &str, expected: String) -> Self {
        Self { given: given.into(), expected }
    }
}

/// Declares an enum whose variants have their own names in URLs.
macro_rules! switch {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $word,)+ })
            }
        }

        impl FromStr for $name {
            type Err = OptionError;

            fn from_str(word: &str) -> Result<Self, OptionError> {
                match word.to_ascii_lowercase().as_str() {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(OptionError::value(word, format!("one of {}", [$($word),+].join(", ")))),
                }
            }
        }
    };
}

pub(super) use switch;

switch! {
    /// The Arrow type of INT128 columns. Their range needs 39 digits; Arrow's decimal128 holds 38.
    Int128As {
        /// decimal128(38, 0); the few larger values are errors.
        #[default]
        Decimal128 = "decimal128",
        /// decimal256(39, 0), which some consumers cannot read.
        Decimal256 = "decimal256",
        /// Decimal digits as text.
        Utf8 = "utf8",
    }
}

switch! {
    /// The Arrow type of TIMESTAMP WITH TIME ZONE columns.
    TimestampTzAs {
        /// The instant as timestamp[us, UTC]; the zone is dropped.
        #[default]
        Utc = "utc",
        /// The instant and its displacement, as the extension type `arrow.timestamp_with_offset`.
        WithOffset = "with_offset",
        /// Local time, offset, and the region if there is one: `2024-10-27 02:30:00.0000 +02:00 Europe/Berlin`.
        /// Parameters accept this form, too.
        Utf8 = "utf8",
    }
}

switch! {
    /// The Arrow type of TIME WITH TIME ZONE columns.
    TimetzAs {
        /// Local time and zone name, as CAST to VARCHAR writes them.
        #[default]
        Utf8 = "utf8",
        /// The time in UTC as time64\[us\]; the zone is dropped.
        Time64Utc = "time64_utc",
    }
}

switch! {
    /// The Arrow type of BINARY(n) columns.
    BinaryAs {
        /// fixed_size_binary(n).
        #[default]
        Fixed = "fixed",
        /// binary.
        Binary = "binary",
    }
}

switch! {
    /// The Arrow type of text columns.
    TextAs {
        /// utf8, with 32-bit offsets.
        #[default]
        Utf8 = "utf8",
        /// large_utf8, with 64-bit offsets: for single values longer than 2 GiB.
        LargeUtf8 = "large_utf8",
        /// utf8_view: 16-byte views of the values, as in polars and DuckDB.
        Utf8View = "utf8_view",
    }
}

switch! {
    /// What BLOB columns become, and how their contents are fetched.
    BlobPolicy {
        /// Contents; how they travel is chosen for each execution: with their rows (Firebird 5.0.3+), if that is faster by
        /// the number and length of BLOBs in earlier executions of the statement and by the link's round trip and rate,
        /// otherwise as [`Pipelined`](Self::Pipelined). Without experience, with their rows.
        #[default]
        Adaptive = "adaptive",
        /// Contents; short ones come along with their rows if the server supports it (Firebird 5.0.3+).
        Inline = "inline",
        /// Contents; all are requested after their rows, hundreds at a time.
        Pipelined = "pipelined",
        /// Ids as uint64; contents are read on demand.
        Lazy = "lazy",
    }
}

switch! {
    /// The source of the precision of NUMERIC and DECIMAL columns. The engine stores more digits than declared:
    /// NUMERIC(4,2) holds 327.67.
    DecimalPrecision {
        /// The declared precision if known, otherwise that of the storage.
        #[default]
        Declared = "declared",
        /// 4, 9, 18 or 38 digits, by storage size.
        Storage = "storage",
        /// 5, 10, 19 or 39 digits: every value fits, but 39 digits make it a decimal256.
        Range = "range",
    }
}

/// What DECFLOAT columns become. The exponent varies from value to value, so no Arrow number holds them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DecfloatAs {
    /// Text as CAST to VARCHAR writes it; lossless.
    #[default]
    Utf8,
    /// The nearest float64.
    Float64,
    /// decimal128 of this precision and scale; values that are not exact in it are errors.
    Decimal128(u8, i8),
}

impl fmt::Display for DecfloatAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8 => f.write_str("utf8"),
            Self::Float64 => f.write_str("float64"),
            Self::Decimal128(precision, scale) => write!(f, "decimal128({precision},{scale})"),
        }
    }
}

impl FromStr for DecfloatAs {
    type Err = OptionError;

    fn from_str(word: &str) -> Result<Self, OptionError> {
        let lower = word.to_ascii_lowercase();
        let decimal = || {
            let word = lower.as_str();
            let (precision, scale) = word.strip_prefix("decimal128(")?.strip_suffix(')')?.split_once(',')?;
            let (precision, scale) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
            let legal = (1..=38).contains(&precision) && (0..=precision as i8).contains(&scale);
            legal.then_some(Self::Decimal128(precision, scale))
        };
        match lower.as_str() {
            "utf8" => Ok(Self::Utf8),
            "float64" => Ok(Self::Float64),
            _ => decimal().ok_or_else(|| {
                OptionError::value(word, "utf8, float64 or decimal128(p,s) with 0 ≤ s ≤ p ≤ 38".into())
            }),
        }
    }
}

/// How to interpret text of CHARACTER SET NONE: the engine stores the bytes unchanged and does not know their encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoneEncoding {
    /// UTF-8; anything else is an error that names the column and row.
    #[default]
    Utf8,
    /// UTF-8, with U+FFFD for malformed parts.
    Utf8Lossy,
    /// A code page.
    CodePage(&'static Encoding),
    /// Unknown: the column becomes Arrow binary.
    Binary,
}

impl fmt::Display for NoneEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8 => f.write_str("utf8"),
            Self::Utf8Lossy => f.write_str("utf8_lossy"),
            Self::CodePage(encoding) => f.write_str(&encoding.name().to_ascii_lowercase()),
            Self::Binary => f.write_str("binary"),
        }
    }
}

impl FromStr for NoneEncoding {
    type Err = OptionError;

    fn from_str(word: &str) -> Result<Self, OptionError> {
        match word.to_ascii_lowercase().as_str() {
            "utf8" => Ok(Self::Utf8),
            "utf8_lossy" => Ok(Self::Utf8Lossy),
            "binary" => Ok(Self::Binary),
            _ => code_page(word).map(Self::CodePage).ok_or_else(|| {
                let expected = "utf8, utf8_lossy, binary or a code page such as windows-1252 or WIN1252";
                OptionError::value(word, expected.into())
            }),
        }
    }
}

/// Returns the decoder for a web encoding label or a Firebird character set name.
pub(super) fn code_page(name: &str) -> Option<&'static Encoding> {
    let upper = name.to_ascii_uppercase();
    let label = match upper.as_str() {
        "SJIS_0208" | "CP943C" => "shift_jis".into(),
        "EUCJ_0208" => "euc-jp".into(),
        "KSC_5601" => "euc-kr".into(),
        "BIG_5" => "big5".into(),
        "GB_2312" => "gb2312".into(),
        "KOI8R" => "koi8-r".into(),
        "KOI8U" => "koi8-u".into(),
        "TIS620" => "tis-620".into(),
        "DOS866" => "ibm866".into(),
        other => match (other.strip_prefix("WIN"), other.strip_prefix("ISO8859_")) {
            (Some(number), _) if number.starts_with("125") => format!("windows-{number}"),
            (_, Some(part)) => format!("iso-8859-{part}"),
            _ => upper,
        },
    };
    // UTF-16 does not fit a single-byte field, and "replacement" decodes nothing.
    Encoding::for_label_no_replacement(label.as_bytes()).filter(|encoding| encoding.is_ascii_compatible())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_reads_back_what_it_was_set_to() {
        let values = [
            ("none_encoding", "utf8_lossy"),
            ("none_encoding", "windows-1252"),
            ("none_encoding", "binary"),
            ("trim_char", "true"),
            ("int128", "decimal256"),
            ("int128", "utf8"),
            ("decfloat", "float64"),
            ("decfloat", "decimal128(30,10)"),
            ("timestamptz", "with_offset"),
            ("timestamptz", "utf8"),
            ("timetz", "time64_utc"),
            ("binary", "binary"),
            ("text", "large_utf8"),
            ("text", "utf8_view"),
            ("blobs", "lazy"),
            ("blobs", "inline"),
            ("blobs", "pipelined"),
            ("max_blob", "65536"),
            ("decimal_precision", "storage"),
            ("decimal_precision", "range"),
        ];
        let mut options = ReadOptions::default();
        for (name, value) in values {
            options.set(name, value).unwrap();
            assert_eq!(options.value(name).as_deref(), Some(value));
        }
        for name in ReadOptions::NAMES {
            let default = ReadOptions::default().value(name).unwrap();
            options.set(name, &default).unwrap();
        }
        assert_eq!(options, ReadOptions::default());
        for (name, value) in [("blobs", "Lazy"), ("trim_char", "TRUE"), ("decfloat", "Decimal128(30,10)")] {
            options.set(name, value).unwrap();
            assert_eq!(options.value(name), Some(value.to_ascii_lowercase()));
        }
    }

    #[test]
    fn refusals_name_what_would_do() {
        let mut options = ReadOptions::default();
        let error = options.set("int128", "int64").unwrap_err();
        assert_eq!(error.to_string(), "'int64' is not one of decimal128, decimal256, utf8");
        assert!(options.set("colour", "red").unwrap_err().to_string().contains("decimal_precision"));
        for value in
            ["decimal128(39,0)", "decimal128(0,0)", "decimal128(4,5)", "decimal128(4,-1)", "decimal128"]
        {
            assert!(options.set("decfloat", value).is_err(), "{value}");
        }
        for value in ["utf-16", "ebcdic", ""] {
            assert!(options.set("none_encoding", value).is_err(), "{value}");
        }
        for value in ["", "0", "-1", "1.5", "many", "18446744073709551616"] {
            assert!(options.set("max_blob", value).is_err(), "{value}");
        }
    }

    #[test]
    fn code_pages_go_by_both_names() {
        for (firebird, label) in [
            ("WIN1252", "windows-1252"),
            ("win1251", "windows-1251"),
            ("ISO8859_2", "iso-8859-2"),
            ("KOI8R", "koi8-r"),
            ("DOS866", "ibm866"),
            ("SJIS_0208", "shift_jis"),
        ] {
            assert_eq!(code_page(firebird), Encoding::for_label(label.as_bytes()), "{firebird}");
            assert!(code_page(firebird).is_some());
        }
        assert_eq!(code_page("DOS437"), None);
    }
}
