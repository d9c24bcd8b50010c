//! Prepared queries of at most one row, in one exchange.

use crate::support::{fresh, run};
use firearrow::{
    Connection, Date, Decimal, Isolation, Kind, Statement, Timestamp, Transaction, TransactionOptions, params,
};
use firearrow_testkit::{Target, matrix};

fn prepared(connection: &Connection, sql: &str) -> (Transaction, Statement) {
    let transaction = connection.begin(Default::default()).expect("it starts");
    let statement = transaction.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    (transaction, statement)
}

matrix!(
    all,
    fn it_is_found_or_not(target: &Target) {
        let connection = &fresh(target);
        run(connection, "CREATE TABLE t (id INTEGER, name VARCHAR(20) CHARACTER SET UTF8)");
        for id in 0..5 {
            connection.execute_with("INSERT INTO t VALUES (?, ?)", params![id, "grün"]).expect("it fits");
        }
        connection.execute_with("INSERT INTO t VALUES (?, ?)", params![5, None::<String>]).expect("it fits");
        let (transaction, statement) = prepared(connection, "SELECT id, name FROM t WHERE id = ?");
        let find = |id: i32| {
            statement.one_row(&transaction, params![id], |row| {
                Ok((row.get::<i64>("id")?, row.get::<Option<String>>(1)?, row.columns()))
            })
        };
        for turn in 0..3 {
            assert_eq!(find(turn).expect("one"), Some((turn.into(), Some("grün".into()), 2)));
            assert_eq!(find(5).expect("one"), Some((5, None, 2)));
            assert_eq!(find(9).expect("none is fine"), None);
        }
        let (_, all) = prepared(connection, "SELECT id FROM t");
        for _ in 0..2 {
            let error = all.one_row(&transaction, (), |row| row.get::<i32>(0)).expect_err("six");
            assert_eq!(error.kind(), Kind::Data);
            assert!(error.message().contains("or a subquery of it, returned more than one row"), "{error}");
        }
        let error =
            statement.one_row(&transaction, params![5], |row| row.get::<String>(1)).expect_err("NULL");
        assert_eq!((error.kind(), error.column_index()), (Kind::Data, Some(1)));
        let error = statement.one_row(&transaction, (), |row| row.get::<i32>(0)).expect_err("a parameter");
        assert_eq!(error.kind(), Kind::Parameter);
        let error = statement.one_row(&transaction, params![1, 2], |row| row.get::<i32>(0)).expect_err("two");
        assert_eq!(error.kind(), Kind::Parameter);
        let (_, insert) = prepared(connection, "INSERT INTO t VALUES (1, 'x')");
        let error = insert.one_row(&transaction, (), |row| row.get::<i32>(0)).expect_err("no rows");
        assert_eq!(error.kind(), Kind::Misuse);
        assert_eq!(find(1).expect("the statement goes on").map(|row| row.0), Some(1));
    },
    fn values_of_all_kinds_are_those_of_a_batch(target: &Target) {
        let connection = &fresh(target);
        let columns = [
            "CAST(-7 AS SMALLINT)",
            "CAST(2147483647 AS INTEGER)",
            "CAST(9223372036854775807 AS BIGINT)",
            "CAST(-12.34 AS NUMERIC(9, 2))",
            "CAST(0.25 AS FLOAT)",
            "CAST(0.1 AS DOUBLE PRECISION)",
            "TRUE",
            "DATE '2024-02-29'",
            "TIME '13:45:31.1234'",
            "TIMESTAMP '1901-02-03 04:05:06.7890'",
            "CAST('ü' AS CHAR(3) CHARACTER SET UTF8)",
            "CAST('grün 🐘' AS VARCHAR(30) CHARACTER SET UTF8)",
            "CAST(x'00FF' AS VARCHAR(4) CHARACTER SET OCTETS)",
            "CAST(x'00FF' AS CHAR(2) CHARACTER SET OCTETS)",
            "CAST('contents' AS BLOB SUB_TYPE TEXT CHARACTER SET UTF8)",
            "CAST(NULL AS INTEGER)",
            "CAST(NULL AS VARCHAR(5))",
            "NULL",
        ];
        let newer = [
            "CAST(1 AS INT128)",
            "CAST(1.50 AS DECFLOAT(34))",
            "TIMESTAMP '2020-01-01 00:00:00 Europe/Berlin'",
            "TIME '10:00:00 +02:00'",
        ];
        let newer =
            if connection.info().expect("facts").engine_version.starts_with('3') { &[][..] } else { &newer };
        // Each alone, all without those that only a batch has, and all.
        let alone = columns.iter().chain(newer).map(|column| vec![*column]);
        let lists = alone.chain([columns[..14].to_vec(), columns.iter().chain(newer).copied().collect()]);
        for list in lists {
            let sql = format!("SELECT {} FROM RDB$DATABASE", list.join(", "));
            let (transaction, statement) = prepared(connection, &sql);
            let read = |row: firearrow::Row<'_>| {
                (0..list.len()).map(|column| Ok(format!("{:?}", row.value(column)?))).collect()
            };
            let expected: Option<Vec<String>> =
                statement.query(&transaction, ()).expect("it runs").one_row(read).expect("one");
            for _ in 0..2 {
                let found: Option<Vec<String>> = statement.one_row(&transaction, (), read).expect("one");
                assert_eq!(found, expected, "{sql}");
            }
            assert!(expected.is_some());
        }
    },
    fn plain_values_arrive_as_they_are(target: &Target) {
        let connection = &fresh(target);
        run(
            connection,
            "CREATE TABLE t (id INTEGER, s SMALLINT, b BIGINT, n NUMERIC(9, 2), d DOUBLE PRECISION, f BOOLEAN, \
             born DATE, moment TIMESTAMP, v VARCHAR(30) CHARACTER SET UTF8, c CHAR(4) CHARACTER SET UTF8, \
             o VARCHAR(4) CHARACTER SET OCTETS)",
        );
        let sql = "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction.prepare(sql).expect("valid SQL");
        let day = Date::new(2024, 2, 29).expect("a leap day");
        let moment = Timestamp::from_unix_micros(-100).expect("in 1969");
        let full = params![1, -2_i16, i64::MIN, 5, 0.1, true, day, moment, "grün 🐘", "äb", b"\0\xff"];
        let empty = params![
            2,
            None::<i16>,
            None::<i64>,
            None::<i32>,
            None::<f64>,
            None::<bool>,
            None::<Date>,
            None::<Timestamp>,
            None::<String>,
            None::<&str>,
            None::<Vec<u8>>
        ];
        // Types change from one execution to the next; the widest text comes last.
        let other = params![
            3_i64,
            4_i32,
            5_i16,
            Decimal::new(-125, 1),
            2.0_f64,
            false,
            day,
            moment,
            "x".repeat(30),
            "c",
            b"1234"
        ];
        for parameters in [full, empty, other] {
            let inserted = insert.execute(&mut transaction, parameters).expect("they fit");
            assert_eq!(
                (inserted.affected_rows, inserted.counts.map(|counts| counts.inserted)),
                (Some(1), Some(1))
            );
        }
        let read = transaction.prepare("SELECT * FROM t WHERE id = ?").expect("valid SQL");
        let row = |id: i32| -> Vec<String> {
            let values =
                |row: firearrow::Row<'_>| (0..11).map(|at| Ok(format!("{:?}", row.value(at)?))).collect();
            read.one_row(&transaction, [id], values).expect("it runs").expect("a row")
        };
        let expected = format!("{:?}", moment);
        let full = row(1);
        assert_eq!(full[1..3], ["Integer(-2)", "Integer(-9223372036854775808)"]);
        assert!(full[3].contains("500") && full[4].contains("0.1") && full[5].contains("true"), "{full:?}");
        assert!(full[7].contains(&expected), "{full:?}");
        assert_eq!(full[8..], ["Text(\"grün 🐘\")", "Text(\"äb  \")", "Bytes([0, 255])"]);
        assert!(row(2)[1..].iter().all(|value| value == "Null"), "{:?}", row(2));
        let other = row(3);
        assert_eq!((other[1].as_str(), other[2].as_str()), ("Integer(4)", "Integer(5)"));
        assert!(other[3].contains("-1250") && other[8].len() > 36, "{other:?}");
        drop((read, insert));
        transaction.commit().expect("it commits");
    },
    fn what_does_not_fit_is_refused_as_ever(target: &Target) {
        let connection = &fresh(target);
        run(connection, "CREATE TABLE t (id INTEGER, v VARCHAR(3) CHARACTER SET UTF8, d DATE)");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction.prepare("INSERT INTO t VALUES (?, ?, ?)").expect("valid SQL");
        let day = Date::new(2024, 2, 29).expect("a day");
        let error = insert.execute(&mut transaction, params![1, "four", day]).expect_err("four characters");
        assert_eq!((error.sqlstate(), error.kind()), ("22001", Kind::Data));
        assert!(error.message().contains("parameter 2"), "{error}");
        let error =
            insert.execute(&mut transaction, params![1_i64 << 40, "abc", day]).expect_err("too large");
        assert_eq!(error.sqlstate(), "22003");
        assert!(error.message().contains("parameter 1"), "{error}");
        assert_eq!(
            insert.execute(&mut transaction, params![1, "abc", day]).expect("it fits").affected_rows,
            Some(1)
        );
    },
    fn what_a_procedure_did_stays(target: &Target) {
        let connection = &fresh(target);
        run(connection, "CREATE TABLE t (id INTEGER)");
        run(
            connection,
            "CREATE PROCEDURE p (wanted INTEGER) RETURNS (n INTEGER) AS BEGIN INSERT INTO t VALUES (:wanted); n = 0; \
             WHILE (n < wanted) DO BEGIN n = n + 1; SUSPEND; END INSERT INTO t VALUES (100 + :wanted); END",
        );
        let block = "EXECUTE BLOCK (wanted INTEGER = ?) RETURNS (n INTEGER) AS BEGIN INSERT INTO t VALUES (:wanted); n = 0; \
             WHILE (n < wanted) DO BEGIN n = n + 1; SUSPEND; END INSERT INTO t VALUES (100 + :wanted); END";
        let list = "SELECT CAST(LIST(id) AS VARCHAR(200)) FROM (SELECT id FROM t ORDER BY id)";
        let mut isolations = vec![
            Isolation::Snapshot,
            Isolation::SnapshotTableStability,
            Isolation::ReadCommittedRecordVersion,
            Isolation::ReadCommittedNoRecordVersion,
        ];
        if !connection.info().expect("facts").engine_version.starts_with('3') {
            isolations.push(Isolation::ReadCommittedReadConsistency);
        }
        for isolation in isolations {
            for sql in ["SELECT n FROM p(?)", block] {
                let options = TransactionOptions::default().isolation(isolation);
                let transaction = connection.begin(options).expect("it starts");
                let call = transaction.prepare(sql).expect("valid SQL");
                let done = || {
                    let list = transaction.query(list).expect("it runs");
                    list.one_row(|row| row.get::<Option<String>>(0))
                        .expect("one")
                        .flatten()
                        .unwrap_or_default()
                };
                let find = |wanted: i32| call.one_row(&transaction, [wanted], |row| row.get::<i32>(0));
                assert_eq!(find(0).expect("none is fine"), None);
                assert_eq!(done(), "0,100", "{isolation:?} {sql}");
                assert_eq!(find(1).expect("one"), Some(1));
                assert_eq!(done(), "0,1,100,101", "{isolation:?} {sql}");
                assert_eq!(find(2).expect_err("two").kind(), Kind::Data);
                assert_eq!(done(), "0,1,2,100,101,102", "{isolation:?} {sql}");
                transaction.rollback().expect("it ends");
            }
        }
    },
    fn errors_of_the_query_keep_their_causes(target: &Target) {
        let connection = &fresh(target);
        run(connection, "CREATE TABLE t (id INTEGER)");
        run(connection, "INSERT INTO t SELECT 1 FROM RDB$RELATIONS ROWS 2");
        run(
            connection,
            "CREATE PROCEDURE p RETURNS (n INTEGER) AS BEGIN SELECT id FROM t INTO n; SUSPEND; END",
        );
        let (transaction, subquery) = prepared(connection, "SELECT (SELECT id FROM t) FROM RDB$DATABASE");
        let error = subquery.one_row(&transaction, (), |row| row.get::<i32>(0)).expect_err("two rows");
        assert_eq!(error.kind(), Kind::Data);
        assert!(error.message().contains("or a subquery of it"), "{error}");
        assert_eq!(error.sqlstate(), "21000");
        let (_, procedure) = prepared(connection, "SELECT n FROM p");
        let error = procedure.one_row(&transaction, (), |row| row.get::<i32>(0)).expect_err("two rows");
        assert!(error.message().contains("'P'") || error.message().contains("\"P\""), "{error}");
        let (_, division) = prepared(connection, "SELECT 1 / CAST(? AS INTEGER) FROM RDB$DATABASE");
        let error = division.one_row(&transaction, [0], |row| row.get::<i32>(0)).expect_err("by zero");
        assert_eq!(error.sqlstate(), "22012");
        assert_eq!(division.one_row(&transaction, [1], |row| row.get::<i32>(0)).expect("it runs"), Some(1));
    },
    fn the_row_of_a_long_description_is_not_lost(target: &Target) {
        let connection = &fresh(target);
        // Its description takes several packets, and the row arrives before the second one.
        let names: Vec<String> = (1..1000).map(|n| format!("1 AS A_LONGER_NAME_{n:04}")).collect();
        let sql = format!("SELECT {} FROM RDB$DATABASE", names.join(", "));
        for turn in 0..3 {
            let transaction = connection.begin(Default::default()).expect("it starts");
            let statement = transaction.recall(&sql).expect("valid SQL");
            assert_eq!(statement.columns().len(), 999);
            let found = statement.one_row(&transaction, (), |row| row.get::<i32>(998));
            assert_eq!(found.expect("it runs"), Some(1), "turn {turn}");
            drop(statement);
            transaction.commit().expect("it commits");
        }
    },
    fn a_statement_with_an_open_cursor_is_refused(target: &Target) {
        let connection = &fresh(target);
        let (transaction, all) = prepared(connection, "SELECT RDB$RELATION_ID FROM RDB$RELATIONS");
        let cursor = all.query(&transaction, ()).expect("it runs");
        let error = all.one_row(&transaction, (), |row| row.get::<i32>(0)).expect_err("it is open");
        assert_eq!(error.kind(), Kind::Misuse);
        assert!(error.message().contains("has an open cursor"), "{error}");
        assert!(cursor.map(|batch| batch.expect("it goes on").num_rows()).sum::<usize>() > 10);
    },
    fn altered_tables_are_noticed(target: &Target) {
        let connection = &fresh(target);
        run(connection, "CREATE TABLE t (id INTEGER, v INTEGER)");
        run(connection, "INSERT INTO t VALUES (1, 2)");
        let sql = "SELECT v FROM t WHERE id = ?";
        let find = || {
            let (transaction, statement) = prepared(connection, sql);
            let found = statement.one_row(&transaction, [1], |row| Ok(format!("{:?}", row.value(0)?)));
            drop(statement);
            transaction.commit().expect("it commits");
            found.expect("it runs").expect("a row")
        };
        assert_eq!((find(), find()), ("Integer(2)".to_owned(), "Integer(2)".to_owned()));
        run(connection, "ALTER TABLE t ALTER v TYPE VARCHAR(20)");
        assert_eq!(find(), "Text(\"2\")");
        run(connection, "DROP TABLE t");
        run(connection, "CREATE TABLE t (v DATE, id BIGINT)");
        run(connection, "INSERT INTO t VALUES (DATE '2024-02-29', 1)");
        assert!(find().starts_with("Date("), "{}", find());
    }
);

matrix!(
    wire,
    fn an_execution_is_one_write_and_one_read(target: &Target) {
        let connection = &fresh(target);
        run(connection, "CREATE TABLE t (id INTEGER, v VARCHAR(20))");
        let mut transaction = connection.begin(Default::default()).expect("it starts");
        let insert = transaction.prepare("INSERT INTO t VALUES (?, ?)").expect("valid SQL");
        let find = transaction.prepare("SELECT id, v FROM t WHERE id = ?").expect("valid SQL");
        for id in 0..20 {
            let before = connection.wire_stats();
            insert.execute(&mut transaction, params![id, "value"]).expect("it fits");
            let cost = connection.wire_stats().since(&before);
            // The first one asks for the number of the transaction.
            assert_eq!((cost.sends, cost.round_trips), (1, 1), "INSERT {id}");
            assert!(cost.packets_sent <= 2 && (id == 0 || cost.packets_sent == 1), "INSERT {id}: {cost:?}");
            let before = connection.wire_stats();
            let found = find.one_row(&transaction, [id], |row| row.get::<i32>(0)).expect("it runs");
            assert_eq!(found, Some(id));
            let cost = connection.wire_stats().since(&before);
            // Without a cursor there is nothing to fetch from, and nothing to close.
            assert_eq!((cost.sends, cost.round_trips), (1, 1), "SELECT {id}");
            assert_eq!((cost.packets_sent, cost.packets_received), (1, 2), "SELECT {id}");
        }
    }
);
