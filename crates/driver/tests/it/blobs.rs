//! BLOBs that are read by their ids, after their rows.

use crate::support::{fresh, manual, run, statement};
use arrow::array::{Array, AsArray, RecordBatch, UInt64Array};
use arrow::datatypes::{DataType, UInt64Type};
use firearrow::arrow::BlobPolicy;
use firearrow_driver::{Class, Outcome, Session, SessionOptions, Stream};
use firearrow_testkit::{Target, matrix};
use std::sync::Arc;

/// Executes a query whose BLOBs are read by their ids.
fn lazily(session: &Arc<Session>, sql: &str) -> Outcome {
    let mut query = statement(session, sql);
    query.options.read.blobs = BlobPolicy::Lazy;
    query.execute().expect("it runs")
}

fn first(stream: &mut Stream) -> RecordBatch {
    stream.next_batch().expect("it reads").expect("there are rows")
}

/// A table with three texts, and its result with their ids, whose end has been reached.
fn texts(session: &Arc<Session>) -> (Stream, UInt64Array) {
    run(session, "CREATE TABLE b (n INTEGER, t BLOB SUB_TYPE TEXT)").expect("it is new");
    if !session.is_autocommit() {
        session.end(true).expect("it commits");
    }
    for text in ["'one'", "NULL", "RPAD('', 1000, 'x')"] {
        run(session, &format!("INSERT INTO b VALUES (1, {text})")).expect("it inserts");
    }
    let mut stream = lazily(session, "SELECT t FROM b").stream.expect("it has rows");
    let ids = first(&mut stream).column(0).as_primitive::<UInt64Type>().clone();
    assert!(stream.next_batch().expect("it reads").is_none());
    assert!(stream.next_batch().expect("it reads").is_none());
    (stream, ids)
}

matrix!(
    all,
    fn blobs_can_be_read_until_their_result_is_dropped(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let session = fresh(target, options);
            let (stream, ids) = texts(&session);
            let short = stream.read_short_blobs(&ids, 100, 1000).expect("they are there");
            assert_eq!((short.len(), short.value(0)), (3, &b"one"[..]));
            assert!(short.is_null(1) && short.is_null(2));
            let mut long = stream.open_blob(ids.value(2)).expect("it opens");
            assert_eq!(long.stored_length(), 1000);
            let (mut buffer, mut bytes) = ([0; 300], 0);
            loop {
                match long.read(&mut buffer).expect("it reads") {
                    0 => break,
                    read => bytes += read,
                }
            }
            assert_eq!(bytes, 1000);
        }
    },
    fn blobs_end_with_their_transaction(target: &Target) {
        let session = fresh(target, manual());
        let (stream, ids) = texts(&session);
        session.end(true).expect("it commits");
        let error = stream.read_short_blobs(&ids, 100, 1000).expect_err("it has ended");
        assert_eq!(error.class(), Class::State);
        assert_eq!(stream.open_blob(ids.value(0)).expect_err("it has ended").class(), Class::State);
    },
    fn what_has_an_effect_returns_contents(target: &Target) {
        for options in [SessionOptions::default(), manual()] {
            let session = fresh(target, options);
            texts(&session);
            let outcome = lazily(&session, "INSERT INTO b VALUES (2, 'two') RETURNING t");
            let batch = first(&mut outcome.stream.expect("it has a row"));
            assert_eq!(batch.schema().field(0).data_type(), &DataType::Utf8);
            assert_eq!(batch.column(0).as_string::<i32>().value(0), "two");
        }
    },
);
