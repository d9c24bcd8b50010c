//! What must hold for two-phase commits on every engine, the older embedded ones included.

use crate::support::{column, fresh_closed, run};
use arrow::array::{Array, AsArray};
use firearrow::{Config, Connection, Kind};
use firearrow_testkit::Target;

/// `isc_no_recon`.
const NO_RECON: i32 = 335544353;

/// A database with an empty table T.
pub(crate) fn database(target: &Target) -> Config {
    let config = fresh_closed(target);
    run(&Connection::open(&config).expect("it opens"), "CREATE TABLE t (id INTEGER)");
    config
}

pub(crate) fn rows_of_t(connection: &Connection) -> usize {
    column(connection, "SELECT id FROM t").len()
}

/// Leaves a transaction in limbo that has inserted one row; gives its number.
pub(crate) fn abandon(connection: &Connection, message: &str) -> u64 {
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    transaction.execute("INSERT INTO t VALUES (1)").expect("it inserts");
    let number = transaction.number().expect("a number");
    transaction.prepare_commit(message.as_bytes()).expect("it is prepared");
    assert_eq!(transaction.number().expect("it has it still"), number);
    number
}

pub(crate) fn limbo_is_recovered_both_ways(target: &Target) {
    let config = database(target);
    for (commits, expected) in [(false, 0), (true, 1)] {
        let first = Connection::open(&config).expect("it opens");
        let number = abandon(&first, "order 7: gr\u{fc}n");
        first.close().expect("nothing but what is in limbo");

        let second = Connection::open(&config).expect("it opens");
        assert_eq!(second.limbo_transactions().expect("a list"), [number]);
        let messages = column(
            &second,
            &format!(
                "SELECT RDB$TRANSACTION_DESCRIPTION FROM RDB$TRANSACTIONS WHERE RDB$TRANSACTION_ID = {number}"
            ),
        );
        assert_eq!(messages.as_binary::<i32>().value(0), "order 7: gr\u{fc}n".as_bytes());
        // The same number but for its upper half is another transaction.
        let error = second.recover(number + (1 << 32)).expect_err("nobody has this number");
        assert!(error.gds_codes().contains(&NO_RECON), "{error}");
        assert!(error.message().contains(&(number + (1 << 32)).to_string()), "{error}");

        // Who changes his mind changes nothing. Two who decide differently would damage the database.
        let taken = second.recover(number).expect("it is in limbo");
        assert_eq!(second.recover(number).expect_err("it is taken").kind(), Kind::Misuse);
        drop(taken);
        drop(second.recover(number).expect("it is in limbo again"));
        second.close().expect("nothing but what is in limbo");
        let third = Connection::open(&config).expect("it opens");
        let transaction = third.recover(number).expect("it is still in limbo");
        assert_eq!(transaction.number().expect("a number"), number);
        let error = transaction.query("SELECT 1 FROM RDB$DATABASE").expect_err("it is in limbo");
        assert_eq!(error.kind(), Kind::Misuse);
        if commits { transaction.commit() } else { transaction.rollback() }.expect("it ends");
        assert_eq!(third.limbo_transactions().expect("a list"), [0_u64; 0]);
        assert_eq!(rows_of_t(&third), expected);
        let error = third.recover(number).expect_err("it has ended");
        assert!(error.gds_codes().contains(&NO_RECON), "{error}");
    }
}

pub(crate) fn limbo_allows_nothing_but_an_end(target: &Target) {
    let connection = Connection::open(&database(target)).expect("it opens");
    // A message is kept whole, or refused.
    let message = vec![b'x'; usize::from(u16::MAX)];
    let mut transaction = connection.begin(Default::default()).expect("it starts");
    let error = transaction.prepare_commit(&[&message[..], b"y"].concat()).expect_err("it is too long");
    assert_eq!(error.kind(), Kind::Misuse);
    transaction.prepare_commit(&message).expect("it fits");
    let number = transaction.number().expect("a number");
    let kept = column(
        &connection,
        &format!(
            "SELECT RDB$TRANSACTION_DESCRIPTION FROM RDB$TRANSACTIONS WHERE RDB$TRANSACTION_ID = {number}"
        ),
    );
    assert_eq!(kept.as_binary::<i32>().value(0), message);
    transaction.rollback().expect("it was prepared");
    let statement = connection.prepare("INSERT INTO t VALUES (2)").expect("valid SQL");
    for commits in [false, true] {
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        statement.execute(&mut transaction, ()).expect("it inserts");
        transaction.prepare_commit(b"").expect("it is prepared");
        let refused = [
            transaction.prepare_commit(b"").err(),
            transaction.execute("INSERT INTO t VALUES (3)").err(),
            transaction.execute_immediate("INSERT INTO t VALUES (3)").err(),
            statement.execute(&mut transaction, ()).err(),
            transaction.query("SELECT * FROM t").err(),
            transaction.commit_retaining().err(),
            transaction.rollback_retaining().err(),
            transaction.savepoint("a").err(),
        ];
        for error in refused {
            assert_eq!(error.map(|error| error.kind()), Some(Kind::Misuse));
        }
        if commits { transaction.commit() } else { transaction.rollback() }.expect("it ends");
    }
    assert_eq!(rows_of_t(&connection), 1);
    assert_eq!(connection.limbo_transactions().expect("a list"), [0_u64; 0]);
}
