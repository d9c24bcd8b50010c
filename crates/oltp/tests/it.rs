//! Loads small databases and runs terminals on them.

use firearrow::config::Config;
use firearrow::{Connection, TransactionOptions};
use firearrow_bench::{Host, Result, Standalone};
use firearrow_oltp::{
    Condition, Connections, Level, LoadOptions, Locality, Mix, Mode, Outage, Pace, Run, RunOptions, Scale,
    Think, conditions, crash, load, run,
};
use firearrow_testkit::{Generation, Server, Target, matrix};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

fn config(target: &Target) -> Config {
    let mut config = Config::parse(&target.fresh_url()).expect("a URL of the test kit");
    config.force_writes = Some(false);
    config
}

fn options(warehouses: u32) -> LoadOptions {
    LoadOptions { scale: Scale::tiny(warehouses), seed: 42, workers: 2, indexes_first: false, replace: false }
}

fn loaded(target: &Target, warehouses: u32) -> Config {
    let config = config(target);
    load(&Standalone, &config, &options(warehouses)).expect("it loads");
    config
}

fn running(mode: Mode) -> RunOptions {
    RunOptions {
        terminals: 4,
        mode,
        locality: Locality::Home,
        mix: Mix::Tpcc,
        isolation: None,
        pace: Pace::default(),
        connections: Connections::Threads,
        warm_up: Duration::from_millis(300),
        // Long enough for a deck of each terminal on a machine that does other things as well.
        measure: Duration::from_millis(if mode == Mode::Sql { 5000 } else { 2500 }),
        seed: 7,
        full_check: true,
    }
}

/// Everything of a run that must be so whatever the machine does.
fn must_be_valid(run: &Run) {
    assert_eq!(run.problems, Vec::<String>::new(), "{:?}: {:?}, {:?}", run.mode, run.errors, run.retries);
    assert_eq!(run.conditions.len(), 12);
    assert!(
        run.completed > 0 && run.ledger.orders > 0 && run.ledger.payments > 0 && run.ledger.delivered > 0
    );
    assert_eq!(run.series.iter().map(|count| u64::from(*count)).sum::<u64>(), run.completed);
    for figures in &run.operations {
        assert!(figures.percentiles_us.is_sorted() && figures.percentiles_us[0] > 0, "{figures:?}");
    }
    // What is completed may have begun before: one transaction for each terminal.
    let begun = run.engine_work.transactions + run.terminals as u64;
    assert!(begun >= run.completed, "{} completed, {:?}", run.completed, run.engine_work);
}

matrix!(
    all,
    fn every_way_does_what_it_says(target: &Target) -> Result<()> {
        let config = loaded(target, 4);
        for mode in Mode::ALL {
            must_be_valid(&run(&Standalone, &config, &running(mode))?);
        }
        // Everybody everywhere: terminals meet, and conflicts, which snapshots do not hide, are repeated.
        let isolation = Some(Level::Snapshot);
        let options =
            RunOptions { locality: Locality::Uniform, mix: Mix::Equal, isolation, ..running(Mode::Sp) };
        must_be_valid(&run(&Standalone, &config, &options)?);
        Ok(())
    },
    fn terminals_can_be_tasks(target: &Target) -> Result<()> {
        let config = loaded(target, 2);
        let options = RunOptions { connections: Connections::Async, ..running(Mode::Sp) };
        must_be_valid(&run(&Standalone, &config, &options)?);
        // Conflicts are repeated there as well.
        let options = RunOptions {
            locality: Locality::Uniform,
            mix: Mix::Equal,
            isolation: Some(Level::Snapshot),
            terminals: 8,
            ..options
        };
        must_be_valid(&run(&Standalone, &config, &options)?);
        let options = RunOptions { mode: Mode::Sql, ..options };
        let error = run(&Standalone, &config, &options).expect_err("only procedures").to_string();
        assert!(error.contains("--mode sp"), "{error}");
        Ok(())
    },
    fn terminals_keep_their_pace(target: &Target) -> Result<()> {
        let config = loaded(target, 2);
        // Not more than was due since the terminals were there, however late they are.
        for connections in [Connections::Threads, Connections::Async] {
            let started = Instant::now();
            let pace = Pace { rate: Some(100.0), ..Pace::default() };
            let options = RunOptions { pace, connections, mix: Mix::Equal, ..running(Mode::Sp) };
            let paced = run(&Standalone, &config, &options)?;
            let due = 100.0 * started.elapsed().as_secs_f64() + 4.0;
            assert!(paced.completed > 0 && (paced.completed as f64) < due, "{} of {due}", paced.completed);
            assert_eq!(paced.pace, pace);
            // A rate that nobody can keep: what has not begun is counted, and latency is that since it was due.
            let pace = Pace { rate: Some(1e6), ..pace };
            let late = run(&Standalone, &config, &RunOptions { pace, mix: Mix::Tpcc, ..options.clone() })?;
            must_be_valid(&late);
            assert!(late.backlog > 100_000, "{}", late.backlog);
            let [median, .., longest] = late.new_orders().percentiles_us;
            assert!(median > 100_000 && longest >= median, "{:?}", late.new_orders());
            let think = Pace { think: Think::Fixed(Duration::from_millis(40)), rate: None };
            let started = Instant::now();
            let thinking = run(&Standalone, &config, &RunOptions { pace: think, ..options })?;
            let most = 4.0 * started.elapsed().as_secs_f64() / 0.040;
            assert!(thinking.completed > 0 && (thinking.completed as f64) < most, "{}", thinking.completed);
            assert_eq!(thinking.backlog, 0);
        }
        let pace = Pace { rate: Some(0.0), ..Pace::default() };
        let error =
            run(&Standalone, &config, &RunOptions { pace, ..running(Mode::Sp) }).expect_err("no rate");
        assert!(error.to_string().contains("above 0"), "{error}");
        Ok(())
    },
    fn what_is_wrong_is_found(target: &Target) -> Result<()> {
        let config = loaded(target, 1);
        let connection = Connection::open(&config)?;
        let all = conditions(&connection.begin(Default::default())?, true)?;
        assert!(all.iter().all(|condition| condition.violations == 0), "{all:?}");
        // Each of these breaks some conditions, and is undone.
        for (sql, broken) in [
            ("UPDATE WAREHOUSE SET W_YTD = W_YTD + 1", &[1, 8][..]),
            ("UPDATE DISTRICT SET D_NEXT_O_ID = D_NEXT_O_ID + 1 WHERE D_ID = 3", &[2]),
            ("DELETE FROM NEW_ORDER WHERE NO_O_ID = 50 AND NO_D_ID = 1", &[3, 5, 11]),
            ("DELETE FROM ORDER_LINE WHERE OL_O_ID = 1 AND OL_D_ID = 1 AND OL_NUMBER = 1", &[4, 6]),
            ("UPDATE ORDERS SET O_CARRIER_ID = NULL WHERE O_ID = 1 AND O_D_ID = 1", &[5, 7, 11]),
            ("UPDATE HISTORY SET H_AMOUNT = H_AMOUNT + 1 WHERE H_C_ID = 7 AND H_D_ID = 2", &[8, 9, 10]),
            ("UPDATE CUSTOMER SET C_YTD_PAYMENT = 11 WHERE C_ID = 7 AND C_D_ID = 2", &[12]),
        ] {
            let mut transaction = connection.begin(Default::default())?;
            transaction.execute(sql)?;
            let found: Vec<u8> = conditions(&transaction, true)?
                .into_iter()
                .filter(|condition| condition.violations > 0)
                .map(|condition| condition.number)
                .collect();
            assert_eq!(found, broken, "{sql}");
            transaction.rollback()?;
        }
        Ok(())
    },
    fn tables_that_exist_are_kept_unless_told_otherwise(target: &Target) -> Result<()> {
        let config = loaded(target, 1);
        let error = load(&Standalone, &config, &options(1)).expect_err("the tables exist").to_string();
        assert!(error.contains("ITEM") && error.contains("--force"), "{error}");
        let again =
            load(&Standalone, &config, &LoadOptions { replace: true, indexes_first: true, ..options(2) })?;
        assert_eq!((again.rows["STOCK"], again.rows["WAREHOUSE"]), (2000, 2));
        assert!(again.bytes > 1_000_000 && again.total() > 10_000, "{again:?}");
        // A database that is not complete is refused.
        let connection = Connection::open(&config)?;
        connection.execute("DELETE FROM FIREARROW_OLTP")?;
        let error = run(&Standalone, &config, &running(Mode::Sp)).expect_err("it is incomplete").to_string();
        assert!(error.contains("oltp load"), "{error}");
        // Tables of somebody else that have the same names are never removed.
        connection.execute("DROP TABLE FIREARROW_OLTP")?;
        let force = LoadOptions { replace: true, ..options(1) };
        let error = load(&Standalone, &config, &force).expect_err("whose tables are these?").to_string();
        assert!(error.contains("left alone") && error.contains("CUSTOMER"), "{error}");
        let count: i64 = connection.query("SELECT COUNT(*) FROM WAREHOUSE")?.value()?;
        assert_eq!(count, 2);
        // Nor is anything removed if something of theirs depends on it, or is one of the tables by its name only.
        let config = loaded(target, 1);
        let connection = Connection::open(&config)?;
        let refused = |connection: Connection, name: &str| -> Result<()> {
            connection.close()?;
            let error = load(&Standalone, &config, &force).expect_err("it is theirs").to_string();
            assert!(error.contains("left alone") && error.contains(name), "{error}");
            Ok(())
        };
        connection.execute("CREATE VIEW BEST AS SELECT C_ID FROM CUSTOMER")?;
        refused(connection, "BEST")?;
        let connection = Connection::open(&config)?;
        let count: i64 = connection.query("SELECT COUNT(*) FROM BEST")?.value()?;
        assert!(count > 0);
        connection.execute("DROP VIEW BEST")?;
        for name in ["NEW_ORDER", "PAYMENT", "ORDER_STATUS", "DELIVERY", "STOCK_LEVEL"] {
            connection.execute(&format!("DROP PROCEDURE TX_{name}"))?;
        }
        connection.execute("DROP TABLE CUSTOMER")?;
        connection.execute("CREATE TABLE CUSTOMER (NAME VARCHAR(20), PHONE VARCHAR(20))")?;
        refused(connection, "CUSTOMER")?;
        // So are their procedures and domains.
        for sql in ["CREATE DOMAIN D_MONEY INTEGER", "CREATE PROCEDURE TX_PAYMENT AS BEGIN END"] {
            let config = self::config(target);
            let connection = Connection::create(&config)?;
            connection.execute(sql)?;
            for options in [options(1), force.clone()] {
                let error = load(&Standalone, &config, &options).expect_err("it is theirs").to_string();
                assert!(error.contains("left alone"), "{error}");
            }
            let sql = "SELECT COUNT(*) FROM RDB$RELATIONS WHERE COALESCE(RDB$SYSTEM_FLAG, 0) = 0";
            let tables: i64 = connection.query(sql)?.value()?;
            assert_eq!(tables, 0);
        }
        Ok(())
    },
);

matrix!(
    [firebird_3_0, firebird_4_0, firebird_5_0],
    fn a_run_ends_with_its_server(target: &Target) -> Result<()> {
        let server = RefCell::new(Server::start(target.generation()).expect("this target is there"));
        let config = Config::parse(&server.borrow().url("gone")).expect("a URL of the test kit");
        load(&Standalone, &config, &options(2))?;
        // Somebody who looks at the run from time to time, and kills the server at the fifth time.
        struct Killer<'a>(&'a RefCell<Server>, Cell<u32>);
        impl Host for Killer<'_> {
            fn status(&self, text: &str) {
                if text.starts_with("measuring") {
                    self.1.set(self.1.get() + 1);
                    if self.1.get() == 5 {
                        self.0.borrow_mut().kill();
                    }
                }
            }
        }
        for (connections, mode) in [(Connections::Threads, Mode::Sql), (Connections::Async, Mode::Sp)] {
            let started = Instant::now();
            let measure = Duration::from_secs(300);
            let options = RunOptions { measure, connections, ..running(mode) };
            let host = Killer(&server, Cell::new(0));
            let error = run(&host, &config, &options).expect_err("there is no server");
            assert!(!error.to_string().is_empty());
            // It does not wait for the end of the time.
            assert!(started.elapsed() < Duration::from_secs(120), "{error}");
            server.borrow_mut().restart().expect("it starts again");
        }
        Ok(())
    },
    fn what_was_acknowledged_survives_the_death_of_the_server(target: &Target) -> Result<()> {
        let server = RefCell::new(Server::start(target.generation()).expect("this target is there"));
        let config = Config::parse(&server.borrow().url("crash")).expect("a URL of the test kit");
        load(&Standalone, &config, &options(4))?;
        for mode in Mode::ALL {
            let outage = Outage {
                after: Duration::from_millis(800),
                kill: &|| {
                    server.borrow_mut().kill();
                    Ok(())
                },
                restart: &|| Ok(server.borrow_mut().restart()?),
                patience: Duration::from_secs(20),
            };
            let orders = || -> Result<i64> {
                Ok(Connection::open(&config)?.query("SELECT COUNT(*) FROM ORDERS")?.value()?)
            };
            let before = orders()?;
            let mut found = crash(&Standalone, &config, &running(mode), &outage)?;
            if !found.hidden.is_empty() {
                // A fault of this engine, not of its client; everything must be there once gfix has repaired it.
                assert_eq!(target.generation(), Generation::V4_0, "{:?}", found.problems);
                let server = server.borrow();
                let said = server.mend(&server.database_path("crash"))?;
                assert!(said.contains("pointer page warnings"), "{said}\n{:?}", found.problems);
                eprintln!("mended: {:?}", found.problems);
                let connection = Connection::open(&config)?;
                let conditions = conditions(&connection.begin(TransactionOptions::default())?, true)?;
                found.problems = conditions.iter().filter_map(Condition::problem).collect();
                let made = (orders()? - before).unsigned_abs();
                let most = found.acknowledged.orders + found.interrupted as u64;
                assert!((found.acknowledged.orders..=most).contains(&made), "{made}: {found:?}");
            }
            assert_eq!(found.problems, Vec::<String>::new(), "{mode:?}");
            assert!(found.forced_writes && found.acknowledged.orders > 0, "{found:?}");
            assert_eq!((found.interrupted, found.conditions.len()), (4, 12));
        }
        // Orders that are gone are noticed: more than can have been interrupted.
        let outage = Outage {
            after: Duration::from_millis(500),
            kill: &|| {
                server.borrow_mut().kill();
                Ok(())
            },
            restart: &|| {
                server.borrow_mut().restart()?;
                let connection = Connection::open(&config)?;
                connection.execute("DELETE FROM ORDERS WHERE O_ID > 60 ORDER BY O_ENTRY_D DESC ROWS 10")?;
                Ok(())
            },
            patience: Duration::from_secs(20),
        };
        let found = crash(&Standalone, &config, &running(Mode::Sp), &outage)?;
        assert!(
            found.problems.iter().any(|problem| problem.contains("acknowledged orders are lost")),
            "{found:?}"
        );
        Ok(())
    },
);
