//! The kernel's own time limits. A call that they end has taken no bytes.

use crate::backend::link::GLANCE;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// Makes the calls of a new socket end after a glance.
pub(in crate::backend::link) fn end_after_a_glance(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(GLANCE))?;
    stream.set_write_timeout(Some(GLANCE))
}

/// Makes them wait for as long as it takes.
pub(in crate::backend::link) fn block(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(None)?;
    stream.set_write_timeout(None)
}

pub(in crate::backend::link) fn read(mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    stream.read(buffer).map_err(nothing_moved)
}

pub(in crate::backend::link) fn write(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    stream.write(bytes).map_err(nothing_moved)
}

/// Looks at the next byte without waiting for it.
pub(in crate::backend::link) fn peek(stream: &TcpStream) -> io::Result<usize> {
    let looked = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    // A non-blocking socket would make reads spin.
    stream.set_nonblocking(false)?;
    looked
}

/// The kernel reports "would block" when a socket's time limit expires.
fn nothing_moved(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => ErrorKind::Interrupted.into(),
        _ => error,
    }
}
