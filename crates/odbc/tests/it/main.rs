//! The driver as applications see it: through its C functions, without a driver manager.

mod buffers;
mod described;
mod exotic;
mod get_data;
mod odbc;
mod rowsets;
mod scrolling;
mod smoke;
mod support;
mod types;

// Its functions are called by their names.
use firearrowodbc as _;
