//! How the numbers and dates of a text file are written.

use super::date_order::DateOrder;
use super::decimal_mark::DecimalMark;

#[derive(Clone, Copy, Debug)]
pub(super) struct Notation {
    pub(super) mark: DecimalMark,
    /// What comes first in dates such as `01/05/2024`, if that is known.
    pub(super) dates: Option<DateOrder>,
}

impl Notation {
    /// For columns whose numbers are not read here, or that have none: commas stay as they are.
    pub(super) fn without_commas(self) -> Self {
        Self { mark: DecimalMark::Point, ..self }
    }
}
