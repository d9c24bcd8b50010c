//! Names of tables and columns: those of files, and those of the database.

use crate::name::plain;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found<'a> {
    /// This one: it is the same, or the only one that differs in letter case alone.
    One(usize, &'a str),
    /// Any of these, which differ in letter case.
    Several(Vec<&'a str>),
    None,
}

/// Finds a name: the same one, else the only one that differs in letter case alone.
pub(super) fn find<'a>(wanted: &str, names: impl Iterator<Item = &'a str> + Clone) -> Found<'a> {
    if let Some((index, name)) = names.clone().enumerate().find(|(_, name)| *name == wanted) {
        return Found::One(index, name);
    }
    let folded = wanted.to_lowercase();
    let alike: Vec<(usize, &str)> =
        names.enumerate().filter(|(_, name)| name.to_lowercase() == folded).collect();
    match alike.as_slice() {
        [] => Found::None,
        [(index, name)] => Found::One(*index, name),
        _ => Found::Several(alike.into_iter().map(|(_, name)| name).collect()),
    }
}

/// Returns the name of a new table or column: in upper case, as SQL has it without quotes, if it needs none.
pub(super) fn new_name(name: &str) -> String {
    plain(name).unwrap_or_else(|| name.to_owned())
}

/// Whether the only column of a CSV file has a name that looks like several, with another separator.
pub(super) fn is_unseparated(name: &str) -> bool {
    name.contains([';', '\t', '|'])
}

/// Returns names for a message, no more than fit into one.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str> + Clone) -> String {
    let count = names.clone().count();
    let mut text = names.take(MOST).collect::<Vec<_>>().join(", ");
    if count > MOST {
        text.push_str(&format!(" and {} more", count - MOST));
    }
    text
}

const MOST: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_comes_first_and_letter_case_last() {
        let names = ["ID", "Name", "NAME", "Größe", "x"];
        let find = |wanted| find(wanted, names.into_iter());
        assert_eq!(find("ID"), Found::One(0, "ID"));
        assert_eq!(find("id"), Found::One(0, "ID"));
        assert_eq!(find("NAME"), Found::One(2, "NAME"));
        assert_eq!(find("name"), Found::Several(vec!["Name", "NAME"]));
        assert_eq!(find("GRÖßE"), Found::One(3, "Größe"));
        assert_eq!(find("X"), Found::One(4, "x"));
        assert_eq!(find("y"), Found::None);
    }

    #[test]
    fn new_names_are_those_of_sql() {
        for (name, expected) in [
            ("sales", "SALES"),
            ("Unit_Price$", "UNIT_PRICE$"),
            ("unit price", "unit price"),
            ("größe", "größe"),
            ("1st", "1st"),
        ] {
            assert_eq!(new_name(name), expected);
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let names: Vec<String> = (0..60).map(|number| format!("C{number}")).collect();
        let text = listed(names.iter().map(String::as_str));
        assert!(text.starts_with("C0, C1, ") && text.ends_with("C49 and 10 more"), "{text}");
    }
}
