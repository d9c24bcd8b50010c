//! The command as its users see it, on every Firebird that is installed here: exit status, output, files.

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
mod ddl;
mod demo;
mod events;
mod interrupt;
mod odbc;
mod oltp;
mod query;
mod readers;
mod tables;
mod terminal;
mod usage;
mod wan;
mod wire;
