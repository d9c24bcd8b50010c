//! What several crates ask the operating system for, under the same names on each system: its shell, the end of a
//! process with its children, the file that contains this code. What only one crate needs is in that crate's `platform`.
//!
//! [`library`] says whether a file can be loaded; [`elf`] and [`pe`] read the formats, on any system.
#![deny(unsafe_code)]

pub mod elf;
pub mod library;
pub mod pe;

pub use library::FileKind;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::{kill_family, own_family, own_file, shell};

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::{
    file_of_loaded, kill_family, kill_tree, own_family, own_file, program, replace_file, shell,
};
