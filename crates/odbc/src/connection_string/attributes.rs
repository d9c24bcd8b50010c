//! The attributes of a connection: keywords and values in order.

use super::keyword::{self, Meaning, find};
use super::{syntax, target};
use crate::diagnostics::{Failure, Result, State};
use crate::setup;
use firearrow::Config;
use std::collections::HashSet;
use std::fmt;

/// Keywords and their values. Each keyword is there once, under whichever of its names: the first one wins.
#[derive(Clone, Default)]
pub(crate) struct Attributes {
    list: Vec<Attribute>,
    /// The keywords of the list, see [`slot`].
    slots: HashSet<String>,
}

/// A keyword and its value.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Attribute {
    /// The name that the driver writes, or as it was given if the driver does not know it.
    pub(super) name: String,
    pub(super) value: String,
    pub(super) meaning: Option<Meaning>,
    /// Whether it comes from a registered data source, and not from a connection string or a `.dsn` file.
    pub(super) is_registered: bool,
}

impl Attributes {
    /// Reads a connection string.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut attributes = Self::default();
        for (name, value) in syntax::split(text)? {
            attributes.add(name, value);
        }
        Ok(attributes)
    }

    /// Pairs from elsewhere. Those that no connection string could contain are left out.
    pub(crate) fn from_pairs(pairs: Vec<(String, String)>) -> Self {
        let mut attributes = Self::default();
        for (name, value) in pairs.into_iter().take(syntax::MOST_ATTRIBUTES) {
            let name = name.trim_matches(syntax::is_blank);
            let is_name = !name.is_empty() && !name.contains([';', '=', '\0']);
            if is_name && !value.contains('\0') {
                attributes.add(name, value);
            }
        }
        attributes
    }

    /// What `SQLConnect` was given. User and password take precedence over those of the data source, unless they are empty:
    /// applications pass "" for what the user did not enter.
    pub(crate) fn of_data_source(name: &str, user: Option<&str>, password: Option<&str>) -> Result<Self> {
        let given = [("DSN", Some(name)), ("UID", user), ("PWD", password)];
        let filled = given
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)));
        let given = filled.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self::from_pairs(given.collect()).with_data_source()
    }

    /// Adds what the data source says that the connection string names and does not override.
    pub(crate) fn with_data_source(mut self) -> Result<Self> {
        let Some(name) = self.data_source() else { return Ok(self) };
        let read = |name| {
            let entries = setup::data_source(name);
            entries.map_err(|error| Failure::new(State::GENERAL, format!("data source: {error}")))
        };
        // The driver manager falls back to this one, too.
        let entries = match read(name)? {
            Some(entries) => Some(entries),
            None => read("Default")?,
        };
        let mut source = Self::from_pairs(entries.unwrap_or_default()).registered();
        target::fit(&mut source, &self)?;
        self.merge(&source);
        Ok(self)
    }

    /// The same, as attributes of a registered data source.
    pub(crate) fn registered(mut self) -> Self {
        self.list.iter_mut().for_each(|each| each.is_registered = true);
        self
    }

    /// Leaves out what a data source may say and a connection string may not.
    pub(crate) fn without_registered_options(mut self) -> Self {
        self.retain(|each| !(each.is_registered && Config::is_application_only(&each.name)));
        self
    }

    /// The data source to read. If the string names a driver first, it has none.
    pub(crate) fn data_source(&self) -> Option<&str> {
        let source = self.list.iter().find(|each| each.meaning == Some(Meaning::Source))?;
        (source.name == "DSN" && !source.value.is_empty()).then_some(&source.value)
    }

    /// Adds the attributes that are missing.
    pub(crate) fn merge(&mut self, others: &Self) {
        for other in &others.list {
            if self.slots.insert(slot(&other.name)) {
                self.list.push(other.clone());
            }
        }
    }

    fn add(&mut self, name: &str, value: String) {
        if self.slots.insert(slot(name)) {
            let keyword = find(name);
            let name = keyword.map_or(name, |keyword| keyword.name).to_owned();
            let meaning = keyword.map(|keyword| keyword.meaning);
            self.list.push(Attribute { name, value, meaning, is_registered: false });
        }
    }

    /// The value of a keyword, by the name that the driver writes.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.list.iter().find(|each| each.name == name).map(|each| each.value.as_str())
    }

    /// The value, if it is not empty: templates leave empty what they do not use.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Attribute> {
        self.list.iter()
    }

    /// Names and values, in order.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.list.iter().map(|each| (each.name.as_str(), each.value.as_str()))
    }

    pub(super) fn retain(&mut self, is_kept: impl Fn(&Attribute) -> bool) {
        self.list.retain(is_kept);
        self.slots = self.list.iter().map(|each| slot(&each.name)).collect();
    }

    /// A connection string with these attributes, the password included.
    #[expect(clippy::inherent_to_string, reason = "as Display, the password could slip into a message")]
    pub(crate) fn to_string(&self) -> String {
        let written = self.list.iter().map(|each| format!("{}={}", each.name, syntax::quoted(&each.value)));
        written.collect::<Vec<_>>().join(";")
    }
}

/// What the names of one keyword have in common.
fn slot(name: &str) -> String {
    keyword::plain(find(name).map_or(name, |keyword| keyword.name)).collect()
}

impl PartialEq for Attributes {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Eq for Attributes {}

/// The names alone: any value may be or contain a password.
impl fmt::Debug for Attributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.list.iter().map(|each| &each.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Attributes {
        Attributes::parse(text).unwrap_or_else(|failure| panic!("{text}: {failure:?}"))
    }

    #[test]
    fn the_first_of_all_names_wins() {
        let attributes = parse("user=a;Uid=b;USER ID=c;other_thing=1;Other Thing=2;PassWord=x;pwd=y");
        let pairs: Vec<_> = attributes.pairs().collect();
        assert_eq!(pairs, [("UID", "a"), ("other_thing", "1"), ("PWD", "x")]);
        assert_eq!((attributes.get("UID"), attributes.get("ROLE")), (Some("a"), None));
    }

    #[test]
    fn a_string_wins_over_its_data_source() {
        let mut attributes = parse("DSN=shop;UID=alice;PWD=;Role=r");
        attributes.merge(&parse("Driver=x;Dbname=h:d;User=bob;Password=secret;Role="));
        let expected = "DSN=shop;UID=alice;PWD=;ROLE=r;DRIVER=x;DBNAME=h:d";
        assert_eq!(attributes.to_string(), expected);
        assert_eq!(attributes.data_source(), Some("shop"));
        assert_eq!(attributes.filled("PWD"), None);
    }

    #[test]
    fn a_driver_named_first_needs_no_data_source() {
        assert_eq!(parse("DRIVER={x};DSN=shop").data_source(), None);
        assert_eq!(parse("UID=x;DSN=shop;DRIVER={x}").data_source(), Some("shop"));
        assert_eq!(parse("DSN=;UID=x").data_source(), None);
        let attributes =
            Attributes::of_data_source("no such source \u{1}", Some("u"), Some("")).expect("read");
        assert_eq!((attributes.get("UID"), attributes.get("PWD")), (Some("u"), None));
    }

    #[test]
    fn values_stay_out_of_debug() {
        let attributes = parse("UID=alice;PWD=secret;DBNAME=firebird://a:secret@h/x;PW=secret");
        assert_eq!(format!("{attributes:?}"), r#"{"UID", "PWD", "DBNAME", "PW"}"#);
    }

    #[test]
    fn pairs_that_no_string_can_have_are_left_out() {
        let pairs = [("", "1"), (" ", "2"), ("a;b", "3"), ("a=b", "4"), ("c", "x\0"), (" d ", "5")];
        let attributes =
            Attributes::from_pairs(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(attributes.to_string(), "d=5");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            pairs in prop::collection::vec(("[^;=\0]{1,8}|UID|pwd|Character Set", "[^\0]{0,12}|[ {};=]{0,6}"), 0..12),
        ) {
            let attributes = Attributes::from_pairs(pairs);
            prop_assert_eq!(&parse(&attributes.to_string()), &attributes);
        }

        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC{0,60}|[a-c{};= \0]{0,60}") {
            if let Ok(attributes) = Attributes::parse(&text) {
                prop_assert_eq!(&parse(&attributes.to_string()), &attributes);
            }
        }
    }
}
