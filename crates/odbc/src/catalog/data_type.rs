//! Data types in results: the part that columns and parameters have in common.

use super::Scope;
use super::heading::{REMARKS, integer, long_text, small, text};
use crate::abi::{self, SmallInt, sql_type};
use crate::table::{Cell, Heading};
use crate::types::Type;
use firearrow::catalog::ColumnType;

/// The headings of [`Facts::cells`].
pub(super) const FACTS: [Heading; 14] = [
    DATA_TYPE,
    TYPE_NAME,
    COLUMN_SIZE,
    BUFFER_LENGTH,
    DECIMAL_DIGITS,
    small("NUM_PREC_RADIX").formerly("RADIX"),
    small("NULLABLE").required(),
    REMARKS,
    long_text("COLUMN_DEF"),
    small("SQL_DATA_TYPE").required(),
    small("SQL_DATETIME_SUB"),
    integer("CHAR_OCTET_LENGTH"),
    integer("ORDINAL_POSITION").required(),
    text("IS_NULLABLE", 3),
];

pub(super) const DATA_TYPE: Heading = small("DATA_TYPE").required();
pub(super) const TYPE_NAME: Heading = text("TYPE_NAME", 63).required();
pub(super) const COLUMN_SIZE: Heading = integer("COLUMN_SIZE").formerly("PRECISION");
pub(super) const BUFFER_LENGTH: Heading = integer("BUFFER_LENGTH").formerly("LENGTH");
pub(super) const DECIMAL_DIGITS: Heading = small("DECIMAL_DIGITS").formerly("SCALE");

/// What results say about a column or a parameter after its name.
pub(super) struct Facts<'a> {
    pub(super) data_type: &'a ColumnType,
    pub(super) nullable: bool,
    pub(super) remarks: Option<String>,
    pub(super) default: Option<String>,
    pub(super) ordinal: i64,
}

impl Facts<'_> {
    pub(super) fn cells(self, scope: &Scope<'_>) -> Vec<Cell> {
        let kind = scope.type_of(self.data_type);
        let (verbose, subcode) = kind.verbose();
        let (nullable, is_nullable) =
            if self.nullable { (abi::NULLABLE, "YES") } else { (abi::NO_NULLS, "NO") };
        let mut cells = Vec::from(size_cells(scope, &kind));
        cells.extend([
            Some(kind.radix).filter(|radix| *radix != 0).into(),
            nullable.into(),
            self.remarks.into(),
            self.default.into(),
            verbose.into(),
            subcode.into(),
            kind.char_octet_length().into(),
            self.ordinal.into(),
            is_nullable.into(),
        ]);
        cells
    }
}

impl Scope<'_> {
    pub(super) fn type_of(&self, declared: &ColumnType) -> Type {
        Type::of_declared(declared, self.dialect, &self.types)
    }
}

/// `DATA_TYPE` to `DECIMAL_DIGITS`.
pub(super) fn size_cells(scope: &Scope<'_>, kind: &Type) -> [Cell; 5] {
    let concise = if scope.odbc2 { kind.for_odbc2() } else { kind.concise };
    let size = i32::try_from(kind.size).unwrap_or(i32::MAX);
    [concise.into(), kind.name.into(), size.into(), kind.buffer_length().into(), decimal_digits(kind).into()]
}

/// Approximate numbers have none, nor have types without a fraction.
fn decimal_digits(kind: &Type) -> Option<SmallInt> {
    use sql_type::{BIGINT, DECIMAL, INTEGER, NUMERIC, SMALLINT, TYPE_TIME, TYPE_TIMESTAMP};
    let has_digits =
        matches!(kind.concise, SMALLINT | INTEGER | BIGINT | NUMERIC | DECIMAL | TYPE_TIME | TYPE_TIMESTAMP);
    has_digits.then_some(kind.digits)
}
