//! What keeps data sources of other drivers working: warnings instead of failures, character sets, and time zones.

use super::{Attributes, keyword::plain, value::Value};
use crate::diagnostics::{Failure, State};
use firearrow::{Config, ReadOptions};
use firearrow_proto::api::charset;

/// What was ignored or done in another way.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) warnings: Vec<Failure>,
    /// The keywords without effect.
    ignored: Vec<String>,
}

impl Notes {
    /// Nothing has this name (01S00).
    pub(super) fn unknown(&mut self, keyword: &str, nearest: Option<&str>) {
        let name = firearrow_driver::shortened(keyword);
        let hint = nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"));
        self.add(State::BAD_KEYWORD, keyword, format!("unknown keyword '{name}' ignored{hint}"));
    }

    /// A keyword has no effect (01S02).
    pub(super) fn change(&mut self, keyword: &str, why: &str) {
        self.add(State::OPTION_CHANGED, keyword, format!("{keyword} is ignored: {why}"));
    }

    /// A keyword has less effect than its value says (01S02).
    fn remark(&mut self, text: String) {
        self.warnings.push(Failure::new(State::OPTION_CHANGED, text));
    }

    fn add(&mut self, state: State, keyword: &str, text: String) {
        self.warnings.push(Failure::new(state, text));
        self.ignored.push(keyword.to_owned());
    }

    pub(super) fn has_ignored(&self, keyword: &str) -> bool {
        self.ignored.iter().any(|ignored| plain(ignored).eq(plain(keyword)))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.warnings.len()
    }
}

/// Switches of the type mapping that do not change which Arrow types the driver gets.
const SWITCHES: [&str; 3] = ["none_encoding", "trim_char", "max_blob"];

/// Removes the other switches, and checks the values of these.
pub(super) fn check_switches(config: &mut Config, notes: &mut Notes) -> Result<(), Failure> {
    for (name, _) in &config.read {
        if !SWITCHES.contains(&name.as_str()) {
            notes.change(name, "it is about Arrow columns");
        }
    }
    config.read.retain(|(name, _)| SWITCHES.contains(&name.as_str()));
    for (name, value) in &config.read {
        let checked = ReadOptions::default().set(name, value);
        checked.map_err(|error| Failure::new(State::GENERAL, error.to_string()))?;
    }
    Ok(())
}

/// The connection always has UTF8. What the character set does is to decode and encode text that has none.
pub(super) fn set_charset(config: &mut Config, attributes: &Attributes, notes: &mut Notes) {
    const NAME: &str = "none_encoding";
    let Some(value) = Value::of(attributes, "CHARSET") else { return };
    let name = value.text().to_ascii_uppercase();
    if ["UTF8", "UTF-8", "UNICODE_FSS"].contains(&name.as_str()) {
        return;
    }
    if config.read.iter().any(|(known, _)| known == NAME) {
        notes.change("CHARSET", "none_encoding is given, too");
    } else if name != "NONE" && ReadOptions::default().set(NAME, &name).is_ok() {
        let name = firearrow_driver::shortened(&name);
        notes.remark(format!(
            "CHARSET={name} is the encoding of text of CHARACTER SET NONE; the connection has UTF8, to and from which the server \
             converts all others"
        ));
        config.read.push((NAME.into(), name));
    } else if charset::by_name(&name).is_some() {
        notes.change("CHARSET", "the connection always has UTF8, to and from which the server converts");
    } else {
        let name = firearrow_driver::shortened(&name);
        notes.change(
            "CHARSET",
            &format!("'{name}' is no known character set, and the connection always has UTF8"),
        );
    }
}

/// ODBC has no types with time zones, so the server converts these values to the zone of the session. Servers before
/// Firebird 4 have no such types, and skip the rule.
const TIME_ZONES: &str = "TIME ZONE TO LEGACY";

/// Puts the driver's rule before those of the user, which then override it.
pub(super) fn bind_types(config: &mut Config, is_enabled: bool) {
    let rules = config.set_bind.take().unwrap_or_default();
    let rules = rules.split(';').map(str::trim).filter(|rule| !rule.is_empty());
    if is_enabled {
        config.set_bind = Some([TIME_ZONES].into_iter().chain(rules).collect::<Vec<_>>().join(";"));
    }
}
