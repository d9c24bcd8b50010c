//! Headings of results, and how they are written.

use crate::table::{Heading, Kind};

/// The longest text of remarks, defaults and expressions that is announced: that of a VARCHAR in UTF-8.
const LONG: u32 = 8191;

pub(super) const fn name(name: &'static str) -> Heading {
    heading(name, Kind::Text(0))
}

pub(super) const fn text(name: &'static str, characters: u32) -> Heading {
    heading(name, Kind::Text(characters))
}

pub(super) const fn long_text(name: &'static str) -> Heading {
    heading(name, Kind::Text(LONG))
}

pub(super) const fn small(name: &'static str) -> Heading {
    heading(name, Kind::SmallInt)
}

pub(super) const fn integer(name: &'static str) -> Heading {
    heading(name, Kind::Integer)
}

const fn heading(name: &'static str, kind: Kind) -> Heading {
    Heading { name, former: name, kind, nullable: true }
}

impl Heading {
    pub(super) const fn required(self) -> Self {
        Self { nullable: false, ..self }
    }

    /// ODBC 2 has this name for it.
    pub(super) const fn formerly(self, former: &'static str) -> Self {
        Self { former, ..self }
    }
}

pub(super) const TABLE_CAT: Heading = name("TABLE_CAT").formerly("TABLE_QUALIFIER");
pub(super) const TABLE_SCHEM: Heading = name("TABLE_SCHEM").formerly("TABLE_OWNER");
pub(super) const TABLE_NAME: Heading = name("TABLE_NAME").required();
pub(super) const COLUMN_NAME: Heading = name("COLUMN_NAME").required();
pub(super) const REMARKS: Heading = long_text("REMARKS");

/// `first` and then `rest`, which together are `N`.
pub(super) const fn joined<const N: usize>(first: &[Heading], rest: &[Heading]) -> [Heading; N] {
    assert!(first.len() + rest.len() == N);
    let mut all = [TABLE_CAT; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { rest[at - first.len()] };
        at += 1;
    }
    all
}
