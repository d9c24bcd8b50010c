//! Sockets that do not block, and are polled.
//!
//! Windows has time limits, too (`SO_RCVTIMEO`), but a call that they end may take bytes along with it: after one, "the socket state is
//! indeterminate" (documentation of `setsockopt`, "SOL_SOCKET Socket Options").

use crate::backend::link::GLANCE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;

/// Makes the calls of a new socket end after a glance.
pub(in crate::backend::link) fn wait_for_a_glance(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(true)
}

/// Makes them wait for as long as it takes.
pub(in crate::backend::link) fn wait_forever(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(false)
}

pub(in crate::backend::link) fn read(mut stream: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    once_ready(stream, PollFlags::IN, || stream.read(buffer))
}

pub(in crate::backend::link) fn write(mut stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    once_ready(stream, PollFlags::OUT, || stream.write(bytes))
}

/// Looks at the next byte without waiting for it.
pub(in crate::backend::link) fn peek(stream: &TcpStream) -> io::Result<usize> {
    stream.peek(&mut [0])
}

/// Calls at once, for most answers have come already, and otherwise when the socket is ready or a glance has passed.
fn once_ready(
    stream: &TcpStream,
    direction: PollFlags,
    mut call: impl FnMut() -> io::Result<usize>,
) -> io::Result<usize> {
    let is_early =
        |result: &io::Result<usize>| matches!(result, Err(error) if error.kind() == ErrorKind::WouldBlock);
    let mut result = call();
    if is_early(&result) {
        let limit = Timespec::try_from(GLANCE).map_err(io::Error::other)?;
        poll(&mut [PollFd::new(stream, direction)], Some(&limit))?;
        result = call();
    }
    if is_early(&result) { Err(ErrorKind::Interrupted.into()) } else { result }
}
