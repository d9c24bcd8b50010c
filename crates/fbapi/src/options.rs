//! The configuration of the library in this process.

use std::fmt::Write;
use std::path::PathBuf;

/// Which of the library's providers may open databases.
///
/// Only one kind: with both, a failed embedded attachment would silently become an attempt to connect to a server on
/// this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Providers {
    /// The engine in this process.
    #[default]
    Engine,
    /// Servers, over the network.
    Remote,
}

/// How the engine shares a database file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerMode {
    /// One process at a time; a second one gets a clear error.
    #[default]
    Super,
    /// Several processes at once, which **must** use the same lock folder; nothing protects a database that
    /// is opened through two.
    Classic,
}

/// Settings of the library, fixed by the first load in a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Which databases can be opened.
    pub providers: Providers,
    /// How database files are shared.
    pub server_mode: ServerMode,
    /// The root directory to build and use, instead of one in the user's cache folder.
    pub private_root: Option<PathBuf>,
    /// Folder of lock and shared-memory files: instead of `$FIREBIRD_LOCK`, else a folder of this user that
    /// all processes share.
    pub lock_folder: Option<PathBuf>,
    /// Folder of temporary files: instead of `$FIREBIRD_TMP`, else a folder of this user.
    pub temp_folder: Option<PathBuf>,
    /// More lines for `firebird.conf`, such as `DefaultDbCachePages` and `4096`.
    pub settings: Vec<(String, String)>,
}

impl LoadOptions {
    /// The settings that concern a single database, as lines of `firebird.conf`.
    pub(crate) fn database_settings(&self, engine: u8) -> String {
        let providers = match self.providers {
            Providers::Engine => format!("Engine{engine}"),
            Providers::Remote => "Remote".to_owned(),
        };
        let mut text = format!("Providers = {providers}\n");
        for (key, value) in &self.settings {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{key} = {value}");
        }
        text
    }
}
