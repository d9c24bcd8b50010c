//! Folders of Parquet files: what `copy` writes and `load` reads.
//!
//! ```text
//!  sales/_firearrow.json                    manifest: what is copied, and which files are whole
//!  sales/COUNTRY=DE/part-00000.parquet      hive: a folder for each value; place: the rows of one part
//!  sales/COUNTRY=DE/part-00000_001.parquet  more of the same part
//!  sales/_SUCCESS                           complete
//! ```
//!
//! Programs that read such folders skip names that begin with `_` or a dot.

pub(crate) mod check;
pub(crate) mod hive;
pub(crate) mod manifest;
pub(crate) mod place;
pub(crate) mod scan;

pub(crate) use manifest::Manifest;

/// The file that says what a folder has.
pub(crate) const MANIFEST: &str = "_firearrow.json";
/// The file that is there while a copy writes the folder, where folders cannot be locked (Windows).
pub(crate) const LOCK: &str = "_firearrow.lock";
/// The empty file of a complete folder, as Spark writes it.
pub(crate) const SUCCESS: &str = "_SUCCESS";
