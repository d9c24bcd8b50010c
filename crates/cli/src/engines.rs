//! The embedded engines of this machine, for `firearrow info --engines`. A build without the feature `embedded` uses none.

use crate::failure::Result;
use crate::output;
use serde_json::Value;

/// Prints the list.
pub(crate) fn print(json: bool) -> Result<()> {
    match json {
        true => output::print_data(&format!("{:#}\n", list::as_json())),
        false => output::print(&list::text()),
    }
}

#[cfg(feature = "embedded")]
mod list {
    use super::Value;
    use crate::terminal::line;
    use firearrow::Engine;
    use serde_json::json;

    pub(super) fn as_json() -> Value {
        let entry = |engine: &Engine| {
            json!({
                "library": engine.library.display().to_string(),
                "is_default": engine.is_default,
                "firebird": engine.major.map(|major| format!("{major}.0")),
                "opens_ods": engine.ods(),
                "installed_as": engine.installed_as,
            })
        };
        firearrow::engines().iter().map(entry).collect()
    }

    pub(super) fn text() -> String {
        let engines = firearrow::engines();
        if engines.is_empty() {
            return "no embedded engine found: pip install firebird-embedded in an active environment, install Firebird, or set \
                    FIREARROW_ENGINE to the folder of one\n"
                .to_owned();
        }
        engines.iter().map(entry).collect()
    }

    fn entry(engine: &Engine) -> String {
        let version = engine
            .major
            .map_or_else(|| "Firebird, version unknown".to_owned(), |major| format!("Firebird {major}.0"));
        let ods = engine.ods().map(|ods| format!(", opens ODS {ods}")).unwrap_or_default();
        let used = if engine.is_default { "; local databases are opened with it" } else { "" };
        let path = engine.library.display().to_string();
        format!("{version} ({}){ods}{used}\n  {}\n", engine.installed_as, line(&path))
    }
}

#[cfg(not(feature = "embedded"))]
mod list {
    use super::Value;

    pub(super) fn as_json() -> Value {
        Value::Array(Vec::new())
    }

    pub(super) fn text() -> String {
        "this build of firearrow has no embedded engine, and reaches servers only; other builds have it\n"
            .to_owned()
    }
}
