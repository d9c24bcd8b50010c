//! Wrong use of the C functions: an error, never a crash.

use crate::raw::{Raw, call, outcome, table};
use crate::support::fails;
use adbc_core::constants::{ADBC_STATUS_NOT_IMPLEMENTED, ADBC_STATUS_OK, ADBC_VERSION_1_0_0};
use adbc_core::error::Status;
use adbc_ffi::{FFI_AdbcConnection, FFI_AdbcDatabase, FFI_AdbcDriver, FFI_AdbcError, FFI_AdbcStatement};
use arrow::array::{Array, ArrayRef, Int32Array, StructArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use firearrow_adbc::{AdbcDriverFirebirdInit, AdbcDriverInit};
use firearrow_testkit::{Target, matrix};
use std::mem::{MaybeUninit, offset_of};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// A struct of one column of integers, of which rows may be null as a whole.
fn parameters(nulls: Option<NullBuffer>) -> (FFI_ArrowArray, FFI_ArrowSchema) {
    let column: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let fields = vec![Field::new("n", DataType::Int32, true)].into();
    to_ffi(&StructArray::new(fields, vec![column], nulls).to_data()).expect("it is sound")
}

#[test]
fn initialisation_takes_what_it_knows() {
    let mut error = FFI_AdbcError::default();
    // SAFETY: null is refused, and so is an unknown version.
    unsafe {
        let status = AdbcDriverFirebirdInit(1_001_000, null_mut(), &raw mut error);
        fails(outcome(status, error), Status::InvalidArguments);
        let mut table = FFI_AdbcDriver::default();
        let status = AdbcDriverInit(1_002_000, (&raw mut table).cast(), null_mut());
        assert_eq!(status, ADBC_STATUS_NOT_IMPLEMENTED);
        assert!(table.release.is_none());
    }
    // Callers of 1.0.0 have less room.
    let mut old = MaybeUninit::<FFI_AdbcDriver>::zeroed();
    let room = offset_of!(FFI_AdbcDriver, ErrorGetDetailCount);
    // SAFETY: there is more room than needed; zeroes are a table without functions.
    unsafe {
        assert_eq!(AdbcDriverInit(ADBC_VERSION_1_0_0, old.as_mut_ptr().cast(), null_mut()), ADBC_STATUS_OK);
        let bytes = std::slice::from_raw_parts(old.as_ptr().cast::<u8>(), size_of::<FFI_AdbcDriver>());
        assert!(bytes[room..].iter().all(|&byte| byte == 0));
        let mut old = old.assume_init();
        assert!(old.StatementExecuteQuery.is_some() && old.StatementCancel.is_none());
        let release = old.release.expect("a function");
        assert_eq!(release(&raw mut old, null_mut()), ADBC_STATUS_OK);
    }
}

#[test]
fn null_is_refused() {
    let table = table();
    let (mut database, mut connection) = (FFI_AdbcDatabase::default(), FFI_AdbcConnection::default());
    let mut statement = FFI_AdbcStatement::default();
    let (database, connection, statement) = (&raw mut database, &raw mut connection, &raw mut statement);
    let key = c"uri".as_ptr();
    for result in [
        call!(table, DatabaseNew(null_mut())),
        call!(table, DatabaseInit(null_mut())),
        call!(table, DatabaseRelease(null_mut())),
        call!(table, DatabaseSetOption(null_mut(), key, key)),
        call!(table, ConnectionNew(null_mut())),
        call!(table, ConnectionInit(null_mut(), database)),
        call!(table, ConnectionInit(connection, null_mut())),
        call!(table, ConnectionGetInfo(null_mut(), null(), 0, null_mut())),
        call!(table, ConnectionCancel(null_mut())),
        call!(table, StatementNew(null_mut(), statement)),
        call!(table, StatementExecuteQuery(null_mut(), null_mut(), null_mut())),
        call!(table, StatementBind(statement, null_mut(), null_mut())),
        call!(table, StatementBindStream(statement, null_mut())),
        call!(table, StatementSetSqlQuery(statement, null())),
    ] {
        fails(result, Status::InvalidArguments);
    }
    // Nobody needs to want the error.
    let function = table.ConnectionCommit.expect("a function");
    // SAFETY: null is refused.
    assert_ne!(unsafe { function(null_mut(), null_mut()) }, ADBC_STATUS_OK);
}

#[test]
fn the_order_of_calls_matters() {
    let table = table();
    let (mut database, mut connection) = (FFI_AdbcDatabase::default(), FFI_AdbcConnection::default());
    let mut statement = FFI_AdbcStatement::default();
    let (database, connection, statement) = (&raw mut database, &raw mut connection, &raw mut statement);
    let mut stream = FFI_ArrowArrayStream::empty();
    let out = &raw mut stream;
    let before = |result| fails(result, Status::InvalidState);
    before(call!(table, DatabaseInit(database)));
    before(call!(table, DatabaseRelease(database)));
    before(call!(table, ConnectionCommit(connection)));
    before(call!(table, ConnectionCancel(connection)));
    before(call!(table, ConnectionGetTableTypes(connection, out)));
    before(call!(table, StatementNew(connection, statement)));
    before(call!(table, StatementExecuteQuery(statement, out, null_mut())));
    before(call!(table, StatementPrepare(statement)));
    before(call!(table, StatementCancel(statement)));
    before(call!(table, StatementRelease(statement)));
    call!(table, DatabaseNew(database)).expect("a database");
    call!(table, ConnectionNew(connection)).expect("a connection");
    before(call!(table, ConnectionInit(connection, database)));
    before(call!(table, StatementNew(connection, statement)));
    // Unknown options are told when it is initialised.
    call!(table, DatabaseSetOption(database, c"colour".as_ptr(), c"red".as_ptr())).expect("it is kept");
    fails(call!(table, DatabaseInit(database)), Status::NotImplemented);
    call!(table, ConnectionRelease(connection)).expect("it is released");
    before(call!(table, ConnectionRelease(connection)));
    call!(table, DatabaseRelease(database)).expect("it is released");
    before(call!(table, DatabaseRelease(database)));
    assert!(stream.release().is_none(), "there is no stream after a failure");
}

// The C functions check these themselves.
matrix!(
    [firebird_4_0],
    fn handles_are_used_once_and_not_after_their_release(target: &Target) {
        let mut raw = Raw::fresh(target);
        let connection = &raw mut raw.connection;
        let database = &raw mut raw.database;
        fails(call!(raw.table, ConnectionInit(connection, database)), Status::InvalidState);
        fails(call!(raw.table, DatabaseInit(database)), Status::InvalidState);
        let mut statement = FFI_AdbcStatement::default();
        let handle = &raw mut statement;
        call!(raw.table, StatementNew(connection, handle)).expect("a statement");
        // The parent goes first; what was made from it still answers.
        call!(raw.table, ConnectionRelease(connection)).expect("it is released");
        call!(raw.table, DatabaseRelease(database)).expect("it is released");
        call!(raw.table, StatementSetSqlQuery(handle, c"SELECT 1 FROM RDB$DATABASE".as_ptr()))
            .expect("a query");
        let (mut stream, mut affected) = (FFI_ArrowArrayStream::empty(), 0);
        let (out, rows) = (&raw mut stream, &raw mut affected);
        call!(raw.table, StatementExecuteQuery(handle, out, rows)).expect("it runs");
        call!(raw.table, StatementRelease(handle)).expect("it is released");
        fails(call!(raw.table, StatementRelease(handle)), Status::InvalidState);
        fails(call!(raw.table, StatementPrepare(handle)), Status::InvalidState);
        let reader = arrow::ffi_stream::RecordBatchStreamReader::try_new(stream).expect("it is alive");
        assert_eq!(reader.map(|batch| batch.expect("it is read").num_rows()).sum::<usize>(), 1);
    },
    fn arrays_that_cannot_be_bound_are_refused(target: &Target) {
        let raw = Raw::fresh(target);
        raw.execute("CREATE TABLE t (n INTEGER)").expect("it is created");
        let mut statement = raw.statement("INSERT INTO t VALUES (?)");
        let handle = &raw mut statement.statement;
        // Whole rows are null.
        let (mut array, mut schema) = parameters(Some(NullBuffer::from(vec![true, false])));
        let (values, types) = (&raw mut array, &raw mut schema);
        fails(call!(raw.table, StatementBind(handle, values, types)), Status::InvalidArguments);
        assert!(array.is_released(), "it was taken");
        // The array is gone.
        let (values, types) = (&raw mut array, &raw mut schema);
        fails(call!(raw.table, StatementBind(handle, values, types)), Status::InvalidArguments);
        // No struct.
        let (mut array, mut schema) = to_ffi(&Int32Array::from(vec![1]).to_data()).expect("it is sound");
        let (values, types) = (&raw mut array, &raw mut schema);
        fails(call!(raw.table, StatementBind(handle, values, types)), Status::InvalidArguments);
        // The schema is another one.
        let (mut array, _) = parameters(None);
        let mut schema = FFI_ArrowSchema::try_from(DataType::Struct(
            vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Utf8, true)].into(),
        ))
        .expect("a schema");
        let (values, types) = (&raw mut array, &raw mut schema);
        assert!(call!(raw.table, StatementBind(handle, values, types)).is_err());
        let mut stream = FFI_ArrowArrayStream::empty();
        let released = &raw mut stream;
        assert!(call!(raw.table, StatementBindStream(handle, released)).is_err());
        // All of that has done no harm.
        let (mut array, mut schema) = parameters(None);
        let (values, types) = (&raw mut array, &raw mut schema);
        call!(raw.table, StatementBind(handle, values, types)).expect("it is sound");
        let (none, mut affected) = (null_mut(), 0);
        let rows = &raw mut affected;
        call!(raw.table, StatementExecuteQuery(handle, none, rows)).expect("it inserts");
        assert_eq!(affected, 2);
    },
    fn errors_of_older_callers_keep_their_size(target: &Target) {
        let raw = Raw::fresh(target);
        let mut statement = raw.statement("SELECT * FROM missing");
        // Behind an error of 1.0.0 there is something else.
        let mut error = FFI_AdbcError { vendor_code: 0, ..FFI_AdbcError::default() };
        let guard = 0x5a5a_5a5a_usize as *mut std::ffi::c_void;
        error.private_data = guard;
        let function = raw.table.StatementExecuteQuery.expect("a function");
        let mut stream = FFI_ArrowArrayStream::empty();
        // SAFETY: the handle is alive; the error is one of 1.0.0 by its vendor code.
        let status =
            unsafe { function(&raw mut statement.statement, &raw mut stream, null_mut(), &raw mut error) };
        assert_eq!(Status::try_from(status), Ok(Status::NotFound));
        assert_eq!(error.private_data, guard);
        // It was released as one of its own version would be.
        // SAFETY: it was filled just now.
        unsafe { (error.release.expect("it was filled"))(&raw mut error) };
        error.private_data = null_mut();
    }
);
