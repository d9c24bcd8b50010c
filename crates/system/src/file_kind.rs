//! What a file is to the loader.

/// What a file is to the loader of this system, or of the system that its format belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A library that programs like this one can load.
    Library,
    /// A library for 32-bit programs.
    Library32,
    /// A library for another processor.
    Foreign,
    /// A program, or what else the loader knows and does not load as a library.
    Program,
    /// None of these.
    Other,
}
