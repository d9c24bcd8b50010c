//! Errors in the middle of pipelines: the connection must stay in step with the server.

use super::Wire;
use super::connect::connect_options;
use crate::arrow::{BatchLimits, MaxBlob, ReadOptions};
use crate::backend::link::Link;
use crate::backend::link::tcp::TcpLink;
use crate::backend::{Backend, Blobs, End, Statements, TransactionId, Wanted};
use crate::config::{Config, Target};
use crate::db_key::KeyHolder;
use crate::session::connect::Facts;
use crate::session::run::How;
use crate::session::{Session, ready};
use arrow::array::{ArrayRef, Int32Array, RecordBatch};
use firearrow_proto::api::gds;
use firearrow_proto::api::transaction::TransactionOptions;
use firearrow_proto::wire::packet::transaction::Rollback;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) fn attach(url: &str) -> Session<Wire<TcpLink>> {
    attach_over(url, |link| link, Some(Duration::from_secs(20)))
}

/// Like [`attach`], over another kind of link.
pub(super) fn attach_over<L: Link>(
    url: &str,
    over: impl FnOnce(TcpLink) -> L,
    read_timeout: Option<Duration>,
) -> Session<Wire<L>> {
    let config = Config::parse(url).expect("a valid URL");
    let Target::Remote { host, port, database } = &config.target else { panic!("a wire test") };
    let deadline = Instant::now() + Duration::from_secs(20);
    let link = ready(TcpLink::connect(host, *port, config.address_family, deadline)).expect("it listens");
    let options = connect_options(&config, database, true).expect("options");
    let mut key = KeyHolder::new(&config);
    let wire = Wire::attach(over(link), options, &mut key, deadline, read_timeout);
    Session::new(ready(wire).expect("it attaches"), Arc::new(Facts::of(&config).expect("valid options")))
}

fn blobs(ids: &[u64]) -> Vec<Wanted> {
    ids.iter().map(|id| Wanted::blob(*id, MaxBlob::default())).collect()
}

fn written(session: &mut Session<Wire<TcpLink>>, transaction: TransactionId, texts: &[&[u8]]) -> Vec<u64> {
    ready(session.backend.write_blobs(transaction, texts)).expect("BLOBs are written")
}

firearrow_testkit::matrix!(
    wire,
    fn a_missing_blob_at_any_position_leaves_the_others(target: &firearrow_testkit::Target) {
        let session = &mut attach(&target.fresh_url());
        let transaction = ready(session.begin(&TransactionOptions::default())).expect("it starts");
        let long = vec![7; 200_000];
        let contents: [&[u8]; 5] = [b"one", &long, b"", b"four", b"five"];
        let ids = written(session, transaction, &contents);
        assert_eq!(ids.len(), contents.len());
        for bad in 0..=ids.len() {
            let mut wanted = ids.clone();
            if bad < ids.len() {
                wanted[bad] = 0x7777_0000_4321;
            }
            let mut taken = Vec::new();
            let mut take = |index: usize, bytes: &[u8]| {
                assert_eq!(bytes, contents[index]);
                taken.push(index);
                Ok(true)
            };
            let result = ready(session.backend.read_blobs(transaction, &blobs(&wanted), &mut take));
            if bad < ids.len() {
                let error = result.expect_err("there is no such BLOB");
                assert!(!error.gds_codes().is_empty(), "{error}");
                assert!(taken.iter().all(|index| *index < bad), "{taken:?} in front of {bad}");
            } else {
                result.expect("all are there");
                assert_eq!(taken, [0, 1, 2, 3, 4]);
            }
            assert!(ready(session.backend.ping()).is_ok());
        }
    },
    fn what_others_create_in_between_is_not_taken_for_the_transaction(target: &firearrow_testkit::Target) {
        let session = &mut attach(&target.fresh_url());
        let options = TransactionOptions::default();
        let transaction = ready(session.begin(&options)).expect("it starts");
        ready(session.backend.execute_immediate(transaction, "CREATE TABLE t (c INTEGER)".into()))
            .expect("created");
        ready(session.end(transaction, End::Commit)).expect("it commits");
        let sql = "INSERT INTO t VALUES (1)";
        for _ in 0..3 {
            // The start and the preparation are queued; then another thread takes its turn.
            let deferred = ready(session.begin_deferred(&options)).expect("it will start");
            let prepared = ready(session.recall(deferred, sql.into())).expect("it is prepared");
            let other = ready(session.begin(&TransactionOptions::reading())).expect("it starts");
            ready(session.execute(&prepared, deferred, None)).expect("it runs in its own transaction");
            ready(session.end(deferred, End::Commit)).expect("it commits");
            ready(session.end(other, End::Rollback)).expect("it ends");
            ready(session.backend.free_statement(prepared.id)).expect("it is freed");
        }
    },
    fn who_has_enough_gets_no_more_than_was_asked_for(target: &firearrow_testkit::Target) {
        let session = &mut attach(&target.fresh_url());
        let transaction = ready(session.begin(&TransactionOptions::default())).expect("it starts");
        let texts: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
        let bytes: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let ids = written(session, transaction, &bytes);
        let mut taken = 0;
        let mut take = |index: usize, bytes: &[u8]| {
            assert_eq!((index, bytes), (taken, texts[index].as_bytes()));
            taken += 1;
            Ok(taken < 10)
        };
        ready(session.backend.read_blobs(transaction, &blobs(&ids), &mut take)).expect("they are there");
        assert!((10..=300).contains(&taken), "{taken}");
        let fails = &mut |_: usize, _: &[u8]| Err(super::Error::new(super::Kind::Data, "no"));
        ready(session.backend.read_blobs(transaction, &blobs(&ids), fails)).expect_err("the taker failed");
        ready(session.backend.ping()).expect("still in step");
    },
    fn leaving_does_not_wait_for_what_is_endless(target: &firearrow_testkit::Target) {
        let session = &mut attach(&target.fresh_url());
        let transaction = ready(session.begin(&TransactionOptions::default())).expect("it starts");
        // The first rows fill the server's packets, which shows that it has begun.
        let sql = "EXECUTE BLOCK RETURNS (s CHAR(200) CHARACTER SET ASCII) AS DECLARE n INTEGER = 0; BEGIN
                 WHILE (n < 300) DO BEGIN s = n; n = n + 1; SUSPEND; END
                 WHILE (1 = 1) DO n = n + 1;
             END";
        let prepared = ready(session.prepare(Some(transaction), sql.into())).expect("valid SQL");
        let (read, limits) = (ReadOptions::default(), BatchLimits::default());
        ready(session.open(&prepared, transaction, None, &read, limits)).expect("it runs");
        let begin = Instant::now();
        let error = ready(session.close()).expect_err("the rollback waits for the rows");
        assert_eq!(error.kind(), super::Kind::Timeout, "{error}");
        assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    },
    fn a_transaction_that_is_gone_is_no_failure_of_a_row(target: &firearrow_testkit::Target) {
        let session = &mut attach(&target.fresh_url());
        let mut transaction = ready(session.begin(&TransactionOptions::default())).expect("it starts");
        ready(session.backend.execute_immediate(transaction, "CREATE TABLE t (id INTEGER)".into()))
            .expect("created");
        ready(session.end(transaction, End::Commit)).expect("it commits");
        transaction = ready(session.begin(&TransactionOptions::default())).expect("it starts");
        let insert =
            ready(session.prepare(Some(transaction), "INSERT INTO t VALUES (?)".into())).expect("valid SQL");
        for rows in [10, 5000] {
            let numbers = Arc::new(Int32Array::from_iter_values(0..rows)) as ArrayRef;
            let batch = RecordBatch::try_from_iter([("n", numbers)]).expect("one column");
            // The server has ended the transaction; the client does not know.
            let gone = ready(session.begin(&TransactionOptions::default())).expect("it starts");
            let transaction = session.backend.transactions.handle(gone).expect("it has started").0;
            ready(session.backend.call(&Rollback { transaction })).expect("it is rolled back");
            let writing = session.start_writing(&insert, gone, &batch.schema(), false, &How::default());
            let mut writing = writing.expect("the schema fits");
            let written = ready(session.write_rows(&mut writing, &batch));
            let written = written.and(ready(session.finish_writing(&mut writing)));
            let error = written.expect_err("there is no such transaction");
            assert!(error.gds_codes().contains(&gds::ISC_BAD_TRANS_HANDLE), "{error}");
            let known = writing.into_written();
            assert_eq!((known.rows, known.affected, known.failures.len()), (0, None, 0));
            assert!(ready(session.backend.ping()).is_ok());
        }
    }
);
