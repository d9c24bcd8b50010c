//! Limits of round trips.

use crate::support::{fresh, rows};
use firearrow::testing::{Budget, Failure, within_budget};
use firearrow::{Connection, Error, Kind};
use firearrow_testkit::{Target, matrix};

fn ping(connection: &Connection, times: u64) -> Result<u64, Error> {
    (0..times).try_for_each(|_| connection.ping())?;
    Ok(times)
}

matrix!(
    wire,
    fn a_budget_counts_from_its_beginning(target: &Target) {
        let connection = fresh(target);
        ping(&connection, 5).expect("it answers");
        let budget = Budget::of(&connection, 2);
        for used in 0..=2 {
            assert_eq!(budget.used(), used);
            budget.check().expect("no more than allowed");
            connection.ping().expect("it answers");
        }
        let error = budget.check().expect_err("three are more than two");
        assert_eq!((error.used, error.limit), (3, 2));
        assert_eq!(error.to_string(), "3 round trips were made, 2 were allowed");
        connection.close().expect("a budget keeps nothing alive");
    },
    fn work_within_a_budget_gives_its_result(target: &Target) {
        let connection = fresh(target);
        assert_eq!(within_budget(&connection, 3, |connection| ping(connection, 3)).expect("three"), 3);
        let error = within_budget(&connection, 2, |connection| ping(connection, 3)).expect_err("three");
        assert!(matches!(error, Failure::OverBudget(_)), "{error}");
        match within_budget(&connection, 0, |connection| connection.execute("nonsense")) {
            Err(Failure::Work(error)) => assert_eq!(error.kind(), Kind::Syntax),
            other => panic!("the work's own failure comes first: {other:?}"),
        }
    }
);

matrix!(
    embedded,
    fn an_engine_in_process_needs_no_budget(target: &Target) {
        let connection = fresh(target);
        let batch = within_budget(&connection, 0, |connection| {
            connection.query("SELECT 1 FROM RDB$DATABASE").map(rows)
        });
        assert_eq!(batch.expect("it runs").num_rows(), 1);
    }
);
