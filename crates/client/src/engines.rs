//! The embedded engines of this machine, and which databases each can open.

use crate::error::Error;
use firearrow_fbapi::{Runtime, RuntimeHint, RuntimeKind};
use firearrow_proto::api::gds;
use firearrow_proto::api::status::{StatusArg, StatusVector};
use std::path::PathBuf;

/// An embedded engine that was found on this machine. It has not been loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Engine {
    /// The client library through which it is used.
    pub library: PathBuf,
    /// Firebird's major version, guessed from the names of its files.
    pub major: Option<u8>,
    /// How it was installed: `"Python package"`, `"archive"` or `"system package"`.
    pub installed_as: &'static str,
    /// Whether local databases are opened with it, unless an option names another one.
    pub is_default: bool,
}

impl Engine {
    fn of(runtime: Runtime) -> Self {
        let installed_as = match runtime.kind {
            RuntimeKind::Wheel => "Python package",
            RuntimeKind::Install => "archive",
            RuntimeKind::Distribution => "system package",
        };
        Self { library: runtime.library, major: runtime.generation, installed_as, is_default: false }
    }

    /// The on-disk structures (ODS) that it opens, in words; `None` if its version is not known.
    pub fn ods(&self) -> Option<&'static str> {
        match self.major? {
            3 => Some("12"),
            4 => Some("13.0"),
            5 => Some("13.0 and 13.1"),
            _ => None,
        }
    }

    fn opens(&self, major: i32, minor: i32) -> bool {
        match self.major {
            Some(3) => major == 12,
            Some(4) => (major, minor) == (13, 0),
            Some(5) => major == 13 && minor <= 1,
            _ => false,
        }
    }
}

/// Returns the embedded engines of this machine, in search order.
pub fn engines() -> Vec<Engine> {
    let default = Runtime::discover(&RuntimeHint::default()).ok();
    let is_default =
        |runtime: &Runtime| default.as_ref().is_some_and(|default| default.library == runtime.library);
    let with_engine = Runtime::all().into_iter().filter(Runtime::has_engine);
    with_engine.map(|runtime| Engine { is_default: is_default(&runtime), ..Engine::of(runtime) }).collect()
}

/// Adds what to do about it, if the error is that of an engine that cannot open the database's on-disk structure. `is_option`:
/// the option `client_library` has chosen the engine.
pub(crate) fn explained(error: Error, used: &Runtime, is_option: bool) -> Error {
    let choice = if is_option { "the option client_library to " } else { "FIREARROW_ENGINE=" };
    match error.status().and_then(found_ods) {
        Some(found) => error.context(remedy(found, &Engine::of(used.clone()), &engines(), choice)),
        None => error,
    }
}

/// The on-disk structure of the database: the first two numbers that come with `isc_wrong_ods`.
fn found_ods(status: &StatusVector) -> Option<(i32, i32)> {
    let arguments = status.0.iter().skip_while(|arg| !matches!(arg, StatusArg::Gds(gds::ISC_WRONG_ODS)));
    let mut numbers = arguments.filter_map(|arg| match arg {
        StatusArg::Number(number) => Some(*number),
        _ => None,
    });
    Some((numbers.next()?, numbers.next()?))
}

fn remedy((major, minor): (i32, i32), used: &Engine, all: &[Engine], choice: &str) -> String {
    let release = match (major, minor) {
        (12, _) => Some("3.0"),
        (13, 0) => Some("4.0"),
        (13, 1) => Some("5.0"),
        _ => None,
    };
    let of = release.map(|release| format!(" of Firebird {release}")).unwrap_or_default();
    let library = used.library.display();
    let engine = match used.major {
        Some(major) => format!("the engine of Firebird {major}.0 ({library})"),
        None => library.to_string(),
    };
    let then = match (all.iter().find(|engine| engine.opens(major, minor)), release) {
        (Some(engine), _) => format!("set {choice}{}", engine.library.display()),
        (None, Some(release)) => format!(
            "no engine on this machine can: install one of Firebird {release} (pip install 'firebird-embedded=={release}.*'), or back the \
             database up with that release's gbak and restore it with this engine's"
        ),
        (None, None) => {
            "back it up with the gbak of its own release and restore it with this engine's".to_owned()
        }
    };
    format!(
        "this database has the on-disk structure {major}.{minor}{of}, which {engine} does not open; {then}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(major: u8) -> Engine {
        let library = format!("/opt/firebird{major}/lib/libfbclient.so.2").into();
        Engine { library, major: Some(major), installed_as: "archive", is_default: false }
    }

    #[test]
    fn an_engine_that_would_do_is_named() {
        let text = remedy((13, 1), &engine(3), &[engine(3), engine(4), engine(5)], "FIREARROW_ENGINE=");
        assert_eq!(
            text,
            "this database has the on-disk structure 13.1 of Firebird 5.0, which the engine of Firebird 3.0 \
             (/opt/firebird3/lib/libfbclient.so.2) does not open; set FIREARROW_ENGINE=/opt/firebird5/lib/libfbclient.so.2"
        );
        let text = remedy((12, 2), &engine(5), &[engine(5)], "");
        let start = "; no engine on this machine can: install one of Firebird 3.0 (pip install 'firebird-embedded==3.0.*')";
        assert!(text.contains(start), "{text}");
        let text = remedy((11, 2), &engine(5), &[engine(5)], "");
        assert!(
            text.ends_with("; back it up with the gbak of its own release and restore it with this engine's"),
            "{text}"
        );
    }
}
