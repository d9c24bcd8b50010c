//! The catalog functions against real servers and the embedded engine.

mod argument;
mod columns;
mod foreign_keys;
mod headings;
mod names;
mod privileges;
mod procedure_columns;
mod procedures;
mod special_columns;
mod statistics;
mod support;
mod tables;
