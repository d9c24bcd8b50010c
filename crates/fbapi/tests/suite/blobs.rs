//! BLOBs.

use super::{Engine, Message, Scratch};
use firearrow_fbapi::{Error, MessageBuffer, SEGMENT, Transaction};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::info::{InfoReader, blob as item};
use firearrow_proto::api::pb::STREAM_BPB;
use firearrow_proto::api::row::{Native, ValueFormat};

/// Bytes that repeat only after a while.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8 ^ (index >> 8) as u8).collect()
}

/// Stores a BLOB in a row and returns the id that the row then has.
fn store(scratch: &Scratch, transaction: &mut Transaction, content: &[u8], bpb: &[u8]) -> u64 {
    let mut blob = scratch.attachment.create_blob(transaction, bpb).unwrap();
    blob.write_all(content).unwrap();
    let id = blob.id();
    blob.close().unwrap();
    let mut insert = scratch
        .attachment
        .prepare(transaction, "insert into T values (?) returning B", Dialect::Three)
        .unwrap();
    let (input, output) = (insert.input().unwrap(), insert.output().unwrap());
    let mut message = Message::new(&input);
    let quad = [((id >> 32) as u32).to_le_bytes(), (id as u32).to_le_bytes()].concat();
    message.set(&input, 0, Some(&quad));
    let mut row = MessageBuffer::new(output.message_length());
    let parameters = Some((&input, message.buffer.bytes_mut()));
    insert.execute(transaction, parameters, Some((&output, row.bytes_mut()))).unwrap();
    Native::quad(row.bytes()).unwrap()
}

fn scratch(engine: &Engine) -> Scratch {
    let scratch = engine.scratch();
    scratch.run(&["create table T (B blob)"]);
    scratch
}

pub fn long_blobs_are_written_and_read_whole(engine: &Engine) {
    let scratch = scratch(engine);
    for length in [0, 1, SEGMENT - 1, SEGMENT, SEGMENT + 1, 65536, 3 * SEGMENT + 7, 1 << 20] {
        for bpb in [&[][..], &STREAM_BPB] {
            let mut transaction = scratch.begin();
            let content = bytes(length);
            let id = store(&scratch, &mut transaction, &content, bpb);
            transaction.commit().unwrap();
            let transaction = scratch.begin();
            let mut blob = scratch.attachment.open_blob(&transaction, id, &[]).unwrap();
            let mut read = b"before".to_vec();
            assert_eq!(blob.read_to_end(&mut read, usize::MAX).unwrap(), length);
            assert!(read.starts_with(b"before") && read[6..] == content, "{length} bytes");
            assert_eq!(blob.read(&mut [0; 10]).unwrap(), None);
            blob.close().unwrap();
        }
    }
}

pub fn reading_stops_at_the_limit(engine: &Engine) {
    let scratch = scratch(engine);
    let mut transaction = scratch.begin();
    let content = bytes(SEGMENT + 100);
    let id = store(&scratch, &mut transaction, &content, &[]);
    let open = || scratch.attachment.open_blob(&transaction, id, &[]).unwrap();
    let mut read = Vec::new();
    assert_eq!(open().read_to_end(&mut read, content.len()).unwrap(), content.len());
    read.clear();
    let result = open().read_to_end(&mut read, content.len() - 1);
    assert!(matches!(result, Err(Error::BlobTooLong { limit }) if limit == content.len() - 1));
    assert_eq!(read, content[..SEGMENT]);
    // Piece by piece, segments end where they were written.
    let mut blob = open();
    let mut buffer = vec![0; 2 * SEGMENT];
    assert_eq!(blob.read(&mut buffer).unwrap(), Some(SEGMENT));
    assert_eq!(blob.read(&mut buffer[..60]).unwrap(), Some(60));
    assert_eq!(blob.read(&mut buffer).unwrap(), Some(40));
    assert_eq!(blob.read(&mut buffer).unwrap(), None);
}

pub fn blobs_that_are_not_closed_are_discarded(engine: &Engine) {
    let scratch = scratch(engine);
    let transaction = scratch.begin();
    let ids = [false, true].map(|cancels| {
        let mut blob = scratch.attachment.create_blob(&transaction, &[]).unwrap();
        blob.write_all(b"text").unwrap();
        let id = blob.id();
        if cancels {
            blob.cancel().unwrap();
        }
        id
    });
    for id in ids {
        assert!(scratch.attachment.open_blob(&transaction, id, &[]).is_err());
    }
}

pub fn blob_information_is_told(engine: &Engine) {
    let scratch = scratch(engine);
    let mut transaction = scratch.begin();
    let id = store(&scratch, &mut transaction, &bytes(70_000), &[]);
    let blob = scratch.attachment.open_blob(&transaction, id, &[]).unwrap();
    let asked = [item::NUM_SEGMENTS, item::MAX_SEGMENT, item::TOTAL_LENGTH, item::TYPE];
    let answer = blob.info(&asked, 64).unwrap();
    let items: Vec<_> = InfoReader::new(&answer).map(|item| (item.code, item.integer())).collect();
    // The longest segment is stored in 16 bits; the two bytes of 65535 read sign-extended.
    assert_eq!(items[0], (item::NUM_SEGMENTS, Some(2)));
    assert_eq!(items[2], (item::TOTAL_LENGTH, Some(70_000)));
    assert_eq!(items[3], (item::TYPE, Some(0)));
}
