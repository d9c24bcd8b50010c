//! The loops on an embedded engine.
#![allow(missing_docs, reason = "a test binary has no public interface")]

use firearrow_fbapi::{Attachment, Error, Library, LoadOptions, Runtime, RuntimeHint};
use firearrow_peers::{Method, blob_loop, checksum, insert_loop, raw_loop, value};
use firearrow_proto::api::dialect::Dialect;
use firearrow_proto::api::gds;
use firearrow_testkit::platform;

const DPB: &[u8] = b"\x01\x1c\x06SYSDBA\x30\x04UTF8\x4d\x00";

/// Runs `body` on a new database.
fn with_database(test: &str, statements: &[&str], body: impl Fn(&Attachment)) {
    firearrow_testkit::run(platform::embedded_5_0(), test, |target| {
        let runtime = Runtime::discover(&RuntimeHint::at(target.engine())).unwrap();
        let library = Library::load(&runtime, &LoadOptions::default()).unwrap();
        let path = target.database_path(test);
        let attachment = library.create(path.to_str().unwrap(), DPB).unwrap();
        for sql in statements {
            let mut transaction = attachment.start_transaction(&[]).unwrap();
            attachment.execute_immediate(Some(&mut transaction), sql, Dialect::Three).unwrap();
            transaction.commit().unwrap();
        }
        body(&attachment);
    });
}

#[test]
fn every_row_is_fetched_once() {
    with_database("every_row_is_fetched_once", &[], |attachment| {
        let sql = "with recursive N as (select 1 as I from RDB$DATABASE union all select I + 1 from N where I < 1000) \
                   select I, I * 2 from N";
        let result = raw_loop(attachment, sql).unwrap();
        assert_eq!(result.rows, 1000);
        assert_eq!(result.bytes, 1000 * 18);
        let expected = (1..=1000_u64).fold(0, |sum, number| sum ^ number);
        assert_eq!(result.checksum & 0xffff_ffff, expected);
        let nothing = raw_loop(attachment, "select 1 from RDB$DATABASE where 1 = 0").unwrap();
        assert_eq!((nothing.rows, nothing.checksum), (0, 0));
        assert!(raw_loop(attachment, "nonsense").is_err());
    });
}

#[test]
fn every_blob_is_read_to_its_end() {
    let statements = [
        "create table T (N integer, A blob, B blob sub_type text)",
        "insert into T values (1, 'abc', 'eight by')",
        "insert into T values (2, null, '')",
        "execute block as declare A blob; begin insert into T values (3, '0123456789', null) returning A into A; \
         while (octet_length(A) < 100000) do A = A || A; update T set A = :A where N = 3; end",
    ];
    with_database("every_blob_is_read_to_its_end", &statements, |attachment| {
        let result = blob_loop(attachment, "select A, N, B from T order by N").unwrap();
        // 10 bytes, doubled until there are more than 100000 of them: longer than two segments.
        let long = b"0123456789".repeat(1 << 14);
        assert_eq!((result.rows, result.blobs), (3, 4));
        assert_eq!(result.blob_bytes, 3 + 8 + long.len() as u64);
        let expected = [&b"abc"[..], b"eight by", &long].map(checksum);
        assert_eq!(result.checksum, expected.into_iter().fold(0, u64::wrapping_add));
    });
}

#[test]
fn inserted_rows_have_the_values_promised() {
    let statements =
        ["create table T (A integer, B integer, C integer not null)", "recreate table U (S smallint)"];
    with_database("inserted_rows_have_the_values_promised", &statements, |attachment| {
        let insert = |sql: &str, rows, method| insert_loop(attachment, sql, rows, method);
        for method in [Method::One, Method::Batch(7), Method::Batch(1000)] {
            let result = insert("insert into T (A, B, C) values (?, ?, ?)", 100, method).unwrap();
            assert_eq!(result.rows, 100);
            let expected = |column| (0..100).map(|row| i64::from(value(row, column))).sum::<i64>();
            let sql = format!(
                "select * from RDB$DATABASE where (select count(*) || ' ' || sum(A) || ' ' || sum(B) || ' ' || sum(C) \
                 from T) = '100 {} {} {}'",
                expected(0),
                expected(1),
                expected(2)
            );
            assert_eq!(raw_loop(attachment, &sql).unwrap().rows, 1, "{method:?}");
            let mut transaction = attachment.start_transaction(&[]).unwrap();
            attachment.execute_immediate(Some(&mut transaction), "delete from T", Dialect::Three).unwrap();
            transaction.commit().unwrap();
        }
        assert!(matches!(insert("insert into U values (?)", 1, Method::One), Err(Error::Argument { .. })));
    });
}

#[test]
fn a_row_that_cannot_be_inserted_fails_the_loop() {
    let statements = ["create table T (A integer check (A < 310))"];
    with_database("a_row_that_cannot_be_inserted_fails_the_loop", &statements, |attachment| {
        for method in [Method::One, Method::Batch(4)] {
            match insert_loop(attachment, "insert into T values (?)", 11, method) {
                Err(Error::Status(status)) => assert!(status.contains(gds::ISC_CHECK_CONSTRAINT), "{status}"),
                other => panic!("{other:?}"),
            }
            assert_eq!(raw_loop(attachment, "select * from T").unwrap().rows, 0, "nothing is left of it");
            assert!(insert_loop(attachment, "insert into T values (?)", 0, method).is_ok());
        }
    });
}
