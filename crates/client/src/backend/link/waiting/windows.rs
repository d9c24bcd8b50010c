//! Sockets that do not block, and are polled.
//!
//! Windows has time limits, too (`SO_RCVTIMEO`), but a call that they end may take bytes along with it: after one, "the socket state is
//! indeterminate" (documentation of `setsockopt`, "SOL_SOCKET Socket Options").

use crate::backend::link::GLANCE;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

/// Makes the calls of a new socket end after a glance.
pub(in crate::backend::link) fn end_after_a_glance(stream: &TcpStream) -> io::Result<()> {
    stream.set_nonblocking(true)
}

/// Makes them wait for as long as it takes.
pub(in crate::backend::link) fn block(stream: &TcpStream) -> io::Result<()> {
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

/// Calls at once, since most answers are there already; otherwise once the socket is ready or a glance has passed.
fn once_ready(
    stream: &TcpStream,
    direction: PollFlags,
    mut call: impl FnMut() -> io::Result<usize>,
) -> io::Result<usize> {
    match call() {
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        done => return done,
    }
    let limit = Timespec::try_from(GLANCE).map_err(io::Error::other)?;
    let ready = poll(&mut [PollFd::new(stream, direction)], Some(&limit))?;
    call().map_err(|error| {
        if error.kind() != ErrorKind::WouldBlock {
            return error;
        }
        if ready > 0 {
            // A peer that has closed its half makes every poll return at once.
            thread::sleep(MOMENT);
        }
        ErrorKind::Interrupted.into()
    })
}

/// Keeps a caller that tries again from using a whole processor.
const MOMENT: Duration = Duration::from_millis(1);
