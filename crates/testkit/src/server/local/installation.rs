//! Where the programs of a generation are, and how they are run.
//!
//! | generation | programs | started as |
//! |---|---|---|
//! | 3.0 | Debian's firebird3.0-server | the installed program |
//! | 4.0 | packages of Debian 13, unpacked by `scripts/fetch-firebird4.sh` | through the unpacked tree's own loader and libc |
//! | 5.0 | the folder named by `FIREARROW_TEST_FIREBIRD5` | the program in its `bin/` |

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::tool;
use crate::generation::Failure;
use crate::{Generation, Skip, cache, engine};

/// The programs and files of one installed generation.
#[derive(Clone, Debug)]
pub(super) struct Installation {
    pub(super) generation: Generation,
    /// The version that `firebird -z` prints, `4.0.5.3140`.
    pub(super) build: String,
    libraries: Libraries,
    server: PathBuf,
    isql: PathBuf,
    /// The folder of messages, plugins and character sets.
    pub(super) base: PathBuf,
    pub(super) security: Security,
    pub(super) client_library: Option<PathBuf>,
    /// The log, if it is outside the private root: the paths of log and plugins are compiled into 3.0.
    pub(super) fixed_log: Option<PathBuf>,
}

/// What a security database is made from.
#[derive(Clone, Debug)]
pub(super) enum Security {
    /// A script with its tables.
    Script(PathBuf),
    /// An empty database that comes with the installation.
    Database(PathBuf),
}

/// How the programs find their shared libraries.
#[derive(Clone, Debug)]
enum Libraries {
    /// The system finds them: they are installed.
    System,
    /// Through `LD_LIBRARY_PATH`: a build that was never installed, or was moved, looks in the wrong place.
    Folder(PathBuf),
    /// They come with their own libc, which only its own dynamic loader can load.
    Loader { program: PathBuf, folder: PathBuf },
}

impl Installation {
    pub(super) fn find(generation: Generation) -> Result<Self, Failure> {
        let mut installation = match generation {
            Generation::V3_0 => Self::system_3_0(),
            Generation::V4_0 => Self::unpacked_4_0(),
            Generation::V5_0 => Self::given_5_0(),
        }?;
        installation.build = installation.ask_build()?;
        if installation.build.starts_with(generation.number()) {
            return Ok(installation);
        }
        let reason = format!("{} is {}", installation.server.display(), installation.build);
        Err(Failure::Missing(Skip::new(generation, reason)))
    }

    /// The server program, with its loader and no other settings.
    pub(super) fn server(&self) -> Command {
        self.command(&self.server)
    }

    /// The interactive SQL tool, likewise.
    pub(super) fn isql(&self) -> Command {
        self.command(&self.isql)
    }

    /// The tool that validates and repairs databases, likewise.
    pub(super) fn gfix(&self) -> Command {
        self.command(&self.isql.with_file_name("gfix"))
    }

    fn command(&self, program: &Path) -> Command {
        match &self.libraries {
            Libraries::System => Command::new(program),
            Libraries::Folder(folder) => {
                let mut command = Command::new(program);
                command.env("LD_LIBRARY_PATH", folder);
                command
            }
            Libraries::Loader { program: loader, folder } => {
                let mut command = Command::new(loader);
                command.arg("--library-path").arg(folder).arg(program);
                command.env("GCONV_PATH", folder.join("gconv"));
                command
            }
        }
    }

    fn system_3_0() -> Result<Self, Failure> {
        let server = PathBuf::from("/usr/sbin/firebird");
        let isql = PathBuf::from("/usr/bin/isql-fb");
        let remedy = "run `make setup` as root, or install firebird3.0-server";
        let base = cache::below_any(Path::new("/usr/lib"), "firebird/3.0");
        let (Some(base), true, true) = (base, server.is_file(), isql.is_file()) else {
            return Err(missing(Generation::V3_0, format!("firebird3.0-server is not installed: {remedy}")));
        };
        Ok(Self {
            generation: Generation::V3_0,
            build: String::new(),
            libraries: Libraries::System,
            server,
            isql,
            security: Security::Script("/usr/share/firebird/3.0/security.sql".into()),
            client_library: existing(base.join("../../libfbclient.so.2")),
            base,
            fixed_log: Some("/var/log/firebird/firebird3.0.log".into()),
        })
    }

    fn unpacked_4_0() -> Result<Self, Failure> {
        let tree = cache::folder().join("firebird-4.0");
        if !tree.join(".complete").is_file() {
            let reason = format!("{} is not complete: run scripts/fetch-firebird4.sh", tree.display());
            return Err(missing(Generation::V4_0, reason));
        }
        let base = cache::below_any(&tree.join("usr/lib"), "firebird/4.0/plugins");
        let base = base.as_deref().and_then(Path::parent).ok_or_else(|| broken(&tree, "has no plugins"))?;
        let loader = std::fs::read_dir(tree.join("lib64"))
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ld-linux")))
            .ok_or_else(|| broken(&tree, "has no dynamic loader in lib64/"))?;
        let libraries = base.ancestors().nth(2).ok_or_else(|| broken(&tree, "has no libraries"))?.to_owned();
        let programs = tree.join("usr/lib/firebird/4.0/bin");
        Ok(Self {
            generation: Generation::V4_0,
            build: String::new(),
            libraries: Libraries::Loader { program: loader, folder: libraries },
            server: programs.join("firebird"),
            isql: programs.join("isql-fb"),
            base: base.to_owned(),
            security: Security::Script(tree.join("usr/share/firebird/4.0/security.sql")),
            // The tree's client library needs the tree's newer libc; the wheel's one loads into any process.
            client_library: engine(Generation::V4_0)
                .and_then(|runtime| existing(runtime.join("libfbclient.so.2"))),
            fixed_log: None,
        })
    }

    fn given_5_0() -> Result<Self, Failure> {
        let Some(base) = env::var_os(FIREBIRD5).filter(|value| !value.is_empty()).map(PathBuf::from) else {
            return Err(missing(
                Generation::V5_0,
                format!("{FIREBIRD5} does not name the folder of an installation"),
            ));
        };
        let base = base.canonicalize().map_err(|error| broken(&base, error))?;
        let security = base.join("security5.fdb");
        for needed in [&base.join("bin/firebird"), &base.join("bin/isql"), &base.join("plugins"), &security] {
            if !needed.exists() {
                return Err(broken(&base, format!("named by {FIREBIRD5} has no {}", needed.display())));
            }
        }
        Ok(Self {
            generation: Generation::V5_0,
            build: String::new(),
            libraries: Libraries::Folder(base.join("lib")),
            server: base.join("bin/firebird"),
            isql: base.join("bin/isql"),
            security: Security::Database(security),
            client_library: existing(base.join("lib/libfbclient.so.2")),
            base,
            fixed_log: None,
        })
    }

    /// `Firebird TCP/IP server version LI-V3.0.11.33637 Firebird 3.0` says `3.0.11.33637`.
    fn ask_build(&self) -> Result<String, Failure> {
        let mut command = self.server();
        command.arg("-z").env("FIREBIRD", &self.base);
        let output =
            tool::run(command, Duration::from_secs(10)).map_err(|error| broken(&self.server, error))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.split_once("-V").and_then(|(_, rest)| rest.split_whitespace().next());
        version.map(str::to_owned).ok_or_else(|| {
            let errors = String::from_utf8_lossy(&output.stderr);
            broken(&self.server, format!("answers {text:?} to -z\n{errors}"))
        })
    }
}

fn missing(generation: Generation, reason: impl Into<String>) -> Failure {
    Failure::Missing(Skip::new(generation, reason))
}

fn broken(place: &Path, what: impl std::fmt::Display) -> Failure {
    Failure::Broken(format!("{} {what}", place.display()))
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.canonicalize().ok()
}

const FIREBIRD5: &str = "FIREARROW_TEST_FIREBIRD5";
