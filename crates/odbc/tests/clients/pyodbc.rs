//! pyodbc: wide functions, piecewise long data, arrays of parameters bound by row.

use crate::sandbox::{Sandbox, python};
use firearrow_testkit::{Skip, Target, matrix};

fn check(target: &Target, script: &str) -> Result<Sandbox, Skip> {
    let python = python("pyodbc", target)?;
    let sandbox = Sandbox::new(target);
    sandbox.check(sandbox.script(python, script));
    Ok(sandbox)
}

matrix!(
    all,
    fn pyodbc_reads_values_of_every_type(target: &Target) -> Result<(), Skip> {
        check(target, "pyodbc_kinds.py").map(drop)
    },
    fn pyodbc_writes_values_of_every_type(target: &Target) -> Result<(), Skip> {
        let sandbox = check(target, "pyodbc_parameters.py")?;
        // The script has copied row after row, each value as a parameter. So nothing may differ.
        let difference = sandbox.value(
            "SELECT CAST(COUNT(*) AS VARCHAR(20)) FROM KINDS A FULL JOIN COPY B ON A.ID = B.ID
             WHERE A.I16 IS DISTINCT FROM B.I16 OR A.I32 IS DISTINCT FROM B.I32 OR A.I64 IS DISTINCT FROM B.I64
                OR A.N9 IS DISTINCT FROM B.N9 OR A.N18 IS DISTINCT FROM B.N18 OR A.F32 IS DISTINCT FROM B.F32
                OR A.F64 IS DISTINCT FROM B.F64 OR A.B IS DISTINCT FROM B.B OR A.DT IS DISTINCT FROM B.DT
                OR A.TM IS DISTINCT FROM B.TM OR A.TS IS DISTINCT FROM B.TS OR A.C IS DISTINCT FROM B.C
                OR A.V IS DISTINCT FROM B.V OR A.O IS DISTINCT FROM B.O OR A.BT IS DISTINCT FROM B.BT
                OR A.BB IS DISTINCT FROM B.BB",
        );
        assert_eq!(difference, "0");
        Ok(())
    },
    fn pyodbc_inserts_ten_thousand_rows_fast(target: &Target) -> Result<(), Skip> {
        let sandbox = check(target, "pyodbc_bulk.py")?;
        // The script has compared every cell; here are sums that only the engine has computed.
        assert_eq!(
            sandbox.value(
                "SELECT COUNT(*) || ' ' || COUNT(V) || ' ' || SUM(CAST(ID AS BIGINT)) || ' ' || SUM(N) || ' '
                    || SUM(CHAR_LENGTH(V)) || ' ' || SUM(OCTET_LENGTH(O)) || ' ' || SUM(IIF(B, 1, 0)) FROM BULK"
            ),
            // Every seventh V is NULL.
            "10000 8571 49995000 499950.00 110474 35000 5000"
        );
        Ok(())
    },
    fn pyodbc_commits_and_rolls_back(target: &Target) -> Result<(), Skip> {
        let sandbox = check(target, "pyodbc_transactions.py")?;
        assert_eq!(
            sandbox.value("SELECT LIST(ID || NAME) FROM (SELECT * FROM PARENT ORDER BY ID)"),
            "1kept,3auto"
        );
        Ok(())
    },
    fn the_example_of_the_document_works(target: &Target) -> Result<(), Skip> {
        python("pandas", target)?;
        let python = python("pyodbc", target)?;
        let sandbox = Sandbox::new(target);
        let mut command = sandbox.script(python, "pyodbc_pandas.py");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/odbc.md"));
        sandbox.check(command);
        Ok(())
    },
    fn pyodbc_sees_errors_timeouts_and_cancellation(target: &Target) -> Result<(), Skip> {
        check(target, "pyodbc_errors.py").map(drop)
    },
    fn pyodbc_reads_the_catalog(target: &Target) -> Result<(), Skip> {
        check(target, "pyodbc_catalog.py").map(drop)
    },
    fn pyodbc_moves_long_values(target: &Target) -> Result<(), Skip> {
        let sandbox = check(target, "pyodbc_long.py")?;
        assert_eq!(
            sandbox.value(
                "SELECT CHAR_LENGTH(T) || ' ' || OCTET_LENGTH(T) || ' ' || OCTET_LENGTH(D) FROM LONG_VALUES"
            ),
            "1000003 1500007 3000000"
        );
        Ok(())
    },
);
