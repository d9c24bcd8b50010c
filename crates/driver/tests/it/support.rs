//! What most tests begin with.

use arrow::array::{ArrayRef, AsArray, Int32Array, RecordBatch, RecordBatchIterator};
use arrow::datatypes::Int64Type;
use firearrow::Config;
use firearrow_driver::{Result, Rows, Session, SessionOptions, Statement, StatementOptions};
use firearrow_testkit::Target;
use std::sync::Arc;
use std::time::Duration;

/// The configuration for a database of `target`, which is created if need be.
pub(crate) fn config(target: &Target, url: &str) -> Config {
    let mut config = Config::parse(url).expect("the testkit's URLs are valid");
    if let Target::Embedded(embedded) = target {
        config.client_library = Some(embedded.engine.display().to_string());
    }
    // No test may hang: a read that takes this long is a failure.
    config.read_timeout = Some(Duration::from_secs(60));
    config.create_if_missing = true;
    config
}

/// A session with a database that nobody used before and the table `t`.
pub(crate) fn fresh(target: &Target, options: SessionOptions) -> Arc<Session> {
    let create = |url: &str| {
        let session =
            Session::open(&config(target, url), SessionOptions::default()).expect("it can be created");
        run(&Arc::new(session), "CREATE TABLE t (n INTEGER)").expect("it is new");
    };
    let url = target.copied_url("with t", create);
    Arc::new(Session::open(&config(target, &url), options).expect("it is there"))
}

pub(crate) fn manual() -> SessionOptions {
    SessionOptions { autocommit: false, ..SessionOptions::default() }
}

pub(crate) fn statement(session: &Arc<Session>, sql: &str) -> Statement {
    let mut statement = Statement::new(session, StatementOptions::default());
    statement.set_query(sql).expect("it is text");
    statement
}

/// The rows that a statement changed.
pub(crate) fn run(session: &Arc<Session>, sql: &str) -> Result<Option<u64>> {
    statement(session, sql).update()
}

pub(crate) fn count(session: &Arc<Session>) -> i64 {
    let outcome = statement(session, "SELECT COUNT(*) FROM t").execute().expect("it runs");
    let batch = outcome.stream.expect("it has rows").next_batch().expect("it reads").expect("a row");
    batch.column(0).as_primitive::<Int64Type>().value(0)
}

/// Rows with one column.
pub(crate) fn numbers(name: &str, numbers: impl IntoIterator<Item = i32>) -> Rows {
    let column: ArrayRef = Arc::new(Int32Array::from_iter_values(numbers));
    let batch = RecordBatch::try_from_iter([(name, column)]).expect("one column");
    let schema = batch.schema();
    Rows::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema))).expect("no panic")
}
