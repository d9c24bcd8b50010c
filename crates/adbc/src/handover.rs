//! The way of a stream around the generated C functions, which know neither the number of affected rows nor how a stream
//! tells its errors: they get an empty reader, and the stream itself is taken by the function that called them.

use crate::reader::Stream;
use arrow::array::{RecordBatchIterator, RecordBatchReader};
use std::cell::RefCell;

/// A stream, and how many rows its statement changed.
pub(crate) struct Handed {
    pub(crate) stream: Stream,
    pub(crate) affected: Option<i64>,
}

thread_local! {
    /// `None`: nobody waits for a stream. Calls may nest: rows of parameters may come from another stream.
    static WAITING: RefCell<Option<Option<Handed>>> = const { RefCell::new(None) };
}

/// Runs `call` and takes the stream that it makes.
pub(crate) fn receive<T>(call: impl FnOnce() -> T) -> (T, Option<Handed>) {
    let outer = WAITING.with(|waiting| waiting.replace(Some(None)));
    let result = call();
    let handed = WAITING.with(|waiting| waiting.replace(outer));
    (result, handed.flatten())
}

/// Gives a stream to whoever waits for it in this thread, or else back.
pub(crate) fn give(stream: Stream, affected: Option<i64>) -> Box<dyn RecordBatchReader + Send> {
    WAITING.with(|waiting| match &mut *waiting.borrow_mut() {
        Some(place) => {
            let nothing = RecordBatchIterator::new(Vec::new(), stream.schema());
            *place = Some(Handed { stream, affected });
            Box::new(nothing) as _
        }
        None => Box::new(stream) as _,
    })
}
