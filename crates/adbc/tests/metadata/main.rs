//! Metadata of real databases, read back after they were filled.

mod columns;
mod facts;
mod objects;
mod statistics;
mod support;
mod table_schema;
