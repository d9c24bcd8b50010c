//! `UPDATE` and `DELETE` with `WHERE CURRENT OF`.

use crate::odbc::*;
use crate::parameter::{INPUT, Values};
use crate::positioned::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};

const ALL: &str = "SELECT ID, A, N FROM T ORDER BY ID";

fn name(statement: &Statement, name: &str) {
    // SAFETY: the text has its length.
    let code = unsafe { SQLSetCursorName(statement.handle, name.as_ptr(), name.len() as i16) };
    assert_eq!(code, SUCCESS, "{:?}", statement.records());
}

fn name_of(statement: &Statement) -> String {
    let (mut buffer, mut length) = ([0_u8; 200], 0);
    // SAFETY: the buffer has its length.
    let code = unsafe { SQLGetCursorName(statement.handle, buffer.as_mut_ptr(), 200, &mut length) };
    assert_eq!(code, SUCCESS);
    String::from_utf8(buffer[..length as usize].to_vec()).expect("UTF-8")
}

/// A cursor over T with this name, on its first row.
fn cursor(connection: &Connection, called: &str) -> Statement {
    let statement = connection.statement();
    name(&statement, called);
    statement.run("SELECT ID, A FROM T ORDER BY ID");
    assert_eq!(statement.fetch(), SUCCESS);
    statement
}

matrix!(
    all,
    fn the_current_row_is_changed(target: &Target) {
        let connection = fresh(target);
        table(&connection, 4);
        let select = cursor(&connection, "C");
        let change = connection.statement();
        change.run("UPDATE T SET A = 'one' WHERE CURRENT OF C");
        assert_eq!(change.row_count(), 1);
        // Twice the same row.
        change.run("UPDATE T SET N = 11 WHERE CURRENT OF c;");
        assert_eq!(select.fetch(), SUCCESS);
        change.run("delete from t where current /* of */ of \"C\"");
        assert_eq!(change.row_count(), 1);
        // The row is gone.
        assert_eq!(refused(change.execute_directly("DELETE FROM T WHERE CURRENT OF C"), &change), "24000");
        assert_eq!(select.fetch(), SUCCESS);
        change.run(&format!("UPDATE T SET A = 'three' WHERE CURRENT OF {}", "C"));
        assert_eq!(rows(&connection, ALL), "1,one,11;3,three,30;4,a4,40");
    },
    fn prepared_statements_follow_the_cursor(target: &Target) {
        let connection = fresh(target);
        table(&connection, 5);
        let select = connection.statement();
        select.run("SELECT A, ID FROM T ORDER BY ID");
        assert_eq!(select.fetch(), SUCCESS);
        let change = connection.statement();
        change.prepare(&format!("UPDATE T SET A = ?, N = ? WHERE CURRENT OF {}", name_of(&select)));
        assert_eq!(change.parameters(), 2);
        let (mut text, mut number) = (Values::text("x"), Values::integers(&[Some(7)]));
        change.bind(1, INPUT, &mut text);
        change.bind(2, INPUT, &mut number);
        for _ in 0..3 {
            assert_eq!(change.execute(), SUCCESS, "{:?}", change.records());
            assert_eq!(change.row_count(), 1);
            assert_eq!(select.fetch(), SUCCESS);
        }
        assert_eq!(rows(&connection, ALL), "1,x,7;2,x,7;3,x,7;4,a4,40;5,a5,50");
        // Only what is bound is read.
        change.reset_parameters();
        assert_eq!(refused(change.execute(), &change), "07002");
    },
    fn rows_of_row_sets_are_chosen_by_position(target: &Target) {
        let connection = fresh(target);
        table(&connection, 4);
        let select = changing(&connection, 4);
        select.run("SELECT ID, A FROM T ORDER BY ID");
        assert_eq!(select.fetch(), SUCCESS);
        let change = connection.statement();
        change.prepare(&format!("DELETE FROM T WHERE CURRENT OF {}", name_of(&select)));
        for row in [3, 1] {
            assert_eq!(set_pos(&select, row, 0), SUCCESS);
            assert_eq!(change.execute(), SUCCESS, "{:?}", change.records());
        }
        assert_eq!(rows(&connection, ALL), "2,a2,20;4,a4,40");
        // Both ways know of each other.
        assert_eq!(refused(set_pos(&select, 3, DELETE), &select), "HY109");
        assert_eq!(set_pos(&select, 2, DELETE), SUCCESS);
        assert_eq!(refused(change.execute(), &change), "24000");
    },
    fn conflicts_are_warnings(target: &Target) {
        let (connection, other) = two(target);
        table(&connection, 3);
        let select = changing(&connection, 3);
        select.run("SELECT ID, A FROM T ORDER BY ID");
        assert_eq!(select.fetch(), SUCCESS);
        other.run("UPDATE T SET A = 'theirs' WHERE ID = 1");
        other.run("DELETE FROM T WHERE ID = 2");
        let change = connection.statement();
        change.prepare(&format!("UPDATE T SET A = 'mine' WHERE CURRENT OF {}", name_of(&select)));
        for row in [1, 2] {
            assert_eq!(set_pos(&select, row, 0), SUCCESS);
            assert_eq!((change.execute(), change.state().as_str()), (SUCCESS_WITH_INFO, "01001"));
            assert_eq!(change.row_count(), 0);
        }
        assert_eq!(set_pos(&select, 3, 0), SUCCESS);
        // The second time, the condition is the key alone, since nobody knows what the statement has made of the others.
        for _ in 0..2 {
            assert_eq!(change.execute(), SUCCESS, "{:?}", change.records());
        }
        assert_eq!(rows(&other, ALL), "1,theirs,10;3,mine,30");
    },
    fn hostile_references_are_refused(target: &Target) {
        let (connection, other) = two(target);
        table(&connection, 3);
        connection.run("CREATE TABLE U (ID INTEGER NOT NULL PRIMARY KEY)");
        let change = connection.statement();
        let delete = "DELETE FROM T WHERE CURRENT OF C";
        let run = |sql: &str, state: &str| {
            assert_eq!(refused(change.execute_directly(sql), &change), state, "{sql}");
            assert_eq!(refused(change.try_prepare(sql), &change), state, "{sql}");
        };
        run(delete, "34000");
        run("DELETE FROM T WHERE CURRENT OF SQL_CURFFFF", "34000");
        run("DELETE FROM T WHERE CURRENT OF SQL_CUR0", "34000");
        run(&format!("DELETE FROM T WHERE CURRENT OF {}", name_of(&change)), "34000");
        let elsewhere = cursor(&other, "C");
        run(delete, "34000");
        run(&format!("DELETE FROM T WHERE CURRENT OF {}", name_of(&elsewhere)), "34000");
        let unopened = connection.statement();
        name(&unopened, "C");
        run(delete, "34000");
        drop(unopened);
        let select = cursor(&connection, "C");
        // Another table, and results that no table is behind.
        run("DELETE FROM U WHERE CURRENT OF C", "42000");
        run("UPDATE NOWHERE SET ID = 1 WHERE CURRENT OF C", "42000");
        assert_eq!(
            refused(change.execute_directly("UPDATE T SET NOTHING = 1 WHERE CURRENT OF C"), &change),
            "42S22"
        );
        run("DELETE FROM T WHERE CURRENT OF C RETURNING ID, ?", "HYC00");
        // The handle of the connection is in use by another call for as long as that lasts, and is no statement.
        run(&format!("DELETE FROM T WHERE CURRENT OF SQL_CUR{:X}", connection.handle.addr()), "34000");
        change.prepare(delete);
        while select.fetch() == SUCCESS {}
        assert_eq!(refused(change.execute(), &change), "24000");
        select.close();
        assert_eq!(refused(change.execute(), &change), "34000");
        // Executed again, with another result.
        select.run("SELECT A, ID FROM T WHERE ID = 2");
        assert_eq!(refused(change.execute(), &change), "24000");
        assert_eq!(select.fetch(), SUCCESS);
        assert_eq!(change.execute(), SUCCESS, "{:?}", change.records());
        assert_eq!(rows(&connection, ALL), "1,a1,10;3,a3,30");
        select.close();
        select.run("SELECT A FROM T");
        assert_eq!(refused(change.execute(), &change), "HYC00");
        drop(select);
        assert_eq!(refused(change.execute(), &change), "34000");
        drop(cursor(&connection, "D"));
        assert_eq!(refused(change.execute(), &change), "34000");
        // A cursor whose transaction has ended.
        assert_eq!(connection.set(AUTOCOMMIT, 0), SUCCESS);
        let select = cursor(&connection, "C");
        assert_eq!(connection.end(0), SUCCESS);
        assert_eq!(refused(change.execute(), &change), "34000");
        drop(select);
        assert_eq!(rows(&connection, ALL), "1,a1,10;3,a3,30");
    },
    fn the_condition_follows_another_key(target: &Target) {
        let connection = fresh(target);
        connection.run(
            "CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, A VARCHAR(10) NOT NULL UNIQUE, N INTEGER)",
        );
        connection.run("INSERT INTO T VALUES (1, 'a', 1)");
        connection.run("INSERT INTO T VALUES (2, 'b', 2)");
        let select = connection.statement();
        name(&select, "C");
        select.run("SELECT ID FROM T ORDER BY ID");
        assert_eq!(select.fetch(), SUCCESS);
        let change = connection.statement();
        change.prepare("UPDATE T SET N = ? WHERE CURRENT OF C");
        let mut number = Values::integers(&[Some(7)]);
        change.bind(1, INPUT, &mut number);
        assert_eq!(change.execute(), SUCCESS, "{:?}", change.records());
        select.close();
        select.run("SELECT A FROM T WHERE ID = 2");
        assert_eq!(select.fetch(), SUCCESS);
        assert_eq!(change.execute(), SUCCESS, "{:?}", change.records());
        assert_eq!(rows(&connection, ALL), "1,a,7;2,b,7");
    },
    fn returning_and_transactions(target: &Target) {
        let (connection, other) = two(target);
        table(&connection, 2);
        assert_eq!(connection.set(AUTOCOMMIT, 0), SUCCESS);
        let select = cursor(&connection, "My \"C\"");
        let change = connection.statement();
        change.run("UPDATE T SET A = 'new' WHERE CURRENT OF \"My \"\"C\"\"\" RETURNING ID, A");
        let texts = change.all_texts();
        assert_eq!(texts, [[Some("1".to_owned()), Some("new".to_owned())]]);
        assert_eq!(rows(&other, ALL), "1,a1,10;2,a2,20");
        assert_eq!(select.fetch(), SUCCESS);
        assert_eq!(connection.end(0), SUCCESS);
        assert_eq!(rows(&other, ALL), "1,new,10;2,a2,20");
    },
    fn parameters_come_in_every_way_but_arrays(target: &Target) {
        let connection = fresh(target);
        table(&connection, 2);
        let _select = cursor(&connection, "C");
        let change = connection.statement();
        change.prepare("UPDATE T SET A = ?, N = N + ? WHERE CURRENT OF C");
        let (mut text, mut number) = (Values::text(""), Values::integers(&[Some(1)]));
        text.lengths[0] = crate::parameter::DATA_AT_EXEC;
        change.bind(1, INPUT, &mut text);
        change.bind(2, INPUT, &mut number);
        for _ in 0..2 {
            assert_eq!(change.execute(), NEED_DATA, "{:?}", change.records());
            assert_eq!(change.parameter_data().0, NEED_DATA);
            assert_eq!((change.put_data(b"in "), change.put_data(b"pieces")), (SUCCESS, SUCCESS));
            assert_eq!(change.parameter_data().0, SUCCESS, "{:?}", change.records());
        }
        assert_eq!(rows(&connection, ALL), "1,in pieces,12;2,a2,20");
        let mut number = Values::integers(&[Some(1), Some(2)]);
        let mut texts = Values::texts(&[Some("a"), Some("b")]);
        change.bind(1, INPUT, &mut texts);
        change.bind(2, INPUT, &mut number);
        assert_eq!(change.set(crate::parameter::PARAMSET_SIZE, 2), SUCCESS);
        assert_eq!(refused(change.execute(), &change), "HYC00");
        assert_eq!(change.set(crate::parameter::PARAMSET_SIZE, 1), SUCCESS);
        // A value that does not fit changes nothing.
        let mut long = Values::text(&"x".repeat(30));
        change.bind(1, INPUT, &mut long);
        assert_eq!(refused(change.execute(), &change), "22001");
        assert_eq!(rows(&connection, ALL), "1,in pieces,12;2,a2,20");
    },
    fn cursors_that_come_and_go_in_another_thread(target: &Target) {
        let connection = fresh(target);
        table(&connection, 2);
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for round in 0..40 {
                    let select = cursor(&connection, "C");
                    if round % 2 == 0 {
                        select.close();
                    }
                }
                done.store(true, std::sync::atomic::Ordering::SeqCst);
            });
            let change = connection.statement();
            while !done.load(std::sync::atomic::Ordering::SeqCst) {
                let code = change.execute_directly("UPDATE T SET N = N + 1 WHERE CURRENT OF C");
                let known = code == SUCCESS || ["34000", "24000"].contains(&change.state().as_str());
                assert!(known, "{code} {:?}", change.records());
            }
        });
        assert_eq!(rows(&connection, "SELECT N FROM T WHERE ID = 2"), "20");
    },
    fn threads_do_not_wait_for_each_other_forever(target: &Target) {
        let connection = fresh(target);
        table(&connection, 2);
        let statements = [cursor(&connection, "A"), cursor(&connection, "B")];
        // Each changes the row of a cursor that another thread uses all the time.
        std::thread::scope(|scope| {
            for (at, sql) in
                ["UPDATE T SET N = N + 1 WHERE CURRENT OF B", "UPDATE T SET N = N + 1 WHERE CURRENT OF A"]
                    .into_iter()
                    .enumerate()
            {
                let (connection, statements) = (&connection, &statements);
                scope.spawn(move || {
                    for _ in 0..20 {
                        let change = connection.statement();
                        let code = change.execute_directly(sql);
                        assert!(code == SUCCESS || change.state() == "40001", "{:?}", change.records());
                        assert_eq!(statements[at].get(14), 1);
                    }
                });
            }
        });
    },
);
