//! Proof that the flows run over a link that pends: two connections, one thread, real servers.

use super::{Wire, connect_options};
use crate::arrow::{BatchLimits, ReadOptions};
use crate::backend::End;
use crate::backend::link::tokio::TokioLink;
use crate::config::{Config, Target};
use crate::db_key::KeyHolder;
use crate::error::{Error, Kind, Result};
use crate::session::Session;
use arrow::array::AsArray;
use arrow::datatypes::Int32Type;
use firearrow_proto::api::transaction::TransactionOptions;
use std::time::{Duration, Instant};

async fn attach(config: &Config, create: bool) -> Result<Session<Wire<TokioLink>>> {
    let Target::Remote { host, port, database } = &config.target else {
        return Err(Error::new(Kind::Misuse, "a wire test"));
    };
    let deadline = Instant::now() + Duration::from_secs(20);
    let link = TokioLink::connect(host, *port, deadline)
        .await
        .map_err(|error| Error::new(Kind::Unreachable, error.to_string()))?;
    let options = connect_options(config, database, create)?;
    let patience = Some(Duration::from_secs(20));
    Ok(Session::new(Wire::attach(link, options, &mut KeyHolder::new(config), deadline, patience).await?))
}

/// Counts to `last` and reads a BLOB for each number; the sum of the numbers.
async fn count_to(config: &Config, last: i32) -> Result<i64> {
    let mut session = attach(config, false).await?;
    let transaction = session.begin(&TransactionOptions::read_only()).await?;
    let sql = format!(
        "WITH RECURSIVE n (i) AS (SELECT 1 FROM RDB$DATABASE UNION ALL SELECT i + 1 FROM n WHERE i < {last}) \
         SELECT i, CAST('blob ' || i AS BLOB SUB_TYPE TEXT) FROM n"
    );
    let prepared = session.prepare(Some(transaction), sql.as_str().into()).await?;
    let limits = BatchLimits { rows: 100, ..BatchLimits::default() };
    let mut fetching = session.open(&prepared, transaction, None, &ReadOptions::default(), limits).await?;
    let mut sum = 0;
    while let Some(batch) = session.next_batch(&mut fetching).await? {
        for (row, number) in batch.column(0).as_primitive::<Int32Type>().values().iter().enumerate() {
            assert_eq!(batch.column(1).as_string::<i32>().value(row), format!("blob {number}"));
            sum += i64::from(*number);
        }
    }
    session.close_fetching(&fetching).await?;
    session.end(transaction, End::Commit).await?;
    session.close().await?;
    Ok(sum)
}

firearrow_testkit::matrix!(
    wire,
    fn flows_run_over_tokio(target: &firearrow_testkit::Target) {
        let config = Config::parse(&target.fresh_url()).expect("a valid URL");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let sums = runtime.block_on(async {
            attach(&config, true).await?.close().await?;
            let (first, second) = tokio::join!(count_to(&config, 900), count_to(&config, 500));
            Ok::<_, Error>((first?, second?))
        });
        assert_eq!(sums.expect("both run"), (900 * 901 / 2, 500 * 501 / 2));
    }
);

#[test]
fn a_silent_peer_times_out_over_tokio() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let config = Config::parse(&format!("firebird://u:p@127.0.0.1:{port}/db")).expect("a valid URL");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let error = runtime.block_on(async {
        let deadline = Instant::now() + Duration::from_millis(200);
        let link = TokioLink::connect("127.0.0.1", port, deadline).await.expect("the listener accepts");
        let options = connect_options(&config, "db", false)?;
        Wire::attach(link, options, &mut KeyHolder::new(&config), deadline, None).await.map(|_| ())
    });
    assert_eq!(error.expect_err("nobody answers").kind(), Kind::Timeout);
}
