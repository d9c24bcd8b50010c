//! Parameters from buffers as applications lay them out.

mod buffers;
mod conversions;
mod layouts;
mod lengths;
mod put_data;
mod server;
mod structures;
mod support;
