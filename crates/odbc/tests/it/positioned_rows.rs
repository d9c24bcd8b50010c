//! `SQLSetPos` with UPDATE, DELETE and ADD.

use crate::odbc::*;
use crate::positioned::*;
use crate::support::*;
use firearrow_testkit::{Generation, Target, matrix};

const QUERY: &str = "SELECT ID, A, N FROM T ORDER BY ID";
const ALL: &str = "SELECT ID, A, N FROM T ORDER BY ID";
const ROW_OPERATION_PTR: i32 = 24;

/// The query's columns as text, fetched once.
fn fetched(statement: &Statement, size: usize, query: &str) -> [Slots; 3] {
    let slots = [Slots::texts(size), Slots::texts(size), Slots::texts(size)];
    for (at, column) in slots.iter().enumerate() {
        column.bind(statement, at as u16 + 1);
    }
    statement.run(query);
    assert_eq!(statement.fetch(), SUCCESS, "{:?}", statement.records());
    slots
}

matrix!(
    all,
    fn a_row_is_updated_and_deleted(target: &Target) {
        let connection = fresh(target);
        table(&connection, 4);
        let statement = changing(&connection, 3);
        let statuses = Statuses::of(&statement, 3);
        let [_, a, n] = fetched(&statement, 3, QUERY);
        a.set_text(1, "new");
        n.set_length(1, NULL_DATA);
        assert_eq!(set_pos(&statement, 2, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!((statuses.get(), statement.row_count()), (vec![0, ROW_UPDATED, 0], 1));
        assert_eq!(rows(&connection, ALL), "1,a1,10;2,new,-;3,a3,30;4,a4,40");
        // Again: the driver knows what it has written.
        a.set_text(1, "newer");
        assert_eq!(set_pos(&statement, 2, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "1,a1,10;2,newer,-;3,a3,30;4,a4,40");
        assert_eq!(set_pos(&statement, 2, DELETE), SUCCESS, "{:?}", statement.records());
        assert_eq!(statuses.get(), [0, ROW_DELETED, 0]);
        assert_eq!(rows(&connection, ALL), "1,a1,10;3,a3,30;4,a4,40");
        for operation in [UPDATE, DELETE] {
            assert_eq!(refused(set_pos(&statement, 2, operation), &statement), "HY109");
        }
        // The next row set.
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(refused(set_pos(&statement, 2, DELETE), &statement), "HY107");
        assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS);
        assert_eq!(rows(&connection, ALL), "1,a1,10;3,a3,30");
    },
    fn a_new_key_is_the_key_from_then_on(target: &Target) {
        let connection = fresh(target);
        table(&connection, 2);
        let statement = changing(&connection, 1);
        let [id, a, _] = fetched(&statement, 1, QUERY);
        id.set_text(0, "7");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        a.set_text(0, "seven");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "2,a2,20;7,seven,10");
        assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "2,a2,20");
    },
    fn all_rows_are_changed_at_once(target: &Target) {
        let connection = fresh(target);
        table(&connection, 5);
        let statement = changing(&connection, 5);
        let statuses = Statuses::of(&statement, 5);
        let [_, a, n] = fetched(&statement, 5, QUERY);
        for slot in 0..5 {
            a.set_text(slot, &format!("x{slot}"));
        }
        // Different columns in different rows, and one row that is left out.
        n.set_length(0, IGNORE);
        a.set_length(2, IGNORE);
        let mut operations = [0_u16, 0, 0, 1, 0];
        assert_eq!(statement.set(ROW_OPERATION_PTR, operations.as_mut_ptr().expose_provenance()), SUCCESS);
        assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(statuses.get(), [2, 2, 2, 0, 2]);
        assert_eq!(statement.row_count(), 4);
        assert_eq!(rows(&connection, ALL), "1,x0,10;2,x1,20;3,a3,30;4,a4,40;5,x4,50");
        // A single row is changed whatever the array says.
        assert_eq!(set_pos(&statement, 4, DELETE), SUCCESS, "{:?}", statement.records());
        assert_eq!(set_pos(&statement, 0, DELETE), SUCCESS, "{:?}", statement.records());
        assert_eq!((statuses.get(), statement.row_count()), (vec![1, 1, 1, 1, 1], 4));
        assert_eq!(rows(&connection, ALL), "");
    },
    fn rows_that_fail_do_not_stop_others(target: &Target) {
        let connection = fresh(target);
        table(&connection, 4);
        connection.run("ALTER TABLE T ADD CONSTRAINT C CHECK (N < 100)");
        let statement = changing(&connection, 4);
        let statuses = Statuses::of(&statement, 4);
        let [_, a, n] = fetched(&statement, 4, QUERY);
        n.set_text(0, "11");
        n.set_text(1, "200");
        n.set_text(2, "many");
        a.set_length(3, 61);
        assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS_WITH_INFO);
        let states: Vec<_> = statement.records().into_iter().map(|record| record.state).collect();
        assert_eq!(states, ["23000", "22018", "HY090"], "{:?}", statement.records());
        assert_eq!((1..=3).map(|record| statement.row_of_record(record)).collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(statuses.get(), [2, 5, 5, 5]);
        assert_eq!(rows(&connection, ALL), "1,a1,11;2,a2,20;3,a3,30;4,a4,40");
        assert_eq!(refused(set_pos(&statement, 2, UPDATE), &statement), "23000");
        // The failed rows are as they were: they can be changed.
        n.set_text(1, "21");
        assert_eq!(set_pos(&statement, 2, UPDATE), SUCCESS);
        assert_eq!(rows(&connection, "SELECT N FROM T WHERE ID = 2"), "21");
    },
    fn lost_updates_are_detected(target: &Target) {
        let (connection, other) = two(target);
        table(&connection, 4);
        let statement = changing(&connection, 4);
        let statuses = Statuses::of(&statement, 4);
        let [_, a, n] = fetched(&statement, 4, QUERY);
        other.run("UPDATE T SET N = 99 WHERE ID = 1");
        other.run("DELETE FROM T WHERE ID = 2");
        (0..4).for_each(|slot| a.set_text(slot, "mine"));
        n.set_length(0, IGNORE);
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS_WITH_INFO);
        assert_eq!((statement.state().as_str(), statement.row_count()), ("01001", 0));
        assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS_WITH_INFO);
        assert_eq!(statement.state(), "01001");
        assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS_WITH_INFO);
        let states: Vec<_> = statement.records().into_iter().map(|record| record.state).collect();
        assert_eq!(states, ["01001", "01001"]);
        assert_eq!((statement.row_of_record(1), statement.row_of_record(2)), (1, 2));
        assert_eq!(statuses.get(), [ROW_ERROR, ROW_ERROR, ROW_UPDATED, ROW_UPDATED]);
        assert_eq!(rows(&other, ALL), "1,a1,99;3,mine,30;4,mine,40");
        // After an update of its own as well.
        other.run("UPDATE T SET N = 98 WHERE ID = 3");
        assert_eq!(set_pos(&statement, 3, UPDATE), SUCCESS_WITH_INFO);
        assert_eq!(statement.state(), "01001");
    },
    fn manual_transactions_keep_or_undo_changes(target: &Target) {
        let (connection, other) = two(target);
        table(&connection, 3);
        assert_eq!(connection.set(AUTOCOMMIT, 0), SUCCESS);
        let statement = changing(&connection, 3);
        let [_, a, _] = fetched(&statement, 3, QUERY);
        a.set_text(0, "mine");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(set_pos(&statement, 2, DELETE), SUCCESS);
        assert_eq!(rows(&other, ALL), "1,a1,10;2,a2,20;3,a3,30");
        assert_eq!(rows(&connection, ALL), "1,mine,10;3,a3,30");
        assert_eq!(connection.end(1), SUCCESS);
        // The end has closed the cursor.
        assert!(matches!(refused(set_pos(&statement, 1, UPDATE), &statement).as_str(), "24000" | "HY010"));
        assert_eq!(rows(&connection, ALL), "1,a1,10;2,a2,20;3,a3,30");
    },
    fn rows_are_added(target: &Target) {
        let connection = fresh(target);
        table(&connection, 1);
        let statement = changing(&connection, 3);
        let statuses = Statuses::of(&statement, 3);
        let [id, a, n] = fetched(&statement, 3, QUERY);
        id.set_text(1, "5");
        a.set_length(1, NULL_DATA);
        n.set_length(1, IGNORE);
        assert_eq!(set_pos(&statement, 2, ADD), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "1,a1,10;5,-,-");
        assert_eq!(statuses.get(), [0, 3, 3]);
        // An existing key.
        assert_eq!(refused(set_pos(&statement, 2, ADD), &statement), "23000");
    },
    fn read_only_columns_are_left_out(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, A INTEGER, C COMPUTED BY (A * 2))");
        connection.run("INSERT INTO T (ID, A) VALUES (1, 10)");
        let statement = changing(&connection, 1);
        let slots: Vec<Slots> = (0..4).map(|_| Slots::texts(1)).collect();
        slots.iter().zip(1..).for_each(|(column, number)| column.bind(&statement, number));
        statement.run("SELECT ID, A, C, A + 1 FROM T");
        assert_eq!(statement.fetch(), SUCCESS);
        slots[1].set_text(0, "11");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, "SELECT ID, A, C FROM T"), "1,11,22");
        // Nothing is left to be updated.
        (0..2).for_each(|column| slots[column].set_length(0, IGNORE));
        assert_eq!(refused(set_pos(&statement, 1, UPDATE), &statement), "21S02");
    },
    fn every_layout_of_buffers_is_read(target: &Target) {
        let connection = fresh(target);
        table(&connection, 2);
        let statement = changing(&connection, 2);
        // Rows of 8 + 8 + 24 bytes, at addresses that the offset moves.
        let mut memory = [0_u8; 96];
        let base = memory.as_mut_ptr();
        let mut offset = 16_isize;
        assert_eq!(statement.set(5, 40), SUCCESS);
        assert_eq!(statement.set(23, (&raw mut offset).expose_provenance()), SUCCESS);
        // SAFETY: the memory stays.
        unsafe {
            assert_eq!(SQLBindCol(statement.handle, 2, 1, base.add(16).cast(), 24, base.cast()), SUCCESS);
            assert_eq!(
                SQLBindCol(statement.handle, 3, -16, base.add(8).cast(), 4, std::ptr::null_mut()),
                SUCCESS
            );
        }
        statement.run(QUERY);
        assert_eq!(statement.fetch(), SUCCESS);
        // SAFETY: it is within the memory.
        unsafe {
            base.add(16 + 40).cast::<isize>().write_unaligned(-3);
            base.add(16 + 40 + 16).copy_from(c"terminated".as_ptr().cast(), 11);
            base.add(16 + 40 + 8).cast::<i32>().write_unaligned(77);
        }
        assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "1,a1,10;2,terminated,77");
    },
    fn hostile_calls_are_refused(target: &Target) {
        let connection = fresh(target);
        table(&connection, 2);
        let statement = changing(&connection, 1);
        assert_eq!(refused(set_pos(&statement, 1, UPDATE), &statement), "HY010");
        statement.run(QUERY);
        assert_eq!(refused(set_pos(&statement, 1, DELETE), &statement), "24000");
        assert_eq!(statement.fetch(), SUCCESS);
        // Nothing is bound.
        assert_eq!(refused(set_pos(&statement, 1, UPDATE), &statement), "21S02");
        assert_eq!(refused(set_pos(&statement, 2, DELETE), &statement), "HY107");
        assert_eq!(refused(set_pos(&statement, usize::MAX, ADD), &statement), "HY107");
        for (lock, state) in [(1, "HYC00"), (2, "HYC00"), (3, "HY092")] {
            // SAFETY: nothing is bound.
            let code = unsafe { SQLSetPos(statement.handle, 1, DELETE, lock) };
            assert_eq!(refused(code, &statement), state);
        }
        let a = Slots::texts(1);
        a.bind(&statement, 2);
        for (length, state) in [(-2, "HYC00"), (-105, "HYC00"), (-5, "07S01"), (-99, "HY090"), (-4, "HY090")]
        {
            a.set_length(0, length);
            assert_eq!(refused(set_pos(&statement, 1, UPDATE), &statement), state, "{length}");
        }
        while statement.fetch() == SUCCESS {}
        assert_eq!(refused(set_pos(&statement, 1, DELETE), &statement), "24000");
        assert_eq!(rows(&connection, ALL), "1,a1,10;2,a2,20");
        // A result of the driver.
        statement.close();
        // SAFETY: no arguments are read.
        unsafe { assert_eq!(SQLGetTypeInfo(statement.handle, 0), SUCCESS) };
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(refused(set_pos(&statement, 1, DELETE), &statement), "HYC00");
    },
    fn results_without_a_key_are_refused(target: &Target) {
        let connection = fresh(target);
        table(&connection, 1);
        connection.run("CREATE TABLE U (X INTEGER, Y INTEGER NOT NULL, Z INTEGER NOT NULL)");
        connection.run("INSERT INTO U VALUES (1, 2, 3)");
        connection.run("CREATE UNIQUE INDEX I ON U (X)");
        connection.run("CREATE VIEW V AS SELECT ID, A FROM T");
        for (query, text) in [
            ("SELECT A FROM T", "select its key ID"),
            ("SELECT ID + 0 AS ID, A FROM T", "select its key ID"),
            ("SELECT MIN(ID) AS ID FROM T", "select its key ID"),
            ("SELECT COALESCE(ID, 1) AS ID FROM T", "select its key ID"),
            ("SELECT DISTINCT ID FROM T", "DISTINCT"),
            ("SELECT T.ID, A FROM T JOIN U ON 1 = 1", "joins"),
            ("SELECT X.ID, Y.A FROM T X, T Y", "joins"),
            ("SELECT ID FROM T GROUP BY ID", "groups"),
            ("SELECT ID FROM T UNION ALL SELECT ID FROM T", "UNION"),
            ("SELECT (SELECT FIRST 1 ID FROM T) AS ID FROM T", "subquery"),
            ("SELECT * FROM (SELECT ID FROM T)", "not the name"),
            ("WITH C AS (SELECT ID FROM T) SELECT ID FROM C", "plain SELECT"),
            // A unique index of a column that may be NULL.
            ("SELECT X FROM U", "RDB$DB_KEY"),
            ("SELECT ID, A FROM V", "RDB$DB_KEY"),
        ] {
            let statement = changing(&connection, 1);
            statement.run(query);
            assert_eq!(statement.fetch(), SUCCESS, "{query}");
            assert_eq!(refused(set_pos(&statement, 1, DELETE), &statement), "HYC00", "{query}");
            let message = statement.records().remove(0).message;
            assert!(message.contains(text), "{query}: {message}");
        }
        connection.run("CREATE UNIQUE INDEX J ON U (Y)");
        for query in ["SELECT U.RDB$DB_KEY, X FROM U", "SELECT X, Y FROM U"] {
            let statement = changing(&connection, 1);
            let x = Slots::texts(1);
            let column = if query.contains("DB_KEY") { 2 } else { 1 };
            x.bind(&statement, column);
            statement.run(query);
            assert_eq!(statement.fetch(), SUCCESS);
            x.set_text(0, &format!("10{column}"));
            assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{query}: {:?}", statement.records());
            assert_eq!(rows(&connection, "SELECT X FROM U"), format!("10{column}"));
        }
    },
    fn many_rows_are_changed_in_batches(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, A VARCHAR(20), N INTEGER)");
        connection.run(
            "EXECUTE BLOCK AS DECLARE I INTEGER = 1; BEGIN WHILE (I <= 2000) DO BEGIN \
             INSERT INTO T VALUES (:I, 'a', 0); I = I + 1; END END",
        );
        let statement = changing(&connection, 1500);
        let statuses = Statuses::of(&statement, 1500);
        let [_, _, n] = fetched(&statement, 1500, QUERY);
        (0..1500).for_each(|slot| n.set_text(slot, &(slot + 1).to_string()));
        assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS, "{:?}", statement.records());
        assert!(statuses.get().iter().all(|status| *status == ROW_UPDATED));
        assert_eq!(rows(&connection, "SELECT COUNT(*) FROM T WHERE N = ID"), "1500");
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(set_pos(&statement, 0, DELETE), SUCCESS, "{:?}", statement.records());
        assert_eq!(statement.row_count(), 500);
        assert_eq!(rows(&connection, "SELECT COUNT(*), MAX(ID) FROM T"), "1500,1500");
    },
    fn rows_that_others_have_locked_are_waited_for_with_a_limit(target: &Target) {
        // Servers of 3.0 do not stop waiting: the client closes the connection.
        if target.generation() == Generation::V3_0 {
            return;
        }
        let (connection, other) = two(target);
        table(&connection, 2);
        assert_eq!(other.set(AUTOCOMMIT, 0), SUCCESS);
        let statement = changing(&connection, 2);
        let [_, a, _] = fetched(&statement, 2, QUERY);
        other.run("UPDATE T SET N = 0 WHERE ID = 1");
        a.set_text(0, "mine");
        // The query time limit.
        assert_eq!(statement.set(0, 1), SUCCESS);
        assert_eq!(refused(set_pos(&statement, 1, UPDATE), &statement), "HYT00", "{:?}", statement.records());
        assert_eq!(other.end(1), SUCCESS);
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "1,mine,10;2,a2,20");
        // Cancelling: the server may take longer than the client waits, which closes the connection then.
        assert_eq!(statement.set(0, 0), SUCCESS);
        other.run("UPDATE T SET N = 0 WHERE ID = 1");
        std::thread::scope(|scope| {
            let shared = &statement;
            let cancel = move || {
                std::thread::sleep(std::time::Duration::from_millis(500));
                // SAFETY: handles are checked.
                unsafe { SQLCancel(shared.handle) }
            };
            let canceller = scope.spawn(cancel);
            assert_eq!(
                refused(set_pos(&statement, 1, UPDATE), &statement),
                "HY008",
                "{:?}",
                statement.records()
            );
            assert_eq!(canceller.join().expect("no panic"), SUCCESS);
        });
    },
    fn applications_of_odbc_2_add_rows_after_the_row_set(target: &Target) {
        let connection = unconnected(2);
        connection.connect(&fresh_string(target));
        table(&connection, 1);
        let statement = connection.statement();
        assert_eq!(
            (statement.set(6, 3), statement.set(7, 4), statement.set(9, 2)),
            (SUCCESS, SUCCESS, SUCCESS)
        );
        let (id, a) = (Slots::texts(3), Slots::texts(3));
        id.bind(&statement, 1);
        a.bind(&statement, 2);
        statement.run("SELECT ID, A FROM T");
        let (mut fetched, mut statuses) = (0, [9_u16; 2]);
        // SAFETY: what is bound is there.
        let code = unsafe { SQLExtendedFetch(statement.handle, 1, 1, &mut fetched, statuses.as_mut_ptr()) };
        assert_eq!((code, fetched), (SUCCESS, 1), "{:?}", statement.records());
        id.set_text(2, "3");
        a.set_text(2, "added");
        assert_eq!(set_pos(&statement, 3, ADD), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "1,a1,10;3,added,-");
        assert_eq!(set_pos(&statement, 4, ADD), ERROR);
    },
    fn columns_that_were_selected_twice_are_written_once(target: &Target) {
        let connection = fresh(target);
        table(&connection, 1);
        let statement = changing(&connection, 1);
        let [first, id, second] = fetched(&statement, 1, "SELECT A, ID, A FROM T");
        first.set_text(0, "first");
        second.set_text(0, "second");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "1,first,10");
        // Its new value is known under both names.
        first.set_text(0, "again");
        id.set_text(0, "9");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, ALL), "9,again,10");
    },
    fn cut_values_are_not_written_back(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, A VARCHAR(20), B VARCHAR(4) CHARACTER SET OCTETS)");
        connection.run("INSERT INTO T VALUES (1, '0123456789', x'01020304')");
        // SQL_C_CHAR, SQL_C_WCHAR and SQL_C_BINARY with one byte or character less than the value needs.
        for (column, c_type, capacity) in [(2, 1, 10), (2, -8, 20), (3, -2, 3)] {
            let statement = changing(&connection, 1);
            let slots = Slots::new(c_type, capacity, 1);
            slots.bind(&statement, column);
            statement.run("SELECT ID, A, B FROM T");
            assert_eq!(statement.fetch(), SUCCESS_WITH_INFO);
            assert_eq!(refused(set_pos(&statement, 1, UPDATE), &statement), "HY090", "{c_type}");
            let fitting = Slots::new(c_type, capacity + capacity / 10 + usize::from(c_type == -2), 1);
            fitting.bind(&statement, column);
            assert_eq!(set_pos(&statement, 1, REFRESH), SUCCESS, "{:?}", statement.records());
            assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        }
        assert_eq!(rows(&connection, "SELECT A, B FROM T"), "0123456789,01020304");
    },
    fn counts_and_positions_follow(target: &Target) {
        let connection = fresh(target);
        table(&connection, 3);
        let statement = changing(&connection, 3);
        let [_, a, _] = fetched(&statement, 3, QUERY);
        a.set_text(2, "x");
        assert_eq!(set_pos(&statement, 3, UPDATE), SUCCESS);
        assert_eq!((statement.row_count(), statement.get(14)), (1, 3));
        // What was read stays in the cursor.
        assert_eq!(statement.text(2).as_deref(), Some("a3"));
        assert_eq!(set_pos(&statement, 3, REFRESH), SUCCESS);
        assert_eq!(a.text(2).as_deref(), Some("a3"));
        assert_eq!(statement.fetch(), NO_DATA);
        assert_eq!(statement.row_count(), 3);
        // All rows, none of which is wanted.
        // SAFETY: what is bound is there.
        assert_eq!(unsafe { SQLFetchScroll(statement.handle, 2, 0) }, SUCCESS);
        let mut operations = [1_u16; 3];
        assert_eq!(statement.set(ROW_OPERATION_PTR, operations.as_mut_ptr().expose_provenance()), SUCCESS);
        assert_eq!((set_pos(&statement, 0, DELETE), statement.row_count()), (SUCCESS, 0));
        assert_eq!(rows(&connection, ALL), "1,a1,10;2,a2,20;3,x,30");
    },
    fn temporary_tables_have_keys_and_system_tables_may_not(target: &Target) {
        let connection = fresh(target);
        table(&connection, 1);
        connection
            .run("CREATE GLOBAL TEMPORARY TABLE G (ID INTEGER NOT NULL PRIMARY KEY) ON COMMIT PRESERVE ROWS");
        connection.run("INSERT INTO G VALUES (1)");
        for (query, count) in [("SELECT ID FROM G", "0"), ("SELECT RDB$RELATION_ID FROM RDB$DATABASE", "")] {
            let statement = changing(&connection, 1);
            statement.run(query);
            assert_eq!(statement.fetch(), SUCCESS);
            if count.is_empty() {
                assert_eq!(refused(set_pos(&statement, 1, DELETE), &statement), "HYC00");
            } else {
                assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS, "{:?}", statement.records());
                assert_eq!(rows(&connection, "SELECT COUNT(*) FROM G"), count);
            }
        }
    },
    fn forward_only_cursors_change_rows(target: &Target) {
        let connection = fresh(target);
        table(&connection, 300);
        let statement = connection.statement();
        assert_eq!(statement.set(CONCURRENCY, 4), SUCCESS);
        let n = Slots::texts(1);
        n.bind(&statement, 3);
        statement.run(QUERY);
        let mut count = 0;
        while statement.fetch() == SUCCESS {
            count += 1;
            if count % 3 == 0 {
                assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS, "{:?}", statement.records());
            } else {
                n.set_text(0, &count.to_string());
                assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
            }
        }
        assert_eq!(count, 300);
        let sums = "SELECT COUNT(*), SUM(IIF(N = ID, 1, 0)) FROM T";
        assert_eq!(rows(&connection, sums), "200,200");
    },
    fn cursors_that_lock_need_the_same_transaction(target: &Target) {
        let connection = fresh(target);
        table(&connection, 1);
        let query = "SELECT ID, A FROM T FOR UPDATE WITH LOCK";
        let statement = connection.statement();
        assert_eq!(statement.set(CONCURRENCY, 4), SUCCESS);
        statement.run(query);
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(refused(set_pos(&statement, 1, DELETE), &statement), "HYC00");
        statement.close();
        assert_eq!(connection.set(AUTOCOMMIT, 0), SUCCESS);
        statement.run(query);
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS, "{:?}", statement.records());
        assert_eq!(connection.end(0), SUCCESS);
        assert_eq!(rows(&connection, ALL), "");
    },
);
