//! The table of all options; docs/adbc-options.md is written from it.

use std::fmt;

/// Which handles have an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(u8);

/// Options of databases, from which connections and statements inherit.
pub const DATABASE: Scope = Scope(1);
/// Options of connections, from which statements inherit.
pub const CONNECTION: Scope = Scope(2);
/// Options of statements.
pub const STATEMENT: Scope = Scope(4);
/// Options of connections that a database may have defaults for.
const SESSION: Scope = Scope(1 | 2);
/// Options of statements that databases and connections may have defaults for.
const ALL: Scope = Scope(1 | 2 | 4);

impl Scope {
    /// Whether it includes all of another one.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(DATABASE, "database"), (CONNECTION, "connection"), (STATEMENT, "statement")];
        let names: Vec<&str> =
            names.iter().filter(|(one, _)| self.has(*one)).map(|(_, name)| *name).collect();
        f.write_str(&names.join(", "))
    }
}

/// What values look like. All of them can be set and read as text, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// `true` or `false`.
    Flag,
    /// An integer.
    Int,
    /// A number.
    Double,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "string",
            Self::Flag => "true/false",
            Self::Int => "int",
            Self::Double => "double",
        })
    }
}

/// What can be done with an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It can be set and read.
    Write,
    /// It can be read only.
    Read,
    /// It can be set only: a secret.
    Secret,
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name.
    pub key: &'static str,
    /// The handles that have it.
    pub scope: Scope,
    /// What its values look like.
    pub kind: Kind,
    /// What can be done with it.
    pub access: Access,
    /// Its value if nobody sets it; empty if it has none then.
    pub default: &'static str,
    /// What it does.
    pub text: &'static str,
}

/// The option of this name.
pub fn find(key: &str) -> Option<&'static Spec> {
    OPTIONS.iter().find(|spec| spec.key == key)
}

const fn spec(
    key: &'static str,
    scope: Scope,
    kind: Kind,
    access: Access,
    default: &'static str,
    text: &'static str,
) -> Spec {
    Spec { key, scope, kind, access, default, text }
}

use Access::{Read, Secret, Write};
use Kind::{Double, Flag, Int, Text};

/// All options.
#[rustfmt::skip]
pub static OPTIONS: &[Spec] = &[
    spec("uri", DATABASE, Text, Write, "", "Where the database is: `firebird://user:password@host:port/database?option=value`, or any other connection string of firearrow; options below may follow the `?`. Read back without secrets"),
    spec("username", DATABASE, Text, Write, "", "User; instead of that of the URI"),
    spec("password", DATABASE, Text, Secret, "", "Password; instead of that of the URI"),
    spec("adbc.firebird.role", DATABASE, Text, Write, "", "SQL role to take on"),
    spec("adbc.firebird.charset", DATABASE, Text, Write, "UTF8", "Character set of the connection; UTF8 is the only one, and every text arrives as it"),
    spec("adbc.firebird.dialect", DATABASE, Int, Write, "3", "SQL dialect of queries and of databases that are created: `3`, or `1` for databases of that dialect"),
    spec("adbc.firebird.auth_plugins", DATABASE, Text, Write, "", "Authentication plugins in order of preference: Srp256, Srp, Srp512, Srp384, Srp224, Legacy_Auth. The last one is not among the defaults: it sends a weak hash of the password, and such a login cannot be encrypted"),
    spec("adbc.firebird.wire_crypt", DATABASE, Text, Write, "enabled", "Wire encryption: `disabled`, `enabled`, `required`. `required` is recommended: with `enabled`, a server that offers no encryption gets everything in clear text, see `adbc.firebird.warnings`"),
    spec("adbc.firebird.wire_crypt_plugins", DATABASE, Text, Write, "", "Ciphers in order of preference: ChaCha64, ChaCha, Arc4. Without one of those named, connecting fails"),
    spec("adbc.firebird.clear_text_warning", DATABASE, Text, Write, "remote", "When a connection that is not encrypted is worth a warning: `remote` = when the server's address is not a loopback one, `always`, `never`"),
    spec("adbc.firebird.allow_no_authentication", DATABASE, Flag, Write, "false", "Whether to connect to a server that asks for no proof of user and password; nobody knows then who it is"),
    spec("adbc.firebird.wire_compression", DATABASE, Flag, Write, "false", "Whether to ask for zlib compression"),
    spec("adbc.firebird.connect_timeout", DATABASE, Double, Write, "30", "Most seconds until the database is attached, resolving the host name included"),
    spec("adbc.firebird.read_timeout", DATABASE, Double, Write, "0", "Most seconds to wait for one answer of the server (a complete row, a piece of a BLOB, a response), the time to run a statement included; 0 = no limit"),
    spec("adbc.firebird.keepalive", DATABASE, Double, Write, "0", "Seconds of silence after which the client sends a keep-alive; 0 = never"),
    spec("adbc.firebird.session_timezone", DATABASE, Text, Write, "", "Time zone of the session, a region or `±hh:mm`; Firebird 4 and later"),
    spec("adbc.firebird.set_bind", DATABASE, Text, Write, "", "Rules of SET BIND without these words, joined by `;`; Firebird 4 and later"),
    spec("adbc.firebird.decfloat_round", DATABASE, Text, Write, "", "How DECFLOAT results are rounded; Firebird 4 and later"),
    spec("adbc.firebird.decfloat_traps", DATABASE, Text, Write, "", "Which DECFLOAT conditions are errors; Firebird 4 and later"),
    spec("adbc.firebird.parallel_workers", DATABASE, Int, Write, "", "Threads that the server may use for tasks such as creating an index; Firebird 5 and later"),
    spec("adbc.firebird.no_db_triggers", DATABASE, Flag, Write, "false", "Run without the triggers of the database"),
    spec("adbc.firebird.process_name", DATABASE, Text, Write, "", "Name of this process in the monitoring tables"),
    spec("adbc.firebird.db_key", DATABASE, Text, Secret, "", "Where the key of an encrypted database comes from: `env:NAME`, `file:PATH` or `cmd:COMMAND`. Refused in URIs; the environment variable `FIREARROW_DB_KEY` sets it, too. A command runs once for a connection, has no terminal, and is killed when `connect_timeout` is up"),
    spec("adbc.firebird.db_key_in_clear", DATABASE, Flag, Write, "false", "Whether the key may be sent on a connection that is not encrypted, where anyone on the network path can read it"),
    spec("adbc.firebird.client_library", DATABASE, Text, Write, "", "The client library or the folder of the engine to load; for the embedded engine only, and refused in a URI"),
    spec("adbc.firebird.server_mode", DATABASE, Text, Write, "", "How to share the database with other processes: `super`, `classic`; for the embedded engine only"),
    spec("adbc.firebird.config", DATABASE, Text, Write, "", "Lines of firebird.conf for this attachment; for the embedded engine only, and refused in a URI"),
    spec("adbc.firebird.create_if_missing", DATABASE, Flag, Write, "false", "Create the database if it does not exist"),
    spec("adbc.firebird.page_size", DATABASE, Int, Write, "", "When creating: bytes of a page"),
    spec("adbc.firebird.query.max_inline_blob", DATABASE, Int, Write, "", "Largest BLOB that may come along with its row, in bytes; 0 = none. Firebird 5.0.3 and later"),
    spec("adbc.connection.autocommit", SESSION, Flag, Write, "true", "Whether every execution has a transaction of its own. Switching it on commits"),
    spec("adbc.connection.readonly", SESSION, Flag, Write, "false", "Whether new transactions refuse to write (SQLSTATE 25006)"),
    spec("adbc.connection.transaction.isolation_level", SESSION, Text, Write, "adbc.connection.transaction.isolation.default", "Behind `adbc.connection.transaction.isolation.`: `default`, `read_uncommitted` and `read_committed` = READ COMMITTED READ CONSISTENCY (before Firebird 4: RECORD_VERSION, and by default a snapshot for each autocommitted query); `repeatable_read` and `snapshot` = SNAPSHOT; `serializable` = SNAPSHOT TABLE STABILITY. For transactions that begin later"),
    spec("adbc.firebird.lock_timeout", SESSION, Int, Write, "-1", "Seconds to wait for locks of other transactions; -1 = until they are gone, 0 = fail at once"),
    spec("adbc.firebird.ddl_autocommit", SESSION, Flag, Write, "true", "Whether DDL is committed at once, in a transaction of its own, in manual mode too. If the connection's own transaction is in its way, has changed nothing, sees what is committed and has no open result, that one is committed as well"),
    spec("adbc.firebird.snapshot_number", SESSION, Int, Write, "0", "Set: new transactions read the snapshot of this number, as long as the transaction is active that it comes from; 0 = their own. Read: the number of the running transaction, or what was set. Firebird 4 and later"),
    spec("adbc.firebird.statement_timeout", SESSION, Int, Write, "0", "Most milliseconds for each statement of the session; 0 = no limit. Firebird 4 and later"),
    spec("adbc.firebird.idle_timeout", SESSION, Int, Write, "0", "Seconds without a call after which the server closes the session; 0 = never. Firebird 4 and later"),
    spec("adbc.firebird.server_version", CONNECTION, Text, Read, "", "Version of the engine, such as `5.0.4`"),
    spec("adbc.firebird.ods_version", CONNECTION, Text, Read, "", "On-disk structure of the database, such as `13.1`"),
    spec("adbc.firebird.attachment_id", CONNECTION, Int, Read, "", "Number of the attachment"),
    spec("adbc.firebird.protocol_version", CONNECTION, Int, Read, "", "Protocol version; 0 for the embedded engine"),
    spec("adbc.firebird.wire_crypt_plugin", CONNECTION, Text, Read, "", "Cipher of the connection; empty if it is not encrypted"),
    spec("adbc.firebird.warnings", CONNECTION, Text, Read, "", "What should be known about the connection although it works, a line each: that it is not encrypted, and what the server warned of. Empty if there is nothing"),
    spec("adbc.firebird.transaction_id", CONNECTION, Int, Read, "", "Number of the running transaction, in manual mode"),
    spec("adbc.firebird.none_encoding", ALL, Text, Write, "utf8", "What bytes of CHARACTER SET NONE mean: `utf8` (anything else is INVALID_DATA), `utf8_lossy`, `binary`, or a code page such as `windows-1252`"),
    spec("adbc.firebird.type.trim_char", ALL, Flag, Write, "false", "Whether blanks at the end of CHAR values are cut off"),
    spec("adbc.firebird.type.int128", ALL, Text, Write, "decimal128", "INT128 columns: `decimal128`, `decimal256`, `utf8`"),
    spec("adbc.firebird.type.decfloat", ALL, Text, Write, "utf8", "DECFLOAT columns: `utf8`, `float64`, `decimal128(p,s)`"),
    spec("adbc.firebird.type.timestamptz", ALL, Text, Write, "utc", "TIMESTAMP WITH TIME ZONE columns: `utc`, `with_offset` (arrow.timestamp_with_offset), `utf8` (`2024-10-27 02:30:00.0000 +02:00 Europe/Berlin`, which is understood as a parameter, too)"),
    spec("adbc.firebird.type.timetz", ALL, Text, Write, "utf8", "TIME WITH TIME ZONE columns: `utf8`, `time64_utc`"),
    spec("adbc.firebird.type.binary", ALL, Text, Write, "fixed", "BINARY(n) columns: `fixed`, `binary`"),
    spec("adbc.firebird.type.text", ALL, Text, Write, "utf8", "Text columns: `utf8`, `large_utf8`, `utf8_view`"),
    spec("adbc.firebird.type.blobs", ALL, Text, Write, "adaptive", "How BLOBs travel: `adaptive`, `inline`, `pipelined`; `lazy` = ids as uint64"),
    spec("adbc.firebird.type.max_blob", ALL, Int, Write, "1073741824", "Longest BLOB or array that is read as a value, in bytes; a longer one is an error that names its column and row"),
    spec("adbc.firebird.type.decimal_precision", ALL, Text, Write, "declared", "Precision of NUMERIC and DECIMAL: `declared` (looked up), `storage` (4, 9, 18, 38), `range` (5, 10, 19, 39)"),
    spec("adbc.firebird.query.batch_rows", ALL, Int, Write, "8192", "Most rows of a batch"),
    spec("adbc.firebird.query.batch_bytes", ALL, Int, Write, "16777216", "Most bytes of a batch; a single row may be larger"),
    spec("adbc.firebird.query.timeout", ALL, Int, Write, "0", "Most milliseconds for an execution, reading its rows included (TIMEOUT); 0 = no limit"),
    spec("adbc.firebird.query.prefetch", ALL, Int, Write, "0", "Batches that are read and decoded ahead, on a thread of their own, while the caller works on the ones before; 0 = none. Not for queries that are run for many rows of parameters"),
    spec("adbc.statement.bind_by_name", ALL, Flag, Write, "false", "Whether fields of bound data go to `:name` markers by name instead of to `?` by position"),
    spec("adbc.ingest.target_table", STATEMENT, Text, Write, "", "The table to ingest into; instead of a query"),
    spec("adbc.ingest.mode", ALL, Text, Write, "adbc.ingest.mode.create", "`adbc.ingest.mode.create`, `.append`, `.replace`, `.create_append`; `adbc.firebird.ingest.mode.upsert` updates rows with the same key and inserts the others. `replace` keeps the old rows until the new ones are whole: in one transaction if the table has the columns of the data, else by way of a table `FIREARROW$…` that is committed first, and is committed at once in manual mode, too"),
    spec("adbc.ingest.target_catalog", STATEMENT, Text, Write, "", "There are no catalogs: empty"),
    spec("adbc.ingest.target_db_schema", STATEMENT, Text, Write, "", "There are no schemas before Firebird 6: empty"),
    spec("adbc.ingest.temporary", ALL, Flag, Write, "false", "Create a global temporary table whose rows only this connection sees. It is dropped when the connection ends"),
    spec("adbc.firebird.ingest.text", ALL, Text, Write, "blob", "Text columns of new tables: `blob`, `varchar(n)`, or `auto` = as long as needed if the data is one batch and rows stay below 32 KB, else `blob`"),
    spec("adbc.firebird.ingest.binary", ALL, Text, Write, "blob", "Binary columns of new tables: `blob`, `varbinary(n)`, `auto`"),
    spec("adbc.firebird.ingest.key", ALL, Text, Write, "", "Columns that `upsert` finds rows by, with commas between; the primary key if empty"),
    spec("adbc.firebird.ingest.commit_rows", ALL, Int, Write, "0", "Rows after which ingestion commits, in autocommit mode; 0 = all rows or none. After a failure the commits before it stay, except where the rows replace others"),
    spec("adbc.firebird.ingest.batch_bytes", ALL, Int, Write, "1048576", "Most bytes of encoded rows that are sent in one piece; several are under way. From 4096 to 16777216"),
    spec("adbc.firebird.ingest.time_rounding", ALL, Text, Write, "floor", "Digits of times below 100 µs, in bound data as in ingested: `floor` cuts them off, `error` refuses them"),
    spec("adbc.statement.exec.incremental", STATEMENT, Flag, Write, "false", "Only `false`"),
    spec("adbc.statement.exec.progress", STATEMENT, Double, Read, "", "Rows that the last execution gave so far; or took, if it ingests or has no result. This and the counters below are read at once, even while it goes on"),
    spec("adbc.statement.exec.max_progress", STATEMENT, Double, Read, "", "-1: it is not known before the end"),
    spec("adbc.firebird.partitions", ALL, Int, Write, "0", "How many partitions a query is divided into at most: 0 as many as this machine has processors, 1 never divides"),
    spec("adbc.firebird.partitions.unsafe", ALL, Flag, Write, "false", "Whether queries are divided before Firebird 4, too, where partitions see different states of the data"),
    spec("adbc.firebird.plan", STATEMENT, Text, Read, "", "The plan of the query, in its short form"),
    spec("adbc.firebird.plan_detailed", STATEMENT, Text, Read, "", "The plan of the query, one line for each access path"),
    spec("adbc.firebird.records.selected", STATEMENT, Int, Read, "", "Rows that the last execution read, as the engine counts them; rows of its result so far if it has one"),
    spec("adbc.firebird.records.inserted", STATEMENT, Int, Read, "", "Rows that the last execution inserted; no value where the engine does not tell"),
    spec("adbc.firebird.records.updated", STATEMENT, Int, Read, "", "Rows that the last execution updated; no value where the engine does not tell, as for batches of updates"),
    spec("adbc.firebird.records.deleted", STATEMENT, Int, Read, "", "Rows that the last execution deleted; no value where the engine does not tell, as for batches of deletions"),
    spec("adbc.firebird.stats.rows", STATEMENT, Int, Read, "", "Rows of the last execution; the same as `exec.progress`"),
    spec("adbc.firebird.stats.batches", STATEMENT, Int, Read, "", "Batches of the last execution"),
    spec("adbc.firebird.stats.bytes_received", STATEMENT, Int, Read, "", "Bytes that the result of the last execution brought, before decompression; 0 for the embedded engine"),
    spec("adbc.firebird.stats.roundtrips", STATEMENT, Int, Read, "", "Round trips for the result of the last execution; 0 for the embedded engine"),
    spec("adbc.firebird.stats.fetch_ns", STATEMENT, Int, Read, "", "Nanoseconds that reading the result of the last execution took, decoding included"),
    spec("adbc.firebird.stats.decode_ns", STATEMENT, Int, Read, "", "Nanoseconds of these that went into making Arrow values"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_there_once() {
        for spec in OPTIONS {
            assert_eq!(OPTIONS.iter().filter(|other| other.key == spec.key).count(), 1, "{}", spec.key);
            assert!(!spec.text.contains('|') && !spec.text.ends_with('.'), "{}", spec.key);
        }
    }
}
