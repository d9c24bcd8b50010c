//! The driver as applications see it: through its C functions, without a driver manager.

mod cancelling;
mod connecting;
mod connection_attributes;
mod cursor_names;
mod descriptors;
mod diagnostics;
mod fuzz;
mod handles;
mod information;
mod lost_connections;
mod odbc;
mod random;
mod smoke;
mod statement_attributes;
mod states;
mod support;
mod threads;
mod transactions;

// Its functions are called by their names.
use firearrowodbc as _;
