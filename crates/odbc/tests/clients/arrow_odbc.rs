//! arrow-odbc for Python: odbc-api beneath it binds columns and parameters in arrays.

use crate::sandbox::{Sandbox, python};
use firearrow_testkit::{Skip, Target, matrix};

matrix!(
    all,
    fn arrow_odbc_reads_batches(target: &Target) -> Result<(), Skip> {
        let python = python("arrow_odbc", target)?;
        let sandbox = Sandbox::new(target);
        sandbox.check(sandbox.script(python, "arrow_odbc_read.py"));
        Ok(())
    },
    fn arrow_odbc_inserts_batches(target: &Target) -> Result<(), Skip> {
        let python = python("arrow_odbc", target)?;
        let sandbox = Sandbox::new(target);
        sandbox.check(sandbox.script(python, "arrow_odbc_insert.py"));
        // 2,500 rows in arrays of 1,000; each fifth is NULL but for its number.
        assert_eq!(
            sandbox.value(
                "SELECT COUNT(*) || ' ' || COUNT(V) || ' ' || SUM(ID) || ' ' || SUM(N) || ' ' || SUM(CHAR_LENGTH(V))
                    || ' ' || COUNT(DISTINCT TS) || ' ' || SUM(IIF(B, 1, 0)) FROM ARROW"
            ),
            "2500 2000 3123750 25000.00 9764 2000 1000"
        );
        Ok(())
    },
);
