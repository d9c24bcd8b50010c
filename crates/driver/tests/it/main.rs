//! The driver as front ends use it, against real servers and the embedded engine. What applications see of it is tested
//! through the front ends.

mod blobs;
mod execution;
mod foreign_sql;
mod ingestion;
mod kept;
mod metadata;
mod parameter_rows;
mod session;
mod support;
