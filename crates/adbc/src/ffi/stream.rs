//! Streams through the C interface: batches pass without copying a value, and errors keep their status.

use super::error::{errno, foreign, message, of_panic};
use crate::error::{Result, internal, of};
use adbc_core::error::{AdbcStatusCode, Error};
use adbc_ffi::FFI_AdbcError;
use arrow::array::{Array, RecordBatchReader, StructArray};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use firearrow_driver::Stream;
use std::cell::UnsafeCell;
use std::ffi::{CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// The private data of a stream.
struct Exported {
    stream: Stream,
    last: Option<LastError>,
}

/// The last error, in all forms that a consumer may ask for.
struct LastError {
    message: CString,
    status: AdbcStatusCode,
    /// Owned by the stream. Consumers write their driver into it. They should not release it, but doing so is harmless.
    error: Box<UnsafeCell<FFI_AdbcError>>,
}

/// Exports a stream to C.
pub(super) fn export(stream: Stream) -> FFI_ArrowArrayStream {
    let exported = Box::into_raw(Box::new(Exported { stream, last: None }));
    // SAFETY: the functions are those of this file, which know the type of the private data; release frees it once.
    unsafe {
        FFI_ArrowArrayStream::new_unchecked(
            Some(get_schema),
            Some(get_next),
            Some(get_last_error),
            Some(release),
            exported.cast(),
        )
    }
}

/// Returns the last error of a stream exported here; null for other streams, and if there is no error.
///
/// # Safety
/// `stream` and `status` are null or valid.
pub(super) unsafe extern "C" fn error_from_array_stream(
    stream: *mut FFI_ArrowArrayStream,
    status: *mut AdbcStatusCode,
) -> *const FFI_AdbcError {
    // SAFETY: the caller guarantees that it is null or valid.
    let Some(found) = (unsafe { stream.as_ref() }) else { return ptr::null() };
    let ours = release as unsafe extern "C" fn(*mut FFI_ArrowArrayStream);
    if !found.release().is_some_and(|release| ptr::fn_addr_eq(release, ours)) {
        return ptr::null();
    }
    // SAFETY: a stream with our release function was exported here and has not been released.
    let exported = unsafe { &*found.private_data().cast::<Exported>() };
    let Some(last) = &exported.last else { return ptr::null() };
    if !status.is_null() {
        // SAFETY: the caller guarantees that it is null or valid.
        unsafe { ptr::write_unaligned(status, last.status) };
    }
    last.error.get()
}

/// Runs one of the functions below, and keeps its error or panic as the last error.
///
/// # Safety
/// `stream` is null or a stream exported here that no other thread is using.
unsafe fn answer(stream: *mut FFI_ArrowArrayStream, work: impl FnOnce(&mut Stream) -> Result<()>) -> c_int {
    // SAFETY: see above; a released stream has no private data.
    let exported =
        unsafe { stream.as_ref().and_then(|stream| stream.private_data().cast::<Exported>().as_mut()) };
    let Some(Exported { stream, last }) = exported else { return libc::EINVAL };
    *last = None;
    // After a panic, the stream only ends.
    let result = catch_unwind(AssertUnwindSafe(|| work(stream)));
    let Err(error) = result.unwrap_or_else(|panic| Err(of_panic(&*panic))) else { return 0 };
    let number = errno(error.status);
    *last = Some(LastError::new(error));
    number
}

unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    let work = |stream: &mut Stream| {
        let schema = FFI_ArrowSchema::try_from(stream.schema().as_ref()).map_err(of)?;
        if out.is_null() {
            return Err(internal("the pointer for the schema is null"));
        }
        // SAFETY: `out` has room for a schema, which need not be initialised.
        unsafe { ptr::write_unaligned(out, schema) };
        Ok(())
    };
    // SAFETY: consumers pass the function's own stream, from one thread at a time.
    unsafe { answer(stream, work) }
}

unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    let work = |stream: &mut Stream| {
        if out.is_null() {
            return Err(internal("the pointer for the array is null"));
        }
        let array = match stream.next_batch().map_err(of)? {
            // The buffers are passed without copying.
            Some(batch) => FFI_ArrowArray::new(&StructArray::from(batch).to_data()),
            None => FFI_ArrowArray::empty(),
        };
        // SAFETY: `out` has room for an array, which need not be initialised.
        unsafe { ptr::write_unaligned(out, array) };
        Ok(())
    };
    // SAFETY: consumers pass the function's own stream, from one thread at a time.
    unsafe { answer(stream, work) }
}

unsafe extern "C" fn get_last_error(stream: *mut FFI_ArrowArrayStream) -> *const c_char {
    // SAFETY: consumers pass the function's own stream; a released one has no private data.
    let exported =
        unsafe { stream.as_ref().and_then(|stream| stream.private_data().cast::<Exported>().as_ref()) };
    exported.and_then(|exported| exported.last.as_ref()).map_or(ptr::null(), |last| last.message.as_ptr())
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: the caller of a release function passes a valid stream.
    let Some(released) = (unsafe { stream.as_mut() }) else { return };
    // SAFETY: a stream without functions and data is a released one.
    let exported = unsafe {
        released.set_release(None);
        released.set_private_data(ptr::null_mut()).cast::<Exported>()
    };
    if !exported.is_null() {
        // SAFETY: it came from a box in `export`, and the pointer has just been cleared.
        let exported = unsafe { Box::from_raw(exported) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(exported)));
    }
}

impl LastError {
    fn new(error: Error) -> Self {
        let (message, status) = (message(&error), error.status.into());
        Self { message, status, error: Box::new(UnsafeCell::new(foreign(error))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adbc_core::error::Status;
    use arrow::array::{ArrayRef, Int32Array, RecordBatch};
    use arrow::datatypes::Schema;
    use arrow::ffi_stream::RecordBatchStreamReader;
    use firearrow_driver::{Class, Detail, Error as DriverError};
    use std::ffi::CStr;
    use std::sync::Arc;

    /// A stream without columns.
    fn plain(
        next: impl FnMut() -> firearrow_driver::Result<Option<RecordBatch>> + Send + 'static,
    ) -> FFI_ArrowArrayStream {
        export(Stream::of_function(Arc::new(Schema::empty()), next))
    }

    /// Returns the error number, the message, and the result of ErrorFromArrayStream.
    fn next(stream: &mut FFI_ArrowArrayStream) -> (c_int, String, Option<(Status, String)>) {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the stream is alive and not in use elsewhere.
        let number = unsafe { get_next(stream, &raw mut array) };
        // SAFETY: the same.
        let message = unsafe { get_last_error(stream) };
        let text = match message.is_null() {
            true => String::new(),
            // SAFETY: it ends with NUL and lives until the next call.
            false => unsafe { CStr::from_ptr(message) }.to_str().expect("UTF-8").to_owned(),
        };
        let mut status = 0;
        // SAFETY: the stream is alive, and so is its error until the next call.
        let error = unsafe { error_from_array_stream(stream, &raw mut status).as_ref() };
        let error = error.map(|error| {
            let error = Error::try_from(error).expect("UTF-8");
            (Status::try_from(status).expect("a known status"), error.message)
        });
        (number, text, error)
    }

    #[test]
    fn buffers_are_those_of_the_batch() {
        let column: ArrayRef = Arc::new(Int32Array::from_iter_values(0..1000));
        let address = column.to_data().buffers()[0].as_ptr();
        let batch = RecordBatch::try_from_iter([("n", column)]).expect("one column");
        let stream = Stream::of_batches(batch.schema(), [batch.clone()]);
        let mut reader = RecordBatchStreamReader::try_new(export(stream)).expect("it has a schema");
        let read = reader.next().expect("a batch").expect("it is read");
        assert_eq!(read, batch);
        assert_eq!(read.column(0).to_data().buffers()[0].as_ptr(), address);
        assert!(reader.next().is_none());
    }

    #[test]
    fn errors_keep_their_status() {
        for (class, status, number) in [
            (Class::Cancelled, Status::Cancelled, libc::ECANCELED),
            (Class::Timeout, Status::Timeout, libc::ETIMEDOUT),
            (Class::Io, Status::IO, libc::EIO),
            (Class::Unsupported, Status::NotImplemented, libc::ENOSYS),
            (Class::Argument, Status::InvalidArguments, libc::EINVAL),
        ] {
            let error = DriverError::new(class, "no").with_sqlstate("22012").with_detail(Detail::Gds, 1);
            let mut stream = plain(move || Err(error.clone()));
            assert_eq!(next(&mut stream), (number, "no".into(), Some((status, "no".into()))));
            assert_eq!(next(&mut stream), (0, String::new(), None), "nothing comes after an error");
        }
    }

    #[test]
    fn panics_and_nul_are_errors_like_others() {
        let mut stream = plain(|| panic!("a\0b"));
        let (number, message, error) = next(&mut stream);
        assert_eq!(number, libc::EINVAL);
        assert!(message.contains("panicked: a\u{fffd}b"), "{message}");
        assert_eq!(error.map(|(status, _)| status), Some(Status::Internal));
    }

    #[test]
    fn errors_may_be_released_and_other_streams_have_none() {
        let mut stream = plain(|| Err(DriverError::internal("no")));
        assert_eq!(next(&mut stream).0, libc::EINVAL);
        // SAFETY: the stream is alive; this misuse by consumers must be harmless.
        unsafe {
            let error = error_from_array_stream(&raw mut stream, ptr::null_mut()).cast_mut();
            (*error).private_driver = ptr::null();
            ((*error).release.expect("it can be released"))(error);
        }
        assert_eq!(next(&mut stream).0, 0);
        let batch = RecordBatch::new_empty(Arc::new(Schema::empty()));
        let schema = batch.schema();
        let reader = arrow::array::RecordBatchIterator::new([Ok(batch)], schema);
        let mut other = FFI_ArrowArrayStream::new(Box::new(reader));
        // SAFETY: the stream is alive.
        assert!(unsafe { error_from_array_stream(&raw mut other, ptr::null_mut()) }.is_null());
        // SAFETY: null is allowed.
        assert!(unsafe { error_from_array_stream(ptr::null_mut(), ptr::null_mut()) }.is_null());
    }

    #[test]
    fn a_released_stream_says_no() {
        let mut stream = export(Stream::empty());
        // SAFETY: the stream is alive.
        unsafe { release(&raw mut stream) };
        assert!(stream.release().is_none());
        assert_eq!(next(&mut stream), (libc::EINVAL, String::new(), None));
        // SAFETY: releasing twice is wrong, but does no harm.
        unsafe { release(&raw mut stream) };
    }
}
