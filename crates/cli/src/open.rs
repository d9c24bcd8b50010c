//! Opens connections that end with the command, and prints their warnings.

use crate::failure::Failure;
use crate::profile::Profile;
use crate::{interrupt, terminal};
use firearrow::arrow::BlobPolicy;
use firearrow::config::{ConfigError, Password, Target, WireCompression};
use firearrow::{Config, Connection, Kind, Result, Warning};
use firearrow_bench::secret;
use firearrow_driver::{Session, SessionOptions};
use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Whether warnings have been printed: all connections of a command take the same route, unless the shell connects elsewhere.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Whether the remark about `wire_compress` has been printed.
static REMARKED: AtomicBool = AtomicBool::new(false);

/// What `--password-file` names.
static PASSWORD_FILE: OnceLock<String> = OnceLock::new();

/// Variables from which a password comes.
const PASSWORDS: [&str; 3] = ["FIREARROW_PASSWORD", "FIREARROW_PASSWORD_FILE", "ISC_PASSWORD"];

/// Passwords that somebody has entered, for further connections of the same command.
static ENTERED: Mutex<Vec<(Target, String, Password)>> = Mutex::new(Vec::new());

/// Passwords are read from this file.
pub(crate) fn set_password_file(path: Option<&Path>) -> Result<(), Failure> {
    if let Some(path) = path {
        let path = path.to_str().ok_or_else(|| Failure::usage("--password-file: the path is not UTF-8"))?;
        // Set once, at the beginning.
        let _ = PASSWORD_FILE.set(path.to_owned());
    }
    Ok(())
}

/// The environment, in which `--password-file` stands for its variable.
pub(crate) fn variable(name: &str) -> Option<String> {
    match (name, PASSWORD_FILE.get()) {
        ("FIREARROW_PASSWORD_FILE", Some(path)) => Some(path.clone()),
        (name, Some(_)) if PASSWORDS.contains(&name) => None,
        _ => env::var(name).ok(),
    }
}

/// Reads a connection string, or the profile that it names. Where a password is missing, somebody at a terminal is asked for it.
///
/// # Errors
/// It has a password, and so has `--password-file`, which would be ignored.
pub(crate) fn parse(text: &str) -> Result<Config, Failure> {
    let profile = Profile::find(text)?;
    let holder = if profile.is_some() { "profile" } else { "connection string" };
    check_password_file(holder, |variable| Ok(configured(text, profile.as_ref(), variable)?.password))?;
    asked(configured(text, profile.as_ref(), &variable)?)
}

/// [`parse`] for a further database, for which `--password-file` need not be meant.
pub(crate) fn parse_another(text: &str) -> Result<Config, Failure> {
    let profile = Profile::find(text)?;
    asked(configured(text, profile.as_ref(), &variable)?)
}

/// Fails if `--password-file` would be ignored, because there is a password whatever the environment says: `password` returns
/// it, given the variables.
pub(crate) fn check_password_file(
    holder: &str,
    password: impl FnOnce(&dyn Fn(&str) -> Option<String>) -> Result<Option<Password>, Failure>,
) -> Result<(), Failure> {
    let others = |name: &str| if PASSWORDS.contains(&name) { None } else { variable(name) };
    match PASSWORD_FILE.get().is_some() && password(&others)?.is_some() {
        false => Ok(()),
        true => Err(Failure::usage(format!(
            "the {holder} has a password, too: leave out that one, or --password-file"
        ))),
    }
}

fn asked(mut config: Config) -> Result<Config, Failure> {
    ask_password(&mut config)?;
    Ok(config)
}

fn configured(
    text: &str,
    profile: Option<&Profile>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Config, Failure> {
    let text = profile.map_or(text, |profile| &profile.uri);
    let mut config = Config::parse_with_env(text, variable).map_err(wrong_config)?;
    if let Some(profile) = profile {
        profile.apply(&mut config)?;
    }
    Ok(config)
}

/// Asks somebody at a terminal for a password that is missing.
pub(crate) fn ask_password(config: &mut Config) -> Result<(), Failure> {
    let (Target::Remote { host, .. }, Some(user), None) = (&config.target, &config.user, &config.password)
    else {
        return Ok(());
    };
    if let Some((_, _, known)) = entered().iter().find(|(to, by, _)| (to, by) == (&config.target, user)) {
        config.password = Some(known.clone());
    } else if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let mut terminal = console::Term::stderr();
        write!(terminal, "Password for {}@{}: ", terminal::line(user), terminal::line(host))?;
        let _attributes = interrupt::keep_terminal();
        let password = Password::from(interrupt::waiting(|| read_password(&mut terminal))?);
        entered().push((config.target.clone(), user.clone(), password.clone()));
        config.password = Some(password);
    }
    Ok(())
}

/// The URL with a whole path in place of that of a file in the current folder, which a shell may change.
pub(crate) fn with_whole_path(url: &str, config: &Config) -> String {
    let Target::Embedded { path } = &config.target else { return url.to_owned() };
    let file = Path::new(path);
    // Anything else is an alias.
    let is_file = file.is_relative() && file.exists();
    let whole = std::path::absolute(file).ok().and_then(|whole| whole.to_str().map(str::to_owned));
    match whole {
        Some(whole)
            if is_file && url.matches(path.as_str()).count() == 1 && !whole.contains(['?', '%', '#']) =>
        {
            url.replace(path.as_str(), &whole)
        }
        _ => url.to_owned(),
    }
}

/// Reads a password key by key, so that Ctrl-C ends the question also where signals end nothing else, and that arrows and
/// pasted marks are no part of it.
fn read_password(terminal: &mut console::Term) -> Result<String, Failure> {
    let mut password = String::new();
    let ended = loop {
        match terminal.read_key_raw()? {
            console::Key::Enter => break Ok(password),
            console::Key::CtrlC => break Err(Failure::Stopped),
            console::Key::Backspace => drop(password.pop()),
            // Ctrl-D and Ctrl-U, as the terminal itself has them.
            console::Key::Char('\u{4}') if password.is_empty() => break Err(Failure::Stopped),
            console::Key::Char('\u{15}') => password.clear(),
            console::Key::Char(c) => password.push(c),
            _ => {}
        }
    };
    terminal.write_line("")?;
    ended
}

fn entered() -> MutexGuard<'static, Vec<(Target, String, Password)>> {
    ENTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names the option and not the variable for which it stands.
fn wrong_config(error: ConfigError) -> Failure {
    match error {
        ConfigError::PasswordFile { path, reason } if PASSWORD_FILE.get().is_some() => {
            Failure::usage(format!("--password-file {path}: {reason}"))
        }
        error => error.into(),
    }
}

/// Attaches to a database. The calls of the connection are cancelled when the command must end. Its warnings go to
/// standard error, once per run of the command.
pub(crate) fn open(config: &Config) -> Result<Connection> {
    remark_on(config);
    attach(config)
}

/// Like [`open`], as a session of the drivers. What it must do to its end, such as dropping a table whose rows do not come,
/// is not cancelled.
pub(crate) fn open_session(config: &Config, options: SessionOptions) -> Result<Arc<Session>, Failure> {
    remark_on(config);
    let session = Arc::new(interrupt::waiting(|| Session::open(config, options))?);
    let activity = Arc::clone(session.activity());
    interrupt::on_end(move || {
        activity.cancel();
    });
    warn(session.connection()?);
    Ok(session)
}

fn remark_on(config: &Config) {
    if config.compress == WireCompression::Auto && !REMARKED.swap(true, Ordering::Relaxed) {
        terminal::remark("wire_compress=auto has no effect in a single command; use wire_compress=true");
    }
}

/// Lets another server's warnings be printed.
pub(crate) fn warn_again() {
    TOLD.store(false, Ordering::Relaxed);
}

/// [`open`] for a command that opens one connection after the other.
pub(crate) fn attach(config: &Config) -> Result<Connection> {
    opened(config, interrupt::cancellable(|| Connection::open(config)))
}

/// What is due once a server has answered.
fn opened(config: &Config, opened: Result<Connection>) -> Result<Connection> {
    opened.inspect(warn).inspect_err(|error| {
        if error.kind() == Kind::Login {
            // Somebody may have mistyped: the next attempt asks again.
            entered().retain(|(to, _, _)| *to != config.target);
        }
    })
}

/// [`attach`], until Ctrl-C: then the thread that connects is left to itself, and closes what it opens. It changes nothing
/// else, for the session goes on meanwhile.
pub(crate) fn attach_until_stopped(config: &Config) -> Result<Connection, Failure> {
    let (sender, receiver) = mpsc::channel();
    let target = config.clone();
    let connect = move || drop(sender.send(Connection::open(&target)));
    thread::Builder::new().name("connecting".to_owned()).spawn(connect)?;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(connection) => return Ok(opened(config, connection.inspect(interrupt::cancel_with))?),
            Err(RecvTimeoutError::Timeout) => interrupt::check().inspect_err(|_| {
                terminal::remark(
                    "the attempt to connect goes on in the background, and closes what it opens",
                );
            })?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::other("the thread that connects panicked"));
            }
        }
    }
}

/// How often it looks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(50);

/// [`attach`], for a new database. Whoever ends the command meanwhile waits for the end of it, or is told what stays.
pub(crate) fn create(config: &Config) -> Result<Connection> {
    let staying = interrupt::staying();
    let database = terminal::line(config.target.database()).into_owned();
    interrupt::stays(Some(format!("{database} may be incomplete: remove it")));
    let created = Connection::create(config).inspect(interrupt::cancel_with);
    interrupt::stays(staying);
    opened(config, created)
}

/// Prints the warnings of the first connection that has any.
fn warn(connection: &Connection) {
    let warnings = connection.warnings();
    if !warnings.is_empty() && !TOLD.swap(true, Ordering::Relaxed) {
        print(warnings);
    }
}

/// Refuses to write ids of BLOBs to where they outlive their transaction.
pub(crate) fn refuse_blob_ids(connection: &Connection) -> Result<(), Failure> {
    if connection.read_options().blobs == BlobPolicy::Lazy {
        return Err(Failure::usage(
            "with blobs=lazy a file would hold ids of BLOBs, which end with the transaction; \
             choose another policy, or none",
        ));
    }
    Ok(())
}

/// Prints what the engine warned of in the statements of a connection.
pub(crate) fn warn_of_statements(connection: &Connection) {
    print(&connection.take_statement_warnings());
}

fn print(warnings: &[Warning]) {
    for warning in warnings {
        terminal::remark(&format!("warning: {}", secret::redact(&warning.to_string())));
    }
}
