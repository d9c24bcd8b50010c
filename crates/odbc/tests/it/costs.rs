//! What BLOBs and parameters cost: memory and round trips.

use crate::buffers::run_with;
use crate::memory::peak;
use crate::odbc::*;
use crate::parameter::{INPUT, Values};
use crate::support::*;
use firearrow_testkit::{Behaviour, Proxy, Target, matrix};
use std::time::{Duration, Instant};

const BINARY: i16 = -2;
const PARAMSET_SIZE: i32 = 22;
const KILOBYTE: usize = 1 << 10;
const MEGABYTE: usize = 1 << 20;

matrix!(
    all,
    fn a_long_blob_needs_no_memory(target: &Target) {
        let connection = fresh(target);
        connection.run("CREATE TABLE T (N INTEGER, B BLOB SUB_TYPE BINARY)");
        let part: Vec<u8> = (0..100 * KILOBYTE).map(|at| (at % 251) as u8).collect();
        run_with(&connection, "INSERT INTO T VALUES (1, ?)", BINARY, &part);
        // Embedded 5.0 takes minutes for ten times as much.
        for _ in 0..7 {
            assert_eq!(connection.run("UPDATE T SET B = B || B"), 1);
        }
        let total = part.len() << 7;
        assert_eq!(connection.texts("SELECT OCTET_LENGTH(B) FROM T"), [[Some(total.to_string())]]);
        let statement = connection.statement();
        let mut buffer = vec![0_u8; 64 * KILOBYTE];
        let most = peak(|| {
            statement.run("SELECT N, B FROM T");
            assert_eq!(statement.fetch(), SUCCESS);
            let (mut at, mut left) = (0, 0);
            loop {
                // SAFETY: the buffer has its length.
                let code = unsafe {
                    let (data, capacity) = (buffer.as_mut_ptr().cast(), buffer.len() as isize);
                    SQLGetData(statement.handle, 2, BINARY, data, capacity, &mut left)
                };
                if code == NO_DATA {
                    break;
                }
                assert_eq!(left as usize, total - at);
                let piece = buffer.len().min(total - at);
                assert_eq!(code, if piece < total - at { SUCCESS_WITH_INFO } else { SUCCESS });
                for (offset, byte) in buffer[..piece].iter().enumerate() {
                    assert_eq!(*byte, part[(at + offset) % part.len()]);
                }
                at += piece;
            }
            assert_eq!(at, total);
            statement.close();
        });
        assert!(most < 2 * MEGABYTE, "{most} bytes");
        // Who does not want it does not pay for it.
        let begin = Instant::now();
        let most = peak(|| assert_eq!(statement.execute_directly("SELECT N, B FROM T"), SUCCESS));
        assert_eq!(statement.fetch(), SUCCESS);
        assert_eq!(statement.text(1), Some("1".to_owned()));
        statement.close();
        assert!(most < MEGABYTE && begin.elapsed() < Duration::from_secs(1), "{most}, {:?}", begin.elapsed());
    },
);

matrix!(
    wire,
    fn small_blobs_share_round_trips(target: &Target) {
        const ROWS: usize = 3000;
        let server = target.server();
        let path = server.fresh_database_path();
        let proxy = Proxy::start(server.address(), Behaviour::pass()).expect("a free port");
        let connection = unconnected(380);
        connection.connect(&format!("URL={{{}}};CREATE_DB=Y", server.url_at(proxy.address(), &path)));
        connection.run("CREATE TABLE T (N INTEGER, C BLOB SUB_TYPE TEXT, D BLOB SUB_TYPE TEXT)");
        connection.run(&format!(
            "EXECUTE BLOCK AS DECLARE I INTEGER = 0; BEGIN WHILE (I < {ROWS}) DO BEGIN \
             INSERT INTO T VALUES (:I, 'blob ' || :I, 'other ' || :I); I = I + 1; END END"
        ));
        let statement = connection.statement();
        let count = |columns: &[u16]| {
            let before = proxy.round_trips();
            statement.run("SELECT N, C, D FROM T ORDER BY N");
            for row in 0..ROWS {
                assert_eq!(statement.fetch(), SUCCESS);
                for column in columns {
                    let text = ["", "", "blob ", "other "][usize::from(*column)];
                    assert_eq!(statement.text(*column), Some(format!("{text}{row}")));
                }
            }
            assert_eq!(statement.fetch(), NO_DATA);
            statement.close();
            proxy.round_trips() - before
        };
        let (none, one, both) = (count(&[1]), count(&[2]), count(&[1, 2, 3]));
        assert!(none <= 15, "{none} round trips without BLOBs");
        assert!(one <= none + 60, "{one} round trips for a column of them");
        assert!(both <= none + 120, "{both} round trips for two columns of them");
    },
    fn arrays_of_parameters_share_round_trips(target: &Target) {
        const ROWS: usize = 1000;
        let server = target.server();
        let path = server.fresh_database_path();
        let proxy = Proxy::start(server.address(), Behaviour::pass()).expect("a free port");
        let connection = unconnected(380);
        connection.connect(&format!("URL={{{}}};CREATE_DB=Y", server.url_at(proxy.address(), &path)));
        connection.run("CREATE TABLE T (N INTEGER)");
        assert_eq!(connection.set(102, 0), SUCCESS);
        let statement = connection.statement();
        statement.prepare("INSERT INTO T VALUES (?)");
        let keys: Vec<_> = (0..ROWS as i32).map(Some).collect();
        let mut values = Values::integers(&keys);
        statement.bind(1, INPUT, &mut values);
        let cost = |sets: usize| {
            assert_eq!(statement.set(PARAMSET_SIZE, sets), SUCCESS);
            let before = proxy.round_trips();
            assert_eq!(statement.execute(), SUCCESS, "{:?}", statement.records());
            proxy.round_trips() - before
        };
        // The first execution begins the transaction, too.
        cost(1);
        let single: Vec<_> = (0..5).map(|_| cost(1)).collect();
        // Preparing it to stay prepared takes one, once.
        assert!(single.iter().sum::<u64>() <= 6, "{single:?}");
        let arrays: Vec<_> = (0..5).map(|_| cost(ROWS)).collect();
        assert!(arrays.iter().all(|trips| *trips <= 4), "{arrays:?}");
        assert_eq!(connection.end(0), SUCCESS);
        let expected = Some((6 + 5 * ROWS).to_string());
        assert_eq!(connection.texts("SELECT COUNT(*) FROM T"), [[expected]]);
    },
);
