//! What differs between systems, under the same names.
//!
//! | module | what it does |
//! |---|---|
//! | `names` | names of libraries and plugins, and of the places where they are installed |
//! | `image` | tells what is wrong with a library file before the loader maps it |
//! | `loader` | opens shared libraries and explains why one does not open |
//! | `access` | who may change a file or folder |
//! | `folders` | locks and temporary files |
//! | `root` | the folder from which the library reads its files, and its configuration |
//! | `handlers` | what the library takes from the process: signal handlers, descriptors, permissions |

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;
