//! The keywords of connection strings and data sources.

/// What a keyword is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Which driver or data source it is.
    Source,
    /// For the driver manager, or for people.
    Manager,
    /// Which database it is.
    Target,
    /// The client's option of this name.
    Client(&'static str),
    /// An option of this driver.
    Odbc,
    /// Without meaning here: existing data sources have it.
    Ignored,
}

/// A keyword.
#[derive(Debug)]
pub(super) struct Keyword {
    /// The name that the driver writes.
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    /// The name in a data source.
    pub(super) entry: &'static str,
    pub(super) meaning: Meaning,
}

const fn keyword(
    name: &'static str,
    aliases: &'static [&'static str],
    entry: &'static str,
    meaning: Meaning,
) -> Keyword {
    Keyword { name, aliases, entry, meaning }
}

use Meaning::{Client, Ignored, Manager, Odbc, Source, Target};

/// All keywords. Names that differ only in case, blanks, hyphens and underscores are one name.
pub(super) static KEYWORDS: &[Keyword] = &[
    keyword("DSN", &[], "DSN", Source),
    keyword("DRIVER", &[], "Driver", Source),
    keyword("DESCRIPTION", &[], "Description", Manager),
    keyword("FILEDSN", &[], "FileDSN", Manager),
    keyword("SAVEDSN", &[], "SaveDSN", Manager),
    keyword("DBNAME", &["DATABASE", "DB", "INITIAL CATALOG", "URL"], "Dbname", Target),
    keyword("SERVER", &["HOST", "HOSTNAME", "DATA SOURCE", "SERVERNAME"], "Server", Target),
    keyword("PORT", &["PORT NUMBER"], "Port", Target),
    keyword("UID", &["USER", "USERNAME", "USER ID"], "User", Client("user")),
    keyword("PWD", &["PASSWORD"], "Password", Client("password")),
    keyword("ROLE", &[], "Role", Client("role")),
    keyword("CHARSET", &["CHARACTER SET", "LC_CTYPE", "ENCODING"], "CharacterSet", Odbc),
    keyword("DIALECT", &["SQLDIALECT"], "Dialect", Client("dialect")),
    keyword("CLIENT", &["FBCLIENT", "CLIENT LIBRARY"], "Client", Odbc),
    keyword("READONLY", &[], "ReadOnly", Odbc),
    keyword("NOWAIT", &[], "NoWait", Odbc),
    keyword("LOCKTIMEOUT", &["LOCKTIMEOUTWAITTRANSACTIONS"], "LockTimeoutWaitTransactions", Odbc),
    keyword("ISOLATION", &["TXNISOLATION"], "Isolation", Odbc),
    keyword("TIMEOUT", &["CONNECT TIMEOUT", "LOGIN TIMEOUT"], "Timeout", Odbc),
    keyword("QUERYTIMEOUT", &[], "QueryTimeout", Odbc),
    keyword("QUOTED", &["QUOTEDIDENTIFIER"], "QuotedIdentifier", Odbc),
    keyword("SENSITIVE", &["SENSITIVEIDENTIFIER"], "SensitiveIdentifier", Odbc),
    keyword("AUTOQUOTED", &["AUTOQUOTEDIDENTIFIER"], "AutoQuotedIdentifier", Ignored),
    keyword("USESCHEMA", &["USESCHEMAIDENTIFIER"], "UseSchemaIdentifier", Odbc),
    keyword("SAFETHREAD", &[], "SafeThread", Ignored),
    keyword("JDBC_DRIVER", &[], "JdbcDriver", Ignored),
    keyword("PAGESIZE", &[], "PageSize", Odbc),
    keyword("CREATE_DB", &["DBNAMEALWAYS", "CREATE IF MISSING"], "DbnameAlways", Odbc),
    keyword("DROP_DB", &[], "DropDb", Odbc),
    keyword(
        "WIRECOMPRESSION",
        &["ENABLEWIRECOMPRESSION", "WIRE_COMPRESS"],
        "EnableWireCompression",
        Client("wire_compress"),
    ),
    keyword("WIRECRYPT", &["ENCRYPT"], "WireCrypt", Client("wire_crypt")),
    keyword("AUTHPLUGINS", &[], "AuthPlugins", Client("auth_plugins")),
    keyword("SETCOMPATBIND", &["SETBIND"], "SetCompatBind", Client("set_bind")),
    keyword("ENABLECOMPATBIND", &[], "EnableCompatBind", Odbc),
    keyword("TIMEZONE", &["SESSION TIMEZONE", "SESSION_TIME_ZONE"], "TimeZone", Client("session_time_zone")),
    keyword("DECFLOAT", &[], "Decfloat", Odbc),
    keyword("GUID", &[], "Guid", Odbc),
    keyword("WCHARTYPES", &[], "WCharTypes", Odbc),
    keyword("BLOBSIZE", &[], "BlobSize", Odbc),
    keyword("AUTODDL", &[], "AutoDdl", Odbc),
    keyword("FROMLESSSELECT", &[], "FromlessSelect", Odbc),
    keyword("FAILEDSETS", &[], "FailedSets", Odbc),
    keyword("CONNSETTINGS", &[], "ConnSettings", Odbc),
    keyword("PROCESSNAME", &["APP", "APPLICATION NAME"], "ProcessName", Client("process_name")),
    keyword("TRACE", &[], "Trace", Ignored),
    keyword("LOGFILE", &["TRACEFILE"], "LogFile", Ignored),
    // What unixODBC reads from a data source.
    keyword("DRIVER64", &[], "Driver64", Manager),
    keyword("SETUP", &["SETUP64"], "Setup", Manager),
    keyword("USAGECOUNT", &["FILEUSAGE"], "UsageCount", Manager),
    keyword("THREADING", &[], "Threading", Manager),
    keyword("POOLING", &["CPTIMEOUT", "CPTIMETOLIVE", "CPPROBE"], "Pooling", Manager),
    keyword("DMENVATTR", &["DMCONNATTR", "DMSTMTATTR"], "DMEnvAttr", Manager),
    keyword("FAKEUNICODE", &["ICONVENCODING"], "FakeUnicode", Manager),
    keyword("DONTDLCLOSE", &["EXFETCHMAPPING", "DISABLEGETFUNCTIONS"], "DontDLClose", Manager),
];

/// Finds a keyword by any of its names.
pub(super) fn find(name: &str) -> Option<&'static Keyword> {
    let matches = |known: &&str| plain(known).eq(plain(name));
    KEYWORDS.iter().find(|keyword| [keyword.name, keyword.entry].iter().chain(keyword.aliases).any(matches))
}

/// The name of a keyword in a data source.
pub(crate) fn entry_name(name: &str) -> &str {
    find(name).map_or(name, |keyword| keyword.entry)
}

/// A name without what does not distinguish it from others: drivers disagree on `CharacterSet`, `CHARACTER SET` and
/// `character_set`.
pub(super) fn plain(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).map(|c| c.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_belong_to_one_keyword() {
        let mut seen = HashSet::new();
        for keyword in KEYWORDS {
            let names = [keyword.name, keyword.entry].into_iter().chain(keyword.aliases.iter().copied());
            let names: HashSet<String> = names.map(|name| plain(name).collect()).collect();
            for name in names {
                assert!(seen.insert(name.clone()), "{name}");
            }
        }
    }

    #[test]
    fn all_names_of_the_reference_are_known() {
        for (name, others) in [
            ("DBNAME", "DATABASE,DB,INITIAL CATALOG,Dbname,url"),
            ("SERVER", "HOST,HOSTNAME,DATA SOURCE,Server"),
            ("UID", "USER,USERNAME,USER ID,User"),
            ("PWD", "PASSWORD,Password"),
            ("CHARSET", "CHARACTERSET,CHARACTER SET,LC_CTYPE,CharacterSet"),
            ("DIALECT", "SQLDIALECT,Dialect"),
            ("CLIENT", "FBCLIENT,CLIENTLIBRARY,Client,client_library"),
            ("READONLY", "ReadOnly"),
            ("NOWAIT", "NoWait"),
            ("LOCKTIMEOUT", "LOCKTIMEOUTWAITTRANSACTIONS,LockTimeoutWaitTransactions"),
            ("ISOLATION", "TXNISOLATION,Isolation"),
            ("TIMEOUT", "CONNECTTIMEOUT,LOGINTIMEOUT,connect_timeout"),
            ("QUERYTIMEOUT", "QueryTimeout"),
            ("QUOTED", "QUOTEDIDENTIFIER"),
            ("SENSITIVE", "SENSITIVEIDENTIFIER"),
            ("AUTOQUOTED", "AUTOQUOTEDIDENTIFIER"),
            ("USESCHEMA", "USESCHEMAIDENTIFIER"),
            ("SAFETHREAD", "SafeThread"),
            ("JDBC_DRIVER", "jdbc_driver"),
            ("PAGESIZE", "PageSize,page_size"),
            ("CREATE_DB", "DBNAMEALWAYS,create_if_missing"),
            ("DROP_DB", "drop_db"),
            ("WIRECOMPRESSION", "ENABLEWIRECOMPRESSION,wire_compress"),
            ("WIRECRYPT", "ENCRYPT,wire_crypt"),
            ("AUTHPLUGINS", "AuthPlugins,auth_plugins"),
            ("SETCOMPATBIND", "SETBIND,set_bind"),
            ("ENABLECOMPATBIND", "EnableCompatBind"),
            ("TIMEZONE", "SESSIONTIMEZONE,session_time_zone"),
            ("CONNSETTINGS", "ConnSettings"),
            ("PROCESSNAME", "APP,process_name"),
            ("LOGFILE", "LogFile"),
        ] {
            for alias in [name].into_iter().chain(others.split(',')) {
                assert_eq!(find(alias).map(|keyword| keyword.name), Some(name), "{alias}");
            }
        }
        assert!(find("").is_none() && find("DBNAM").is_none() && find("wire_crypt_plugin").is_none());
        assert_eq!((entry_name("UID"), entry_name("wire_crypt_plugin")), ("User", "wire_crypt_plugin"));
    }
}
