//! `firearrow query`

use crate::command::{argument, demo, finish, firearrow, prepare};
use crate::readers::{self, assert_same, shown, without_empty_texts};
use firearrow_testkit::{Target, matrix};
use std::io::Write;
use std::process::Stdio;

matrix!(
    embedded,
    fn no_output_replaces_a_database(target: &Target) {
        let url = demo(target, "10");
        for arguments in [
            &["query", &url, "SELECT 1 FROM RDB$DATABASE", "-o", &url, "--format", "csv"][..],
            &["copy", &url, "T_WIDE", &url, "--force", "--format", "csv"],
        ] {
            firearrow(target, arguments).failure(1, &["is a Firebird database", "choose another file"]);
        }
        let rows = firearrow(target, &["query", &url, "SELECT COUNT(*) FROM T_WIDE", "--format", "csv"]);
        assert!(rows.success().text().trim_end().ends_with("10"));
    },
);

matrix!(
    all,
    fn all_formats_have_the_same_values(target: &Target) {
        let url = demo(target, "100");
        let folder = tempfile::tempdir().unwrap();
        let sql = "SELECT W.*, B.DOC FROM T_WIDE W JOIN T_BLOB B ON B.ID = W.ID ORDER BY W.ID";
        let to_file = |name: &str| {
            let path = folder.path().join(name);
            let outcome = firearrow(target, &["query", &url, sql, "-o", argument(&path)]).success();
            assert!(outcome.stdout.is_empty() && outcome.stderr.contains("100 rows in "), "{outcome:?}");
            path
        };
        let to_pipe =
            |format: &str| firearrow(target, &["query", &url, sql, "--format", format]).success().stdout;

        let batch = readers::arrow_stream(&to_pipe("arrow"));
        assert_eq!((batch.num_rows(), batch.num_columns()), (100, 23));
        assert!(readers::arrow_file(&to_file("x.arrow")) == batch);
        assert!(readers::parquet_file(&to_file("x.parquet")).columns() == batch.columns());
        let shown = shown(&batch);
        assert_same(&readers::json(&to_pipe("json")), &shown);
        assert_same(&readers::json(&std::fs::read(to_file("x.json")).unwrap()), &shown);
        let csv = to_pipe("csv");
        assert_same(&readers::csv(&csv), &(shown.0, without_empty_texts(shown.1)));
        assert_eq!(std::fs::read(to_file("x.csv")).unwrap(), csv);
        // An extension of something else is not a table.
        let path = folder.path().join("x.csv.gz");
        let outcome = firearrow(target, &["query", &url, sql, "-o", argument(&path)]);
        outcome.failure(2, &["x.csv.gz: the extension names no format", "--format"]);
        assert!(!path.exists());
        // V8 of some rows is an empty text, V16 of others NULL.
        let text = String::from_utf8(csv).unwrap();
        assert!(text.contains(",\"\",") && text.contains(",,"), "NULL and '' differ");
    },
    fn values_are_exact_and_tables_aligned(target: &Target) {
        let url = demo(target, "1");
        let sql = "SELECT 9223372036854775807 A, CAST('1e300' AS DOUBLE PRECISION) B, \
            CAST(-12345678901234.5678 AS DECIMAL(18,4)) C, CAST('say \"hi\", ' AS VARCHAR(20)) D, '' E, \
            CAST(NULL AS INTEGER) F, TRUE G, DATE '2024-02-29' H, TIMESTAMP '2024-02-29 12:00:00.5' I \
            FROM RDB$DATABASE";
        let json = firearrow(target, &["query", &url, sql, "--format", "json"]).success();
        let expected = "{\"A\":9223372036854775807,\"B\":1e300,\"C\":\"-12345678901234.5678\",\
            \"D\":\"say \\\"hi\\\", \",\"E\":\"\",\"F\":null,\"G\":true,\"H\":\"2024-02-29\",\
            \"I\":\"2024-02-29T12:00:00.500\"}\n";
        assert_eq!(json.text(), expected);
        let csv = firearrow(target, &["query", &url, sql, "--format", "csv"]).success();
        let expected = "A,B,C,D,E,F,G,H,I\r\n9223372036854775807,1e300,-12345678901234.5678,\
            \"say \"\"hi\"\", \",\"\",,true,2024-02-29,2024-02-29T12:00:00.500\r\n";
        assert_eq!(csv.text(), expected);
        let sql = "SELECT 1 N, CAST('one' AS VARCHAR(9)) T FROM RDB$DATABASE UNION ALL \
            SELECT -20, NULL FROM RDB$DATABASE";
        let table = firearrow(target, &["query", &url, sql]).success();
        assert_eq!(table.text(), "  N  T\n───  ────\n  1  one\n-20  NULL\n");
        assert!(table.stderr.starts_with("2 rows in "), "{}", table.stderr);
    },
    fn parameters_limits_and_standard_input_work(target: &Target) {
        let url = demo(target, "50");
        let sql = "SELECT ID FROM T_WIDE WHERE ID > ? AND ? IS NULL AND ID < ? ORDER BY ID";
        let parameters = ["--param", "40", "--null-param", "--param", "45", "--json"];
        // An untyped ? needs a type to be NULL of.
        let sql = sql.replace("? IS NULL", "CAST(? AS INTEGER) IS NULL");
        let outcome = firearrow(target, &[&["query", &url, &sql], &parameters[..]].concat()).success();
        assert_eq!(outcome.text(), "{\"ID\":41}\n{\"ID\":42}\n{\"ID\":43}\n{\"ID\":44}\n");
        firearrow(target, &["query", &url, &sql, "--param", "1"]).failure(1, &["parameter"]);
        let named = "SELECT ID FROM T_WIDE WHERE ID BETWEEN :first AND :last AND ID <> :FIRST ORDER BY ID";
        let parameters = ["--param", "last=12", "--param", "first=10", "--json"];
        let outcome = firearrow(target, &[&["query", &url, named], &parameters[..]].concat()).success();
        assert_eq!(outcome.text(), "{\"ID\":11}\n{\"ID\":12}\n");
        let timed = [&["query", &url, named, "--timing"], &parameters[..4]].concat();
        assert!(firearrow(target, &timed).success().text().contains("12"));
        firearrow(target, &["query", &url, named, "--param", "7"]).failure(2, &["--param first=VALUE"]);

        let limited = ["query", &url, "SELECT C1 FROM T_INT10", "--limit", "3", "--format", "csv"];
        assert_eq!(firearrow(target, &limited).success().text().lines().count(), 4);

        let mut child = prepare(Some(target), &["query", &url, "-", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(b"SELECT COUNT(*) AS N\nFROM T_VC5\n").unwrap();
        assert_eq!(finish(child.wait_with_output().unwrap()).success().text(), "{\"N\":50}\n");
    },
    fn changes_are_committed_unless_refused(target: &Target) {
        let url = demo(target, "20");
        let run = |arguments: &[&str]| firearrow(target, &[&["query", &url], arguments].concat());
        run(&["DELETE FROM T_INT10 WHERE C1 < ?", "--param", "5", "--read-only"]).failure(1, &["read-only"]);
        let outcome = run(&["DELETE FROM T_INT10 WHERE C1 < ?", "--param", "5"]).success();
        assert_eq!(outcome.text(), "5 rows affected\n");
        let outcome = run(&["UPDATE T_INT10 SET C2 = 0 WHERE C1 = 7", "--json"]).success().json();
        assert_eq!(outcome["affected_rows"], 1);
        let outcome = run(&["INSERT INTO T_INT10 (C1) VALUES (99) RETURNING C1", "--json"]).success();
        assert_eq!(outcome.text(), "{\"C1\":99}\n");
        run(&["CREATE TABLE OTHER (ID INTEGER)"]).success();
        run(&["COMMIT"]).success();
        let outcome = run(&["SELECT COUNT(*) N, SUM(C2) S FROM T_INT10", "--json"]).success().json();
        assert_eq!(outcome, serde_json::json!({"N": 16, "S": (6..=20).sum::<i32>() - 8}));
        run(&["SELECT * FROM OTHER", "--json"]).success();
    },
    fn rows_come_alone_for_scripts(target: &Target) {
        let url = demo(target, "3");
        let run = |arguments: &[&str]| firearrow(target, &[&["query", &url][..], arguments].concat());
        let sql = "SELECT ID, 'a;b' AS S FROM T_WIDE WHERE ID < 3 ORDER BY ID";
        let bare = run(&["SELECT COUNT(*) FROM T_WIDE", "--no-header"]).success();
        assert_eq!((bare.text(), bare.stderr.as_str()), ("3\n", ""));
        let csv = run(&[sql, "--format", "csv", "--no-header", "--delimiter", ";"]).success();
        assert_eq!(csv.text(), "1;\"a;b\"\r\n2;\"a;b\"\r\n");
        assert_eq!(
            run(&[sql, "--format", "csv", "--delimiter", "tab"]).success().text().lines().next(),
            Some("ID\tS")
        );
        // Several statements, too: no names and no counts.
        let script = "SELECT ID FROM T_WIDE WHERE ID = 2; SELECT COUNT(*) FROM T_WIDE;";
        assert_eq!(run(&[script, "--no-header"]).success().text(), "2\n3\n");
        run(&[sql, "--format", "json", "--no-header"]).failure(2, &["--no-header is for tables and CSV"]);
        run(&[sql, "--delimiter", ";"]).failure(2, &["--delimiter needs --format csv"]);
        // What is written so is read so.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.csv");
        firearrow(target, &["copy", &url, sql, argument(&path), "--delimiter", ";"]).success();
        firearrow(target, &["load", &url, argument(&path), "--into", "X", "--delimiter", ";"]).success();
        let read = run(&["SELECT ID, S FROM X ORDER BY 1", "--format", "csv", "--no-header"]).success();
        assert_eq!(read.text(), "1,a;b\r\n2,a;b\r\n");
    },
    fn similar_names_are_suggested(target: &Target) {
        let url = demo(target, "1");
        firearrow(target, &["query", &url, "CREATE TABLE \"Mixed\" (ID INTEGER)"]).success();
        let statements = [
            ("SELECT ID FROM T_WIDES", "did you mean T_WIDE?"),
            ("SELECT W.IDD FROM T_WIDE W", "did you mean ID?"),
            ("INSERT INTO TWIDE (ID) VALUES (1)", "did you mean T_WIDE?"),
            ("SELECT * FROM MIXED", "did you mean \"Mixed\"?"),
            ("SELECT * FROM RDB$RELATION", "did you mean RDB$RELATIONS?"),
            ("SELECT RDB$FELD_NAME FROM RDB$FIELDS", "did you mean RDB$FIELD_NAME?"),
            ("DROP TABLE T_WIDES", "did you mean T_WIDE?"),
            ("ALTER TABLE TWIDE ADD N INTEGER", "did you mean T_WIDE?"),
            ("SELCT ID FROM T_WIDE", "did you mean SELECT?"),
            ("SELECT ID FROM T_WIDE WEHRE ID = 1", "did you mean WHERE?"),
            ("SELECT ID FROM T_WIDE\nSELECT 1 FROM T_WIDE", "is a semicolon missing before SELECT?"),
            ("SELECT ID FROM T_WIDE WHERE ID = :nr", ":nr gets its value from --param nr=VALUE"),
        ];
        for (sql, hint) in statements {
            for script in [sql.to_owned(), format!("SELECT ID FROM T_WIDE; {sql};")] {
                let outcome = firearrow(target, &["query", &url, &script]).failure(1, &[]);
                assert_eq!(outcome.stderr.matches("hint: ").count(), 1, "{}", outcome.stderr);
                assert!(
                    outcome.stderr.contains(&format!("\n  hint: {hint}")),
                    "{script}: {}",
                    outcome.stderr
                );
            }
        }
        // The time limit leaves time for it.
        let limited = ["query", &url, statements[0].0, "--timeout", "3s"];
        firearrow(target, &limited).failure(1, &["did you mean T_WIDE?"]);
        // Other commands suggest names, too; only keywords, while a transaction is open.
        firearrow(target, &["copy", &url, "t_wides", "-", "--format", "csv"])
            .failure(1, &["did you mean T_WIDE?"]);
        firearrow(target, &["ddl", &url, "t_wides"]).failure(1, &["did you mean T_WIDE?"]);
        let script = "INSERT INTO \"Mixed\" VALUES (1); SELECT ID FORM T_WIDE;";
        firearrow(target, &["query", &url, script]).failure(1, &["did you mean FROM?"]);
        // A line break in a name begins no line.
        firearrow(target, &["query", &url, "CREATE TABLE \"TWO\nLINES OF IT\" (N INTEGER)"]).success();
        let outcome = firearrow(target, &["query", &url, "SELECT * FROM \"TWO LINES OF IT\""]);
        outcome.failure(1, &["did you mean \"TWO\\nLINES OF IT\"?"]);
        let outcome = firearrow(target, &["query", &url, statements[0].0, "--json"]).failure(1, &[]);
        assert!(outcome.stderr.contains("\"hint\":\"did you mean T_WIDE?\""), "{}", outcome.stderr);
    },
    fn sql_of_other_databases_gets_a_hint(target: &Target) {
        let url = demo(target, "1");
        for (sql, hint) in [
            ("SELECT 1", "needs FROM RDB$DATABASE"),
            ("SELECT ID FROM T_WIDE WHERE ID = %s", "is written ?"),
            ("SELECT ID FROM T_WIDE WHERE ID = $1", "is written ?"),
            ("SELECT ID FROM T_WIDE ORDER BY 1 LIMIT 1", "write FETCH FIRST"),
            ("SELECT ID FROM T_WIDE LIMIT 1", "if it follows LIMIT or TOP: write FETCH FIRST"),
            ("SELECT * FROM no_such_table", "needs quotes: \"no_such_table\""),
            ("SELECT * FROM \"lower\"", "names in quotes keep their case"),
            ("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT)", "AS IDENTITY"),
            ("CREATE TABLE t (id SERIAL)", "write INTEGER GENERATED BY DEFAULT AS IDENTITY"),
            ("CREATE TABLE t (t TEXT)", "write BLOB SUB_TYPE TEXT"),
            ("BEGIN", "a transaction begins with"),
            ("SELECT NOW() FROM T_WIDE", "CURRENT_TIMESTAMP"),
            ("EXPLAIN SELECT ID FROM T_WIDE", "--plan"),
            ("DESCRIBE T_WIDE", "SHOW TABLE"),
            ("USE x", "\\connect"),
            ("SELECT CAST('2024-02-29T12:00:00' AS TIMESTAMP) FROM T_WIDE", "a space in place of the T"),
        ] {
            let outcome = firearrow(target, &["query", &url, sql]).failure(1, &[]);
            let last = outcome.stderr.lines().last().unwrap();
            assert!(last.starts_with("  hint: ") && last.contains(hint), "{sql}: {}", outcome.stderr);
        }
        for sql in ["SELECT nothing FROM T_WIDE", "NONSENSE 1"] {
            let outcome = firearrow(target, &["query", &url, sql]).failure(1, &[]);
            assert!(!outcome.stderr.contains("hint"), "{sql}: {}", outcome.stderr);
        }
        // In a script, too; for programs it stands by itself.
        let script = "SELECT ID FROM T_WIDE; SELECT 1;";
        firearrow(target, &["query", &url, script]).failure(1, &["a SELECT without a table needs"]);
        let outcome = firearrow(target, &["query", &url, "SELECT 1", "--json"]).failure(1, &[]);
        let error: serde_json::Value = serde_json::from_str(&outcome.stderr).unwrap();
        let text = |name: &str| error["error"][name].as_str().unwrap().to_owned();
        assert!(
            text("hint").contains("RDB$DATABASE") && !text("message").contains("RDB$DATABASE"),
            "{error}"
        );
        let outcome = firearrow(target, &["query", &target.fresh_url(), "SELECT 1"]);
        outcome.failure(1, &["hint: there is no such file, and no such alias; "]);
    }
);
