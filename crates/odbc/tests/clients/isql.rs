//! unixODBC's own clients. `isql` uses the narrow functions, `iusql` the wide ones.

use crate::sandbox::{DSN, Sandbox, program};
use firearrow_testkit::{Skip, Target, matrix};

/// Feeds lines to a client, whose options make it print fields between bars.
fn session(name: &str, target: &Target, lines: &[&str]) -> Result<(Sandbox, Vec<String>), Skip> {
    let client = program(name, "unixodbc", target)?;
    let sandbox = Sandbox::new(target);
    let mut command = sandbox.command(client);
    command.args([DSN, "-b", "-d|"]);
    let output = sandbox.run(command, &format!("{}\n", lines.join("\n")));
    Ok((sandbox, output.lines().map(str::to_owned).collect()))
}

matrix!(
    all,
    fn isql_prints_values_of_every_type(target: &Target) -> Result<(), Skip> {
        let columns = "ID, I16, I32, I64, N9, N18, F32, F64, B, DT, TM, TS, C, V, O, BT, BB";
        let (_, output) = session("isql", target, &[&format!("SELECT {columns} FROM KINDS ORDER BY ID")])?;
        let expected = [
            "1|7|-70000|1234567890123|12.34|-1234.5678|0.5|3.141592653589793|1|2024-02-29|23:59:58.1234\
                |2024-02-29 01:02:03.4567|ab   |Zoë €😀|00FF1080|long text é😀|0001FF",
            "2|32767|2147483647|9223372036854775807|21474836.47|922337203685477.5807|3.4028235e38\
                |1.7976931348623157e308|0|9999-12-31|23:59:59.9999|9999-12-31 23:59:59.9999|äääää\
                |ßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßß|FFFFFFFF|b|FF",
            "3|-32768|-2147483648|-9223372036854775808|-21474836.48|-922337203685477.5808|-3.4028235e38\
                |-1.7976931348623157e308|0|0001-01-01|00:00:00|0001-01-01 00:00:00|z    | z |00| |00",
            "4||||||||||||||||",
            "5|0|0|0|0.00|0.0000|0|0|0|2000-01-01|12:00:00|2000-01-01 12:00:00|     ||||",
        ];
        assert_eq!(output, expected);
        Ok(())
    },
    fn isql_writes_and_reads_back(target: &Target) -> Result<(), Skip> {
        let (sandbox, output) = session(
            "isql",
            target,
            &[
                "INSERT INTO PARENT VALUES (1, {fn UCASE('zoë')})",
                "INSERT INTO PARENT (ID) VALUES (2)",
                "SELECT ID, NAME FROM PARENT ORDER BY ID",
                "UPDATE PARENT SET NAME = 'x' WHERE ID = 3",
                "{call DIVIDE(17, 5)}",
                "SELECT 1 + 1",
            ],
        )?;
        let rows: Vec<&String> = output.iter().filter(|line| line.contains('|')).collect();
        assert_eq!(rows, ["1|ZOË", "2|none", "3|2"], "{output:?}");
        assert_eq!(output.last().map(String::as_str), Some("2"));
        assert_eq!(sandbox.value("SELECT LIST(ID || NAME) FROM PARENT"), "1ZOË,2none");
        Ok(())
    },
    fn isql_shows_errors(target: &Target) -> Result<(), Skip> {
        let client = program("isql", "unixodbc", target)?;
        let sandbox = Sandbox::new(target);
        let mut command = sandbox.command(client);
        command.args([DSN, "-b", "-v"]);
        let output =
            sandbox.run(command, "SELEC 1\nSELECT * FROM NOWHERE\nSELECT ID FROM KINDS WHERE ID = 2\n");
        // isql is an application of ODBC 2, whose SQLSTATEs these are.
        for text in ["[37000]", "[S0002]", "[firearrow][Firebird ODBC Driver][Firebird]", "NOWHERE", "| 2 "] {
            assert!(output.contains(text), "no {text} in {output}");
        }
        Ok(())
    },
    fn isql_lists_tables_and_columns(target: &Target) -> Result<(), Skip> {
        let (_, output) = session("isql", target, &["help", "help PARENT"])?;
        assert!(output.iter().any(|line| line == "||CHILD|TABLE|"), "{output:?}");
        assert!(output.iter().any(|line| line.contains("RDB$RELATIONS|SYSTEM TABLE")), "{output:?}");
        assert!(
            output.iter().any(|line| line.starts_with("||PARENT|ID|4|INTEGER|10|4|0|10|0|")),
            "{output:?}"
        );
        assert!(output.iter().any(|line| line.starts_with("||PARENT|NAME|12|VARCHAR|30|")), "{output:?}");
        Ok(())
    },
    fn iusql_prints_what_it_gets_in_utf16(target: &Target) -> Result<(), Skip> {
        // iusql itself prints the low byte of each code unit, so the text is ASCII.
        let lines = [
            "INSERT INTO PARENT VALUES (1, {fn UCASE('plain')})",
            "SELECT ID, N18, TS, DT, B, BT, O FROM KINDS WHERE ID > 1 ORDER BY ID",
            "SELECT * FROM PARENT",
        ];
        let (sandbox, output) = session("iusql", target, &lines)?;
        let rows: Vec<&String> = output.iter().filter(|line| line.contains('|')).collect();
        let expected = [
            "2|922337203685477.5807|9999-12-31 23:59:59.9999|9999-12-31|0|b|FFFFFFFF",
            "3|-922337203685477.5808|0001-01-01 00:00:00|0001-01-01|0| |00",
            "4||||||",
            "5|0.0000|2000-01-01 12:00:00|2000-01-01|0||",
            "1|PLAIN",
        ];
        assert_eq!(rows, expected);
        assert_eq!(sandbox.value("SELECT NAME FROM PARENT"), "PLAIN");
        Ok(())
    },
);
