//! turbodbc, where it is installed: row arrays and parameter arrays of many megabytes.

use crate::sandbox::{Sandbox, python};
use firearrow_testkit::{Skip, Target, matrix};

matrix!(
    all,
    fn turbodbc_reads_and_writes(target: &Target) -> Result<(), Skip> {
        let python = python("turbodbc", target)?;
        let sandbox = Sandbox::new(target);
        sandbox.check(sandbox.script(python, "turbodbc_client.py"));
        assert_eq!(
            sandbox.value(
                "SELECT COUNT(*) || ' ' || COUNT(V) || ' ' || SUM(ID) || ' ' || SUM(CHAR_LENGTH(V)) FROM T"
            ),
            "5000 4500 12497500 21501"
        );
        Ok(())
    },
);
