//! Failures, and what must not fail.

use super::{DPB, Engine};
use firearrow_fbapi::{
    CancelKind, CursorFlags, Error, Library, LoadOptions, MessageBuffer, Runtime, RuntimeHint,
};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_proto::api::info::database::FIREBIRD_VERSION;
use firearrow_proto::api::info::{InfoReader, counted_strings};
use firearrow_proto::api::status::{StatusArg, StatusVector};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// A query that runs for minutes.
const LONG: &str =
    "select count(*) from RDB$FIELDS a, RDB$FIELDS b, RDB$FIELDS c, RDB$FIELDS d, RDB$FIELDS e";

fn status(result: Result<impl Sized, Error>) -> StatusVector {
    match result {
        Err(Error::Status(status)) => status,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("no error"),
    }
}

pub fn errors_keep_the_whole_vector(engine: &Engine) {
    let scratch = engine.scratch();
    let transaction = scratch.begin();
    let status = status(scratch.attachment.prepare(&transaction, "select * frm T", Dialect::Three));
    assert_eq!(
        status.0[..5],
        [
            StatusArg::Gds(gds::ISC_DSQL_ERROR),
            StatusArg::Gds(gds::ISC_SQLERR),
            StatusArg::Number(-104),
            StatusArg::Gds(gds::ISC_DSQL_TOKEN_UNK_ERR),
            StatusArg::Number(1),
        ]
    );
    assert!(status.0.contains(&StatusArg::Text("frm".into())));
    assert_eq!((status.sqlcode(), status.sqlstate()), (-104, "42000"));
    // A successful call does not report the error of the previous one.
    scratch.attachment.ping().unwrap();
    assert_eq!(scratch.attachment.warnings(), StatusVector::default());
}

pub fn texts_are_those_of_the_client_library(engine: &Engine) {
    let scratch = engine.scratch();
    scratch.run(&[
        "create table T (N integer not null primary key, S varchar(3), constraint POSITIVE check (N > 0))",
        "insert into T values (1, 'a')",
        "create exception E 'told @1 @@ you'",
    ]);
    let mut transaction = scratch.begin();
    for sql in [
        "insert into T values (1, 'a')",
        "insert into T values (-1, 'a')",
        "insert into T values (null, 'a')",
        "insert into T values (2, 'long text')",
        "insert into T values ('x', 'a')",
        "insert into NOWHERE values (1)",
        "select NOTHING from T",
        "execute block as begin exception E; end",
        "execute block as begin exception E 'ä ö'; end",
        "drop table NOWHERE",
        "execute procedure NOWHERE",
        "grant NOTHING to NOBODY",
    ] {
        let status =
            status(scratch.attachment.execute_immediate(Some(&mut transaction), sql, Dialect::Three));
        if engine.major == 5 {
            // The table of messages is that of 5.0.
            assert_eq!(status.lines(false), engine.library.interpret(&status), "{sql}");
            assert_eq!(status.sqlstate(), engine.library.sqlstate(&status), "{sql}");
        }
        assert_eq!(status.sqlcode(), engine.library.sqlcode(&status), "{sql}: {status:?}");
    }
}

pub fn missing_databases_are_reported(engine: &Engine) {
    let status = status(engine.library.attach("/nonexistent/some.fdb", DPB));
    assert!(status.contains(gds::ISC_IO_ERROR), "{status}");
    assert!(status.to_string().contains("/nonexistent/some.fdb"));
    assert!(matches!(engine.library.attach("a\0b", DPB), Err(Error::Argument { .. })));
    // An existing file is not overwritten.
    let scratch = engine.scratch();
    assert!(engine.library.create(&scratch.path, DPB).is_err());
    // And a file that is not a database is refused.
    let other = scratch.folder.path().join("text");
    fs::write(&other, "no database").unwrap();
    assert!(engine.library.attach(other.to_str().unwrap(), DPB).is_err());
}

pub fn host_syntax_does_not_leave_the_process(engine: &Engine) {
    let status = status(engine.library.attach("localhost:/tmp/some.fdb", DPB));
    assert!(status.contains(gds::ISC_UNAVAILABLE), "{status}");
}

pub fn a_running_statement_can_be_cancelled(engine: &Engine) {
    let scratch = engine.scratch();
    let transaction = scratch.begin();
    let mut statement = scratch.attachment.prepare(&transaction, LONG, Dialect::Three).unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    let canceller = scratch.attachment.canceller();
    let started = Instant::now();
    let cancelling = thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        canceller.cancel(CancelKind::Raise).unwrap();
        canceller
    });
    let mut buffer = MessageBuffer::new(cursor.message_length());
    let status = status(cursor.fetch_next(buffer.bytes_mut()));
    assert!(status.contains(gds::ISC_CANCELLED), "{status}");
    assert!(started.elapsed() < Duration::from_secs(20));
    let canceller = cancelling.join().unwrap();
    // The attachment is usable again.
    drop((cursor, statement, transaction));
    assert_eq!(scratch.text("select 1 + 1 from RDB$DATABASE"), "2");
    // After the attachment's end there is nothing to cancel, and nothing breaks.
    scratch.attachment.detach().unwrap();
    assert!(canceller.cancel(CancelKind::Raise).is_err());
}

pub fn statement_timeouts_depend_on_the_release(engine: &Engine) {
    let scratch = engine.scratch();
    let transaction = scratch.begin();
    let mut statement = scratch.attachment.prepare(&transaction, LONG, Dialect::Three).unwrap();
    let result = statement.set_timeout(100);
    if engine.major == 3 {
        assert!(matches!(result, Err(Error::Unsupported { since: "4.0", .. })));
        return;
    }
    result.unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    let mut buffer = MessageBuffer::new(cursor.message_length());
    let status = status(cursor.fetch_next(buffer.bytes_mut()));
    assert!(status.contains(gds::ISC_CANCELLED) && status.contains(gds::ISC_REQ_STMT_TIMEOUT), "{status}");
}

pub fn handlers_of_signals_stay(engine: &Engine) {
    let _scratch = engine.scratch();
    assert_eq!(super::handlers(), engine.handlers);
}

pub fn the_same_library_is_loaded_once(engine: &Engine) {
    let runtime = engine.library.runtime();
    let again = Library::load(runtime, &LoadOptions::default()).unwrap();
    assert!(Arc::ptr_eq(&again, &engine.library));
    // It is the same library under another name.
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("libfbclient.so.2");
    std::os::unix::fs::symlink(&runtime.library, &link).unwrap();
    let linked = Runtime::discover(&RuntimeHint::at(link)).unwrap();
    assert!(Arc::ptr_eq(&Library::load(&linked, &LoadOptions::default()).unwrap(), &engine.library));
}

pub fn another_library_is_refused(engine: &Engine) {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("libfbclient.so.2");
    fs::copy(&engine.library.runtime().library, &copy).unwrap();
    let other = Runtime::discover(&RuntimeHint::at(&copy)).unwrap();
    match Library::load(&other, &LoadOptions::default()) {
        Err(Error::SecondLibrary { loaded, asked }) => {
            assert_eq!(loaded, engine.library.runtime().library);
            assert_eq!(asked, fs::canonicalize(&copy).unwrap());
        }
        other => panic!("{other:?}"),
    }
}

pub fn answers_that_do_not_fit_are_asked_for_again(engine: &Engine) {
    let scratch = engine.scratch();
    let items = [FIREBIRD_VERSION; 20];
    let answer = scratch.attachment.info(&items, 1).unwrap();
    let versions: Vec<_> = InfoReader::new(&answer).map(|item| counted_strings(item.value)).collect();
    assert_eq!(versions.len(), items.len());
    assert!(versions[19][0].contains(&format!("V{}.0.", engine.major)), "{versions:?}");
}

/// ALTER SESSION RESET warns of the transaction that it rolls back.
pub fn warnings_reach_the_listener(engine: &Engine) {
    if engine.major < 4 {
        return;
    }
    let scratch = engine.scratch();
    scratch.run(&["create table T (N integer)"]);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&heard);
    scratch.attachment.on_warning(move |status| listener.lock().unwrap().push(status));
    for sql in [None, Some("insert into T values (1)")] {
        let mut transaction = scratch.begin();
        if let Some(sql) = sql {
            scratch.attachment.execute_immediate(Some(&mut transaction), sql, Dialect::Three).unwrap();
        }
        scratch
            .attachment
            .execute_immediate(Some(&mut transaction), "alter session reset", Dialect::Three)
            .unwrap();
        let warnings = std::mem::take(&mut *heard.lock().unwrap());
        let codes: Vec<Vec<i32>> = warnings.iter().map(|status| status.warnings().collect()).collect();
        assert_eq!(codes, if sql.is_some() { vec![vec![335_545_208, 335_545_209]] } else { Vec::new() });
        transaction.rollback().unwrap();
    }
}
