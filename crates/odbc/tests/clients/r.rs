//! R's RODBC. Debian has no package of odbc, the other one.

use crate::sandbox::{Sandbox, program, skip, works};
use firearrow_testkit::{Skip, Target, matrix};

matrix!(
    all,
    fn r_rodbc_reads_and_writes(target: &Target) -> Result<(), Skip> {
        let r = program("Rscript", "r-base-core", target)?;
        if !works(&r, &["-e", "library(RODBC)"]) {
            return Err(skip(target, "no R package RODBC: install r-cran-rodbc"));
        }
        let sandbox = Sandbox::new(target);
        sandbox.check(sandbox.script(r, "rodbc.R"));
        let found =
            sandbox.value("SELECT COUNT(*) || ' ' || CAST(SUM(N) AS INTEGER) || ' ' || LIST(V) FROM FRAME");
        assert_eq!(found, "3 6 aé,b,c");
        Ok(())
    },
);
