//! Files.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// The path of standard input, as far as one exists: redirected input has none.
pub(crate) const STANDARD_INPUT: &str = "CONIN$";

/// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a link itself, not what it leads to.
const OPEN_LINK: u32 = 0x0020_0000;
/// `FILE_FLAG_DELETE_ON_CLOSE`
const DELETE_ON_CLOSE: u32 = 0x0400_0000;
/// `GENERIC_WRITE`
const WRITE: u32 = 0x4000_0000;
/// `DELETE`
const DELETE: u32 = 0x0001_0000;
/// `ERROR_SHARING_VIOLATION`
const SHARING_VIOLATION: i32 = 32;
/// `ERROR_PIPE_NOT_CONNECTED`
const PIPE_NOT_CONNECTED: i32 = 233;
/// Names that stand for devices in every folder, with any extension.
const DEVICES: [&str; 30] = [
    "conin$", "conout$", "com¹", "com²", "com³", "lpt¹", "lpt²", "lpt³", "con", "prn", "aux", "nul", "com1",
    "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5",
    "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Whether it is a file. Who may write to it is up to the folder, of which this program is a file as well.
pub(crate) fn is_only_ours(path: &Path) -> io::Result<bool> {
    Ok(fs::symlink_metadata(path)?.is_file())
}

/// New files have the permissions of their folder.
pub(crate) fn as_new_file(_part: &mut Builder<'_, '_>) {}

/// As for [`as_new_file`]; see [`replace`].
pub(crate) fn as_existing_file(_part: &mut Builder<'_, '_>, _existing: &Metadata) {}

/// As for [`as_existing_file`].
pub(crate) fn complete_permissions(_part: &File, _existing: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Moves a complete file to its place. It inherits the access list of the one that is there.
pub(crate) fn replace(part: NamedTempFile, path: &Path) -> io::Result<()> {
    if !path.exists() {
        return part.persist(path).map(drop).map_err(|error| error.error);
    }
    let (file, part) = part.keep().map_err(|error| error.error)?;
    drop(file);
    firearrow_system::replace_file(&part, path).inspect_err(|_| drop(fs::remove_file(&part)))
}

/// Opens a file for reading, but not what a link leads to that has taken its place.
pub(crate) fn open_no_link(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(OPEN_LINK).open(path)
}

/// Locks a folder until the file is closed: by a file of that name in it, which nobody else can open meanwhile. It goes when
/// it is closed, however the process ends.
pub(crate) fn lock_folder(folder: &Path, name: &str) -> Result<File, TryLockError> {
    let mut options = File::options();
    options.write(true).create(true).access_mode(WRITE | DELETE).share_mode(0).custom_flags(DELETE_ON_CLOSE);
    options.open(folder.join(name)).map_err(|error| match error.raw_os_error() {
        Some(SHARING_VIOLATION) => TryLockError::WouldBlock,
        _ => TryLockError::Error(error),
    })
}

/// As for [`as_new_file`].
pub(crate) fn make_public(_file: &File) -> io::Result<()> {
    Ok(())
}

/// Whether the reader of a pipe has gone.
pub(crate) fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe || error.raw_os_error() == Some(PIPE_NOT_CONNECTED)
}

/// Windows keeps the entries of folders by itself.
pub(crate) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Opens what a reserved name stands for: `NUL` and `CON` can be written to. Others are refused: the data would be
/// lost in a device that nobody meant.
pub(crate) fn device(path: &Path, options: &OpenOptions) -> Option<io::Result<File>> {
    let name = path.file_name()?.to_str()?;
    let refused = |text| Some(Err(io::Error::new(io::ErrorKind::InvalidInput, text)));
    let stem = name.split(['.', ':']).next().unwrap_or(name).trim_end();
    let Some(device) = DEVICES.iter().find(|device| stem.eq_ignore_ascii_case(device)) else {
        // A stream of another file, which nobody would find again.
        return name
            .contains(':')
            .then(|| refused(format!("{name}: names of files do not contain colons on Windows")))?;
    };
    if name.trim_end_matches(':').len() == stem.len() && matches!(*device, "nul" | "con") {
        return Some(options.open(format!(r"\\.\{device}")));
    }
    refused(format!("{stem} is the name of a device on Windows, with any extension; choose another"))
}

/// The files that a pattern (`*.parquet`) stands for, in the order of their names: consoles pass patterns on as they are.
pub(crate) fn expanded(path: &Path) -> io::Result<Vec<PathBuf>> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    // No name contains them.
    if !name.contains(['*', '?']) {
        return Ok(vec![path.to_owned()]);
    }
    let wrong = |text: String| io::Error::new(io::ErrorKind::InvalidInput, text);
    // As in Unix shells, `*` and `?` do not match a leading dot.
    let options = glob::MatchOptions { require_literal_leading_dot: true, ..glob::MatchOptions::new() };
    // Brackets are ordinary in names.
    let pattern = glob::Pattern::new(&name.replace('[', "[[]")).map_err(|error| wrong(error.to_string()))?;
    let parent = path.parent().unwrap_or(Path::new(""));
    let folder = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let mut found = Vec::new();
    for entry in folder.read_dir()? {
        let entry = entry?;
        // Keep entries that cannot be examined: opening them reports why.
        let is_folder = entry.path().metadata().is_ok_and(|metadata| metadata.is_dir());
        if !is_folder && pattern.matches_with(&entry.file_name().to_string_lossy().to_lowercase(), options) {
            found.push(parent.join(entry.file_name()));
        }
    }
    found.sort_unstable();
    match found.is_empty() {
        true => Err(wrong("no file matches this pattern".to_owned())),
        false => Ok(found),
    }
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
        for path in ["nul", r"folder\NUL", "nul:"] {
            assert!(device(Path::new(path), &options).unwrap().is_ok(), "{path}");
        }
        for path in ["con.csv", "LPT1", "aux.tar.gz", "nul.parquet", "COM1:", "x.csv:y", "CONOUT$"] {
            assert!(device(Path::new(path), &options).unwrap().is_err(), "{path}");
        }
    }

    #[test]
    fn a_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        for text in ["one", "two"] {
            let part = NamedTempFile::new_in(folder.path()).unwrap();
            fs::write(part.path(), text).unwrap();
            replace(part, &path).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }

    #[test]
    fn a_folder_is_locked_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock_folder(folder.path(), "lock").unwrap();
        assert!(matches!(lock_folder(folder.path(), "lock"), Err(TryLockError::WouldBlock)));
        drop(lock);
        assert!(!folder.path().join("lock").exists());
        lock_folder(folder.path(), "lock").unwrap();
    }

    #[test]
    fn patterns_stand_for_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b[1].csv", "A.csv", "c.parquet", ".d.csv"] {
            File::create(folder.path().join(name)).unwrap();
        }
        // In some locales Wine cannot create this name.
        let has_umlaut = File::create(folder.path().join("Ä1.csv")).is_ok();
        let found = |pattern: &str| -> Vec<_> {
            let found = expanded(&folder.path().join(pattern)).unwrap();
            found.iter().map(|path| path.file_name().unwrap().to_owned()).collect()
        };
        std::fs::create_dir(folder.path().join("folder.csv")).unwrap();
        let names = ["A.csv", "b[1].csv", "Ä1.csv"];
        assert_eq!(found("*.csv"), names[..2 + usize::from(has_umlaut)]);
        if has_umlaut {
            assert_eq!(found("ä*"), ["Ä1.csv"]);
        }
        assert_eq!(found(".*"), [".d.csv"]);
        assert_eq!(found("?[1].CSV"), ["b[1].csv"]);
        // What is no pattern need not exist.
        assert_eq!(found("none.csv"), ["none.csv"]);
        expanded(&folder.path().join("*.json")).unwrap_err();
    }
}
