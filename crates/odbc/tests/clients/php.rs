//! PHP: the extension odbc, and PDO.

use crate::sandbox::{Sandbox, program, skip, works};
use firearrow_testkit::{Skip, Target, matrix};

fn check(target: &Target, extension: &str, script: &str) -> Result<Sandbox, Skip> {
    let php = program("php", "php-cli", target)?;
    let test = format!("exit(extension_loaded('{extension}') ? 0 : 1);");
    if !works(&php, &["-r", &test]) {
        return Err(skip(target, format!("no extension {extension}: install php-odbc")));
    }
    let sandbox = Sandbox::new(target);
    sandbox.check(sandbox.script(php, script));
    Ok(sandbox)
}

const PARENTS: &str = "SELECT LIST(ID || ':' || NAME, ',') FROM (SELECT * FROM PARENT ORDER BY ID)";

matrix!(
    all,
    fn php_odbc_reads_and_writes(target: &Target) -> Result<(), Skip> {
        let sandbox = check(target, "odbc", "php_odbc.php")?;
        assert_eq!(sandbox.value(PARENTS), "1:Zoë €😀,2:second,4:kept");
        Ok(())
    },
    fn php_pdo_reads_and_writes(target: &Target) -> Result<(), Skip> {
        let sandbox = check(target, "PDO_ODBC", "php_pdo.php")?;
        assert_eq!(sandbox.value(PARENTS), "1:Zoë €😀,2:second,4:kept");
        Ok(())
    },
);
