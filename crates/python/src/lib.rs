//! `firearrow._core`: what the Python package is built on.
//!
//! ```text
//!  firearrow/*.py: PEP 249, documentation, types
//!        │
//!        ▼
//!  Connection ─► Transaction ─► Cursor ─► rows: tuples, straight from the columns
//!        │                         └────► arrow: batches, through the C data interface
//!        └─ config, error, params: from Python's terms to the client's, and back
//! ```
//!
//! Every call that may wait lets other Python threads run meanwhile. The names here are the package's own business:
//! users see the classes that are written in Python.
#![deny(unsafe_code)]
// Python's documentation is in the Python files.
#![allow(missing_docs)]

mod aio;
mod api;
mod batches;
mod blob;
mod capsule;
mod catalog;
mod codec;
mod config;
mod connection;
mod cursor;
mod dependent;
mod describe;
mod error;
mod event;
mod facts;
mod failure;
mod flow;
mod info;
mod interpreter;
mod lock;
mod options;
mod params;
mod partition;
mod process;
mod rows;
mod signal;
mod transaction;
mod values;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    interpreter::check(module.py())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<connection::Connection>()?;
    module.add_class::<transaction::Transaction>()?;
    module.add_class::<cursor::Cursor>()?;
    module.add_class::<cursor::JsonStream>()?;
    module.add_class::<blob::BlobReader>()?;
    module.add_class::<blob::BlobWriter>()?;
    module.add_class::<event::Events>()?;
    module.add_class::<partition::Partitions>()?;
    module.add_class::<aio::Connection>()?;
    module.add_class::<aio::Transaction>()?;
    module.add_class::<aio::Cursor>()?;
    module.add_class::<aio::Prepared>()?;
    module.add_class::<aio::Many>()?;
    module.add_class::<aio::Ingestion>()?;
    module.add_class::<aio::JsonStream>()?;
    module.add_class::<aio::BlobReader>()?;
    module.add_class::<aio::BlobWriter>()?;
    module.add_class::<aio::Events>()?;
    module.add_class::<aio::Partitions>()?;
    module.add_class::<aio::Part>()?;
    module.add_class::<batches::Batches>()?;
    module.add_class::<describe::Columns>()?;
    module.add_class::<aio::Operation>()?;
    module.add_class::<aio::Bridge>()?;
    module.add_class::<codec::Decoder>()?;
    module.add_function(wrap_pyfunction!(config::check_options, module)?)?;
    module.add_function(wrap_pyfunction!(config::is_on_server, module)?)?;
    module.add_function(wrap_pyfunction!(error::advice_for_sql, module)?)?;
    Ok(())
}
