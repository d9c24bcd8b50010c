//! The options that only this driver has.

use super::{Attributes, value::Value};
use crate::diagnostics::Failure;
use crate::diagnostics::{Result, State};
use crate::text::NarrowEncoding;
use crate::types::TypeOptions;
use firearrow_driver::script;

/// Options of a connection beyond those of the client and the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OdbcOptions {
    /// The data source, or "".
    pub(crate) dsn: String,
    /// Whether text is described with the wide types; `None` leaves it to how the application connects.
    pub(crate) wide: Option<bool>,
    /// Whether DECFLOAT is `SQL_DOUBLE` instead of text.
    pub(crate) decfloat_as_double: bool,
    /// Whether BINARY(16) is `SQL_GUID`.
    pub(crate) guid: bool,
    /// The size reported for BLOBs.
    pub(crate) blob_size: u32,
    /// The encoding of narrow data.
    pub(crate) narrow: NarrowEncoding,
    /// Whether SELECT may lack a FROM.
    pub(crate) fromless_select: bool,
    /// Whether an execution for an array of parameters fails if one of its sets does.
    pub(crate) failed_sets_are_errors: bool,
    /// Seconds that statements may take by default; 0 = no limit.
    pub(crate) query_timeout: u32,
    /// Whether identifiers may be quoted.
    pub(crate) quoted_identifiers: bool,
    /// Whether `SQL_IDENTIFIER_CASE` is `SQL_IC_SENSITIVE`.
    pub(crate) sensitive_identifiers: bool,
    /// Statements to execute after connecting. If one fails, so does connecting.
    pub(crate) connect_sql: Vec<String>,
}

impl OdbcOptions {
    pub(super) fn read(attributes: &Attributes) -> Result<Self> {
        let of = |keyword| Value::of(attributes, keyword);
        let flag = |keyword, default| of(keyword).map_or(Ok(default), Value::flag);
        let defaults = TypeOptions::default();
        if let Some(value) = of("USESCHEMA") {
            // Existing data sources have it; before Firebird 6 there are no schemas.
            value.number(0..=2)?;
        }
        if flag("DROP_DB", false)? {
            return Err(Failure::new(
                State::NOT_IMPLEMENTED,
                "DROP_DB is not supported; to drop a database, execute DROP DATABASE in isql",
            ));
        }
        Ok(Self {
            dsn: attributes.data_source().unwrap_or_default().to_owned(),
            wide: match of("WCHARTYPES") {
                Some(value) if !value.text().eq_ignore_ascii_case("AUTO") => {
                    Some(value.flag().map_err(|_| value.error("AUTO, Y or N"))?)
                }
                _ => None,
            },
            decfloat_as_double: match of("DECFLOAT") {
                Some(value) => value.choice(&[("VARCHAR", false), ("DOUBLE", true)], "VARCHAR or DOUBLE")?,
                None => defaults.decfloat_as_double,
            },
            guid: match of("GUID") {
                Some(value) => value.choice(&[("BINARY", false), ("GUID", true)], "BINARY or GUID")?,
                None => defaults.guid,
            },
            blob_size: match of("BLOBSIZE") {
                Some(value) => value.number(1..=i32::MAX as u32)?,
                None => defaults.blob_size,
            },
            narrow: NarrowEncoding::of_connection(attributes.filled("CHARSET")),
            fromless_select: flag("FROMLESSSELECT", true)?,
            failed_sets_are_errors: match of("FAILEDSETS") {
                Some(value) => value.choice(&[("INFO", false), ("ERROR", true)], "INFO or ERROR")?,
                None => false,
            },
            query_timeout: of("QUERYTIMEOUT").map_or(Ok(0), |value| value.number(0..=u32::MAX))?,
            quoted_identifiers: flag("QUOTED", true)?,
            sensitive_identifiers: flag("SENSITIVE", false)?,
            connect_sql: match attributes.filled("CONNSETTINGS") {
                Some(text) => statements(text)?,
                None => Vec::new(),
            },
        })
    }

    /// How types are described to an application that connected with the wide or the narrow function.
    pub(crate) fn types(&self, wide: bool) -> TypeOptions {
        TypeOptions {
            wide: self.wide.unwrap_or(wide),
            decfloat_as_double: self.decfloat_as_double,
            guid: self.guid,
            blob_size: self.blob_size,
            narrow: self.narrow,
            ..TypeOptions::default()
        }
    }
}

/// Splits the value of CONNSETTINGS.
fn statements(text: &str) -> Result<Vec<String>> {
    let statements = script::statements(text)
        .map_err(|error| Failure::new(State::GENERAL, format!("CONNSETTINGS: {error}")))?;
    Ok(statements.into_iter().map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str) -> Result<OdbcOptions> {
        OdbcOptions::read(&Attributes::parse(text).expect("a list"))
    }

    #[test]
    fn defaults_are_those_of_the_driver() {
        let options = options("DBNAME=x;WCHARTYPES=;DECFLOAT=;QUERYTIMEOUT=").expect("valid");
        let expected = OdbcOptions {
            dsn: String::new(),
            wide: None,
            decfloat_as_double: false,
            guid: false,
            blob_size: 2_147_483_647,
            narrow: NarrowEncoding::of_process(),
            fromless_select: true,
            failed_sets_are_errors: false,
            query_timeout: 0,
            quoted_identifiers: true,
            sensitive_identifiers: false,
            connect_sql: Vec::new(),
        };
        assert_eq!(options, expected);
        assert!(options.types(true).wide && !options.types(false).wide);
    }

    #[test]
    fn every_option_can_be_set() {
        let text = "DSN=shop;WCharTypes=n;Decfloat=double;GUID=guid;BlobSize=4000;FromlessSelect=0;QueryTimeout=7;\
                    QUOTED=N;SENSITIVEIDENTIFIER=Y;lc_ctype=win1252;USESCHEMA=2;SafeThread=?;DROP_DB=N;\
                    CONNSETTINGS={SET ROLE r; SELECT ';' FROM t;}";
        let expected = OdbcOptions {
            dsn: "shop".into(),
            wide: Some(false),
            decfloat_as_double: true,
            guid: true,
            blob_size: 4000,
            narrow: NarrowEncoding::of_connection(Some("WIN1252")),
            fromless_select: false,
            failed_sets_are_errors: false,
            query_timeout: 7,
            quoted_identifiers: false,
            sensitive_identifiers: true,
            connect_sql: vec!["SET ROLE r".into(), "SELECT ';' FROM t".into()],
        };
        let options = options(text).expect("valid");
        assert_eq!(options, expected);
        let types = TypeOptions {
            wide: false,
            decfloat_as_double: true,
            guid: true,
            blob_size: 4000,
            narrow: NarrowEncoding::of_connection(Some("WIN1252")),
            has_binary: true,
        };
        assert_eq!(options.types(true), types);
    }

    #[test]
    fn wrong_values_name_their_keyword() {
        for (text, keyword) in [
            ("WCHARTYPES=x", "WCHARTYPES='x' is not possible; it must be AUTO, Y or N"),
            ("DECFLOAT=x", "DECFLOAT='x' is not possible; it must be VARCHAR or DOUBLE"),
            ("GUID=y", "GUID='y' is not possible; it must be BINARY or GUID"),
            ("BLOBSIZE=0", "BLOBSIZE='0' is not possible; it must be a whole number from 1 to 2147483647"),
            ("BLOBSIZE=2147483648", "BLOBSIZE='2147483648'"),
            ("QUERYTIMEOUT=-1", "QUERYTIMEOUT='-1'"),
            ("USESCHEMAIDENTIFIER=3", "USESCHEMA='3'"),
            ("FAILEDSETS=x", "FAILEDSETS='x' is not possible; it must be INFO or ERROR"),
            ("FROMLESSSELECT=x", "FROMLESSSELECT='x'"),
            ("CONNSETTINGS={SET TERM a b;}", "CONNSETTINGS: SET TERM"),
        ] {
            let failure = options(text).expect_err(text);
            assert_eq!(failure.state, State::GENERAL, "{text}");
            assert!(failure.text.starts_with(keyword), "{}", failure.text);
        }
        assert_eq!(options("DROP_DB=Y").expect_err("refused").state, State::NOT_IMPLEMENTED);
    }
}
