//! The page about options of connection strings.

use super::super::names::{Key, SPECS, Spec};
use super::parse_trusted;
use crate::Config;
use std::fmt::Write;

/// An option: its name, its values, its default as text that can be set, and what it does.
struct Text(&'static str, &'static str, Default, &'static str);

/// The default of an option.
enum Default {
    Is(&'static str),
    /// In words: nothing that could be set.
    Says(&'static str),
}

use Default::{Is, Says};

const FLAG: &str = "`true`, `false`";

/// In the order of [`SPECS`].
const TEXTS: &[Text] = &[
    Text(
        "database",
        "path or alias",
        Says("–"),
        "The database, where the form of the text has no other place for it: in lists of keywords",
    ),
    Text("host", "name or address", Says("–"), "The server, in lists of keywords"),
    Text("port", "1 to 65535", Says("3050"), "Its port, in lists of keywords"),
    Text(
        "path",
        "`literal`",
        Says("–"),
        "In a URL: takes the path as it is written, without the rule for one or two slashes",
    ),
    Text("address_family", "`any`, `inet4`, `inet6`", Is("any"), "Which addresses of the host may be tried"),
    Text(
        "user",
        "name",
        Says("`FIREARROW_USER`, else `ISC_USER`, else `SYSDBA`"),
        "The user; quotes keep its case",
    ),
    Text(
        "password",
        "text",
        Says("`FIREARROW_PASSWORD`, else the file of `FIREARROW_PASSWORD_FILE`, else `ISC_PASSWORD`"),
        "The password; better kept out of connection strings, which end up in logs",
    ),
    Text("role", "name", Says("–"), "SQL role of the session"),
    Text(
        "wire_crypt",
        "`disabled`, `enabled`, `required`",
        Is("enabled"),
        "Wire encryption. `required` is recommended: with `enabled`, a server that offers no encryption receives everything in clear text",
    ),
    Text(
        "wire_crypt_plugin",
        "list of `ChaCha64`, `ChaCha`, `Arc4`",
        Says("all, the best first"),
        "Ciphers in order of preference. Connecting fails if the server supports none of those listed",
    ),
    Text(
        "clear_text_warning",
        "`remote`, `always`, `never`",
        Is("remote"),
        "When to warn about an unencrypted connection; `remote` = unless the server has a loopback address",
    ),
    Text(
        "allow_no_authentication",
        FLAG,
        Is("false"),
        "Whether to connect to a server that asks for no proof of user and password; its identity is then unverified",
    ),
    Text(
        "wire_compress",
        "`true`, `false`, `auto`",
        Is("false"),
        "Whether to ask for zlib compression. Servers compress about 10 MB/s per processor, so it pays only on links below 64 Mbit/s. `auto` = if an earlier connection of this process to the same server measured less than 64 Mbit/s and a round trip above 1 ms",
    ),
    Text(
        "auth_plugins",
        "list of `Srp256`, `Srp`, `Srp512`, `Srp384`, `Srp224`, `Legacy_Auth`",
        Says("all but `Legacy_Auth`"),
        "Authentication plugins in order of preference. `Legacy_Auth` sends a weak hash of the password, and such a login cannot be encrypted",
    ),
    Text(
        "connect_timeout",
        "seconds above 0",
        Is("30"),
        "Time limit for attaching to the database, including resolving the host name",
    ),
    Text(
        "read_timeout",
        "seconds; 0 = no limit",
        Is("0"),
        "Time limit for one answer of the server, including the time to run a statement; then the connection is closed",
    ),
    Text(
        "so_timeout",
        "milliseconds; 0 = no limit",
        Is("0"),
        "`read_timeout` under the name and in the unit of other drivers",
    ),
    Text(
        "event_host",
        "name or address",
        Says("the server's"),
        "Where the server's second connection, that for events, can be reached",
    ),
    Text(
        "event_port",
        "1 to 65535",
        Says("the server's choice"),
        "The port of that connection, as seen from here",
    ),
    Text(
        "keepalive",
        "seconds; 0 = never",
        Is("0"),
        "Seconds of silence after which the client sends a keep-alive",
    ),
    Text("protocol", "version or range, such as `13-19`", Says("all"), "Protocol versions to offer"),
    Text(
        "max_inline_blob_size",
        "0 to 65535",
        Says("65535"),
        "Longest BLOB that the server sends along with its row, in bytes; 0 = none. Firebird 5.0.3 and later",
    ),
    Text(
        "max_blob_cache_size",
        "bytes",
        Says("10485760"),
        "Most bytes of such BLOBs to keep until they are read",
    ),
    Text(
        "charset",
        "`UTF8`",
        Is("UTF8"),
        "Character set of the connection; there is no other, the server converts",
    ),
    Text("dialect", "`3`, `1`", Is("3"), "SQL dialect of queries and of new databases"),
    Text(
        "session_time_zone",
        "region or `±hh:mm`",
        Says("the server's"),
        "Time zone of the session. Firebird 4 and later",
    ),
    Text(
        "set_bind",
        "rules, separated by `;`",
        Says("–"),
        "SET BIND rules, without the words SET BIND. Firebird 4 and later",
    ),
    Text(
        "decfloat_round",
        "the engine's names",
        Says("the engine's"),
        "Rounding mode of DECFLOAT results. Firebird 4 and later",
    ),
    Text(
        "decfloat_traps",
        "list of the engine's names",
        Says("the engine's"),
        "Which DECFLOAT conditions are errors. Firebird 4 and later",
    ),
    Text(
        "search_path",
        "list of schemas",
        Says("the engine's"),
        "Where unqualified names are looked up. Firebird 6 and later",
    ),
    Text(
        "parallel_workers",
        "1 to 32767",
        Says("the server's"),
        "Threads that the server may use for tasks such as creating an index. Firebird 5 and later",
    ),
    Text("no_db_triggers", FLAG, Is("false"), "Disables the triggers of the database; for its owner only"),
    Text("no_gc", FLAG, Is("false"), "Leaves old record versions alone"),
    Text("process_name", "text", Says("the executable"), "Name of this process in the monitoring tables"),
    Text(
        "db_key",
        "`env:NAME`, `file:PATH`, `cmd:COMMAND`",
        Says("`FIREARROW_DB_KEY`"),
        "Source of the key of an encrypted database. ¹",
    ),
    Text(
        "db_key_in_clear",
        FLAG,
        Is("false"),
        "Whether the key may be sent on an unencrypted connection, where anyone on the network path can read it. ¹",
    ),
    Text(
        "config",
        "lines of firebird.conf",
        Says("–"),
        "Configuration of this attachment; for the embedded engine only. ¹",
    ),
    Text(
        "client_library",
        "path",
        Says("see [the embedded engine](../README.md#the-embedded-engine)"),
        "The client library or the folder of the engine to load; for the embedded engine only. ¹",
    ),
    Text(
        "server_mode",
        "`super`, `classic`",
        Says("the engine's"),
        "How to share the database with other processes; for the embedded engine only",
    ),
    Text("create_if_missing", FLAG, Is("false"), "Creates the database if it does not exist"),
    Text("overwrite", FLAG, Is("false"), "When creating: replaces a database that exists. ¹"),
    Text(
        "page_size",
        "`4096`, `8192`, `16384`, `32768`",
        Says("the engine's"),
        "When creating: bytes of a page",
    ),
    Text("db_charset", "name", Says("UTF8"), "When creating: default character set of the columns"),
    Text(
        "force_writes",
        FLAG,
        Says("the engine's"),
        "When creating: whether every write goes to the disk at once",
    ),
    Text(
        "none_encoding",
        "`utf8`, `utf8_lossy`, `binary`, or a code page such as `windows-1252`",
        Is("utf8"),
        "Encoding of CHARACTER SET NONE text, in results and parameters. SQL is sent as UTF-8, and so are its literals: use \
         parameters",
    ),
    Text("trim_char", FLAG, Is("false"), "Whether to cut off trailing blanks of CHAR values"),
    Text("int128", "`decimal128`, `decimal256`, `utf8`", Is("decimal128"), "INT128 columns"),
    Text("decfloat", "`utf8`, `float64`, `decimal128(p,s)`", Is("utf8"), "DECFLOAT columns"),
    Text("timestamptz", "`utc`, `with_offset`, `utf8`", Is("utc"), "TIMESTAMP WITH TIME ZONE columns"),
    Text("timetz", "`utf8`, `time64_utc`", Is("utf8"), "TIME WITH TIME ZONE columns"),
    Text("binary", "`fixed`, `binary`", Is("fixed"), "BINARY(n) columns"),
    Text("text", "`utf8`, `large_utf8`, `utf8_view`", Is("utf8"), "Text columns"),
    Text("blobs", "`adaptive`, `inline`, `pipelined`, `lazy`", Is("adaptive"), "BLOB columns; see below"),
    Text(
        "max_blob",
        "bytes from 1 on",
        Is("1073741824"),
        "Longest BLOB or array that is read as a value; a longer one is an error",
    ),
    Text(
        "decimal_precision",
        "`declared`, `storage`, `range`",
        Is("declared"),
        "Source of the precision of NUMERIC and DECIMAL columns",
    ),
    Text("driver", "text", Says("–"), "Ignored: the name of the ODBC driver"),
];

const HEAD: &str = "# Options of connection strings

The test `document` of the client writes this page; run it with `FIREARROW_UPDATE_DOCS=1` to update the page. Names, words and
letters of values may be in any case, and `_` in names may be missing. Options follow the `?` of a URL, separated by `&`, or stand
in a list of keywords. Many have further names, those of other drivers.

| option | values | default | what it does |
|---|---|---|---|
";

const FOOT: &str = "
¹ Refused in connection strings, because it chooses code to run, secrets to send or files to replace. The application sets it with
`Config::set`, or vouches for the text with `Config::parse_trusted`.

## Which policy for BLOBs

| `blobs=` | when |
|---|---|
| `adaptive` | Nearly always. Contents come with the batch. Earlier executions of the statement and the link decide whether short BLOBs come with their rows or are requested after them |
| `inline` | Short BLOBs that are all read, on Firebird 5.0.3 or later: no requests for them. Older servers do as with `pipelined` |
| `pipelined` | Long BLOBs, or a link on which BLOBs of rows that nobody reads would cost too much: all are requested after their rows, hundreds at a time |
| `lazy` | Few of many BLOBs are read, or they are too long for memory: columns hold ids, which the API reads on demand or as a stream within the transaction. The command refuses it for files |
";

fn page() -> String {
    let mut page = HEAD.to_owned();
    for Text(name, values, default, meaning) in TEXTS {
        let default = match default {
            Is(value) => format!("`{value}`"),
            Says(words) => (*words).to_owned(),
        };
        let _ = writeln!(page, "| `{name}` | {values} | {default} | {meaning} |");
    }
    page + FOOT
}

#[test]
fn document() {
    firearrow_testkit::keep_document("docs/connection-options.md", &page());
}

#[test]
fn every_option_has_its_text() {
    let names: Vec<&str> = SPECS.iter().map(|spec: &Spec| spec.name).collect();
    let described: Vec<&str> = TEXTS.iter().map(|text| text.0).collect();
    assert_eq!(names, described);
}

#[test]
fn defaults_and_words_are_what_the_page_says() {
    let plain = || parse_trusted("srv:x").expect("valid");
    for (Text(name, values, default, _), spec) in TEXTS.iter().zip(SPECS) {
        let mut config = plain();
        if let Is(value) = default {
            config.set(name, value).unwrap_or_else(|error| panic!("{name}: {error}"));
            let changed = Config { read: Vec::new(), ..config.clone() };
            assert_eq!(changed, plain(), "{name}");
            assert_eq!(config.read_options(), plain().read_options(), "{name}");
        }
        // Words in backticks can be set; what is only an example, too.
        let is_form = |word: &str| {
            ["±hh:mm", "decimal128(p,s)", "env:NAME", "file:PATH", "cmd:COMMAND", ";"].contains(&word)
        };
        for word in values.split('`').skip(1).step_by(2).filter(|word| !is_form(word)) {
            if spec.key != Key::Path {
                config.set(name, word).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
}
