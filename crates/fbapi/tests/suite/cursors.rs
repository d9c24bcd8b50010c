//! Statements and cursors.

use super::{Engine, Scratch};
use firearrow_fbapi::{CursorFlags, Error, MessageBuffer, ResultSet, StatementKind};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_proto::api::scroll::Move;
use std::thread;

/// A database with the numbers 1 to `rows` in table T.
fn numbers(engine: &Engine, rows: u32) -> Scratch {
    let scratch = engine.scratch();
    scratch.run(&[
        "create table T (N integer)",
        &format!(
            "execute block as declare I integer = 0; begin while (I < {rows}) do begin I = I + 1; \
             insert into T values (:I); end end"
        ),
    ]);
    scratch
}

fn number(buffer: &MessageBuffer, at: usize) -> i32 {
    i32::from_le_bytes(buffer.bytes()[at..at + 4].try_into().unwrap())
}

pub fn rows_come_in_blocks_until_the_end(engine: &Engine) {
    let scratch = numbers(engine, 1000);
    let transaction = scratch.begin();
    let mut statement =
        scratch.attachment.prepare(&transaction, "select N from T order by N", Dialect::Three).unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    let stride = cursor.stride();
    assert_eq!((cursor.message_length(), stride), (6, 8));
    let mut buffer = MessageBuffer::new(300 * stride);
    let mut seen = Vec::new();
    // The buffer limits the first blocks, `max_rows` the others.
    for (asked, expected) in
        [(1000, (300, false)), (1000, (300, false)), (1, (1, false)), (1000, (300, false))]
    {
        assert_eq!(cursor.fetch_block(&mut buffer, stride, asked).unwrap(), expected);
        seen.extend((0..expected.0).map(|row| number(&buffer, row * stride)));
    }
    // A longer stride leaves gaps between the messages.
    assert_eq!(cursor.fetch_block(&mut buffer, 16, 100).unwrap(), (99, true));
    seen.extend((0..99).map(|row| number(&buffer, row * 16)));
    assert_eq!(seen, (1..=1000).collect::<Vec<_>>());
    cursor.close().unwrap();
    // Once closed, the statement can be opened again.
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    assert!(cursor.fetch_next(buffer.bytes_mut()).unwrap());
    assert_eq!(number(&buffer, 0), 1);
}

pub fn fetching_after_the_end_stays_at_the_end(engine: &Engine) {
    let scratch = numbers(engine, 2);
    let transaction = scratch.begin();
    let mut statement = scratch.attachment.prepare(&transaction, "select N from T", Dialect::Three).unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    let mut buffer = MessageBuffer::new(64);
    assert_eq!(cursor.fetch_block(&mut buffer, 8, 2).unwrap(), (2, false));
    for _ in 0..3 {
        assert_eq!(cursor.fetch_block(&mut buffer, 8, 2).unwrap(), (0, true));
        assert!(!cursor.fetch_next(buffer.bytes_mut()).unwrap());
    }
    cursor.close().unwrap();
}

pub fn rows_before_an_error_come_first(engine: &Engine) {
    let scratch = numbers(engine, 10);
    let transaction = scratch.begin();
    let sql = "select 100 / (N - 4) from T order by N";
    let mut statement = scratch.attachment.prepare(&transaction, sql, Dialect::Three).unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    let stride = cursor.stride();
    let mut buffer = MessageBuffer::new(10 * stride);
    assert_eq!(cursor.fetch_block(&mut buffer, stride, 10).unwrap(), (3, false));
    for _ in 0..2 {
        match cursor.fetch_block(&mut buffer, stride, 10) {
            Err(Error::Status(status)) => assert!(status.contains(gds::ISC_ARITH_EXCEPT), "{status}"),
            other => panic!("{other:?}"),
        }
    }
}

pub fn buffers_are_measured(engine: &Engine) {
    let scratch = numbers(engine, 1);
    let transaction = scratch.begin();
    let mut statement = scratch
        .attachment
        .prepare(&transaction, "select N, cast(N as bigint) from T", Dialect::Three)
        .unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    assert_eq!((cursor.message_length(), cursor.stride()), (18, 24));
    let mut buffer = MessageBuffer::new(48);
    let is_refused = |result: Result<_, Error>| matches!(result, Err(Error::Buffer { needed: 18, .. }));
    assert!(is_refused(cursor.fetch_next(&mut buffer.bytes_mut()[..17]).map(drop)));
    assert!(is_refused(cursor.fetch_next(&mut buffer.bytes_mut()[1..]).map(drop)));
    assert!(is_refused(cursor.fetch_block(&mut buffer, 18, 1).map(drop)));
    assert!(is_refused(cursor.fetch_block(&mut buffer, 16, 1).map(drop)));
    assert!(is_refused(cursor.fetch_block(&mut MessageBuffer::new(8), 24, 1).map(drop)));
    assert!(cursor.fetch_next(&mut buffer.bytes_mut()[24..]).unwrap());
}

pub fn a_cursor_of_a_finished_transaction_reports_it(engine: &Engine) {
    let scratch = numbers(engine, 10);
    let mut transaction = scratch.begin();
    let mut statement = scratch.attachment.prepare(&transaction, "select N from T", Dialect::Three).unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    let mut buffer = MessageBuffer::new(80);
    assert_eq!(cursor.fetch_block(&mut buffer, 8, 2).unwrap(), (2, false));
    transaction.commit().unwrap();
    // 3.0 and 4.0 return "row fetched" here; only the status tells.
    match cursor.fetch_block(&mut buffer, 8, 10) {
        Err(Error::Status(status)) => assert!(status.contains(gds::ISC_BAD_RESULT_SET), "{status}"),
        other => panic!("{other:?}"),
    }
    let closed = cursor.close();
    assert_eq!(closed.is_err(), engine.major == 3, "{closed:?}");
    // The statement is usable again.
    let transaction = scratch.begin();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    assert_eq!(cursor.fetch_block(&mut buffer, 8, 10).unwrap(), (10, false));
}

pub fn cursors_scroll(engine: &Engine) {
    let scratch = numbers(engine, 5);
    let transaction = scratch.begin();
    let mut statement =
        scratch.attachment.prepare(&transaction, "select N from T order by N", Dialect::Three).unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::SCROLLABLE).unwrap();
    let mut buffer = MessageBuffer::new(80);
    for (to, asked, rows, is_outside) in [
        (Move::Prior, 1, &[][..], true),
        (Move::Next, 2, &[1, 2], false),
        (Move::Prior, 3, &[1], true),
        (Move::Next, 10, &[1, 2, 3, 4, 5], true),
        (Move::Next, 1, &[], true),
        (Move::Prior, 2, &[5, 4], false),
        (Move::Relative(0), 1, &[4], false),
        (Move::Relative(-2), 1, &[2], false),
        (Move::Relative(2), 2, &[4], true),
        (Move::Relative(-1), 1, &[5], false),
        (Move::Last, 1, &[5], false),
        (Move::First, 1, &[1], false),
        (Move::Absolute(-2), 1, &[4], false),
        (Move::Absolute(2), 1, &[2], false),
        (Move::Absolute(6), 1, &[], true),
        (Move::Prior, 1, &[5], false),
        (Move::Absolute(0), 1, &[], true),
        (Move::Next, 1, &[1], false),
        // The moves that 3.0 itself gets wrong.
        (Move::Absolute(-6), 1, &[], true),
        (Move::Relative(3), 1, &[3], false),
        (Move::First, 1, &[1], false),
        (Move::Absolute(9), 1, &[], true),
        (Move::Prior, 1, &[5], false),
        (Move::Next, 1, &[], true),
        (Move::Relative(-7), 1, &[], true),
        (Move::Next, 1, &[1], false),
    ] {
        let fetched = cursor.scroll_block(to, &mut buffer, 8, asked).unwrap();
        let found: Vec<i32> = (0..fetched.0).map(|row| number(&buffer, row * 8)).collect();
        assert_eq!((&found[..], fetched.1), (rows, is_outside), "{to:?}");
    }
    cursor.close().unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    match cursor.scroll_block(Move::Prior, &mut buffer, 8, 1) {
        Err(Error::Status(status)) => assert!(status.contains(gds::ISC_INVALID_FETCH_OPTION), "{status}"),
        other => panic!("{other:?}"),
    }
}

pub fn values_may_be_dropped_in_any_order(engine: &Engine) {
    /// Everything alive at once, parents first.
    type All = [Option<Box<dyn std::any::Any>>; 5];
    let orders = [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [1, 3, 0, 4, 2], [2, 0, 4, 1, 3]];
    let base = numbers(engine, 10);
    for order in orders {
        let attachment = engine.library.attach(&base.path, super::DPB).unwrap();
        let transaction = attachment.start_transaction(super::SNAPSHOT).unwrap();
        let mut statement = attachment.prepare(&transaction, "select N from T", Dialect::Three).unwrap();
        let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
        let mut blob = attachment.create_blob(&transaction, &[]).unwrap();
        blob.write_all(b"unfinished").unwrap();
        assert!(cursor.fetch_next(MessageBuffer::new(8).bytes_mut()).unwrap());
        let mut all: All = [
            Some(Box::new(attachment)),
            Some(Box::new(transaction)),
            Some(Box::new(statement)),
            Some(Box::new(cursor)),
            Some(Box::new(blob)),
        ];
        for index in order {
            if let Some(cursor) = all[3].as_mut().and_then(|cursor| cursor.downcast_mut::<ResultSet>()) {
                // The cursor continues, whatever else has been dropped.
                assert!(cursor.fetch_next(MessageBuffer::new(8).bytes_mut()).unwrap());
            }
            all[index] = None;
        }
    }
    // All attachments are gone except this one.
    assert_eq!(base.text("select count(*) from MON$ATTACHMENTS where MON$USER = 'SYSDBA'"), "1");
}

pub fn statements_survive_the_end_of_their_attachment(engine: &Engine) {
    let scratch = numbers(engine, 1);
    let attachment = engine.library.attach(&scratch.path, super::DPB).unwrap();
    let mut transaction = attachment.start_transaction(super::SNAPSHOT).unwrap();
    let statement = attachment.prepare(&transaction, "select N from T", Dialect::Three).unwrap();
    let format = statement.output().unwrap();
    transaction.commit().unwrap();
    attachment.detach().unwrap();
    assert!(matches!(statement.affected_records(), Err(Error::Status(_))));
    assert_eq!(format.descriptors().unwrap()[0].field, "N");
}

pub fn objects_work_in_other_threads(engine: &Engine) {
    let scratch = numbers(engine, 500);
    let transaction = scratch.begin();
    let mut statement = scratch.attachment.prepare(&transaction, "select N from T", Dialect::Three).unwrap();
    let mut cursor = statement.open_cursor(&transaction, None, None, CursorFlags::FORWARD).unwrap();
    let fetching = thread::spawn(move || {
        let mut buffer = MessageBuffer::new(8);
        let mut rows = 0;
        while cursor.fetch_next(buffer.bytes_mut()).unwrap() {
            rows += 1;
        }
        rows
    });
    // Meanwhile the same attachment is busy here.
    for _ in 0..50 {
        let mut other = scratch.begin();
        scratch.attachment.prepare(&other, "select count(*) from T", Dialect::Three).unwrap();
        other.rollback().unwrap();
    }
    assert_eq!(fetching.join().unwrap(), 500);
}

pub fn kinds_flags_and_plans_are_told(engine: &Engine) {
    let scratch = numbers(engine, 3);
    let mut transaction = scratch.begin();
    let prepare = |sql: &str| scratch.attachment.prepare(&transaction, sql, Dialect::Three).unwrap();
    let select = prepare("select N from T");
    let flags = select.flags().unwrap();
    assert!(flags.has_cursor() && flags.is_repeatable());
    assert_eq!(select.kind().unwrap(), StatementKind::SELECT);
    assert!(select.plan(false).unwrap().contains("PLAN (T NATURAL)"));
    assert!(select.plan(true).unwrap().contains("Table \"T\" Full Scan"));
    let ddl = prepare("create table U (A integer)");
    assert_eq!(ddl.kind().unwrap(), StatementKind::DDL);
    assert!(!ddl.flags().unwrap().is_repeatable());
    // The kind of UPDATE … RETURNING changed with 5.0; the flag says how to run it.
    let returning = prepare("update T set N = 5 where N = 1 returning N");
    assert_eq!(returning.flags().unwrap().has_cursor(), engine.major >= 5);
    let mut insert = prepare("insert into T values (7) returning N");
    assert!(!insert.flags().unwrap().has_cursor());
    let format = insert.output().unwrap();
    let mut buffer = MessageBuffer::new(format.message_length());
    insert.execute(&mut transaction, None, Some((&format, buffer.bytes_mut()))).unwrap();
    assert_eq!(number(&buffer, 0), 7);
    assert_eq!((insert.input().unwrap().count(), insert.affected_records().unwrap()), (0, 1));
    let empty = scratch.attachment.prepare(&transaction, "", Dialect::Three);
    assert!(matches!(empty, Err(Error::Status(_))), "{empty:?}");
}
