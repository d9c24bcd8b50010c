//! Folders for locks and temporary files: those that the library itself would use, which servers on this machine share.

use crate::Error;
use crate::options::ServerMode;
use std::env;
use std::path::{Path, PathBuf};

/// The folder for lock files. It exists even for services, which may have no profile folder.
pub(crate) fn lock(_mode: ServerMode) -> Result<PathBuf, Error> {
    let data = env::var_os("ProgramData").filter(|path| Path::new(path).is_absolute());
    Ok(data.map_or_else(|| r"C:\ProgramData".into(), PathBuf::from).join("firebird"))
}

/// The folder for temporary files.
pub(crate) fn temporary() -> PathBuf {
    env::temp_dir()
}

/// Whether the library would truncate the path: `gds__get_prefix` ends it at spaces and line ends.
pub(crate) fn has_blank(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b'\n' | b'\r'))
}
