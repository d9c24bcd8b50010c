//! What the server takes for a parameter.

use firearrow::Descriptor;

/// The kinds of parameters that are treated alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// SMALLINT, INTEGER, BIGINT, INT128, NUMERIC, DECIMAL.
    Exact,
    Float,
    Double,
    Decfloat,
    Boolean,
    Date,
    /// With or without time zone.
    Time,
    /// With or without time zone.
    Timestamp,
    /// CHAR, VARCHAR, text BLOBs.
    Text,
    /// The same of CHARACTER SET OCTETS, other BLOBs.
    Binary,
    Array,
    /// Only whether it is NULL matters: `? IS NULL`.
    Any,
}

/// `CHARACTER SET OCTETS`
const OCTETS: i32 = 1;

impl Target {
    pub(super) fn new(parameter: &Descriptor) -> Self {
        let charset = i32::from(parameter.charset());
        match parameter.sql_type.0 {
            496 | 500 | 580 | 32752 => Self::Exact,
            482 => Self::Float,
            480 | 530 => Self::Double,
            32760 | 32762 => Self::Decfloat,
            32764 => Self::Boolean,
            570 => Self::Date,
            560 | 32750 | 32756 => Self::Time,
            510 | 32748 | 32754 => Self::Timestamp,
            448 | 452 if charset == OCTETS => Self::Binary,
            448 | 452 => Self::Text,
            520 if parameter.sub_type == 1 && charset != OCTETS => Self::Text,
            520 => Self::Binary,
            540 => Self::Array,
            _ => Self::Any,
        }
    }

    /// Whether numbers can become such a value.
    pub(super) fn takes_numbers(self) -> bool {
        !matches!(self, Self::Date | Self::Time | Self::Timestamp | Self::Array)
    }
}
