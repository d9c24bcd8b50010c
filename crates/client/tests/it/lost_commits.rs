//! Commits whose answer gets lost on its way.

use crate::support::{at, column, fresh_closed, run};
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use firearrow::config::WireCrypt;
use firearrow::{CommitOutcome, Config, Connection, Error, Kind, LostCommit, TransactionOptions};
use firearrow_testkit::{Behaviour, Proxy, Side, Target, matrix};
use std::time::{Duration, Instant};

fn traceable() -> TransactionOptions {
    TransactionOptions::default().no_auto_undo(true)
}

/// A database with a table `t`, a proxy to its server, and how to connect without and with it.
fn database(target: &Target) -> (Config, Config, Proxy) {
    let direct = fresh_closed(target);
    run(&Connection::open(&direct).expect("it opens"), "CREATE TABLE t (n INTEGER)");
    let proxy = Proxy::start(target.server().address(), Behaviour::pass()).expect("a proxy");
    let through = at(target, &direct, proxy.address(), "");
    (direct, through, proxy)
}

/// The rows of `t`, once the server has noticed that the other connection is gone.
fn rows_of_t(direct: &Config) -> i64 {
    const OTHERS: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM MON$ATTACHMENTS \
        WHERE MON$ATTACHMENT_ID <> CURRENT_CONNECTION AND MON$SYSTEM_FLAG = 0";
    let connection = Connection::open(direct).expect("it opens");
    let number = |sql: &str| column(&connection, sql).as_primitive::<Int64Type>().value(0);
    let begin = Instant::now();
    // Not all the time: see the test campaign.
    std::thread::sleep(Duration::from_millis(100));
    while number(OTHERS) > 0 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(100));
    }
    number("SELECT CAST(COUNT(*) AS BIGINT) FROM t")
}

fn assert_lost(error: &Error, transaction: Option<u64>, outcome: CommitOutcome) {
    assert_eq!(error.kind(), Kind::CommitUnknown, "{error}");
    assert_eq!(error.lost_commit(), Some(&LostCommit { transaction, outcome }), "{error}");
    assert_eq!(error.sqlstate(), "08007", "{error}");
    if let Some(number) = transaction {
        assert!(error.message().contains(&number.to_string()), "{error}");
    }
}

matrix!(
    wire,
    fn the_server_tells_what_became_of_a_lost_commit(target: &Target) {
        for (options, lost, outcome, rows) in [
            (traceable(), Side::Server, CommitOutcome::Committed, 1),
            (traceable(), Side::Client, CommitOutcome::RolledBack, 0),
            // The inventory has these two alike: what was undone counts as committed.
            (TransactionOptions::default(), Side::Server, CommitOutcome::Unknown, 1),
            (TransactionOptions::default(), Side::Client, CommitOutcome::Unknown, 0),
        ] {
            for begins_late in [false, true] {
                let (direct, through, proxy) = database(target);
                let connection = Connection::open(&through).expect("it opens");
                let begin = if begins_late { Connection::begin_lazy } else { Connection::begin };
                let mut transaction = begin(&connection, options).expect("it starts");
                transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
                let number = transaction.number().expect("a number");
                proxy.lose_next(lost);
                let error = transaction.commit().expect_err("its answer is lost");
                assert_lost(&error, Some(number), outcome);
                assert_eq!(error.message().contains("or undone"), !options.no_auto_undo, "{error}");
                drop(connection);
                assert_eq!(rows_of_t(&direct), rows, "{lost:?}");
            }
        }
    },
    fn many_rows_and_their_commit(target: &Target) {
        for (lost, outcome, rows) in
            [(Side::Server, CommitOutcome::Committed, 5000), (Side::Client, CommitOutcome::RolledBack, 0)]
        {
            let (direct, through, proxy) = database(target);
            let connection = Connection::open(&through).expect("it opens");
            let mut transaction = connection.begin_lazy(traceable()).expect("it starts");
            let values = arrow::array::Int32Array::from_iter_values(0..5000);
            let values: arrow::array::ArrayRef = std::sync::Arc::new(values);
            let batch = arrow::array::RecordBatch::try_from_iter([("n", values)]).expect("a batch");
            transaction.execute_with("INSERT INTO t VALUES (?)", batch).expect("it inserts");
            let number = transaction.number().expect("a number");
            proxy.lose_next(lost);
            assert_lost(&transaction.commit().expect_err("its answer is lost"), Some(number), outcome);
            drop(connection);
            assert_eq!(rows_of_t(&direct), rows);
        }
    },
    fn a_retaining_commit(target: &Target) {
        let (direct, through, proxy) = database(target);
        let connection = Connection::open(&through).expect("it opens");
        let mut transaction = connection.begin_lazy(traceable()).expect("it starts");
        for rows in 1..=2 {
            transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
            // It goes on under another number each time.
            let number = transaction.number().expect("a number");
            if rows == 1 {
                transaction.commit_retaining().expect("it is committed");
                continue;
            }
            proxy.lose_next(Side::Server);
            let error = transaction.commit_retaining().expect_err("its answer is lost");
            assert_lost(&error, Some(number), CommitOutcome::Committed);
        }
        drop((transaction, connection));
        assert_eq!(rows_of_t(&direct), 2);
    },
    fn a_commit_in_sql(target: &Target) {
        for (sql, is_prepared) in [("COMMIT", true), ("COMMIT", false), ("COMMIT RETAIN", false)] {
            for (lost, outcome, rows) in
                [(Side::Server, CommitOutcome::Committed, 1), (Side::Client, CommitOutcome::RolledBack, 0)]
            {
                let (direct, through, proxy) = database(target);
                let connection = Connection::open(&through).expect("it opens");
                let mut transaction = connection.begin_lazy(traceable()).expect("it starts");
                transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
                let number = transaction.number().expect("a number");
                let prepared = is_prepared.then(|| transaction.prepare(sql).expect("it is SQL"));
                proxy.lose_next(lost);
                let ended = match &prepared {
                    Some(prepared) => prepared.execute(&mut transaction, ()).map(|_| ()),
                    None => transaction.execute_immediate(sql),
                };
                assert_lost(&ended.expect_err("its answer is lost"), Some(number), outcome);
                // Nothing was sent this time.
                let error = transaction.execute_immediate(sql).expect_err("the connection is gone");
                assert_ne!(error.kind(), Kind::CommitUnknown, "{error}");
                drop((prepared, transaction, connection));
                assert_eq!(rows_of_t(&direct), rows, "{sql}, {lost:?}");
            }
        }
    },
    fn a_retaining_commit_in_sql_leaves_no_number_behind(target: &Target) {
        let (direct, through, proxy) = database(target);
        let connection = Connection::open(&through).expect("it opens");
        let mut transaction = connection.begin_lazy(traceable()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        transaction.execute_immediate("COMMIT RETAIN").expect("it is committed");
        proxy.lose_next(Side::Client);
        // What became of the first number says nothing of the second.
        assert_lost(&transaction.commit().expect_err("it is lost"), None, CommitOutcome::Unknown);
        drop(connection);
        assert_eq!(rows_of_t(&direct), 1);
    },
    fn a_commit_that_leaves_with_its_statement_has_no_number(target: &Target) {
        const SQL: &str = "INSERT INTO t VALUES (1)";
        // Answers come one by one: the first may get lost before the server has read the commit.
        for (lost, rows) in [(Side::Server, 1..=2), (Side::Client, 1..=1)] {
            let (direct, through, proxy) = database(target);
            let connection = Connection::open(&through).expect("it opens");
            run(&connection, SQL);
            proxy.lose_next(lost);
            let error = connection.execute(SQL).expect_err("its answer is lost");
            assert_lost(&error, None, CommitOutcome::Unknown);
            assert!(error.message().contains("before you repeat"), "{error}");
            drop(connection);
            assert!(rows.contains(&rows_of_t(&direct)), "{lost:?}");
        }
    },
    fn a_cursor_that_is_closed_with_a_commit(target: &Target) {
        let (direct, through, proxy) = database(target);
        let connection = Connection::open(&through).expect("it opens");
        let mut cursor = connection.query("INSERT INTO t VALUES (1) RETURNING n").expect("it inserts");
        assert_eq!(cursor.next_batch().expect("a row").map(|row| row.num_rows()), Some(1));
        proxy.lose_next(Side::Server);
        let error = cursor.close_and_commit().expect_err("its answer is lost");
        assert_eq!(error.kind(), Kind::CommitUnknown, "{error}");
        let lost = *error.lost_commit().expect("a commit");
        assert!(lost.transaction.is_some() && lost.outcome == CommitOutcome::Unknown, "{error}");
        drop(connection);
        assert_eq!(rows_of_t(&direct), 1);
    },
    fn a_server_that_is_gone_leaves_it_unknown(target: &Target) {
        let (_, through, proxy) = database(target);
        let connection = Connection::open(&through).expect("it opens");
        let mut transaction = connection.begin(traceable()).expect("it starts");
        transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
        let number = transaction.number().expect("a number");
        // Both the commit and the question on a new connection.
        let address = proxy.address();
        drop(proxy);
        assert!(std::net::TcpStream::connect(address).is_err());
        let error = transaction.commit().expect_err("the path is gone");
        assert_lost(&error, Some(number), CommitOutcome::Unknown);
        assert!(error.message().contains("could not find out what became of it"), "{error}");
    },
    fn one_that_did_not_travel_along_has_a_number(target: &Target) {
        const COMMIT: u32 = 30;
        let (direct, mut through, proxy) = database(target);
        through.wire_crypt = WireCrypt::Disabled;
        let connection = Connection::open(&through).expect("it opens");
        let insert = connection.prepare("INSERT INTO t VALUES (1)").expect("it is SQL");
        let transaction = connection.begin_lazy(traceable()).expect("it starts");
        // After this the commit cannot leave together with the statement.
        drop(transaction.query("SELECT n FROM t").expect("it runs"));
        proxy.lose_answer_to(COMMIT);
        let error = insert.execute_last(transaction, ()).expect_err("its answer is lost");
        let lost = *error.lost_commit().unwrap_or_else(|| panic!("{error}"));
        assert!(lost.transaction.is_some() && lost.outcome == CommitOutcome::Committed, "{error}");
        drop((insert, connection));
        assert_eq!(rows_of_t(&direct), 1);
    },
    fn a_commit_that_is_refused_is_no_lost_one(target: &Target) {
        let (direct, through, _proxy) = database(target);
        let connection = Connection::open(&through).expect("it opens");
        let transaction = connection.begin(traceable()).expect("it starts");
        drop(connection.query("SELECT 1 FROM RDB$DATABASE").expect("it runs"));
        transaction.rollback().expect("it ends");
        let error = connection.execute("INSERT INTO t VALUES ('x')").expect_err("no number");
        assert_ne!(error.kind(), Kind::CommitUnknown, "{error}");
        assert!(error.lost_commit().is_none());
        drop(connection);
        assert_eq!(rows_of_t(&direct), 0);
    }
);
