//! The client library of this process.

use crate::abi::{IConfigManager, IMaster, IProvider, IStatus, IUtil, Word};
use crate::attachment::{Attachment, Open};
use crate::error::Error;
use crate::options::{LoadOptions, Providers};
use crate::platform::loader::{self, Shared};
use crate::platform::root::{self, Root};
use crate::platform::{folders, handlers, image, names};
use crate::runtime::{Runtime, RuntimeKind};
use crate::status::{RawVector, text};
use firearrow_proto::api::status::StatusVector;
use std::ffi::{CStr, CString, c_char};
use std::fs;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::process;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The one library of this process. It is never unloaded: the engine's threads and its registered handlers outlive
/// every attachment.
static LOADED: Mutex<Option<Arc<Library>>> = Mutex::new(None);

/// The process that has loaded it, or is about to; 0 for none. The library's threads and locks do not survive a fork.
static OWNER: AtomicU32 = AtomicU32::new(0);

type Interpret = unsafe extern "C" fn(*mut c_char, u32, *mut *const Word) -> i32;
type SqlState = unsafe extern "C" fn(*mut c_char, *const Word);
type SqlCode = unsafe extern "C" fn(*const Word) -> i32;
type SetPrefix = unsafe extern "C" fn(i16, *const c_char) -> i32;

/// A loaded client library, with or without the engine.
#[derive(Debug)]
pub struct Library {
    runtime: Runtime,
    options: LoadOptions,
    root: Root,
    master: NonNull<IMaster>,
    provider: NonNull<IProvider>,
    version: (u8, u8),
    symbols: Symbols,
}

// SAFETY: the interfaces held here are singletons that the library lets any thread use, and are never freed.
unsafe impl Send for Library {}
// SAFETY: as above; the functions held here keep no state between calls.
unsafe impl Sync for Library {}

#[derive(Debug)]
struct Symbols {
    interpret: Interpret,
    sqlstate: SqlState,
    sqlcode: SqlCode,
    set_prefix: SetPrefix,
    master: unsafe extern "C" fn() -> *mut IMaster,
}

impl Library {
    /// Loads the client library of `runtime` and fixes its configuration for the rest of the process.
    ///
    /// Loading the same library again returns the existing one, with the options of the first load. Loading another one
    /// fails: the engine plugin would bind to whichever was loaded first.
    ///
    /// # Environment
    /// The library accepts a folder with a space in its path only through `FIREBIRD` or `FIREBIRD_LOCK`, so this sets
    /// them for such a folder. That is sound only while no other thread reads the environment without the lock of
    /// `std::env`. Folders chosen by this crate never contain spaces.
    pub fn load(runtime: &Runtime, options: &LoadOptions) -> Result<Arc<Self>, Error> {
        // Before the lock: another thread may have held it while this process was forked.
        refuse_fork()?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = dunce::canonicalize(&runtime.library)
            .map_err(|_| Error::LibraryNotFound { tried: vec![runtime.library.clone()] })?;
        if let Some(library) = &*loaded {
            let present = dunce::canonicalize(&library.runtime.library).unwrap_or_default();
            if present == asked {
                return Ok(Arc::clone(library));
            }
            return Err(Error::SecondLibrary { loaded: library.runtime.library.clone(), asked });
        }
        if let Some(foreign) = loader::foreign_client(&asked) {
            return Err(Error::SecondLibrary { loaded: foreign, asked });
        }
        OWNER.store(process::id(), Ordering::SeqCst);
        let prepared = Prepared::new(runtime, options).inspect_err(|_| OWNER.store(0, Ordering::SeqCst))?;
        let library = Arc::new(Self::start(prepared, runtime, options)?);
        *loaded = Some(Arc::clone(&library));
        Ok(library)
    }

    fn start(prepared: Prepared, runtime: &Runtime, options: &LoadOptions) -> Result<Self, Error> {
        let Prepared { root, lock, shared } = prepared;
        let symbols = Symbols::resolve(&shared)
            .map_err(|reason| Error::NotALibrary { path: runtime.library.clone(), reason })?;
        // Code of the library has run by now, so it stays loaded whatever happens.
        let _forever = ManuallyDrop::new(shared);
        for (kind, variable, path) in root.prefixes(&lock) {
            symbols.place(kind, variable, path)?;
        }
        // SAFETY: the function takes nothing and returns the library's singleton.
        let master = interface("IMaster", 2, unsafe { (symbols.master)() }, IMaster::version)?;
        // SAFETY: version 2 has these slots; each returns a singleton; the reference to the dispatcher is kept forever.
        let (util, provider, config) = unsafe {
            let master = master.as_ptr();
            (IMaster::util(master), IMaster::dispatcher(master), IMaster::config_manager(master))
        };
        let util = interface("IUtil", 2, util, IUtil::version)?;
        let provider = interface("IProvider", 4, provider, IProvider::version)?;
        let config = interface("IConfigManager", 2, config, IConfigManager::version)?;
        // SAFETY: version 2 has this slot; the string stays with the library.
        let used = unsafe { text(IConfigManager::root_directory(config.as_ptr())) };
        check_root(&root.path, &used, runtime)?;
        // SAFETY: version 2 has this slot.
        let version = unsafe { IUtil::client_version(util.as_ptr()) };
        let version = ((version >> 8) as u8, version as u8);
        Ok(Self {
            runtime: runtime.clone(),
            options: options.clone(),
            root,
            master,
            provider,
            version,
            symbols,
        })
    }

    /// Major and minor version of the client library.
    pub fn client_version(&self) -> (u8, u8) {
        self.version
    }

    /// Where the library came from.
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The options of the first load, which apply to the process.
    pub fn options(&self) -> &LoadOptions {
        &self.options
    }

    /// The root directory in use.
    pub fn root(&self) -> &Path {
        &self.root.path
    }

    /// Opens a database; `dpb` is a complete database parameter buffer.
    pub fn attach(self: &Arc<Self>, path: &str, dpb: &[u8]) -> Result<Attachment, Error> {
        self.open_database(path, dpb, IProvider::attach)
    }

    /// Creates a database and opens it.
    pub fn create(self: &Arc<Self>, path: &str, dpb: &[u8]) -> Result<Attachment, Error> {
        self.open_database(path, dpb, IProvider::create)
    }

    fn open_database(self: &Arc<Self>, path: &str, dpb: &[u8], call: Open) -> Result<Attachment, Error> {
        refuse_fork()?;
        let plugin = match self.options.providers {
            Providers::Engine => Some(self.existing_plugin()?),
            Providers::Remote => None,
        };
        let dpb = &self.root.parameters(dpb);
        let attachment = Attachment::open(self, self.provider, path, dpb, call).map_err(|error| {
            match (error, plugin) {
                (Error::Status(status), Some(plugin)) => explain(status, plugin, path),
                (error, _) => error,
            }
        })?;
        handlers::keep_from_children(Path::new(path));
        Ok(attachment)
    }

    /// The engine plugin; looked for here because the library itself only says "unavailable database".
    fn existing_plugin(&self) -> Result<&Path, Error> {
        let missing = |path: PathBuf| Error::MissingEnginePlugin { path, status: None };
        let Some(plugin) = &self.root.plugin else {
            return Err(missing(
                self.root.path.join("plugins").join(names::engine(self.runtime.engine_number())),
            ));
        };
        if plugin.exists() {
            Ok(plugin)
        } else {
            Err(missing(self.runtime.engine_plugin().unwrap_or_default()))
        }
    }

    /// The text lines of a vector, as the library formats them.
    pub fn interpret(&self, vector: &StatusVector) -> Vec<String> {
        let raw = RawVector::new(vector);
        let mut at = raw.as_ptr();
        let mut lines = Vec::new();
        let mut buffer = vec![0_u8; 4096];
        // SAFETY: the buffer has the length given and `at` walks a vector that ends with 0 and outlives the
        // loop; the function returns 0 at its end.
        while unsafe { (self.symbols.interpret)(buffer.as_mut_ptr().cast(), 4096, &mut at) } > 0 {
            let line = CStr::from_bytes_until_nul(&buffer).unwrap_or_default();
            lines.push(line.to_string_lossy().into_owned());
        }
        lines
    }

    /// The SQLSTATE that the library derives from a vector.
    pub fn sqlstate(&self, vector: &StatusVector) -> String {
        let raw = RawVector::new(vector);
        let mut state = [0_u8; 6];
        // SAFETY: the function writes five characters and NUL; the vector ends with 0.
        unsafe { (self.symbols.sqlstate)(state.as_mut_ptr().cast(), raw.as_ptr()) };
        String::from_utf8_lossy(&state[..5]).into_owned()
    }

    /// The SQLCODE that the library derives from a vector.
    pub fn sqlcode(&self, vector: &StatusVector) -> i32 {
        let raw = RawVector::new(vector);
        // SAFETY: the vector ends with 0.
        unsafe { (self.symbols.sqlcode)(raw.as_ptr()) }
    }

    pub(crate) fn new_status(&self) -> Result<NonNull<IStatus>, Error> {
        // SAFETY: the master interface lives forever; the new status belongs to the caller.
        let status = unsafe { IMaster::status(self.master.as_ptr()) };
        interface("IStatus", 3, status, IStatus::version)
    }

    pub(crate) fn master(&self) -> *mut IMaster {
        self.master.as_ptr()
    }
}

/// An open library with its folders, before any call.
struct Prepared {
    root: Root,
    lock: PathBuf,
    shared: Shared,
}

impl Prepared {
    fn new(runtime: &Runtime, options: &LoadOptions) -> Result<Self, Error> {
        let runtime = &runtime.trusted()?;
        let own_lock = || folders::lock(options.server_mode);
        let lock = folder(options.lock_folder.as_deref(), "FIREBIRD_LOCK", own_lock)?;
        let temp = folder(options.temp_folder.as_deref(), "FIREBIRD_TMP", || Ok(folders::temporary()))?;
        // Checked before a root is built around it.
        if let Some(reason) = image::defect(&runtime.library).unwrap_or(None) {
            return Err(Error::NotALibrary { path: runtime.library.clone(), reason });
        }
        let root = root::prepare(runtime, options, &temp)?;
        let shared = loader::open(&root.library)?;
        Ok(Self { root, lock, shared })
    }
}

impl Symbols {
    fn resolve(library: &Shared) -> Result<Self, String> {
        /// # Safety
        /// `T` must be the type of the function.
        unsafe fn symbol<T: Copy>(library: &Shared, name: &str) -> Result<T, String> {
            // SAFETY: the caller vouches for the type.
            unsafe { library.get::<T>(name.as_bytes()) }
                .map(|symbol| *symbol)
                .map_err(|error| loader::complaint(&error))
        }
        // SAFETY: these are the signatures in ibase.h of every release since 3.0.
        unsafe {
            Ok(Self {
                master: symbol(library, "fb_get_master_interface")?,
                interpret: symbol(library, "fb_interpret")?,
                sqlstate: symbol(library, "fb_sqlstate")?,
                sqlcode: symbol(library, "isc_sqlcode")?,
                set_prefix: symbol(library, "gds__get_prefix")?,
            })
        }
    }

    /// Tells the library one of its folders, before it reads any configuration.
    fn place(&self, kind: i16, variable: &str, path: &Path) -> Result<(), Error> {
        if folders::has_blank(path) {
            // gds__get_prefix would end the path at the space.
            // SAFETY: see "Environment" at `Library::load`.
            unsafe { std::env::set_var(variable, path) };
            return Ok(());
        }
        let name = c_string(path.as_os_str().as_encoded_bytes())?;
        // SAFETY: the path ends with NUL and is copied.
        match unsafe { (self.set_prefix)(kind, name.as_ptr()) } {
            0 => Ok(()),
            _ => Err(Error::Folder { path: path.to_path_buf(), reason: "was refused by the library".into() }),
        }
    }
}

/// Fails in a process forked from the one with the library: calls would wait forever.
fn refuse_fork() -> Result<(), Error> {
    match OWNER.load(Ordering::SeqCst) {
        0 => Ok(()),
        process if process == process::id() => Ok(()),
        process => Err(Error::Forked { process }),
    }
}

/// Returns the folder that the options name, created if necessary; else the one of the environment; else the user's
/// own.
fn folder(
    option: Option<&Path>,
    variable: &str,
    own: impl FnOnce() -> Result<PathBuf, Error>,
) -> Result<PathBuf, Error> {
    if let Some(path) = option {
        let unusable = |error: std::io::Error| Error::Folder { path: path.into(), reason: error.to_string() };
        fs::create_dir_all(path).map_err(unusable)?;
        return std::path::absolute(path).map_err(unusable);
    }
    match std::env::var_os(variable).filter(|path| !path.is_empty()) {
        Some(path) => Ok(path.into()),
        None => own(),
    }
}

/// A non-null interface of at least the given version.
fn interface<I>(
    name: &'static str,
    needed: usize,
    raw: *mut I,
    version: unsafe fn(*mut I) -> usize,
) -> Result<NonNull<I>, Error> {
    let raw = NonNull::new(raw).ok_or(Error::Interface { name, found: 0, needed })?;
    // SAFETY: the library returned this interface just now.
    let found = unsafe { version(raw.as_ptr()) };
    if found < needed { Err(Error::Interface { name, found, needed }) } else { Ok(raw) }
}

/// Another driver in this process may have configured the same library before us.
fn check_root(wanted: &Path, used: &str, runtime: &Runtime) -> Result<(), Error> {
    let same =
        Path::new(used) == wanted || dunce::canonicalize(used).ok() == dunce::canonicalize(wanted).ok();
    if same || runtime.kind == RuntimeKind::Distribution {
        return Ok(());
    }
    let reason = format!("the library already uses the root {used}, set by other code in this process");
    Err(Error::Folder { path: wanted.to_path_buf(), reason })
}

/// Converts failures with a known cause to specific errors.
fn explain(status: StatusVector, plugin: &Path, database: &str) -> Error {
    use firearrow_proto::api::gds::{
        ISC_ICU_LIBRARY, ISC_PMAN_CANNOT_LOAD_PLUGIN, ISC_RANDOM, ISC_UNAVAILABLE,
    };
    let path = plugin.to_path_buf();
    if status.contains(ISC_PMAN_CANNOT_LOAD_PLUGIN) {
        return Error::PluginNotLoadable { path, status };
    }
    // 3.0 has no code for it.
    let is_icu = || status.contains(ISC_RANDOM) && status.to_string().contains("ICU");
    if status.contains(ISC_ICU_LIBRARY) || is_icu() {
        return Error::MissingIcu { status };
    }
    if status.contains(ISC_UNAVAILABLE) {
        if !plugin.exists() {
            return Error::MissingEnginePlugin { path, status: Some(status) };
        }
        // Plugins work without the execute bit, but the library reports load errors only with it. `host:path` is
        // unavailable for another reason: only the engine may open databases.
        if !handlers::is_executable(plugin) && !database.contains(':') {
            return Error::PluginNotLoadable { path, status };
        }
    }
    Error::Status(status)
}

pub(crate) fn c_string(bytes: &[u8]) -> Result<CString, Error> {
    CString::new(bytes).map_err(|_| Error::Argument {
        what: format!("{:?} contains a zero byte", String::from_utf8_lossy(bytes)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use firearrow_proto::api::gds;
    use firearrow_proto::api::status::StatusArg;

    fn explained(code: i32, text: &str, plugin: &Path) -> Error {
        let vector = StatusVector(vec![StatusArg::Gds(code), StatusArg::Text(text.into())]);
        let error = explain(vector.clone(), plugin, "/some/where.fdb");
        assert_eq!(error.status(), Some(&vector), "the vector is kept");
        error
    }

    #[test]
    fn known_causes_become_specific_errors() {
        let there = std::env::current_exe().unwrap();
        let gone = Path::new("/nonexistent/libEngine13.so");
        let icu = "Could not find acceptable ICU library";
        assert!(matches!(explained(gds::ISC_ICU_LIBRARY, "", &there), Error::MissingIcu { .. }));
        assert!(matches!(explained(gds::ISC_RANDOM, icu, &there), Error::MissingIcu { .. }));
        assert!(matches!(explained(gds::ISC_RANDOM, "other", &there), Error::Status(_)));
        assert!(matches!(
            explained(gds::ISC_PMAN_CANNOT_LOAD_PLUGIN, "Engine13", &there),
            Error::PluginNotLoadable { .. }
        ));
        assert!(matches!(explained(gds::ISC_UNAVAILABLE, "", gone), Error::MissingEnginePlugin { .. }));
        assert!(matches!(explained(gds::ISC_UNAVAILABLE, "", &there), Error::Status(_)));
    }
}
