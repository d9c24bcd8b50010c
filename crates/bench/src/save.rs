//! Saves records, and the reports made from them.

use crate::error::{Error, Result};
use crate::platform;
use firearrow_report::Record;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes `FOLDER/NAME/raw.jsonl`, the record, and `FOLDER/NAME/report.md`; returns the path of the new folder.
/// Earlier runs of that name stay: the new one gets a number.
///
/// # Errors
/// [`Error::Other`] that names the file or folder that cannot be written.
pub fn write(folder: &Path, name: &str, record: &Record, report: &str) -> Result<PathBuf> {
    let folder = fresh(folder, name)?;
    update(&folder, record, report)?;
    Ok(folder)
}

/// Writes both files again, of a run that has come further.
///
/// # Errors
/// As [`write()`]. A record that reports would refuse is written all the same, since measuring it took time, and named.
pub fn update(folder: &Path, record: &Record, report: &str) -> Result<()> {
    let (raw, text) = (folder.join("raw.jsonl"), record.text());
    file(&raw, text.as_bytes())?;
    file(&folder.join("report.md"), report.as_bytes())?;
    match Record::parse(&raw.display().to_string(), &text) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::other(format!("{error}; it is kept, but bench report refuses it"))),
    }
}

/// Writes a file as a whole: whoever is killed while it writes leaves the earlier one.
///
/// # Errors
/// [`Error::Other`] that names the file.
pub fn file(path: &Path, contents: &[u8]) -> Result<()> {
    replace(path, contents).map_err(|error| Error::file(path, &error))
}

/// Writes a file of a name that nobody has chosen, as a whole. A link of that name is replaced, and what it leads to stays.
///
/// # Errors
/// [`Error::Other`] that names the file.
pub fn own_file(path: &Path, contents: &[u8]) -> Result<()> {
    place(path, contents, None).map_err(|error| Error::file(path, &error))
}

/// Makes the folder, and finds out whether anything can be saved in it, before anything is measured.
///
/// # Errors
/// [`Error::Other`] that names the folder.
pub fn check(folder: &Path) -> Result<()> {
    let probe = folder.join(format!(".{}.part", std::process::id()));
    fs::create_dir_all(folder)
        .and_then(|()| fs::create_dir(&probe))
        .and_then(|()| fs::remove_dir(&probe))
        .map_err(|error| Error::file(folder, &error))
}

/// Finds out whether this file can be written, as far as that is known beforehand, without changing it.
///
/// # Errors
/// [`Error::Other`] that names the file.
pub fn check_file(path: &Path) -> Result<()> {
    // It is written beside its place first, and links stay.
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let probe = folder_of(&place).join(format!(".{}.part", std::process::id()));
    let probed = || fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe));
    let checked = match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if found.is_file() => fs::OpenOptions::new().write(true).open(path).and_then(|_| probed()),
        // Opening a pipe would wait for whoever reads it.
        Ok(_) => Ok(()),
        Err(_) => probed(),
    };
    checked.map_err(|error| Error::file(path, &error))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    // Links stay, and devices and pipes are written to.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        return fs::write(path, contents);
    }
    let permissions = fs::metadata(&path).ok().map(|earlier| earlier.permissions());
    place(&path, contents, permissions)
}

/// Writes beside the place of a file, and puts it there when it is complete.
fn place(path: &Path, contents: &[u8], permissions: Option<fs::Permissions>) -> io::Result<()> {
    let folder = folder_of(path);
    // A name that nobody can guess: others may write in this folder, too.
    let mut part = tempfile::Builder::new();
    platform::as_new_file(&mut part);
    let mut part = part.prefix(".").suffix(".part").tempfile_in(folder)?;
    part.write_all(contents)?;
    if let Some(permissions) = permissions {
        part.as_file().set_permissions(permissions)?;
    }
    part.persist(path)?;
    Ok(())
}

/// Makes an empty folder of this name, with a number if there is one already.
///
/// # Errors
/// As [`write()`].
pub fn fresh(parent: &Path, name: &str) -> Result<PathBuf> {
    make(parent, name).map_err(|error| Error::file(parent, &error))
}

fn make(parent: &Path, name: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(parent)?;
    for number in 1..1000 {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let folder = parent.join(format!("{name}{suffix}"));
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|()| folder),
        }
    }
    Err(io::Error::other("too many runs on this day"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow_report::{OURS, SampleLine, TableHead};
    use std::collections::BTreeMap;

    #[test]
    fn a_record_that_reports_refuse_is_kept_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let mut record = Record::new("b", "B", serde_json::Map::new());
        record.tables.push(TableHead { id: "t".into(), ..TableHead::default() });
        record.samples.push(SampleLine::new("t", "c", OURS, 0, BTreeMap::new()));
        let run = write(folder.path(), "run", &record, "# B").unwrap();
        assert_eq!(run, folder.path().join("run"));
        record.samples.push(record.samples[0].clone());
        let error = update(&run, &record, "# B, further").unwrap_err().to_string();
        assert!(error.contains("comes twice") && error.contains("it is kept"), "{error}");
        assert_eq!(fs::read_to_string(run.join("raw.jsonl")).unwrap(), record.text());
        assert_eq!(fs::read_to_string(run.join("report.md")).unwrap(), "# B, further");
    }

    #[test]
    fn files_are_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        file(&path, b"one").unwrap();
        file(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        // What cannot become a file leaves nothing.
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        assert!(file(&taken, b"three").unwrap_err().to_string().contains("taken"));
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (path, usual) = (folder.path().join("file"), folder.path().join("usual"));
        file(&path, b"one").unwrap();
        fs::write(&usual, "as others").unwrap();
        assert_eq!(mode(&path), mode(&usual));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        file(&path, b"two").unwrap();
        assert_eq!(mode(&path), 0o640);
    }

    #[test]
    fn other_files_of_the_folder_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("file"), folder.path().join("file.part"));
        fs::write(&other, "somebody's").unwrap();
        file(&path, b"one").unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"somebody's");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "one").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        file(&link, b"two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        file(Path::new("/dev/null"), b"three").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn own_files_follow_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "somebody's").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        own_file(&link, b"ours").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"somebody's");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        own_file(&link, b"again").unwrap();
        assert_eq!(fs::read(&link).unwrap(), b"again");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let page = folder.path().join("page");
        check_file(&page).unwrap();
        assert!(!page.exists());
        fs::write(&page, "earlier").unwrap();
        check_file(&page).unwrap();
        assert_eq!(fs::read_to_string(&page).unwrap(), "earlier");
        check_file(Path::new("/dev/null")).unwrap();
        for wrong in [folder.path(), &page.join("x"), Path::new("/no/such/folder/page")] {
            assert!(check_file(wrong).is_err(), "{}", wrong.display());
        }
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        check(&folder.path().join("new").join("newer")).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("new").join("newer")).unwrap().count(), 0);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(check(&file.join("runs")).unwrap_err().to_string().contains("runs: "));
    }
}
