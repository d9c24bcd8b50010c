//! What most tests begin with.

use arrow::array::{ArrayRef, RecordBatch};
use firearrow::config::Target as Place;
use firearrow::{Config, Connection, Cursor};
use firearrow_testkit::Target;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// The configuration for a database of `target`.
pub(crate) fn config(target: &Target, url: &str) -> Config {
    let mut config = Config::parse(url).expect("the testkit's URLs are valid");
    if let Target::Embedded(embedded) = target {
        config.client_library = Some(embedded.engine.display().to_string());
    }
    // No test may hang: a read that takes this long is a failure.
    config.read_timeout = Some(Duration::from_secs(60));
    config
}

/// A connection to a new, empty database.
pub(crate) fn fresh(target: &Target) -> Connection {
    Connection::open(&fresh_closed(target)).expect("it is there")
}

/// The configuration of a new, empty database that nobody has opened.
pub(crate) fn fresh_closed(target: &Target) -> Config {
    let create = |url: &str| {
        let created = Connection::create(&config(target, url)).expect("a fresh database can be created");
        created.close().expect("nothing is open");
    };
    config(target, &target.copied_url("empty", create))
}

/// The configuration for the database of `original`, reached at another address: that of a proxy, most likely. `options`
/// are those of a URL.
pub(crate) fn at(target: &Target, original: &Config, address: SocketAddr, options: &str) -> Config {
    let Place::Remote { database, .. } = &original.target else { panic!("{target} is not a server") };
    let url = target.server().url_at(address, Path::new(database));
    config(target, &if options.is_empty() { url } else { format!("{url}?{options}") })
}

/// All rows of a cursor.
pub(crate) fn rows(cursor: Cursor) -> RecordBatch {
    let schema = cursor.schema();
    let batches: Vec<RecordBatch> =
        cursor.collect::<Result<_, _>>().unwrap_or_else(|error| panic!("reading failed: {error}"));
    arrow::compute::concat_batches(&schema, &batches).expect("batches of one cursor have one schema")
}

/// All rows of a query.
pub(crate) fn query(connection: &Connection, sql: &str) -> RecordBatch {
    rows(connection.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")))
}

/// The first column of a query.
pub(crate) fn column(connection: &Connection, sql: &str) -> ArrayRef {
    query(connection, sql).column(0).clone()
}

/// Runs a statement that must succeed.
pub(crate) fn run(connection: &Connection, sql: &str) {
    connection.execute(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

/// Round trips that `work` takes.
pub(crate) fn cost<T>(connection: &Connection, work: impl FnOnce() -> T) -> u64 {
    let before = connection.wire_stats().round_trips;
    drop(work());
    connection.wire_stats().round_trips - before
}
