//! `firearrow --version --verbose`: what the command was built from, and for what.

use std::ffi::OsStr;

/// Whether the command line asks for more than the version's number. clap stops at `--version`, and tells nothing of the rest.
pub(crate) fn is_wanted(mut arguments: impl Iterator<Item: AsRef<OsStr>>) -> bool {
    arguments.any(|argument| ["--verbose", "-v", "-vV", "-Vv"].iter().any(|name| argument.as_ref() == *name))
}

/// Returns the facts, one a line.
pub(crate) fn text() -> String {
    let engine = if cfg!(feature = "embedded") { "embedded engine, wire" } else { "wire only" };
    format!(
        "firearrow {}\ntarget: {}\nfeatures: {engine}\ncommit: {}\ncommit time: {}\nrustc: {}\n",
        env!("CARGO_PKG_VERSION"),
        env!("FIREARROW_BUILD_TARGET"),
        env!("FIREARROW_BUILD_COMMIT"),
        env!("FIREARROW_BUILD_COMMIT_TIME"),
        env!("FIREARROW_BUILD_RUSTC"),
    )
}

#[cfg(test)]
mod tests {
    use super::is_wanted;

    #[test]
    fn more_is_asked_for_in_several_ways() {
        for arguments in [&["--version", "--verbose"][..], &["-v", "-V"], &["-Vv"]] {
            assert!(is_wanted(arguments.iter()), "{arguments:?}");
        }
        assert!(!is_wanted(["firearrow", "--version"].iter()));
    }
}
