//! One test per platform.

use std::any::Any;
use std::cell::Cell;
use std::fmt::{self, Debug};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::leftover::Folder;
use crate::report::{self, Entry, Outcome};
use crate::{Generation, Server, Skip, engine, room, server, shared, template};

/// Stamps out one `#[test]` per platform for each function.
///
/// ```
/// firearrow_testkit::matrix!(wire,
///     fn server_has_a_port(target: &firearrow_testkit::Target) {
///         assert!(target.url("test").starts_with("firebird://"));
///     }
/// );
/// # fn main() {}
/// ```
///
/// gives the tests `server_has_a_port::firebird_3_0`, `::firebird_4_0` and `::firebird_5_0`. The first word chooses the
/// platforms: `wire` (all servers; may be left out), `all` (servers and the embedded 5.0), `embedded`, or a list such as
/// `[firebird_4_0, firebird_5_0]`. A process can load one engine only, so the embedded 3.0 and 4.0 have test binaries
/// of their own.
///
/// A function returns nothing or a `Result`. The commas between functions are there for rustfmt. On a platform that is
/// missing the test prints `SKIP <test> on <platform>: <reason>`; cargo counts it as passed, the report as skipped. So it
/// does if the function returns `Err(Skip)`, because a program that it needs is missing.
#[macro_export]
macro_rules! matrix {
    (wire, $($tests:tt)+) => {
        $crate::matrix!([firebird_3_0, firebird_4_0, firebird_5_0], $($tests)+);
    };
    (all, $($tests:tt)+) => {
        $crate::matrix!([firebird_3_0, firebird_4_0, firebird_5_0, embedded_5_0], $($tests)+);
    };
    (embedded, $($tests:tt)+) => {
        $crate::matrix!([embedded_5_0], $($tests)+);
    };
    ($platforms:tt, $(
        $(#[$meta:meta])* fn $name:ident($target:ident: $type:ty) $(-> $verdict:ty)? $body:block $(,)?
    )+) => {
        $($crate::__matrix_test! { $platforms $(#[$meta])* fn $name($target: $type) $(-> $verdict)? $body })+
    };
    ($(#[$meta:meta])* fn $($tests:tt)+) => {
        $crate::matrix!(wire, $(#[$meta])* fn $($tests)+);
    };
}

/// One function of [`matrix!`]. The function and the module with its tests share a name.
#[doc(hidden)]
#[macro_export]
macro_rules! __matrix_test {
    ([$($platform:ident),+ $(,)?]
     $(#[$meta:meta])* fn $name:ident($target:ident: $type:ty) $(-> $verdict:ty)? $body:block) => {
        $(#[$meta])*
        fn $name($target: $type) $(-> $verdict)? $body

        $(#[$meta])*
        mod $name {
            $(
                #[test]
                fn $platform() {
                    $crate::run($crate::platform::$platform(), module_path!(), super::$name);
                }
            )+
        }
    };
}

/// What a test may run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// A server, through TCP.
    Wire(Generation),
    /// An engine inside the test process.
    Embedded(Generation),
}

/// The platforms by the names that [`matrix!`] uses.
#[expect(missing_docs, reason = "the names say it all")]
pub mod platform {
    use super::Platform;
    use crate::Generation::{V3_0, V4_0, V5_0};

    pub const fn firebird_3_0() -> Platform {
        Platform::Wire(V3_0)
    }
    pub const fn firebird_4_0() -> Platform {
        Platform::Wire(V4_0)
    }
    pub const fn firebird_5_0() -> Platform {
        Platform::Wire(V5_0)
    }
    pub const fn embedded_3_0() -> Platform {
        Platform::Embedded(V3_0)
    }
    pub const fn embedded_4_0() -> Platform {
        Platform::Embedded(V4_0)
    }
    pub const fn embedded_5_0() -> Platform {
        Platform::Embedded(V5_0)
    }
}

impl Platform {
    /// The identifier, `firebird_3_0`.
    pub fn name(self) -> String {
        let (kind, generation) = match self {
            Self::Wire(generation) => ("firebird", generation),
            Self::Embedded(generation) => ("embedded", generation),
        };
        format!("{kind}_{}", generation.number().replace('.', "_"))
    }

    /// Starts or finds the platform.
    ///
    /// # Errors
    /// It is not installed here.
    ///
    /// # Panics
    /// It is installed but does not work.
    pub fn target(self) -> Result<Target, Skip> {
        match self {
            Self::Wire(generation) => shared(generation).map(Target::Wire),
            Self::Embedded(generation) => {
                let engine =
                    engine(generation).ok_or_else(|| Skip::new(self, engine::missing(generation)))?;
                Ok(Target::Embedded(Embedded { generation, engine, directory: scratch() }))
            }
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(generation) => write!(f, "{generation}"),
            Self::Embedded(generation) => write!(f, "Embedded {}", generation.number()),
        }
    }
}

/// What a test runs on.
#[derive(Clone, Debug)]
pub enum Target {
    /// The shared server of a generation.
    Wire(&'static Server),
    /// An engine to be loaded into the test process.
    Embedded(Embedded),
}

/// An embedded engine and a folder for its databases.
#[derive(Clone, Debug)]
pub struct Embedded {
    /// The engine's generation.
    pub generation: Generation,
    /// The runtime folder with the client library, `libfbclient.so.2` on Linux.
    pub engine: PathBuf,
    /// A folder that is removed when the test process ends.
    pub directory: &'static Path,
}

impl Target {
    /// The generation of the server or engine, for tests whose results depend on it.
    pub fn generation(&self) -> Generation {
        match self {
            Self::Wire(server) => server.generation(),
            Self::Embedded(embedded) => embedded.generation,
        }
    }

    /// The runtime folder of the embedded engine.
    ///
    /// # Panics
    /// It is a server.
    pub fn engine(&self) -> &Path {
        match self {
            Self::Wire(server) => panic!("{} is a server", server.generation()),
            Self::Embedded(embedded) => &embedded.engine,
        }
    }

    /// The server, for tests that run on servers only.
    ///
    /// # Panics
    /// It is an embedded engine.
    pub fn server(&self) -> &'static Server {
        match self {
            Self::Wire(server) => server,
            Self::Embedded(_) => panic!("{self} is not a server"),
        }
    }

    /// The platform's identifier, `firebird_3_0`.
    pub fn name(&self) -> String {
        self.platform().name()
    }

    /// The path of a database called `name`.
    pub fn database_path(&self, name: &str) -> PathBuf {
        match self {
            Self::Wire(server) => server.database_path(name),
            Self::Embedded(embedded) => embedded.directory.join(server::file_name(name)),
        }
    }

    /// A connection string for the database called `name`: a URL, or the absolute path for an embedded engine.
    pub fn url(&self, name: &str) -> String {
        match self {
            Self::Wire(server) => server.url(name),
            Self::Embedded(_) => self.database_path(name).display().to_string(),
        }
    }

    /// A connection string for a new database: no call returns the same twice.
    pub fn fresh_url(&self) -> String {
        self.url(&Self::fresh_name())
    }

    /// Returns the connection string of a fresh copy of a template database. `make` receives a connection string,
    /// creates the template and closes it; that happens once per process, platform and `kind`, because creating a
    /// database takes a tenth of a second of processor time, and copying it next to nothing. Two calls with one
    /// `kind` share the first one's template.
    pub fn copied_url(&self, kind: &str, make: impl FnOnce(&str)) -> String {
        let name = Self::fresh_name();
        let original = template::original(format!("{kind} on {}", self.name()), || {
            let original = Self::fresh_name();
            make(&self.url(&original));
            self.database_path(&original)
        });
        let path = self.database_path(&name);
        let copied = match self {
            Self::Wire(server) => server.copy_database(&original, &path),
            Self::Embedded(_) => std::fs::copy(&original, &path).map(drop),
        };
        copied.unwrap_or_else(|error| panic!("{} cannot be copied: {error}", original.display()));
        self.url(&name)
    }

    fn fresh_name() -> String {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        format!("matrix{}", NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn platform(&self) -> Platform {
        match self {
            Self::Wire(server) => Platform::Wire(server.generation()),
            Self::Embedded(embedded) => Platform::Embedded(embedded.generation),
        }
    }
}

impl fmt::Display for Target {
    /// With the exact version, `Firebird 3.0.11`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(server) => write!(f, "Firebird {}", server.version()),
            Self::Embedded(embedded) => match engine::version(&embedded.engine) {
                Some(version) => write!(f, "Embedded {version}"),
                None => write!(f, "{}", self.platform()),
            },
        }
    }
}

/// What the body of a matrix test returns.
pub trait Verdict {
    /// Panics if the test failed.
    ///
    /// # Errors
    /// The test did not run, because it needs something that is missing.
    fn assert(self) -> Result<(), Skip>;
}

impl Verdict for () {
    fn assert(self) -> Result<(), Skip> {
        Ok(())
    }
}

/// An `Err` that is a [`Skip`] is a skip, every other one a failure.
impl<E: Debug + Any> Verdict for Result<(), E> {
    fn assert(self) -> Result<(), Skip> {
        let Err(error) = self else { return Ok(()) };
        match (&error as &dyn Any).downcast_ref::<Skip>() {
            Some(skip) => Err(skip.clone()),
            None => panic!("{error:?}"),
        }
    }
}

/// Runs one test on one platform and reports the outcome; [`matrix!`] calls it.
///
/// If it fails and its server has stopped working for everybody, the server is replaced and the test runs once more:
/// servers die or hang for reasons of their own, and the tests after it would all fail. That is reported and counted.
pub fn run<V: Verdict>(platform: Platform, test: &str, body: impl Fn(&Target) -> V) {
    let mut server = platform.to_string();
    let used = Cell::new(None);
    let mut attempt = || {
        catch_unwind(AssertUnwindSafe(|| {
            room::check();
            let target = platform.target()?;
            server = target.to_string();
            if let Target::Wire(server) = &target {
                used.set(Some(*server));
            }
            body(&target).assert()
        }))
    };
    let mut verdict = attempt();
    if verdict.is_err()
        && let Some(broken) = used.get()
        && let Some(autopsy) = server::replace(broken)
    {
        let text = format!("AGAIN {test}: {} has stopped working\n{autopsy}\n", platform.name());
        let _ = std::io::stderr().write_all(text.as_bytes());
        let entry =
            Entry { test, target: &platform.name(), server: &platform.to_string(), outcome: Outcome::Again };
        report::append(&entry);
        verdict = attempt();
    }
    let outcome = match &verdict {
        Ok(Ok(())) => Outcome::Ran,
        Ok(Err(skip)) => {
            // Not eprintln!: libtest would hide it, since the test passes. In one piece, since tests run in parallel.
            let _ = std::io::stderr().write_all(format!("SKIP {test} on {skip}\n").as_bytes());
            Outcome::Skipped { reason: &skip.reason }
        }
        Err(_) => Outcome::Failed,
    };
    report::append(&Entry { test, target: &platform.name(), server: &server, outcome });
    if let Err(panic) = verdict {
        resume_unwind(panic);
    }
}

/// The folder for databases of embedded engines.
fn scratch() -> &'static Path {
    static SCRATCH: OnceLock<Folder> = OnceLock::new();
    SCRATCH.get_or_init(|| Folder::new("embedded").expect("the temporary folder is writable")).path()
}
