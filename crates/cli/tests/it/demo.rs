//! `firearrow create-demo`

use crate::command::{demo, firearrow};
use firearrow_testkit::{Generation, Target, matrix};

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0, embedded_3_0, embedded_4_0, embedded_5_0],
    fn tables_are_made_once_unless_forced(target: &Target) {
        let url = target.fresh_url();
        let made = firearrow(target, &["create-demo", &url, "--rows", "1003", "--json"]).success().json();
        assert_eq!(made["created"], true);
        let rows: Vec<_> = made["tables"].as_array().unwrap().iter().map(|table| &table["rows"]).collect();
        assert_eq!(rows, [1003, 1003, 1003, 1000]);

        firearrow(target, &["create-demo", &url, "--rows", "10"]).failure(1, &["T_WIDE", "--force"]);
        firearrow(target, &["create-demo", &url, "--rows", "10", "--force"]).success();
        let count = "SELECT (SELECT COUNT(*) FROM T_WIDE) A, (SELECT COUNT(*) FROM T_BLOB) B, \
            (SELECT COUNT(*) FROM FIREARROW_DEMO) C FROM RDB$DATABASE";
        let counted = firearrow(target, &["query", &url, count, "--json"]).success().json();
        assert_eq!(counted, serde_json::json!({"A": 10, "B": 10, "C": 22 + 10 + 5 + 2}));
    },
    fn rows_are_what_the_engine_itself_computes(target: &Target) {
        let url = demo(target, "500");
        let wrong = "SELECT COUNT(*) FROM T_INT10 WHERE C2 <> C1 + 1 OR C10 <> C1 + 9 OR C1 IS NULL";
        let counted = firearrow(target, &["query", &url, wrong, "--json"]).success().json();
        assert_eq!(counted["COUNT"], 0);
        let wrong = "SELECT COUNT(*) FROM T_VC5 V WHERE NOT EXISTS (SELECT * FROM T_INT10 I WHERE V.C5 = \
            'Row_' || I.C1 || '_data_padding_to_make_string_longer_xxxxxxxxxxxxxx')";
        let counted = firearrow(target, &["query", &url, wrong, "--json"]).success().json();
        assert_eq!(counted["COUNT"], 0);
        let lengths = "SELECT MIN(CHAR_LENGTH(DOC)) A, MAX(CHAR_LENGTH(DOC)) B FROM T_BLOB";
        let lengths = firearrow(target, &["query", &url, lengths, "--json"]).success().json();
        assert!(lengths["A"].as_u64() >= Some(3300) && lengths["B"].as_u64() <= Some(3500), "{lengths}");
        if target.generation() > Generation::V3_0 {
            let wrong = "SELECT COUNT(*) FROM T_WIDE WHERE \
                MD5_A <> LOWER(HEX_ENCODE(CRYPT_HASH(CAST(ID AS VARCHAR(20)) USING MD5)))";
            let counted = firearrow(target, &["query", &url, wrong, "--json"]).success().json();
            assert_eq!(counted["COUNT"], 0);
        }
    }
);
