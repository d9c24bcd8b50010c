//! The table of all options; docs/adbc-options.md is generated from it.

use std::fmt;

/// The kinds of handles that have an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope(u8);

/// Options of databases, from which connections and statements inherit.
pub const DATABASE: Scope = Scope(1);
/// Options of connections, from which statements inherit.
pub const CONNECTION: Scope = Scope(2);
/// Options of statements.
pub const STATEMENT: Scope = Scope(4);
/// Options of connections that also have defaults in databases.
const SESSION: Scope = Scope(1 | 2);
/// Options of statements that also have defaults in databases and connections.
const ALL: Scope = Scope(1 | 2 | 4);

impl Scope {
    /// Whether this scope includes all of `other`.
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

/// The type of an option's values. All of them can also be set and read as text.
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

/// How an option can be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It can be set and read.
    Write,
    /// It can only be read.
    Read,
    /// It can only be set: a secret.
    Secret,
}

/// An option.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The name.
    pub key: &'static str,
    /// The handles that have it.
    pub scope: Scope,
    /// The type of its values.
    pub kind: Kind,
    /// How it can be accessed.
    pub access: Access,
    /// The default value; empty if there is none.
    pub default: &'static str,
    /// The description.
    pub text: &'static str,
}

/// Returns the option of this name.
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
    spec("uri", DATABASE, Text, Write, "", "The database: `firebird://user:password@host:port/database?option=value`, or any other connection string of firearrow; the options below may follow the `?`. Reading it omits secrets"),
    spec("username", DATABASE, Text, Write, "", "User name; overrides that of the URI"),
    spec("password", DATABASE, Text, Secret, "", "Password; overrides that of the URI"),
    spec("adbc.firebird.role", DATABASE, Text, Write, "", "SQL role of the session"),
    spec("adbc.firebird.charset", DATABASE, Text, Write, "UTF8", "Character set of the connection; only UTF8 is supported, and all text arrives as UTF-8"),
    spec("adbc.firebird.dialect", DATABASE, Int, Write, "3", "SQL dialect of queries and of new databases: `3`, or `1` for databases of that dialect"),
    spec("adbc.firebird.auth_plugins", DATABASE, Text, Write, "", "Authentication plugins in order of preference: Srp256, Srp, Srp512, Srp384, Srp224, Legacy_Auth. Legacy_Auth is not among the defaults: it sends a weak hash of the password, and such a login cannot be encrypted"),
    spec("adbc.firebird.wire_crypt", DATABASE, Text, Write, "enabled", "Wire encryption: `disabled`, `enabled`, `required`. `required` is recommended: with `enabled`, a server that offers no encryption receives everything in clear text; see `adbc.firebird.warnings`"),
    spec("adbc.firebird.wire_crypt_plugins", DATABASE, Text, Write, "", "Ciphers in order of preference: ChaCha64, ChaCha, Arc4. Connecting fails if the server supports none of those listed"),
    spec("adbc.firebird.clear_text_warning", DATABASE, Text, Write, "remote", "When to warn about an unencrypted connection: `remote` = unless the server has a loopback address, `always`, `never`"),
    spec("adbc.firebird.allow_no_authentication", DATABASE, Flag, Write, "false", "Whether to connect to a server that requests no authentication; its identity is then unverified"),
    spec("adbc.firebird.wire_compression", DATABASE, Text, Write, "false", "Whether to ask for zlib compression: `true`, `false`, or `auto` = if an earlier connection of this process to the same server measured less than 64 Mbit/s and a round trip above 1 ms. Servers compress about 10 MB/s per processor, so it pays only on links below 64 Mbit/s"),
    spec("adbc.firebird.connect_timeout", DATABASE, Double, Write, "30", "Time limit in seconds for attaching to the database, including resolving the host name"),
    spec("adbc.firebird.read_timeout", DATABASE, Double, Write, "0", "Time limit in seconds for one answer of the server (a complete row, a piece of a BLOB, a response), including the time to run a statement; 0 = no limit"),
    spec("adbc.firebird.keepalive", DATABASE, Double, Write, "0", "Seconds of silence after which the client sends a keep-alive; 0 = never"),
    spec("adbc.firebird.session_timezone", DATABASE, Text, Write, "", "Time zone of the session, a region or `±hh:mm`; Firebird 4 and later"),
    spec("adbc.firebird.set_bind", DATABASE, Text, Write, "", "SET BIND rules, without the words SET BIND, separated by `;`; Firebird 4 and later"),
    spec("adbc.firebird.decfloat_round", DATABASE, Text, Write, "", "Rounding mode of DECFLOAT results; Firebird 4 and later"),
    spec("adbc.firebird.decfloat_traps", DATABASE, Text, Write, "", "Which DECFLOAT conditions are errors; Firebird 4 and later"),
    spec("adbc.firebird.parallel_workers", DATABASE, Int, Write, "", "Threads that the server may use for tasks such as creating an index; Firebird 5 and later"),
    spec("adbc.firebird.no_db_triggers", DATABASE, Flag, Write, "false", "Disables database triggers"),
    spec("adbc.firebird.process_name", DATABASE, Text, Write, "", "Name of this process in the monitoring tables"),
    spec("adbc.firebird.db_key", DATABASE, Text, Secret, "", "Source of the key of an encrypted database: `env:NAME`, `file:PATH` or `cmd:COMMAND`. Refused in URIs; the environment variable `FIREARROW_DB_KEY` sets it, too. A command runs once per connection, has no terminal, and is killed when `connect_timeout` expires"),
    spec("adbc.firebird.db_key_in_clear", DATABASE, Flag, Write, "false", "Whether the key may be sent on an unencrypted connection, where anyone on the network path can read it"),
    spec("adbc.firebird.client_library", DATABASE, Text, Write, "", "The client library or the folder of the engine to load; for the embedded engine only, and refused in a URI"),
    spec("adbc.firebird.server_mode", DATABASE, Text, Write, "", "How to share the database with other processes: `super`, `classic`; for the embedded engine only"),
    spec("adbc.firebird.config", DATABASE, Text, Write, "", "Lines of firebird.conf for this attachment; for the embedded engine only, and refused in a URI"),
    spec("adbc.firebird.create_if_missing", DATABASE, Flag, Write, "false", "Creates the database if it does not exist"),
    spec("adbc.firebird.page_size", DATABASE, Int, Write, "", "Page size in bytes, when creating a database"),
    spec("adbc.firebird.query.max_inline_blob", DATABASE, Int, Write, "", "Longest BLOB that the server sends along with its row, in bytes; 0 = none. Firebird 5.0.3 and later"),
    spec("adbc.connection.autocommit", SESSION, Flag, Write, "true", "Whether every execution has its own transaction. Switching it on commits the current one"),
    spec("adbc.connection.readonly", SESSION, Flag, Write, "false", "Whether new transactions refuse to write (SQLSTATE 25006)"),
    spec("adbc.connection.transaction.isolation_level", SESSION, Text, Write, "adbc.connection.transaction.isolation.default", "`adbc.connection.transaction.isolation.` followed by: `default`, `read_uncommitted` and `read_committed` = READ COMMITTED READ CONSISTENCY (before Firebird 4: RECORD_VERSION, and by default a snapshot for each autocommitted query); `repeatable_read` and `snapshot` = SNAPSHOT; `serializable` = SNAPSHOT TABLE STABILITY. Applies to transactions that start later"),
    spec("adbc.firebird.lock_timeout", SESSION, Int, Write, "-1", "Seconds to wait for locks of other transactions; -1 = no limit, 0 = fail at once"),
    spec("adbc.firebird.ddl_autocommit", SESSION, Flag, Write, "true", "Whether DDL is committed at once, in its own transaction, in manual mode, too. If the connection's transaction blocks the DDL, it is committed as well, provided that it has changed nothing, sees committed changes and has no open result"),
    spec("adbc.firebird.snapshot_number", SESSION, Int, Write, "0", "When set: new transactions read the snapshot with this number, while the transaction that owns it is active; 0 = their own. When read: the number of the running transaction, or the value set. Firebird 4 and later"),
    spec("adbc.firebird.statement_timeout", SESSION, Int, Write, "0", "Time limit in milliseconds for each statement of the session; 0 = no limit. Firebird 4 and later"),
    spec("adbc.firebird.idle_timeout", SESSION, Int, Write, "0", "Seconds without a call after which the server closes the session; 0 = never. Firebird 4 and later"),
    spec("adbc.firebird.server_version", CONNECTION, Text, Read, "", "Version of the engine, such as `5.0.4`"),
    spec("adbc.firebird.ods_version", CONNECTION, Text, Read, "", "On-disk structure of the database, such as `13.1`"),
    spec("adbc.firebird.attachment_id", CONNECTION, Int, Read, "", "Number of the attachment"),
    spec("adbc.firebird.protocol_version", CONNECTION, Int, Read, "", "Protocol version; 0 for the embedded engine"),
    spec("adbc.firebird.wire_crypt_plugin", CONNECTION, Text, Read, "", "Cipher of the connection; empty if it is not encrypted"),
    spec("adbc.firebird.warnings", CONNECTION, Text, Read, "", "Warnings about the connection, one per line: that it is not encrypted, and the server's warnings while it attached. Empty if there are none"),
    spec("adbc.firebird.statement_warnings", CONNECTION, Text, Read, "", "The last 100 warnings that statements of this connection have caused, one per line. Empty if there are none"),
    spec("adbc.firebird.transaction_id", CONNECTION, Int, Read, "", "Number of the running transaction, in manual mode"),
    spec("adbc.firebird.none_encoding", ALL, Text, Write, "utf8", "Encoding of CHARACTER SET NONE text: `utf8` (anything else is INVALID_DATA), `utf8_lossy`, `binary`, or a code page such as `windows-1252`, in which parameters are written, too; literals in SQL are UTF-8"),
    spec("adbc.firebird.type.trim_char", ALL, Flag, Write, "false", "Whether to cut off trailing blanks of CHAR values"),
    spec("adbc.firebird.type.int128", ALL, Text, Write, "decimal128", "INT128 columns: `decimal128`, `decimal256`, `utf8`"),
    spec("adbc.firebird.type.decfloat", ALL, Text, Write, "utf8", "DECFLOAT columns: `utf8`, `float64`, `decimal128(p,s)`"),
    spec("adbc.firebird.type.timestamptz", ALL, Text, Write, "utc", "TIMESTAMP WITH TIME ZONE columns: `utc`, `with_offset` (arrow.timestamp_with_offset), `utf8` (`2024-10-27 02:30:00.0000 +02:00 Europe/Berlin`, which parameters accept, too)"),
    spec("adbc.firebird.type.timetz", ALL, Text, Write, "utf8", "TIME WITH TIME ZONE columns: `utf8`, `time64_utc`"),
    spec("adbc.firebird.type.binary", ALL, Text, Write, "fixed", "BINARY(n) columns: `fixed`, `binary`"),
    spec("adbc.firebird.type.text", ALL, Text, Write, "utf8", "Text columns: `utf8`, `large_utf8`, `utf8_view`"),
    spec("adbc.firebird.type.blobs", ALL, Text, Write, "adaptive", "How BLOBs are fetched: `adaptive`, `inline`, `pipelined`; `lazy` = ids as uint64"),
    spec("adbc.firebird.type.max_blob", ALL, Int, Write, "1073741824", "Longest BLOB or array read as a value, in bytes; a longer one is an error that names its column and row"),
    spec("adbc.firebird.type.decimal_precision", ALL, Text, Write, "declared", "Precision of NUMERIC and DECIMAL: `declared` (looked up), `storage` (4, 9, 18, 38), `range` (5, 10, 19, 39)"),
    spec("adbc.firebird.query.batch_rows", ALL, Int, Write, "8192", "Maximum rows per batch"),
    spec("adbc.firebird.query.batch_bytes", ALL, Int, Write, "16777216", "Maximum bytes per batch; a single row may be larger"),
    spec("adbc.firebird.query.full_batches", ALL, Flag, Write, "false", "Whether every batch but the last reaches a limit. Otherwise the first batches end early, so that the first rows do not wait for thousands of others; rows that wait for the contents of their BLOBs do not end a batch early"),
    spec("adbc.firebird.query.timeout", ALL, Int, Write, "0", "Time limit in milliseconds for an execution, including reading its rows (TIMEOUT); 0 = no limit"),
    spec("adbc.firebird.query.prefetch", ALL, Int, Write, "0", "Number of batches to read and decode ahead on a separate thread while the caller processes earlier ones; 0 = none. Not for queries with many parameter rows"),
    spec("adbc.firebird.query.parallel", ALL, Int, Write, "1", "Number of readers of a query, in the order of one; 0 = the number of processors of this machine. Each is a connection beside the one that leads them, so 4 readers are 5 connections; 1 = that connection alone. Firebird 4 and later, for plain queries of one larger table; any other is read by one"),
    spec("adbc.statement.bind_by_name", ALL, Flag, Write, "false", "Whether to bind data fields to `:name` markers by name instead of to `?` by position"),
    spec("adbc.ingest.target_table", STATEMENT, Text, Write, "", "The table to ingest into, instead of running a query"),
    spec("adbc.ingest.mode", ALL, Text, Write, "adbc.ingest.mode.create", "`adbc.ingest.mode.create`, `.append`, `.replace`, `.create_append`; `adbc.firebird.ingest.mode.upsert` updates rows with the same key and inserts the others. `replace` keeps the old rows until the new ones are complete: in one transaction if the table has the columns of the data, otherwise through a table `FIREARROW$…`, which is committed first, even in manual mode"),
    spec("adbc.ingest.target_catalog", STATEMENT, Text, Write, "", "Must be empty: Firebird has no catalogs"),
    spec("adbc.ingest.target_db_schema", STATEMENT, Text, Write, "", "Must be empty: Firebird has no schemas before version 6"),
    spec("adbc.ingest.temporary", ALL, Flag, Write, "false", "Creates a global temporary table, whose rows only this connection sees. It is dropped when the connection ends"),
    spec("adbc.firebird.ingest.upper_case", ALL, Flag, Write, "false", "Whether simple lower-case names of a new table and its columns become upper case, as in SQL without quotes. Tables and columns that exist need no option: where none has the name exactly, the only one that differs in letter case alone is meant"),
    spec("adbc.firebird.ingest.text", ALL, Text, Write, "auto", "Text columns of new tables: `blob`, `varchar(n)`, or `auto` = a varchar with room for twice what the data needs, at least 64 characters, for as many columns as a row of 32 KB holds; `blob` for the others, and if there is more than 64 MiB of data or no row"),
    spec("adbc.firebird.ingest.binary", ALL, Text, Write, "blob", "Binary columns of new tables: `blob`, `varbinary(n)`, `auto` (as for text)"),
    spec("adbc.firebird.ingest.key", ALL, Text, Write, "", "Columns by which `upsert` finds rows, separated by commas; the primary key if empty"),
    spec("adbc.firebird.ingest.commit_rows", ALL, Int, Write, "0", "Number of rows after which ingestion commits, in autocommit mode; 0 = all rows or none. Rows committed before a failure stay, except in mode `replace`"),
    spec("adbc.firebird.ingest.batch_bytes", ALL, Int, Write, "1048576", "Maximum bytes of encoded rows per piece; several pieces are in flight. From 4096 to 16777216"),
    spec("adbc.firebird.ingest.time_rounding", ALL, Text, Write, "floor", "Digits of times below 100 µs, in bound and ingested data: `floor` cuts them off, `error` refuses them"),
    spec("adbc.statement.exec.incremental", STATEMENT, Flag, Write, "false", "Only `false`"),
    spec("adbc.statement.exec.progress", STATEMENT, Double, Read, "", "Rows that the last execution has returned so far, or accepted if it ingests or returns no result. This option and the counters below can be read while the execution runs"),
    spec("adbc.statement.exec.max_progress", STATEMENT, Double, Read, "", "Always -1: unknown before the end"),
    spec("adbc.firebird.partitions", ALL, Int, Write, "0", "Maximum number of partitions of a query; 0 = the number of processors of this machine, 1 = never divide"),
    spec("adbc.firebird.partitions.unsafe", ALL, Flag, Write, "false", "Whether to divide queries even before Firebird 4, where partitions see different states of the data"),
    spec("adbc.firebird.plan", STATEMENT, Text, Read, "", "The plan of the query, in its short form"),
    spec("adbc.firebird.plan_detailed", STATEMENT, Text, Read, "", "The plan of the query, one line per access path"),
    spec("adbc.firebird.records.selected", STATEMENT, Int, Read, "", "Rows that the last execution read, as counted by the engine; for a query, the rows returned so far"),
    spec("adbc.firebird.records.inserted", STATEMENT, Int, Read, "", "Rows that the last execution inserted; no value if the engine does not report it"),
    spec("adbc.firebird.records.updated", STATEMENT, Int, Read, "", "Rows that the last execution updated; no value if the engine does not report it, as for bulk updates"),
    spec("adbc.firebird.records.deleted", STATEMENT, Int, Read, "", "Rows that the last execution deleted; no value if the engine does not report it, as for bulk deletions"),
    spec("adbc.firebird.stats.rows", STATEMENT, Int, Read, "", "Rows of the last execution; the same as `exec.progress`"),
    spec("adbc.firebird.stats.batches", STATEMENT, Int, Read, "", "Batches of the last execution"),
    spec("adbc.firebird.stats.bytes_received", STATEMENT, Int, Read, "", "Bytes received for the result of the last execution, before decompression; 0 for the embedded engine"),
    spec("adbc.firebird.stats.roundtrips", STATEMENT, Int, Read, "", "Round trips for the result of the last execution; 0 for the embedded engine"),
    spec("adbc.firebird.stats.fetch_ns", STATEMENT, Int, Read, "", "Nanoseconds spent reading the result of the last execution, including decoding"),
    spec("adbc.firebird.stats.decode_ns", STATEMENT, Int, Read, "", "Nanoseconds of `stats.fetch_ns` spent on making Arrow values"),
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
