//! The driver as applications see it: through its C functions, without a driver manager.

mod buffers;
mod calls;
mod counts;
mod described;
mod exotic;
mod get_data;
mod memory;
mod odbc;
mod parameter;
mod parameter_arrays;
mod parameter_bindings;
mod parameter_failures;
mod parameter_properties;
mod parameter_texts;
mod parameter_values;
mod put_data;
mod rowsets;
mod scrolling;
mod smoke;
mod sql_text;
mod streaming;
mod support;
mod types;

// Its functions are called by their names.
use firearrowodbc as _;
