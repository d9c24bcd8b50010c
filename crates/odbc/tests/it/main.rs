//! The driver as applications see it: through its C functions, without a driver manager.

mod arrays;
mod blob_costs;
mod blobs;
mod buffers;
mod counts;
mod described;
mod exotic;
mod get_data;
mod memory;
mod odbc;
mod options;
mod rowsets;
mod scrolling;
mod smoke;
mod streaming;
mod support;
mod types;

// Its functions are called by their names.
use firearrowodbc as _;
