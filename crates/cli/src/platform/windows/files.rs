//! Files.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::Path;
use tempfile::Builder;

/// The path of standard input, as far as one exists: redirected input has none.
pub(crate) const STANDARD_INPUT: &str = "CONIN$";

/// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a link itself, not what it leads to.
const OPEN_LINK: u32 = 0x0020_0000;
/// Names that stand for devices in every folder, with any extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// New files have the permissions of their folder.
pub(crate) fn as_new_file(_part: &mut Builder<'_, '_>) {}

/// As for [`as_new_file`].
pub(crate) fn as_public_file(_part: &mut Builder<'_, '_>) {}

/// As for [`as_new_file`].
pub(crate) fn as_existing_file(_part: &mut Builder<'_, '_>, _existing: &Metadata) {}

/// As for [`as_new_file`].
pub(crate) fn complete_permissions(_part: &File, _existing: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Opens a file for reading, but not what a link leads to that has taken its place.
pub(crate) fn open_no_link(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(OPEN_LINK).open(path)
}

/// Windows keeps the entries of folders by itself.
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Opens what a reserved name stands for: `NUL` and `CON` can be written to. Others would be lost in a device that nobody meant.
pub(crate) fn device(path: &Path, options: &OpenOptions) -> Option<io::Result<File>> {
    let name = path.file_name()?.to_str()?;
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let device = DEVICES.iter().find(|device| stem.eq_ignore_ascii_case(device))?;
    if name.len() == stem.len() && matches!(*device, "nul" | "con") {
        return Some(options.open(format!(r"\\.\{device}")));
    }
    let text = format!("{} is the name of a device on Windows, with any extension; choose another", stem);
    Some(Err(io::Error::new(io::ErrorKind::InvalidInput, text)))
}

/// Paths do not name open files.
pub(crate) fn is_open_already(_path: &Path) -> bool {
    false
}

/// As for [`is_open_already`].
pub(crate) fn own_stream(_path: &Path) -> Option<io::Result<File>> {
    None
}

/// Standard output, without its buffer.
pub(crate) fn standard_output() -> io::Result<File> {
    io::stdout().as_handle().try_clone_to_owned().map(File::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_are_not_files() {
        let mut options = OpenOptions::new();
        options.write(true);
        for path in ["x.parquet", "console.csv", "folder/nullable", "com10.txt"] {
            assert!(device(Path::new(path), &options).is_none(), "{path}");
        }
        for path in ["nul", r"folder\NUL"] {
            assert!(device(Path::new(path), &options).unwrap().is_ok(), "{path}");
        }
        for path in ["con.csv", "LPT1", "aux.tar.gz", "nul.parquet"] {
            assert!(device(Path::new(path), &options).unwrap().is_err(), "{path}");
        }
    }
}
