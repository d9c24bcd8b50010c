//! Transactions: autocommit and manual mode, what ends with them, isolation, and SQL that controls them.

use crate::odbc::*;
use crate::support::{Connection, fresh_string, unconnected};
use firearrow_testkit::{Target, matrix};

const AUTOCOMMIT: i32 = 102;
const ACCESS_MODE: i32 = 101;
const ISOLATION: i32 = 108;
const COMMIT: i16 = 0;
const ROLLBACK: i16 = 1;

/// Two connections to one new database with an empty table T, the first in manual mode.
fn two(target: &Target) -> [Connection; 2] {
    let text = fresh_string(target);
    let both = [unconnected(380), unconnected(380)];
    both.iter().for_each(|connection| connection.connect(&text));
    both[0].run("CREATE TABLE T (ID INTEGER)");
    assert_eq!(both[0].set(AUTOCOMMIT, 0), SUCCESS);
    both
}

fn count(connection: &Connection) -> String {
    connection.texts("SELECT COUNT(*) FROM T")[0][0].clone().expect("a number")
}

fn state(connection: &Connection) -> String {
    connection.records().first().map(|record| record.state.clone()).unwrap_or_default()
}

matrix!(
    all,
    fn work_is_seen_by_others_once_it_is_committed(target: &Target) {
        let [manual, other] = two(target);
        manual.run("INSERT INTO T VALUES (1)");
        assert_eq!((count(&manual), count(&other)), ("1".into(), "0".into()));
        assert_eq!(manual.end(ROLLBACK), SUCCESS);
        assert_eq!(count(&manual), "0");
        manual.run("INSERT INTO T VALUES (1)");
        assert_eq!(manual.end(COMMIT), SUCCESS);
        assert_eq!(count(&other), "1");
        // Without a transaction there is nothing to do.
        assert_eq!((manual.end(COMMIT), other.end(COMMIT), other.end(ROLLBACK)), (SUCCESS, SUCCESS, SUCCESS));
        assert_eq!(manual.end(2), ERROR);
        assert_eq!(state(&manual), "HY012");
        other.run("INSERT INTO T VALUES (2)");
        assert_eq!(other.end(ROLLBACK), SUCCESS);
        assert_eq!(count(&manual), "2");
    },
    fn autocommit_switched_on_commits(target: &Target) {
        let [manual, other] = two(target);
        let statement = manual.statement();
        statement.prepare("SELECT ID FROM T");
        manual.run("INSERT INTO T VALUES (1)");
        assert_eq!((statement.execute(), statement.records()), (SUCCESS, vec![]));
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(manual.set(AUTOCOMMIT, 1), SUCCESS);
        assert_eq!(count(&other), "1");
        // Its cursor ended with the transaction; what was prepared did not.
        assert_eq!(statement.fetch(), ERROR);
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!(statement.all_texts().len(), 1);
        // Cursors of autocommit mode have transactions of their own.
        statement.close();
        assert_eq!(statement.execute(), SUCCESS);
        assert_eq!((manual.set(AUTOCOMMIT, 1), manual.set(AUTOCOMMIT, 0)), (SUCCESS, SUCCESS));
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(manual.set(AUTOCOMMIT, 2), ERROR);
        assert_eq!(state(&manual), "HY024");
    },
    fn the_end_of_a_transaction_closes_cursors_and_keeps_what_is_prepared(target: &Target) {
        let [manual, _] = two(target);
        for id in 0..10 {
            manual.run(&format!("INSERT INTO T VALUES ({id})"));
        }
        assert_eq!(manual.end(COMMIT), SUCCESS);
        let (prepared, direct) = (manual.statement(), manual.statement());
        prepared.prepare("SELECT ID FROM T ORDER BY ID");
        for completion in [COMMIT, ROLLBACK] {
            assert_eq!((prepared.execute(), prepared.records()), (SUCCESS, vec![]));
            assert_eq!(prepared.fetch(), SUCCESS);
            direct.run("SELECT ID FROM T");
            assert_eq!(manual.end(completion), SUCCESS);
            for statement in [&prepared, &direct] {
                assert_eq!(statement.fetch(), ERROR);
                assert_eq!(statement.state(), "HY010");
            }
            assert_eq!(direct.execute(), ERROR);
            assert_eq!(prepared.columns(), 1);
        }
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLEndTran(ENV, manual.environment, COMMIT) }, SUCCESS);
        assert_eq!(prepared.execute(), SUCCESS);
        assert_eq!(prepared.all_texts().len(), 10);
    },
    fn cursors_of_autocommit_mode_survive_other_statements(target: &Target) {
        let [_, connection] = two(target);
        for id in 0..500 {
            connection.run(&format!("INSERT INTO T VALUES ({id})"));
        }
        let cursor = connection.statement();
        cursor.run("SELECT ID FROM T ORDER BY ID");
        assert_eq!(cursor.fetch(), SUCCESS);
        connection.run("UPDATE T SET ID = ID + 1000");
        connection.run("DELETE FROM T WHERE ID = 1007");
        let rest = cursor.all_texts();
        assert_eq!(
            (rest.len(), rest[0][0].as_deref(), rest[498][0].as_deref()),
            (499, Some("1"), Some("499"))
        );
        assert_eq!(count(&connection), "499");
    },
    fn a_failed_statement_does_not_doom_the_transaction(target: &Target) {
        let [manual, other] = two(target);
        manual.run("INSERT INTO T VALUES (1)");
        assert_eq!(manual.statement().execute_directly("INSERT INTO T VALUES (1 / 0)"), ERROR);
        manual.run("INSERT INTO T VALUES (2)");
        assert_eq!(manual.end(COMMIT), SUCCESS);
        assert_eq!(count(&other), "2");
    },
    fn open_work_forbids_to_disconnect(target: &Target) {
        let [manual, other] = two(target);
        manual.run("INSERT INTO T VALUES (1)");
        // SAFETY: handles are checked.
        unsafe {
            assert_eq!(SQLDisconnect(manual.handle), ERROR);
            assert_eq!(state(&manual), "25000");
            // It is as usable as before.
            manual.run("INSERT INTO T VALUES (2)");
            assert_eq!(SQLFreeHandle(DBC, manual.handle), ERROR);
            assert_eq!(manual.end(COMMIT), SUCCESS);
            assert_eq!(SQLDisconnect(manual.handle), SUCCESS);
        }
        assert_eq!(count(&other), "2");
    },
    fn isolation_levels_see_what_they_should(target: &Target) {
        let [manual, other] = two(target);
        for (level, expected) in [(2, "1"), (4, "0"), (8, "0")] {
            assert_eq!(manual.set(ISOLATION, level), SUCCESS);
            assert_eq!(integer(&manual, ISOLATION), level as u32);
            assert_eq!(count(&manual), "0");
            assert_eq!(manual.set(ISOLATION, 2), ERROR, "a transaction is open");
            assert_eq!(state(&manual), "HY011");
            if level != 8 {
                other.run("INSERT INTO T VALUES (1)");
                assert_eq!(count(&manual), expected);
            }
            assert_eq!(manual.end(COMMIT), SUCCESS);
            other.run("DELETE FROM T");
        }
        assert_eq!(manual.set(ISOLATION, 1), SUCCESS_WITH_INFO);
        assert_eq!((state(&manual).as_str(), integer(&manual, ISOLATION)), ("01S02", 2));
        for bad in [0, 3, 16] {
            assert_eq!(manual.set(ISOLATION, bad), ERROR);
            assert_eq!(state(&manual), "HY024");
        }
    },
    fn read_only_transactions_refuse_to_write(target: &Target) {
        let [manual, _] = two(target);
        assert_eq!(manual.set(ACCESS_MODE, 1), SUCCESS);
        assert_eq!(integer(&manual, ACCESS_MODE), 1);
        let statement = manual.statement();
        assert_eq!(statement.execute_directly("INSERT INTO T VALUES (1)"), ERROR);
        assert_eq!(statement.state(), "25000");
        assert_eq!((manual.end(ROLLBACK), manual.set(ACCESS_MODE, 0)), (SUCCESS, SUCCESS));
        statement.run("INSERT INTO T VALUES (1)");
    },
    fn conflicts_are_reported_and_the_transaction_goes_on(target: &Target) {
        let text = fresh_string(target) + ";NOWAIT=Y";
        let [manual, other] = [unconnected(380), unconnected(380)];
        manual.connect(&text);
        manual.run("CREATE TABLE T (ID INTEGER)");
        manual.run("INSERT INTO T VALUES (1)");
        other.connect(&text);
        assert_eq!((manual.set(AUTOCOMMIT, 0), other.set(AUTOCOMMIT, 0)), (SUCCESS, SUCCESS));
        manual.run("UPDATE T SET ID = 2");
        let statement = other.statement();
        assert_eq!(statement.execute_directly("UPDATE T SET ID = 3"), ERROR);
        assert_eq!(statement.state(), "40001");
        other.run("INSERT INTO T VALUES (10)");
        assert_eq!((manual.end(COMMIT), other.end(COMMIT)), (SUCCESS, SUCCESS));
        assert_eq!(manual.texts("SELECT SUM(ID) FROM T"), [[Some("12".to_owned())]]);
    },
    fn sql_controls_the_transaction(target: &Target) {
        let [manual, other] = two(target);
        let cursor = manual.statement();
        manual.run("INSERT INTO T VALUES (1)");
        cursor.run("SELECT ID FROM T");
        manual.run("COMMIT");
        assert_eq!((cursor.fetch(), count(&other).as_str()), (ERROR, "1"));
        manual.run("INSERT INTO T VALUES (2)");
        manual.run("ROLLBACK WORK");
        assert_eq!(count(&manual), "1");
        manual.run("SAVEPOINT S");
        manual.run("INSERT INTO T VALUES (3)");
        manual.run("ROLLBACK TO SAVEPOINT S");
        manual.run("INSERT INTO T VALUES (4)");
        let commit = manual.statement();
        commit.prepare("COMMIT");
        assert_eq!(commit.execute(), SUCCESS);
        assert_eq!(other.texts("SELECT SUM(ID) FROM T"), [[Some("5".to_owned())]]);
        assert_eq!(commit.execute(), SUCCESS);
        // Nothing is open now.
        // SAFETY: handles are checked.
        assert_eq!(unsafe { SQLDisconnect(manual.handle) }, SUCCESS);
        other.run("COMMIT");
        other.run("ROLLBACK");
        assert_eq!(other.statement().execute_directly("COMMIT NOTHING"), ERROR);
    },
    fn set_transaction_begins_one_with_these_options(target: &Target) {
        let [manual, other] = two(target);
        let statement = manual.statement();
        statement.run("SET TRANSACTION READ ONLY ISOLATION LEVEL SNAPSHOT");
        assert_eq!(statement.execute_directly("SET TRANSACTION"), ERROR);
        assert_eq!(statement.state(), "25000");
        assert_eq!(count(&manual), "0");
        other.run("INSERT INTO T VALUES (1)");
        assert_eq!(count(&manual), "0");
        assert_eq!(statement.execute_directly("INSERT INTO T VALUES (2)"), ERROR);
        assert_eq!(statement.state(), "25000");
        assert_eq!(manual.end(COMMIT), SUCCESS);
        // The next one is as usual.
        manual.run("INSERT INTO T VALUES (3)");
        other.run("INSERT INTO T VALUES (4)");
        assert_eq!(count(&manual), "3");
        let refused = other.statement();
        assert_eq!(refused.execute_directly("SET TRANSACTION"), ERROR);
        assert_eq!(refused.state(), "25000");
        assert_eq!(refused.execute_directly("SET TRANSACTION RESERVING T FOR SHARED READ"), ERROR);
        assert_eq!(refused.state(), "HYC00");
    },
    fn definitions_wait_for_no_statement_of_the_same_connection(target: &Target) {
        let [manual, _] = two(target);
        for autocommit in [1, 0] {
            assert_eq!(manual.set(AUTOCOMMIT, autocommit), SUCCESS);
            manual.run("CREATE TABLE U (ID INTEGER)");
            assert_eq!(manual.end(COMMIT), SUCCESS);
            let (prepared, read, closed) = (manual.statement(), manual.statement(), manual.statement());
            prepared.prepare("SELECT * FROM U");
            read.run("SELECT * FROM U");
            assert_eq!(read.fetch(), NO_DATA);
            closed.prepare("INSERT INTO U VALUES (1)");
            assert_eq!(closed.execute(), SUCCESS);
            assert_eq!(manual.end(COMMIT), SUCCESS);
            assert_eq!(prepared.execute(), SUCCESS);
            assert_eq!(prepared.all_texts().len(), 1);
            manual.run("DROP TABLE U");
            assert_eq!(manual.end(COMMIT), SUCCESS, "{:?}", manual.records());
            assert_eq!(
                manual.texts("SELECT COUNT(*) FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = 'U'"),
                [[Some("0".to_owned())]]
            );
            assert_eq!(manual.end(COMMIT), SUCCESS);
        }
    },
);

/// A connection attribute of four bytes.
pub(crate) fn integer(connection: &Connection, attribute: i32) -> u32 {
    let (mut value, mut length) = ([0xAAAA_AAAA_u32; 2], 0);
    // SAFETY: the place is there.
    let code =
        unsafe { SQLGetConnectAttr(connection.handle, attribute, value.as_mut_ptr().cast(), 0, &mut length) };
    assert_eq!(
        (code, length, value[1]),
        (SUCCESS, 4, 0xAAAA_AAAA),
        "{attribute}: {:?}",
        connection.records()
    );
    value[0]
}

#[test]
fn transactions_need_a_connection() {
    let connection = unconnected(3);
    assert_eq!(connection.end(COMMIT), ERROR);
    assert_eq!(state(&connection), "08003");
    // SAFETY: handles are checked.
    unsafe {
        assert_eq!(SQLEndTran(ENV, connection.environment, COMMIT), SUCCESS);
        assert_eq!(SQLEndTran(ENV, connection.environment, 7), ERROR);
        assert_eq!(SQLTransact(std::ptr::null_mut(), connection.handle, 0), ERROR);
        assert_eq!(SQLTransact(connection.environment, std::ptr::null_mut(), 1), SUCCESS);
    }
}
