//! The command as its users see it, on every Firebird that is installed here: exit status, output, files.
// They use terminals, signals, links and modes of files.
#![cfg(unix)]

mod adbc;
mod bench;
mod bench_adbc;
mod bench_all;
mod bench_blob;
mod bench_driver;
mod bench_odbc;
mod bench_page;
mod bench_report;
mod bench_wire;
mod command;
mod copy;
mod copy_folder;
mod create;
mod ddl;
mod demo;
mod engines;
mod events;
mod handover;
mod interrupt;
mod limbo;
mod load;
mod load_files;
mod load_folder;
mod odbc;
mod oltp;
mod profile;
mod query;
mod readers;
mod script;
mod shell;
mod tables;
mod terminal;
mod usage;
mod wan;
mod wire;
