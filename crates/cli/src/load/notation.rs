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
    /// For one column: commas stay as they are unless it has numbers.
    pub(super) fn of_column(self, has_numbers: bool) -> Self {
        Self { mark: if has_numbers { self.mark } else { DecimalMark::Point }, ..self }
    }
}
