//! The library as a program without a terminal uses it.

use firearrow::config::Config;
use firearrow_bench::{
    Ending, Environment, Error, Goal, Host, Progress, Reference, ReferenceChoice, Standalone, demo, fetch,
    insert, verify,
};
use firearrow_testkit::{Target, matrix};
use std::cell::{Cell, RefCell};
use std::num::{NonZeroU64, NonZeroUsize};
use std::rc::Rc;

fn nothing() -> ReferenceChoice {
    ReferenceChoice::Nothing("a test".to_owned())
}

fn config(target: &Target) -> Config {
    Config::parse(&target.fresh_url()).expect("testkit's URLs are sound")
}

matrix!(
    wire,
    fn tables_are_made_verified_measured_and_kept(target: &Target) -> Result<(), Error> {
        let config = config(target);
        let summary = demo::create(&Standalone, &config, 300, false)?;
        assert!(summary.created);
        assert!(summary.tables.iter().all(|table| table.rows == 300 && table.seconds > 0.0));
        assert!(matches!(demo::create(&Standalone, &config, 300, false), Err(Error::Other(_))));

        let options = fetch::Options {
            repetitions: NonZeroUsize::new(2).unwrap(),
            batch_rows: NonZeroUsize::new(64),
            consume: true,
            reference: nothing(),
        };
        let bench = fetch::Bench::prepare(&Standalone, &config, options)?;
        assert!(bench.heading().contains("reference: none; a test\n"), "{}", bench.heading());
        let measured = bench.measure(&fetch::Subject::table("t_wide"))?;
        assert_eq!((measured.rows, measured.columns, measured.ours.len()), (300, 22, 2));
        assert!(measured.is_verified && measured.ours.iter().all(|run| run.consumed > Some(0)));
        let folder = tempfile::tempdir()?;
        let ending = Ending::Measured { missing: vec![] };
        let saved = bench.save(folder.path(), &[measured], ending)?;
        let text = std::fs::read_to_string(saved.join("raw.jsonl"))?;
        let record = firearrow_report::Record::parse("the record", &text).expect("a record");
        assert_eq!((record.samples.len(), record.is_complete()), (2, true));

        Standalone.open(&config)?.execute("UPDATE T_WIDE SET I32 = I32 + 1 WHERE ID = 9")?;
        let error = bench.measure(&fetch::Subject::table("T_WIDE")).expect_err("a value is wrong");
        assert!(error.to_string().contains("column I32 has checksum"), "{error}");
        // The first rows are right.
        let sql = "SELECT * FROM T_WIDE WHERE ID <= 8";
        assert_eq!(verify::beginning(&Standalone, &config, "T_WIDE", sql, 8)?.rows, 8);
        Ok(())
    },
    fn rows_are_inserted_and_the_table_goes(target: &Target) -> Result<(), Error> {
        let config = config(target);
        Standalone.create(&config)?.close()?;
        let options = insert::Options {
            rows: NonZeroU64::new(500).unwrap(),
            repetitions: NonZeroUsize::new(2).unwrap(),
            reference: nothing(),
        };
        let report = insert::run(&Standalone, &config, &options)?;
        assert!(report.ours.len() == 2 && report.reference.is_empty());
        assert!(report.ours.iter().all(|run| run.rows == 500 && run.execute_s > 0.0));
        assert!(report.text().contains("reference: none: a test\n"), "{}", report.text());
        assert!(insert::check(&Standalone.open(&config)?, 0).is_err(), "the table is gone");
        let reference = Reference::find(&nothing(), &config, &report.info);
        let environment = Environment::read(&config, &report.info, &reference, 1);
        assert_eq!(environment.release(), target.generation().number());
        Ok(())
    },
    fn a_host_follows_and_stops_the_run(target: &Target) -> Result<(), Error> {
        let config = config(target);
        let host = Follower { checks: Cell::new(1), ..Follower::default() };
        assert!(matches!(demo::create(&host, &config, 6000, false), Err(Error::Stopped)));
        let left = host.left.borrow().clone().expect("a table is incomplete");
        assert!(left.starts_with("T_WIDE "), "{left}");
        assert!((1..6000).contains(&host.rows.get()), "{}", host.rows.get());

        let host = Follower { checks: Cell::new(u32::MAX), ..Follower::default() };
        demo::create(&host, &config, 6000, true)?;
        assert_eq!(*host.left.borrow(), None);
        assert_eq!(host.rows.get(), 3 * 6000 + 1000);
        let tables = demo::TABLES.iter().map(|table| table.name.to_owned());
        assert!(tables.eq(host.tables.borrow().iter().cloned()));
        Ok(())
    },
);

/// Notes what it is told, and stops after some checks.
#[derive(Default)]
struct Follower {
    checks: Cell<u32>,
    left: RefCell<Option<String>>,
    tables: RefCell<Vec<String>>,
    rows: Rc<Cell<u64>>,
}

struct Counter(Rc<Cell<u64>>);

impl Host for Follower {
    fn check(&self) -> Result<(), Error> {
        self.checks.set(self.checks.get().checked_sub(1).ok_or(Error::Stopped)?);
        Ok(())
    }

    fn leaves(&self, text: Option<String>) {
        *self.left.borrow_mut() = text;
    }

    fn progress(&self, goal: Goal<'_>) -> Box<dyn Progress> {
        if let Goal::Rows { table, .. } = goal {
            self.tables.borrow_mut().push(table.to_owned());
        }
        Box::new(Counter(Rc::clone(&self.rows)))
    }
}

impl Progress for Counter {
    fn tell(&self, _: &str) {}

    fn add(&self, count: u64) {
        self.0.set(self.0.get() + count);
    }
}
