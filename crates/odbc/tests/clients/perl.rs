//! Perl's DBD::ODBC.

use crate::sandbox::{Sandbox, program, skip, works};
use firearrow_testkit::{Skip, Target, matrix};

matrix!(
    all,
    fn perl_reads_and_writes(target: &Target) -> Result<(), Skip> {
        let perl = program("perl", "perl", target)?;
        if !works(&perl, &["-MDBD::ODBC", "-e", "1"]) {
            return Err(skip(target, "no DBD::ODBC: install libdbd-odbc-perl"));
        }
        let sandbox = Sandbox::new(target);
        sandbox.check(sandbox.script(perl, "dbd_odbc.pl"));
        assert_eq!(
            sandbox.value("SELECT COUNT(*) || ' ' || SUM(ID) || ' ' || SUM(CHAR_LENGTH(NAME)) FROM PARENT"),
            "502 126253 3401"
        );
        Ok(())
    },
);
