//! Broken installations, other libraries and other processes. Code that loads a library runs in its own process: the
//! test program starts itself again with the name of one test.
#![cfg(unix)]
#![allow(missing_docs, reason = "a test binary has no public interface")]

use firearrow_fbapi::{
    Attachment, BatchOptions, Error, Library, LoadOptions, MessageBuffer, Providers, Runtime, RuntimeHint,
    RuntimeKind, ServerMode,
};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_proto::api::info::database::NUM_BUFFERS;
use firearrow_testkit::platform;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use tempfile::TempDir;

const DPB: &[u8] = b"\x01\x1c\x06SYSDBA\x30\x04UTF8\x4d\x00";
/// Names the test that a child runs.
const TEST: &str = "FIREARROW_FAULT";
/// What a child works with.
const ARGUMENT: &str = "FIREARROW_FAULT_ARGUMENT";

/// Runs `body` with the engine's folder, in the parent process.
fn with_engine(test: &str, body: impl Fn(&Path)) {
    firearrow_testkit::run(platform::embedded_5_0(), test, |target| body(target.engine()));
}

fn is_child(test: &str) -> bool {
    env::var_os(TEST).is_some_and(|name| name == test)
}

fn child(test: &str, argument: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    command.env(TEST, test).env(ARGUMENT, argument).stdin(Stdio::null());
    command
}

fn argument() -> PathBuf {
    env::var_os(ARGUMENT).unwrap().into()
}

fn assert_passed(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{errors}");
}

/// Runs `body` in its own process, with the engine's folder.
fn isolated(test: &str, body: impl FnOnce(&Path)) {
    if is_child(test) {
        body(&argument());
    } else {
        with_engine(test, |engine| assert_passed(&child(test, engine).output().unwrap()));
    }
}

fn load(path: &Path, options: &LoadOptions) -> Result<Arc<Library>, Error> {
    Library::load(&Runtime::discover(&RuntimeHint::at(path))?, options)
}

/// Options with a root in `folder`.
fn rooted(folder: &TempDir) -> LoadOptions {
    LoadOptions { private_root: Some(folder.path().join("root")), ..LoadOptions::default() }
}

/// A copy of the engine's folder, without some of its plugins.
fn copy_of(engine: &Path, keep: impl Fn(&str) -> bool) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("plugins")).unwrap();
    for entry in fs::read_dir(engine).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    for entry in
        fs::read_dir(engine.join("plugins")).unwrap().flatten().filter(|entry| entry.path().is_file())
    {
        if keep(entry.file_name().to_str().unwrap()) {
            fs::copy(entry.path(), folder.path().join("plugins").join(entry.file_name())).unwrap();
        }
    }
    folder
}

fn create(library: &Arc<Library>, folder: &Path) -> Result<Attachment, Error> {
    library.create(folder.join("new.fdb").to_str().unwrap(), DPB)
}

#[test]
fn a_missing_library_is_named() {
    let error = load(Path::new("/nonexistent/libfbclient.so.2"), &LoadOptions::default()).unwrap_err();
    assert!(matches!(&error, Error::LibraryNotFound { tried } if tried.len() == 1));
    assert!(error.to_string().contains("pip install firebird-embedded"));
    assert!(error.to_string().contains("/nonexistent/libfbclient.so.2"));
}

#[test]
fn files_that_are_no_client_library_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libfbclient.so.2");
    let reason = || match load(&path, &rooted(&folder)) {
        Err(Error::NotALibrary { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    fs::write(&path, "some text").unwrap();
    assert_eq!(reason(), "not an ELF file");
    let this = fs::read(env::current_exe().unwrap()).unwrap();
    // The loader would answer this one with SIGBUS.
    fs::write(&path, &this[..this.len() / 2]).unwrap();
    assert!(reason().starts_with("truncated"));
    fs::remove_file(&path).unwrap();
    symlink("/usr/lib/x86_64-linux-gnu/libm.so.6", &path).unwrap();
    if path.exists() {
        assert!(reason().contains("fb_get_master_interface"));
    }
}

#[test]
fn a_missing_dependency_is_named_with_its_package() {
    isolated("a_missing_dependency_is_named_with_its_package", |engine| {
        let copy = copy_of(engine, |_| true);
        let path = copy.path().join("libfbclient.so.2");
        let mut bytes = fs::read(&path).unwrap();
        // The library needs libtommath.so.1; replace it with a name of the same length that does not exist.
        let at = bytes.windows(16).position(|part| part == b"libtommath.so.1\0").unwrap();
        bytes[at..at + 15].copy_from_slice(b"libicuuc.so.999");
        fs::write(&path, bytes).unwrap();
        match load(&path, &rooted(&copy)) {
            Err(error @ Error::MissingDependency { .. }) => {
                assert!(error.to_string().contains("needs libicuuc.so.999"), "{error}");
                assert!(error.to_string().contains("install ICU"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_missing_engine_plugin_is_named() {
    isolated("a_missing_engine_plugin_is_named", |engine| {
        let copy = copy_of(engine, |name| name != "libEngine13.so");
        let library = load(copy.path(), &rooted(&copy)).unwrap();
        match create(&library, copy.path()) {
            Err(error @ Error::MissingEnginePlugin { .. }) => {
                let plugin = copy.path().join("plugins/libEngine13.so");
                assert!(error.to_string().contains(plugin.to_str().unwrap()), "{error}");
            }
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_broken_engine_plugin_is_named() {
    isolated("a_broken_engine_plugin_is_named", |engine| {
        let copy = copy_of(engine, |name| name != "libEngine13.so");
        let plugin = copy.path().join("plugins/libEngine13.so");
        fs::write(&plugin, "some text").unwrap();
        let library = load(copy.path(), &rooted(&copy)).unwrap();
        // Without the execute bit the library only says that the database is unavailable.
        for (mode, code) in [(0o644, gds::ISC_UNAVAILABLE), (0o755, gds::ISC_PMAN_CANNOT_LOAD_PLUGIN)] {
            fs::set_permissions(&plugin, fs::Permissions::from_mode(mode)).unwrap();
            match create(&library, copy.path()) {
                Err(Error::PluginNotLoadable { status, .. }) => assert!(status.contains(code), "{status}"),
                other => panic!("{other:?}"),
            }
        }
    });
}

#[test]
fn a_client_library_of_another_driver_is_noticed() {
    isolated("a_client_library_of_another_driver_is_noticed", |engine| {
        let copy = copy_of(engine, |_| false);
        let path = fs::canonicalize(copy.path()).unwrap().join("libfbclient.so.2");
        // SAFETY: the initializers of a Firebird client library only construct its globals.
        let _foreign = unsafe { libloading::Library::new(&path) }.unwrap();
        match load(engine, &rooted(&copy)) {
            Err(Error::SecondLibrary { loaded, .. }) => assert_eq!(loaded, path),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn one_process_at_a_time_has_a_database_in_super_mode() {
    const NAME: &str = "one_process_at_a_time_has_a_database_in_super_mode";
    two_processes(NAME, ServerMode::Super, |second| match second {
        Err(Error::Status(status)) => assert!(status.contains(gds::ISC_ALREADY_OPENED), "{status}"),
        other => panic!("{other:?}"),
    });
}

#[test]
fn several_processes_share_a_database_in_classic_mode() {
    const NAME: &str = "several_processes_share_a_database_in_classic_mode";
    two_processes(NAME, ServerMode::Classic, |second| second.unwrap().detach().unwrap());
}

/// Opens one database in two processes; `check` sees what the second one gets.
fn two_processes(test: &str, server_mode: ServerMode, check: impl FnOnce(Result<Attachment, Error>)) {
    const DATABASE: &str = "FIREARROW_FAULT_DATABASE";
    if !is_child(test) {
        return with_engine(test, |engine| assert_passed(&child(test, engine).output().unwrap()));
    }
    let library = load(&argument(), &LoadOptions { server_mode, ..LoadOptions::default() }).unwrap();
    if let Some(database) = env::var_os(DATABASE) {
        return check(library.attach(database.to_str().unwrap(), DPB));
    }
    let folder = tempfile::tempdir().unwrap();
    let attachment = create(&library, folder.path()).unwrap();
    assert_passed(&child(test, argument()).env(DATABASE, folder.path().join("new.fdb")).output().unwrap());
    attachment.ping().unwrap();
}

#[test]
fn many_processes_build_one_root() {
    const NAME: &str = "many_processes_build_one_root";
    const ROOT: &str = "FIREARROW_FAULT_ROOT";
    if is_child(NAME) {
        let root = env::var_os(ROOT).map(PathBuf::from);
        let options = LoadOptions { private_root: root.clone(), ..LoadOptions::default() };
        let library = load(&argument(), &options).unwrap();
        assert_eq!(Some(library.root().to_path_buf()), root);
        let folder = tempfile::tempdir().unwrap();
        create(&library, folder.path()).unwrap().drop_database().unwrap();
        return;
    }
    with_engine(NAME, |engine| {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        for is_damaged in [false, true] {
            if is_damaged {
                fs::remove_file(root.join("lib/libfbclient.so.2")).unwrap();
            }
            let spawn = || {
                let mut command = child(NAME, engine);
                command.env(ROOT, &root).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
            };
            let children: Vec<_> = (0..6).map(|_| spawn()).collect();
            children.into_iter().for_each(|child| assert_passed(&child.wait_with_output().unwrap()));
            let left: Vec<_> =
                fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
            assert_eq!(left, ["root"], "nothing is left of the attempts of others");
        }
    });
}

#[test]
fn a_root_may_have_blanks_in_its_path() {
    isolated("a_root_may_have_blanks_in_its_path", |engine| {
        let folder = tempfile::Builder::new().prefix("with blanks ").tempdir().unwrap();
        let lock = folder.path().join("lock files");
        let options = LoadOptions { lock_folder: Some(lock.clone()), ..rooted(&folder) };
        let library = load(engine, &options).unwrap();
        create(&library, folder.path()).unwrap();
        assert!(lock.join("fb_init").exists());
    });
}

#[test]
fn a_folder_of_somebody_else_is_not_taken_as_root() {
    isolated("a_folder_of_somebody_else_is_not_taken_as_root", |engine| {
        let folder = tempfile::tempdir().unwrap();
        let options = rooted(&folder);
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::write(folder.path().join("root/precious"), "").unwrap();
        assert!(matches!(load(engine, &options), Err(Error::Folder { .. })));
        assert!(folder.path().join("root/precious").exists());
    });
}

#[test]
fn settings_reach_the_engine() {
    isolated("settings_reach_the_engine", |engine| {
        let folder = tempfile::tempdir().unwrap();
        let settings = vec![("DefaultDbCachePages".to_owned(), "777".to_owned())];
        let library = load(engine, &LoadOptions { settings, ..rooted(&folder) }).unwrap();
        let attachment = create(&library, folder.path()).unwrap();
        assert_eq!(attachment.info(&[NUM_BUFFERS], 32).unwrap()[..5], [NUM_BUFFERS, 4, 0, 9, 3]);
    });
}

#[test]
fn the_remote_provider_does_not_open_files() {
    isolated("the_remote_provider_does_not_open_files", |engine| {
        let folder = tempfile::tempdir().unwrap();
        let library = load(engine, &LoadOptions { providers: Providers::Remote, ..rooted(&folder) }).unwrap();
        match create(&library, folder.path()) {
            Err(Error::Status(status)) => assert!(status.contains(gds::ISC_UNAVAILABLE), "{status}"),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn nothing_is_leaked() {
    fn round(library: &Arc<Library>, database: &str) {
        let attachment = library.attach(database, DPB).unwrap();
        for _ in 0..300 {
            // Read-only read committed: the only kind that does not write to the database.
            let mut transaction = attachment.start_transaction(&[3, 8, 15, 17]).unwrap();
            let mut statement = attachment
                .prepare(&transaction, "select RDB$RELATION_NAME from RDB$RELATIONS", Dialect::Three)
                .unwrap();
            let mut cursor = statement.open_cursor(&transaction, None, None, Default::default()).unwrap();
            let mut buffer = MessageBuffer::new(10 * cursor.stride());
            cursor.fetch_block(&mut buffer, cursor.stride(), 10).unwrap();
            assert!(attachment.prepare(&transaction, "nonsense", Dialect::Three).is_err());
            attachment.create_blob(&transaction, &[]).unwrap().write_all(&[0; 1000]).unwrap();
            attachment.canceller();
            let mut insert = attachment
                .prepare(&transaction, "insert into RDB$FILES (RDB$FILE_START) values (?)", Dialect::Three)
                .unwrap();
            let format = insert.input().unwrap();
            let mut batch = insert.create_batch(&format, &BatchOptions::default()).unwrap();
            batch.add(MessageBuffer::new(format.stride()).bytes(), 1).unwrap();
            let completion = batch.execute(&transaction).unwrap();
            assert!(completion.failures[0].status.is_some(), "the transaction is read-only");
            drop((cursor, statement, insert, batch));
            attachment.execute_immediate(Some(&mut transaction), "commit", Dialect::Three).unwrap();
            let started = attachment.execute_immediate(
                None,
                "set transaction read only read committed",
                Dialect::Three,
            );
            started.unwrap().unwrap().rollback().unwrap();
        }
        attachment.detach().unwrap();
    }
    fn resident_pages() -> i64 {
        let statm = fs::read_to_string("/proc/self/statm").unwrap();
        statm.split(' ').nth(1).unwrap().parse().unwrap()
    }
    isolated("nothing_is_leaked", |engine| {
        let folder = tempfile::tempdir().unwrap();
        let library = load(engine, &rooted(&folder)).unwrap();
        drop(create(&library, folder.path()).unwrap());
        let database = folder.path().join("new.fdb");
        let database = database.to_str().unwrap();
        (0..3).for_each(|_| round(&library, database));
        let before = resident_pages();
        (0..10).for_each(|_| round(&library, database));
        let grown = (resident_pages() - before) * 4;
        // 3000 rounds: a leak of even one status interface each would be more than this.
        assert!(grown < 1024, "{grown} KiB more after 3000 rounds");
    });
}

#[test]
fn an_own_handler_of_sigint_stays() {
    extern "C" fn handler(_: i32) {}
    isolated("an_own_handler_of_sigint_stays", |engine| {
        let address = handler as extern "C" fn(i32) as usize;
        // SAFETY: the handler does nothing, so it may run at any time.
        unsafe { libc::signal(libc::SIGINT, address) };
        let folder = tempfile::tempdir().unwrap();
        let _attachment = create(&load(engine, &rooted(&folder)).unwrap(), folder.path()).unwrap();
        // SAFETY: as above; the call returns the handler before it.
        assert_eq!(unsafe { libc::signal(libc::SIGINT, address) }, address);
    });
}

#[test]
fn an_attached_process_still_dies_of_sigterm() {
    const NAME: &str = "an_attached_process_still_dies_of_sigterm";
    if is_child(NAME) {
        let folder = tempfile::tempdir().unwrap();
        let _attachment = create(&load(&argument(), &rooted(&folder)).unwrap(), folder.path()).unwrap();
        drop(folder);
        // SAFETY: sends a signal to this process.
        unsafe { libc::raise(libc::SIGTERM) };
        unreachable!("the signal was caught");
    }
    with_engine(NAME, |engine| {
        let output = child(NAME, engine).output().unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGTERM), "{output:?}");
    });
}

#[test]
fn a_fork_of_a_process_with_the_engine_is_told_so() {
    isolated("a_fork_of_a_process_with_the_engine_is_told_so", |engine| {
        let folder = tempfile::tempdir().unwrap();
        let library = load(engine, &rooted(&folder)).unwrap();
        let attachment = create(&library, folder.path()).unwrap();
        let database = folder.path().join("new.fdb");
        let database = database.to_str().unwrap();
        // SAFETY: the child calls only the code under test, and ends without unwinding or destructors.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above. The alarm ends a child that hangs.
            unsafe { libc::alarm(20) };
            let is_refused =
                |error: &Error| matches!(error, Error::Forked { .. }) && error.to_string().contains("spawn");
            let attached = library.attach(database, DPB).err().is_some_and(|error| is_refused(&error));
            let loaded = load(engine, &rooted(&folder)).err().is_some_and(|error| is_refused(&error));
            // SAFETY: as above.
            unsafe { libc::_exit(i32::from(attached) + 2 * i32::from(loaded)) };
        }
        let mut status = 0;
        // SAFETY: the status is written by the call; the child is ours.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status), "it was ended by signal {}", libc::WTERMSIG(status));
        assert_eq!(libc::WEXITSTATUS(status), 3);
        attachment.ping().unwrap();
    });
}

/// The engine in the folder `.venv` that `make setup` once left in checkouts.
fn planted(folder: &Path, engine: &Path) {
    let packages = folder.join(".venv/lib/python3.11/site-packages/firebird");
    fs::create_dir_all(packages.join("embedded")).unwrap();
    symlink(engine, packages.join("embedded/runtime")).unwrap();
    // A module that an interpreter would import from the current folder.
    fs::create_dir(folder.join("firebird")).unwrap();
    fs::write(folder.join("firebird/__init__.py"), format!("open({:?}, 'w')", folder.join("ran"))).unwrap();
    symlink(packages.join("embedded"), folder.join("firebird/embedded")).unwrap();
}

#[test]
fn the_current_folder_and_those_above_name_no_engine() {
    const NAME: &str = "the_current_folder_and_those_above_name_no_engine";
    if is_child(NAME) {
        if let Ok(runtime) = Runtime::discover(&RuntimeHint::default()) {
            assert!(!runtime.library.starts_with(argument()), "{runtime:?}");
        }
        return;
    }
    with_engine(NAME, |engine| {
        let folder = tempfile::tempdir().unwrap();
        planted(folder.path(), engine);
        fs::create_dir_all(folder.path().join("deep/below")).unwrap();
        for current in ["", "deep/below"] {
            let mut command = child(NAME, folder.path());
            for name in
                ["FIREARROW_ENGINE", "FIREARROW_ENGINE_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "FIREBIRD"]
            {
                command.env_remove(name);
            }
            assert_passed(&command.current_dir(folder.path().join(current)).output().unwrap());
            assert!(!folder.path().join("ran").exists(), "code of the current folder ran");
        }
    });
}

#[test]
fn an_engine_that_others_could_replace_is_refused() {
    isolated("an_engine_that_others_could_replace_is_refused", |engine| {
        let copy = copy_of(engine, |_| true);
        let base = fs::canonicalize(copy.path()).unwrap();
        fs::create_dir(base.join("intl")).unwrap();
        fs::write(base.join("intl/libfbintl.so"), "").unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let roots = tempfile::tempdir().unwrap();
        for place in ["", "libfbclient.so.2", "plugins", "plugins/libEngine13.so", "intl/libfbintl.so"] {
            let path = base.join(place);
            let before = fs::metadata(&path).unwrap().permissions().mode();
            mode(&path, 0o777);
            match load(&base, &rooted(&roots)) {
                Err(Error::Unsafe { culprit, reason, .. }) => {
                    assert_eq!(
                        (culprit, reason.as_str()),
                        (fs::canonicalize(&path).unwrap(), "is writable by every user")
                    );
                }
                other => panic!("{place}: {other:?}"),
            }
            assert!(fs::read_dir(roots.path()).unwrap().next().is_none(), "nothing of it is kept");
            mode(&path, before);
        }
        fs::remove_dir_all(base.join("intl")).unwrap();
        load(&base, &rooted(&roots)).unwrap();
    });
}

#[test]
fn the_environment_names_the_engine() {
    const NAME: &str = "the_environment_names_the_engine";
    if is_child(NAME) {
        let runtime = Runtime::discover(&RuntimeHint::default()).unwrap();
        assert_eq!(runtime.kind, RuntimeKind::Wheel);
        assert!(runtime.library.starts_with(argument()));
        return;
    }
    with_engine(NAME, |engine| {
        let variables = ["FIREARROW_ENGINE", "FIREARROW_ENGINE_PATH"];
        for variable in variables {
            let mut command = child(NAME, engine);
            for name in variables {
                command.env_remove(name);
            }
            assert_passed(&command.env_remove("VIRTUAL_ENV").env(variable, engine).output().unwrap());
        }
    });
}
