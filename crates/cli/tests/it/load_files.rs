//! `firearrow load`: files that are wrong, and forms of values

use crate::command::{argument, finish, firearrow, prepare};
use crate::load::Setup;
use firearrow_testkit::{Target, matrix};
use std::fs;
use std::path::Path;
use std::process::Stdio;

matrix!(
    [firebird_4_0],
    fn wrong_files_are_told_by_line(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (A INTEGER, B VARCHAR(9) CHARACTER SET UTF8)");
        for (text, error) in [
            (&b"a,b\n1,x\n2,x,y\n"[..], "x.csv, line 3: 3 fields instead of 2"),
            (b"a,b\n1\n", "line 2: 1 field instead of 2; --delimiter"),
            (b"a,b\n1,\"x\n2,y\n", "line 2: the quote that begins here is never closed"),
            (b"a,b\n1,\"x\"y\n", "line 2: text after a closing quote"),
            (b"a,b\n1,x\n2,J\xf6rg\n", "line 3: the text is not UTF-8; name its encoding"),
            (b"a,b\nx,y\n", "line 2: column A: conversion error from string \"x\""),
            (
                b"a\0,\0b\0",
                "x.csv: it looks like UTF-16LE without a byte order mark: name it with --encoding",
            ),
            (b"\0a\0,\0b", "looks like UTF-16BE"),
            (b"", "line 1: there is no header"),
            (b"a,a\n", "two columns of the file are A"),
            (b"a,c\n", "no column c; its columns are A, B"),
            (
                b",a\n0,1\n",
                "a column of the file has no name (the index of a data frame?); --skip-columns ''",
            ),
            (b"a,b\nNA,1\n", "--null 'NA'"),
            (b"a;b\n", "no column a;b; its columns are A, B; --delimiter"),
        ] {
            setup.load_csv(text, &["--into", "T"]).failure(1, &[error]);
        }
        // Both columns have the text, and one of them takes it.
        setup.run("CREATE TABLE FLAGS (N INTEGER, F BOOLEAN)");
        setup
            .load_csv("n,f\n1,1\n", &["--into", "FLAGS"])
            .failure(1, &["line 2: column F: conversion error from string \"1\""]);
        for (text, error) in [
            (&b"{\"a\": 1}\n{\"a\": 1, \"c\": 2}\n"[..], "no column c"),
            (b"[{\"a\": 1}]\n", "line 1: a JSON list; a file has one object per line, as jq"),
            (b"{\n\"a\": 1\n}\n", "line 1: no JSON object, which must be on one line (jq -c"),
            (b"{\"a\": 1}\n\n{\"a\": }\n", "line 3: no JSON object"),
            (b"{\"a\": 1,}\n", "line 1: no JSON object: trailing comma"),
            (b"{\"a\": [1]}\n", "line 1: \"a\" is an object or a list"),
            (b"{\"a\": 1, \"a\": 2}\n", "line 1: the key \"a\" comes twice"),
            (b"{\"b\": \"\xf6\"}\n", "line 1: the text is not UTF-8"),
            (b"{\"a\": \"x\"}\n", "line 1: "),
        ] {
            setup.load(&setup.file("x.json", text), &["--into", "T"]).failure(1, &[error]);
        }
        let many = "{\"a\":1}\n".repeat(9000);
        let file = setup.file("x.json", format!("{many}{{\"b\":\"x\"}}\n"));
        setup.load(&file, &["--into", "T"]).failure(1, &["line 9001: the key \"b\" is not among"]);
        for name in ["x.parquet", "x.arrow", "x.arrows"] {
            setup.load(&setup.file(name, "nonsense"), &["--into", "T"]).failure(1, &[name]);
        }
        setup.load(&setup.path("none.csv"), &["--into", "T"]).failure(1, &["none.csv: No such file"]);
        let csv = ["--into", "T", "--format", "csv"];
        setup.load(setup.folder.path(), &csv).failure(2, &["of a folder, Parquet files are loaded"]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM T"), "0");
    },
    fn forms_of_csv(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (A INTEGER, B VARCHAR(9) CHARACTER SET UTF8)");
        let check = |text: &[u8], more: &[&str], expected: &str| {
            setup.load_csv(text, &[&["--into", "T", "--mode", "replace"], more].concat()).success();
            assert_eq!(setup.rows("SELECT A, B FROM T ORDER BY A"), expected, "{text:?} {more:?}");
        };
        check(b"\xef\xbb\xbfb;a\nx;1\n\ny;2", &["--delimiter", ";"], "1,x\n2,y");
        check(b"a\tb\r1\tx\r", &["--delimiter", "tab"], "1,x");
        check(b"1,x\n2,y\n", &["--no-header"], "1,x\n2,y");
        check(b"a,b\n1,NULL\n2,\"NULL\"\n3,\n", &["--null", "NULL"], "1,\n2,NULL\n3,\"\"");
        check(b"a,b\n1,J\xf6rg \x80\n", &["--encoding", "latin1"], "1,Jörg €");
        // As PowerShell writes it.
        check(b"\xff\xfea\0,\0b\0\n\x001\0,\0J\0\xf6\0\n\0", &[], "1,Jö");
        check(b"\xff\xfea\0,\0b\0\n\x001\0,\0\xf6\0\n\0", &["--encoding", "utf-16le"], "1,ö");
        check(b"a\n1\n", &[], "1,");
        setup
            .load_csv("1\n", &["--into", "T", "--no-header"])
            .failure(1, &["1 fields in its first line", "2 columns: A, B"]);
        setup.load_csv("1\n", &["--into", "X", "--no-header"]).failure(1, &["a file without header needs"]);
    },
    fn several_files_have_the_same_columns(target: &Target) {
        let setup = Setup::new(target, "1");
        let (one, two) = (setup.file("1.csv", "a,b\n1,x\n"), setup.file("2.csv", "b,a\ny,2\n"));
        let load = |more: &[&str]| setup.load(&one, &[more, &["--into", "T"]].concat());
        load(&[argument(&two)]).success();
        assert_eq!(setup.rows("SELECT A, B FROM T ORDER BY A"), "1,x\n2,y");
        let three = setup.file("3.csv", "a\n3\n");
        load(&[argument(&three)])
            .failure(1, &["3.csv: the files must have the same columns, but this one has no b"]);
        let four = setup.file("4.csv", "a,b,c\n");
        load(&[argument(&four)]).failure(1, &["but only this one has c"]);
        load(&[argument(&setup.file("5.json", ""))]).failure(2, &["different formats"]);
        load(&["-", "--format", "csv"]).failure(2, &["standard input cannot"]);
        let six = setup.file("6.csv", "a,b\n6,x\nx,y\n");
        load(&[argument(&six)]).failure(1, &["6.csv, line 3: "]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM T"), "2");
        let (a, b) = (setup.file("a.jsonl", "{\"a\":7,\"b\":\"x\"}\n"), setup.file("b.jsonl", "{\"a\":8}\n"));
        setup.load(&a, &[argument(&b), "--into", "T"]).success();
        assert_eq!(setup.rows("SELECT A, B FROM T WHERE A > 6 ORDER BY A"), "7,x\n8,");
    },
    fn the_first_row_of_a_transaction_may_be_refused(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE NX (I INTEGER)");
        let wrong = setup.file("c.csv", "I\n1.5\n");
        let load = |file: &Path, more: &[&str]| {
            firearrow(target, &[&["load", &setup.url, argument(file), "--into", "NX"], more].concat())
        };
        load(&wrong, &[]).failure(1, &["c.csv, line 2", "1.5"]);
        let later = setup.file("d.csv", "I\n1\n2\n1.5\n");
        load(&later, &["--commit-rows", "2"])
            .failure(1, &["2 rows are loaded and stay", "d.csv, line 4", "1.5"]);
        assert_eq!(setup.rows("SELECT I FROM NX ORDER BY I"), "1\n2");
    },
    fn a_stream_that_is_cut_off_is_no_whole_one(target: &Target) {
        let setup = Setup::new(target, "1000");
        let stream = firearrow(target, &["copy", &setup.url, "T_INT10", "-", "--format", "arrow", "--quiet"]);
        let bytes =
            prepare(Some(target), &["copy", &setup.url, "T_INT10", "-", "--format", "arrow", "--quiet"])
                .output()
                .unwrap()
                .stdout;
        stream.success();
        let load = |bytes: &[u8]| setup.pipe(bytes, &["--format", "arrow", "--into", "CUT"]);
        load(&bytes[..bytes.len() - 8]).failure(1, &["cut off"]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM RDB$RELATIONS WHERE RDB$RELATION_NAME = 'CUT'"), "0");
        load(&bytes).success();
        assert_eq!(setup.rows("SELECT COUNT(*) FROM CUT"), "1000");
    },
    fn digits_that_a_double_would_lose_are_kept(target: &Target) {
        let setup = Setup::new(target, "1");
        let load = |name: &str, text: &str, table: &str| {
            let file = setup.file(name, text);
            firearrow(target, &["load", &setup.url, argument(&file), "--into", table])
        };
        load("a.csv", "C\n12345678901234567890\n5e2\n", "A1").success();
        assert_eq!(setup.rows("SELECT TRIM(C) FROM A1"), "12345678901234567890\n5e2");
        load("b.csv", "C\n1e-400\n", "B1").success();
        assert_eq!(setup.rows("SELECT TRIM(C) FROM B1"), "1e-400");
        load("c.csv", "C\n1.5e3\n0.1\n0e0\n", "C1").success();
        assert_eq!(setup.rows("SELECT C FROM C1 ORDER BY C"), "0.0\n0.1\n1500.0");
        // The types come from the first rows; what does not fit them is an error.
        let many: String = (0..9000).map(|_| "0.1\n0.1234567\n").collect();
        let late = format!("C\n{many}0.12345678901234567890123\n");
        load("d.csv", &late, "D1").failure(1, &["line 18002"]);
    },
    fn rejected_rows_that_nobody_reads_are_an_error(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE NX (I INTEGER)");
        let file = setup.file("c.csv", "I\n1\nx\n2\n");
        let arguments =
            ["load", &setup.url, argument(&file), "--into", "NX", "--reject", "/dev/stdout", "--quiet"];
        let mut child =
            prepare(Some(target), &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        finish(child.wait_with_output().unwrap()).failure(1, &["nobody reads the rejected rows"]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM NX"), "0");
        // Nor may they replace the file that comes through standard input.
        let mut command = prepare(
            Some(target),
            &["load", &setup.url, "-", "--format", "csv", "--into", "NX", "--reject", argument(&file)],
        );
        let outcome = finish(command.stdin(fs::File::open(&file).unwrap()).output().unwrap());
        outcome.failure(2, &["--reject would replace"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "I\n1\nx\n2\n");
    },
    fn rejected_rows_are_loaded_again(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE S (ID INTEGER PRIMARY KEY, D DATE, T VARCHAR(5))");
        let file = setup.file(
            "s.csv",
            "id;d;t\n1;01/05/2024;a\nx;02/05/2024;\n3;03/05/2024;\"\"\nx4;04/05/2024;\"a;b\"\n",
        );
        let bad = setup.path("bad.csv");
        let dates = ["--into", "S", "--date-order", "dmy"];
        let load = |file: &Path, more: &[&str]| {
            firearrow(target, &[&["load", &setup.url, argument(file)], &dates[..], more].concat())
        };
        load(&file, &["--delimiter", ";", "--reject", argument(&bad)]).success();
        let mended = fs::read_to_string(&bad).unwrap().replace(",x4,", ",4,").replace(",x,", ",2,");
        fs::write(&bad, mended).unwrap();
        load(&bad, &[]).failure(1, &["the table S has no column FILE", "--skip-columns leaves it out"]);
        load(&bad, &["--skip-columns", "file,Line,ERROR"]).success();
        assert_eq!(
            setup.rows("SELECT ID, D, COALESCE('[' || T || ']', 'NULL') FROM S ORDER BY ID"),
            "1,2024-05-01,[a]\n2,2024-05-02,NULL\n3,2024-05-03,[]\n4,2024-05-04,[a;b]"
        );
    },
    fn columns_are_left_out_of_any_file(target: &Target) {
        let setup = Setup::new(target, "3");
        setup.run("CREATE TABLE K (A INTEGER PRIMARY KEY, B INTEGER)");
        let (csv, parquet) = (setup.file("a.csv", "A,B,A\n1,2,3\n"), setup.path("a.parquet"));
        let json = setup.file("a.jsonl", "{\"A\":1,\"B\":2}\n{\"B\":3,\"A\":[1],\"a\":{}}\n");
        firearrow(
            target,
            &["query", &setup.url, "SELECT 1 A, 2 B FROM RDB$DATABASE", "-o", argument(&parquet)],
        )
        .success();
        let load = |files: &[&Path], more: &[&str]| {
            let files: Vec<&str> = files.iter().map(|file| argument(file)).collect();
            firearrow(target, &[&["load", &setup.url], &files[..], &["--into", "T1"], more].concat())
        };
        // Into a new table as well: it has the columns that are left.
        load(&[&csv], &["--skip-columns", "a,A"]).success();
        for file in [&parquet, &json] {
            load(&[file], &["--skip-columns", "A"]).success();
        }
        assert_eq!(setup.rows("SELECT * FROM T1 ORDER BY 1"), "2\n2\n2\n3");
        // Files need not have all of them, in whatever order.
        let more = setup.file("b.csv", "B\n4\n");
        let last = setup.file("c.csv", "EXTRA,A,B\nx,y,5\n");
        load(&[&last, &more, &setup.file("d.csv", "B,A\n6,\n")], &["--skip-columns", "A,Extra"]).success();
        load(&[&more, &last], &["--skip-columns", "A"])
            .failure(2, &["--skip-columns A: the columns of the file are B"]);
        assert_eq!(setup.rows("SELECT SUM(B) FROM T1"), "24");
        // An empty file of JSON has no columns.
        load(&[&setup.file("e.jsonl", "")], &["--skip-columns", "A"]).success();
        load(&[&setup.file("f.jsonl", "{\"A\":1}\n")], &["--skip-columns", "A"])
            .failure(2, &["nothing is left to load"]);
        load(&[&csv], &["--skip-columns", "C"])
            .failure(2, &["--skip-columns C: the columns of the file are A, B, A"]);
        load(&[&csv], &["--skip-columns", "A,A,B"]).failure(2, &["nothing is left to load"]);
        load(&[&csv], &["--skip-columns", "A", "--no-header"]).failure(2, &["--no-header"]);
        let spaced = setup.file("g.csv", "B, A\n7,1\n");
        load(&[&spaced], &[]).failure(1, &["no column  A", "--skip-columns"]);
        load(&[&spaced], &["--skip-columns", " A"]).success();
        let twins = setup.file("h.csv", "a,A,B\n1,2,3\n");
        load(&[&twins], &["--skip-columns", "a"]).failure(1, &["no column A"]);
        let keyed = ["load", &setup.url, argument(&more), "--into", "K", "--mode", "upsert"];
        firearrow(target, &keyed).failure(1, &["the files lack the column A of the key"]);
        let keyed = [
            "load",
            &setup.url,
            argument(&twins),
            "--into",
            "K",
            "--mode",
            "upsert",
            "--skip-columns",
            "A,a",
        ];
        firearrow(target, &keyed).failure(1, &["column A of the key, which --skip-columns leaves out"]);
        assert_eq!(setup.rows("SELECT SUM(B) FROM T1"), "31");
    },
    fn rejected_rows_with_columns_of_the_same_names_are_loaded_again(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE L (ID INTEGER PRIMARY KEY, LINE INTEGER, NOTE VARCHAR(5))");
        let bad = setup.path("bad.csv");
        let load = |file: &Path, more: &[&str]| {
            firearrow(target, &[&["load", &setup.url, argument(file), "--into", "L"], more].concat())
        };
        let mend = |from: &str, to: &str| {
            let text = fs::read_to_string(&bad).unwrap();
            assert!(text.contains(from), "{text}");
            fs::write(&bad, text.replace(from, to)).unwrap();
        };
        let file = setup.file("l.csv", "id,line,note\n1,10,a\nx,20,b\ny,30,c\n");
        load(&file, &["--reject", argument(&bad)]).success();
        mend(",x,20,b", ",2,20,b");
        // Again with rejected rows, which have no more columns than before.
        let again = setup.path("again.csv");
        let skip = ["--skip-columns", "FILE,LINE,ERROR"];
        load(&bad, &[&skip[..], &["--reject", argument(&again)]].concat()).success();
        fs::rename(&again, &bad).unwrap();
        assert!(fs::read_to_string(&bad).unwrap().starts_with("FILE,LINE,ERROR,id,line,note\r\n"));
        mend(",y,30,c", ",3,30,c");
        load(&bad, &skip).success();
        // Rows of a file without header get one.
        let bare = setup.file("bare.csv", "4,40,d\nz,50,e\n");
        load(&bare, &["--no-header", "--reject", argument(&bad)]).success();
        mend(",z,50,e", ",5,50,e");
        load(&bad, &skip).success();
        assert_eq!(setup.rows("SELECT * FROM L ORDER BY ID"), "1,10,a\n2,20,b\n3,30,c\n4,40,d\n5,50,e");
    },
    fn a_column_twice_is_an_error_in_any_file(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE R (ID INTEGER, A VARCHAR(5))");
        let (one, two) = (setup.file("1.csv", "ID,A\n1,a\n"), setup.file("2.csv", "ID,A,A\n2,a,b\n"));
        firearrow(target, &["load", &setup.url, argument(&one), argument(&two), "--into", "R"])
            .failure(1, &["2.csv", "two columns A"]);
    },
    fn columns_that_take_no_values_are_told(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (A INTEGER, B COMPUTED BY (A + 1), C INTEGER GENERATED ALWAYS AS IDENTITY, D INTEGER [3])");
        for (header, error) in [
            ("a,b", "the column B of the table T is computed by the database"),
            ("a,c", "GENERATED ALWAYS"),
            ("a,d", "is an array, which only Parquet and Arrow files"),
        ] {
            setup.load_csv(format!("{header}\n"), &["--into", "T"]).failure(1, &[error]);
        }
        setup.load_csv("a\n1\n", &["--into", "T"]).success();
        assert_eq!(setup.rows("SELECT A, B, C FROM T"), "1,2,1");
        // A table without rows, whose file has no columns.
        let empty = setup.file("empty.json", "");
        setup.load(&empty, &["--into", "T"]).success();
        assert_eq!(setup.rows("SELECT COUNT(*) FROM T"), "1");
        // A failed program also writes nothing.
        let replaced = setup.load(&empty, &["--into", "T", "--mode", "replace"]);
        replaced.failure(1, &["the input is empty", "DELETE FROM \"T\""]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM T"), "1");
        setup.load(&empty, &["--into", "X"]).failure(1, &["create it first"]);
    },
    fn times_are_read_in_the_forms_that_programs_write(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (S TIMESTAMP, Z TIMESTAMP WITH TIME ZONE, T TIME, D DATE)");
        let text = "s,z,t,d\n2024-05-01T10:00:00.123456789,2024-05-01T10:00:00+02:00,10:00:00.123456,2024-05-01\n\
            2024-05-01 10:00,2024-05-01 10:00:00 Europe/Berlin,10:00,1.5.2024\n";
        setup.load_csv(text, &["--into", "T"]).success();
        let sql = "SELECT COUNT(*) FROM T WHERE D = '2024-05-01' AND Z = '2024-05-01 08:00 UTC' \
            AND S IN ('2024-05-01 10:00:00.1234', '2024-05-01 10:00') AND T IN ('10:00:00.1234', '10:00')";
        assert_eq!(setup.rows(sql), "2");
    },
    fn a_view_can_be_loaded_and_a_long_text(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE T (A INTEGER, B BLOB SUB_TYPE TEXT CHARACTER SET UTF8)");
        setup.run("CREATE VIEW W AS SELECT A, B FROM T");
        let long = "ö\"\"\n".repeat(2_000_000);
        setup.load_csv(format!("a,b\n1,\"{long}\"\n"), &["--into", "w"]).success();
        assert_eq!(setup.rows("SELECT A, CHAR_LENGTH(B) FROM T"), "1,6000000");
    }
);
