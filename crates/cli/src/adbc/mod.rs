//! How ADBC driver managers find the driver: manifests in folders, and on Windows the registry.

mod manifest;
mod spot;

use crate::failure::{Failure, Result};
use crate::installed;
use crate::output;
use clap::{Args, Subcommand, ValueHint};
use firearrow_system::library;
use serde::Serialize;
use spot::{LIBRARY_HELP, Spot};
use std::env;
use std::io;
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
  firearrow adbc install --system --library PATH

Writes an entry that names the library; docs/adbc.md says where. --system needs
root, or an administrator's console.")]
struct InstallArgs {
    #[command(flatten)]
    place: Place,
    #[arg(long, help = LIBRARY_HELP, value_name = "PATH", value_hint = ValueHint::FilePath)]
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

/// The function that begins the driver; no other driver has it.
const ENTRYPOINT: &str = "AdbcDriverFirebirdInit";

/// A place where driver managers look.
#[derive(Debug, Serialize)]
struct Found {
    place: &'static str,
    /// The manifest's path, or the registry's key.
    manifest: String,
    /// The library named there; `None` without an entry.
    library: Option<String>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    NotInstalled,
    Installed,
    LibraryMissing,
    /// The entry is for another driver of this name.
    Foreign,
}

/// What a driver manager learns of a driver.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    library: Option<String>,
    is_ours: bool,
}

fn install(args: &InstallArgs, json: bool) -> Result<()> {
    let library = library(args.library.as_deref())?;
    let spot = Spot::of(args.place.folder())?;
    refuse_foreign(&spot)?;
    spot.write(&library).map_err(|error| failure(&spot, &error))?;
    tell(json, "installed", &spot, Some(&library))
}

fn uninstall(args: &UninstallArgs, json: bool) -> Result<()> {
    let spot = Spot::of(args.place.folder())?;
    let before = refuse_foreign(&spot)?;
    spot.remove().map_err(|error| match before {
        // A link that leads nowhere is removed all the same.
        None => Failure::other(format!(
            "{spot}: there is none; `firearrow adbc status` shows what is installed where"
        )),
        Some(_) => failure(&spot, &error),
    })?;
    tell(json, "removed", &spot, None)
}

/// Shows what is installed where, in the order in which driver managers look.
fn status(json: bool) -> Result<()> {
    let mut found = Vec::new();
    let named = env::var_os("ADBC_DRIVER_PATH").unwrap_or_default();
    for folder in env::split_paths(&named).filter(|folder| !folder.as_os_str().is_empty()) {
        found.push(look("ADBC_DRIVER_PATH", &Spot::folder(&folder))?);
    }
    for place in [Folder::Venv, Folder::User, Folder::System] {
        if let Ok(spot) = Spot::of(place) {
            found.push(look(place.name(), &spot)?);
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
        format!("{:<8} {}: {state}\n", each.place, each.manifest)
    });
    output::print(&lines.collect::<String>())
}

fn look(place: &'static str, spot: &Spot) -> Result<Found> {
    let manifest = spot.to_string();
    let Some(entry) = spot.read().map_err(|error| failure(spot, &error))? else {
        return Ok(Found { place, manifest, library: None, state: State::NotInstalled });
    };
    let state = match &entry.library {
        _ if !entry.is_ours => State::Foreign,
        Some(library) if Path::new(library).is_file() => State::Installed,
        _ => State::LibraryMissing,
    };
    Ok(Found { place, manifest, library: entry.library, state })
}

/// Returns what is there.
fn refuse_foreign(spot: &Spot) -> Result<Option<Entry>> {
    match spot.read().map_err(|error| failure(spot, &error))? {
        Some(entry) if !entry.is_ours => {
            Err(Failure::other(format!("{spot} is for another driver; it is left alone")))
        }
        entry => Ok(entry),
    }
}

fn failure(spot: &Spot, error: &io::Error) -> Failure {
    Failure::file(Path::new(&spot.to_string()), error)
}

/// Returns the library's absolute path: driver managers do not resolve relative ones.
fn library(named: Option<&Path>) -> Result<String> {
    let path = match named {
        Some(path) => path.to_owned(),
        None => installed::library(installed::ADBC)
            .map_err(|reason| Failure::other(format!("{reason}; --library names another one")))?,
    };
    let path = dunce::canonicalize(&path).map_err(|error| Failure::file(&path, &error))?;
    if !path.is_file() {
        return Err(Failure::other(format!("{} is not a file", path.display())));
    }
    // Driver managers would notice only later, and not say why.
    let defect = library::defect(&path, ENTRYPOINT).map_err(|error| Failure::file(&path, &error))?;
    if let Some(what) = defect {
        return Err(Failure::other(format!(
            "{} is {what}; the driver is {}",
            path.display(),
            installed::file_of(installed::ADBC)
        )));
    }
    let text = path.into_os_string().into_string();
    text.map_err(|path| {
        Failure::other(format!("{} is not valid Unicode, which manifests require", path.display()))
    })
}

fn tell(json: bool, what: &str, spot: &Spot, library: Option<&str>) -> Result<()> {
    let manifest = spot.to_string();
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
