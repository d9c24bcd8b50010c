//! Finds the table and the columns for the names in the data. Firebird's catalog is case-sensitive; people and other drivers
//! often are not. An exact match wins. Without one, a name that differs only in letter case is used if there is just one.

use crate::error::{Error, Result};
use firearrow::catalog::{Catalog, Column, Name, quoted};

/// A table that is there, and its columns.
pub(super) struct Found {
    pub(super) table: String,
    pub(super) columns: Vec<Column>,
}

/// Finds the table; `None` if there is none. With `exactly`, letter case counts.
pub(super) fn find(catalog: &Catalog, table: &str, exactly: bool) -> Result<Option<Found>> {
    let columns = catalog.columns(Name::Is(table), Name::Any)?;
    if !columns.is_empty() {
        return Ok(Some(Found { table: table.to_owned(), columns }));
    }
    if exactly {
        return Ok(None);
    }
    let all = catalog.tables(Name::Any)?;
    let Some(table) = similar_table(table, all.iter().map(|table| table.name.as_str()))? else {
        return Ok(None);
    };
    Ok(Some(Found { table: table.to_owned(), columns: catalog.columns(Name::Is(table), Name::Any)? }))
}

/// The columns of a table that these fields are; a field without a column stays as it is.
///
/// # Errors
/// A field may be several columns, or a column several fields.
pub(super) fn columns_of<'a>(fields: &[&'a str], columns: &'a [Column]) -> Result<Vec<&'a str>> {
    let names = || columns.iter().map(|column| column.name.as_str());
    let is_exact = |name: &str| fields.contains(&name);
    let meant = fields.iter().map(|field| {
        if names().any(|name| name == *field) {
            return Ok(*field);
        }
        // What another field names exactly is that one's.
        Ok(only(field, names().filter(|name| !is_exact(name)), "column")?.unwrap_or(field))
    });
    let meant = meant.collect::<Result<Vec<_>>>()?;
    for (index, name) in meant.iter().enumerate() {
        if let Some(other) = meant[..index].iter().position(|earlier| earlier == name) {
            let (one, two) = (quoted(fields[other]), quoted(fields[index]));
            return Err(Error::argument(format!(
                "{one} and {two} of the data are both the column {}",
                quoted(name)
            )));
        }
    }
    Ok(meant)
}

/// The fields that these key columns are, in whatever letter case; what is none of them stays.
pub(super) fn similar(key: &[String], fields: &[&str]) -> Vec<String> {
    let field = |name: &String| {
        if fields.contains(&name.as_str()) {
            return None;
        }
        only(name, fields.iter().copied(), "column").ok().flatten()
    };
    key.iter().map(|name| field(name).map_or_else(|| name.clone(), str::to_owned)).collect()
}

/// Returns the only table whose name differs from this one only in letter case, for when no name matches exactly.
///
/// # Errors
/// There are several such tables.
pub fn similar_table<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Result<Option<&'a str>> {
    only(wanted, names, "table")
}

/// The only name that differs from this one in letter case alone.
fn only<'a>(wanted: &str, names: impl Iterator<Item = &'a str>, noun: &str) -> Result<Option<&'a str>> {
    let folded = wanted.to_uppercase();
    let similar: Vec<&str> = names.filter(|name| name.to_uppercase() == folded).collect();
    match similar[..] {
        [] => Ok(None),
        [name] => Ok(Some(name)),
        _ => {
            let all: Vec<String> = similar.iter().map(|name| quoted(name)).collect();
            let wanted = quoted(wanted);
            Err(Error::argument(format!(
                "there is no {noun} {wanted}, and it could be any of {}: write its name as it is",
                all.join(", ")
            )))
        }
    }
}

/// A name in upper case if it has none of Firebird's special letters: as SQL without quotes would make it.
pub(super) fn upper(name: &str) -> String {
    let is_simple = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'$'));
    if is_simple { name.to_ascii_uppercase() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_only_similar_name_is_meant() {
        let names = ["CUSTOMER", "Mixed", "MIXED", "Größe"];
        let of = |wanted| only(wanted, names.into_iter(), "table");
        assert_eq!(of("customer").expect("one"), Some("CUSTOMER"));
        assert_eq!(of("GRÖSSE").expect("one"), Some("Größe"));
        assert_eq!(of("nothing").expect("none"), None);
        let error = of("mixed").expect_err("two");
        assert!(error.message().contains("\"Mixed\", \"MIXED\""), "{}", error.message());
    }

    #[test]
    fn simple_names_become_upper_case() {
        for (name, expected) in [
            ("customer_1", "CUSTOMER_1"),
            ("Mixed", "Mixed"),
            ("größe", "größe"),
            ("_a", "_a"),
            ("a b", "a b"),
        ] {
            assert_eq!(upper(name), expected);
        }
    }
}
