//! What programs do with the library and with themselves: unloading it, and forking.

use crate::sandbox::{Sandbox, library, python};
use firearrow_testkit::{Skip, Target, matrix};

matrix!(
    all,
    fn the_library_is_unloaded_and_loaded_again(target: &Target) -> Result<(), Skip> {
        let python = python("ctypes", target)?;
        let sandbox = Sandbox::new(target);
        let mut command = sandbox.script(python, "unload.py");
        command.arg(library()).arg(sandbox.connection_string());
        sandbox.check(command);
        Ok(())
    },
    fn a_forked_child_cannot_use_the_connection(target: &Target) -> Result<(), Skip> {
        let python = python("pyodbc", target)?;
        let sandbox = Sandbox::new(target);
        sandbox.check(sandbox.script(python, "fork.py"));
        assert_eq!(sandbox.value("SELECT LIST(NAME) FROM PARENT WHERE ID >= 100"), "before,after");
        Ok(())
    },
);
