//! Columns of results and parameters as applications see them.

use crate::abi::{NO_NULLS, NULLABLE, NULLABLE_UNKNOWN, SmallInt};
use crate::table::{Heading, Kind};
use crate::text::{NarrowEncoding, Text};
use crate::types::{Type, TypeOptions};
use firearrow::{Descriptor, Dialect};
use firearrow_proto::api::descriptor::charset_id;

const BOOKMARK_BYTES: u32 = 8;

/// A column, with its texts in both encodings: they are asked for again and again.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// What the query calls it.
    pub(crate) label: Text,
    /// The column of the table; empty for expressions.
    pub(crate) base_column: Text,
    /// The table; empty for expressions.
    pub(crate) base_table: Text,
    pub(crate) type_name: Text,
    pub(crate) sql_type: Type,
    /// Whether its text is stored in the encoding that it arrives in.
    pub(crate) is_utf8: bool,
    /// The encoding of its narrow text.
    pub(crate) narrow: NarrowEncoding,
    pub(crate) nullable: SmallInt,
}

impl Column {
    /// A column of a query, or a parameter.
    pub(crate) fn new(descriptor: &Descriptor, dialect: Dialect, types: &TypeOptions) -> Self {
        let sql_type = Type::of_descriptor(descriptor, dialect, types);
        // The engine calls expressions not nullable that are.
        let nullable = match (descriptor.nullable, descriptor.relation.is_empty()) {
            (true, _) => NULLABLE,
            (false, true) => NULLABLE_UNKNOWN,
            (false, false) => NO_NULLS,
        };
        let is_expression = descriptor.relation.is_empty();
        let label = if descriptor.alias.is_empty() { &descriptor.field } else { &descriptor.alias };
        Self {
            label: label.as_str().into(),
            base_column: if is_expression { Text::default() } else { descriptor.field.as_str().into() },
            base_table: descriptor.relation.as_str().into(),
            type_name: sql_type.name.into(),
            sql_type,
            is_utf8: matches!(
                descriptor.charset(),
                charset_id::NONE | charset_id::ASCII | charset_id::UNICODE_FSS | charset_id::UTF8
            ),
            narrow: types.narrow,
            nullable,
        }
    }

    /// A column of a result that the driver makes.
    pub(crate) fn of_heading(
        heading: &Heading,
        is_odbc2: bool,
        types: &TypeOptions,
        longest_name: u32,
    ) -> Self {
        let name = if is_odbc2 { heading.former } else { heading.name };
        let sql_type = match heading.kind {
            Kind::Text(0) => Type::varchar(longest_name, types),
            Kind::Text(length) => Type::varchar(length, types),
            Kind::SmallInt => Type::small_int(),
            Kind::Integer => Type::plain_integer(),
        };
        Self {
            label: name.into(),
            base_column: Text::default(),
            base_table: Text::default(),
            type_name: sql_type.name.into(),
            sql_type,
            is_utf8: true,
            narrow: types.narrow,
            nullable: if heading.nullable { NULLABLE } else { NO_NULLS },
        }
    }

    /// The bookmark, which is column 0.
    pub(crate) fn bookmark() -> Self {
        let sql_type = Type::binary(BOOKMARK_BYTES, &TypeOptions::default());
        Self {
            label: Text::default(),
            base_column: Text::default(),
            base_table: Text::default(),
            type_name: sql_type.name.into(),
            sql_type,
            is_utf8: true,
            narrow: NarrowEncoding::Utf8,
            nullable: NO_NULLS,
        }
    }

    /// Whether it is computed by the query.
    pub(crate) fn is_expression(&self) -> bool {
        self.base_table.as_str().is_empty()
    }
}
