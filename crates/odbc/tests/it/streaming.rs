//! Long results: they come as they are fetched, and are not kept.

use crate::buffers::*;
use crate::memory::peak;
use crate::odbc::*;
use crate::support::*;
use firearrow_testkit::{Target, matrix};
use std::time::{Duration, Instant};

const LONG: i16 = 4;
const MEGABYTE: usize = 1 << 20;

/// Rows of 400 characters with their numbers, as many as there are.
fn rows(count: usize) -> String {
    format!(
        "EXECUTE BLOCK RETURNS (N INTEGER, V VARCHAR(400) CHARACTER SET ASCII) AS DECLARE T VARCHAR(400); BEGIN \
         T = RPAD('', 390, 'x'); N = 0; WHILE (N < {count}) DO BEGIN N = N + 1; V = :T || N; SUSPEND; END END"
    )
}

matrix!(
    all,
    fn long_results_are_not_kept(target: &Target) {
        const ROWS: usize = 500_000;
        let connection = fresh(target);
        let statement = connection.statement();
        let (mut numbers, mut lengths) = (vec![0_i32; 1000], vec![0; 1000]);
        let mut texts = vec![[0_u8; 401]; 1000];
        let mut fetched = 0_usize;
        bind(&statement, 1, LONG, &mut numbers, &mut lengths);
        bind(&statement, 2, 1, &mut texts, &mut lengths);
        assert_eq!(statement.set(ROW_ARRAY_SIZE, 1000), SUCCESS);
        assert_eq!(statement.set(ROWS_FETCHED_PTR, (&raw mut fetched).expose_provenance()), SUCCESS);
        let mut next = 0;
        // 200 MB in all.
        let most = peak(|| {
            statement.run(&rows(ROWS));
            while statement.fetch() == SUCCESS {
                assert_eq!(fetched, 1000);
                for (number, text) in numbers.iter().zip(&texts) {
                    next += 1;
                    assert_eq!(*number, next);
                    assert!(text[390..].starts_with(next.to_string().as_bytes()));
                }
            }
        });
        assert_eq!(next as usize, ROWS);
        assert!(most < 48 * MEGABYTE, "{most} bytes");
    },
    fn single_rows_of_a_long_result_are_not_kept_either(target: &Target) {
        const ROWS: usize = 100_000;
        let connection = fresh(target);
        let statement = connection.statement();
        let mut next = 0;
        // 40 MB in all.
        let most = peak(|| {
            statement.run(&rows(ROWS));
            while statement.fetch() == SUCCESS {
                next += 1;
                let (code, data, _) = get(&statement, 1, Buffer { c_type: LONG, capacity: 4 });
                assert_eq!((code, data), (SUCCESS, (next as i32).to_ne_bytes().to_vec()));
            }
        });
        assert_eq!(next, ROWS);
        assert!(most < 36 * MEGABYTE, "{most} bytes");
    },
    fn the_first_rows_do_not_wait_for_the_others(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        let begin = Instant::now();
        // It would take hours.
        statement.run(&rows(2_000_000_000));
        for number in 1..=1000 {
            assert_eq!(statement.fetch(), SUCCESS);
            if number % 100 == 0 {
                assert_eq!(statement.text(1), Some(number.to_string()));
            }
        }
        statement.close();
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        // The connection is free again.
        assert_eq!(connection.texts("SELECT 1 FROM RDB$DATABASE"), [[Some("1".to_owned())]]);
    },
    fn a_limit_ends_the_result_on_the_server(target: &Target) {
        let connection = fresh(target);
        let statement = connection.statement();
        assert_eq!(statement.set(1, 10), SUCCESS);
        statement.run(&rows(2_000_000_000));
        let mut count = 0;
        while statement.fetch() == SUCCESS {
            count += 1;
        }
        assert_eq!(count, 10);
    },
    /// Rows that came with the failure are lost, those before them are good.
    fn a_failure_in_the_middle_ends_the_result(target: &Target) {
        let connection = fresh(target);
        for size in [1, 7] {
            let statement = connection.statement();
            let (mut numbers, mut lengths, mut fetched) = ([0_i32; 7], [0; 7], 0_usize);
            bind(&statement, 1, LONG, &mut numbers, &mut lengths);
            assert_eq!(statement.set(ROW_ARRAY_SIZE, size), SUCCESS);
            assert_eq!(statement.set(ROWS_FETCHED_PTR, (&raw mut fetched).expose_provenance()), SUCCESS);
            let sql = "EXECUTE BLOCK RETURNS (N INTEGER) AS DECLARE Z INTEGER = 0; BEGIN N = 0; WHILE (N < 50000) DO \
                       BEGIN N = N + 1; SUSPEND; END N = 1 / Z; SUSPEND; END";
            statement.run(sql);
            let mut count = 0;
            let code = loop {
                match statement.fetch() {
                    SUCCESS => {
                        for number in &numbers[..fetched] {
                            count += 1;
                            assert_eq!(*number, count);
                        }
                    }
                    code => break code,
                }
            };
            assert_eq!((code, statement.state().as_str()), (ERROR, "22012"));
            assert!((1..=50_000).contains(&count), "{count}");
            assert_eq!(statement.fetch(), NO_DATA);
        }
    },
);
