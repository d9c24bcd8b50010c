//! `firearrow load`

use crate::command::{Outcome, argument, demo, finish, firearrow, plain, prepare};
use arrow::array::{ArrayRef, Int32Array, RecordBatch};
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{FileWriter, IpcWriteOptions};
use firearrow_testkit::{Generation, Target, matrix};
use parquet::arrow::ArrowWriter;
use parquet::basic::{GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// A database, and a folder for files.
pub(crate) struct Setup<'a> {
    pub(crate) target: &'a Target,
    pub(crate) url: String,
    pub(crate) folder: tempfile::TempDir,
}

impl<'a> Setup<'a> {
    pub(crate) fn new(target: &'a Target, rows: &str) -> Self {
        Self { target, url: demo(target, rows), folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Runs a statement.
    pub(crate) fn run(&self, sql: &str) {
        firearrow(self.target, &["query", &self.url, sql]).success();
    }

    /// The rows of a query as CSV, without the header.
    pub(crate) fn rows(&self, sql: &str) -> String {
        let outcome = firearrow(self.target, &["query", &self.url, sql, "--format", "csv"]).success();
        let text = outcome.text().split_once("\r\n").unwrap().1.to_owned();
        text.replace("\r\n", "\n").trim_end_matches('\n').to_owned()
    }

    pub(crate) fn load(&self, file: &Path, more: &[&str]) -> Outcome {
        let arguments = [&["load", &self.url, argument(file)], more].concat();
        firearrow(self.target, &arguments)
    }

    /// Loads a text as CSV.
    pub(crate) fn load_csv(&self, text: impl AsRef<[u8]>, more: &[&str]) -> Outcome {
        let file = self.file("x.csv", text);
        self.load(&file, more)
    }

    /// Loads what is written to standard input.
    pub(crate) fn pipe(&self, bytes: &[u8], more: &[&str]) -> Outcome {
        let mut child = self.open_pipe(more);
        // It may have ended without reading.
        let _ = child.stdin.take().unwrap().write_all(bytes);
        finish(child.wait_with_output().unwrap())
    }

    pub(crate) fn open_pipe(&self, more: &[&str]) -> Child {
        let mut command = prepare(Some(self.target), &[&["load", &self.url, "-"], more].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.target.generation() >= Generation::V4_0
    }
}

/// T_WIDE without its key.
fn wide(is_modern: bool) -> String {
    let long = if is_modern { "DECIMAL(28,8)" } else { "DECIMAL(18,8)" };
    let text = |name: &str, length| format!("{name} VARCHAR({length}) CHARACTER SET UTF8");
    let texts = [("V8", 8), ("V16", 16), ("V32", 32), ("V64", 64), ("V100", 100), ("V200", 200)];
    let texts = texts.map(|(name, length)| text(name, length)).join(", ");
    let digests = ["MD5_A", "MD5_B", "MD5_C"].map(|name| text(name, 32)).join(", ");
    format!(
        "CREATE TABLE T_COPY (ID BIGINT NOT NULL, I64 BIGINT, I16 SMALLINT, I8 SMALLINT, I32 INTEGER, \
         FLAG BOOLEAN, F64 DOUBLE PRECISION, F32 FLOAT, DEC_18_4 DECIMAL(18,4), DEC_28_8 {long}, \
         DEC_10_2 DECIMAL(10,2), TS TIMESTAMP, DT DATE, {texts}, {digests})"
    )
}

/// Rows that one of both tables lacks, or that differ.
fn differences(one: &str, other: &str, columns: &[&str]) -> String {
    let differ = columns.iter().map(|column| format!("A.{column} IS DISTINCT FROM B.{column}"));
    // Comparing texts ignores trailing blanks.
    let lengths = columns
        .iter()
        .filter(|column| column.starts_with(['V', 'M']))
        .map(|column| format!("OCTET_LENGTH(A.{column}) IS DISTINCT FROM OCTET_LENGTH(B.{column})"));
    let differ = differ.chain(lengths).collect::<Vec<_>>().join(" OR ");
    format!(
        "SELECT COUNT(*), (SELECT COUNT(*) FROM {other}) FROM {one} A FULL JOIN {other} B ON A.ID = B.ID \
         WHERE A.ID IS NULL OR B.ID IS NULL OR {differ}"
    )
}

const WIDE: [&str; 22] = [
    "ID", "I64", "I16", "I8", "I32", "FLAG", "F64", "F32", "DEC_18_4", "DEC_28_8", "DEC_10_2", "TS", "DT",
    "V8", "V16", "V32", "V64", "V100", "V200", "MD5_A", "MD5_B", "MD5_C",
];

matrix!(
    all,
    fn tables_come_back_as_they_were(target: &Target) {
        let setup = Setup::new(target, "1000");
        setup.run(&wide(setup.is_modern()));
        for name in ["x.csv", "x.json", "x.parquet", "x.arrow", "x.arrows"] {
            let path = setup.path(name);
            firearrow(target, &["copy", &setup.url, "T_WIDE", argument(&path), "--quiet"]).success();
            let summary =
                setup.load(&path, &["--into", "t_copy", "--mode", "replace", "--json"]).success().json();
            assert_eq!((&summary["rows"], &summary["table"]), (&1000.into(), &"T_COPY".into()));
            assert_eq!(summary["bytes"], fs::metadata(&path).unwrap().len(), "{name}");
            assert_eq!(setup.rows(&differences("T_WIDE", "T_COPY", &WIDE)), "0,1000", "{name}");
        }
        // The types that are chosen for texts hold the values as well.
        for (name, table) in [("x.csv", "FROM_CSV"), ("x.json", "FROM_JSON"), ("x.parquet", "FROM_PARQUET")] {
            setup.load(&setup.path(name), &["--into", table]).success();
            // The digits of a FLOAT are not those of the nearest double.
            let columns: Vec<&str> = WIDE.into_iter().filter(|column| *column != "F32").collect();
            assert_eq!(setup.rows(&differences("T_WIDE", table, &columns)), "0,1000", "{name}");
        }
        for (name, format) in [("x.csv", "csv"), ("x.json", "json"), ("x.arrows", "arrow")] {
            let more = ["--format", format, "--into", "T_COPY", "--mode", "replace", "--quiet"];
            let outcome = setup.pipe(&fs::read(setup.path(name)).unwrap(), &more).success();
            assert!(outcome.stderr.is_empty() && outcome.stdout.is_empty(), "{outcome:?}");
            assert_eq!(setup.rows(&differences("T_WIDE", "T_COPY", &WIDE)), "0,1000", "{name}");
        }
        setup
            .pipe(&fs::read(setup.path("x.arrow")).unwrap(), &["--format", "arrow", "--into", "T_COPY"])
            .failure(2, &["name the file, or write a stream"]);
        setup.pipe(b"", &["--format", "parquet", "--into", "T_COPY"]).failure(2, &["standard input is not"]);
    },
    fn all_kinds_of_values_come_back(target: &Target) {
        let setup = Setup::new(target, "1");
        let more = match setup.is_modern() {
            true => ", Z TIMESTAMP WITH TIME ZONE, D34 DECFLOAT(34), I INT128",
            false => "",
        };
        let columns = "ID INTEGER NOT NULL, V VARCHAR(40) CHARACTER SET UTF8, C CHAR(5) CHARACTER SET UTF8, \
            M BLOB SUB_TYPE TEXT CHARACTER SET UTF8, X BLOB SUB_TYPE BINARY, O VARCHAR(9) CHARACTER SET OCTETS, \
            P CHAR(4) CHARACTER SET OCTETS, T TIME, S TIMESTAMP, D DOUBLE PRECISION, B BOOLEAN, N NUMERIC(9,2)";
        for table in ["ONE", "OTHER"] {
            setup.run(&format!("CREATE TABLE {table} ({columns}{more})"));
        }
        let zoned = |values: &str| if setup.is_modern() { values.to_owned() } else { String::new() };
        for values in [
            format!(
                "1, '', 'ab', '', '', '', x'00010203', '00:00', '0001-01-01 00:00', 0, TRUE, 0{}",
                zoned(", '2024-05-01 10:00:00.1234 +02:00', 1.10, 99999999999999999999999999999999999999")
            ),
            format!(
                "2, 'say \"x\", ' || ASCII_CHAR(13) || ASCII_CHAR(10) || ' Zürich ✓  ', NULL, 'a' || ASCII_CHAR(10) || 'NULL', \
                 x'00ff', x'0a', x'ffffffff', '23:59:59.9999', '9999-12-31 23:59:59.9999', 0.1, FALSE, -1234567.89{}",
                zoned(", '1900-01-01 00:00:00 Europe/Berlin', -9.99E6000, -1")
            ),
            format!(
                "3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL{}",
                zoned(", NULL, NULL, NULL")
            ),
            format!(
                "4, 'null', '-', '\"', x'22', x'22', x'20202020', '12:00', '1969-12-31 23:59:59.9', \
                 2.5E-300, TRUE, 0.01{}",
                zoned(", '2024-05-01 10:00:00', 0, 0")
            ),
        ] {
            setup.run(&format!("INSERT INTO ONE VALUES ({values})"));
        }
        let mut all = vec!["ID", "V", "C", "M", "X", "O", "P", "T", "S", "D", "B", "N"];
        if setup.is_modern() {
            all.extend(["Z", "D34", "I"]);
        }
        for name in ["x.csv", "x.json", "x.parquet", "x.arrow"] {
            let path = setup.path(name);
            firearrow(target, &["copy", &setup.url, "ONE", argument(&path)]).success();
            setup.load(&path, &["--into", "OTHER", "--mode", "replace"]).success();
            assert_eq!(setup.rows(&differences("ONE", "OTHER", &all)), "0,4", "{name}");
        }
        // A NULL alone is an empty line.
        let path = setup.path("single.csv");
        firearrow(target, &["copy", &setup.url, "SELECT V FROM ONE ORDER BY ID", argument(&path)]).success();
        setup.run("CREATE TABLE SINGLE (V VARCHAR(40) CHARACTER SET UTF8)");
        setup.load(&path, &["--into", "SINGLE"]).success();
        assert_eq!(setup.rows("SELECT COUNT(*), COUNT(V), COUNT(NULLIF(V, '')) FROM SINGLE"), "4,3,2");
    },
    fn names_are_matched_without_regard_to_letter_case_unless_that_is_ambiguous(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE SALES (ID INTEGER, NAME VARCHAR(9), \"Name\" VARCHAR(9), \"größe\" INTEGER)");
        setup.load_csv("id,NAME\n1,a\n", &["--into", "Sales"]).success();
        setup
            .load_csv("Id,Name,GRÖSSE\n", &["--into", "Sales"])
            .failure(1, &["the table SALES has no column GRÖSSE; its columns are ID, NAME, Name, größe"]);
        setup.load_csv("ID,Name,GRÖßE\n2,b,3\n", &["--into", "sales"]).success();
        assert_eq!(setup.rows("SELECT * FROM SALES ORDER BY ID"), "1,a,,\n2,,b,3");
        let outcome = setup.load_csv("ID,name\n", &["--into", "sales"]);
        outcome
            .failure(1, &["the column name of the file may be NAME or Name", "columns are ID, NAME, Name"]);
        setup.load_csv("ID,id\n", &["--into", "sales"]).failure(1, &["two columns of the file are ID"]);
        setup
            .load_csv("ID\n", &["--into", "sale", "--mode", "append"])
            .failure(1, &["there is no table SALE (did you mean SALES?); --mode create makes one"]);

        setup.run("CREATE TABLE \"Sales\" (ID INTEGER)");
        setup.load_csv("ID\n7\n", &["--into", "Sales"]).success();
        assert_eq!(setup.rows("SELECT * FROM \"Sales\""), "7");
        let outcome = setup.load_csv("ID\n", &["--into", "sales"]);
        outcome.failure(2, &["sales may be any of the tables \"SALES\", \"Sales\"", "--into '\"SALES\"'"]);
        setup.load_csv("ID\n7\n", &["--into", "public.sales"]).failure(
            2,
            &[
                "there is no table public.sales: --into takes a name without a schema",
                "--into '\"public.sales\"'",
            ],
        );
        setup.load_csv("ID\n7\n", &["--into", "\"public.sales\""]).success();
        setup
            .load_csv("ID;NAME\n7;x\n", &["--into", "one_column"])
            .failure(1, &["one column, ID;NAME: name the separator with --delimiter"]);
        // Quotes make it count: another table.
        setup.load_csv("Id\n8\n", &["--into", "\"sales\""]).success();
        assert_eq!(setup.rows("SELECT ID FROM \"sales\""), "8");
    },
    fn new_tables_get_types_by_their_first_rows(target: &Target) {
        let setup = Setup::new(target, "1");
        let text = "id,price,Rate,born,moment,ok,code,unit price,nothing\r\n\
            1,2.50,1e-3,2024-02-29,2024-02-29T10:00:00.5,true,007,\"\",\r\n\
            2,-10.125,5,,,FALSE,8,x,\r\n";
        let outcome = setup.load_csv(text, &["--into", "prices"]).success();
        for text in [
            "created PRICES (\"ID\" BIGINT, \"PRICE\" NUMERIC(18, 4), \"RATE\" DOUBLE PRECISION, \"BORN\" DATE",
            "\"MOMENT\" TIMESTAMP, \"OK\" BOOLEAN, \"CODE\" VARCHAR(64) CHARACTER SET UTF8, \"unit price\" VARCHAR(64)",
            "with types inferred from its first rows",
            "2 rows into PRICES, ",
        ] {
            assert!(outcome.stderr.contains(text), "{text}: {}", outcome.stderr);
        }
        let sql =
            "SELECT ID, PRICE, RATE, BORN, MOMENT, OK, CODE, \"unit price\", NOTHING FROM PRICES ORDER BY ID";
        assert_eq!(
            setup.rows(sql),
            "1,2.5000,0.001,2024-02-29,2024-02-29T10:00:00.500,true,007,\"\",\n2,-10.1250,5.0,,,false,8,x,"
        );
        let file = setup.file("x.jsonl", "{\"a\": 1, \"b\": \"x\"}\n\n{\"c\": null, \"a\": 2.5}\n");
        let more = ["--into", "\"From JSON\"", "--text-length", "20", "--json"];
        let summary = setup.load(&file, &more).success().json();
        let created = [
            "\"A\" NUMERIC(18, 4)",
            "\"B\" VARCHAR(20) CHARACTER SET UTF8",
            "\"C\" VARCHAR(20) CHARACTER SET UTF8",
        ];
        assert_eq!(summary["created"], serde_json::json!(created));
        assert_eq!(setup.rows("SELECT * FROM \"From JSON\" ORDER BY A"), "1.0000,x,\n2.5000,,");
        // Columns of other files have types already.
        let path = setup.path("x.parquet");
        firearrow(target, &["copy", &setup.url, "SELECT C1 \"a\", 'x' B FROM T_INT10", argument(&path)])
            .success();
        setup.load(&path, &["--into", "typed"]).success();
        assert_eq!(setup.rows("SELECT COUNT(A) FROM TYPED"), "1");
        // A later value of another type: the table does not stay.
        let rows: String = (0..9000).map(|row| format!("{row}\n")).collect();
        let outcome = setup.load_csv(format!("n\n{rows}x\n"), &["--into", "later"]);
        outcome.failure(1, &["x.csv, line 9002: column N: \"x\" is not a BIGINT; the column's type comes from the first rows"]);
        let outcome = firearrow(target, &["query", &setup.url, "SELECT * FROM LATER"]);
        outcome.failure(1, &["Table unknown"]);
    },
    fn modes_do_what_they_say(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (ID INTEGER NOT NULL PRIMARY KEY, V VARCHAR(9) DEFAULT 'none', N INTEGER)");
        let all = || setup.rows("SELECT ID, V, N FROM T ORDER BY ID");
        let load = |text: &str, more: &[&str]| setup.load_csv(text, &[&["--into", "T"], more].concat());
        load("id,v\n1,a\n2,b\n", &[]).success();
        load("id\n3\n", &["--mode", "append"]).success();
        assert_eq!(all(), "1,a,\n2,b,\n3,none,");
        load("id,n\n2,20\n4,40\n", &["--mode", "upsert"]).success();
        assert_eq!(all(), "1,a,\n2,b,20\n3,none,\n4,none,40");
        let slow = load("ID,V\n5,a\n", &["--mode", "upsert", "--key", "v"]).success();
        assert!(slow.stderr.contains(r#"CREATE INDEX … ON "T" ("V")"#), "{}", slow.stderr);
        setup.run("CREATE INDEX T_V ON T (V)");
        let fast = load("ID,V\n5,a\n", &["--mode", "upsert", "--key", "v"]).success();
        assert!(!fast.stderr.contains("CREATE INDEX"), "{}", fast.stderr);
        assert_eq!(all(), "2,b,20\n3,none,\n4,none,40\n5,a,");
        load("id,v\n1,a\n1,b\n", &["--mode", "replace"]).failure(1, &["x.csv, line 3: ", "PRIMARY"]);
        assert_eq!(all(), "2,b,20\n3,none,\n4,none,40\n5,a,");
        load("id,v\n9,z\n", &["--mode", "replace"]).success();
        assert_eq!(all(), "9,z,");
        load("id,v\n", &["--mode", "replace"]).success();
        assert_eq!(all(), "");
        setup.load_csv("id\n1\n", &["--into", "NEWER", "--mode", "replace"]).success();
        setup.load_csv("id\n1\n", &["--into", "NEWER", "--mode", "upsert", "--key", "ID"]).success();
        assert_eq!(setup.rows("SELECT ID FROM NEWER"), "1");

        load("id\n1\n", &["--mode", "create"]).failure(1, &["the table T exists; --mode append"]);
        for mode in ["append", "upsert"] {
            setup
                .load_csv("id\n1\n", &["--into", "X", "--mode", mode])
                .failure(1, &["no table X; --mode create"]);
        }
        load("v\nx\n", &["--mode", "upsert"]).failure(1, &["lack the column ID of the key"]);
        load("id\n1\n", &["--mode", "upsert", "--key", "KEY"]).failure(2, &["--key KEY", "ID, V, N"]);
        setup
            .load_csv("id\n1\n", &["--into", "NEWER", "--mode", "upsert"])
            .failure(2, &["no primary key", "--key"]);
        assert_eq!(all(), "");
    },
    fn nothing_stays_of_a_failure_unless_it_was_committed(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (N INTEGER NOT NULL PRIMARY KEY)");
        let count = || setup.rows("SELECT COUNT(*) FROM T");
        let rows: String = (1..=20_000).map(|row| format!("{row}\n")).collect();
        let text = format!("n\n{rows}777\n");
        let outcome = setup.load_csv(&text, &["--into", "t"]);
        let outcome = outcome.failure(1, &["x.csv, line 20002: ", "PRIMARY"]);
        assert!(!outcome.stderr.contains("stay"), "{}", outcome.stderr);
        assert_eq!(count(), "0");
        let outcome = setup.load_csv(&text, &["--into", "t", "--commit-rows", "6000"]);
        outcome.failure(1, &["the first 18,000 rows are loaded and stay: ", "x.csv, line 20002: "]);
        assert_eq!(count(), "18000");
        setup.run("DELETE FROM \"T\"");
        let outcome = setup.load_csv(format!("n\n{rows}x\n"), &["--into", "t", "--verbose"]);
        outcome.failure(1, &["x.csv, line 20002: ", "SQLSTATE"]);
        assert_eq!(count(), "0");
        let outcome = setup.load_csv(format!("n\n{rows}1,2\n"), &["--into", "t", "--commit-rows", "10000"]);
        outcome.failure(
            1,
            &["the first 10,000 rows are loaded and stay: ", "line 20002: 2 fields instead of 1"],
        );
        assert_eq!(count(), "10000");
    },
    fn refused_rows_go_to_a_file(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (N INTEGER NOT NULL PRIMARY KEY, D DOUBLE PRECISION, V VARCHAR(3))");
        let text = "n,v,d\n1,a,1\n2,long,\n3,\"b\nc\",x\n1,d,2\n4,,\n,e,\nfive,f,1e999\n6,\"g\",6\n";
        let rejected = setup.path("bad.csv");
        let reject = ["--into", "T", "--reject", argument(&rejected)];
        let outcome = setup.load_csv(text, &reject).success();
        assert!(outcome.stderr.contains("3 rows into T"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("5 rows refused: see "), "{}", outcome.stderr);
        assert_eq!(setup.rows("SELECT N, D, V FROM T ORDER BY N"), "1,1.0,a\n4,,\n6,6.0,g");
        let mut reader = csv::Reader::from_path(&rejected).unwrap();
        assert_eq!(reader.headers().unwrap(), vec!["FILE", "LINE", "ERROR", "n", "v", "d"]);
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let found: Vec<(&str, &str)> = records.iter().map(|record| (&record[1], &record[3])).collect();
        assert_eq!(found, [("3", "2"), ("4", "3"), ("6", "1"), ("8", ""), ("9", "five")]);
        for (record, error) in records.iter().zip([
            "column V: arithmetic exception",
            "column D: \"x\" is not a number",
            "PRIMARY",
            "null",
            "column",
        ]) {
            assert!(record[2].contains(error) || record[2].contains("NULL"), "{error}: {record:?}");
            assert!(record[0].ends_with("x.csv"));
        }
        assert_eq!(&records[1][4], "b\nc");

        // Rows that exist are updated, in parts.
        let more = ["--mode", "upsert", "--commit-rows", "2"];
        let summary =
            setup.load_csv("n,v\n1,x\n6,y\n7,long\n8,z\n", &[&reject[..], &more, &["--json"]].concat());
        let summary = summary.success().json();
        assert_eq!((&summary["rows"], &summary["rejected"]), (&3.into(), &1.into()));
        assert_eq!(setup.rows("SELECT N, V FROM T ORDER BY N"), "1,x\n4,\n6,y\n8,z");
        // What is committed stays, and so do the rejected rows before the failure.
        let rows: String = (100..9000).map(|row| format!("{row},a\n")).collect();
        let outcome = setup.load_csv(
            format!("n,v\n99,long\n{rows}x,y,z\n"),
            &[&reject[..], &["--commit-rows", "1000"]].concat(),
        );
        outcome.failure(1, &["7,999 rows are loaded and stay: ", "line 8903: 3 fields instead of 2"]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM T"), "8003");
        assert!(fs::read_to_string(&rejected).unwrap().contains(",99,long"));
        setup.run("DELETE FROM T WHERE N >= 99");
        let outcome = setup.load_csv("n,v\n1,p\n2,q,r\n", &[&reject[..], &["--mode", "replace"]].concat());
        outcome.failure(1, &["line 3: 3 fields instead of 2"]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM T"), "4");
        setup.load_csv("n,v\n1,p\n2,long\n", &[&reject[..], &["--mode", "replace"]].concat()).success();
        assert_eq!(setup.rows("SELECT N, V FROM T"), "1,p");
        assert_eq!(fs::read_to_string(&rejected).unwrap().lines().count(), 2);
        // A table does not lose its rows to those that were all refused.
        let outcome =
            setup.load_csv("n,v\n3,long\n4,longer\n", &[&reject[..], &["--mode", "replace"]].concat());
        outcome.failure(1, &["every row was refused (2), see ", "bad.csv; --mode replace was rolled back"]);
        assert_eq!(setup.rows("SELECT N, V FROM T"), "1,p");
        assert_eq!(fs::read_to_string(&rejected).unwrap().lines().count(), 3);
        let outcome =
            setup.load_csv("n,v\n3,long\n", &reject).failure(1, &["every row was refused (1), see "]);
        assert!(!outcome.stderr.contains("rolled back"), "{}", outcome.stderr);
        // Other files have rows instead of lines.
        let path = setup.path("x.parquet");
        let sql = "SELECT 1 N, CAST('long' AS VARCHAR(4)) V FROM RDB$DATABASE \
            UNION ALL SELECT 2, CAST('a' AS VARCHAR(4)) FROM RDB$DATABASE";
        firearrow(target, &["copy", &setup.url, sql, argument(&path), "--force"]).success();
        setup.load(&path, &reject).success();
        assert_eq!(setup.rows("SELECT N, V FROM T ORDER BY N"), "1,p\n2,a");
        let mut reader = csv::Reader::from_path(&rejected).unwrap();
        let record = reader.records().next().unwrap().unwrap();
        assert_eq!((&record[1], &record[4]), ("1", "long"));
        let outcome = setup.load_csv("n\n1\n", &["--into", "X", "--reject", argument(&rejected)]);
        outcome.failure(1, &["--reject is for one that exists"]);
    },
    fn compressed_files_are_read(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE C (N INTEGER)");
        let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(1..=1000));
        let batch = RecordBatch::try_from_iter([("N", numbers)]).unwrap();
        let mut paths = Vec::new();
        for (name, compression) in [
            ("none", parquet::basic::Compression::UNCOMPRESSED),
            ("gzip", parquet::basic::Compression::GZIP(GzipLevel::default())),
            ("snappy", parquet::basic::Compression::SNAPPY),
            ("lz4", parquet::basic::Compression::LZ4_RAW),
            ("zstd", parquet::basic::Compression::ZSTD(ZstdLevel::default())),
        ] {
            let path = setup.path(&format!("{name}.parquet"));
            let properties = WriterProperties::builder().set_compression(compression).build();
            let file = fs::File::create(&path).unwrap();
            let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
            paths.push(path);
        }
        for compression in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
            let path = setup.path(&format!("{compression:?}.feather"));
            let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
            let file = fs::File::create(&path).unwrap();
            let mut writer = FileWriter::try_new_with_options(file, &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
            paths.push(path);
        }
        for path in paths {
            setup.load(&path, &["--into", "C", "--mode", "replace"]).success();
            assert_eq!(setup.rows("SELECT COUNT(*), SUM(N) FROM C"), "1000,500500", "{}", path.display());
        }
    },
    fn numbers_may_have_a_decimal_comma(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE P (ID INTEGER, PRICE NUMERIC(9, 2), D DOUBLE PRECISION, V VARCHAR(9))");
        let load = |rows: &str, table: &str, more: &[&str]| {
            let options = [&["--into", table, "--delimiter", ";"], more].concat();
            setup.load_csv(format!("id;price;d;v\n{rows}"), &options)
        };
        load("1;2,50;-0,25;a,b\n2;3;4;1.5\n;;;\n", "P", &["--decimal-comma"]).success();
        assert_eq!(setup.rows("SELECT PRICE, D FROM P ORDER BY ID"), ",\n2.50,-0.25\n3.00,4.0");
        assert_eq!(setup.rows("SELECT COUNT(*) FROM P WHERE V IN ('a,b', '1.5')"), "2");
        load("3;1.234,50;1;x\n", "P", &["--decimal-comma"]).failure(
            1,
            &["line 2: column PRICE: \"1.234,50\" is not a number; with --decimal-comma, numbers have no points"],
        );
        load("3;2,50;1;x\n", "P", &[]).failure(1, &["conversion error", "--decimal-comma"]);
        load("3;2;1,5;x\n", "P", &[]).failure(
            1,
            &["column D: \"1,5\" is not a number; CSV with decimal commas needs --decimal-comma"],
        );
        let outcome = load("1;2,50;1,125;a,b\n", "NEWER", &["--decimal-comma"]).success();
        let types = ["\"PRICE\" NUMERIC(18, 2)", "\"V\" VARCHAR"];
        assert!(types.iter().all(|text| outcome.stderr.contains(text)), "{}", outcome.stderr);
        assert_eq!(setup.rows("SELECT PRICE FROM NEWER"), "2.50");
        setup
            .load(&setup.file("x.json", "{}"), &["--into", "P", "--decimal-comma"])
            .failure(2, &["is for CSV files"]);
        // The semicolons are not seen, and the comma is.
        setup
            .load_csv("id;price\n1;2,50\n", &["--into", "P", "--mode", "append"])
            .failure(1, &["--delimiter"]);
    },
    fn dates_in_figures_are_never_guessed(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE D (ID INTEGER, A DATE, B TIMESTAMP, C VARCHAR(12))");
        let load = |rows: &str, table: &str, more: &[&str]| {
            setup.load_csv(format!("id,a,b,c\n{rows}"), &[&["--into", table], more].concat())
        };
        load("1,01.05.2024,1.5.2024 10:00:00,01/05/2024\n", "D", &[]).success();
        for (mark, row) in ["/", "-", " "].into_iter().zip(2..) {
            let rows = format!("{row},01{mark}05{mark}2024,,x\n");
            let ask = "Say so with --date-order dmy or mdy";
            load(&rows, "D", &[]).failure(1, &["line 2: column A:", "is not a date (YYYY-MM-DD)", ask]);
            load(&format!("{row},,01{mark}05{mark}2024 10:00,x\n"), "D", &[]).failure(1, &["column B:", ask]);
            load(&rows, "D", &["--date-order", "dmy"]).success();
            load(&rows, "D", &["--date-order", "mdy"]).success();
        }
        load("5,31/12/24,31-12-2024 23:59:59.5,x\n", "D", &["--date-order", "dmy"]).success();
        load("6,31/12/2024,,x\n", "D", &["--date-order", "mdy"]).failure(
            1,
            &["\"31/12/2024\" is not a date (YYYY-MM-DD); with --date-order mdy it must be month, day and year"],
        );
        load("6,05 / 01 / 2024\t,,x\n", "D", &[]).failure(1, &["--date-order dmy or mdy"]);
        for text in ["05/01", "05/01-2024", "05.01", "5.1."] {
            let rows = format!("6,{text},,x\n7,,{text},x\n");
            load(&rows, "D", &[]).failure(1, &["line 2: column A:", "a date is day, month and year"]);
        }
        load("6,,05/01/2024-10:00,x\n", "D", &["--date-order", "dmy"])
            .failure(1, &["a date is day, month and year"]);
        // A text beside it that is the same is right.
        load("6,x,,x\n", "D", &[]).failure(1, &["line 2: column A: conversion error from string \"x\""]);
        setup.run("CREATE TABLE FIRST_TEXT (T VARCHAR(9), N INTEGER)");
        setup.load_csv("t,n\n1,1\nx,x\n", &["--into", "FIRST_TEXT"]).failure(1, &["line 3: column N:"]);
        assert_eq!(
            setup.rows("SELECT ID, LIST(A, ' ') FROM (SELECT ID, A FROM D ORDER BY ID, A) GROUP BY ID"),
            "1,2024-05-01\n2,2024-01-05 2024-05-01\n3,2024-01-05 2024-05-01\n4,2024-01-05 2024-05-01\n5,2024-12-31"
        );
        assert_eq!(
            setup.rows("SELECT B, C FROM D WHERE B IS NOT NULL ORDER BY ID"),
            "2024-05-01T10:00:00,01/05/2024\n2024-12-31T23:59:59.500,x"
        );
        let outcome = load("1,01.05.2024,1.5.2024 10:00:00,01/05/2024\n", "FRESH", &[]).success();
        let types = ["\"A\" DATE", "\"B\" TIMESTAMP", "\"C\" VARCHAR"];
        assert!(types.iter().all(|text| outcome.stderr.contains(text)), "{}", outcome.stderr);
        assert_eq!(setup.rows("SELECT A, B FROM FRESH"), "2024-05-01,2024-05-01T10:00:00");
        let outcome = load("1,,,31/12/2024\n2,,,\n", "TEXTS", &[]).success();
        let text = "column C becomes text: its values look like dates; --date-order dmy or mdy says";
        assert!(
            outcome.stderr.contains(text) && outcome.stderr.contains("\"C\" VARCHAR"),
            "{}",
            outcome.stderr
        );
        let outcome = load("1,,,31/12/2024\n", "OTHERS", &["--date-order", "mdy"]).success();
        let text = "but not all are month, day and year (--date-order mdy)";
        assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
        let lines = setup.file("x.jsonl", "{\"ID\": 7, \"A\": \"05/01/2024\"}\n");
        setup.load(&lines, &["--into", "D"]).failure(1, &["--date-order"]);
        setup.load(&lines, &["--into", "D", "--date-order", "mdy"]).success();
        assert_eq!(setup.rows("SELECT A FROM D WHERE ID = 7"), "2024-05-01");
        // Times are not taken for dates: Firebird 3 reads 10-11-12 as one.
        setup.run("CREATE TABLE H (A TIME)");
        let hours = |more: &[&str]| setup.load_csv("A\n10:11:12.5\n", &[&["--into", "H"], more].concat());
        hours(&[]).success();
        hours(&["--date-order", "mdy"]).success();
        let outcome = setup.load_csv("A\n10-11-12\n", &["--into", "H", "--date-order", "mdy"]);
        assert!(!outcome.stderr.contains("date-order"), "{}", outcome.stderr);
        let times = setup.rows("SELECT DISTINCT A FROM H");
        assert!(times.split('\n').all(|time| ["10:11:12.500", "10:11:12"].contains(&time)), "{times}");
        let parquet = setup.file("x.parquet", "");
        setup
            .load(&parquet, &["--into", "D", "--date-order", "dmy"])
            .failure(2, &["--date-order is for CSV and JSON files"]);
    },
    fn an_interrupted_load_leaves_nothing(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (N INTEGER)");
        setup.run("INSERT INTO T VALUES (-1)");
        let rows: String = (0..50_000).map(|row| format!("{row}\n")).collect();
        let rejected = setup.path("bad.csv");
        let reject = ["--reject", argument(&rejected)];
        for (table, mode, more) in [
            ("T", "append", &[][..]),
            ("T", "replace", &[]),
            ("T", "replace", &reject),
            ("FRESH", "create", &[]),
        ] {
            let arguments = [&["--format", "csv", "--into", table, "--mode", mode], more].concat();
            let mut child = setup.open_pipe(&arguments);
            let mut input = child.stdin.take().unwrap();
            input.write_all(format!("N\n{rows}").as_bytes()).unwrap();
            // Until it waits for more, in the middle of its transaction.
            thread::sleep(Duration::from_millis(1500));
            let begin = Instant::now();
            interrupt(&child);
            let outcome = finish(child.wait_with_output().unwrap()).failure(130, &["interrupted"]);
            assert!(begin.elapsed() < Duration::from_secs(4), "{:?}", begin.elapsed());
            assert!(!outcome.stderr.contains("stay"), "{}", outcome.stderr);
            drop(input);
            assert_eq!(setup.rows("SELECT N FROM T"), "-1");
        }
        assert!(!rejected.exists());
        firearrow(target, &["query", &setup.url, "SELECT * FROM FRESH"]).failure(1, &["Table unknown"]);
        let mut child = setup.open_pipe(&["--format", "csv", "--into", "T", "--commit-rows", "20000"]);
        let mut input = child.stdin.take().unwrap();
        input.write_all(format!("N\n{rows}").as_bytes()).unwrap();
        thread::sleep(Duration::from_millis(2500));
        interrupt(&child);
        let outcome = finish(child.wait_with_output().unwrap())
            .failure(130, &["interrupted", "40,000 rows are loaded and stay"]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM T"), "40001", "{}", outcome.stderr);
    }
);

fn interrupt(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn options_that_do_not_fit_are_told_first() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let load = |name: &str, more: &[&str]| {
        plain(&[&["load", "127.0.0.1/1:x", &file(name), "--into", "T"], more].concat())
    };
    for (name, more, error) in [
        ("x.csv", &["--key", "A"][..], "--key is for --mode upsert"),
        ("x.csv", &["--mode", "replace", "--commit-rows", "5"], "leave out --commit-rows"),
        ("x.csv", &["--mode", "create", "--reject", "y"], "create it first"),
        ("x.json", &["--no-header"], "--no-header is for CSV files"),
        ("x.parquet", &["--null", "x"], "--null is for CSV files"),
        ("x.arrow", &["--encoding", "latin1"], "--encoding is for CSV and JSON files"),
        ("x.csv", &["--delimiter", "ab"], "expected one ASCII character"),
        ("x.csv", &["--delimiter", "\""], "cannot separate"),
        ("x.csv", &["--encoding", "nonsense"], "no such encoding"),
        ("x.csv", &["--format", "table"], "possible values: csv, json"),
        ("x.xlsx", &[], "the extension names no format; use .parquet"),
        ("nosuch/", &[], "nosuch/: there is no such file or folder"),
    ] {
        load(name, more).failure(2, &[error]);
    }
    // What a file has in it says more than its name.
    std::fs::write(file("x.csv.gz"), b"\x1f\x8b\x08\0\0\0\0\0\0\x03").unwrap();
    load("x.csv.gz", &[]).failure(1, &["x.csv.gz", "compressed with gzip: gzip -dc FILE | firearrow load"]);
    plain(&["copy", "127.0.0.1/1:x", "T", &file("y.csv.gz"), "--format", "csv"])
        .failure(2, &["y.csv.gz: copy writes no such file"]);
    plain(&["load", "127.0.0.1/1:x", "-", "--into", "T"]).failure(2, &["standard input needs --format"]);
    plain(&["load", "127.0.0.1/1:x", &file("x.csv")]).failure(2, &["--into"]);
}
