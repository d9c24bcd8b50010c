//! Real clients: each runs as a program of its own, through unixODBC, with the library that cargo has just built.
//!
//! ```text
//!  test ─► Sandbox: database, odbcinst.ini, odbc.ini ─► client ─► unixODBC ─► libfirearrowodbc.so
//!    └───────────────────── reads back with firearrow ◄─ database ◄──────────────────┘
//! ```
//!
//! A client is a script in `scripts` that checks what it sees and ends with `ok`. One that is not installed here is a
//! named skip; `make setup` installs them, except turbodbc, which has to be compiled. `FIREARROW_TEST_PYTHON` names
//! another Python than that of the repository's `.venv-python`.

// They are programs of Linux.
#![cfg(unix)]

mod arrow_odbc;
mod fixture;
mod isql;
mod libreoffice;
mod mono;
mod odbc_api;
mod perl;
mod php;
mod processes;
mod pyodbc;
mod r;
mod sandbox;
mod turbodbc;
