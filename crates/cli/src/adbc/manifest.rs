//! Manifests: files that name a driver's library.

use super::{ENTRYPOINT, Entry};
use crate::interrupt;
use crate::platform::files;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// The template of the manifest; the Python package contains the same text.
const TEMPLATE: &str = include_str!("../../../adbc/manifest/firebird.toml");

/// Reads a manifest, if there is one.
pub(super) fn read(path: &Path) -> io::Result<Option<Entry>> {
    match fs::read_to_string(path) {
        // What a power failure left of one.
        Ok(text) if text.is_empty() => Ok(None),
        Ok(text) => Ok(Some(Entry { library: shared(&text), is_ours: text.contains(ENTRYPOINT) })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a manifest at once, so that nobody reads half of it.
pub(super) fn write(path: &Path, library: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = interrupt::temporary(|| NamedTempFile::new_in(folder))?;
    file.write_all(text(library).as_bytes())?;
    files::make_public(file.as_file())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

fn text(library: &str) -> String {
    TEMPLATE.replace("{version}", &quoted(env!("CARGO_PKG_VERSION"))).replace("{library}", &quoted(library))
}

/// Returns the library's path from a manifest written by [`write`].
fn shared(manifest: &str) -> Option<String> {
    let value =
        manifest.lines().find_map(|line| line.trim().strip_prefix("shared")?.trim().strip_prefix('='))?;
    serde_json::from_str(value.trim()).ok()
}

/// Quotes text as JSON, which is valid TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back_what_was_put_in() {
        for path in
            ["/usr/lib/libadbc_driver_firebird.so", "/a b/\"ü\"\\\n.so", r"C:\Шоп\adbc_driver_firebird.dll"]
        {
            assert_eq!(shared(&text(path)).as_deref(), Some(path));
        }
        assert_eq!(shared(TEMPLATE), None);
        assert!(TEMPLATE.contains(ENTRYPOINT) && TEMPLATE.contains("{version}"));
    }
}
