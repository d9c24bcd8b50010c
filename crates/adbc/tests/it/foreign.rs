//! Producers of rows that are not written in Rust, and what they may deliver: errors of theirs, never a crash.

use crate::raw::{Raw, RawStatement, call};
use crate::support::fails;
use adbc_core::error::{Error, Status};
use arrow::array::{Array, ArrayData, ArrayRef, AsArray, Int32Array, StringArray, StructArray};
use arrow::buffer::{Buffer, NullBuffer};
use arrow::datatypes::{DataType, Field, Fields, Int32Type, Int64Type};
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use firearrow_testkit::{Target, matrix};
use std::collections::VecDeque;
use std::ffi::{CString, c_char, c_int};
use std::mem::replace;
use std::ptr::null_mut;
use std::sync::Arc;

/// What a stream delivers, each thing once.
struct Delivery {
    schema: FFI_ArrowSchema,
    arrays: VecDeque<FFI_ArrowArray>,
}

/// # Safety
/// The stream is one of [`stream`].
unsafe fn delivery<'a>(stream: *mut FFI_ArrowArrayStream) -> &'a mut Delivery {
    // SAFETY: by the promise, and one function is called at a time.
    unsafe { &mut *(*stream).private_data().cast() }
}

unsafe extern "C" fn get_schema(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: the stream is ours and there is room for a schema.
    unsafe { out.write(replace(&mut delivery(stream).schema, FFI_ArrowSchema::empty())) };
    0
}

unsafe extern "C" fn get_next(stream: *mut FFI_ArrowArrayStream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: the stream is ours and there is room for an array.
    unsafe { out.write(delivery(stream).arrays.pop_front().unwrap_or_else(FFI_ArrowArray::empty)) };
    0
}

unsafe extern "C" fn release(stream: *mut FFI_ArrowArrayStream) {
    // SAFETY: the stream is ours, and released it has no data.
    unsafe {
        (*stream).set_release(None);
        drop(Box::from_raw((*stream).set_private_data(null_mut()).cast::<Delivery>()));
    }
}

/// A stream that checks nothing of what it delivers.
fn stream(schema: FFI_ArrowSchema, arrays: impl IntoIterator<Item = ArrayData>) -> FFI_ArrowArrayStream {
    let arrays = arrays.into_iter().map(|array| FFI_ArrowArray::new(&array)).collect();
    let delivery = Box::into_raw(Box::new(Delivery { schema, arrays }));
    // SAFETY: the functions know what is behind the pointer. There is none for the last error.
    unsafe {
        FFI_ArrowArrayStream::new_unchecked(
            Some(get_schema),
            Some(get_next),
            None,
            Some(release),
            delivery.cast(),
        )
    }
}

fn fields() -> Fields {
    vec![Field::new("N", DataType::Int32, true), Field::new("S", DataType::Utf8, true)].into()
}

fn schema() -> FFI_ArrowSchema {
    FFI_ArrowSchema::try_from(DataType::Struct(fields())).expect("a schema")
}

/// A schema whose second column has a name that is no UTF-8.
fn named_badly() -> FFI_ArrowSchema {
    let first = FFI_ArrowSchema::try_from(&fields()[0].as_ref().clone()).expect("a schema");
    let mut second = FFI_ArrowSchema::try_from(&fields()[1].as_ref().clone()).expect("a schema");
    // SAFETY: the name is the second pointer of the structure, and was made by a CString.
    unsafe {
        let name = (&raw mut second).cast::<*mut c_char>().add(1);
        drop(CString::from_raw(name.read()));
        name.write(CString::new([b'x', 0xff]).expect("no NUL").into_raw());
    }
    FFI_ArrowSchema::try_new("+s", vec![first, second], None).expect("a schema")
}

fn rows(numbers: [i32; 2], nulls: Option<NullBuffer>) -> ArrayData {
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(numbers.to_vec())), Arc::new(StringArray::from(vec!["one", "two"]))];
    StructArray::new(fields(), columns, nulls).to_data()
}

/// Two rows with these offsets of texts, and these texts.
fn texts(offsets: [i32; 3], text: &[u8]) -> ArrayData {
    let builder = ArrayData::builder(DataType::Utf8).len(2);
    let builder =
        builder.add_buffer(Buffer::from_slice_ref(offsets)).add_buffer(Buffer::from_slice_ref(text));
    let numbers = Int32Array::from(vec![3, 4]).to_data();
    // SAFETY: it is not sound, which is what is tested: nobody reads it before it is checked.
    unsafe {
        let children = vec![numbers, builder.build_unchecked()];
        ArrayData::builder(DataType::Struct(fields())).len(2).child_data(children).build_unchecked()
    }
}

/// Malformed batches, and a word about each.
fn malformed() -> Vec<(ArrayData, &'static str)> {
    let one_column = StructArray::new(
        vec![fields()[0].clone()].into(),
        vec![Arc::new(Int32Array::from(vec![3, 4])) as ArrayRef],
        None,
    );
    vec![
        (rows([3, 4], Some(NullBuffer::from(vec![true, false]))), "null"),
        (texts([0, 3, 1], b"onetwo"), "offset"),
        (texts([0, -1, 2], b"onetwo"), "offset"),
        (texts([0, 100_000_000, 2], b"onetwo"), "offset"),
        (texts([0, 2, 4], b"on\xff\xff"), "UTF"),
        (one_column.to_data(), ""),
    ]
}

fn bind(raw: &Raw, statement: &mut RawStatement<'_>, mut stream: FFI_ArrowArrayStream) -> Result<(), Error> {
    let (handle, bound) = (&raw mut statement.statement, &raw mut stream);
    let result = call!(raw.table, StatementBindStream(handle, bound));
    assert!(stream.release().is_none(), "it was taken");
    result
}

fn update(raw: &Raw, statement: &mut RawStatement<'_>) -> Result<i64, Error> {
    let (mut affected, none) = (0, null_mut());
    let (handle, rows) = (&raw mut statement.statement, &raw mut affected);
    call!(raw.table, StatementExecuteQuery(handle, none, rows))?;
    Ok(affected)
}

fn count(raw: &Raw) -> i64 {
    let (batches, _) = raw.execute("SELECT COUNT(*) FROM t").expect("it is there");
    batches[0].column(0).as_primitive::<Int64Type>().value(0)
}

/// A statement that inserts the rows of `T`, or one that ingests them.
fn writer<'a>(raw: &'a Raw, ingests: bool) -> RawStatement<'a> {
    let mut statement = raw.statement("INSERT INTO t VALUES (?, ?)");
    if ingests {
        let handle = &raw mut statement.statement;
        for (key, value) in
            [(c"adbc.ingest.target_table", c"T"), (c"adbc.ingest.mode", c"adbc.ingest.mode.append")]
        {
            call!(raw.table, StatementSetOption(handle, key.as_ptr(), value.as_ptr())).expect("it is known");
        }
    }
    statement
}

/// Two rows of a number and a column of type Null with a buffer, as polars gives it.
fn with_buffer() -> (FFI_ArrowSchema, FFI_ArrowArray) {
    let fields = vec![Field::new("N", DataType::Int32, true), Field::new("S", DataType::Null, true)];
    let schema = FFI_ArrowSchema::try_from(DataType::Struct(fields.clone().into())).expect("a schema");
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int32Array::from(vec![1, 2])), Arc::new(arrow::array::NullArray::new(2))];
    let array = FFI_ArrowArray::new(&StructArray::new(fields.into(), columns, None).to_data());
    let words: *const *mut *mut u64 = (&raw const array).cast();
    // SAFETY: by the standard, children come after five numbers and the buffers; the number of buffers is the fourth word.
    unsafe { words.add(6).read().add(1).read().add(3).write(1) };
    (schema, array)
}

matrix!(
    all,
    fn columns_of_type_null_may_have_a_buffer(target: &Target) {
        let raw = Raw::fresh(target);
        raw.execute("CREATE TABLE t (n INTEGER, s VARCHAR(10))").expect("it is created");
        for ingests in [false, true] {
            let mut insert = writer(&raw, ingests);
            let (mut schema, mut array) = with_buffer();
            let (handle, values, types) = (&raw mut insert.statement, &raw mut array, &raw mut schema);
            call!(raw.table, StatementBind(handle, values, types)).expect("it is taken");
            assert_eq!(update(&raw, &mut insert), Ok(2));
        }
        let (batches, _) = raw.execute("SELECT n, s FROM t ORDER BY n").expect("it is there");
        assert_eq!(batches[0].column(0).as_primitive::<Int32Type>().values(), &[1, 1, 2, 2]);
        assert_eq!(batches[0].column(1).null_count(), 4);
    },
    fn malformed_batches_are_refused_with_their_number(target: &Target) {
        let raw = Raw::fresh(target);
        raw.execute("CREATE TABLE t (n INTEGER, s VARCHAR(10))").expect("it is created");
        for ingests in [false, true] {
            for (bad, word) in malformed() {
                let mut insert = writer(&raw, ingests);
                bind(&raw, &mut insert, stream(schema(), [rows([1, 2], None), bad]))
                    .expect("the schema is sound");
                let error = fails(update(&raw, &mut insert), Status::InvalidArguments);
                assert!(error.message.contains("batch 1: ") && error.message.contains(word), "{error}");
                assert_eq!(count(&raw), 0, "{error}");
            }
        }
        // One array is checked alike.
        for (bad, word) in malformed() {
            let mut insert = writer(&raw, false);
            let (mut array, mut schema) = (FFI_ArrowArray::new(&bad), schema());
            let (handle, values, types) = (&raw mut insert.statement, &raw mut array, &raw mut schema);
            let error =
                fails(call!(raw.table, StatementBind(handle, values, types)), Status::InvalidArguments);
            assert!(error.message.contains(word), "{error}");
        }
        assert_eq!(count(&raw), 0);
        // Rows of a part of the arrays.
        let mut insert = writer(&raw, true);
        let part = rows([1, 2], None).slice(1, 1);
        bind(&raw, &mut insert, stream(schema(), [part, rows([3, 4], None)])).expect("sound");
        assert_eq!(update(&raw, &mut insert), Ok(3));
        let (batches, _) = raw.execute("SELECT n, s FROM t ORDER BY n").expect("it is there");
        assert_eq!(batches[0].column(0).as_primitive::<Int32Type>().values(), &[2, 3, 4]);
        assert_eq!(batches[0].column(1).as_string::<i32>(), &StringArray::from(vec!["two", "one", "two"]));
    }
);

// A schema is checked when it is bound, before anything is sent.
matrix!(
    [firebird_4_0],
    fn types_of_polars_alone_are_refused_with_the_cast_that_helps(target: &Target) {
        let raw = Raw::fresh(target);
        let mut insert = writer(&raw, true);
        let mut column = FFI_ArrowSchema::try_new("_pli128", vec![], None).expect("a schema");
        column = column.with_name("big").expect("a name");
        let schema = FFI_ArrowSchema::try_new("+s", vec![column], None).expect("a schema");
        let error = fails(bind(&raw, &mut insert, stream(schema, [])), Status::NotImplemented);
        assert!(error.message.contains("pl.col(\"big\").cast(pl.Decimal(38, 0))"), "{error}");
    },
    fn malformed_schemas_are_refused_and_harm_nobody(target: &Target) {
        let raw = Raw::fresh(target);
        raw.execute("CREATE TABLE t (n INTEGER, s VARCHAR(10))").expect("it is created");
        let mut insert = writer(&raw, false);
        let no_struct = FFI_ArrowSchema::try_from(DataType::Int32).expect("a schema");
        let unknown = FFI_ArrowSchema::try_new("?", vec![], None).expect("a schema");
        let childless = FFI_ArrowSchema::try_new("+l", vec![], None).expect("a schema");
        for (schema, word) in [
            (named_badly(), "utf8"),
            (FFI_ArrowSchema::empty(), "released"),
            (no_struct, "struct"),
            (unknown, "?"),
            (childless, ""),
        ] {
            let error = fails(
                bind(&raw, &mut insert, stream(schema, [rows([1, 2], None)])),
                Status::InvalidArguments,
            );
            assert!(error.message.contains(word), "{error}");
        }
        // The same of one array.
        for mut schema in [named_badly(), FFI_ArrowSchema::empty()] {
            let mut array = FFI_ArrowArray::new(&rows([1, 2], None));
            let (handle, values, types) = (&raw mut insert.statement, &raw mut array, &raw mut schema);
            fails(call!(raw.table, StatementBind(handle, values, types)), Status::InvalidArguments);
        }
        // Nothing is bound, and everything goes on.
        fails(update(&raw, &mut insert), Status::InvalidArguments);
        assert_eq!(count(&raw), 0);
        bind(&raw, &mut insert, stream(schema(), [rows([1, 2], None), rows([3, 4], None)])).expect("sound");
        assert_eq!(update(&raw, &mut insert), Ok(4));
        let (batches, _) = raw.execute("SELECT n, s FROM t ORDER BY n").expect("it is there");
        assert_eq!(batches[0].column(0).as_primitive::<Int32Type>().values(), &[1, 2, 3, 4]);
        assert_eq!(
            batches[0].column(1).as_string::<i32>(),
            &StringArray::from(vec!["one", "two", "one", "two"])
        );
    }
);
