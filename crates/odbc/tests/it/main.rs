//! The driver as applications see it: through its C functions, without a driver manager.

mod odbc;
mod smoke;
mod support;

// Its functions are called by their names.
use firearrowodbc as _;
