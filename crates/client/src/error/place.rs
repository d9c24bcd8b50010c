//! Where an error belongs: rows, columns, SQL text, and what a constraint is about.

use super::Error;
use firearrow_proto::api::gds;
use firearrow_proto::api::status::StatusArg;

/// `isc_command_end_err2`, which [`gds`] does not name.
const UNEXPECTED_END: i32 = 335_544_851;

/// The value that an error is about, as far as that is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    pub(super) row: Option<usize>,
    column: Option<(usize, String)>,
}

impl Error {
    /// Says which row it is about, counted from 0.
    pub(crate) fn in_row(mut self, row: usize) -> Self {
        self.0.place.row = Some(row);
        self
    }

    /// Adds the rows that came before this part of the result.
    pub(crate) fn offset_rows(mut self, rows: usize) -> Self {
        let Some(row) = &mut self.0.place.row else { return self };
        *row += rows;
        if rows == 0 { self } else { self.context(format!("after the first {rows} rows")) }
    }

    /// Says which column or parameter it is about, counted from 0. The name may be empty.
    pub(crate) fn in_column(mut self, index: usize, name: &str) -> Self {
        self.0.place.column = Some((index, name.to_owned()));
        self
    }

    /// The 0-based row that the error is about, if a single value caused it: of the whole result, of all rows of parameters of the
    /// call, or, for [`Row::get`](crate::Row::get), of the batch.
    pub fn row(&self) -> Option<usize> {
        self.0.place.row
    }

    /// The 0-based index of the result column or the parameter that the error is about.
    pub fn column_index(&self) -> Option<usize> {
        self.0.place.column.as_ref().map(|(index, _)| *index)
    }

    /// The name of the result column or the parameter that the error is about, if it has one.
    pub fn column_name(&self) -> Option<&str> {
        self.0.place.column.as_ref().map(|(_, name)| name.as_str()).filter(|name| !name.is_empty())
    }

    /// The position in the SQL text that the engine objects to: line and column, both counted from 1.
    pub fn sql_position(&self) -> Option<(u32, u32)> {
        [gds::ISC_DSQL_LINE_COL_ERROR, gds::ISC_DSQL_TOKEN_UNK_ERR, UNEXPECTED_END].into_iter().find_map(
            |code| match self.arguments(code)? {
                [StatusArg::Number(line), StatusArg::Number(column), ..] => {
                    Some((u32::try_from(*line).ok()?, u32::try_from(*column).ok()?))
                }
                _ => None,
            },
        )
    }

    /// The constraint that was violated.
    pub fn constraint(&self) -> Option<&str> {
        self.constraint_argument(0)
    }

    /// The table whose constraint was violated.
    pub fn table(&self) -> Option<&str> {
        self.constraint_argument(1)
    }

    /// The key that a unique or foreign key forbids, in the engine's words: `("ID" = 1)`.
    pub fn key(&self) -> Option<&str> {
        text(self.arguments(gds::ISC_IDX_KEY_VALUE)?, 0)
    }

    fn constraint_argument(&self, index: usize) -> Option<&str> {
        [gds::ISC_UNIQUE_KEY_VIOLATION, gds::ISC_FOREIGN_KEY, gds::ISC_CHECK_CONSTRAINT]
            .into_iter()
            .find_map(|code| text(self.arguments(code)?, index))
    }

    /// The rest of the status vector after the first of this code.
    fn arguments(&self, code: i32) -> Option<&[StatusArg]> {
        let vector = self.0.status.as_ref()?.error_args();
        let at = vector.iter().position(|arg| *arg == StatusArg::Gds(code))?;
        vector.get(at + 1..)
    }
}

/// The text at `index` of the arguments of one message.
fn text(arguments: &[StatusArg], index: usize) -> Option<&str> {
    let mut own = arguments.iter().take_while(|arg| matches!(arg, StatusArg::Text(_) | StatusArg::Number(_)));
    match own.nth(index)? {
        StatusArg::Text(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::arrow::{DecodeError, DecodeErrorKind, ParamError, ParamErrorKind, SchemaError};
    use crate::config::ConfigError;
    use arrow::error::ArrowError;
    use firearrow_proto::api::status::StatusVector;
    use firearrow_proto::wire::ProtocolError;
    use std::error::Error as _;

    fn engine(args: Vec<StatusArg>) -> Error {
        Error::engine(StatusVector(args))
    }

    #[test]
    fn errors_are_small_and_go_anywhere() {
        fn anywhere<T: Clone + Send + Sync + 'static>() {}
        anywhere::<Error>();
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn values_that_cannot_be_decoded_have_row_and_column() {
        let cause = DecodeError {
            column_name: "NAME".into(),
            column: 1,
            row: 7,
            kind: DecodeErrorKind::InvalidText,
            message: "no UTF-8".into(),
        };
        let error = Error::from(cause.clone());
        assert_eq!(
            (error.row(), error.column_index(), error.column_name()),
            (Some(7), Some(1), Some("NAME"))
        );
        assert_eq!(error.source().and_then(|source| source.downcast_ref()), Some(&cause));
        assert_eq!(error.clone().context("reading").row(), Some(7));
    }

    #[test]
    fn parameters_that_cannot_be_encoded_have_row_and_column() {
        let cause =
            |kind, row| ParamError { field: String::new(), column: 2, row, kind, message: "too long".into() };
        let error = Error::from(cause(ParamErrorKind::TooLong, Some(4)));
        assert_eq!((error.row(), error.column_index(), error.column_name()), (Some(4), Some(2), None));
        assert!(error.source().is_some_and(|source| source.is::<ParamError>()));
        assert_eq!(error.message(), "parameter 3, row 4 (counted from 0): too long");
        let error = Error::of_only_row(cause(ParamErrorKind::TooLong, Some(0)));
        assert_eq!((error.row(), error.message()), (Some(0), "parameter 3: too long"));
        let error = Error::from(cause(ParamErrorKind::Count, None));
        assert_eq!((error.row(), error.column_index()), (None, None));
    }

    #[test]
    fn causes_are_kept() {
        let schema = SchemaError { column: 3, column_name: "A".into(), message: "no type".into() };
        let error = Error::from(schema);
        assert_eq!((error.row(), error.column_index(), error.column_name()), (None, Some(3), Some("A")));
        assert!(error.source().is_some_and(|source| source.is::<SchemaError>()));
        let error = Error::from(ConfigError::Empty);
        assert_eq!(error.source().and_then(|source| source.downcast_ref()), Some(&ConfigError::Empty));
        let error = Error::from(ProtocolError::Closed);
        assert_eq!(error.source().and_then(|source| source.downcast_ref()), Some(&ProtocolError::Closed));
        assert!(Error::new(Kind::Misuse, "no").source().is_none());
    }

    #[test]
    fn texts_of_errors_name_the_place() {
        let schema = SchemaError { column: 3, column_name: "A".into(), message: "no type".into() };
        assert_eq!(schema.to_string(), "column 4 (\"A\"): no type");
        let error = "often".parse::<crate::arrow::MaxBlob>().expect_err("no number");
        assert_eq!(error.to_string(), "'often' is not a number of bytes from 1 on");
    }

    #[test]
    fn errors_come_out_of_arrow_as_they_went_in() {
        let error = Error::new(Kind::Conflict, "no").in_row(3);
        let back = Error::from(ArrowError::from(error));
        assert_eq!((back.kind(), back.message(), back.row()), (Kind::Conflict, "no", Some(3)));
        let other = Error::from(ArrowError::ComputeError("overflow".into()));
        assert_eq!(other.kind(), Kind::Data);
        assert!(other.source().is_some_and(|source| source.is::<ArrowError>()));
        let foreign = Error::from(ArrowError::ExternalError("a text".into()));
        assert_eq!((foreign.kind(), foreign.message()), (Kind::Data, "External error: a text"));
    }

    #[test]
    fn positions_come_from_the_status_vector() {
        let number = StatusArg::Number;
        for code in [gds::ISC_DSQL_LINE_COL_ERROR, gds::ISC_DSQL_TOKEN_UNK_ERR, UNEXPECTED_END] {
            let error = engine(vec![StatusArg::Gds(code), number(2), number(17)]);
            assert_eq!(error.sql_position(), Some((2, 17)));
            assert!(error.message().ends_with("line 2, column 17"), "{error}");
            assert_eq!(engine(vec![StatusArg::Gds(code), number(-2), number(17)]).sql_position(), None);
            assert_eq!(engine(vec![StatusArg::Gds(code), number(2)]).sql_position(), None);
        }
        assert_eq!(engine(vec![StatusArg::Gds(gds::ISC_RANDOM), number(2), number(17)]).sql_position(), None);
        assert_eq!(Error::new(Kind::Syntax, "no").sql_position(), None);
    }

    #[test]
    fn constraints_come_from_the_status_vector() {
        let text = |text: &str| StatusArg::Text(text.into());
        let error = engine(vec![
            StatusArg::Gds(gds::ISC_UNIQUE_KEY_VIOLATION),
            text("PK"),
            text("T"),
            StatusArg::Gds(gds::ISC_IDX_KEY_VALUE),
            text("(\"ID\" = 1)"),
        ]);
        assert_eq!(
            (error.constraint(), error.table(), error.key()),
            (Some("PK"), Some("T"), Some("(\"ID\" = 1)"))
        );
        // The texts of another message do not count.
        let error = engine(vec![
            StatusArg::Gds(gds::ISC_CHECK_CONSTRAINT),
            text("POSITIVE"),
            StatusArg::Gds(gds::ISC_RANDOM),
            text("else"),
        ]);
        assert_eq!((error.constraint(), error.table(), error.key()), (Some("POSITIVE"), None, None));
    }
}
