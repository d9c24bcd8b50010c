//! What `--param` and `--null-param` give to a statement.

use crate::failure::{Failure, Result};
use firearrow::Params;
use firearrow_driver::sql::named;
use std::borrow::Cow;

/// The statement as the server takes it, and its parameters: by position, or `NAME=VALUE` where the statement has `:name`.
pub(crate) fn bind<'a>(sql: &'a str, given: &[Option<String>]) -> Result<(Cow<'a, str>, Params)> {
    if given.is_empty() {
        return Ok((sql.into(), Params::none()));
    }
    let Some(statement) = named(sql)? else {
        return Ok((sql.into(), Params::texts(given.iter().map(Option::as_deref))));
    };
    let mut values: Vec<(&str, &str)> = Vec::new();
    for value in given {
        let Some(pair) = value.as_deref().and_then(|value| value.split_once('=')) else {
            return Err(Failure::usage(format!(
                "the statement has names: --param {}=VALUE (NULL is written in the SQL)",
                statement.names.first().map_or("NAME", String::as_str)
            )));
        };
        if !statement.names.iter().any(|name| is_same(name, pair.0)) {
            return Err(Failure::usage(format!("the statement has no :{}", pair.0)));
        }
        if values.iter().any(|(known, _)| is_same(known, pair.0)) {
            return Err(Failure::usage(format!(":{} is given twice", pair.0)));
        }
        values.push(pair);
    }
    let in_order = statement.names.iter().map(|name| {
        let value = values.iter().find(|(known, _)| is_same(name, known));
        value
            .map(|(_, value)| Some(*value))
            .ok_or_else(|| Failure::usage(format!(":{name} has no value: --param {name}=VALUE")))
    });
    let in_order = in_order.collect::<Result<Vec<_>>>()?;
    Ok((statement.sql.into(), Params::texts(in_order)))
}

/// Names are unquoted, so letter case does not matter.
fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(sql: &str, given: &[&str]) -> Result<String, String> {
        let given: Vec<_> = given.iter().map(|value| Some((*value).to_owned())).collect();
        bind(sql, &given).map(|(sql, _)| sql.into_owned()).map_err(|failure| failure.text(false))
    }

    #[test]
    fn names_become_markers() {
        assert_eq!(
            bound("SELECT :a || :B || :a FROM T", &["b=x=y", "A=1"]).unwrap(),
            "SELECT ? || ? || ? FROM T"
        );
        assert_eq!(bound("SELECT ? FROM T", &["b=1"]).unwrap(), "SELECT ? FROM T");
        let block = "EXECUTE BLOCK (A INT = ?) RETURNS (B INT) AS BEGIN B = :A; SUSPEND; END";
        assert_eq!(bound(block, &["1"]).unwrap(), block);
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        for (given, text) in [
            (&["a"][..], "--param a=VALUE"),
            (&["c=1"], "the statement has no :c"),
            (&["a=1", "A=2"], ":A is given twice"),
            (&["a=1"], ":b has no value: --param b=VALUE"),
        ] {
            let error = bound("SELECT :a, :b FROM T", given).unwrap_err();
            assert!(error.contains(text), "{error}");
        }
        let failure = bind("SELECT :a FROM T", &[None]).unwrap_err().text(false);
        assert!(failure.contains("--param a=VALUE"), "{failure}");
    }
}
