//! Counters of a statement, read by another thread while it executes.

use crate::raw::{Raw, call};
use crate::support::batch;
use arrow::array::{ArrayRef, Int32Array, RecordBatch, RecordBatchReader};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ffi_stream::FFI_ArrowArrayStream;
use firearrow_testkit::{Target, matrix};
use std::ffi::{CStr, c_char};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// Rows of a batch, and batches.
const ROWS: i32 = 1000;
const BATCHES: i32 = 4;

/// A producer that stops before its last batch until it may go on.
struct Gate {
    batch: i32,
    arrived: Sender<()>,
    open: Receiver<()>,
}

impl Iterator for Gate {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch += 1;
        if self.batch == BATCHES {
            self.arrived.send(()).expect("it is waited for");
            self.open.recv_timeout(Duration::from_secs(60)).expect("the counters could be read meanwhile");
        }
        (self.batch <= BATCHES).then(|| Ok(numbers()))
    }
}

impl RecordBatchReader for Gate {
    fn schema(&self) -> SchemaRef {
        numbers().schema()
    }
}

fn numbers() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..ROWS));
    batch([("n", numbers)])
}

/// An address that goes to another thread, where the standard allows it.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: options may be read by any thread at any time.
unsafe impl<T> Send for Shared<T> {}

impl<T> Shared<T> {
    fn get(self) -> *mut T {
        self.0
    }
}

matrix!(
    all,
    fn an_ingestion_tells_how_far_it_is(target: &Target) {
        let raw = Raw::fresh(target);
        let mut statement = raw.statement("SELECT 1 FROM RDB$DATABASE");
        let handle = &raw mut statement.statement;
        call!(raw.table, StatementSetOption(handle, c"adbc.ingest.target_table".as_ptr(), c"t".as_ptr()))
            .expect("it is known");
        let ((arrived, waiting), (opening, open)) = (channel(), channel());
        let mut stream = FFI_ArrowArrayStream::new(Box::new(Gate { batch: 0, arrived, open }));
        call!(raw.table, StatementBindStream(handle, &raw mut stream)).expect("it is taken");
        let shared = Shared(handle);
        let table = &raw.table;
        let affected = thread::scope(|scope| {
            let executing = scope.spawn(move || {
                let mut affected = -1;
                let out = std::ptr::null_mut();
                call!(table, StatementExecuteQuery(shared.get(), out, &raw mut affected))
                    .expect("it is ingested");
                affected
            });
            waiting.recv_timeout(Duration::from_secs(60)).expect("the producer is asked");
            let taken = i64::from((BATCHES - 1) * ROWS);
            let mut number = -1;
            let rows = c"adbc.firebird.stats.rows".as_ptr();
            call!(table, StatementGetOptionInt(handle, rows, &raw mut number)).expect("a counter");
            assert_eq!(number, taken);
            let mut share = -1.0;
            let progress = c"adbc.statement.exec.progress".as_ptr();
            call!(table, StatementGetOptionDouble(handle, progress, &raw mut share)).expect("a counter");
            assert_eq!(share as i64, taken);
            let (mut text, mut length) = ([0 as c_char; 16], 16);
            call!(table, StatementGetOption(handle, progress, text.as_mut_ptr(), &raw mut length))
                .expect("a counter");
            // SAFETY: it ends with NUL.
            let text = unsafe { CStr::from_ptr(text.as_ptr()) };
            assert_eq!((text.to_str(), length), (Ok("3000"), 5));
            let (mut bytes, mut length) = ([0; 16], 3);
            call!(table, StatementGetOptionBytes(handle, progress, bytes.as_mut_ptr(), &raw mut length))
                .expect("a counter");
            assert_eq!((bytes, length), ([0; 16], 4), "there was no room for it");
            opening.send(()).expect("it waits");
            executing.join().expect("it does not panic")
        });
        assert_eq!(affected, i64::from(BATCHES * ROWS));
        let mut number = -1;
        let inserted = c"adbc.firebird.records.inserted".as_ptr();
        call!(raw.table, StatementGetOptionInt(handle, inserted, &raw mut number)).expect("a counter");
        assert_eq!(number, affected);
    },
    fn other_options_are_read_as_before(target: &Target) {
        let raw = Raw::fresh(target);
        let mut statement = raw.statement("SELECT 1 FROM RDB$DATABASE");
        let handle = &raw mut statement.statement;
        let mut number = -1;
        let rows = c"adbc.firebird.query.batch_rows".as_ptr();
        call!(raw.table, StatementGetOptionInt(handle, rows, &raw mut number)).expect("an option");
        assert!(number > 0);
        let (none, unknown) = (std::ptr::null_mut(), c"no.such.option".as_ptr());
        for (statement, key) in [(handle, unknown), (std::ptr::null_mut(), rows), (handle, std::ptr::null())]
        {
            call!(raw.table, StatementGetOptionInt(statement, key, &raw mut number))
                .expect_err("nothing to read");
        }
        let progress = c"adbc.statement.exec.progress".as_ptr();
        call!(raw.table, StatementGetOptionInt(handle, progress, none)).expect_err("nowhere to write");
        call!(raw.table, StatementRelease(handle)).expect("it is released");
        call!(raw.table, StatementGetOptionInt(handle, progress, &raw mut number)).expect_err("it is gone");
    }
);
