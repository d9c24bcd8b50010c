//! `firearrow tables`

use crate::command::firearrow;
use crate::ddl::made_by;
use firearrow_testkit::{Target, matrix};
use serde_json::{Value, json};

const SCRIPT: &str = "CREATE TABLE orders (id INTEGER, place INTEGER); \
    CREATE TABLE \"Mixed\" (id INTEGER); \
    CREATE GLOBAL TEMPORARY TABLE kept (id INTEGER) ON COMMIT PRESERVE ROWS; \
    CREATE VIEW order_ids (id) AS SELECT id FROM orders; \
    COMMENT ON TABLE orders IS 'what was
ordered'";

matrix!(
    all,
    fn tables_have_their_kinds_and_columns(target: &Target) {
        let url = made_by(target, "", SCRIPT);
        let table = firearrow(target, &["tables", &url]).success();
        let none = firearrow(target, &["tables", &url, "nothing%"]).success();
        assert!(none.stdout.is_empty() && none.stderr.contains("no tables match"), "{}", none.stderr);
        let expected = "  name       kind              columns  remark\n  \
            KEPT       GLOBAL TEMPORARY  1\n  \
            Mixed      TABLE             1\n  \
            ORDERS     TABLE             2        what was\\nordered\n  \
            ORDER_IDS  VIEW              1\n";
        assert_eq!(table.text(), expected);
        let lines = |arguments: &[&str]| -> Vec<Value> {
            let arguments = [&["tables", &url, "--json"], arguments].concat();
            let outcome = firearrow(target, &arguments).success();
            outcome.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let names = |arguments: &[&str]| -> Vec<Value> {
            lines(arguments).into_iter().map(|mut line| line["name"].take()).collect()
        };
        assert_eq!(
            lines(&["ORDERS"]),
            [json!({"name": "ORDERS", "kind": "TABLE", "columns": 2, "remark": "what was\nordered"})]
        );
        // As written first, then in upper case.
        assert_eq!(names(&["%i%"]), ["Mixed"]);
        assert_eq!(names(&["order%"]), ["ORDERS", "ORDER_IDS"]);
        assert_eq!(names(&["nothing"]), [""; 0]);
        assert_eq!(names(&["--kind", "view,temporary"]), ["KEPT", "ORDER_IDS"]);
        let system = names(&["rdb$rel%", "--system"]);
        assert!(system.contains(&json!("RDB$RELATIONS")), "{system:?}");
        assert_eq!(names(&["RDB$%"]), [""; 0]);
        assert!(lines(&["--kind", "system"]).iter().all(|line| line["kind"] == "SYSTEM TABLE"));
    }
);
