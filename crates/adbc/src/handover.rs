//! Passes handles and streams around the generated C functions, which keep those that the driver makes to themselves:
//! the caller of a generated function receives them on the same thread.

use arrow::array::{RecordBatchIterator, RecordBatchReader};
use firearrow_driver::{Latest, Stream};
use std::cell::RefCell;
use std::sync::Arc;
use std::thread::LocalKey;

/// A stream, and how many rows its statement changed. The generated functions can carry neither this number nor the
/// errors of a stream, so they get an empty reader.
pub(crate) struct Handed {
    pub(crate) stream: Stream,
    pub(crate) affected: Option<i64>,
}

/// A value being waited for; `None` if nobody waits. Calls may nest: parameter rows may come from another stream.
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

/// Gives a stream to the waiting caller on this thread; returns it if nobody waits.
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

/// Runs `call` and takes the counters of the statement that it makes.
pub(crate) fn receive_statement<T>(call: impl FnOnce() -> T) -> (T, Option<Arc<Latest>>) {
    wait(&STATEMENT, call)
}

/// Announces a new statement.
pub(crate) fn announce(statement: &Arc<Latest>) {
    STATEMENT.with(|waiting| {
        if let Some(place) = &mut *waiting.borrow_mut() {
            *place = Some(Arc::clone(statement));
        }
    });
}

/// Runs `call`, in which [`lent`] returns these parameter rows. Drops the rows if `lent` is not called.
pub(crate) fn lend<T>(rows: Box<dyn RecordBatchReader + Send>, call: impl FnOnce() -> T) -> T {
    ROWS.set(Some(rows));
    let result = call();
    drop(ROWS.take());
    result
}

/// Returns the rows lent on this thread, or `other`, which came through the generated function.
pub(crate) fn lent(other: Box<dyn RecordBatchReader + Send>) -> Box<dyn RecordBatchReader + Send> {
    ROWS.take().unwrap_or(other)
}
