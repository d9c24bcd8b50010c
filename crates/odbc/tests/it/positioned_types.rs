//! Keys and values of every type, through cursors.

use crate::odbc::*;
use crate::positioned::*;
use crate::support::*;
use firearrow_testkit::{Generation, Target, matrix};

/// Types with two literals, of which the first is also read and written as text.
fn types(target: &Target) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut types = vec![
        ("SMALLINT", "-5", "6"),
        ("INTEGER", "2147483647", "-1"),
        ("BIGINT", "-9223372036854775808", "3"),
        ("NUMERIC(4, 2)", "-1.25", "3.5"),
        ("DECIMAL(9, 3)", "123456.789", "0"),
        ("NUMERIC(18, 6)", "123456789012.345678", "-0.000001"),
        ("FLOAT", "0.1", "3"),
        ("DOUBLE PRECISION", "0.1", "-1e100"),
        ("BOOLEAN", "TRUE", "FALSE"),
        ("DATE", "'2024-02-29'", "'0001-01-01'"),
        ("TIME", "'23:59:59.9999'", "'00:00:00'"),
        ("TIMESTAMP", "'2024-02-29 23:59:59.9999'", "'1999-01-01 00:00:00'"),
        ("CHAR(8)", "'ab'", "'Größe'"),
        ("VARCHAR(8)", "'ab '", "''"),
        ("VARCHAR(8) CHARACTER SET ISO8859_1", "'Größe'", "'x'"),
        ("VARCHAR(8) COLLATE UNICODE_CI", "'Ab'", "'c'"),
        ("CHAR(4) CHARACTER SET OCTETS", "x'00FF0001'", "x'01020304'"),
        (
            "CHAR(16) CHARACTER SET OCTETS",
            "x'00112233445566778899AABBCCDDEEFF'",
            "CHAR_TO_UUID('A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11')",
        ),
        ("VARCHAR(4) CHARACTER SET OCTETS", "x'00FF'", "x''"),
    ];
    if target.generation() != Generation::V3_0 {
        types.extend([
            ("INT128", "170141183460469231731687303715884105727", "-1"),
            ("NUMERIC(38, 10)", "-1234567890123456789012345678.0123456789", "0"),
            ("DECFLOAT(16)", "1.234567890123456E+300", "-0.5"),
            ("DECFLOAT(34)", "1.234567890123456789012345678901234E-3000", "7"),
            (
                "TIMESTAMP WITH TIME ZONE",
                "'2024-02-29 23:59:59.9999 Europe/Berlin'",
                "'1999-01-01 00:00:00 UTC'",
            ),
            ("TIME WITH TIME ZONE", "'23:59:59.9999 UTC'", "'01:00:00 UTC'"),
        ]);
    }
    types
}

matrix!(
    all,
    fn keys_of_every_type_find_their_rows(target: &Target) {
        let connection = fresh(target);
        for (at, (sql_type, one, other)) in types(target).into_iter().enumerate() {
            let name = format!("T{at}");
            let (plain, collation) = sql_type.split_once(" COLLATE ").unwrap_or((sql_type, ""));
            let collation = if collation.is_empty() { String::new() } else { format!("COLLATE {collation}") };
            connection
                .run(&format!("CREATE TABLE {name} (K {plain} NOT NULL PRIMARY KEY {collation}, N INTEGER)"));
            for (value, number) in [(one, 1), (other, 2)] {
                connection.run(&format!("INSERT INTO {name} VALUES ({value}, {number})"));
            }
            let statement = changing(&connection, 2);
            let n = Slots::texts(2);
            n.bind(&statement, 1);
            statement.run(&format!("SELECT N, K FROM {name} ORDER BY N"));
            assert_eq!(statement.fetch(), SUCCESS);
            n.set_text(0, "100");
            n.set_text(1, "200");
            assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS, "{sql_type}: {:?}", statement.records());
            let found = rows(&connection, &format!("SELECT IIF(K = {one}, 1, 2), N FROM {name} ORDER BY N"));
            assert_eq!(found, "1,100;2,200", "{sql_type}");
            assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS, "{sql_type}: {:?}", statement.records());
            assert_eq!(rows(&connection, &format!("SELECT N FROM {name}")), "200", "{sql_type}");
        }
    },
    fn values_of_every_type_are_compared_and_written(target: &Target) {
        let connection = fresh(target);
        for (at, (sql_type, one, other)) in types(target).into_iter().enumerate() {
            let name = format!("T{at}");
            connection.run(&format!("CREATE TABLE {name} (ID INTEGER NOT NULL PRIMARY KEY, V {sql_type})"));
            for (id, value) in [(1, one), (2, other), (3, "NULL")] {
                connection.run(&format!("INSERT INTO {name} VALUES ({id}, {value})"));
            }
            let statement = changing(&connection, 3);
            let statuses = Statuses::of(&statement, 3);
            let v = Slots::texts(3);
            v.bind(&statement, 2);
            statement.run(&format!("SELECT ID, V FROM {name} ORDER BY ID"));
            assert_eq!(statement.fetch(), SUCCESS);
            // The text of each value goes to another row.
            let texts = [0, 1].map(|slot| v.text(slot).expect("a value"));
            v.set_text(0, &texts[1]);
            v.set_text(2, &texts[0]);
            v.set_length(1, NULL_DATA);
            assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS, "{sql_type}: {:?}", statement.records());
            assert_eq!(statuses.get(), [ROW_UPDATED; 3]);
            let check = format!(
                "SELECT ID FROM {name} WHERE ID = 1 AND V = {other} OR ID = 2 AND V IS NULL OR ID = 3 AND V = {one} \
                 ORDER BY ID"
            );
            assert_eq!(rows(&connection, &check), "1;2;3", "{sql_type}");
            // What was written is compared next.
            v.set_text(2, &texts[1]);
            assert_eq!(set_pos(&statement, 3, UPDATE), SUCCESS, "{sql_type}: {:?}", statement.records());
            assert_eq!(set_pos(&statement, 0, DELETE), SUCCESS, "{sql_type}: {:?}", statement.records());
            // A value that somebody else has changed.
            connection.run(&format!("INSERT INTO {name} VALUES (4, {one})"));
            statement.close();
            statement.run(&format!("SELECT ID, V FROM {name}"));
            assert_eq!(statement.fetch(), SUCCESS);
            connection.run(&format!("UPDATE {name} SET V = {other}"));
            assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS_WITH_INFO, "{sql_type}");
            assert_eq!((statement.state().as_str(), statuses.get()[0]), ("01001", ROW_ERROR));
        }
    },
    fn numbers_and_dates_come_from_their_own_buffers(target: &Target) {
        let connection = fresh(target);
        connection.run(
            "CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, D DOUBLE PRECISION, B BIGINT, W VARCHAR(20), X NUMERIC(9, 2), Y DATE)",
        );
        connection.run("INSERT INTO T VALUES (1, 1.5, 2, 'w', 1.25, '2024-01-31')");
        let statement = changing(&connection, 1);
        // DOUBLE, SBIGINT, WCHAR, NUMERIC, TYPE_DATE.
        let kinds: [(i16, usize); 5] = [(8, 8), (-25, 8), (-8, 40), (2, 19), (91, 6)];
        let slots = kinds.map(|(c_type, capacity)| Slots::new(c_type, capacity, 1));
        slots.iter().zip(2..).for_each(|(column, number)| column.bind(&statement, number));
        statement.run("SELECT * FROM T");
        assert_eq!(statement.fetch(), SUCCESS);
        // What was fetched is written back as it is.
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, "SELECT D, B, W, X, Y FROM T"), "1.5,2,w,1.25,2024-01-31");
        slots[0].set(0, &2.25_f64.to_ne_bytes());
        slots[1].set(0, &(-7_i64).to_ne_bytes());
        slots[2].set(0, &"ß😀".encode_utf16().flat_map(u16::to_ne_bytes).collect::<Vec<_>>());
        slots[4].set(0, &[0xE8, 0x07, 2, 0, 29, 0]);
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, "SELECT D, B, W, X, Y FROM T"), "2.25,-7,ß😀,1.25,2024-02-29");
    },
    fn blobs_are_written_from_buffers(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, X BLOB SUB_TYPE TEXT, Y BLOB)");
        for id in 1..=3 {
            connection.run(&format!("INSERT INTO T VALUES ({id}, 'text {id}', NULL)"));
        }
        let statement = changing(&connection, 3);
        let (x, y) = (Slots::new(1, 100_001, 3), Slots::new(-2, 70_000, 3));
        x.bind(&statement, 2);
        y.bind(&statement, 3);
        statement.run("SELECT ID, X, Y FROM T ORDER BY ID");
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(x.text(1).as_deref(), Some("text 2"));
        x.set_text(0, &"ä".repeat(50_000));
        x.set_text(1, "");
        x.set_length(2, NULL_DATA);
        y.set(0, &[0, 255, 0]);
        y.set(1, &[7; 70_000]);
        y.set_length(2, IGNORE);
        for _ in 0..2 {
            assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS, "{:?}", statement.records());
        }
        let lengths = "SELECT ID, CHAR_LENGTH(X), OCTET_LENGTH(Y) FROM T ORDER BY ID";
        assert_eq!(rows(&connection, lengths), "1,50000,3;2,0,70000;3,-,-");
    },
    fn names_of_every_kind_are_quoted(target: &Target) {
        let connection = fresh(target);
        connection.run(
            "CREATE TABLE \"My \"\"T\"\" ?\" (\"a b\" INTEGER NOT NULL, \"C?\" VARCHAR(10) NOT NULL, \"select\" INTEGER, \
             PRIMARY KEY (\"a b\", \"C?\"))",
        );
        for (one, two) in [(1, "x"), (1, "y"), (2, "x")] {
            connection.run(&format!("INSERT INTO \"My \"\"T\"\" ?\" VALUES ({one}, '{two}', 0)"));
        }
        let query =
            "SELECT \"select\" AS S, \"C?\" AS ID, T.\"a b\" FROM \"My \"\"T\"\" ?\" AS T ORDER BY 3, 2";
        let statement = changing(&connection, 3);
        let s = Slots::texts(3);
        s.bind(&statement, 1);
        statement.run(query);
        assert_eq!(statement.fetch(), SUCCESS);
        (0..3).for_each(|slot| s.set_text(slot, &slot.to_string()));
        assert_eq!(set_pos(&statement, 0, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, query), "1,y,1;2,x,2");
        // Half of the key.
        let half = changing(&connection, 1);
        half.run("SELECT \"a b\" FROM \"My \"\"T\"\" ?\"");
        assert_eq!(half.fetch(), SUCCESS);
        assert_eq!(refused(set_pos(&half, 1, DELETE), &half), "HYC00");
    },
    fn identities_and_arrays_are_read_only(target: &Target) {
        let connection = fresh(target);
        let always = if target.generation() == Generation::V3_0 { "BY DEFAULT" } else { "ALWAYS" };
        connection.run(&format!(
            "CREATE TABLE T (ID INTEGER GENERATED {always} AS IDENTITY PRIMARY KEY, A INTEGER, X INTEGER [2])"
        ));
        connection.run("INSERT INTO T (A) VALUES (1)");
        let statement = changing(&connection, 1);
        let slots = [1, 2, 3].map(|column| {
            let slots = Slots::texts(1);
            slots.bind(&statement, column);
            slots
        });
        statement.run("SELECT ID, A, X FROM T");
        assert_eq!(statement.fetch(), SUCCESS);
        slots[1].set_text(0, "2");
        slots[2].set_text(0, "{1, 2}");
        if always == "BY DEFAULT" {
            slots[0].set_length(0, IGNORE);
        }
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(set_pos(&statement, 1, ADD), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, "SELECT ID, A FROM T ORDER BY ID"), "1,2;2,2");
    },
    fn dialect_1_has_no_names_in_quotes(target: &Target) {
        let connection = unconnected(380);
        connection.connect(&format!("{};DIALECT=1", fresh_string(target)));
        table(&connection, 2);
        let statement = changing(&connection, 2);
        let (a, n) = (Slots::texts(2), Slots::texts(2));
        a.bind(&statement, 2);
        n.bind(&statement, 3);
        statement.run("SELECT ID, A, N FROM T ORDER BY ID");
        assert_eq!(statement.fetch(), SUCCESS);
        a.set_text(1, "new");
        n.set_length(1, IGNORE);
        assert_eq!(set_pos(&statement, 2, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(set_pos(&statement, 1, DELETE), SUCCESS, "{:?}", statement.records());
        assert_eq!(rows(&connection, "SELECT ID, A, N FROM T"), "2,new,20");
    },
    fn rounded_numbers_and_decoded_texts_are_not_compared(target: &Target) {
        if target.generation() == Generation::V3_0 {
            return;
        }
        let connection = unconnected(380);
        connection.connect(&format!("{};DECFLOAT=DOUBLE", fresh_string(target)));
        connection.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, D DECFLOAT(34), A INTEGER)");
        connection.run("INSERT INTO T VALUES (1, 1.2345678901234567890123456789, 1)");
        connection.run("CREATE TABLE U (D DECFLOAT(34) NOT NULL PRIMARY KEY)");
        connection.run("INSERT INTO U VALUES (1.2345678901234567890123456789)");
        let statement = changing(&connection, 1);
        let a = Slots::texts(1);
        a.bind(&statement, 3);
        statement.run("SELECT ID, D, A FROM T");
        assert_eq!(statement.fetch(), SUCCESS);
        a.set_text(0, "2");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        let check = "SELECT A, CAST(D AS VARCHAR(40)) FROM T";
        assert_eq!(rows(&connection, check), "2,1.2345678901234567890123456789");
        let statement = changing(&connection, 1);
        statement.run("SELECT D FROM U");
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(refused(set_pos(&statement, 1, DELETE), &statement), "HYC00");
        let connection = unconnected(380);
        connection.connect(&format!("{};{CODE_PAGE}=WIN1252", fresh_string(target)));
        connection.run(
            "CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, X VARCHAR(9) CHARACTER SET NONE, A INTEGER)",
        );
        connection.run("INSERT INTO T VALUES (1, x'E4F6', 1)");
        let statement = changing(&connection, 1);
        let a = Slots::texts(1);
        a.bind(&statement, 3);
        statement.run("SELECT ID, X, A FROM T");
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(statement.text(2).as_deref(), Some("äö"));
        a.set_text(0, "2");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        assert_eq!(
            rows(&connection, "SELECT A, CAST(X AS VARCHAR(9) CHARACTER SET OCTETS) FROM T"),
            "2,E4F6"
        );
    },
    fn triggers_may_change_what_was_written(target: &Target) {
        let connection = fresh(target);
        table(&connection, 1);
        connection.run("CREATE TRIGGER R FOR T BEFORE UPDATE AS BEGIN NEW.N = COALESCE(OLD.N, 0) + 1; END");
        let statement = changing(&connection, 1);
        let a = Slots::texts(1);
        a.bind(&statement, 2);
        statement.run("SELECT ID, A, N FROM T");
        assert_eq!(statement.fetch(), SUCCESS);
        a.set_text(0, "once");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS, "{:?}", statement.records());
        // The row is not the one that the driver knows: that is a conflict rather than a lost update.
        a.set_text(0, "twice");
        assert_eq!(set_pos(&statement, 1, UPDATE), SUCCESS_WITH_INFO);
        assert_eq!(statement.state(), "01001");
        assert_eq!(rows(&connection, "SELECT A, N FROM T"), "once,11");
    },
);
