//! The embedded engines of this machine, and which databases each can open.

use crate::error::Error;
use firearrow_fbapi::{Runtime, RuntimeKind};
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
}

impl Engine {
    fn of(runtime: Runtime) -> Self {
        let installed_as = match runtime.kind {
            RuntimeKind::Wheel => "Python package",
            RuntimeKind::Install => "archive",
            RuntimeKind::Distribution => "system package",
        };
        Self { library: runtime.library, major: runtime.generation, installed_as }
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

/// Returns the embedded engines of this machine in the order in which they are looked for. Local databases are opened with
/// the first, unless the option `client_library` names another one.
pub fn engines() -> Vec<Engine> {
    Runtime::all().into_iter().map(Engine::of).collect()
}

/// Adds what to do about it, if the error is that of an engine that cannot open the database's on-disk structure.
pub(crate) fn explained(error: Error, used: &Runtime) -> Error {
    match error.status().and_then(found_ods) {
        Some(found) => error.context(remedy(found, &Engine::of(used.clone()), &engines())),
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

fn remedy((major, minor): (i32, i32), used: &Engine, all: &[Engine]) -> String {
    let firebird = match (major, minor) {
        (11, _) => "Firebird 2",
        (12, _) => "Firebird 3.0",
        (13, 0) => "Firebird 4.0",
        (13, 1) => "Firebird 5.0",
        _ => "another release",
    };
    let name = |engine: &Engine| match engine.major {
        Some(major) => format!("the engine of Firebird {major}.0 ({})", engine.library.display()),
        None => engine.library.display().to_string(),
    };
    let suitable = all.iter().find(|engine| engine.opens(major, minor));
    let then = match suitable {
        Some(engine) => format!("set FIREARROW_ENGINE={}", engine.library.display()),
        None => format!(
            "no engine of this machine does: install that of {firebird} (pip install firebird-embedded has 3.0, 4.0 and 5.0), or make a copy with its gbak and restore it with \
             a gbak of this engine's release"
        ),
    };
    format!(
        "this database has the on-disk structure {major}.{minor} of {firebird}, which {} does not open; {then}",
        name(used)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(major: u8) -> Engine {
        let library = format!("/opt/firebird{major}/lib/libfbclient.so.2").into();
        Engine { library, major: Some(major), installed_as: "archive" }
    }

    #[test]
    fn an_engine_that_would_do_is_named() {
        let text = remedy((13, 1), &engine(3), &[engine(3), engine(4), engine(5)]);
        assert_eq!(
            text,
            "this database has the on-disk structure 13.1 of Firebird 5.0, which the engine of Firebird 3.0 \
             (/opt/firebird3/lib/libfbclient.so.2) does not open; set FIREARROW_ENGINE=/opt/firebird5/lib/libfbclient.so.2"
        );
        let text = remedy((12, 2), &engine(5), &[engine(5)]);
        assert!(text.contains("no engine of this machine does"), "{text}");
    }
}
