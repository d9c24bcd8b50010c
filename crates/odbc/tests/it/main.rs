//! The driver as applications see it: through its C functions, without a driver manager.

mod altered;
mod arrays;

mod blobs;
mod buffers;
mod bulk_operations;
mod calls;
mod cancelling;
#[cfg(windows)]
mod code_pages;
mod connecting;
mod connection_attributes;
mod costs;
mod counts;
mod cursor_names;
mod described;
mod descriptors;
mod diagnostics;
mod exotic;
mod fuzz;
mod get_data;
mod handles;
mod information;
#[cfg(windows)]
mod library;
mod lost_connections;
mod memory;
mod odbc;
mod options;
mod parameter;
mod parameter_arrays;
mod parameter_bindings;
mod parameter_failures;
mod parameter_properties;
mod parameter_texts;
mod parameter_values;
mod positioned;
mod positioned_rows;
mod positioned_statements;
mod positioned_types;
mod put_data;
mod random;
mod rowsets;
mod scrolling;
mod smoke;
mod sql_text;
mod statement_attributes;
mod states;
mod streaming;
mod support;
mod threads;
mod transactions;
mod types;

// Its functions are called by their names.
use firearrow_odbc as _;
