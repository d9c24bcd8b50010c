//! The console.

/// How the console treats input and output. The line editor sets its modes for each line only, so there is nothing to keep.
#[derive(Debug)]
pub(crate) struct Attributes;

impl Attributes {
    /// Nothing.
    pub(crate) fn current() -> Option<Self> {
        None
    }

    /// Does nothing.
    pub(crate) fn restore(&self) {}
}
