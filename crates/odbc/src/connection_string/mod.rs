//! Connection strings: their syntax, their keywords, and the settings they stand for.
//!
//! ```text
//!  "DSN=shop;UID=alice;…" ─► syntax ─► Attributes ◄─ merge ◄─ setup::data_source
//!                                          │
//!               keyword: names, aliases ───┤
//!                                          ▼
//!          target: DBNAME, SERVER, PORT ─► settings ─► Config, SessionOptions, OdbcOptions
//! ```

mod attributes;
mod compatible;
mod keyword;
mod options;
mod origin;
mod settings;
mod syntax;
mod target;
mod value;

#[cfg(test)]
mod tests;

pub(crate) use attributes::Attributes;
pub(crate) use keyword::entry_name;
pub(crate) use options::OdbcOptions;
pub use origin::{of_connecting, of_statement};
pub(crate) use settings::{Settings, settings, settings_in};
pub(crate) use syntax::is_list;
