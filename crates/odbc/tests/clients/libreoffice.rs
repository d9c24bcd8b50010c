//! LibreOffice Base: its ODBC component, in an office without a window.

use crate::sandbox::{Sandbox, program, skip, works};
use firearrow_testkit::{Skip, Target, matrix};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// An office takes much memory and all processors while it starts.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

matrix!(
    all,
    fn libreoffice_reads_and_edits(target: &Target) -> Result<(), Skip> {
        program("soffice", "libreoffice-base", target)?;
        // The system's Python: that of Debian's package of the bridge.
        let python = Path::new("/usr/bin/python3");
        if !works(python, &["-c", "import uno"]) {
            return Err(skip(target, "no Python module uno: install python3-uno"));
        }
        let sandbox = Sandbox::new(target);
        {
            let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
            sandbox.check(sandbox.script(python, "libreoffice.py"));
        }
        assert_eq!(
            sandbox.value("SELECT LIST(ID || ':' || NAME, ',') FROM (SELECT * FROM PARENT ORDER BY ID)"),
            "1:Zoë €😀,2:second,4:kept"
        );
        Ok(())
    },
);
