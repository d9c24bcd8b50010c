//! Bulk operations, introduced in 4.0.

use super::{Engine, Message, Scratch, varying};
use firearrow_fbapi::{
    Attachment, Batch, BatchOptions, BlobPolicy, BlobStream, Completion, Error, MessageBuffer, Metadata,
    RecordState, Statement, Transaction,
};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_proto::api::layout::{FieldKind, FieldLayout, RowLayout};
use firearrow_proto::api::pb::STREAM_BPB;
use firearrow_proto::api::status::StatusVector;
use std::thread;

/// A database with a table of unique numbers and BLOBs; `None` on 3.0, which must report that.
fn scratch(engine: &Engine) -> Option<Scratch> {
    let scratch = engine.scratch();
    scratch.run(&["create table T (N integer not null primary key, B blob)"]);
    if engine.major > 3 {
        return Some(scratch);
    }
    let transaction = scratch.begin();
    let mut insert = prepare(&scratch.attachment, &transaction, INSERT);
    let format = insert.input().unwrap();
    let result = insert.create_batch(&format, &BatchOptions::default());
    assert!(matches!(result, Err(Error::Unsupported { since: "4.0", .. })), "{result:?}");
    None
}

const INSERT: &str = "insert into T (N) values (?)";
const INSERT_BLOB: &str = "insert into T (N, B) values (?, ?)";

fn prepare(attachment: &Attachment, transaction: &Transaction, sql: &str) -> Statement {
    attachment.prepare(transaction, sql, Dialect::Three).unwrap()
}

/// A bulk operation and the format of its messages.
fn open(
    scratch: &Scratch,
    transaction: &Transaction,
    sql: &str,
    options: &BatchOptions,
) -> (Batch, Metadata) {
    let mut statement = prepare(&scratch.attachment, transaction, sql);
    let format = statement.input().unwrap();
    (statement.create_batch(&format, options).unwrap(), format)
}

/// Messages of one number each.
fn messages(format: &Metadata, numbers: impl ExactSizeIterator<Item = i32>) -> MessageBuffer {
    let stride = format.stride();
    let mut buffer = MessageBuffer::new(numbers.len() * stride);
    for (message, number) in buffer.bytes_mut().chunks_exact_mut(stride).zip(numbers) {
        message[..4].copy_from_slice(&number.to_le_bytes());
    }
    buffer
}

/// Executes a bulk operation for the given numbers.
fn run(batch: &mut Batch, transaction: &Transaction, format: &Metadata, numbers: &[i32]) -> Completion {
    batch.add(messages(format, numbers.iter().copied()).bytes(), numbers.len()).unwrap();
    batch.execute(transaction).unwrap()
}

fn status(result: Result<impl Sized, Error>) -> StatusVector {
    match result {
        Err(Error::Status(status)) => status,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("no error"),
    }
}

fn is_misuse(result: Result<impl Sized, Error>) -> bool {
    matches!(result, Err(Error::Argument { .. }))
}

pub fn batches_insert_many_rows(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    let mut transaction = scratch.begin();
    let (mut batch, format) = open(&scratch, &transaction, INSERT, &BatchOptions::default());
    assert_eq!((batch.stride(), format.message_length()), (8, 6));
    // Far more than the engine keeps in memory, added in pieces, executed together.
    let count = 30_000;
    let buffer = messages(&format, 0..count);
    for piece in buffer.bytes().chunks(7_000 * batch.stride()) {
        batch.add(piece, piece.len() / format.stride()).unwrap();
    }
    batch.add(&[], 0).unwrap();
    let completion = batch.execute(&transaction).unwrap();
    assert_eq!(completion, Completion { processed: count as usize, ..Completion::default() });
    assert_eq!(completion.state(0), Some(RecordState::Done));
    // It can take messages again, or be executed without any.
    assert_eq!(run(&mut batch, &transaction, &format, &[-1, -2]).processed, 2);
    assert_eq!(batch.execute(&transaction).unwrap(), Completion::default());
    batch.close().unwrap();
    transaction.commit().unwrap();
    assert_eq!(scratch.text("select count(*) || ' ' || sum(N) from T"), format!("30002 {}", 449_985_000 - 3));
}

pub fn batches_count_rows_on_demand(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    scratch.run(&["create table U (N integer)"]);
    for number in [1, 2, 2] {
        scratch.run(&[&format!("insert into U values ({number})")]);
    }
    let transaction = scratch.begin();
    let options = BatchOptions { record_counts: true, ..BatchOptions::default() };
    let (mut batch, format) = open(&scratch, &transaction, "update U set N = -N where N = ?", &options);
    let completion = run(&mut batch, &transaction, &format, &[2, 3, 1]);
    let expected = [2, 0, 1].map(RecordState::Changed);
    assert_eq!((completion.processed, &completion.records[..]), (3, &expected[..]));
    assert_eq!((completion.state(1), completion.state(3)), (Some(expected[1]), None));
}

pub fn failures_of_batches_are_numbered(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    let numbers = [1, 2, 1, 3, 2, 4];
    for (multi_error, processed, failed) in [(false, 3, &[2][..]), (true, 6, &[2, 4][..])] {
        for record_counts in [false, true] {
            let mut transaction = scratch.begin();
            let options = BatchOptions { multi_error, record_counts, ..BatchOptions::default() };
            let (mut batch, format) = open(&scratch, &transaction, INSERT, &options);
            let completion = run(&mut batch, &transaction, &format, &numbers);
            assert_eq!(completion.processed, processed);
            assert_eq!(completion.records.len(), if record_counts { processed } else { 0 });
            let records: Vec<_> = completion.failures.iter().map(|failure| failure.record).collect();
            assert_eq!(records, failed);
            for record in 0..numbers.len() {
                let expected = match record_counts {
                    _ if record >= processed => None,
                    _ if failed.contains(&record) => Some(RecordState::Failed),
                    true => Some(RecordState::Changed(1)),
                    false => Some(RecordState::Done),
                };
                assert_eq!(completion.state(record), expected, "message {record}");
            }
            let details = completion.failures[0].status.as_ref().unwrap();
            assert!(details.contains(gds::ISC_UNIQUE_KEY_VIOLATION), "{details}");
            // Dropped messages do not come back, and successful ones are done.
            let completion = run(&mut batch, &transaction, &format, &[7]);
            assert_eq!((completion.processed, completion.failures.len()), (1, 0));
            batch.close().unwrap();
            transaction.rollback().unwrap();
        }
    }
}

pub fn details_of_failures_have_a_limit(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    let transaction = scratch.begin();
    let options = BatchOptions { multi_error: true, detailed_errors: Some(2), ..BatchOptions::default() };
    let (mut batch, format) = open(&scratch, &transaction, INSERT, &options);
    let completion = run(&mut batch, &transaction, &format, &[1, 1, 2, 2, 2, 3, 3]);
    let failures: Vec<_> =
        completion.failures.iter().map(|failure| (failure.record, failure.status.is_some())).collect();
    assert_eq!(failures, [(1, true), (3, true), (4, false), (6, false)]);
}

/// The content of the BLOB that belongs to a number.
fn content(number: i32) -> Vec<u8> {
    let length = [0, 1, 5, 1000, 70_000, 300_000][number as usize % 6];
    (0..length).map(|index| (index % 251) as u8 ^ number as u8).collect()
}

/// Inserts the BLOBs that `add` adds with their ids, and reads them back.
fn check_blobs(
    scratch: &Scratch,
    blobs: BlobPolicy,
    mut add: impl FnMut(&mut Batch, &Transaction, i32, &[u8]) -> u64,
) {
    let mut transaction = scratch.begin();
    let options = BatchOptions { blobs, ..BatchOptions::default() };
    let (mut batch, format) = open(scratch, &transaction, INSERT_BLOB, &options);
    assert_eq!(batch.blob_alignment().unwrap() as usize, BlobStream::ALIGNMENT);
    for start in [0, 6] {
        for number in start..start + 6 {
            let id = add(&mut batch, &transaction, number, &content(number));
            let mut message = Message::new(&format);
            message.set(&format, 0, Some(&number.to_le_bytes()));
            message.set(&format, 1, Some(&quad(id)));
            message.buffer.grow(format.stride());
            batch.add(message.buffer.bytes(), 1).unwrap();
        }
        // One without a BLOB.
        let mut message = Message::new(&format);
        message.set(&format, 0, Some(&(100 + start).to_le_bytes()));
        message.set(&format, 1, None);
        message.buffer.grow(format.stride());
        batch.add(message.buffer.bytes(), 1).unwrap();
        let completion = batch.execute(&transaction).unwrap();
        assert_eq!((completion.processed, completion.failures), (7, Vec::new()), "{blobs:?}");
    }
    drop(batch);
    transaction.commit().unwrap();
    for number in 0..12 {
        assert!(read(scratch, number) == content(number), "BLOB {number} of {blobs:?}");
    }
    assert_eq!(scratch.text("select count(*) from T where B is null"), "2");
    scratch.run(&["delete from T"]);
}

fn quad(id: u64) -> Vec<u8> {
    [((id >> 32) as u32).to_le_bytes(), (id as u32).to_le_bytes()].concat()
}

fn read(scratch: &Scratch, number: i32) -> Vec<u8> {
    let transaction = scratch.begin();
    let mut select =
        prepare(&scratch.attachment, &transaction, &format!("select B from T where N = {number}"));
    let mut cursor = select.open_cursor(&transaction, None, None, Default::default()).unwrap();
    let mut buffer = MessageBuffer::new(cursor.message_length());
    assert!(cursor.fetch_next(buffer.bytes_mut()).unwrap());
    let word = |at: usize| u64::from(u32::from_le_bytes(buffer.bytes()[at..at + 4].try_into().unwrap()));
    let mut blob = scratch.attachment.open_blob(&transaction, word(0) << 32 | word(4), &[]).unwrap();
    let mut bytes = Vec::new();
    blob.read_to_end(&mut bytes, usize::MAX).unwrap();
    bytes
}

pub fn blobs_get_into_batches_in_every_way(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    check_blobs(&scratch, BlobPolicy::EngineIds, |batch, _, _, bytes| {
        batch.add_blob(None, bytes, &[]).unwrap()
    });
    check_blobs(&scratch, BlobPolicy::OwnIds, |batch, _, number, bytes| {
        batch.add_blob(Some(1 << 32 | number as u64), bytes, &STREAM_BPB).unwrap()
    });
    // All BLOBs of an execution at once, before the first message refers to one.
    check_blobs(&scratch, BlobPolicy::Stream, |batch, _, number, _| {
        if number % 6 == 0 {
            let mut stream = BlobStream::new();
            for number in number..number + 6 {
                stream.push(1 + number as u64, &content(number)).unwrap();
            }
            batch.add_blob_stream(&stream).unwrap();
        }
        1 + number as u64
    });
    for blobs in [BlobPolicy::None, BlobPolicy::EngineIds, BlobPolicy::Stream] {
        check_blobs(&scratch, blobs, |batch, transaction, _, bytes| {
            let mut blob = scratch.attachment.create_blob(transaction, &[]).unwrap();
            blob.write_all(bytes).unwrap();
            let id = blob.id();
            blob.close().unwrap();
            batch.register_blob(id, (blobs != BlobPolicy::EngineIds).then_some(id)).unwrap()
        });
    }
}

pub fn segmented_blobs_get_into_batches(engine: &Engine) {
    const SEGMENTED: &[u8] = &[1, 3, 1, 0];
    let Some(scratch) = scratch(engine) else { return };
    let mut transaction = scratch.begin();
    let options = BatchOptions { blobs: BlobPolicy::EngineIds, ..BatchOptions::default() };
    let (mut batch, format) = open(&scratch, &transaction, INSERT_BLOB, &options);
    let id = batch.add_blob(None, b"odd", SEGMENTED).unwrap();
    // Longer than a segment can be: the engine has already started on it, so only cancelling is possible.
    assert!(status(batch.add_blob(None, &[0; 70_000], SEGMENTED)).contains(gds::ISC_IMP_EXC));
    assert!(is_misuse(batch.add_blob(None, b"next", SEGMENTED)));
    assert!(is_misuse(batch.execute(&transaction)));
    batch.cancel().unwrap();
    let again = batch.add_blob(None, b"odd", SEGMENTED).unwrap();
    assert_eq!(id, again, "ids start again");
    let mut message = Message::new(&format);
    message.set(&format, 0, Some(&1_i32.to_le_bytes()));
    message.set(&format, 1, Some(&quad(id)));
    message.buffer.grow(format.stride());
    batch.add(message.buffer.bytes(), 1).unwrap();
    assert_eq!(batch.execute(&transaction).unwrap().failures, []);
    drop(batch);
    transaction.commit().unwrap();
    assert_eq!(read(&scratch, 1), b"odd");
}

pub fn unknown_blobs_stop_a_batch(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    let transaction = scratch.begin();
    for blobs in [BlobPolicy::None, BlobPolicy::OwnIds] {
        let options = BatchOptions { multi_error: true, blobs, ..BatchOptions::default() };
        let (mut batch, format) = open(&scratch, &transaction, INSERT_BLOB, &options);
        let mut message = Message::new(&format);
        message.set(&format, 1, Some(&quad(12345)));
        message.buffer.grow(format.stride());
        batch.add(message.buffer.bytes(), 1).unwrap();
        assert!(status(batch.execute(&transaction)).contains(gds::ISC_BATCH_BLOB_ID));
        // The engine would keep the message; this crate does not.
        assert_eq!(batch.execute(&transaction).unwrap().processed, 0);
    }
}

pub fn values_that_cannot_be_converted_stop_a_batch(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    let transaction = scratch.begin();
    let mut insert = prepare(&scratch.attachment, &transaction, INSERT_BLOB);
    // Numbers as text, and BLOBs, in a format of our own.
    let layout = RowLayout::new([FieldKind::Varying(10), FieldKind::Blob].map(FieldLayout::plain));
    let format = Metadata::for_layout(&engine.library, &layout).unwrap();
    let options = BatchOptions { multi_error: true, blobs: BlobPolicy::EngineIds, ..BatchOptions::default() };
    let mut batch = insert.create_batch(&format, &options).unwrap();
    let add = |batch: &mut Batch, text: &str| {
        let id = batch.add_blob(None, b"content", &[]).unwrap();
        let mut message = Message::new(&format);
        message.set(&format, 0, Some(&varying(text)));
        message.set(&format, 1, Some(&quad(id)));
        message.buffer.grow(format.stride());
        batch.add(message.buffer.bytes(), 1).unwrap();
    };
    ["1", "x", "2"].into_iter().for_each(|text| add(&mut batch, text));
    assert!(status(batch.execute(&transaction)).contains(gds::ISC_CONVERT_ERROR));
    // The first one is done, and the third one is discarded.
    assert_eq!(batch.execute(&transaction).unwrap().processed, 0);
    ["2", "1"].into_iter().for_each(|text| add(&mut batch, text));
    let failures = batch.execute(&transaction).unwrap().failures;
    assert_eq!(failures.iter().map(|failure| failure.record).collect::<Vec<_>>(), [1]);
}

pub fn batches_have_a_size(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    let transaction = scratch.begin();
    let options = BatchOptions { buffer_size: Some(1 << 20), ..BatchOptions::default() };
    let (mut batch, format) = open(&scratch, &transaction, INSERT, &options);
    let half = 70_000;
    let buffer = messages(&format, 0..2 * half);
    let (first, second) = buffer.bytes().split_at(half as usize * format.stride());
    batch.add(first, half as usize).unwrap();
    assert!(status(batch.add(second, half as usize)).contains(gds::ISC_BATCH_TOO_BIG));
    // The earlier messages remain, and nothing of the excess.
    assert_eq!(batch.execute(&transaction).unwrap().processed, half as usize);
    batch.add(second, half as usize).unwrap();
    assert_eq!(batch.execute(&transaction).unwrap().processed, half as usize);
}

pub fn misused_batches_are_refused(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    let mut transaction = scratch.begin();
    let defaults = BatchOptions::default();
    let create = |sql: &str| {
        let mut statement = prepare(&scratch.attachment, &transaction, sql);
        let format = statement.input().unwrap();
        statement.create_batch(&format, &defaults).map(drop)
    };
    assert!(is_misuse(create("insert into T (N) values (1)")), "no parameters");
    assert!(is_misuse(create("insert into T (N) values (?) returning N")), "would insert nothing");
    assert!(is_misuse(create("select N from T where N = ?")));
    // One bulk operation at a time.
    let mut insert = prepare(&scratch.attachment, &transaction, INSERT);
    let format = insert.input().unwrap();
    let batch = insert.create_batch(&format, &defaults).unwrap();
    assert!(status(insert.create_batch(&format, &defaults)).contains(gds::ISC_BATCH_OPEN));
    drop(batch);
    let mut batch = insert.create_batch(&format, &defaults).unwrap();
    let buffer = messages(&format, 0..2);
    assert!(matches!(batch.add(buffer.bytes(), 3), Err(Error::Buffer { needed: 24, given: 16, .. })));
    assert!(matches!(batch.add(&buffer.bytes()[1..], 1), Err(Error::Buffer { .. })));
    assert!(batch.add(buffer.bytes(), usize::MAX).is_err());
    // Not every bulk operation takes BLOBs.
    assert!(status(batch.add_blob(Some(1), b"x", &[])).contains(gds::ISC_BATCH_BLOBS));
    assert!(is_misuse(batch.add_blob_stream(&BlobStream::new())), "not before it is cancelled");
    batch.cancel().unwrap();
    let (mut blobs, _) = open(&scratch, &transaction, INSERT_BLOB, &defaults);
    assert!(status(blobs.add_blob(Some(1), b"x", &[])).contains(gds::ISC_BATCH_POLICY));
    assert!(is_misuse(blobs.register_blob(1, Some(0))));
    assert!(is_misuse(blobs.register_blob(1, None)));
    // A transaction of another attachment, or one that has ended.
    let other = engine.library.attach(&scratch.path, super::DPB).unwrap();
    let foreign = other.start_transaction(super::SNAPSHOT).unwrap();
    assert!(is_misuse(batch.execute(&foreign)));
    batch.add(buffer.bytes(), 2).unwrap();
    transaction.rollback().unwrap();
    assert!(matches!(batch.execute(&transaction), Err(Error::NoTransaction)));
    // The messages remain for the next one.
    assert_eq!(batch.execute(&scratch.begin()).unwrap().processed, 2);
}

pub fn batches_may_outlive_what_they_came_from(engine: &Engine) {
    let Some(scratch) = scratch(engine) else { return };
    let attachment = engine.library.attach(&scratch.path, super::DPB).unwrap();
    let mut transaction = attachment.start_transaction(super::SNAPSHOT).unwrap();
    let mut statement = prepare(&attachment, &transaction, INSERT);
    let format = statement.input().unwrap();
    let mut batch = statement.create_batch(&format, &BatchOptions::default()).unwrap();
    let buffer = messages(&format, 0..10);
    drop((statement, format, attachment));
    // It can move to other threads.
    let processed = thread::spawn(move || {
        batch.add(buffer.bytes(), 10).unwrap();
        let completion = batch.execute(&transaction).unwrap();
        // Messages that are not executed are never inserted.
        batch.add(buffer.bytes(), 10).unwrap();
        drop(batch);
        transaction.commit().unwrap();
        completion.processed
    });
    assert_eq!(processed.join().unwrap(), 10);
    assert_eq!(scratch.text("select count(*) from T"), "10");
    // A bulk operation on a closed attachment only reports errors.
    let attachment = engine.library.attach(&scratch.path, super::DPB).unwrap();
    let mut transaction = attachment.start_transaction(super::SNAPSHOT).unwrap();
    let mut statement = prepare(&attachment, &transaction, INSERT);
    let format = statement.input().unwrap();
    let mut batch = statement.create_batch(&format, &BatchOptions::default()).unwrap();
    transaction.commit().unwrap();
    attachment.detach().unwrap();
    assert!(batch.add(messages(&format, 0..1).bytes(), 1).is_err());
    assert!(batch.close().is_err());
}
