//! Attributes of statements.

use crate::odbc::*;
use crate::support::{Statement, fresh};
use firearrow_testkit::{Target, matrix};
use std::ptr::null_mut;

const CURSOR_TYPE: i32 = 6;
const CONCURRENCY: i32 = 7;
const SCROLLABLE: i32 = -1;
const SENSITIVITY: i32 = -2;

fn refused(statement: &Statement, attribute: i32, value: usize) -> String {
    assert_eq!(statement.set(attribute, value), ERROR, "{attribute} = {value}");
    statement.state()
}

fn changed(statement: &Statement, attribute: i32, value: usize) -> usize {
    assert_eq!(statement.set(attribute, value), SUCCESS_WITH_INFO, "{attribute} = {value}");
    assert_eq!(statement.state(), "01S02", "{attribute}");
    statement.get(attribute)
}

matrix!(
    all,
    fn attributes_have_defaults_and_keep_what_is_set(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        for (attribute, default, other) in [
            (0, 0, 30),
            (1, 0, 10),
            (2, 0, 1),
            (3, 0, 100),
            (4, 0, 0),
            (5, 0, 24),
            (CURSOR_TYPE, 0, 3),
            (CONCURRENCY, 1, 4),
            (8, 0, 0),
            (9, 1, 5),
            (10, 2, 2),
            (11, 1, 0),
            (12, 0, 2),
            (15, 1, 0),
            (16, 0, 4096),
            (17, 0, 4096),
            (18, 0, 24),
            (19, 0, 4096),
            (20, 0, 4096),
            (21, 0, 4096),
            (22, 1, 7),
            (23, 0, 4096),
            (24, 0, 4096),
            (25, 0, 4096),
            (26, 0, 4096),
            (27, 1, 7),
            (10014, 0, 1),
        ] {
            assert_eq!(statement.get(attribute), default, "{attribute}");
            assert_eq!(statement.set(attribute, other), SUCCESS, "{attribute}: {:?}", statement.records());
            assert_eq!(statement.get(attribute), other, "{attribute}");
        }
    },
    fn values_that_cannot_be_are_changed_or_refused(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!((changed(&statement, CURSOR_TYPE, 1), changed(&statement, CURSOR_TYPE, 2)), (3, 3));
        for value in [2, 3] {
            assert_eq!(changed(&statement, CONCURRENCY, value), 4);
        }
        assert_eq!(
            (changed(&statement, 8, 10), changed(&statement, 10, 0), changed(&statement, 10, 1)),
            (0, 2, 2)
        );
        changed(&statement, SENSITIVITY, 2);
        for (attribute, value, expected) in [
            (4, 1, "HYC00"),
            (CURSOR_TYPE, 9, "HY024"),
            (CONCURRENCY, 0, "HY024"),
            (CONCURRENCY, 5, "HY024"),
            (2, 7, "HY024"),
            (11, 2, "HY024"),
            (12, 3, "HY024"),
            (10, 3, "HY024"),
            (22, 0, "HY024"),
            (27, 0, "HY024"),
            (9, 0, "HY024"),
            (14, 1, "HY092"),
            (10012, 0, "HY017"),
            (10013, 0, "HY017"),
            (99_999, 0, "HY092"),
            (28, 0, "HY092"),
            (102, 0, "HY092"),
        ] {
            assert_eq!(refused(&statement, attribute, value), expected, "{attribute} = {value}");
        }
        let mut value = 0_usize;
        // SAFETY: the place is there.
        let code = unsafe { SQLGetStmtAttr(statement.handle, 4711, (&raw mut value).cast(), 0, null_mut()) };
        assert_eq!((code, statement.state().as_str()), (ERROR, "HY092"));
        // SAFETY: no place is given.
        assert_eq!(unsafe { SQLGetStmtAttr(statement.handle, 0, null_mut(), 0, null_mut()) }, SUCCESS);
    },
    fn kinds_of_cursors_go_together(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!((statement.set(SCROLLABLE, 1), statement.get(CURSOR_TYPE)), (SUCCESS, 3));
        assert_eq!((statement.set(SCROLLABLE, 0), statement.get(CURSOR_TYPE)), (SUCCESS, 0));
        assert_eq!((statement.set(SENSITIVITY, 1), statement.get(CURSOR_TYPE)), (SUCCESS, 3));
        assert_eq!((statement.get(SENSITIVITY), statement.get(SCROLLABLE)), (1, 1));
    },
    fn attributes_of_the_cursor_are_set_before_it_is_prepared(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        let all = [CURSOR_TYPE, SCROLLABLE, SENSITIVITY, 10, 12];
        statement.prepare("SELECT 1 FROM RDB$DATABASE");
        for attribute in all {
            assert_eq!(refused(&statement, attribute, 0), "HY011", "{attribute}");
        }
        assert_eq!(refused(&statement, CONCURRENCY, 1), "HY011");
        assert_eq!(statement.execute(), SUCCESS);
        for attribute in all {
            assert_eq!(refused(&statement, attribute, 0), "24000", "{attribute}");
        }
        // Others can be set at any time.
        assert_eq!(
            (statement.set(27, 3), statement.set(11, 1), statement.set(0, 9)),
            (SUCCESS, SUCCESS, SUCCESS)
        );
        statement.close();
        let direct = connection.statement();
        direct.run("SELECT 1 FROM RDB$DATABASE");
        assert_eq!(refused(&direct, CURSOR_TYPE, 3), "24000");
        direct.close();
        assert_eq!(direct.set(CURSOR_TYPE, 3), SUCCESS);
    },
    fn what_was_set_before_preparing_holds_when_fetching(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        let (mut fetched, mut statuses, mut values) = (0_usize, [9_u16; 4], [0_i32; 4]);
        assert_eq!(statement.set(26, (&raw mut fetched).expose_provenance()), SUCCESS);
        assert_eq!(statement.set(25, statuses.as_mut_ptr().expose_provenance()), SUCCESS);
        assert_eq!(statement.set(27, 4), SUCCESS);
        assert_eq!(statement.set(1, 6), SUCCESS);
        statement.run("SELECT FIRST 20 RDB$TYPE FROM RDB$TYPES");
        // SAFETY: the array has four elements.
        let code = unsafe { SQLBindCol(statement.handle, 1, 4, values.as_mut_ptr().cast(), 0, null_mut()) };
        assert_eq!(code, SUCCESS);
        assert_eq!((statement.fetch(), fetched, statuses), (SUCCESS, 4, [0; 4]));
        assert_eq!(statement.get(14), 1);
        assert_eq!((statement.fetch(), fetched, statuses), (SUCCESS, 2, [0, 0, 3, 3]));
        assert_eq!(statement.get(14), 5);
        assert_eq!((statement.fetch(), fetched), (NO_DATA, 0));
        statement.close();
        let mut row = 0_usize;
        // SAFETY: the place is there.
        let code = unsafe { SQLGetStmtAttr(statement.handle, 14, (&raw mut row).cast(), 0, null_mut()) };
        assert_eq!((code, statement.state().as_str()), (ERROR, "24000"));
    },
    fn escapes_are_left_alone_on_demand(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        statement.run("SELECT {fn UCASE('a')} FROM RDB$DATABASE");
        assert_eq!(statement.all_texts(), [[Some("A".to_owned())]]);
        statement.close();
        assert_eq!(statement.set(2, 1), SUCCESS);
        assert_eq!(statement.execute_directly("SELECT {fn UCASE('a')} FROM RDB$DATABASE"), ERROR);
        assert_eq!(statement.state(), "42000");
    },
);
