//! Scripts for Python.

/// The arguments with which Python runs a script; more may follow. `python -c` alone looks for modules in the current
/// folder first: whoever can write there would run code, and read the password that scripts are given.
#[must_use]
pub fn script(text: &str) -> [&str; 3] {
    ["-c", "import sys; sys.path[:] = filter(None, sys.path); exec(sys.argv.pop(1))", text]
}
