//! The sockets that an event loop watches, through one descriptor, whatever their number.

use crate::lock::plain;
use crate::process;
use firearrow::asynchronous::{Reactor, Readiness};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use std::collections::HashMap;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const BELL: Token = Token(0);
/// How many events it takes at a time.
const EVENTS: usize = 64;

pub(super) struct Sockets {
    poll: Mutex<(Poll, Events)>,
    fd: RawFd,
    /// Wakes the loop.
    bell: Waker,
    known: Arc<Known>,
}

struct Known {
    /// The process that made it: a forked child must not change what its parent watches.
    owner: u32,
    registry: Registry,
    sockets: Mutex<(usize, HashMap<Token, Arc<Readiness>>)>,
}

impl Sockets {
    pub(super) fn new() -> io::Result<Self> {
        let poll = Poll::new()?;
        let fd = poll.as_raw_fd();
        let bell = Waker::new(poll.registry(), BELL)?;
        let registry = poll.registry().try_clone()?;
        let known = Known { owner: process::id(), registry, sockets: Mutex::new((BELL.0, HashMap::new())) };
        Ok(Self { poll: Mutex::new((poll, Events::with_capacity(EVENTS))), fd, bell, known: Arc::new(known) })
    }

    pub(super) fn fd(&self) -> RawFd {
        self.fd
    }

    pub(super) fn ring(&self) {
        // It can only fail if the descriptor is closed, and then nobody listens.
        drop(self.bell.wake());
    }

    /// Wakes those whose sockets have something. Does not wait.
    pub(super) fn look(&self) {
        let mut poll = plain(&self.poll);
        let (poll, events) = &mut *poll;
        if poll.poll(events, Some(Duration::ZERO)).is_err() {
            return;
        }
        for event in events.iter().filter(|event| event.token() != BELL) {
            let readiness = plain(&self.known.sockets).1.get(&event.token()).cloned();
            if let Some(readiness) = readiness {
                let is_broken = event.is_error();
                readiness.notify(
                    (event.is_readable(), event.is_read_closed() || is_broken),
                    (event.is_writable(), event.is_write_closed() || is_broken),
                );
            }
        }
    }
}

impl Reactor for Sockets {
    fn watch(&self, socket: &TcpStream, readiness: Arc<Readiness>) -> io::Result<Box<dyn Send + Sync>> {
        let token = {
            let mut sockets = plain(&self.known.sockets);
            sockets.0 += 1;
            Token(sockets.0)
        };
        let fd = socket.as_raw_fd();
        plain(&self.known.sockets).1.insert(token, readiness);
        let watch = Watch { known: Arc::clone(&self.known), token, fd };
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.known.registry.register(&mut SourceFd(&fd), token, interest)?;
        Ok(Box::new(watch))
    }
}

/// A socket that is watched.
struct Watch {
    known: Arc<Known>,
    token: Token,
    fd: RawFd,
}

impl Drop for Watch {
    fn drop(&mut self) {
        plain(&self.known.sockets).1.remove(&self.token);
        if self.known.owner == process::id() {
            // It may not have been registered.
            drop(self.known.registry.deregister(&mut SourceFd(&self.fd)));
        }
    }
}
