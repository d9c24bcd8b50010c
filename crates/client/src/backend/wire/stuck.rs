//! Servers that stop reading, or nearly do.

use super::in_step::attach_over;
use crate::backend::Backend;
use crate::backend::link::tcp::TcpLink;
use crate::backend::link::{GLANCE, Link};
use crate::cancel::Operation;
use crate::config::AddressFamily;
use crate::error::Kind;
use crate::session::ready;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_millis(300);

/// A link whose peer takes only so many bytes every few milliseconds.
struct Stuck {
    link: TcpLink,
    most: Arc<AtomicUsize>,
}

impl Link for Stuck {
    async fn connect(_: &str, _: u16, _: AddressFamily, _: Instant) -> io::Result<Self> {
        Err(ErrorKind::Unsupported.into())
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.link.peer()
    }

    async fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.link.read(buffer).await
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.most.load(Ordering::Relaxed) {
            usize::MAX => self.link.write(bytes).await,
            0 => {
                thread::sleep(GLANCE);
                Err(ErrorKind::Interrupted.into())
            }
            most => {
                thread::sleep(Duration::from_millis(5));
                self.link.write(&bytes[..most.min(bytes.len())]).await
            }
        }
    }

    fn is_dead(&mut self) -> bool {
        self.link.is_dead()
    }

    fn shut_down(&mut self) {
        self.link.shut_down();
    }

    async fn pause(time: Duration) {
        TcpLink::pause(time).await;
    }

    async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        TcpLink::aside(work).await
    }
}

firearrow_testkit::matrix!(
    wire,
    fn a_server_that_stops_reading_is_not_waited_for(target: &firearrow_testkit::Target) {
        for most in [0, 1] {
            for is_cancelled in [false, true] {
                let mut bytes = Arc::default();
                let over = |link| {
                    let most = Arc::new(AtomicUsize::new(usize::MAX));
                    bytes = Arc::clone(&most);
                    Stuck { link, most }
                };
                let limit = (!is_cancelled).then_some(LIMIT);
                let session = &mut attach_over(&target.fresh_url(), over, limit);
                let transaction = ready(session.begin(&Default::default())).expect("it starts");
                bytes.store(most, Ordering::Relaxed);
                let operation = Operation::new();
                session.backend.begin_call(&operation);
                let cancelling = thread::spawn(move || {
                    thread::sleep(LIMIT);
                    if is_cancelled {
                        operation.cancel();
                    }
                });
                let begin = Instant::now();
                let sql = format!("SELECT 1 FROM RDB$DATABASE /* {} */", "x".repeat(50_000));
                let error = ready(session.prepare(Some(transaction), sql.as_str().into()));
                let error = error.expect_err("the request does not leave");
                let kind = if is_cancelled { Kind::Cancelled } else { Kind::Timeout };
                assert_eq!(error.kind(), kind, "{error}");
                assert!((LIMIT..Duration::from_secs(5)).contains(&begin.elapsed()), "{:?}", begin.elapsed());
                assert!(session.backend.is_failed());
                cancelling.join().expect("it ends");
            }
        }
    }
);
