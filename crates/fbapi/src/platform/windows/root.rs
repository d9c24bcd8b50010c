//! The root directory: that of the installation itself.
//!
//! On Windows the library takes the folder that contains it as its root, and links need a privilege. So there is no
//! private root. The settings that would be in its `firebird.conf` travel with each database parameter buffer
//! (`isc_dpb_config`), which can hold those that concern one database.

use crate::Error;
use crate::options::{LoadOptions, ServerMode};
use crate::runtime::Runtime;
use firearrow_proto::api::pb::{Dpb, dpb};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A root, ready for use.
#[derive(Debug)]
pub(crate) struct Root {
    /// The root directory.
    pub(crate) path: PathBuf,
    /// The client library to load.
    pub(crate) library: PathBuf,
    /// The engine plugin that the library will load.
    pub(crate) plugin: Option<PathBuf>,
    /// Whether the application names a lock folder; the library itself reads the environment.
    names_lock: bool,
    /// The settings for each database.
    settings: String,
}

impl Root {
    /// The folders to tell the library before it reads any configuration: the kind of `gds__get_prefix`, the variable
    /// that does the same, the path.
    pub(crate) fn prefixes<'a>(&'a self, lock: &'a Path) -> Vec<(i16, &'static str, &'a Path)> {
        if self.names_lock { vec![(1, "FIREBIRD_LOCK", lock)] } else { Vec::new() }
    }

    /// The parameters for opening a database, with the settings.
    pub(crate) fn parameters<'a>(&self, parameters: &'a [u8]) -> Cow<'a, [u8]> {
        with_settings(parameters, &self.settings)
    }
}

/// Describes the installation as a root.
///
/// # Errors
/// An option needs a private root.
pub(crate) fn prepare(runtime: &Runtime, options: &LoadOptions, _temporary: &Path) -> Result<Root, Error> {
    let refused = |what: &str| Error::Argument {
        what: format!("{what} is not supported on Windows; use the installation's firebird.conf"),
    };
    if options.private_root.is_some() {
        return Err(refused("a private root"));
    }
    if options.temp_folder.is_some() {
        return Err(refused("a folder for temporary files"));
    }
    if options.server_mode == ServerMode::Classic {
        return Err(refused("the server mode Classic"));
    }
    let folder = runtime.library.parent().unwrap_or(Path::new(r"C:\"));
    Ok(Root {
        path: runtime.root.clone().unwrap_or_else(|| folder.to_path_buf()),
        library: runtime.library.clone(),
        plugin: runtime.engine_plugin(),
        names_lock: options.lock_folder.is_some(),
        settings: options.database_settings(runtime.engine_number()),
    })
}

/// Adds settings to a parameter buffer: after those that it has already, because the library reads only the first
/// clumplet with a given tag.
fn with_settings<'a>(parameters: &'a [u8], settings: &str) -> Cow<'a, [u8]> {
    let Some(clumplets) = clumplets(parameters) else {
        return Cow::Borrowed(parameters);
    };
    let mut all = Dpb::new();
    let mut text = settings.as_bytes().to_vec();
    for (tag, value) in clumplets {
        if tag == dpb::CONFIG {
            text.splice(0..0, value.iter().copied().chain(*b"\n"));
        } else {
            all.bytes(tag, value);
        }
    }
    all.bytes(dpb::CONFIG, &text);
    Cow::Owned(all.as_bytes().to_vec())
}

/// The clumplets of a buffer of version 1 or 2; `None` if it is neither, or damaged.
fn clumplets(parameters: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let (version, mut rest) = parameters.split_first()?;
    let mut found = Vec::new();
    while let Some((tag, after)) = rest.split_first() {
        let (length, after) = match version {
            1 => after.split_first().map(|(length, after)| (usize::from(*length), after))?,
            2 => after
                .split_first_chunk()
                .map(|(length, after)| (u32::from_le_bytes(*length) as usize, after))?,
            _ => return None,
        };
        let (value, after) = after.split_at_checked(length)?;
        found.push((*tag, value));
        rest = after;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_join_those_that_are_there() {
        let mut asked = Dpb::new();
        asked.text(dpb::CONFIG, "DefaultDbCachePages = 100").text(dpb::USER_NAME, "SYSDBA");
        let sent = with_settings(asked.as_bytes(), "Providers = Engine13\n");
        let expected = "DefaultDbCachePages = 100\nProviders = Engine13\n";
        assert_eq!(
            clumplets(&sent).unwrap(),
            [(dpb::USER_NAME, &b"SYSDBA"[..]), (dpb::CONFIG, expected.as_bytes())]
        );
    }

    #[test]
    fn version_1_becomes_version_2_and_damaged_buffers_stay() {
        let sent = with_settings(b"\x01\x30\x04UTF8", "Providers = Engine13\n");
        assert_eq!(clumplets(&sent).unwrap()[0], (dpb::LC_CTYPE, &b"UTF8"[..]));
        assert_eq!(&*with_settings(b"\x02\x30\x04\0\0\0UT", "x"), b"\x02\x30\x04\0\0\0UT");
    }
}
