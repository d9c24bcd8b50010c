//! The driver as applications see it: through its C functions, without a driver manager.

mod calls;
mod odbc;
mod parameter;
mod parameter_arrays;
mod parameter_bindings;
mod parameter_failures;
mod parameter_properties;
mod parameter_texts;
mod parameter_values;
mod put_data;
mod smoke;
mod sql_text;
mod support;

// Its functions are called by their names.
use firearrowodbc as _;
