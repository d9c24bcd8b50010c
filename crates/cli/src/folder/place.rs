//! Names of the files in a folder.

use super::hive;
use crate::failure::{Failure, Result};
use crate::platform::files;
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

/// The file of a part: `part-00003.parquet`, and `part-00003_001.parquet` for what comes next.
pub(crate) fn file_name(part: usize, number: usize) -> String {
    match number {
        0 => format!("part-{part:05}.parquet"),
        number => format!("part-{part:05}_{number:03}.parquet"),
    }
}

/// Returns the part whose file this is.
pub(crate) fn part_of(name: &str) -> Option<usize> {
    let numbers = name.strip_prefix("part-")?.strip_suffix(".parquet")?;
    let (part, number) = numbers.split_once('_').unwrap_or((numbers, "0"));
    let (part, number) = (digits(part)?, digits(number)?);
    (file_name(part, number) == name).then_some(part)
}

/// Whether a file is what a killed copy leaves behind: `.part-00003.parquet.Ab3dEf.part`.
pub(crate) fn is_temporary(name: &str) -> bool {
    let inner = name.strip_prefix('.').and_then(|name| name.strip_suffix(".part"));
    let name = inner.and_then(|inner| inner.rsplit_once('.')).map(|(name, _)| name);
    name.is_some_and(|name| part_of(name).is_some() || name == super::MANIFEST)
}

/// Whether a path is one that a copy writes: folders of values, then the file of a part. Whatever else a manifest names is
/// not touched.
pub(crate) fn is_written(path: &str) -> bool {
    let mut names = path.split('/').rev();
    let is_file = names.next().is_some_and(|name| part_of(name).is_some());
    is_file && names.all(|name| hive::split(name).is_some())
}

/// Opens a file below a folder. Neither the file nor a folder on the way may be a symbolic link.
///
/// # Errors
/// Those of the file; and that it is a link, or no file.
pub(crate) fn open(root: &Path, path: &str) -> Result<File> {
    let full = resolve(root, path)?;
    // A link that takes the file's place meanwhile is not followed, and a pipe that does is not waited for.
    let file = files::open_no_link(&full);
    let file = file.map_err(|error| Failure::file(&full, &error))?;
    let metadata = file.metadata().map_err(|error| Failure::file(&full, &error))?;
    if metadata.is_file() { Ok(file) } else { Err(not_regular(&full)) }
}

/// Returns the full path of a file below a folder, if nothing on the way is a symbolic link.
pub(crate) fn resolve(root: &Path, path: &str) -> Result<PathBuf> {
    let mut full = root.to_owned();
    for component in Path::new(path).components() {
        let Component::Normal(name) = component else {
            let text = format!("{}: the file {path} would be outside of the folder", root.display());
            return Err(Failure::other(text));
        };
        full.push(name);
        let metadata = fs::symlink_metadata(&full).map_err(|error| Failure::file(&full, &error))?;
        if metadata.is_symlink() {
            return Err(link(&full));
        }
    }
    if full == root { Err(not_regular(root)) } else { Ok(full) }
}

/// The error for a symbolic link.
pub(crate) fn link(path: &Path) -> Failure {
    let text = "is a symbolic link, which is not followed: it may lead out of the folder";
    Failure::other(format!("{} {text}", path.display()))
}

fn not_regular(path: &Path) -> Failure {
    Failure::other(format!("{} is not a file", path.display()))
}

fn digits(text: &str) -> Option<usize> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_parts_read_back() {
        for (part, number, name) in [
            (0, 0, "part-00000.parquet"),
            (7, 12, "part-00007_012.parquet"),
            (123_456, 1000, "part-123456_1000.parquet"),
        ] {
            assert_eq!(file_name(part, number), name);
            assert_eq!(part_of(name), Some(part));
        }
        for name in [
            "part-0.parquet",
            "part-00000_000.parquet",
            "part-00000.csv",
            "part-+0001.parquet",
            "part-.parquet",
        ] {
            assert_eq!(part_of(name), None, "{name}");
        }
        assert!(
            is_temporary(".part-00000.parquet.x1y2z3.part") && is_temporary("._firearrow.json.x1y2z3.part")
        );
        assert!(!is_temporary(".bashrc") && !is_temporary(".sales.csv.x1y2z3.part"));
    }

    #[test]
    fn nothing_else_is_written() {
        assert!(is_written("part-00000.parquet") && is_written("A=1/B=x/part-00000_001.parquet"));
        for path in
            ["../part-00000.parquet", "/part-00000.parquet", "A=1/../part-00000.parquet", "x.parquet", ""]
        {
            assert!(!is_written(path), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_ways_out_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (root, out) = (folder.path().join("in"), folder.path().join("out"));
        fs::create_dir_all(root.join("A=1")).unwrap();
        fs::create_dir(&out).unwrap();
        for path in [root.join("A=1/x"), out.join("x")] {
            fs::write(path, "x").unwrap();
        }
        std::os::unix::fs::symlink(&out, root.join("B=1")).unwrap();
        std::os::unix::fs::symlink(out.join("x"), root.join("x")).unwrap();
        open(&root, "A=1/x").unwrap();
        for (path, text) in [
            ("../out/x", "outside of the folder"),
            ("/etc/passwd", "outside of the folder"),
            ("B=1/x", "B=1 is a symbolic link"),
            ("x", "x is a symbolic link"),
            ("A=1", "is not a file"),
            ("", "is not a file"),
            ("y", "No such file"),
        ] {
            let error = open(&root, path).unwrap_err().text(false);
            assert!(error.contains(text), "{path}: {error}");
        }
    }
}
