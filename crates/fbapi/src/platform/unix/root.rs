//! The private root directory: the files that the library reads, in the layout that it expects.
//!
//! ```text
//!  engine-<hash>/
//!    firebird.conf     ours: one provider, our temporary folder
//!    databases.conf    empty
//!    lib/              links to the client library and those it needs, so that `$ORIGIN/../lib` works
//!    plugins/  intl/   real folders with links to the modules, or copies where the engine insists (before 5.0)
//!    tzdata  firebird.msg  plugins.conf
//! ```
//!
//! A root is built next to its final place and then renamed, so it exists completely or not at all, even if other
//! processes build the same one. The engine writes `firebird.log` into it and nothing into the installation. Every file
//! is checked when it is linked or copied (see [`trust`](crate::trust)) and named by its resolved path.

use super::loader::compatible_links;
use super::{folders, names};
use crate::Error;
use crate::options::{LoadOptions, ServerMode};
use crate::runtime::{Runtime, RuntimeKind};
use crate::trust::Trust;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{fs, io, process};

/// Describes the sources of a root; written last.
const MARKER: &str = "firearrow-root.txt";
/// Files and folders that are linked directly.
const LINKED: [&str; 3] = ["tzdata", "firebird.msg", "plugins.conf"];

/// A root, ready for use.
#[derive(Debug)]
pub(crate) struct Root {
    /// The root directory.
    pub(crate) path: PathBuf,
    /// The client library to load.
    pub(crate) library: PathBuf,
    /// The engine plugin that the library will load.
    pub(crate) plugin: Option<PathBuf>,
}

/// Library names that the runtime needs, linked to libraries that this system has instead.
pub(crate) type CompatibleLinks = Vec<(OsString, PathBuf)>;

impl Root {
    /// The folders to tell the library before it reads any configuration: the kind of `gds__get_prefix`, the variable
    /// that does the same, the path.
    pub(crate) fn prefixes<'a>(&'a self, lock: &'a Path) -> Vec<(i16, &'static str, &'a Path)> {
        vec![(0, "FIREBIRD", &self.path), (1, "FIREBIRD_LOCK", lock)]
    }

    /// The parameters for opening a database; the configuration is in the root's own file.
    pub(crate) fn parameters<'a>(&self, dpb: &'a [u8]) -> Cow<'a, [u8]> {
        Cow::Borrowed(dpb)
    }
}

/// Builds the root for `runtime`, or finds an existing one.
pub(crate) fn prepare(runtime: &Runtime, options: &LoadOptions, temporary: &Path) -> Result<Root, Error> {
    let configuration = &configuration(options, runtime.engine_number(), temporary);
    let compatible = &compatible_links(runtime);
    let plan = Plan { runtime, configuration, compatible };
    let description = plan.description().map_err(|error| folder_error(&runtime.library, &error))?;
    let path = match &options.private_root {
        Some(path) => own_place(path)?,
        None => folders::cache()?.join(format!("engine-{:016x}", fnv(description.as_bytes()))),
    };
    if plan.is_complete(&path, &description) {
        return Ok(plan.root(path));
    }
    if options.private_root.is_some() && path.exists() && !path.join(MARKER).exists() && !is_empty(&path) {
        return Err(Error::Folder { path, reason: "is in use for something else; name a new folder".into() });
    }
    plan.build(&path, &description)?;
    Ok(plan.root(path))
}

struct Plan<'a> {
    runtime: &'a Runtime,
    configuration: &'a str,
    compatible: &'a CompatibleLinks,
}

impl Plan<'_> {
    /// Everything that determines the contents of a root.
    fn description(&self) -> io::Result<String> {
        let mut text = String::new();
        let plugin = self.runtime.engine_plugin().filter(|plugin| plugin.exists());
        for file in [Some(&self.runtime.library), plugin.as_ref()].into_iter().flatten() {
            let real = fs::canonicalize(file)?;
            let meta = fs::metadata(&real)?;
            // Wheels give all their files one fixed modification time; size and inode distinguish versions. The change
            // time does not work: every hard link changes it.
            let stamp = (meta.size(), meta.mtime(), meta.ino());
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{} {stamp:?}", real.display());
        }
        for (name, target) in self.compatible {
            let _ = writeln!(text, "{} -> {}", name.display(), target.display());
        }
        let _ = writeln!(text, "made by {} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        text.push_str(self.configuration);
        Ok(text)
    }

    fn root(&self, path: PathBuf) -> Root {
        let plugin = self.runtime.engine_plugin();
        if self.runtime.kind == RuntimeKind::Distribution {
            return Root { library: self.runtime.library.clone(), plugin, path };
        }
        let plugin = plugin.and_then(|plugin| Some(path.join("plugins").join(plugin.file_name()?)));
        Root { library: path.join("lib").join(self.library_name()), plugin, path }
    }

    fn library_name(&self) -> &OsStr {
        self.runtime.library.file_name().unwrap_or(OsStr::new(names::LIBRARIES[0]))
    }

    /// Whether `path` holds this root completely; a cleaner of old files may have removed parts.
    fn is_complete(&self, path: &Path, description: &str) -> bool {
        let root = self.root(path.to_path_buf());
        let has_plugin = root.plugin.as_ref().is_none_or(|plugin| plugin.exists());
        let has_plugin = has_plugin || self.runtime.engine_plugin().is_none_or(|plugin| !plugin.exists());
        let marker = fs::read(path.join(MARKER));
        has_plugin
            && root.library.exists()
            && path.join("firebird.conf").exists()
            && marker.is_ok_and(|marker| marker == description.as_bytes())
    }

    /// Builds a root at a temporary place and moves it to `path`.
    fn build(&self, path: &Path, description: &str) -> Result<(), Error> {
        let failed = |error: io::Error| folder_error(path, &error);
        let parent = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(parent).map_err(failed)?;
        // One builder at a time. Where the file system has no locks, the renames still keep roots whole.
        let guard = fs::File::open(parent).map_err(failed)?;
        let _ = guard.lock();
        if self.is_complete(path, description) {
            return Ok(());
        }
        let building = beside(path, "new");
        let publish = || self.publish(&building, path, description).map_err(failed);
        let result = self.fill(&building, description).and_then(|()| publish());
        if result.is_err() {
            let _ = fs::remove_dir_all(&building);
        }
        result
    }

    fn publish(&self, building: &Path, path: &Path, description: &str) -> io::Result<()> {
        // Try a few times: other processes may be doing the same without a lock.
        for _ in 0..8 {
            match fs::rename(building, path).map_err(|error| (error.kind(), error)) {
                Ok(()) => return Ok(()),
                Err((ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists, _)) => {}
                Err((_, error)) => return Err(error),
            }
            if self.is_complete(path, description) {
                return fs::remove_dir_all(building);
            }
            // An outdated or damaged root: move it away whole, then try again.
            let old = beside(path, "old");
            if fs::rename(path, &old).is_ok() {
                let _ = fs::remove_dir_all(&old);
            }
        }
        Err(io::Error::other("cannot be replaced"))
    }

    fn fill(&self, root: &Path, description: &str) -> Result<(), Error> {
        let failed = |error: io::Error| folder_error(root, &error);
        let mut trust = Trust::default();
        folders::make_private(root).map_err(failed)?;
        fs::write(root.join("firebird.conf"), self.configuration).map_err(failed)?;
        fs::write(root.join("databases.conf"), "").map_err(failed)?;
        // System packages have the plugin folder compiled in; the rest follows the root.
        if self.runtime.kind != RuntimeKind::Distribution {
            self.fill_libraries(&mut trust, &root.join("lib"))?;
            if let Some(plugins) = &self.runtime.plugins {
                self.fill_modules(&mut trust, plugins, &root.join("plugins"))?;
            }
        }
        let source = self.runtime.root.as_deref().or_else(|| self.runtime.plugins.as_deref()?.parent());
        if let Some(source) = source {
            let intl = source.join("intl");
            if intl.is_dir() {
                self.fill_modules(&mut trust, &intl, &root.join("intl"))?;
            }
            for name in LINKED.iter().filter(|name| source.join(name).exists()) {
                symlink(trust.resolve(&source.join(name))?, root.join(name)).map_err(failed)?;
            }
        }
        fs::write(root.join(MARKER), description).map_err(failed)
    }

    fn fill_libraries(&self, trust: &mut Trust, lib: &Path) -> Result<(), Error> {
        let failed = |error: io::Error| folder_error(lib, &error);
        fs::create_dir(lib).map_err(failed)?;
        let source = trust.resolve(&self.runtime.library)?;
        let folder = source.parent().unwrap_or(Path::new("/"));
        for (name, file) in trust.libraries(folder)? {
            symlink(file, lib.join(&name)).map_err(failed)?;
        }
        for (name, target) in self.compatible {
            link_new(target, &lib.join(name)).map_err(failed)?;
        }
        link_new(&source, &lib.join(self.library_name())).map_err(failed)
    }

    /// Links or copies the modules of one folder into a new one.
    fn fill_modules(&self, trust: &mut Trust, source: &Path, target: &Path) -> Result<(), Error> {
        let failed = |error: io::Error| folder_error(target, &error);
        // Engines before 5.0 compare a module's real path with the requested one and refuse links.
        let copied = self.runtime.generation.is_none_or(|generation| generation < 5);
        fs::create_dir(target).map_err(failed)?;
        trust.check_all(source)?;
        for (name, from) in trust.entries(source)? {
            let to = target.join(name);
            if copied && from.is_file() {
                fs::copy(&from, &to).map_err(failed)?;
                // Without the execute bit, the library does not report why a plugin could not be loaded.
                fs::set_permissions(&to, fs::Permissions::from_mode(0o700)).map_err(failed)?;
            } else {
                symlink(&from, &to).map_err(failed)?;
            }
        }
        Ok(())
    }
}

/// The text of `firebird.conf`.
fn configuration(options: &LoadOptions, engine: u8, temporary: &Path) -> String {
    let mode = match options.server_mode {
        ServerMode::Super => "Super",
        ServerMode::Classic => "Classic",
    };
    format!(
        "# Written by firearrow for its own processes; servers do not read it.\n\
         ServerMode = {mode}\nTempDirectories = {}\n{}",
        temporary.display(),
        options.database_settings(engine)
    )
}

/// Returns the folder that the application names, if no other user can replace it.
fn own_place(path: &Path) -> Result<PathBuf, Error> {
    let failed = |error: io::Error| folder_error(path, &error);
    let path = std::path::absolute(path).map_err(failed)?;
    let parent = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(parent).map_err(failed)?;
    Trust::default().resolve_parent(parent)?;
    if path.exists() {
        Trust::default().resolve(&path)?;
    }
    Ok(path)
}

fn link_new(target: &Path, link: &Path) -> io::Result<()> {
    match symlink(target, link) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// An unused name next to `path`.
fn beside(path: &Path, what: &str) -> PathBuf {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or(OsStr::new("root")).to_os_string();
    name.push(format!(".{what}-{}-{number}", process::id()));
    path.with_file_name(name)
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn folder_error(path: &Path, error: &io::Error) -> Error {
    Error::Folder { path: path.to_path_buf(), reason: format!("cannot be set up: {error}") }
}

/// FNV-1a: the same on every build, unlike the standard hasher.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
