//! What goes around the generated C functions, which keep the handles and streams that the driver makes to themselves: the
//! function that calls them waits for it in the same thread.

use arrow::array::{RecordBatchIterator, RecordBatchReader};
use firearrow_driver::{Latest, Stream};
use std::cell::RefCell;
use std::sync::Arc;
use std::thread::LocalKey;

/// A stream, and how many rows its statement changed. The generated functions know neither that nor how a stream tells its
/// errors: they get an empty reader.
pub(crate) struct Handed {
    pub(crate) stream: Stream,
    pub(crate) affected: Option<i64>,
}

/// Where something is waited for; `None`: nobody waits. Calls may nest: rows of parameters may come from another stream.
type Place<T> = RefCell<Option<Option<T>>>;

thread_local! {
    static STREAM: Place<Handed> = const { RefCell::new(None) };
    static STATEMENT: Place<Arc<Latest>> = const { RefCell::new(None) };
    static ROWS: RefCell<Option<Box<dyn RecordBatchReader + Send>>> = const { RefCell::new(None) };
}

fn wait<T, R>(place: &'static LocalKey<Place<T>>, call: impl FnOnce() -> R) -> (R, Option<T>) {
    let outer = place.with(|waiting| waiting.replace(Some(None)));
    let result = call();
    let handed = place.with(|waiting| waiting.replace(outer));
    (result, handed.flatten())
}

/// Runs `call` and takes the stream that it makes.
pub(crate) fn receive<T>(call: impl FnOnce() -> T) -> (T, Option<Handed>) {
    wait(&STREAM, call)
}

/// Gives a stream to whoever waits for it in this thread, or else back.
pub(crate) fn give(stream: Stream, affected: Option<i64>) -> Box<dyn RecordBatchReader + Send> {
    STREAM.with(|waiting| match &mut *waiting.borrow_mut() {
        Some(place) => {
            let nothing = RecordBatchIterator::new(Vec::new(), stream.schema());
            *place = Some(Handed { stream, affected });
            Box::new(nothing) as _
        }
        None => Box::new(stream) as _,
    })
}

/// Runs `call` and takes what the statement that it makes can be watched by.
pub(crate) fn receive_statement<T>(call: impl FnOnce() -> T) -> (T, Option<Arc<Latest>>) {
    wait(&STATEMENT, call)
}

/// A statement has been made.
pub(crate) fn announce(statement: &Arc<Latest>) {
    STATEMENT.with(|waiting| {
        if let Some(place) = &mut *waiting.borrow_mut() {
            *place = Some(Arc::clone(statement));
        }
    });
}

/// Runs `call`, in which [`lent`] gets these rows of parameters. If nobody asks for them they are dropped.
pub(crate) fn lend<T>(rows: Box<dyn RecordBatchReader + Send>, call: impl FnOnce() -> T) -> T {
    ROWS.set(Some(rows));
    let result = call();
    drop(ROWS.take());
    result
}

/// The rows that wait in this thread, or else what came through the generated function.
pub(crate) fn lent(other: Box<dyn RecordBatchReader + Send>) -> Box<dyn RecordBatchReader + Send> {
    ROWS.take().unwrap_or(other)
}
