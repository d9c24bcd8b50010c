//! Results that several connections read.

use crate::support::{autocommit, fresh, query, run, set, statement};
use adbc_core::Statement;
use arrow::array::{AsArray, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use firearrow_testkit::{Generation, Target, matrix};
use std::time::{Duration, Instant};

const ATTACHMENTS: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM MON$ATTACHMENTS WHERE MON$SYSTEM_FLAG = 0";

matrix!(
    all,
    fn several_connections_give_the_rows_of_one(target: &Target) {
        let mut connection = fresh(target);
        run(&mut connection, "CREATE TABLE t (id INTEGER, text VARCHAR(300), b BLOB SUB_TYPE TEXT)");
        run(
            &mut connection,
            "EXECUTE BLOCK AS DECLARE i INTEGER = 0; DECLARE x VARCHAR(144); BEGIN WHILE (i < 20000) DO BEGIN \
             x = UUID_TO_CHAR(GEN_UUID()) || UUID_TO_CHAR(GEN_UUID()) || UUID_TO_CHAR(GEN_UUID()); \
             INSERT INTO t VALUES (:i, :x || :x, :i); i = i + 1; END END",
        );
        set(&mut connection, "adbc.firebird.query.batch_rows", "1000").expect("it is known");
        let is_modern = target.generation() >= Generation::V4_0;
        for auto in [true, false] {
            autocommit(&mut connection, auto);
            set(&mut connection, "adbc.firebird.query.parallel", "1").expect("it is known");
            let plain = query(&mut connection, "SELECT * FROM t");
            set(&mut connection, "adbc.firebird.query.parallel", "2").expect("it is known");
            for _ in 0..2 {
                let mut reader = statement(&mut connection, "SELECT * FROM t").execute().expect("it runs");
                let mut batches = vec![reader.next().expect("a batch").expect("it is read")];
                let attached = query(&mut connection, ATTACHMENTS);
                let expected = if is_modern { 3 } else { 1 };
                assert_eq!(attached.column(0).as_primitive::<Int64Type>().value(0), expected, "auto: {auto}");
                batches.extend(reader.by_ref().map(|batch| batch.expect("it is read")));
                let found: RecordBatch = concat_batches(&plain.schema(), &batches).expect("one schema");
                assert!(found == plain, "auto: {auto}");
            }
            let mut early = statement(&mut connection, "SELECT * FROM t").execute().expect("it runs");
            let _ = early.next().expect("a batch").expect("it is read");
            drop(early);
            autocommit(&mut connection, true);
            let begin = Instant::now();
            while query(&mut connection, ATTACHMENTS).column(0).as_primitive::<Int64Type>().value(0) > 1 {
                assert!(begin.elapsed() < Duration::from_secs(8), "readers are left");
            }
        }
    },
);
