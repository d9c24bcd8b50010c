//! Files.

use std::fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// The path of standard input.
pub(crate) const STANDARD_INPUT: &str = "/dev/stdin";

/// Permissions of a new file; the umask reduces them.
const NEW_FILE: u32 = 0o666;
/// Permissions of a file that everybody may read.
const PUBLIC_FILE: u32 = 0o644;
const NO_FOLLOW: i32 = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;

/// Whether a file, not a link to one, belongs to this user, to root or to the owner of this program, and not everybody can write
/// to it. In a folder such as `/tmp` it may be somebody else's.
pub(crate) fn is_only_ours(path: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    let owner = std::env::current_exe().and_then(fs::metadata)?.uid();
    let is_trusted = [0, nix::unistd::geteuid().as_raw(), owner].contains(&found.uid());
    Ok(found.is_file() && is_trusted && found.mode() & 0o002 == 0)
}

/// Gives a temporary file the permissions of any new file.
pub(crate) fn as_new_file(part: &mut Builder<'_, '_>) {
    part.permissions(Permissions::from_mode(NEW_FILE));
}

/// Gives a temporary file the permissions of the file that it will replace, as far as the umask lets it.
pub(crate) fn as_existing_file(part: &mut Builder<'_, '_>, existing: &Metadata) {
    part.permissions(mode_of(existing));
}

/// Gives it those that the umask has taken.
pub(crate) fn complete_permissions(part: &File, existing: &Metadata) -> io::Result<()> {
    let mode = mode_of(existing);
    if mode.mode() == part.metadata()?.mode() & 0o777 { Ok(()) } else { part.set_permissions(mode) }
}

fn mode_of(existing: &Metadata) -> Permissions {
    Permissions::from_mode(existing.mode() & 0o777)
}

/// Moves a complete file to its place, replacing the one that is there.
pub(crate) fn replace(part: NamedTempFile, path: &Path) -> io::Result<()> {
    part.persist(path).map(drop).map_err(|error| error.error)
}

/// Opens a file for reading, but neither a link nor a pipe that has taken its place: the one is not followed, the
/// other not waited for.
pub(crate) fn open_no_link(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(NO_FOLLOW).open(path)
}

/// Locks a folder until the file is closed. It needs no file of that name.
pub(crate) fn lock_folder(folder: &Path, _name: &str) -> Result<File, TryLockError> {
    let folder = File::open(folder).map_err(TryLockError::Error)?;
    folder.try_lock().map(|()| folder)
}

/// Lets everybody read a file, whatever the umask was.
pub(crate) fn make_public(file: &File) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(PUBLIC_FILE))
}

/// Whether the reader of a pipe has gone.
pub(crate) fn is_closed_pipe(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// Waits until the entries of a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Opens what a reserved name stands for; here there are none.
pub(crate) fn device(_path: &Path, _options: &OpenOptions) -> Option<io::Result<File>> {
    None
}

/// The file: shells have expanded patterns.
pub(crate) fn expanded(path: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(vec![path.to_owned()])
}

/// Returns whether the path names a file that a process has open, as `/dev/stdout` does. Such a file is written to, not
/// replaced.
pub(crate) fn is_open_already(path: &Path) -> bool {
    let target = fs::read_link(path).unwrap_or_default();
    path.starts_with("/dev/fd") || path.starts_with("/proc") || target.starts_with("/proc")
}

/// Standard output or error, if the path names one, as `/dev/stdout` does: opening the path again would start at
/// the beginning of the file and overwrite what is already there.
pub(crate) fn own_stream(path: &Path) -> Option<io::Result<File>> {
    let target = fs::read_link(path).unwrap_or_default();
    [path, &target].into_iter().find_map(|path| match path.to_str()? {
        "/dev/fd/1" | "/proc/self/fd/1" => Some(standard_output()),
        "/dev/fd/2" | "/proc/self/fd/2" => Some(duplicate(io::stderr())),
        _ => None,
    })
}

/// Standard output, without its buffer.
pub(crate) fn standard_output() -> io::Result<File> {
    duplicate(io::stdout())
}

fn duplicate(stream: impl AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}
