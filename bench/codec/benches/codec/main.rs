//! The cost of the codec, without sockets: `make bench-codec`.
//!
//! Every benchmark counts items: values, rows, packets or bytes, as its name says. Every benchmark checks what it has decoded or
//! encoded: all values before it is timed, and the number of rows each time.

mod calibration;
mod decode;
mod encode;
mod packets;
mod transforms;

fn main() {
    divan::main();
}
