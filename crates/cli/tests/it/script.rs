//! `firearrow query` with several statements.

use crate::command::{argument, demo, finish, firearrow, prepare};
use firearrow_testkit::{Target, matrix};
use std::fs;
use std::io::Write;
use std::process::Stdio;

/// The rows of a query, a line each.
fn rows(target: &Target, url: &str, sql: &str) -> Vec<String> {
    let outcome = firearrow(target, &["query", url, sql, "--format", "csv"]).success();
    outcome.text().lines().skip(1).map(str::to_owned).collect()
}

fn script(name: &str, text: &[u8]) -> tempfile::TempPath {
    let mut file = tempfile::Builder::new().prefix(name).suffix(".sql").tempfile().expect("a file");
    file.write_all(text).expect("it is written");
    file.into_temp_path()
}

matrix!(
    all,
    fn a_forgotten_semicolon_loses_no_statement(target: &Target) {
        let url = demo(target, "1");
        firearrow(target, &["sql", &url, "CREATE TABLE t (a INTEGER)"]).success();
        for (sql, error) in [
            ("COMMIT\nINSERT INTO t VALUES (2);", "COMMIT: INSERT is not understood here"),
            ("ROLLBACK\nINSERT INTO t VALUES (2);", "ROLLBACK: INSERT is not understood here"),
            ("SET LIST ON\nINSERT INTO t VALUES (2);", "SET: INSERT is not understood here"),
            ("OUTPUT\nINSERT INTO t VALUES (2);", "OUTPUT: INSERT is not understood here"),
            ("OUT x\tINSERT INTO t VALUES (2);", "OUTPUT: INSERT is not understood here"),
            ("OUTPUT 'x y' INSERT INTO t VALUES (2);", "OUTPUT: INSERT is not understood here"),
            ("IN \"x\"INSERT INTO t VALUES (2);", "INPUT: INSERT is not understood here"),
            ("SET HEADING\nROLLBACK;", "SET: ROLLBACK is not understood here"),
            ("SHOW VERSION\nCOMMIT;", "SHOW: COMMIT is not understood here"),
            ("SHOW TABLES\nINSERT INTO t VALUES (2);", "SHOW: INSERT is not understood here"),
            ("SET TERM ^ ;\nCOMMIT; INSERT INTO t VALUES (2)^", "COMMIT: INSERT is not understood here"),
        ] {
            let script = format!("INSERT INTO t VALUES (1); {sql}");
            firearrow(target, &["sql", &url, &script])
                .failure(2, &[error, "is a semicolon missing before it?"]);
        }
        assert!(rows(target, &url, "SELECT a FROM t").is_empty());
    },
    fn statements_run_one_after_the_other(target: &Target) {
        let url = demo(target, "1");
        let script = script(
            "several",
            "\u{feff}CREATE TABLE t (id INTEGER PRIMARY KEY, s VARCHAR(20));\n\
             INSERT INTO t VALUES (1, 'one; two'); COMMIT;\n\
             SET TERM ^ ;\n\
             CREATE PROCEDURE p (n INTEGER) AS BEGIN\n  INSERT INTO t VALUES (:n, 'p');\nEND^\n\
             SET TERM ; ^\n\
             EXECUTE PROCEDURE p (2);\n\
             -- a remark;\n\
             COMMIT;\n\
             SELECT id, s FROM t ORDER BY id;\n\
             UPDATE t SET s = 'changed'"
                .as_bytes(),
        );
        let outcome = firearrow(target, &["sql", &url, "--file", argument(&script)]).success();
        let expected = "done\n1 row affected\ncommitted\ndone\ndone\ncommitted\n";
        assert!(outcome.text().starts_with(expected), "{}", outcome.text());
        assert!(outcome.text().contains("one; two") && outcome.text().ends_with("2 rows\n2 rows affected\n"));
        // What was open at the end is committed.
        assert_eq!(rows(target, &url, "SELECT s FROM t"), ["changed", "changed"]);
        // Data for programs are not mixed with remarks.
        let sql = "SELECT 1 A FROM RDB$DATABASE; SELECT 2 B FROM RDB$DATABASE";
        let outcome = firearrow(target, &["query", &url, sql, "--json"]).success();
        assert_eq!((outcome.text(), outcome.stderr.as_str()), ("{\"A\":1}\n{\"B\":2}\n", ""));
        // Standard input runs before the files.
        let mut command = prepare(Some(target), &["query", &url, "-", "-f", argument(&script)]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"DROP PROCEDURE p; DROP TABLE t;").unwrap();
        finish(child.wait_with_output().unwrap()).success();
    },
    fn a_script_that_fails_says_what_is_committed(target: &Target) {
        let url = demo(target, "1");
        let sql = "CREATE TABLE t (n INTEGER NOT NULL);\nINSERT INTO t VALUES (1); COMMIT;\n\
                   INSERT INTO t VALUES (2);\nINSERT INTO t VALUES (NULL);\nINSERT INTO t VALUES (3);";
        let script = script("failing", sql.as_bytes());
        let outcome = firearrow(target, &["query", &url, "-f", argument(&script)]);
        outcome.failure(1, &[", line 4: ", "committed before: 2 statements; rolled back: 1 statement"]);
        assert_eq!(rows(target, &url, "SELECT n FROM t"), ["1"]);
        // It may go on.
        let go_on = format!("SET BAIL OFF; DELETE FROM t; {}", &sql[sql.find("INSERT").unwrap()..]);
        let outcome = firearrow(target, &["query", &url, &go_on]).failure(1, &["1 statement failed"]);
        assert!(outcome.stderr.contains("error: SQL, line 3: "), "{}", outcome.stderr);
        assert_eq!(rows(target, &url, "SELECT n FROM t ORDER BY n"), ["1", "2", "3"]);
        // What was open when something was defined does not see it.
        let seen = "INSERT INTO t VALUES (7); CREATE TABLE u (n INTEGER); INSERT INTO u VALUES (1); ROLLBACK; DROP TABLE u";
        firearrow(target, &["query", &url, seen]).success();
        let unseen = "SET TRANSACTION; INSERT INTO t VALUES (7); CREATE TABLE u (n INTEGER); SELECT n FROM u";
        let outcome = firearrow(target, &["query", &url, unseen]);
        outcome.failure(1, &["sees no definition that was made after it began"]);
        firearrow(target, &["query", &url, "DROP TABLE u"]).success();
        // A script that is stopped says it as well.
        let endless = "INSERT INTO t VALUES (8); COMMIT; INSERT INTO t VALUES (9); \
                       EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN WHILE (1 = 1) DO i = MOD(i + 1, 7); END";
        let outcome = firearrow(target, &["query", &url, endless, "--timeout", "2s"]);
        outcome.failure(124, &["timed out", "committed before: 1 statement; rolled back: 1 statement"]);
        assert_eq!(rows(target, &url, "SELECT n FROM t WHERE n > 7"), ["8"]);
        // For programs, outcome and hint are fields of their own.
        let outcome = firearrow(target, &["query", &url, unseen, "--json"]);
        let error: serde_json::Value = serde_json::from_str(outcome.stderr.trim()).expect("one object");
        let text = |name: &str| error["error"][name].as_str().unwrap_or_default().to_owned();
        assert!(text("hint").contains("sees no definition"), "{error}");
        assert!(
            text("outcome").contains("rolled back") && !text("message").contains("rolled back"),
            "{error}"
        );
        firearrow(target, &["query", &url, "DROP TABLE u"]).success();
        // Every statement for itself.
        let outcome = firearrow(target, &["query", &url, &format!("DELETE FROM t; {sql}"), "--autocommit"]);
        outcome.failure(1, &["T", "committed before: 1 statement"]);
        assert!(rows(target, &url, "SELECT n FROM t").is_empty());
    },
    fn changes_whose_rows_nobody_reads_are_undone_with_an_error(target: &Target) {
        let url = demo(target, "1");
        firearrow(target, &["query", &url, "CREATE TABLE T (N INTEGER); INSERT INTO T VALUES (1)"]).success();
        let sql = "UPDATE T SET N = 2 RETURNING N";
        let mut child = prepare(Some(target), &["query", &url, sql, "--format", "csv"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        finish(child.wait_with_output().unwrap()).failure(1, &["nobody reads the output"]);
        assert_eq!(rows(target, &url, "SELECT N FROM T"), ["1"]);
        // Data formats have data alone on standard output.
        let outcome = firearrow(target, &["query", &url, "DELETE FROM T WHERE N = 7", "--format", "csv"]);
        assert!(outcome.stderr.contains("0 rows affected"), "{}", outcome.stderr);
        assert_eq!(outcome.success().text(), "");
        // For programs, an interruption is an object as well.
        let endless = "EXECUTE BLOCK AS DECLARE i INTEGER = 0; BEGIN WHILE (1 = 1) DO i = MOD(i + 1, 7); END";
        let outcome = firearrow(target, &["query", &url, endless, "--json", "--timeout", "1s"]);
        let error: serde_json::Value = serde_json::from_str(outcome.stderr.trim()).expect("one object");
        assert_eq!(error["error"]["message"], "timed out after 1s (--timeout)");
    },
    fn output_adds_to_a_file(target: &Target) {
        let url = demo(target, "1");
        let file = script("output", b"keep\n");
        let sql = format!("OUTPUT '{}'; SELECT 1 AS N FROM RDB$DATABASE;", file.display());
        firearrow(target, &["query", &url, &sql, "--format", "csv"]).success();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "keep\nN\r\n1\r\n");
    },
    fn transactions_are_those_of_the_script(target: &Target) {
        let url = demo(target, "1");
        let sql = "CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1); ROLLBACK; INSERT INTO t VALUES (2); \
                   COMMIT RETAIN; INSERT INTO t VALUES (3); ROLLBACK WORK RETAIN; SAVEPOINT a; \
                   INSERT INTO t VALUES (4); ROLLBACK TO SAVEPOINT a; INSERT INTO t VALUES (5);";
        firearrow(target, &["query", &url, sql]).success();
        assert_eq!(rows(target, &url, "SELECT n FROM t ORDER BY n"), ["2", "5"]);
        let sql = "SET TRANSACTION READ ONLY; INSERT INTO t VALUES (6)";
        firearrow(target, &["query", &url, sql]).failure(1, &["read-only"]);
        let sql = "INSERT INTO t VALUES (6); SET TRANSACTION";
        firearrow(target, &["query", &url, sql])
            .failure(2, &["COMMIT or ROLLBACK", "rolled back: 1 statement"]);
        firearrow(target, &["query", &url, "SET TRANSACTION SOON"]).failure(2, &["SOON", "READ COMMITTED"]);
        let sql = "DELETE FROM t; SELECT COUNT(*) FROM t";
        firearrow(target, &["query", &url, sql, "--read-only"]).failure(1, &["read-only"]);
        assert_eq!(rows(target, &url, "SELECT n FROM t ORDER BY n"), ["2", "5"]);
        // A procedure that writes and is selected from: its changes belong to the script.
        let sql = "SET TERM ^ ; CREATE PROCEDURE w RETURNS (n INTEGER) AS BEGIN INSERT INTO t VALUES (9); n = 9; SUSPEND; END^ \
                   SET TERM ; ^ SELECT n FROM w; ROLLBACK; SELECT COUNT(*) C FROM t";
        let outcome = firearrow(target, &["query", &url, sql, "--format", "csv"]).success();
        assert_eq!(outcome.text(), "N\r\n9\r\nC\r\n2\r\n");
    },
    fn scripts_of_isql_end_as_they_do_there(target: &Target) {
        let url = demo(target, "1");
        firearrow(target, &["query", &url, "CREATE TABLE t (n INTEGER)"]).success();
        firearrow(target, &["query", &url, "INSERT INTO t VALUES (1); EXIT; INSERT INTO t VALUES (2)"])
            .success();
        firearrow(target, &["query", &url, "INSERT INTO t VALUES (3); QUIT; INSERT INTO t VALUES (4)"])
            .success();
        assert_eq!(rows(target, &url, "SELECT n FROM t"), ["1"]);
        let inner = script("inner", b"INSERT INTO t VALUES (5);\nSELECT nonsense FROM t;\n");
        let outer = format!("DELETE FROM t;\nINPUT {};\n", argument(&inner));
        let outcome = firearrow(target, &["query", &url, &outer]);
        outcome.failure(1, &["SQL, line 2: ", "inner", ", line 2: ", "rolled back: 2 statements"]);
        let endless = script("endless", b"");
        fs::write(&endless, format!("INPUT {};\n", argument(&endless))).unwrap();
        firearrow(target, &["query", &url, "-f", argument(&endless)]).failure(2, &["16th script"]);
        // An error ends no transaction.
        let sql = "SET BAIL OFF; SET TRANSACTION READ ONLY; SELECT * FROM nowhere; DELETE FROM t";
        firearrow(target, &["query", &url, sql]).failure(1, &["read-only", "2 statements failed"]);
        assert_eq!(rows(target, &url, "SELECT n FROM t"), ["1"]);
        // Committing every statement stays so after a procedure that writes.
        let procedure =
            "CREATE PROCEDURE w RETURNS (n INTEGER) AS BEGIN INSERT INTO t VALUES (9); n = 9; SUSPEND; END";
        firearrow(target, &["query", &url, procedure]).success();
        let sql = "SELECT n FROM w; INSERT INTO t VALUES (10); SELECT nonsense FROM t";
        firearrow(target, &["query", &url, sql, "--autocommit"])
            .failure(1, &["committed before: 2 statements"]);
        assert_eq!(rows(target, &url, "SELECT n FROM t ORDER BY n"), ["1", "9", "10"]);
    },
    fn a_script_whose_output_nobody_reads_fails(target: &Target) {
        let url = demo(target, "1");
        let sql = "INSERT INTO T_BLOB (ID) VALUES (77); SELECT a.RDB$FIELD_NAME FROM RDB$FIELDS a, RDB$FIELDS b; COMMIT";
        let mut child = prepare(Some(target), &["query", &url, sql])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let outcome = finish(child.wait_with_output().unwrap());
        outcome.failure(1, &["nobody reads the output", "rolled back: 1 statement"]);
        assert_eq!(rows(target, &url, "SELECT COUNT(*) FROM T_BLOB WHERE ID = 77"), ["0"]);
    },
    fn plans_settings_and_lists(target: &Target) {
        let url = demo(target, "1");
        let sql = "SELECT * FROM T_WIDE WHERE ID = 1";
        let outcome = firearrow(target, &["query", &url, sql, "--plan=legacy"]).success();
        assert!(outcome.text().contains("PLAN (T_WIDE "), "{}", outcome.text());
        let outcome = firearrow(target, &["query", &url, sql, "--plan"]).success();
        assert!(outcome.text().contains("Select Expression\n"), "{}", outcome.text());
        let outcome = firearrow(target, &["query", &url, "DELETE FROM T_WIDE", "--plan"]).success();
        assert!(!outcome.text().contains("affected"), "{}", outcome.text());
        assert_eq!(rows(target, &url, "SELECT COUNT(*) FROM T_WIDE"), ["1"]);
        let outcome =
            firearrow(target, &["query", &url, "SELECT 1 A FROM RDB$DATABASE; COMMIT", "--timing"]).success();
        assert!(outcome.text().contains(" ms"), "{}", outcome.text());
        let outcome = firearrow(target, &["query", &url, "SHOW TABLES"]).success();
        assert!(
            outcome.text().lines().any(|line| line.trim_start().starts_with("T_WIDE ")),
            "{}",
            outcome.text()
        );
        let outcome =
            firearrow(target, &["query", &url, "SET LIST ON; SELECT 7 A, NULL BB FROM RDB$DATABASE"])
                .success();
        assert!(outcome.text().contains("── row 1 ──\nA   7\nBB  NULL\n"), "{}", outcome.text());
        firearrow(target, &["query", &url, "SHOW NONSENSE"]).failure(2, &["SHOW takes TABLES"]);
        let zone = firearrow(target, &["query", &url, "SET GENERATOR RDB$PROCEDURES TO 1; COMMIT"]);
        assert!(!zone.stderr.contains("SET GENERATOR takes"), "{}", zone.stderr);
    }
);

matrix!(
    [firebird_4_0],
    fn what_is_for_one_statement_is_refused_for_several(target: &Target) {
        let url = demo(target, "1");
        let two = "SELECT 1 FROM RDB$DATABASE; SELECT 2 FROM RDB$DATABASE";
        for more in [&["-o", "x.csv"][..], &["--wire"], &["--format", "parquet"]] {
            firearrow(target, &[&["query", &url, two], more].concat())
                .failure(2, &["is for a single statement"]);
        }
        firearrow(target, &["query", &url, two, "--param", "1"])
            .failure(2, &["--param is for a single statement"]);
        firearrow(target, &["query", &url, " ; -- nothing"]).failure(2, &["there is no statement"]);
        firearrow(target, &["query", &url, "-f", "/nonexistent.sql"]).failure(1, &["/nonexistent.sql"]);
        let latin = script("latin", b"SELECT 1 FROM RDB$DATABASE;\nSELECT 'Z\xfcrich' FROM RDB$DATABASE");
        firearrow(target, &["query", &url, "-f", argument(&latin)])
            .failure(1, &["line 2: not UTF-8", "iconv"]);
        let sql = "\u{feff}SELECT 'Zürich' FROM RDB$DATABASE";
        let utf_16: Vec<u8> = sql.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let path = script("utf_16", &utf_16);
        let outcome = firearrow(target, &["query", &url, "-f", argument(&path), "--format", "csv"]).success();
        assert!(outcome.text().ends_with("Zürich\r\n"), "{}", outcome.text());
        let unmarked = script("unmarked", &utf_16[2..]);
        firearrow(target, &["query", &url, "-f", argument(&unmarked)])
            .failure(1, &["looks like UTF-16LE without a byte order mark: save it as UTF-8"]);
        firearrow(target, &["query", &url, "SET TERM a b; x"]).failure(2, &["SET TERM takes one terminator"]);
        // Ten megabytes, in one statement and in many.
        let long = format!("SELECT '{}' FROM RDB$DATABASE", "x".repeat(8_000));
        let many = format!("{}{long}", "SELECT 1 A FROM RDB$DATABASE;\n".repeat(2_000));
        let many = script("many", many.as_bytes());
        let outcome = firearrow(target, &["query", &url, "-f", argument(&many), "--json"]).success();
        assert_eq!(outcome.text().lines().count(), 2_001);
        let huge = script("huge", format!("SELECT '{}' FROM RDB$DATABASE", "x".repeat(10 << 20)).as_bytes());
        firearrow(target, &["query", &url, "-f", argument(&huge)]).failure(1, &[]);
        assert!(fs::metadata(&huge).is_ok());
    }
);
