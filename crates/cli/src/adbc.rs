//! The manifest through which ADBC driver managers find the driver.

use crate::failure::{Failure, Result};
use crate::installed;
use crate::interrupt;
use crate::output;
use crate::platform::files;
use clap::{Args, Subcommand, ValueHint};
use serde::Serialize;
use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
pub(crate) struct AdbcArgs {
    #[command(subcommand)]
    command: AdbcCommand,
}

#[derive(Debug, Subcommand)]
enum AdbcCommand {
    /// Register the driver with ADBC driver managers, under the name firebird and for firebird:// URLs
    Install(InstallArgs),
    /// Remove what `adbc install` has written
    Uninstall(UninstallArgs),
    /// Show where driver managers look, and what they find
    Status(StatusArgs),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow adbc install
  firearrow adbc install --venv
  sudo firearrow adbc install --system --library /usr/lib/libadbc_driver_firebird.so

Writes firebird.toml, which names the library; docs/adbc.md lists the folders.")]
struct InstallArgs {
    #[command(flatten)]
    place: Place,
    /// The driver [default: next to this program]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    library: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow adbc uninstall
  firearrow adbc uninstall --venv")]
struct UninstallArgs {
    #[command(flatten)]
    place: Place,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  firearrow adbc status
  firearrow adbc status --json")]
struct StatusArgs {}

#[derive(Args, Debug)]
#[group(multiple = false)]
struct Place {
    /// For all programs of this user [default]
    #[arg(long)]
    user: bool,
    /// For the active Python environment
    #[arg(long)]
    venv: bool,
    /// For all users
    #[arg(long)]
    system: bool,
}

impl Place {
    fn folder(&self) -> Folder {
        match (self.venv, self.system) {
            (true, _) => Folder::Venv,
            (_, true) => Folder::System,
            _ => Folder::User,
        }
    }
}

/// A folder for manifests.
#[derive(Clone, Copy, Debug)]
enum Folder {
    Venv,
    User,
    System,
}

impl Folder {
    fn name(self) -> &'static str {
        match self {
            Self::Venv => "venv",
            Self::User => "user",
            Self::System => "system",
        }
    }
}

pub(crate) fn run(args: &AdbcArgs, json: bool) -> Result<()> {
    match &args.command {
        AdbcCommand::Install(args) => install(args, json),
        AdbcCommand::Uninstall(args) => uninstall(args, json),
        AdbcCommand::Status(StatusArgs {}) => status(json),
    }
}

/// The manifest's file name: the scheme of a URL, or a driver's name, and `.toml`.
const NAME: &str = "firebird.toml";
/// The template of the manifest; the Python package contains the same text.
const TEMPLATE: &str = include_str!("../../adbc/manifest/firebird.toml");
/// Every manifest of this driver contains it.
const ENTRYPOINT: &str = "AdbcDriverFirebirdInit";

/// A place where driver managers look.
#[derive(Debug, Serialize)]
struct Found {
    place: &'static str,
    manifest: PathBuf,
    /// The library named in the manifest; `None` without a manifest.
    library: Option<String>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    NotInstalled,
    Installed,
    LibraryMissing,
    /// The manifest is for another driver of this name.
    Foreign,
}

fn install(args: &InstallArgs, json: bool) -> Result<()> {
    let library = library(args.library.as_deref())?;
    let manifest = manifest(args.place.folder())?;
    refuse_foreign(&manifest)?;
    let text = TEMPLATE
        .replace("{version}", &quoted(env!("CARGO_PKG_VERSION")))
        .replace("{library}", &quoted(&library));
    write(&manifest, &text).map_err(|error| Failure::file(&manifest, &error))?;
    tell(json, "installed", &manifest, Some(&library))
}

fn uninstall(args: &UninstallArgs, json: bool) -> Result<()> {
    let manifest = manifest(args.place.folder())?;
    refuse_foreign(&manifest)?;
    fs::remove_file(&manifest).map_err(|error| Failure::file(&manifest, &error))?;
    tell(json, "removed", &manifest, None)
}

/// Shows what is installed where, in the order in which driver managers look.
fn status(json: bool) -> Result<()> {
    let mut found = Vec::new();
    let named = env::var_os("ADBC_DRIVER_PATH").unwrap_or_default();
    for folder in env::split_paths(&named).filter(|folder| !folder.as_os_str().is_empty()) {
        found.push(look("ADBC_DRIVER_PATH", folder.join(NAME))?);
    }
    for place in [Folder::Venv, Folder::User, Folder::System] {
        if let Ok(manifest) = manifest(place) {
            found.push(look(place.name(), manifest)?);
        }
    }
    if json {
        return output::print_data(&format!("{}\n", serde_json::to_string_pretty(&found)?));
    }
    let lines = found.iter().map(|each| {
        let state = match each.state {
            State::NotInstalled => "not installed".to_owned(),
            State::Installed => each.library.clone().unwrap_or_default(),
            State::LibraryMissing => {
                format!("{} is missing", each.library.as_deref().unwrap_or("the library"))
            }
            State::Foreign => "another driver".to_owned(),
        };
        format!("{:<8} {}: {state}\n", each.place, each.manifest.display())
    });
    output::print(&lines.collect::<String>())
}

fn look(place: &'static str, manifest: PathBuf) -> Result<Found> {
    let text = match fs::read_to_string(&manifest) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Found { place, manifest, library: None, state: State::NotInstalled });
        }
        Err(error) => return Err(Failure::file(&manifest, &error)),
    };
    let library = shared(&text);
    let state = match &library {
        _ if !text.contains(ENTRYPOINT) => State::Foreign,
        Some(library) if Path::new(library).is_file() => State::Installed,
        _ => State::LibraryMissing,
    };
    Ok(Found { place, manifest, library, state })
}

/// Returns the library's path from a manifest written by [`install`].
fn shared(manifest: &str) -> Option<String> {
    let value =
        manifest.lines().find_map(|line| line.trim().strip_prefix("shared")?.trim().strip_prefix('='))?;
    serde_json::from_str(value.trim()).ok()
}

/// Quotes text as JSON, which is valid TOML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the library's absolute path: driver managers do not resolve relative ones.
fn library(named: Option<&Path>) -> Result<String> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => installed::library(installed::ADBC)
            .map_err(|reason| Failure::other(format!("{reason}: name it with --library")))?,
    };
    let path = dunce::canonicalize(&path).map_err(|error| Failure::file(&path, &error))?;
    if !path.is_file() {
        return Err(Failure::other(format!("{} is not a file", path.display())));
    }
    let text = path.into_os_string().into_string();
    text.map_err(|path| {
        Failure::other(format!("{} is not valid Unicode, which manifests require", path.display()))
    })
}

/// Returns the path of the manifest in a place.
fn manifest(place: Folder) -> Result<PathBuf> {
    let folder = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || folder("HOME").ok_or_else(|| Failure::other("HOME is not set"));
    let folder = match place {
        Folder::Venv => {
            let environment = folder("VIRTUAL_ENV");
            environment
                .ok_or_else(|| Failure::usage("no Python environment is active: VIRTUAL_ENV is not set"))?
                .join("etc/adbc/drivers")
        }
        Folder::User if cfg!(windows) => {
            let data = folder("LOCALAPPDATA").ok_or_else(|| Failure::other("LOCALAPPDATA is not set"))?;
            data.join("ADBC/Drivers")
        }
        Folder::System if cfg!(windows) => {
            return Err(Failure::other(
                "on Windows, system-wide drivers are registered in the registry: use --user",
            ));
        }
        Folder::User if cfg!(target_os = "macos") => home()?.join("Library/Application Support/ADBC/Drivers"),
        Folder::User => match folder("XDG_CONFIG_HOME") {
            Some(folder) => folder.join("adbc/drivers"),
            None => home()?.join(".config/adbc/drivers"),
        },
        Folder::System if cfg!(target_os = "macos") => {
            PathBuf::from("/Library/Application Support/ADBC/Drivers")
        }
        Folder::System => PathBuf::from("/etc/adbc/drivers"),
    };
    Ok(folder.join(NAME))
}

fn refuse_foreign(manifest: &Path) -> Result<()> {
    match fs::read_to_string(manifest) {
        Ok(text) if !text.contains(ENTRYPOINT) => {
            Err(Failure::other(format!("{} is for another driver; it is left alone", manifest.display())))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::file(manifest, &error)),
        _ => Ok(()),
    }
}

/// Writes the file atomically, so that nobody reads half of it.
fn write(manifest: &Path, text: &str) -> io::Result<()> {
    let folder = manifest.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    files::as_public_file(&mut builder);
    let mut file = interrupt::temporary(|| builder.tempfile_in(folder))?;
    file.write_all(text.as_bytes())?;
    file.persist(manifest)?;
    Ok(())
}

fn tell(json: bool, what: &str, manifest: &Path, library: Option<&str>) -> Result<()> {
    let manifest = manifest.display().to_string();
    if json {
        let mut facts = serde_json::json!({ what: manifest });
        if let Some(library) = library {
            facts["library"] = library.into();
        }
        return output::print_data(&format!("{facts}\n"));
    }
    match library {
        Some(library) => output::print(&format!("{what}: {manifest}\nlibrary: {library}\n")),
        None => output::print(&format!("{what}: {manifest}\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_reads_back_what_was_put_in() {
        for path in ["/usr/lib/libadbc_driver_firebird.so", "/a b/\"ü\"\\\n.so"] {
            assert_eq!(shared(&TEMPLATE.replace("{library}", &quoted(path))).as_deref(), Some(path));
        }
        assert_eq!(shared(TEMPLATE), None);
        assert!(TEMPLATE.contains(ENTRYPOINT) && TEMPLATE.contains("{version}"));
    }
}
