//! Keeps the table of keywords in docs/odbc.md true.

use super::super::keyword::KEYWORDS;
use firearrow_testkit::keep_document;
use std::collections::HashSet;
use std::fmt::Write;

const DOCUMENT: &str = "docs/odbc.md";
const HEAD: &str = "| keyword | other names | in a data source | what it does |\n|---|---|---|---|\n";

/// What keywords do. Those that only the driver manager or nobody reads share the last rows.
const TEXTS: &[(&str, &str)] = &[
    ("DSN", "The data source: entries that the connection string lacks come from it"),
    ("DRIVER", "The registered name of the driver, or the path of its library"),
    (
        "DBNAME",
        "The database: `host:path`, `host/port:path`, `inet://…`, `firebird://user@host:port/path?option=value`, `[::1]:path`, or a path for the embedded engine",
    ),
    ("SERVER", "The server, if DBNAME does not name one. Two different ones are an error"),
    ("PORT", "Its port, with SERVER; default 3050"),
    ("UID", "User. Without it, `FIREARROW_USER`, else `ISC_USER`, of the environment"),
    (
        "PWD",
        "Password. Without it, `FIREARROW_PASSWORD`, else the file that `FIREARROW_PASSWORD_FILE` names, else `ISC_PASSWORD`",
    ),
    ("ROLE", "SQL role"),
    (
        "CHARSET",
        "The connection always has UTF8. A code page such as `WIN1252` is that of columns of CHARACTER SET NONE and of parameters for them; 01S02 says so. On Windows, UTF8 or a single-byte set is also the encoding of data in `SQL_C_CHAR`",
    ),
    ("DIALECT", "`3` (default) or `1`"),
    (
        "CLIENT",
        "The client library, or the folder of the engine: for the embedded engine only, otherwise ignored with 01S02",
    ),
    ("READONLY", "Transactions refuse to write; default N"),
    ("NOWAIT", "Statements do not wait for locks; default N"),
    ("LOCKTIMEOUT", "Seconds to wait for locks; 0 = no limit (default)"),
    ("ISOLATION", "`READCOMMITTED` (default), `SNAPSHOT` or `CONSISTENCY`"),
    ("TIMEOUT", "Seconds that connecting may take; 0 = no limit; default 30, or `SQL_ATTR_LOGIN_TIMEOUT`"),
    (
        "QUERYTIMEOUT",
        "Seconds that statements may take, unless `SQL_ATTR_QUERY_TIMEOUT` is set; default 0 = no limit",
    ),
    ("QUOTED", "Whether `SQLGetInfo` names a quote character for identifiers; default Y"),
    ("SENSITIVE", "`SQL_IDENTIFIER_CASE` is `SQL_IC_SENSITIVE`; default N"),
    ("USESCHEMA", "`0`, `1` or `2`, without effect before Firebird 6"),
    ("PAGESIZE", "Page size of a new database"),
    ("CREATE_DB", "Creates the database if it does not exist; default N"),
    ("DROP_DB", "`Y` is refused: execute `DROP DATABASE` in Firebird's isql"),
    ("WIRECOMPRESSION", "Compression: Y, N (default) or `auto`"),
    (
        "WIRECRYPT",
        "Encryption: `Enabled` (default), `Required` or `Disabled`. Use `Required` for servers on other machines",
    ),
    ("AUTHPLUGINS", "Authentication plug-ins in order of preference"),
    ("SETCOMPATBIND", "Rules of SET BIND, separated by `;` within braces; Firebird 4 and later"),
    (
        "ENABLECOMPATBIND",
        "Whether any rule of SET BIND is set, the driver's `TIME ZONE TO LEGACY` included; default Y",
    ),
    ("TIMEZONE", "Time zone of the session; Firebird 4 and later"),
    ("DECFLOAT", "`VARCHAR` (default: exact) or `DOUBLE`"),
    ("GUID", "What BINARY(16) is: `BINARY` (default) or `GUID`"),
    (
        "WCHARTYPES",
        "Whether text is `SQL_WVARCHAR` and the other wide text types: Y, N, or `AUTO` (default) = wide if the application connects with a wide function",
    ),
    (
        "BLOBSIZE",
        "The size reported for BLOBs; default 2147483647. Set a smaller one for clients that allocate it",
    ),
    ("AUTODDL", "DDL is committed at once, in manual mode, too; default N"),
    ("FROMLESSSELECT", "`SELECT 1` gets the missing `FROM RDB$DATABASE`; default Y"),
    (
        "FAILEDSETS",
        "What an execution returns if some sets of a parameter array fail and others do not: `INFO` (default, the standard) or `ERROR`, \
         so that pyodbc raises an exception. The others stay executed",
    ),
    ("CONNSETTINGS", "Statements to execute after connecting, separated by `;` within braces"),
    ("PROCESSNAME", "Name of the process in the monitoring tables"),
];

/// Accepted, since existing data sources have them.
const IGNORED: [&str; 5] = ["AUTOQUOTED", "SAFETHREAD", "JDBC_DRIVER", "TRACE", "LOGFILE"];

/// For the driver manager.
const MANAGER: [&str; 11] = [
    "DESCRIPTION",
    "FILEDSN",
    "SAVEDSN",
    "DRIVER64",
    "SETUP",
    "USAGECOUNT",
    "THREADING",
    "POOLING",
    "DMENVATTR",
    "FAKEUNICODE",
    "DONTDLCLOSE",
];

#[test]
fn the_document_has_all_keywords() {
    let names = TEXTS.iter().map(|(name, _)| *name).chain(IGNORED).chain(MANAGER);
    assert_eq!(names.collect::<HashSet<_>>(), KEYWORDS.iter().map(|keyword| keyword.name).collect());

    let mut table = HEAD.to_owned();
    for keyword in KEYWORDS {
        let Some((_, text)) = TEXTS.iter().find(|(name, _)| *name == keyword.name) else { continue };
        let (name, aliases, entry) = (keyword.name, code(keyword.aliases), keyword.entry);
        let _ = writeln!(table, "| `{name}` | {aliases} | `{entry}` | {text} |");
    }
    let _ =
        writeln!(table, "| {} | | | Accepted without effect, for existing data sources |", code(&IGNORED));
    let _ = writeln!(table, "| {} | | | For the driver manager |", code(&MANAGER));

    let path = format!("{}/../../{DOCUMENT}", env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(path).expect("the document exists");
    let (before, rest) = document.split_once(HEAD).expect("a table of keywords");
    let after = rest.split_once("\n\n").map_or("", |(_, after)| after);
    keep_document(DOCUMENT, &format!("{before}{table}\n{after}"));
}

fn code(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
