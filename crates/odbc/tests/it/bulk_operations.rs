//! `SQLBulkOperations`

use crate::odbc::*;
use crate::positioned::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};

const ALL: &str = "SELECT ID, A, N FROM T ORDER BY ID";
const BULK_ADD: i16 = 4;
const UPDATE_BY_BOOKMARK: i16 = 5;
const DELETE_BY_BOOKMARK: i16 = 6;
const FETCH_BY_BOOKMARK: i16 = 7;

/// Bookmarks, and the columns ID and A as text.
fn opened(statement: &Statement, size: usize) -> [Slots; 3] {
    let slots = [Slots::new(-2, 8, size), Slots::texts(size), Slots::texts(size)];
    for (at, column) in slots.iter().enumerate() {
        column.bind(statement, at as u16);
    }
    statement.run("SELECT ID, A FROM T ORDER BY ID");
    slots
}

matrix!(
    all,
    fn rows_are_added_in_one_call(target: &Target) {
        let connection = fresh(target);
        table(&connection, 1);
        let statement = changing(&connection, 4);
        let statuses = Statuses::of(&statement, 4);
        let [_, id, a] = opened(&statement, 4);
        for (slot, key) in ["2", "1", "x", "3"].into_iter().enumerate() {
            id.set_text(slot, key);
            a.set_text(slot, &format!("row {slot}"));
        }
        a.set_length(3, IGNORE);
        // Nothing needs to be fetched.
        assert_eq!(bulk(&statement, BULK_ADD), SUCCESS_WITH_INFO);
        let states: Vec<_> = statement.records().into_iter().map(|record| record.state).collect();
        assert_eq!(states, ["23000", "22018"], "{:?}", statement.records());
        assert_eq!((statement.row_of_record(1), statement.row_of_record(2)), (2, 3));
        assert_eq!(statuses.get(), [ROW_ADDED, ROW_ERROR, ROW_ERROR, ROW_ADDED]);
        assert_eq!(statement.row_count(), 2);
        assert_eq!(rows(&connection, ALL), "1,a1,10;2,row 0,-;3,-,-");
        // The cursor goes on with the rows that it had.
        assert!(matches!(statement.fetch(), SUCCESS));
        assert_eq!((id.text(0), statuses.get()), (Some("1".into()), vec![0, 3, 3, 3]));
    },
    fn defaults_are_inserted_where_nothing_is_bound(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (A INTEGER DEFAULT 5, B VARCHAR(5) DEFAULT 'b')");
        let statement = changing(&connection, 2);
        statement.run("SELECT A, B FROM T");
        assert_eq!(bulk(&statement, BULK_ADD), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, "SELECT A, B FROM T"), "5,b;5,b");
    },
    fn bookmarks_find_rows(target: &Target) {
        let connection = fresh(target);
        table(&connection, 9);
        let statement = changing(&connection, 3);
        let statuses = Statuses::of(&statement, 3);
        let [bookmarks, id, a] = opened(&statement, 3);
        assert_eq!(statement.fetch(), SUCCESS);
        let mark = |slot: usize, row: u64| bookmarks.set(slot, &row.to_ne_bytes());
        [7, 2, 8].into_iter().enumerate().for_each(|(slot, row)| mark(slot, row));
        assert_eq!(bulk(&statement, FETCH_BY_BOOKMARK), SUCCESS, "{:?}", statement.records());
        assert_eq!([0, 1, 2].map(|slot| id.text(slot).unwrap_or_default()), ["7", "2", "8"]);
        assert_eq!(statuses.get(), [0; 3]);
        // The row set stays where it is.
        assert_eq!(set_pos(&statement, 1, 0), SUCCESS);
        assert_eq!(statement.text(1).as_deref(), Some("1"));
        id.set_length(0, IGNORE);
        (0..3).for_each(|slot| a.set_text(slot, "marked"));
        assert_eq!(bulk(&statement, UPDATE_BY_BOOKMARK), SUCCESS, "{:?}", statement.records());
        assert_eq!((statuses.get(), statement.row_count()), (vec![ROW_UPDATED; 3], 3));
        assert_eq!(rows(&connection, "SELECT ID FROM T WHERE A = 'marked' ORDER BY ID"), "2;7;8");
        [1, 0, 10].into_iter().enumerate().for_each(|(slot, row)| mark(slot, row));
        assert_eq!(bulk(&statement, DELETE_BY_BOOKMARK), SUCCESS_WITH_INFO);
        assert_eq!(statuses.get(), [ROW_DELETED, ROW_ERROR, ROW_ERROR]);
        let states: Vec<_> = statement.records().into_iter().map(|record| record.state).collect();
        assert_eq!(states, ["HY111", "HY111"]);
        assert_eq!(rows(&connection, "SELECT COUNT(*), MIN(ID) FROM T"), "8,2");
        assert_eq!(bulk(&statement, FETCH_BY_BOOKMARK), SUCCESS_WITH_INFO);
        assert_eq!(statuses.get(), [0, ROW_ERROR, ROW_ERROR]);
    },
    fn hostile_calls_are_refused(target: &Target) {
        let connection = fresh(target);
        table(&connection, 1);
        let statement = changing(&connection, 1);
        assert_eq!(refused(bulk(&statement, BULK_ADD), &statement), "HY010");
        statement.run("SELECT ID, A FROM T");
        for operation in [0, 3, 8, -1, i16::MAX] {
            assert_eq!(refused(bulk(&statement, operation), &statement), "HY092");
        }
        for operation in [UPDATE_BY_BOOKMARK, DELETE_BY_BOOKMARK, FETCH_BY_BOOKMARK] {
            assert_eq!(refused(bulk(&statement, operation), &statement), "HY111");
        }
        let plain = connection.statement();
        plain.run("SELECT ID, A FROM T");
        for operation in [BULK_ADD, UPDATE_BY_BOOKMARK, DELETE_BY_BOOKMARK, FETCH_BY_BOOKMARK] {
            assert_eq!(refused(bulk(&plain, operation), &plain), "HY092");
        }
        let joined = changing(&connection, 1);
        joined.run("SELECT X.ID FROM T X, T Y");
        assert_eq!(refused(bulk(&joined, BULK_ADD), &joined), "HYC00");
    },
);
