//! Where `make setup` puts what it downloads.

use std::env;
use std::path::{Path, PathBuf};

/// The repository this crate was built in.
pub(crate) fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies in <repository>/crates/testkit")
}

/// `$FIREARROW_CACHE`, else `.cache` in the repository.
pub(crate) fn folder() -> PathBuf {
    env::var_os("FIREARROW_CACHE")
        .filter(|value| !value.is_empty())
        .map_or_else(|| repository().join(".cache"), |value| repository().join(value))
}

/// The only architecture folder below `parent` that holds `child`, as Debian's multiarch and Python's
/// `lib/python3.x` make them: `/usr/lib` + `firebird/3.0` gives `/usr/lib/x86_64-linux-gnu/firebird/3.0`.
pub(crate) fn below_any(parent: &Path, child: &str) -> Option<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(parent)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path().join(child)))
        .filter(|path| path.exists())
        .collect();
    found.sort();
    found.pop()
}
