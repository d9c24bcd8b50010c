//! `firearrow load` from a folder.

use crate::command::{Outcome, argument, firearrow, plain};
use crate::copy_folder::{Setup, files};
use firearrow_testkit::{Target, matrix};
use std::fs;
use std::os::unix::fs::symlink;

fn load(setup: &Setup<'_>, more: &[&str]) -> Outcome {
    let folder = setup.folder();
    firearrow(setup.target, &[&["load", &setup.url, argument(&folder)], more].concat())
}

matrix!(
    all,
    fn a_folder_comes_back_as_it_was(target: &Target) {
        let setup = Setup::new(target, "1");
        let columns = "ID INTEGER NOT NULL, C VARCHAR(40) CHARACTER SET UTF8, F CHAR(3) CHARACTER SET UTF8, D DATE, \
            N NUMERIC(9, 2), S TIMESTAMP, B BOOLEAN, T TIME";
        for table in ["ONE", "OTHER"] {
            setup.run(&format!("CREATE TABLE {table} ({columns})"));
        }
        let values = [
            "1, 'DE', 'a', '2024-05-01', 1.5, '2024-05-01 10:00:00.1234', TRUE, '10:00'",
            "2, 'a/b\\c', 'ab', '0001-01-01', 2, '1900-01-01', FALSE, '23:59:59.9999'",
            "3, '', '', '9999-12-31', NULL, NULL, NULL, NULL",
            "4, NULL, NULL, NULL, -0.01, NULL, NULL, NULL",
            "5, 'DE', 'a', '2024-05-01', 1.5, '2024-05-01 10:00:00.1234', TRUE, '10:00'",
            "6, 'Köln 50%', 'abc', '2024-05-02', 0, NULL, NULL, NULL",
            "7, '__HIVE_DEFAULT_PARTITION__', ' x', NULL, 0, NULL, NULL, NULL",
        ];
        setup.run(&values.map(|values| format!("INSERT INTO ONE VALUES ({values});")).concat());
        let differ =
            ["C", "F", "D", "N", "S", "B", "T"].map(|name| format!("A.{name} IS DISTINCT FROM B.{name}"));
        let differences = format!(
            "SELECT COUNT(*), (SELECT COUNT(*) FROM OTHER) FROM ONE A FULL JOIN OTHER B ON A.ID = B.ID \
             WHERE A.ID IS NULL OR B.ID IS NULL OR CHAR_LENGTH(A.C) IS DISTINCT FROM CHAR_LENGTH(B.C) OR {}",
            differ.join(" OR ")
        );
        for by in ["C", "F", "D", "N", "S", "B", "T", "C,D,N", "ID"] {
            setup.copy("ONE", &["--force", "--partition-by", by, "--quiet"]).success();
            let summary = load(&setup, &["--into", "other", "--mode", "replace", "--json"]).success().json();
            assert_eq!((&summary["rows"], &summary["table"]), (&7.into(), &"OTHER".into()));
            assert_eq!(setup.rows(&differences), "0,7", "{by}");
        }
        // A new table has the columns in their order, with their types.
        setup.copy("ONE", &["--force", "--partition-by", "D,C", "--quiet"]).success();
        load(&setup, &["--into", "NEWER"]).success();
        let types = "SELECT TRIM(RDB$FIELD_NAME), RDB$FIELD_TYPE FROM RDB$RELATION_FIELDS JOIN RDB$FIELDS F \
            ON F.RDB$FIELD_NAME = RDB$FIELD_SOURCE WHERE RDB$RELATION_NAME = 'NEWER' ORDER BY RDB$FIELD_POSITION";
        let types = types.replace("TRIM(RDB$FIELD_NAME)", "TRIM(RDB$RELATION_FIELDS.RDB$FIELD_NAME)");
        assert_eq!(
            setup.rows(&types).lines().map(|line| line.split(',').next().unwrap()).collect::<Vec<_>>(),
            ["ID", "C", "F", "D", "N", "S", "B", "T"]
        );
        assert_eq!(setup.rows("SELECT COUNT(*), COUNT(D), COUNT(DISTINCT C) FROM NEWER"), "7,5,5");
    },
    fn many_files_are_one_transaction(target: &Target) {
        let setup = Setup::new(target, "3000");
        setup.copy("T_WIDE", &["--file-size", "32KiB", "--batch-rows", "500"]).success();
        assert!(files(&setup.folder()).len() > 3);
        setup.run("CREATE TABLE C (ID BIGINT, V8 VARCHAR(8) CHARACTER SET UTF8)");
        setup
            .copy("SELECT ID, V8 FROM T_WIDE", &["--force", "--file-size", "16KiB", "--batch-rows", "500"])
            .success();
        let summary = load(&setup, &["--into", "C", "--json"]).success().json();
        assert_eq!(summary["rows"], 3000);
        let sizes = files(&setup.folder())
            .iter()
            .map(|name| fs::metadata(setup.folder().join(name)).unwrap().len())
            .sum::<u64>();
        assert_eq!(summary["bytes"], sizes);
        let differ = "SELECT COUNT(*) FROM C A FULL JOIN T_WIDE B ON A.ID = B.ID \
            WHERE A.ID IS NULL OR B.ID IS NULL OR A.V8 IS DISTINCT FROM B.V8";
        assert_eq!(setup.rows(differ), "0");
        // The last row fails: nothing of the other files stays.
        setup.run("DELETE FROM C");
        setup.run("ALTER TABLE C ADD CHECK (ID < 3000)");
        load(&setup, &["--into", "C"]).failure(1, &["part-0", "row "]);
        assert_eq!(setup.rows("SELECT COUNT(*) FROM C"), "0");
    },
    fn no_rows_are_rows_too(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE E (ID INTEGER, C VARCHAR(5))");
        for more in [&[][..], &["--partition-by", "C"]] {
            setup.copy("E", &[&["--force"], more].concat()).success();
            let summary = load(&setup, &["--into", "E", "--json"]).success().json();
            assert_eq!(summary["rows"], 0);
            load(&setup, &["--into", "E2"]).success();
            assert_eq!(setup.rows("SELECT COUNT(ID), COUNT(C) FROM E2"), "0,0");
            setup.run("DROP TABLE E2");
        }
    },
    fn what_is_not_complete_or_was_changed_is_refused(target: &Target) {
        let setup = Setup::new(target, "3000");
        setup.run("CREATE TABLE C (ID BIGINT, V8 VARCHAR(8) CHARACTER SET UTF8)");
        setup.copy("SELECT ID, V8 FROM T_WIDE", &["--file-size", "16KiB", "--batch-rows", "500"]).success();
        let folder = setup.folder();
        let refused = |texts: &[&str]| {
            for more in [&[][..], &["--incomplete"]] {
                load(&setup, &[&["--into", "C"], more].concat()).failure(1, texts);
                assert_eq!(setup.rows("SELECT COUNT(*) FROM C"), "0");
            }
        };
        let names = files(&folder);
        let last = folder.join(names.last().unwrap());
        let bytes = fs::read(&last).unwrap();
        // A byte that only the checksum knows.
        let mut damaged = bytes.clone();
        damaged[30] ^= 1;
        fs::write(&last, &damaged).unwrap();
        refused(&["its checksum differs"]);
        fs::write(&last, &bytes[..bytes.len() - 1]).unwrap();
        refused(&["bytes, not"]);
        // Another file of the same copy.
        fs::copy(folder.join(&names[0]), &last).unwrap();
        refused(&[]);
        fs::remove_file(&last).unwrap();
        refused(&["No such file"]);
        let outside = setup.outside("outside.parquet");
        fs::write(&outside, &bytes).unwrap();
        symlink(&outside, &last).unwrap();
        refused(&["is a symbolic link"]);
        fs::remove_file(&last).unwrap();
        fs::write(&last, &bytes).unwrap();
        let extra = folder.join("part-09999.parquet");
        fs::write(&extra, &bytes).unwrap();
        refused(&["has part-09999.parquet, which is not in _firearrow.json"]);
        fs::remove_file(&extra).unwrap();
        fs::write(folder.join("notes.txt"), "").unwrap();
        refused(&["has notes.txt"]);
        fs::remove_file(folder.join("notes.txt")).unwrap();
        let manifest = folder.join("_firearrow.json");
        let text = fs::read_to_string(&manifest).unwrap();
        for (from, to) in [
            (names[0].as_str(), "../outside.parquet"),
            ("\"rows\": ", "\"rows\": 1"),
            ("\"complete\": true", "\"complete\": 1"),
        ] {
            fs::write(&manifest, text.replacen(from, to, 1)).unwrap();
            refused(&["_firearrow.json", "damaged or was changed"]);
        }
        // Of another program, without a list.
        fs::remove_file(&manifest).unwrap();
        load(&setup, &["--into", "C"]).success();
        fs::remove_file(folder.join("_SUCCESS")).unwrap();
        setup.run("DELETE FROM C");
        load(&setup, &["--into", "C"])
            .failure(1, &["has neither _firearrow.json nor _SUCCESS", "--incomplete"]);
        load(&setup, &["--into", "C", "--incomplete"]).success();
        assert_eq!(setup.rows("SELECT COUNT(*), COUNT(DISTINCT ID) FROM C"), "3000,3000");
        load(&setup, &["--into", "C", "--format", "csv"])
            .failure(2, &["of a folder, Parquet files are loaded"]);
        for name in files(&folder) {
            fs::remove_file(folder.join(name)).unwrap();
        }
        load(&setup, &["--into", "C", "--incomplete"]).failure(1, &["has no Parquet files"]);
    },
    fn folders_of_others_have_types_by_their_names(target: &Target) {
        let setup = Setup::new(target, "1");
        setup.run("CREATE TABLE S (ID INTEGER, C VARCHAR(9), N INTEGER, D DATE)");
        setup.run("INSERT INTO S VALUES (1, '007', 7, '2024-05-01'); INSERT INTO S VALUES (2, 'x', NULL, '2024-05-02')");
        setup.copy("S", &["--partition-by", "C,N,D"]).success();
        fs::remove_file(setup.folder().join("_firearrow.json")).unwrap();
        load(&setup, &["--into", "L"]).success();
        let types = "SELECT LIST(TRIM(F.RDB$FIELD_TYPE)) FROM (SELECT R.RDB$FIELD_SOURCE X FROM RDB$RELATION_FIELDS R \
            WHERE R.RDB$RELATION_NAME = 'L' ORDER BY R.RDB$FIELD_POSITION) JOIN RDB$FIELDS F ON F.RDB$FIELD_NAME = X";
        // INTEGER, VARCHAR, BIGINT, DATE.
        assert_eq!(setup.rows(types), "\"8,37,16,12\"");
        let differ = "SELECT COUNT(*), COUNT(L.N) FROM S JOIN L ON L.ID = S.ID AND L.C = S.C AND L.D = S.D \
            AND L.N IS NOT DISTINCT FROM S.N";
        assert_eq!(setup.rows(differ), "2,1");
        // Folders that do not fit together.
        let folder = setup.folder();
        fs::rename(folder.join("C=x"), folder.join("E=x")).unwrap();
        load(&setup, &["--into", "L"]).failure(1, &["its folders name"]);
    }
);

#[test]
fn a_folder_is_loaded_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = argument(folder.path());
    plain(&["load", "x.fdb", path, path, "--into", "T"]).failure(2, &["a folder is loaded by itself"]);
    plain(&["load", "x.fdb", "x.csv", "--into", "T", "--incomplete"])
        .failure(2, &["--incomplete is for a folder"]);
}
